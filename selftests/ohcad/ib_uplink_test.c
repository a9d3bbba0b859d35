// SPDX-License-Identifier: GPL-2.0
/* Uplinks of InfiniBand: two fabrics of this program are one subnet. */

#include <endian.h>
#include <sys/socket.h>

#include "harness.h"
#include "fabric/ib_power.h"
#include "ib_wired.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "mad_request.h"
#include "packet/pm_attr.h"
#include "packet/sm_attr.h"
#include "rig_assert.h"
#include "subnet.h"

#define MLID 0xc001
#define RESERVED_LKEY 0x100

static void assert_link(uint8_t state)
{
	unsigned int i;

	inproc_settle();
	for (i = 0; i < 2; i++) {
		assert_int_equal(uplink_port(i)->state, state);
		if (state != IB_PORT_DOWN)
			assert_int_equal(uplink_port(i)->phys, PORT_PHYS_LINK_UP);
	}
}

/* What the subnet manager does when the link is up again */
static void activate(void)
{
	unsigned int i;

	assert_link(IB_PORT_INIT);
	for (i = 0; i < 2; i++) {
		ib_link_set_state(uplink_port(i), IB_PORT_ARMED);
		ib_link_set_state(uplink_port(i), IB_PORT_ACTIVE);
	}
}

/* States of the link, and the fastest that both ends are enabled for */

static void assert_speeds(uint8_t width, uint8_t speed, uint8_t ext)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(uplink_port(i)->active.width, width);
		assert_int_equal(uplink_port(i)->active.speed, speed);
		assert_int_equal(uplink_port(i)->active.ext, ext);
	}
}

static void assert_best(void)
{
	struct ib_speeds best;

	assert_true(ib_speeds_best(&uplink_port(0)->enabled, &uplink_port(1)->enabled, &best));
	assert_speeds(best.width, best.speed, best.ext);
}

static void test_train(void **state)
{
	struct ib_port *a = uplink_port(0), *b = uplink_port(1);

	(void)state;
	assert_link(IB_PORT_INIT);
	assert_best();
	assert_int_equal(a->active.ext, PORT_SPEED_EXT_EDR);
	a->enabled.width = PORT_WIDTH_1X;
	b->enabled.speed = PORT_SPEED_SDR | PORT_SPEED_DDR;
	b->enabled.ext = 0;
	/* They count when the link is trained anew: whichever end that comes from. */
	ib_link_set_phys(a, PORT_PHYS_POLLING);
	assert_link(IB_PORT_INIT);
	assert_speeds(PORT_WIDTH_1X, PORT_SPEED_DDR, 0);
	a->enabled = a->supported;
	b->enabled = b->supported;
	b->enabled.ext = PORT_SPEED_EXT_FDR;
	assert_true(ib_link_retrain(b));
	assert_link(IB_PORT_INIT);
	assert_best();
	assert_int_equal(a->active.ext, PORT_SPEED_EXT_FDR);
	assert_int_equal(a->counters.link_downed, 2);
	assert_int_equal(b->counters.link_downed, 2);
	/* Nothing in common */
	a->enabled.width = PORT_WIDTH_1X;
	b->enabled.width = PORT_WIDTH_4X;
	ib_link_set_phys(b, PORT_PHYS_POLLING);
	assert_link(IB_PORT_DOWN);
	assert_int_equal(a->phys, PORT_PHYS_POLLING);
	assert_int_equal(b->phys, PORT_PHYS_POLLING);
}

/* Either end, or both, and back in each order */
static void test_disable(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct ib_port *a = uplink_port(i), *b = uplink_port(!i);

		assert_link(IB_PORT_INIT);
		ib_link_set_phys(a, PORT_PHYS_DISABLED);
		assert_link(IB_PORT_DOWN);
		assert_int_equal(a->phys, PORT_PHYS_DISABLED);
		assert_int_equal(b->phys, PORT_PHYS_POLLING);
		ib_link_set_phys(a, PORT_PHYS_POLLING);
		assert_link(IB_PORT_INIT);
		ib_link_set_phys(a, PORT_PHYS_DISABLED);
		ib_link_set_phys(b, PORT_PHYS_DISABLED);
		assert_link(IB_PORT_DOWN);
		ib_link_set_phys(a, PORT_PHYS_POLLING);
		assert_link(IB_PORT_DOWN);
		ib_link_set_phys(b, PORT_PHYS_POLLING);
		assert_link(IB_PORT_INIT);
	}
}

