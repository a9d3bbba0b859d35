// SPDX-License-Identifier: GPL-2.0
/*
 * Captures: each packet that passes a port or an uplink is in the file once for each of them, in
 * the form that it has on a wire.
 */

#include <endian.h>

#include "net/capture_pkt.h"
#include "capture/capture.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "icrc.h"
#include "inproc.h"
#include "ohca/ohca_regs.h"
#include "pair.h"
#include "pcapng_file.h"
#include "rig_assert.h"
#include "inject/pkt_fault.h"
#include "rig_raw.h"
#include "packet/roce.h"
#include "net/datagram.h"
#include "fabric/uplink.h"

#define MCAST_QPN 0xffffff

static struct server *server;
static char dir[] = "/tmp/ohcad-capture.XXXXXX", path[64];
static const char *file = path; /* file of the captures */

static int start(void **state)
{
	(void)state;
	unsetenv("OHCAD_WIRE");
	server = server_start(3);
	return 0;
}

static int start_wire(void **state)
{
	(void)state;
	setenv("OHCAD_WIRE", "stream", 1);
	server = server_start(2);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	captures_fini(&inproc_fabric(0)->captures);
	unlink(path);
	file = path;
	return server_stop(server) ? 0 : -1;
}

static void begin_cut(unsigned int fabric, uint32_t snaplen)
{
	const struct capture_options opts = {.path = (char *)file, .snaplen = snaplen};

	assert_int_equal(
		capture_start(&inproc_fabric(fabric)->captures, inproc_hca(0)->loop, &opts), 0);
}

static void begin(unsigned int fabric)
{
	begin_cut(fabric, 0);
}

static struct pf *end(unsigned int fabric)
{
	struct capture_status status;
	struct pf *pf;

	inproc_settle();
	assert_int_equal(capture_stop(&inproc_fabric(fabric)->captures), 0);
	assert_true(capture_show(&inproc_fabric(fabric)->captures, &status));
	pf = pf_read(file);
	assert_int_equal(status.state, CAPTURE_STOPPED);
	assert_int_equal(status.packets, pf->num);
	assert_int_equal(status.bytes, pf->size);
	return pf;
}

/* Decode a packet of the file.  The test fails if it is not a RoCEv2 packet. */
static void decode(const struct pf_packet *packet, struct roce_packet *p)
{
	bool ipv6;
	size_t ip;
	uint32_t crc;

	assert_int_equal(packet->caplen, packet->len);
	assert_int_equal(roce_peek(p, packet->data, packet->len), PACKET_GOOD);
	assert_int_equal(roce_decode(p), PACKET_GOOD);
	ip = p->ip - packet->data;
	ipv6 = p->ip_len == ROCE_IPV6_LEN;
	memcpy(&crc, packet->data + packet->len - 4, 4);
	assert_int_equal(le32toh(crc), icrc_of(packet->data, packet->len, ip, ipv6));
}

static bool same(const struct pf_packet *a, const struct pf_packet *b)
{
	return a->len == b->len && a->caplen == b->caplen && !memcmp(a->data, b->data, a->caplen);
}

/* The next packet after @i at the interface in the direction, or pf->num. */
static unsigned int next_at(const struct pf *pf, unsigned int i, unsigned int iface,
			    unsigned int way)
{
	while (i < pf->num && (pf->packets[i].iface != iface || pf->packets[i].dir != way))
		i++;
	return i;
}

/* Both sides have the same packets in this order; returns how many packets. */
static unsigned int assert_same_flow(const struct pf *pf, unsigned int from, unsigned int from_way,
				     unsigned int to, unsigned int to_way)
{
	unsigned int i = next_at(pf, 0, from, from_way), j = next_at(pf, 0, to, to_way), num = 0;

	while (i < pf->num && j < pf->num) {
		assert_true(same(&pf->packets[i], &pf->packets[j]));
		/* A packet is sent before it arrives, except at uplinks, which have queues. */
		assert_true(pf->packets[i].time <= pf->packets[j].time);
		i = next_at(pf, i + 1, from, from_way);
		j = next_at(pf, j + 1, to, to_way);
		num++;
	}
	assert_int_equal(i, pf->num);
	assert_int_equal(j, pf->num);
	return num;
}

