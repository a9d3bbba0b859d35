// SPDX-License-Identifier: GPL-2.0
/* What strangers at the other end of an uplink of InfiniBand send: garbage, packets for nobody, another link layer. */

#include <endian.h>
#include <stdlib.h>

#include "harness.h"
#include "ib_wired.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "mad_request.h"
#include "outsider.h"
#include "pcapng_file.h"
#include "packet/ib.h"
#include "capture/capture.h"
#include "fabric/ib_forward.h"
#include "fabric/ib_traffic.h"
#include "packet/sm_attr.h"

#define HOPS_LEN 2
#define HELLO_LEN 20
#define VERSION 2

/* Of the first switch, to which that uplink is cabled */
static struct ib_port *outer_port(void)
{
	return &sw(0)->ports[UPLINK_PORT + 1];
}

static void put_bytes(int fd, const uint8_t *bytes, uint32_t len)
{
	uint32_t be = htobe32(len);

	assert_int_equal(write(fd, &be, sizeof(be)), sizeof(be));
	assert_int_equal(write(fd, bytes, len), len);
	inproc_settle();
}

/* A packet, which has passed so many hops with this one */
static void put_after(int fd, const uint8_t *packet, uint32_t len, uint16_t hops)
{
	uint8_t bytes[IB_MAX_PACKET + HOPS_LEN];

	memcpy(bytes, packet, len);
	put_be16(bytes + len, hops);
	put_bytes(fd, bytes, len + HOPS_LEN);
}

static void put(int fd, const uint8_t *packet, uint32_t len)
{
	put_after(fd, packet, len, 1);
}

/* As device.rst has it */
static void put_hello(int fd, uint8_t version, uint8_t flags, uint32_t number, uint32_t heard)
{
	uint8_t hello[HELLO_LEN] = {'O', 'H', 'I', 'B', version, flags, 3, 1, 1};

	put_be32(hello + 12, number);
	put_be32(hello + 16, heard);
	put_bytes(fd, hello, sizeof(hello));
}

/* The number in the last of the hellos that have come; @heard: of ours */
static uint32_t get_hello(int fd, uint32_t *heard)
{
	uint8_t buf[64 * (4 + HELLO_LEN)];
	ssize_t got = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	const uint8_t *last = buf + got - HELLO_LEN;

	assert_true(got > 0 && got % (4 + HELLO_LEN) == 0);
	assert_memory_equal(last, "OHIB\2", 5);
	*heard = get_be32(last + 16);
	return get_be32(last + 12);
}

/* Its port is up, and active. */
static void bring_up(int fd)
{
	uint32_t heard, number = get_hello(fd, &heard);

	assert_int_equal(heard, 0);
	assert_int_equal(outer_port()->state, IB_PORT_DOWN);
	assert_int_equal(outer_port()->phys, PORT_PHYS_POLLING);
	put_hello(fd, VERSION, 1, 77, 0);
	assert_int_equal(outer_port()->state, IB_PORT_DOWN);
	assert_int_equal(get_hello(fd, &heard), number);
	assert_int_equal(heard, 77);
	put_hello(fd, VERSION, 1, 77, number);
	assert_int_equal(outer_port()->state, IB_PORT_INIT);
	assert_int_equal(outer_port()->active.width, PORT_WIDTH_4X);
	assert_int_equal(outer_port()->active.speed, PORT_SPEED_SDR);
	assert_int_equal(outer_port()->active.ext, PORT_SPEED_EXT_FDR);
	ib_link_set_state(outer_port(), IB_PORT_ARMED);
	ib_link_set_state(outer_port(), IB_PORT_ACTIVE);
}

static uint32_t make_packet(uint8_t *packet, uint16_t slid, uint16_t dlid, uint8_t service,
			    uint32_t qpn, uint32_t len)
{
	static uint8_t data[PKT_MAX_MTU];
	const struct ohca_av av = {.ib.dlid = htole16(dlid), .sl = 2};
	const struct ib_path path = {
		.av = &av,
		.slid = slid,
		.bth = {.service = service,
			.pkey = PKEY_DEFAULT,
			.dest_qpn = qpn,
			.qkey = RIG_QKEY,
			.src_qpn = 5},
	};
	struct iovec iov = {data, len};
	struct iov_pos payload = {.iov = &iov};
	const struct pkt pkt = {
		.op = PKT_SEND,
		.flags = PKT_FIRST | PKT_LAST,
		.npsn = 1,
		.iov = &iov,
		.num = 1,
		.len = len,
	};

	return ib_encode(packet, &path, &pkt, &payload);
}

