// SPDX-License-Identifier: GPL-2.0
/*
 * Whose addresses are: the third HCA is a neighbour that would hear what is for the others, or send what seems to be
 * from the first one.
 */

#include <endian.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "fabric/uplink.h"
#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_assert.h"
#include "net/wire.h"
#include "outsider.h"
#include "packet/roce.h"
#include "pair.h"
#include "rig_assert.h"
#include "rig_raw.h"

#define LEN 100
#define AGE_NS 301000000000ULL

static const uint8_t own[6] = {2, 0, 0, 0, 0, 3};
static const uint8_t victim[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t second[6] = {2, 0, 0, 0, 0, 2};
static const uint8_t further[6] = {2, 0xaa, 0, 0, 0, 1};

static struct rig *rig;
static uint8_t victims_gid[1][16] = {{[10] = 0xff, 0xff, 10, 5, 5, 5}};
static uint8_t trusted[1][6] = {{2, 0xbb, 0, 0, 0, 1}};

static int start(void **state)
{
	(void)state;
	inproc_owner[0] = (struct owner_options){
		.gids = victims_gid, .num_gids = 1, .macs = trusted, .num_macs = 1};
	inproc_owner[2].learn = 4;
	server = server_start(3);
	rig = rig_open(server);
	return 0;
}

static int start_ib(void **state)
{
	(void)state;
	server = inproc_start_ib(3);
	rig = rig_open_some(server, 0, 3, true);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	rig_close(rig);
	memset(inproc_owner, 0, sizeof(inproc_owner));
	return server_stop(server) ? 0 : -1;
}

static struct port *port(unsigned int i)
{
	return inproc_hca(i)->ports[0];
}

/* The addresses that the HCA has learned, and that are not in use, were seen long ago. */
static void let_age(unsigned int i)
{
	struct list *idle = &inproc_hca(i)->owner->idle, *node;

	for (node = idle->next; node != idle; node = node->next)
		list_entry(node, struct owned_mac, by_owner)->seen -= AGE_NS;
}

static void set_macs(uint8_t frame[RAW_UDP_LEN], const uint8_t dmac[6], const uint8_t smac[6])
{
	memcpy(frame, raw_udp, RAW_UDP_LEN);
	memcpy(frame, dmac, 6);
	memcpy(frame + 6, smac, 6);
}

static void send_from(struct raw *raw, const uint8_t dmac[6], const uint8_t smac[6])
{
	uint8_t frame[RAW_UDP_LEN];

	set_macs(frame, dmac, smac);
	raw_send(raw, frame, sizeof(frame));
}

static void assert_got(struct raw *raw, const uint8_t dmac[6], const uint8_t smac[6])
{
	uint8_t frame[RAW_UDP_LEN];

	set_macs(frame, dmac, smac);
	raw_assert_got(raw, frame, sizeof(frame));
	raw_post(raw);
}

/* A frame of each comes to the port's own QP of the other. */
static void assert_passes(struct raw *from, struct raw *to, const uint8_t dmac[6],
			  const uint8_t smac[6])
{
	send_from(from, dmac, smac);
	assert_got(to, dmac, smac);
}

static struct raw netdev(unsigned int i)
{
	struct raw raw = raw_new(&rig->hca[i], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);

	raw_post(&raw);
	return raw;
}

/* Frames from an address of others are dropped; a few that nobody has may be used. */
static void test_source(void **state)
{
	struct raw to = netdev(1), from = netdev(2), other = netdev(0);
	uint8_t mac[6];
	unsigned int i;

	(void)state;
	assert_passes(&from, &to, second, own);
	send_from(&from, second, victim);
	send_from(&from, second, trusted[0]);
	send_from(&from, second, second);
	send_from(&from, second, (const uint8_t[6]){3, 0, 0, 0, 0, 3});
	send_from(&from, second, (const uint8_t[6]){0});
	raw_assert_none(&to);
	assert_int_equal(port(2)->refused.frames, 5);
	assert_int_equal(rig_counter(&rig->hca[2], OHCA_CNT_ETH_REFUSED), 5);
	assert_passes(&other, &to, second, trusted[0]);
	memcpy(mac, further, 6);
	for (i = 0; i < 4; i++, mac[5]++)
		assert_passes(&from, &to, second, mac);
	assert_passes(&from, &to, second, further);
	/* One more than it may learn, and one that another HCA has used first */
	send_from(&from, second, mac);
	send_from(&other, second, further);
	raw_assert_none(&to);
	assert_int_equal(port(2)->refused.frames, 6);
	assert_int_equal(port(0)->refused.frames, 1);
	/* After a while nobody has it any more: that one can be used, and the other by others. */
	let_age(2);
	assert_passes(&from, &to, second, mac);
	assert_passes(&other, &to, second, further);
	send_from(&from, second, further);
	raw_assert_none(&to);
}

static void set_promisc(unsigned int i, uint8_t on)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_PROMISC), .port = 1, .promisc = on};

	assert_int_equal(drv_cmd(rig->hca[i].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
			 0);
}