/* Bits of the opcodes of a service that are in the file */
static uint32_t opcodes_of(const struct pf *pf, uint8_t service)
{
	struct roce_packet p;
	uint32_t seen = 0;
	unsigned int i;

	for (i = 0; i < pf->num; i++) {
		decode(&pf->packets[i], &p);
		if (p.bth.service == service)
			seen |= 1U << (p.bth.data[0] & 31);
	}
	return seen;
}

/* All opcodes of the service */
static uint32_t opcodes(uint8_t service)
{
	uint32_t all = 0;
	unsigned int i;

	for (i = 0; i < BTH_NUM_OPS; i++)
		all |= bth_op(service, i) ? 1U << i : 0;
	return all;
}

static void test_head(void **state)
{
	const uint8_t mac[6] = {2, 0, 0, 0, 0, 2};
	char hardware[64];
	unsigned int i;
	struct pf *pf;

	(void)state;
	begin(0);
	pf = end(0);
	snprintf(hardware, sizeof(hardware), "OHCA, hardware interface %u.%u", OHCA_VERSION_MAJOR,
		 OHCA_VERSION_MINOR);
	assert_string_equal(pf->hardware, hardware);
	assert_non_null(strstr(pf->os, "Linux "));
	assert_string_equal(pf->program, "ohcad");
	assert_int_equal(pf->num_ifs, 3);
	assert_int_equal(pf_find(pf, "hca1"), 1);
	assert_memory_equal(pf->ifs[1].mac, mac, 6);
	for (i = 0; i < 3; i++) {
		assert_true(pf->ifs[i].stats);
		assert_int_equal(pf->ifs[i].seen, 0);
		assert_int_equal(pf->ifs[i].snaplen, 0);
	}
	assert_int_equal(pf->num, 0);
	pf_free(pf);
}

static struct pair open_pair(uint8_t type, uint8_t mtu)
{
	struct rig_qp_opts opts = {.type = type, .ext = true};
	struct pair p = pair_new(server, &opts);

	p.a->attr.path_mtu = mtu;
	p.b->attr.path_mtu = mtu;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
	return p;
}

static void check_ops(struct pair *p, const uint8_t *ops, unsigned int num)
{
	static const uint32_t sizes[] = {0, 1, 256, 257, 1023, 5001, 70000};
	unsigned int o, s;
	uint32_t seed = 1;

	for (o = 0; o < num; o++) {
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			struct pair_layout l = {sizes[s], 1, 2, 2, 3};

			pair_check_message(p, ops[o], &l, seed++);
		}
	}
}

/* Bursts between two adapters: packets of the path MTU, both ends see the same. */
static void test_trains(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 2);
	uint32_t all = opcodes(BTH_RC), others = 0;
	unsigned int i, longest = 0;
	struct pf *pf;

	(void)state;
	begin(0);
	check_ops(&p, pair_all_ops, PAIR_OPS);
	pf = end(0);
	assert_true(assert_same_flow(pf, 0, PF_OUT, 1, PF_IN) > 300);
	assert_true(assert_same_flow(pf, 1, PF_OUT, 0, PF_IN) > 150);
	assert_int_equal(pf->ifs[2].packets, 0);
	for (i = 0; i < pf->num; i++) {
		struct roce_packet r;

		decode(&pf->packets[i], &r);
		assert_int_equal(r.bth.service, BTH_RC);
		assert_int_equal(r.bth.dest_qpn, r.dmac[5] == 1 ? p.a->qpn : p.b->qpn);
		assert_int_equal(pf->packets[i].to, 1);
		assert_int_equal(pf->packets[i].dropped, 0);
		longest = r.bth.pkt.len > longest ? r.bth.pkt.len : longest;
	}
	assert_int_equal(longest, 512);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pf->ifs[i].seen, pf->ifs[i].packets);
		assert_int_equal(pf->ifs[i].dropped, 0);
	}
	others = 1U << BTH_OP_ATOMIC_ACK | 1U << BTH_OP_CMP_SWAP | 1U << BTH_OP_FETCH_ADD |
		 1U << BTH_OP_SEND_LAST_INV | 1U << BTH_OP_SEND_ONLY_INV | 1U << BTH_OP_FLUSH |
		 1U << BTH_OP_ATOMIC_WRITE;
	assert_int_equal(opcodes_of(pf, BTH_RC), all & ~others);
	pf_free(pf);
	rig_close(p.rig);
}

