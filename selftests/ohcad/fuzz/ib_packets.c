// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: packets that come from an uplink of InfiniBand; see ib_packets_input.h. */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_switch.h"
#include "ib_packets_input.h"
#include "inproc.h"
#include "net/wire.h"
#include "packet/ib.h"
#include "records.h"
#include "target.h"
#include "uplink_end.h"
#include "world.h"

#define MAX_BYTES 4400 /* a little more than the longest packet */
#define IOVA 0x7f0000000100ULL
#define RECV_LEN 8192
#define MEM_SIZE (16 * 1024 * 1024)
#define HOPS_LEN 2
#define HELLO_LEN 20
#define HELLO_NUMBER 12
#define HELLO_HEARD 16

static struct server *server;
static struct rig *rig;
static struct rig_mr *mr;
static struct rig_qp *qps[IB_PACKETS_NUM_QPS];
static uint8_t number[4]; /* in the last hello that the device has sent */

static struct uplink *the_uplink(void)
{
	return list_entry(inproc_fabric(0)->uplinks->list.next, struct uplink, link);
}

/* That of the uplink */
static struct ib_port *switch_port(void)
{
	return &inproc_fabric(0)->ib_switch->ports[2];
}

static void take_hello(struct uplink *from, const uint8_t *frame, size_t len)
{
	(void)from;
	if (len == HELLO_LEN && !memcmp(frame, "OHIB", 4))
		memcpy(number, frame + HELLO_NUMBER, sizeof(number));
}

static void set_up_switch(void)
{
	struct ib_switch *sw = inproc_fabric(0)->ib_switch;

	ib_port_set_lid(&sw->ports[0], IB_PACKETS_SWITCH_LID, 0);
	ib_port_set_sm(&sw->ports[0], IB_PACKETS_PEER_LID, 0);
	*ib_switch_linear_room(sw, IB_PACKETS_PEER_LID, 1) = 2;
	*ib_switch_mcast_room(sw, IB_PACKETS_MLID - LID_MCAST) = 1 << 1 | 1 << 2;
	ib_switch_changed(sw);
}

static void post_recv(struct rig_qp *qp)
{
	struct ohca_sge sge = rig_sge(mr, IOVA + RECV_LEN, RECV_LEN);

	if (qp->rq_pi < 1U << qp->log_size)
		rig_post_recv(qp, 1, &sge, 1);
}

static void add_qp(unsigned int i, uint8_t type)
{
	const struct rig_qp_opts opts = {.type = type,
					 .flags = type == OHCA_QPT_GSI ? OHCA_QP_F_PRIVILEGED : 0};
	struct rig_qp *qp = rig_qp_new(&rig->hca[0], &opts);

	qp->attr.av = (struct ohca_av){.ib.dlid = htole16(IB_PACKETS_PEER_LID), .port = 1};
	qp->attr.dest_qpn = htole32(IB_PACKETS_PEER_QPN);
	qp->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	if (rig_to_init(qp) || rig_to_rtr(qp) || rig_to_rts(qp))
		abort();
	qps[i] = qp;
	post_recv(qp);
	post_recv(qp);
}

static void attach(void)
{
	struct ohca_mcast_in in = {.gid = {0xff, 0x12},
				   .qpn = htole32(qps[IB_PACKETS_UD]->qpn),
				   .mlid = htole16(IB_PACKETS_MLID)};

	if (drv_cmd(rig->hca[0].drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0))
		abort();
}

/* The HCA's port is active; the uplink's is down, as nobody has said hello. */
static void begin(void)
{
	struct fabric *fabric;

	world_begin();
	setenv("OHCAD_LINK", "ib", 1);
	drv_mem_size = MEM_SIZE;
	server = server_start(1);
	fabric = inproc_fabric(0);
	uplink_end = take_hello;
	if (wire_init(fabric, inproc_hca(0)->loop))
		abort();
	inproc_add_uplink(fabric, "stream=unix:/nowhere,link=ib");
	rig = rig_open(server);
	set_up_switch();
	mr = rig_mr_new(&rig->hca[0], IOVA, 4 * RECV_LEN,
			RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC, 0);
	add_qp(IB_PACKETS_RC, OHCA_QPT_RC);
	add_qp(IB_PACKETS_UC, OHCA_QPT_UC);
	add_qp(IB_PACKETS_UD, OHCA_QPT_UD);
	add_qp(IB_PACKETS_GSI, OHCA_QPT_GSI);
	attach();
}

static void end(void)
{
	rig_close(rig);
	uplink_end = NULL;
	server_stop(server);
	unsetenv("OHCAD_LINK");
}

/* The PSN that the QP expects of such a packet. */
static uint32_t expected_psn(const struct rig_qp *rig_qp, uint8_t opcode)
{
	const struct qp *qp = inproc_qp(rig_qp);
	const struct bth_op *op = bth_op(opcode >> 5, opcode);

	if (!qp || !qp_is(qp, QPT_CONNECTED))
		return 0;
	return op && pkt_is_response(op->op) ? rc_req(qp)->una : rc_resp(qp)->epsn;
}

/* A request of memory names ours; @len bytes are there from the BTH to the end of the payload. */
static void put_key(uint8_t *bth, size_t len)
{
	const struct bth_op *op = bth_op(bth[0] >> 5, bth[0]);
	size_t at = BTH_LEN + 8;

	if (op && op->headers & HDR_FETH)
		at += 4;
	if (op && op->headers & (HDR_RETH | HDR_ATOMICETH) && len >= at + 4)
		put_be32(bth + at, mr->key);
}