/* Bytes that are no good packet count as errors of the port, and nothing comes of them. */
static void test_garbage(void **state)
{
	struct ud ud = open_ud();
	uint8_t packet[IB_MAX_PACKET], bad[IB_MAX_PACKET];
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");
	const struct ib_port_counters *c = &outer_port()->counters;
	uint64_t errors = 0;
	uint32_t len, i;

	(void)state;
	bring_up(fd);
	/* A good one comes in. */
	len = make_packet(packet, 9, LID(0), BTH_UD, ud.qp[0]->qpn, LEN);
	recv_at(&ud, 0);
	put(fd, packet, len);
	assert_int_equal(rig_wait_recv(ud.qp[0]).status, OHCA_WC_SUCCESS);
	assert_int_equal(c->rcv_errors, 0);
	recv_at(&ud, 0);
	/* Short, and empty */
	for (i = 0; i < len; i += 7) {
		put(fd, packet, i);
		assert_int_equal(c->rcv_errors, ++errors);
	}
	/* There are no hops. */
	put_bytes(fd, packet, len);
	assert_int_equal(c->rcv_errors, ++errors);
	put_bytes(fd, packet, 1);
	assert_int_equal(c->rcv_errors, ++errors);
#define BAD(at, byte, has_crc)                             \
	do {                                               \
		memcpy(bad, packet, len);                  \
		bad[at] = byte;                            \
		if (has_crc)                               \
			ib_put_vcrc(bad, len);             \
		put(fd, bad, len);                         \
		assert_int_equal(c->rcv_errors, ++errors); \
	} while (0)
	BAD(0, 0x01, true); /* LVer */
	BAD(0, 0x80, true); /* VL 8 */
	BAD(0, 0xf0, true); /* VL 15, and no subnet management packet */
	BAD(1, 0x20, true); /* raw */
	BAD(5, packet[5] + 1, true); /* PktLen */
	BAD(30, packet[30] ^ 1, false); /* VCRC */
	memset(bad, 0xff, sizeof(bad));
	put(fd, bad, sizeof(bad));
	assert_int_equal(c->rcv_errors, ++errors);
	/* DLID 0 */
	make_packet(bad, 9, 0, BTH_UD, ud.qp[0]->qpn, LEN);
	put(fd, bad, len);
	assert_int_equal(c->rcv_errors, ++errors);
	/* The ICRC is for the HCA to look at; as are opcodes and QPs. */
	memcpy(bad, packet, len);
	bad[LRH_LEN + BTH_LEN] ^= 1;
	ib_put_vcrc(bad, len);
	put(fd, bad, len);
	assert_int_equal(stats(0)->bad_icrc, 1);
	put(fd, bad, make_packet(bad, 9, LID(0), BTH_UD, 0x77777, LEN));
	assert_int_equal(stats(0)->no_qp, 1);
	put(fd, bad, make_packet(bad, 9, LID(0), BTH_RC, ud.qp[0]->qpn, LEN));
	assert_int_equal(stats(0)->no_qp, 2);
	put(fd, bad, make_packet(bad, 9, LID(0), BTH_UD, QPN_SMI, LEN));
	assert_int_equal(stats(0)->no_qp, 3);
	/* Nobody has the LID; it is behind the port that it comes from. */
	put(fd, bad, make_packet(bad, 9, 0x777, BTH_UD, ud.qp[0]->qpn, LEN));
	assert_int_equal(c->rcv_relay_errors, 1);
	*ib_switch_linear_room(sw(0), 0x1f, 1) = outer_port()->num;
	put(fd, bad, make_packet(bad, 9, 0x1f, BTH_UD, ud.qp[0]->qpn, LEN));
	assert_int_equal(c->rcv_relay_errors, 2);
	assert_int_equal(c->rcv_errors, errors);
	inproc_assert_no_cqe(ud.qp[0]->rcq);
	/* All that, and the link is what it was. */
	put(fd, packet, len);
	assert_int_equal(rig_wait_recv(ud.qp[0]).status, OHCA_WC_SUCCESS);
	close(fd);
	inproc_settle();
	assert_int_equal(outer_port()->state, IB_PORT_DOWN);
}