/* The payload of the packets is that of the message. */
static void test_payload(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 1);
	struct pair_layout l = {200001, 1, 2, 2, 3};
	uint8_t *expected = malloc(l.len);
	uint32_t at = 0, psn = RIG_PSN;
	struct pf *pf;
	unsigned int i;

	(void)state;
	begin(0);
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &l, 7);
	pf = end(0);
	rig_mr_get(p.ma, PAIR_IOVA + 64 + l.src_off, expected, l.len);
	for (i = next_at(pf, 0, 0, PF_OUT); i < pf->num; i = next_at(pf, i + 1, 0, PF_OUT)) {
		struct roce_packet r;

		decode(&pf->packets[i], &r);
		assert_true(r.bth.pkt.len <= l.len - at);
		assert_memory_equal(r.bth.payload.iov_base, expected + at, r.bth.pkt.len);
		assert_int_equal(r.bth.pkt.psn, psn);
		psn = psn_add(psn, 1);
		at += r.bth.pkt.len;
	}
	assert_int_equal(at, l.len);
	free(expected);
	pf_free(pf);
	rig_close(p.rig);
}

static void test_unreliable(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_SEND, OHCA_OP_SEND_IMM, OHCA_OP_RDMA_WRITE_IMM};
	struct pair p = open_pair(OHCA_QPT_UC, 3);
	struct pf *pf;

	(void)state;
	begin(0);
	check_ops(&p, ops, ARRAY_SIZE(ops));
	pf = end(0);
	assert_true(assert_same_flow(pf, 0, PF_OUT, 1, PF_IN) > 200);
	assert_int_equal(assert_same_flow(pf, 1, PF_OUT, 0, PF_IN), 0);
	assert_true(opcodes_of(pf, BTH_UC) & 1U << BTH_OP_WRITE_LAST_IMM);
	pf_free(pf);
	rig_close(p.rig);
}

/* What a burst of @num packets of the operation looks like at the first port */
static void pass(struct pair *p, uint8_t op, uint8_t flags, unsigned int num)
{
	static uint8_t data[3 * 256];
	const struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	const struct pkt_atomic atomic = {.compare_add = 5,
					  .swap = 6,
					  .mask = op == PKT_CMP_SWAP ? ~0ULL : 0,
					  .swap_mask = ~0ULL};
	bool data_op = op == PKT_SEND || op == PKT_WRITE || op == PKT_READ_RESP;
	const struct pkt pkt = {
		.op = op,
		.flags = flags,
		.psn = 0xfffffe,
		.npsn = num,
		.atomic = &atomic,
		.iov = &iov,
		.num = 1,
		.len = data_op						 ? num * 256 - 3
		       : op == PKT_ATOMIC_WRITE || op == PKT_ATOMIC_RESP ? 8
									 : 0,
	};
	struct qp *src = inproc_qp(p->a);

	capture_burst(src->hca->fabric->captures.running, &src->port->capture, PCAPNG_OUT, src,
		      &pkt);
}

static void pass_all(struct pair *p, uint8_t type, uint8_t service)
{
	const uint8_t whole = PKT_FIRST | PKT_LAST;
	uint8_t op;

	inproc_qp(p->a)->type = type;
	for (op = PKT_SEND; op <= PKT_ACK; op++) {
		if ((service == BTH_UC && op > PKT_WRITE) ||
		    (service == BTH_XRC && op == PKT_FLUSH))
			continue;
		pass(p, op, whole, 1);
		if (op == PKT_SEND || op == PKT_WRITE || op == PKT_READ_RESP)
			pass(p, op, whole, 3);
		if (op == PKT_SEND || op == PKT_WRITE) {
			pass(p, op, whole | PKT_IMM | PKT_SOLICITED, 1);
			pass(p, op, whole | PKT_IMM | PKT_SOLICITED | PKT_ACK_REQ, 3);
		}
		if (op == PKT_SEND && service != BTH_UC) {
			pass(p, op, whole | PKT_INV, 1);
			pass(p, op, whole | PKT_INV, 3);
		}
	}
	inproc_qp(p->a)->type = OHCA_QPT_RC;
}