/* In promiscuous mode, and by a flow of all frames: what is for an address that somebody has does not come. */
static void test_hearing(void **state)
{
	struct raw a = netdev(0), b = netdev(1), c = netdev(2);
	struct raw flow = raw_new(&rig->hca[2], OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(flow.qp->qpn);
	unsigned int i;

	(void)state;
	raw_post(&flow);
	set_promisc(2, 1);
	for (i = 0; i < 2; i++) {
		struct raw *hears = i ? &flow : &c;

		if (i)
			raw_flow_new(&rig->hca[2], &in);
		assert_passes(&a, &b, second, victim);
		send_from(&a, trusted[0], victim);
		raw_assert_none(hears);
		/* To all, and to one that nobody is known to have */
		send_from(&a, (const uint8_t[6]){255, 255, 255, 255, 255, 255}, victim);
		assert_got(hears, (const uint8_t[6]){255, 255, 255, 255, 255, 255}, victim);
		assert_got(&b, (const uint8_t[6]){255, 255, 255, 255, 255, 255}, victim);
		assert_passes(&a, hears, (const uint8_t[6]){2, 0xcc, 0, 0, 0, i}, victim);
		assert_passes(&a, hears, own, victim);
		/* One that the port has shown to be its own, as an interface on it has, and one of the other */
		send_from(&c, second, further);
		assert_got(&b, second, further);
		if (i) /* its own flow sees that, too */
			assert_got(hears, second, further);
		assert_passes(&a, hears, further, victim);
		send_from(&b, own, (const uint8_t[6]){2, 0xdd, 0, 0, 0, i});
		assert_got(hears, own, (const uint8_t[6]){2, 0xdd, 0, 0, 0, i});
		send_from(&a, (const uint8_t[6]){2, 0xdd, 0, 0, 0, i}, victim);
		raw_assert_none(hears);
	}
	/* Where the fabric says so, it sees all. */
	inproc_hca(2)->owner->mirror = true;
	send_from(&a, second, victim);
	assert_got(&flow, second, victim);
	assert_got(&b, second, victim);
}

static int set_mac(unsigned int i, const uint8_t mac[6])
{
	struct ohca_modify_port_in in = {.attr_mask = htole32(OHCA_PORT_ATTR_MAC), .port = 1};

	memcpy(in.mac, mac, 6);
	return drv_cmd(rig->hca[i].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0);
}

static int set_gid(unsigned int i, uint16_t index, const uint8_t gid[16], const uint8_t mac[6])
{
	struct ohca_set_gid_in in = {.port = 1,
				     .type = OHCA_GID_ROCE_V2,
				     .index = htole16(index),
				     .vlan = htole16(OHCA_VLAN_NONE)};

	memcpy(in.gid, gid, 16);
	memcpy(in.mac, mac, 6);
	return drv_cmd(rig->hca[i].drv, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0);
}

/* Commands: an address of another is refused, and others are held until they are replaced. */
static void test_commands(void **state)
{
	static const uint8_t of_victim[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 1};
	static const uint8_t free_gid[16] = {[10] = 0xff, 0xff, 10, 6, 6, 6};
	uint8_t mac[6];
	unsigned int i;

	(void)state;
	assert_int_equal(set_mac(2, victim), OHCA_CMD_BUSY);
	assert_int_equal(set_mac(2, trusted[0]), OHCA_CMD_BUSY);
	assert_int_equal(set_gid(2, 1, free_gid, victim), OHCA_CMD_BUSY);
	assert_int_equal(set_gid(2, 1, of_victim, own), OHCA_CMD_BUSY);
	assert_int_equal(set_gid(2, 1, victims_gid[0], own), OHCA_CMD_BUSY);
	assert_int_equal(port(2)->gids[1].type, OHCA_GID_NONE);
	assert_memory_equal(port(2)->mac, own, 6);
	assert_int_equal(port(2)->refused.addresses, 5);
	assert_int_equal(set_gid(0, 1, of_victim, victim), OHCA_CMD_OK);
	assert_int_equal(set_gid(0, 2, victims_gid[0], trusted[0]), OHCA_CMD_OK);
	assert_int_equal(set_mac(0, trusted[0]), OHCA_CMD_OK);
	assert_int_equal(set_mac(0, victim), OHCA_CMD_OK);

	memcpy(mac, further, 6);
	assert_int_equal(set_mac(2, mac), OHCA_CMD_OK);
	for (i = 1; i < 4; i++) {
		mac[5]++;
		assert_int_equal(set_gid(2, i, free_gid, mac), OHCA_CMD_OK);
	}
	assert_int_equal(set_gid(2, 4, free_gid, mac), OHCA_CMD_OK);
	mac[5]++;
	assert_int_equal(set_gid(2, 4, free_gid, mac), OHCA_CMD_NO_RESOURCE);
	/* They are its own for as long as they are in use. */
	let_age(2);
	assert_int_equal(set_mac(0, further), OHCA_CMD_BUSY);
	assert_int_equal(set_mac(2, own), OHCA_CMD_OK);
	assert_int_equal(set_mac(0, further), OHCA_CMD_BUSY);
	let_age(2);
	assert_int_equal(set_mac(0, further), OHCA_CMD_OK);
	/* The others were in use, and end with a reset. */
	mac[5]--;
	assert_int_equal(set_gid(0, 4, free_gid, mac), OHCA_CMD_BUSY);
	assert_int_equal(inproc_hca(2)->owner->num_learned, 3);
	rig_renew(rig);
	assert_int_equal(inproc_hca(2)->owner->num_learned, 0);
	assert_int_equal(set_gid(0, 4, free_gid, mac), OHCA_CMD_OK);
}

/* Who may use all has also what is another's. */
static void test_trust(void **state)
{
	struct raw to = netdev(1), from = netdev(2);

	(void)state;
	inproc_hca(2)->owner->trust_all = true;
	assert_passes(&from, &to, second, victim);
	assert_int_equal(set_mac(2, victim), OHCA_CMD_OK);
	assert_int_equal(set_gid(2, 1, victims_gid[0], victim), OHCA_CMD_OK);
	assert_int_equal(port(2)->refused.frames, 0);
}

/* A QP of each type of the victim and of its neighbour, with one number */
static struct pair open_pair(uint8_t type, struct rig_qp **forger)
{
	struct rig_qp_opts opts = {.type = type};
	struct pair p = pair_new_in(rig, &opts);

	*forger = rig_qp_new(&rig->hca[2], &opts);
	assert_int_equal((*forger)->qpn, p.a->qpn);
	rig_connect(p.a, p.b);
	return p;
}

/*
 * The neighbour's QP sends, with the peer of the victim's as its own: that is not taken into the connection, which goes on
 * with the victim's message.
 */
static void check_forger(struct pair *p, struct rig_qp *forger)
{
	struct rig_mr *mr = rig_mr_new(&rig->hca[2], PAIR_IOVA, 4096, OHCA_ACCESS_LOCAL_WRITE, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, LEN);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge};
	struct pair_layout l = {LEN, 1, 2, 2, 3};
	struct ohca_sge into = rig_sge(p->mb, PAIR_IOVA, 1000);
	struct ohca_cqe cqe;

	assert_int_equal(rig_to_init(forger), 0);
	assert_int_equal(rig_to_rtr(forger), 0);
	assert_int_equal(rig_to_rts(forger), 0);
	rig_post_recv(p->b, 1, &into, 1);
	rig_post_send(forger, &wr);
	inproc_settle();
	assert_false(drv_cq_poll(p->b->rcq, &cqe));
	assert_int_equal(rc_resp(qp_get(inproc_hca(1), p->b->qpn))->epsn, RIG_PSN);
	sge = rig_sge(p->ma, PAIR_IOVA, LEN);
	rig_mr_fill(p->ma, PAIR_IOVA, LEN, 7);
	rig_post_send(p->a, &wr);
	assert_int_equal(rig_wait_recv(p->b).status, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(p->mb, PAIR_IOVA, LEN, 7));
	pair_check_message(p, OHCA_OP_SEND, &l, 9);
}