/* A connected QP takes what comes from its peer, to its own address, in its partition. */
static void test_strangers(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UC};
	struct rig_qp *qp = rig_qp_new(&rig->hca[0], &opts);
	struct rig_mr *mr = rig_mr_new(&rig->hca[0], PAIR_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, 1000);
	uint8_t packet[IB_MAX_PACKET];
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");

	(void)state;
	bring_up(fd);
	qp->attr.av = (struct ohca_av){.ib.dlid = htole16(9), .port = 1};
	qp->attr.dest_qpn = htole32(5);
	assert_int_equal(rig_to_init(qp), 0);
	assert_int_equal(rig_to_rtr(qp), 0);
	rig_post_recv(qp, 1, &sge, 1);
	put(fd, packet, make_packet(packet, 8, LID(0), BTH_UC, qp->qpn, LEN));
	assert_int_equal(stats(0)->not_peer, 1);
	/* Our address is another one than that of the path. */
	inproc_hca(0)->ports[0]->ib->lmc = 0;
	ib_port_set_lid(inproc_hca(0)->ports[0]->ib, LID(0) & ~1, 1);
	*ib_switch_linear_room(sw(0), LID(0) & ~1, 1) = 1;
	put(fd, packet, make_packet(packet, 9, LID(0), BTH_UC, qp->qpn, LEN));
	assert_int_equal(stats(0)->not_peer, 2);
	ib_port_set_lid(inproc_hca(0)->ports[0]->ib, LID(0), 0);
	ib_port_set_pkeys(inproc_hca(0)->ports[0]->ib, 0, (const uint16_t[]){0x8001}, 1);
	put(fd, packet, make_packet(packet, 9, LID(0), BTH_UC, qp->qpn, LEN));
	assert_int_equal(stats(0)->not_peer, 3);
	assert_int_equal(inproc_hca(0)->ports[0]->ib->pkey_viols, 1);
	inproc_assert_no_cqe(qp->rcq);
	ib_port_set_pkeys(inproc_hca(0)->ports[0]->ib, 0, (const uint16_t[]){PKEY_DEFAULT}, 1);
	put(fd, packet, make_packet(packet, 9, LID(0), BTH_UC, qp->qpn, LEN));
	assert_int_equal(rig_wait_recv(qp).status, OHCA_WC_SUCCESS);
	close(fd);
}

static struct notice noticed;

static void note(struct ib_port *at, const struct notice *notice)
{
	(void)at;
	noticed = *notice;
}

/* Give a packet with a wrong P_Key to the fabric.  Returns the trap that it makes. */
static const struct notice *trap_for(int fd, uint8_t service, uint32_t qpn)
{
	struct fabric *fabric = inproc_fabric(0);
	const struct ib_agent_ops *real = fabric->ib_agent;
	struct ib_agent_ops ops = *real;
	uint8_t packet[IB_MAX_PACKET];

	ops.trap = note;
	memset(&noticed, 0, sizeof(noticed));
	fabric->ib_agent = &ops;
	put(fd, packet, make_packet(packet, 9, LID(0), service, qpn, LEN));
	fabric->ib_agent = real;
	return &noticed;
}

/* Traps name the QPs of the packet, as far as it has them, or as the QP knows its peer. */
static void test_trap_qps(void **state)
{
	static const uint16_t pkeys[] = {0x8001};
	struct rig_qp_opts opts = {.type = OHCA_QPT_UC};
	struct rig_qp *uc = rig_qp_new(&rig->hca[0], &opts);
	struct ib_port *ib = inproc_hca(0)->ports[0]->ib;
	struct ud ud = open_ud();
	const struct notice *n;
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");

	(void)state;
	bring_up(fd);
	uc->attr.av = (struct ohca_av){.ib.dlid = htole16(9), .port = 1};
	uc->attr.dest_qpn = htole32(6);
	assert_int_equal(rig_to_init(uc), 0);
	assert_int_equal(rig_to_rtr(uc), 0);
	ib_port_set_pkeys(ib, 0, pkeys, 1);
	n = trap_for(fd, BTH_UD, ud.qp[0]->qpn);
	assert_int_equal(n->trap, htobe16(TRAP_BAD_PKEY));
	assert_int_equal(be32toh(n->key.sl_qp1), 0x20000005);
	assert_int_equal(be32toh(n->key.qp2), ud.qp[0]->qpn);
	n = trap_for(fd, BTH_UC, uc->qpn);
	assert_int_equal(n->trap, htobe16(TRAP_BAD_PKEY));
	assert_int_equal(be32toh(n->key.sl_qp1), 0x20000006);
	assert_int_equal(be32toh(n->key.qp2), uc->qpn);
	/* The switch sees the packet only. */
	ib_port_set_pkeys(outer_port(), 0, pkeys, 1);
	outer_port()->enforce = PORT_ENFORCE_IN;
	ib_switch_changed(sw(0));
	n = trap_for(fd, BTH_UD, ud.qp[0]->qpn);
	assert_int_equal(n->trap, htobe16(TRAP_SWITCH_BAD_PKEY));
	assert_int_equal(be16toh(n->switch_pkey.valid), 0x3f);
	assert_int_equal(be32toh(n->switch_pkey.sl_qp1), 0x20000005);
	assert_int_equal(be32toh(n->switch_pkey.qp2), ud.qp[0]->qpn);
	n = trap_for(fd, BTH_UC, uc->qpn);
	assert_int_equal(be16toh(n->switch_pkey.valid), 0x2f);
	assert_int_equal(be32toh(n->switch_pkey.sl_qp1), 0x20000000);
	assert_int_equal(be32toh(n->switch_pkey.qp2), uc->qpn);
	close(fd);
}