static void pass_datagram(struct pair *p, bool imm)
{
	struct qp *src = inproc_qp(p->a);
	struct datagram dg = {
		.av = &src->attr.av,
		.from = &src->port->gids[0],
		.dest_qpn = 0x1234,
		.qkey = RIG_QKEY,
		.cqe.flags = imm ? OHCA_CQE_F_IMM : 0,
		.iov = {[1] = {.iov_base = (void *)"ab", .iov_len = 2}},
		.num = 2,
		.len = OHCA_GRH_LEN + 2,
	};

	capture_datagram(src->hca->fabric->captures.running, &src->port->capture, PCAPNG_OUT, src,
			 &dg);
}

/*
 * Every opcode of every service, for all types of QP.  With CAPTURE_FILE in the environment the
 * capture is written to that file, for tests with other programs.
 */
static void test_opcodes(void **state)
{
	static const uint8_t services[] = {BTH_RC, BTH_UC, BTH_UD, BTH_XRC};
	struct pair p = open_pair(OHCA_QPT_RC, 1);
	const char *keep = getenv("CAPTURE_FILE");
	unsigned int i;
	struct pf *pf;

	(void)state;
	file = keep ? keep : path;
	begin(0);
	pass_all(&p, OHCA_QPT_RC, BTH_RC);
	pass_all(&p, OHCA_QPT_UC, BTH_UC);
	pass_all(&p, OHCA_QPT_XRC_INI, BTH_XRC);
	pass_datagram(&p, false);
	pass_datagram(&p, true);
	pf = end(0);
	for (i = 0; i < ARRAY_SIZE(services); i++)
		assert_int_equal(opcodes_of(pf, services[i]), opcodes(services[i]));
	assert_int_equal(pf->ifs[0].seen, pf->num);
	pf_free(pf);
	rig_close(p.rig);
}

/*
 * Truncated packets have their original length.  With CAPTURE_CUT_FILE in the environment the
 * capture is written to that file, for tests with other programs.
 */
static void test_snaplen(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 1);
	const char *keep = getenv("CAPTURE_CUT_FILE");
	unsigned int i, cut = 0;
	struct pf *pf, *whole;

	(void)state;
	begin(0);
	pass_all(&p, OHCA_QPT_RC, BTH_RC);
	whole = end(0);
	file = keep ? keep : path;
	begin_cut(0, 96);
	pass_all(&p, OHCA_QPT_RC, BTH_RC);
	pf = end(0);
	assert_int_equal(pf->ifs[0].snaplen, 96);
	assert_int_equal(pf->num, whole->num);
	for (i = 0; i < pf->num; i++) {
		const struct pf_packet *a = &pf->packets[i], *b = &whole->packets[i];

		assert_int_equal(a->len, b->len);
		assert_int_equal(a->caplen, b->len < 96 ? b->len : 96);
		assert_memory_equal(a->data, b->data, a->caplen);
		cut += a->caplen < a->len;
	}
	assert_true(cut > 0 && cut < pf->num);
	pf_free(pf);
	pf_free(whole);
	rig_close(p.rig);
}

/* A masked atomic has no RoCEv2 packet: the next packet reports that one is missing. */
static void test_no_form(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 3);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA + 4, 8);
	struct rig_mr *mr =
		rig_mr_new(p.b->hca, 0x10000, 4096, RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC, 0);
	struct ohca_sq_wqe fields = {0};
	struct ohca_wqe_ext ext = {.mask.compare = htole64(0xff)};
	struct rig_wr wr = {.opcode = OHCA_OP_MASKED_FETCH_ADD,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields,
			    .ext = &ext};
	struct pair_layout l = {10, 1, 2, 2, 3};
	struct pf *pf;
	unsigned int i;

	(void)state;
	fields.rdma.raddr = htole64(0x10000);
	fields.rdma.rkey = htole32(mr->key);
	begin(0);
	rig_post_send(p.a, &wr);
	assert_int_equal(rig_wait_send(p.a).status, 0);
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	pf = end(0);
	assert_int_equal(pf->ifs[0].dropped, 1);
	assert_int_equal(pf->ifs[1].dropped, 1);
	assert_int_equal(pf->ifs[0].seen, pf->ifs[0].packets + 1);
	/* Its response has a packet format; the SEND is the first packet after the gap. */
	i = next_at(pf, 0, 0, PF_OUT);
	assert_int_equal(pf->packets[i].dropped, 0);
	i = next_at(pf, 0, 0, PF_IN);
	assert_int_equal(pf->packets[i].dropped, 1);
	i = next_at(pf, 0, 1, PF_OUT);
	assert_int_equal(pf->packets[i].dropped, 1);
	pf_free(pf);
	rig_close(p.rig);
}