/* The neighbour has a GID as the victim's in its table. */
static void check_forged_gid(uint8_t type)
{
	struct rig_qp *forger;
	struct pair p = open_pair(type, &forger);

	assert_int_equal(set_gid(2, 1, rig->hca[0].gid, own), OHCA_CMD_OK);
	rig_address(forger, p.b);
	forger->attr.av.sgid_index = htole16(1);
	check_forger(&p, forger);
}

static void test_forged_rc(void **state)
{
	(void)state;
	check_forged_gid(OHCA_QPT_RC);
}

static void test_forged_uc(void **state)
{
	(void)state;
	check_forged_gid(OHCA_QPT_UC);
}

/* InfiniBand: the neighbour's port says that it has the LID of the victim's, but the switch knows better. */
static void test_forged_lid(void **state)
{
	struct rig_qp *forger;
	struct pair p = open_pair(OHCA_QPT_RC, &forger);

	(void)state;
	ib_port_set_lid(port(2)->ib, rig->hca[0].lid, 0);
	rig_address(forger, p.b);
	check_forger(&p, forger);
	assert_true(port(2)->refused.lids > 0);
	assert_int_equal(port(0)->refused.lids, 0);
}

/* A UC packet to the second HCA's QP that seems to be from the victim, as a frame of this length */
static uint32_t make_packet(uint8_t frame[ROCE_MAX_FRAME], const struct rig_qp *to,
			    const uint8_t sgid[16], const uint8_t smac[6])
{
	struct gid_entry from = {.vlan = OHCA_VLAN_NONE, .type = OHCA_GID_ROCE_V2};
	struct ohca_av av = rig_av(to->hca);
	static uint8_t data[LEN];
	struct iovec iov = {data, LEN};
	struct iov_pos payload = {.iov = &iov};
	const struct roce_path path = {
		.av = &av,
		.from = &from,
		.sport = 0xc000,
		.bth = {.service = BTH_UC, .pkey = PKEY_DEFAULT, .dest_qpn = to->qpn},
	};
	const struct pkt pkt = {.op = PKT_SEND,
				.flags = PKT_FIRST | PKT_LAST,
				.psn = RIG_PSN,
				.npsn = 1,
				.iov = &iov,
				.num = 1,
				.len = LEN};

	memcpy(from.gid, sgid, 16);
	memcpy(from.mac, smac, 6);
	return roce_encode(frame, &path, &pkt, &payload);
}