static void put_transport(uint8_t *bth, size_t len, const struct ib_packets_record *rec)
{
	const struct rig_qp *qp = qps[rec->qp % IB_PACKETS_NUM_QPS];

	if (rec->kind & IB_PACKETS_TO_QP) {
		put_be16(bth + 2, PKEY_DEFAULT);
		put_be32(bth + 4, qp->qpn);
		put_key(bth, len);
	}
	if (rec->kind & IB_PACKETS_IN_ORDER) {
		uint32_t psn = (expected_psn(qp, bth[0]) + rec->psn) & PSN_MASK;

		put_be32(bth + 8, (uint32_t)bth[8] << 24 | psn);
	}
}

/* Lengths and CRCs become right. */
static void fix_packet(uint8_t *packet, size_t len, const struct ib_packets_record *rec)
{
	bool grh = len > 1 && (packet[1] & LNH_MASK) == LNH_GRH;
	size_t head = LRH_LEN + (grh ? OHCA_GRH_LEN : 0);
	uint32_t icrc;

	if (len < head + BTH_LEN + ICRC_LEN + VCRC_LEN)
		return;
	if (rec->kind & IB_PACKETS_TO_QP) {
		put_be16(packet + 2, IB_PACKETS_LID);
		put_be16(packet + 6, IB_PACKETS_PEER_LID);
	}
	packet[4] = (len - VCRC_LEN) / 4 >> 8 & 7;
	packet[5] = (len - VCRC_LEN) / 4;
	if (grh)
		put_be16(packet + LRH_LEN + 4, len - head - VCRC_LEN);
	put_transport(packet + head, len - head - ICRC_LEN - VCRC_LEN, rec);
	icrc = htole32(ib_icrc(packet, len - VCRC_LEN - ICRC_LEN));
	memcpy(packet + len - VCRC_LEN - ICRC_LEN, &icrc, sizeof(icrc));
	ib_put_vcrc(packet, len);
}

/* In memory of its own length, so that nobody reads beyond it. */
static void receive(struct input *in, const struct ib_packets_record *rec)
{
	size_t given = le16toh(rec->len) % MAX_BYTES, len;
	const uint8_t *bytes = input_bytes(in, &given);
	uint8_t *packet;

	len = given + rec->more * IB_PACKETS_MORE;
	packet = calloc(1, len + HOPS_LEN);
	if (!packet)
		abort();
	if (given)
		memcpy(packet, bytes, given);
	if (!(rec->kind & IB_PACKETS_RAW)) {
		fix_packet(packet, len, rec);
		put_be16(packet + len, (uint8_t)rec->psn);
		len += HOPS_LEN;
	}
	uplink_receive(the_uplink(), packet, len);
	free(packet);
}

static void hello(struct input *in, const struct ib_packets_record *rec)
{
	uint8_t bytes[HELLO_LEN] = "OHIB";
	size_t given = HELLO_LEN - 4;
	const uint8_t *from = input_bytes(in, &given);

	if (given)
		memcpy(bytes + 4, from, given);
	if (!(rec->kind & IB_PACKETS_RAW))
		memcpy(bytes + HELLO_HEARD, number, sizeof(number));
	uplink_receive(the_uplink(), bytes, sizeof(bytes));
}

static void change_port(const struct ib_packets_record *rec)
{
	struct ib_port *ib = switch_port();

	if (rec->qp == ib->state + 1 && ib->state >= IB_PORT_INIT && ib->state < IB_PORT_ACTIVE)
		ib_link_set_state(ib, rec->qp);
	else
		ib_link_set_phys(ib, rec->qp & 1 ? PORT_PHYS_DISABLED : PORT_PHYS_POLLING);
}

static void post_send(const struct ib_packets_record *rec)
{
	const struct ohca_av av = {.ib.dlid = htole16(IB_PACKETS_PEER_LID), .port = 1};
	struct rig_qp *qp = qps[rec->qp % IB_PACKETS_NUM_QPS];
	bool datagram = qp->type == OHCA_QPT_UD || qp->type == OHCA_QPT_GSI;
	struct ohca_sge sge = rig_sge(mr, IOVA, le16toh(rec->len) % RECV_LEN);
	const struct rig_wr wr = {.opcode = (uint8_t)rec->psn % (OHCA_OP_FETCH_ADD + 1),
				  .flags = OHCA_WQE_SIGNALED,
				  .num_sge = 1,
				  .sge = &sge,
				  .raddr = IOVA,
				  .rkey = mr->key,
				  .av = datagram ? &av : NULL,
				  .dest_qpn = IB_PACKETS_PEER_QPN,
				  .qkey = RIG_QKEY};

	if (qp->sq_pi < 1U << qp->log_size)
		rig_post_send(qp, &wr);
}

static void happen(struct input *in, const void *record)
{
	const struct ib_packets_record *rec = record;
	switch (rec->kind % IB_PACKETS_KINDS) {
	case IB_PACKETS_HELLO:
		hello(in, rec);
		break;
	case IB_PACKETS_PORT:
		change_port(rec);
		break;
	case IB_PACKETS_SEND:
		post_send(rec);
		break;
	case IB_PACKETS_TIME:
		world_sleep(le16toh(rec->len) * 1000000ULL);
		break;
	default:
		receive(in, rec);
	}
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct ib_packets_record rec;

	begin();
	records_run(&in, &rec, sizeof(rec), happen, NULL);
	end();
	return 0;
}