/* A port takes packets on its OperationalVLs only. */
static void test_vls(void **state)
{
	struct ud ud = open_ud();
	uint8_t packet[IB_MAX_PACKET];
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");
	uint32_t len, vl;

	(void)state;
	bring_up(fd);
	len = make_packet(packet, 9, LID(0), BTH_UD, ud.qp[0]->qpn, LEN);
	for (vl = 0; vl < 8; vl += 3) {
		outer_port()->oper_vls = 3; /* VL0 to VL3 */
		packet[0] = vl << 4;
		ib_put_vcrc(packet, len);
		recv_at(&ud, 0);
		put(fd, packet, len);
		assert_int_equal(outer_port()->counters.rcv_errors, vl > 3);
		outer_port()->oper_vls = 4;
		if (vl > 3)
			put(fd, packet, len);
		assert_int_equal(rig_wait_recv(ud.qp[0]).status, OHCA_WC_SUCCESS);
	}
	close(fd);
}

/* A packet for which the uplink has no room is not sent, but discarded. */
static void test_no_room(void **state)
{
	const struct ib_port_counters *c;
	uint8_t packet[IB_MAX_PACKET];
	uint64_t before, num = 0;
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");
	uint32_t len;

	(void)state;
	bring_up(fd);
	c = &outer_port()->counters;
	before = c->xmit.pkts;
	len = make_packet(packet, LID(0), 9, BTH_UD, 5, 4096);
	while (!outer()->dropped) {
		ib_forward_out(outer_port(), packet, len, 0);
		assert_true(++num < 2000);
	}
	assert_int_equal(c->xmit_discards, 1);
	assert_int_equal(c->xmit.pkts, before + num - 1);
	close(fd);
}

/* From one uplink to the other: a switch forwards. */
static void test_transit(void **state)
{
	struct ud ud = open_ud();
	struct mad_packet smp = mad_request(MAD_CLASS_SM_LID, MAD_GET_RESP, SM_NODE_INFO, 0);
	uint8_t packet[IB_MAX_PACKET];
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");
	uint64_t xmit;

	(void)state;
	bring_up(fd);
	xmit = uplink_port(0)->counters.xmit.pkts;
	recv_at(&ud, 1);
	put(fd, packet, make_packet(packet, 9, LID(1), BTH_UD, ud.qp[1]->qpn, LEN));
	assert_int_equal(le16toh(rig_wait_recv(ud.qp[1]).ib.slid), 9);
	assert_int_equal(uplink_port(0)->counters.xmit.pkts, xmit + 1);
	/* Its last hop, and one more than that, which does not matter to where it ends */
	recv_at(&ud, 1);
	put_after(fd, packet, make_packet(packet, 9, LID(1), BTH_UD, ud.qp[1]->qpn, LEN),
		  IB_MAX_HOPS - 1);
	assert_int_equal(rig_wait_recv(ud.qp[1]).status, OHCA_WC_SUCCESS);
	put_after(fd, packet, make_packet(packet, 9, LID(1), BTH_UD, ud.qp[1]->qpn, LEN),
		  IB_MAX_HOPS);
	put_after(fd, packet, make_packet(packet, 9, LID(1), BTH_UD, ud.qp[1]->qpn, LEN), 0xffff);
	assert_int_equal(uplink_port(0)->counters.xmit_discards, 2);
	assert_int_equal(uplink_port(0)->counters.xmit.pkts, xmit + 2);
	/* Subnet management packets by LID too */
	smp.slid = 9;
	smp.dlid = SW_LID(1);
	put_after(fd, packet, ib_encode_mad(packet, &smp), IB_MAX_HOPS - 1);
	assert_int_equal(uplink_port(0)->counters.xmit.pkts, xmit + 3);
	put_after(fd, packet, ib_encode_mad(packet, &smp), IB_MAX_HOPS);
	put_after(fd, packet, ib_encode_mad(packet, &smp), 0xffff);
	assert_int_equal(uplink_port(0)->counters.xmit_discards, 4);
	assert_int_equal(uplink_port(0)->counters.xmit.pkts, xmit + 3);
	recv_at(&ud, 0);
	put_after(fd, packet, make_packet(packet, 9, LID(0), BTH_UD, ud.qp[0]->qpn, LEN), 0xffff);
	assert_int_equal(rig_wait_recv(ud.qp[0]).status, OHCA_WC_SUCCESS);
	/* Not while the port is not active */
	ib_link_set_phys(uplink_port(0), PORT_PHYS_DISABLED);
	inproc_settle();
	recv_at(&ud, 1);
	put(fd, packet, make_packet(packet, 9, LID(1), BTH_UD, ud.qp[1]->qpn, LEN));
	inproc_assert_no_cqe(ud.qp[1]->rcq);
	assert_int_equal(uplink_port(0)->counters.xmit_discards, 5);
	close(fd);
}