static void put(int fd, const uint8_t *frame, uint32_t len)
{
	uint32_t be = htobe32(len);

	assert_int_equal(write(fd, &be, sizeof(be)), sizeof(be));
	assert_int_equal(write(fd, frame, len), len);
	inproc_settle();
}

/* The fabric has an uplink.  Returns the socket at its other end. */
static int open_uplink(void)
{
	char path[128];

	strcpy(server->dir, "/tmp/ohcad-owner.XXXXXX");
	assert_non_null(mkdtemp(server->dir));
	assert_int_equal(wire_init(inproc_fabric(0), inproc_hca(0)->loop), 0);
	return outsider(path, sizeof(path), "");
}

/* From an uplink comes nothing that is of this process: neither by MAC address nor by GID. */
static void test_uplink_in(void **state)
{
	static const uint8_t outside[6] = {2, 0xee, 0, 0, 0, 1};
	static const uint8_t outside_gid[16] = {[10] = 0xff, 0xff, 10, 8, 8, 8};
	struct raw eth = netdev(1);
	uint8_t packet[ROCE_MAX_FRAME], frame[RAW_UDP_LEN];
	struct rig_qp *forger;
	struct pair p;
	struct ohca_sge into;
	struct ohca_cqe cqe;
	uint32_t len;
	int fd;

	(void)state;
	fd = open_uplink();
	p = open_pair(OHCA_QPT_UC, &forger);
	into = rig_sge(p.mb, PAIR_IOVA, 1000);
	rig_post_recv(p.b, 1, &into, 1);
	len = make_packet(packet, p.b, rig->hca[0].gid, outside);
	put(fd, packet, len);
	assert_false(drv_cq_poll(p.b->rcq, &cqe));
	assert_int_equal(inproc_fabric(0)->wire->stats.from_here, 1);
	/* Also while the port is down, and by the MAC address */
	port_plug(port(0), false);
	put(fd, packet, len);
	assert_int_equal(inproc_fabric(0)->wire->stats.from_here, 2);
	set_macs(frame, second, victim);
	put(fd, frame, sizeof(frame));
	set_macs(frame, second, trusted[0]);
	put(fd, frame, sizeof(frame));
	raw_assert_none(&eth);
	assert_int_equal(outer()->from_here, 2);
	/* What is from outside comes in; its address can't be used here then, or the reverse. */
	set_macs(frame, second, outside);
	put(fd, frame, sizeof(frame));
	assert_got(&eth, second, outside);
	assert_int_equal(set_mac(2, outside), OHCA_CMD_BUSY);
	assert_int_equal(set_mac(2, further), OHCA_CMD_OK);
	set_macs(frame, second, further);
	put(fd, frame, sizeof(frame));
	raw_assert_none(&eth);
	assert_int_equal(outer()->from_here, 3);
	/* A connection to a peer outside takes what is from there. */
	p.b->attr.av = rig_av(&rig->hca[0]);
	memcpy(p.b->attr.av.dgid, outside_gid, 16);
	memcpy(p.b->attr.av.dmac, outside, 6);
	rig_to_reset(p.b);
	assert_int_equal(rig_to_init(p.b), 0);
	assert_int_equal(rig_to_rtr(p.b), 0);
	rig_post_recv(p.b, 1, &into, 1);
	len = make_packet(packet, p.b, outside_gid, outside);
	put(fd, packet, len);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	close(fd);
}