/* The remote end of a link that port @i has taken down, and what the subnet manager learns there */
static void assert_lost(unsigned int i, uint64_t times)
{
	assert_link(IB_PORT_DOWN);
	assert_int_equal(uplink_port(!i)->phys, PORT_PHYS_POLLING);
	assert_int_equal(uplink_port(!i)->counters.link_downed, times);
	assert_true(sw(!i)->state_change);
	sw(!i)->state_change = false;
}

/* The cable is unplugged at either end, or at both, and plugged in again. */
static void test_cable_out(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct ib_port *a = uplink_port(i), *b = uplink_port(!i);

		assert_link(IB_PORT_INIT);
		sw(!i)->state_change = false;
		ib_port_plug(a, false);
		assert_lost(i, i ? 3 : 1);
		ib_port_plug(a, true);
		activate();
		/* It is in already. */
		ib_port_plug(a, true);
		assert_link(IB_PORT_ACTIVE);
		ib_port_plug(a, false);
		ib_port_plug(b, false);
		assert_link(IB_PORT_DOWN);
		ib_port_plug(a, true);
		assert_link(IB_PORT_DOWN);
		ib_port_plug(b, true);
		assert_link(IB_PORT_INIT);
	}
}

/* Either switch loses its power. */
static void test_power_off(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_link(IB_PORT_INIT);
		sw(!i)->state_change = false;
		ib_node_power(&sw(i)->node, false);
		/* The other one had its counters reset. */
		assert_lost(i, 1);
		/* Without a cable, power is of no use. */
		ib_port_plug(uplink_port(i), false);
		ib_node_power(&sw(i)->node, true);
		assert_link(IB_PORT_DOWN);
		ib_port_plug(uplink_port(i), true);
		assert_link(IB_PORT_INIT);
	}
}

/* The switch goes with the last adapter, and returns with the next one. */
static void test_no_switch(void **state)
{
	struct fabric *fabric = inproc_fabric(0);
	struct port *port = inproc_hca(0)->ports[0];

	(void)state;
	assert_link(IB_PORT_INIT);
	fabric_detach(fabric, port);
	assert_null(fabric->ib_switch);
	inproc_settle();
	assert_int_equal(uplink_port(1)->state, IB_PORT_DOWN);
	assert_int_equal(uplink_port(1)->counters.link_downed, 1);
	fabric_attach(fabric, port, true);
	ib_uplinks_attach(fabric);
	assert_link(IB_PORT_INIT);
}

/* Management */

/* A management datagram to a LID from a privileged QP, and the answer to it, in place */
static void ask(struct rig_qp *qp, uint16_t dlid, uint32_t qpn, uint32_t qkey, uint8_t mad[MAD_LEN])
{
	const struct ohca_av av = {.ib.dlid = htole16(dlid), .port = 1};
	uint64_t addr = drv_alloc(qp->hca->drv, 4096);
	uint8_t *buf = drv_ptr(qp->hca->drv, addr);
	const struct ohca_sge from = {
		.addr = htole64(addr), .length = htole32(MAD_LEN), .lkey = htole32(RESERVED_LKEY)};
	const struct ohca_sge to = {.addr = htole64(addr + 1024),
				    .length = htole32(OHCA_GRH_LEN + MAD_LEN),
				    .lkey = htole32(RESERVED_LKEY)};
	const struct rig_wr wr = {
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &from,
		.av = &av,
		.dest_qpn = qpn,
		.qkey = qkey,
	};
	struct ohca_cqe cqe;

	memcpy(buf, mad, MAD_LEN);
	rig_post_recv(qp, 1, &to, 1);
	rig_post_send(qp, &wr);
	assert_int_equal(rig_wait_send(qp).status, OHCA_WC_SUCCESS);
	cqe = rig_wait_recv(qp);
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(le16toh(cqe.ib.slid), dlid);
	assert_int_equal(le32toh(cqe.src_qpn), qpn);
	memcpy(mad, buf + 1024 + OHCA_GRH_LEN, MAD_LEN);
}