/* What somebody at the other end does not read makes our ports wait. */
static void test_xmit_wait(void **state)
{
	struct ud ud = open_ud();
	struct ohca_sge sge = rig_sge(ud.mr[0], PAIR_IOVA, 4096);
	const struct ib_port *hca = inproc_hca(0)->ports[0]->ib;
	struct rig_wr wr = rig_datagram(ud.qp[1], &ud.av, &sge);
	static uint8_t buf[1 << 16];
	uint64_t waited, num = 0;
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");

	(void)state;
	bring_up(fd);
	*ib_switch_linear_room(sw(0), 9, 1) = outer_port()->num;
	ib_switch_changed(sw(0));
	ud.av.ib.dlid = htole16(9);
	while (list_empty(&inproc_fabric(0)->uplinks->parked)) {
		rig_post_send(ud.qp[0], &wr);
		inproc_step();
		assert_true(++num < 2000);
	}
	assert_true(outer()->blocked);
	/* The HCA's port waits until the uplink gives up, the switch's as long as it is so. */
	waited = ib_waited(outer_port());
	assert_true(waited >= ib_waited(hca));
	inproc_elapse(10 * MS);
	assert_in_range(ib_waited(outer_port()), waited + 9 * MS, waited + 11 * MS);
	assert_in_range(ib_waited(hca), 9 * MS, 11 * MS);
	inproc_elapse(100 * MS);
	assert_in_range(ib_waited(outer_port()), waited + 109 * MS, waited + 112 * MS);
	assert_in_range(ib_waited(hca), 20 * MS, 60 * MS);
	assert_int_equal(ib_waited(uplink_port(0)), 0);
	assert_int_equal(ib_waited(hca->peer), 0);
	/* Until it is read */
	do
		inproc_settle();
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0);
	assert_false(outer()->blocked);
	waited = ib_waited(outer_port());
	inproc_elapse(10 * MS);
	assert_int_equal(ib_waited(outer_port()), waited);
	close(fd);
}

static bool is_closed(int fd)
{
	uint8_t buf[4096];
	ssize_t got;

	do
		got = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	while (got > 0);
	return !got;
}

/* A peer of the other link layer, or of another version, is refused; the next one need not be. */
static void test_refused(void **state)
{
	static const uint8_t frame[64] = {2, 9, 9, 9, 9, 9, 2, 8, 8, 8, 8, 8, 0x88, 0xb5};
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");

	(void)state;
	put_bytes(fd, frame, sizeof(frame));
	assert_true(is_closed(fd));
	assert_true(outer()->refused);
	assert_int_equal(outer_port()->state, IB_PORT_DOWN);
	close(fd);
	fd = outsider_connect(path);
	put_hello(fd, VERSION + 1, 1, 77, 0);
	assert_true(is_closed(fd));
	close(fd);
	fd = outsider_connect(path);
	assert_true(outer()->up);
	bring_up(fd);
	assert_false(outer()->refused);
	close(fd);
}