/* A frame of software that is a RoCE packet from another's GID does not leave the process. */
static void test_uplink_out(void **state)
{
	static const uint8_t outside[6] = {2, 0xee, 0, 0, 0, 1};
	struct raw from = netdev(2);
	uint8_t packet[ROCE_MAX_FRAME], got[2 * ROCE_MAX_FRAME];
	struct rig_qp_opts opts = {.type = OHCA_QPT_UC};
	struct rig_qp *qp = rig_qp_new(&rig->hca[1], &opts);
	uint32_t len;
	int fd;

	(void)state;
	fd = open_uplink();
	len = make_packet(packet, qp, rig->hca[0].gid, own);
	memcpy(packet, outside, 6);
	raw_send(&from, packet, len);
	inproc_settle();
	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), -1);
	assert_int_equal(port(2)->refused.packets, 1);
	/* From its own one it does. */
	len = make_packet(packet, qp, rig->hca[2].gid, own);
	memcpy(packet, outside, 6);
	raw_send(&from, packet, len);
	inproc_settle();
	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), 4 + len);
	close(fd);
}

#define IB(test) cmocka_unit_test_setup_teardown(test, start_ib, stop)
#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_source),    TEST(test_hearing),    TEST(test_commands),
		TEST(test_trust),     TEST(test_forged_rc),  TEST(test_forged_uc),
		TEST(test_uplink_in), TEST(test_uplink_out), IB(test_forged_lid),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