static struct rig_qp *privileged_qp(bool smi)
{
	const struct rig_qp_opts opts = {.type = smi ? OHCA_QPT_SMI : OHCA_QPT_GSI,
					 .smi = smi,
					 .flags = OHCA_QP_F_PRIVILEGED};
	struct rig_qp *qp = rig_qp_new(&rig->hca[0], &opts);

	assert_to_rts(qp);
	return qp;
}

/* By directed routes: both switches and both HCAs, and the ports of the cable */
static void test_directed(void **state)
{
	static const uint8_t to_near[] = {1}, to_far[] = {1, UPLINK_PORT},
			     to_hca[] = {1, UPLINK_PORT, 1};
	struct node_info info[2]; /* more than SMP_DATA_LEN */
	uint8_t data[SMP_DATA_LEN] = {0};
	struct subnet subnet;

	(void)state;
	subnet_open(&subnet, &rig->hca[0]);
#define NODE(path)                                                                    \
	do {                                                                          \
		assert_int_equal(subnet_request(&subnet, path, sizeof(path), MAD_GET, \
						SM_NODE_INFO, 0, data),               \
				 MAD_OK);                                             \
		memcpy(&info[0], data, sizeof(info[0]));                              \
	} while (0)
	NODE(to_near);
	assert_int_equal(info->node_type, NODE_SWITCH);
	assert_int_equal(be64toh(info->node_guid), sw(0)->node.guid);
	assert_int_equal(info->local_port, 1);
	NODE(to_far);
	assert_int_equal(info->node_type, NODE_SWITCH);
	assert_int_equal(be64toh(info->node_guid), sw(1)->node.guid);
	assert_int_equal(info->local_port, UPLINK_PORT);
	NODE(to_hca);
	assert_int_equal(info->node_type, NODE_CA);
	assert_int_equal(be64toh(info->port_guid), inproc_hca(1)->ports[0]->ib->guid);
	rig_qp_destroy(subnet.qp);
}

static void test_by_lid(void **state)
{
	struct rig_qp *qp = privileged_qp(true);
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const uint16_t lids[] = {SW_LID(0), SW_LID(1), LID(1)};
		const uint64_t guids[] = {sw(0)->node.guid, sw(1)->node.guid,
					  inproc_hca(1)->ports[0]->ib->node->guid};
		struct smp smp = {.hdr = {.base_version = 1,
					  .mgmt_class = MAD_CLASS_SM_LID,
					  .class_version = 1,
					  .method = MAD_GET,
					  .attr_id = htobe16(SM_NODE_INFO)}};
		const struct node_info *info = (const struct node_info *)smp.data;

		ask(qp, lids[i], QPN_SMI, QKEY_SMI, (uint8_t *)&smp);
		assert_int_equal(smp.hdr.method, MAD_GET_RESP);
		assert_int_equal(be64toh(info->node_guid), guids[i]);
	}
	rig_qp_destroy(qp);
}

/* The performance agent of the switch of the other process */
static void test_far_switch(void **state)
{
	struct rig_qp *qp = privileged_qp(false);
	struct mad_packet p;
	struct port_counters *c = (struct port_counters *)(p.mad + PM_DATA);

	(void)state;
	memset(&p, 0, sizeof(p));
	p.hdr.base_version = 1;
	p.hdr.mgmt_class = MAD_CLASS_PM;
	p.hdr.class_version = 1;
	p.hdr.method = MAD_GET;
	p.hdr.attr_id = htobe16(PM_PORT_COUNTERS);
	c->port = UPLINK_PORT;
	ask(qp, SW_LID(1), QPN_GSI, QKEY_GSI, p.mad);
	assert_int_equal(p.hdr.method, MAD_GET_RESP);
	assert_int_equal(p.hdr.status, 0);
	/* What it had got by then: what brought the subnet up, and the question */
	assert_int_equal(be32toh(c->rcv_pkts), uplink_port(1)->counters.rcv.pkts);
	assert_int_equal(be32toh(c->xmit_pkts), uplink_port(1)->counters.xmit.pkts - 1);
	assert_true(be32toh(c->rcv_pkts) > 10);
	assert_int_equal(uplink_port(0)->counters.rcv.data, uplink_port(1)->counters.xmit.data);
	assert_int_equal(uplink_port(0)->counters.xmit.data, uplink_port(1)->counters.rcv.data);
	rig_qp_destroy(qp);
}