/* A packet from a LID of this side of the cable does not come in, nor does it go on to others. */
static void test_own_lids(void **state)
{
	const uint16_t lids[] = {LID(0), SW_LID(0)};
	struct ud ud = open_ud();
	uint8_t packet[IB_MAX_PACKET];
	char path[128];
	int fd = outsider(path, sizeof(path), ",link=ib");
	uint64_t out = uplink_port(0)->counters.xmit.pkts, in;
	unsigned int i;

	(void)state;
	bring_up(fd);
	in = outer()->in;
	recv_at(&ud, 0);
	for (i = 0; i < 2; i++) {
		put(fd, packet, make_packet(packet, lids[i], LID(0), BTH_UD, ud.qp[0]->qpn, LEN));
		put(fd, packet, make_packet(packet, lids[i], LID(1), BTH_UD, ud.qp[1]->qpn, LEN));
	}
	inproc_assert_no_cqe(ud.qp[0]->rcq);
	assert_int_equal(uplink_port(0)->counters.xmit.pkts, out);
	assert_int_equal(outer()->from_here, 4);
	assert_int_equal(outer()->dropped, 4);
	assert_int_equal(outer()->in, in);
	assert_int_equal(outer_port()->counters.rcv_constraint, 4);
	/* From one of the other side, and from one that the switch does not know */
	put(fd, packet, make_packet(packet, LID(1), LID(0), BTH_UD, ud.qp[0]->qpn, LEN));
	assert_int_equal(rig_wait_recv(ud.qp[0]).status, OHCA_WC_SUCCESS);
	recv_at(&ud, 0);
	put(fd, packet, make_packet(packet, 9, LID(0), BTH_UD, ud.qp[0]->qpn, LEN));
	assert_int_equal(rig_wait_recv(ud.qp[0]).status, OHCA_WC_SUCCESS);
	assert_int_equal(outer()->from_here, 4);
	assert_int_equal(outer()->in, in + 2);
	/* Nor does data before the port is armed */
	outer_port()->state = IB_PORT_INIT;
	put(fd, packet, make_packet(packet, 9, LID(0), BTH_UD, ud.qp[0]->qpn, LEN));
	assert_int_equal(outer()->dropped, 5);
	assert_int_equal(outer()->in, in + 2);
	close(fd);
}

/* A capture can be read whatever has come, also what is longer than the length in its records. */
static void test_captured(void **state)
{
	static const uint32_t lengths[] = {65519, 65522, 65535, 100000};
	struct captures *captures = &inproc_fabric(0)->captures;
	char path[128], file[] = "/tmp/ohcad-strange.XXXXXX";
	struct capture_options opts = {.path = file};
	static uint8_t garbage[100000];
	int fd = outsider(path, sizeof(path), ",link=ib");
	int file_fd = mkstemp(file);
	unsigned int i;
	struct pf *pf;

	(void)state;
	assert_true(file_fd >= 0);
	close(file_fd);
	bring_up(fd);
	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	for (i = 0; i < 4; i++)
		put_bytes(fd, garbage, lengths[i]);
	assert_int_equal(capture_stop(captures), 0);
	pf = pf_read(file);
	assert_int_equal(pf->num, 4);
	pf_free(pf);
	captures_fini(captures);
	unlink(file);
	close(fd);
}

static void test_refused_by_ethernet(void **state)
{
	static const uint8_t frame[64] = {2, 9, 9, 9, 9, 9, 2, 8, 8, 8, 8, 8, 0x88, 0xb5};
	char path[128];
	int fd = outsider(path, sizeof(path), "");

	(void)state;
	put_hello(fd, VERSION, 1, 77, 0);
	assert_true(is_closed(fd));
	assert_true(outer()->refused);
	close(fd);
	fd = outsider_connect(path);
	put_bytes(fd, frame, sizeof(frame));
	assert_int_equal(outer()->in, 1);
	assert_false(outer()->refused);
	close(fd);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, ib_wired_start, ib_wired_stop)
#define SUBNET(test) cmocka_unit_test_setup_teardown(test, ib_wired_start_subnet, ib_wired_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUBNET(test_garbage),		SUBNET(test_strangers),
		SUBNET(test_transit),		SUBNET(test_xmit_wait),
		SUBNET(test_own_lids),		SUBNET(test_captured),
		SUBNET(test_trap_qps),		SUBNET(test_vls),
		SUBNET(test_no_room),		TEST(test_refused),
		TEST(test_refused_by_ethernet),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