/* A SEND that has no receive request */
static void post_send(struct pair *p, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, len);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};

	rig_post_send(p->a, &wr);
	assert_int_equal(rig_wait_send(p->a).status, 0);
}

/* A QP without a peer sends all the same. */
static void test_no_peer(void **state)
{
	struct pair p = open_pair(OHCA_QPT_UC, 3);
	struct pf *pf;

	(void)state;
	begin(0);
	rig_to_reset(p.b);
	post_send(&p, 8);
	pf = end(0);
	assert_int_equal(pf->num, 1);
	assert_int_equal(pf->packets[0].dir, PF_OUT);
	pf_free(pf);
	rig_close(p.rig);
}

/*
 * A dropped packet is recorded as sent, and not as received.  A duplicated one is received twice.
 */
static void test_faults(void **state)
{
	struct fabric *fabric = inproc_fabric(0);
	static const char *const rules[] = {"drop,dir=tx,hca=hca0,count=1", "duplicate,dir=rx,hca="
									    "hca1,count=2"};
	struct pair p = open_pair(OHCA_QPT_UC, 1);
	struct pair_layout l = {1000, 1, 2, 2, 3};
	unsigned int i, num[2] = {};
	struct pf *pf;
	char why[RULE_MAX_WHY];

	(void)state;
	begin(0);
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		struct pkt_rule *rule = pkt_rule_parse(rules[i], why, sizeof(why));

		assert_non_null(rule);
		assert_int_equal(pkt_fault_add(fabric, inproc_hca(0)->loop, rule), 0);
	}
	/* The first one of four packets is lost; the responder drops the others. */
	post_send(&p, l.len);
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	pf = end(0);
	pkt_fault_fini(fabric);
	for (i = 0; i < pf->num; i++)
		num[pf->packets[i].iface]++;
	assert_int_equal(num[0], 4 + 4);
	assert_int_equal(num[1], 3 + 2 + 4);
	pf_free(pf);
	rig_close(p.rig);
}

static struct rig_qp *new_ud(struct rig_hca *hca)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD};
	struct rig_qp *qp = rig_qp_new(hca, &opts);

	assert_to_rts(qp);
	return qp;
}

static void send_datagram(struct rig_qp *from, struct rig_mr *mr, const struct ohca_av *av,
			  uint32_t dest_qpn)
{
	struct ohca_sge sge = rig_sge(mr, mr->iova, 100);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND_IMM,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.imm = 0x11223344,
		.av = av,
		.dest_qpn = dest_qpn,
		.qkey = RIG_QKEY,
	};

	rig_post_send(from, &wr);
	assert_int_equal(rig_wait_send(from).status, 0);
}

/* To one QP, and to a multicast group with the other two ports. */
static void test_datagrams(void **state)
{
	struct rig *rig = rig_open(server);
	struct rig_mr *mr = rig_mr_new(&rig->hca[0], 0x10000, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_av one = {.hop_limit = 1, .port = 1}, group = {.hop_limit = 1, .port = 1};
	struct ohca_mcast_in in = {.gid = {[10] = 0xff, 0xff, 224, 0, 0, 1}};
	struct roce_packet r;
	struct rig_qp *qp[3];
	struct pf *pf;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		qp[i] = new_ud(&rig->hca[i]);
	for (i = 1; i < 3; i++) {
		in.qpn = htole32(qp[i]->qpn);
		assert_int_equal(drv_cmd(rig->hca[i].drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in),
					 NULL, 0),
				 0);
	}
	memcpy(one.dgid, rig->hca[1].gid, 16);
	memcpy(one.dmac, rig->hca[1].mac, 6);
	memcpy(group.dgid, in.gid, 16);
	memcpy(group.dmac, (const uint8_t[6]){0x01, 0, 0x5e, [5] = 1}, 6);
	begin(0);
	send_datagram(qp[0], mr, &one, qp[1]->qpn);
	send_datagram(qp[0], mr, &group, MCAST_QPN);
	pf = end(0);
	assert_int_equal(pf->num, 5);
	for (i = 0; i < 5; i++) {
		static const uint8_t iface[] = {0, 1, 0, 1, 2};
		const struct pf_packet *packet = &pf->packets[i];

		decode(packet, &r);
		assert_int_equal(r.bth.service, BTH_UD);
		assert_int_equal(r.bth.src_qpn, qp[0]->qpn);
		assert_int_equal(r.bth.dest_qpn, i < 2 ? qp[1]->qpn : MCAST_QPN);
		assert_int_equal(r.bth.qkey, RIG_QKEY);
		assert_int_equal(r.bth.pkt.len, 100);
		assert_int_equal(packet->iface, iface[i]);
		assert_int_equal(packet->dir, i == 0 || i == 2 ? PF_OUT : PF_IN);
		assert_int_equal(packet->to, i < 2 ? 1 : 2);
	}
	pf_free(pf);
	rig_close(rig);
}