/* Data */

static void test_mtus(void **state)
{
	static const uint32_t sizes[] = {0, 1, 255, 256, 257, 4096, 5001, 70000, 300001};
	unsigned int mtu, o, s;

	(void)state;
	rig_close(rig);
	rig = NULL;
	for (mtu = 1; mtu <= 5; mtu++) {
		struct pair p = pair_new(server, NULL);

		p.a->attr.path_mtu = mtu;
		p.b->attr.path_mtu = mtu;
		rig_connect(p.a, p.b);
		for (o = 0; o < PAIR_OPS; o++) {
			for (s = 0; s < ARRAY_SIZE(sizes); s++) {
				struct pair_layout l = {sizes[s], 1, 2, 2, 3};

				pair_check_message(&p, pair_all_ops[o], &l, s);
			}
		}
		rig_close(p.rig);
	}
	assert_true(stats(1)->received > 0);
	assert_int_equal(stats(0)->malformed + stats(1)->malformed, 0);
	assert_int_equal(stats(0)->bad_icrc + stats(1)->bad_icrc, 0);
	assert_int_equal(uplink_port(0)->counters.rcv_errors, 0);
	assert_int_equal(uplink_port(1)->counters.rcv_errors, 0);
}

static void send_ud(struct ud *ud, uint32_t dest_qpn)
{
	struct ohca_sge sge = rig_sge(ud->mr[0], PAIR_IOVA, LEN);
	struct rig_wr wr = rig_datagram(ud->qp[1], &ud->av, &sge);

	wr.dest_qpn = dest_qpn;
	rig_post_send(ud->qp[0], &wr);
	assert_int_equal(rig_wait_send(ud->qp[0]).status, OHCA_WC_SUCCESS);
	inproc_settle();
}

static void assert_datagram(struct ud *ud, unsigned int i)
{
	struct ohca_cqe cqe = rig_wait_recv(ud->qp[i]);

	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 5);
	assert_int_equal(le32toh(cqe.byte_len), OHCA_GRH_LEN + LEN);
	assert_int_equal(le32toh(cqe.src_qpn), ud->qp[0]->qpn);
	assert_int_equal(le16toh(cqe.ib.slid), LID(0));
	assert_int_equal(cqe.net_type, OHCA_NET_IB);
	assert_int_equal(cqe.sl, 2);
	assert_int_equal(cqe.flags,
			 OHCA_CQE_F_RQ | (ud->av.ib.flags & OHCA_AV_GRH ? OHCA_CQE_F_GRH : 0));
	assert_true(rig_mr_is(ud->mr[i], PAIR_IOVA + 4096 + OHCA_GRH_LEN, LEN, 9));
}

static void test_ud(void **state)
{
	struct ud ud = open_ud();
	uint8_t grh[OHCA_GRH_LEN];

	(void)state;
	recv_at(&ud, 1);
	send_ud(&ud, ud.qp[1]->qpn);
	assert_datagram(&ud, 1);
	memcpy(ud.av.dgid, rig->hca[1].gid, 16);
	ud.av.ib.flags = OHCA_AV_GRH;
	ud.av.hop_limit = 7;
	recv_at(&ud, 1);
	send_ud(&ud, ud.qp[1]->qpn);
	assert_datagram(&ud, 1);
	rig_mr_get(ud.mr[1], PAIR_IOVA + 4096, grh, sizeof(grh));
	assert_int_equal(grh[7], 7);
	assert_memory_equal(grh + 8, rig->hca[0].gid, 16);
	assert_memory_equal(grh + 24, rig->hca[1].gid, 16);
	/* Of another partition: the port takes notice. */
	recv_at(&ud, 1);
	ib_port_set_pkeys(inproc_hca(0)->ports[0]->ib, 0, (const uint16_t[]){0x8001}, 1);
	send_ud(&ud, ud.qp[1]->qpn);
	inproc_assert_no_cqe(ud.qp[1]->rcq);
	assert_int_equal(inproc_hca(1)->ports[0]->ib->pkey_viols, 1);
}

static const uint8_t mgid[16] = {0xff, 0x12, [15] = 1};

static void attach(struct rig_qp *qp)
{
	struct ohca_mcast_in in = {.qpn = htole32(qp->qpn), .mlid = htole16(MLID)};

	memcpy(in.gid, mgid, 16);
	assert_int_equal(drv_cmd(qp->hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0), 0);
}

static void set_mcast(unsigned int i, uint16_t ports)
{
	*ib_switch_mcast_room(sw(i), MLID - LID_MCAST) = ports;
	ib_switch_changed(sw(i));
}

static void test_mcast(void **state)
{
	struct ud ud = open_ud();
	uint64_t pkts;
	unsigned int i;

	(void)state;
	memcpy(ud.av.dgid, mgid, 16);
	ud.av.ib.dlid = htole16(MLID);
	ud.av.ib.flags = OHCA_AV_GRH;
	for (i = 0; i < 2; i++) {
		attach(ud.qp[i]);
		set_mcast(i, 1 << 1 | 1 << UPLINK_PORT);
		recv_at(&ud, i);
	}
	send_ud(&ud, QPN_MCAST);
	for (i = 0; i < 2; i++)
		assert_datagram(&ud, i);
	assert_int_equal(uplink_port(0)->counters.xmit.mcast, 1);
	assert_int_equal(uplink_port(1)->counters.rcv.mcast, 1);
	/* Not back to where it came from */
	assert_int_equal(uplink_port(1)->counters.xmit.mcast, 0);
	/* The other switch does not carry it to the HCA, then ours does not carry it at all. */
	recv_at(&ud, 0);
	recv_at(&ud, 1);
	set_mcast(1, 1 << UPLINK_PORT);
	send_ud(&ud, QPN_MCAST);
	assert_datagram(&ud, 0);
	inproc_assert_no_cqe(ud.qp[1]->rcq);
	pkts = uplink_port(0)->counters.xmit.pkts;
	recv_at(&ud, 0);
	set_mcast(0, 1 << 1);
	send_ud(&ud, QPN_MCAST);
	assert_datagram(&ud, 0);
	assert_int_equal(uplink_port(0)->counters.xmit.pkts, pkts);
}

/* The other side goes and comes back */

static void write_error(struct pair *p)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, 8);
	const struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
				  .flags = OHCA_WQE_SIGNALED,
				  .num_sge = 1,
				  .sge = &sge,
				  .raddr = PAIR_IOVA,
				  .rkey = p->mb->key};

	rig_post_send(p->a, &wr);
	assert_int_equal(rig_wait_send(p->a).status, OHCA_WC_RETRY_EXC_ERR);
}

/* Trap 128 comes to QP 0 of the subnet manager. */
static void assert_trap(struct subnet *subnet)
{
	const struct smp *smp = (const struct smp *)(subnet->buf + OHCA_GRH_LEN);
	const struct notice *notice = (const struct notice *)smp->data;

	assert_int_equal(rig_wait_recv(subnet->qp).status, OHCA_WC_SUCCESS);
	assert_int_equal(smp->hdr.method, MAD_TRAP);
	assert_int_equal(be16toh(notice->trap), TRAP_LINK_STATE);
	assert_int_equal(be16toh(notice->lid_128), SW_LID(0));
}

static void recv_trap(struct subnet *subnet)
{
	const struct ohca_sge to = {.addr = htole64(subnet->addr),
				    .length = htole32(OHCA_GRH_LEN + MAD_LEN),
				    .lkey = htole32(RESERVED_LKEY)};

	rig_post_recv(subnet->qp, 1, &to, 1);
}

static void test_peer_gone(void **state)
{
	const struct pair_layout l = {5000, 1, 2, 2, 3};
	struct subnet subnet;
	struct pair p;
	unsigned int i;

	(void)state;
	rig_close(rig);
	p = pair_new(server, NULL);
	rig = p.rig;
	subnet_open(&subnet, &rig->hca[0]);
	recv_trap(&subnet);
	p.a->attr.timeout = 8; /* 1 ms */
	p.a->attr.retry_cnt = 2;
	rig_connect(p.a, p.b);
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	sw(0)->state_change = false;
	shutdown(uplink(0)->fd, SHUT_RDWR);
	uplink(1)->backoff = 20 * MS;
	for (i = 0; i < 20 && uplink_port(1)->state != IB_PORT_DOWN; i++)
		inproc_step();
	for (i = 0; i < 2; i++) {
		assert_int_equal(uplink_port(i)->state, IB_PORT_DOWN);
		assert_int_equal(uplink_port(i)->phys, PORT_PHYS_POLLING);
		assert_int_equal(uplink_port(i)->counters.link_downed, 1);
	}
	assert_true(sw(0)->state_change);
	assert_trap(&subnet);
	write_error(&p);
	/* It has connected again; the link is as after power-on, until the subnet manager comes. */
	inproc_elapse(50 * MS);
	assert_link(IB_PORT_INIT);
	activate();
	rig_to_reset(p.a);
	rig_to_reset(p.b);
	rig_connect(p.a, p.b);
	for (i = 0; i < PAIR_OPS; i++)
		pair_check_message(&p, pair_all_ops[i], &l, i);
}