/* Ethernet frames: at the sending port and the destination port, not at others. */
static void test_frames(void **state)
{
	struct rig *rig = rig_open(server);
	uint8_t frame[RAW_UDP_LEN];
	struct raw from = raw_new(&rig->hca[0], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	struct raw to = raw_new(&rig->hca[1], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	struct pf *pf;
	unsigned int i;

	(void)state;
	memcpy(frame, raw_udp, sizeof(frame));
	memcpy(frame, rig->hca[1].mac, 6);
	memcpy(frame + 6, rig->hca[0].mac, 6);
	begin(0);
	raw_post(&to);
	raw_send(&from, frame, sizeof(frame));
	raw_assert_got(&to, frame, sizeof(frame));
	memset(frame, 0xff, 6);
	raw_send(&from, frame, sizeof(frame));
	pf = end(0);
	/* The broadcast arrives at the third port too, although no QP receives there. */
	assert_int_equal(pf->num, 5);
	assert_same_flow(pf, 0, PF_OUT, 1, PF_IN);
	for (i = 0; i < 5; i++) {
		assert_int_equal(pf->packets[i].len, sizeof(frame));
		assert_int_equal(pf->packets[i].to, i < 2 ? 1 : 3);
	}
	assert_int_equal(pf->ifs[2].packets, 1);
	assert_memory_equal(pf->packets[4].data, frame, sizeof(frame));
	pf_free(pf);
	rig_close(rig);
}

/* Packets on the wire: at the sending port and its uplink, then at the other uplink and port. */
static void check_wire(unsigned int fabric)
{
	struct pair p = open_pair(OHCA_QPT_RC, 3);
	unsigned int sent, received, num;
	struct pf *pf;

	begin(fabric);
	check_ops(&p, pair_all_ops, PAIR_OPS);
	pf = end(fabric);
	assert_int_equal(pf->num_ifs, 2);
	assert_false(pf->ifs[1].has_mac);
	assert_memory_equal(pf->ifs[1].name, "stream=unix:", 12);
	num = fabric ? 1 : 0;
	assert_int_equal(pf->ifs[0].name[3], '0' + num);
	sent = assert_same_flow(pf, 0, PF_OUT, 1, PF_OUT);
	received = assert_same_flow(pf, 1, PF_IN, 0, PF_IN);
	assert_true(sent > 100 && received > 100);
	assert_int_equal(pf->num, 2 * (sent + received));
	pf_free(pf);
	rig_close(p.rig);
}

static void test_wire(void **state)
{
	(void)state;
	check_wire(0);
	check_wire(1);
	captures_fini(&inproc_fabric(1)->captures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_head, start, stop),
		cmocka_unit_test_setup_teardown(test_trains, start, stop),
		cmocka_unit_test_setup_teardown(test_payload, start, stop),
		cmocka_unit_test_setup_teardown(test_unreliable, start, stop),
		cmocka_unit_test_setup_teardown(test_opcodes, start, stop),
		cmocka_unit_test_setup_teardown(test_snaplen, start, stop),
		cmocka_unit_test_setup_teardown(test_no_form, start, stop),
		cmocka_unit_test_setup_teardown(test_no_peer, start, stop),
		cmocka_unit_test_setup_teardown(test_faults, start, stop),
		cmocka_unit_test_setup_teardown(test_datagrams, start, stop),
		cmocka_unit_test_setup_teardown(test_frames, start, stop),
		cmocka_unit_test_setup_teardown(test_wire, start_wire, stop),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/file", dir);
	failed = RUN_TESTS(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