/* On datagram sockets, only its silence shows that the other side is gone. */
static void test_silence(void **state)
{
	struct ib_port *a = uplink_port(0), *b = uplink_port(1);

	(void)state;
	assert_link(IB_PORT_INIT);
	inproc_elapse(2000 * MS);
	assert_link(IB_PORT_INIT);
	assert_int_equal(a->counters.link_downed, 0);
	/* It does not answer any more: its cable is not there. */
	ib_link_disconnect(b);
	inproc_elapse(3000 * MS);
	assert_int_equal(a->state, IB_PORT_INIT);
	inproc_elapse(4000 * MS);
	assert_int_equal(a->state, IB_PORT_DOWN);
	assert_int_equal(a->phys, PORT_PHYS_POLLING);
	ib_uplinks_attach(inproc_fabric(1));
	inproc_elapse(300 * MS);
	assert_link(IB_PORT_INIT);
}

/* Lost hellos are said again. */
static void test_lost_hello(void **state)
{
	uint8_t byte[4096];
	unsigned int i;

	(void)state;
	assert_link(IB_PORT_INIT);
	ib_link_set_phys(uplink_port(0), PORT_PHYS_POLLING);
	uplinks_poll(inproc_fabric(0)->uplinks);
	for (i = 0; recv(uplink(1)->fd, byte, sizeof(byte), MSG_DONTWAIT) > 0; i++)
		;
	assert_true(i > 0);
	inproc_settle();
	assert_int_equal(uplink_port(0)->state, IB_PORT_DOWN);
	assert_int_equal(uplink_port(1)->state, IB_PORT_INIT);
	inproc_elapse(300 * MS);
	assert_link(IB_PORT_INIT);
	assert_int_equal(uplink_port(1)->counters.link_downed, 1);
}

/* Hellos that nobody receives are no lost packets. */
static void test_no_receiver(void **state)
{
	struct mad_packet smp = mad_request(MAD_CLASS_SM_LID, MAD_GET, SM_NODE_INFO, 0);
	struct uplink_addr *to = &uplink(0)->opts.remote;

	(void)state;
	assert_link(IB_PORT_INIT);
	strcpy(to->un.sun_path, "/nonexistent");
	inproc_elapse(3000 * MS);
	assert_int_equal(uplink_port(0)->state, IB_PORT_INIT);
	assert_int_equal(uplink(0)->dropped, 0);
	ib_link_send(uplink_port(0), &smp);
	inproc_settle();
	assert_int_equal(uplink(0)->dropped, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, ib_wired_start, ib_wired_stop)
#define SUBNET(test) cmocka_unit_test_setup_teardown(test, ib_wired_start_subnet, ib_wired_stop)
#define KIND(test, kind)                                                                   \
	cmocka_unit_test_prestate_setup_teardown(test, ib_wired_start_kind, ib_wired_stop, \
						 (void *)(kind))

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_train),
		TEST(test_disable),
		TEST(test_cable_out),
		TEST(test_power_off),
		TEST(test_no_switch),
		SUBNET(test_directed),
		SUBNET(test_by_lid),
		SUBNET(test_far_switch),
		SUBNET(test_mtus),
		SUBNET(test_ud),
		SUBNET(test_mcast),
		SUBNET(test_peer_gone),
		KIND(test_train, "dgram"),
		KIND(test_disable, "udp"),
		KIND(test_cable_out, "dgram"),
		KIND(test_power_off, "udp"),
		KIND(test_no_switch, "dgram"),
		KIND(test_silence, "dgram"),
		KIND(test_lost_hello, "dgram"),
		KIND(test_no_receiver, "dgram"),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
