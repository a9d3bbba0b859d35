// SPDX-License-Identifier: GPL-2.0
/* Two HCAs of two ports, with addresses. */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_switch.h"
#include "harness.h"
#include "inproc.h"
#include "ports_bed.h"
#include "rig_assert.h"

#define SWITCH_LID 1

static struct server *server;
struct rig_hca ports_hca[PORTS_HCAS];
uint8_t ports_links[PORTS_NUM];

struct port *ports_port(unsigned int i, uint8_t num)
{
	return hca_port(inproc_hca(i), num);
}

/* What a subnet manager does */
static void subnet_up(void)
{
	struct ib_switch *sw = inproc_fabric(0)->ib_switch;
	unsigned int i, n;

	if (!sw)
		return;
	ib_port_set_lid(&sw->ports[0], SWITCH_LID, 0);
	for (i = 0; i < PORTS_HCAS; i++) {
		for (n = 1; n <= PORTS_NUM; n++) {
			struct ib_port *ib = ports_port(i, n)->ib;

			if (!ib)
				continue;
			*ib_switch_linear_room(sw, PORTS_LID(i, n), 1) = ib->peer->num;
			ib_port_set_lid(ib, PORTS_LID(i, n), 0);
			ib_port_set_sm(ib, PORTS_LID(0, 1), 0);
			ib_link_set_state(ib, IB_PORT_ARMED);
			ib_link_set_state(ib->peer, IB_PORT_ARMED);
			ib_link_set_state(ib, IB_PORT_ACTIVE);
			ib_link_set_state(ib->peer, IB_PORT_ACTIVE);
		}
	}
	sw->linear_top = PORTS_LID(PORTS_HCAS, 0);
	ib_switch_changed(sw);
}

static void gid_of(unsigned int i, uint8_t num, uint8_t gid[16])
{
	memset(gid, 0, 16);
	memset(gid + 10, 0xff, 2);
	gid[12] = 10;
	gid[14] = num;
	gid[15] = i + 1;
}

static void ethernet_up(unsigned int i, uint8_t num)
{
	struct ohca_modify_port_in up = {
		.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = num, .admin_up = 1};
	struct ohca_set_gid_in gid = {
		.port = num, .type = OHCA_GID_ROCE_V2, .vlan = htole16(OHCA_VLAN_NONE)};

	gid_of(i, num, gid.gid);
	memcpy(gid.mac, ports_port(i, num)->mac, 6);
	assert_int_equal(drv_cmd(ports_hca[i].drv, OHCA_CMD_MODIFY_PORT, &up, sizeof(up), NULL, 0),
			 0);
	assert_int_equal(drv_cmd(ports_hca[i].drv, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL, 0),
			 0);
}

void ports_open(unsigned int i)
{
	uint64_t feats = OHCA_FEAT_SHADOW_DB;
	uint8_t num;

	if (memchr(ports_links, OHCA_LINK_ETHERNET, PORTS_NUM))
		feats |= OHCA_FEAT_ETH;
	memset(&ports_hca[i], 0, sizeof(ports_hca[i]));
	ports_hca[i].drv = drv_start(server->sock[i], feats);
	ports_hca[i].async = drv_eq_new(ports_hca[i].drv, 6, 0, OHCA_EQ_ASYNC);
	ports_hca[i].comp = drv_eq_new(ports_hca[i].drv, 6, 1, 0);
	ports_hca[i].pdn = drv_create(ports_hca[i].drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	ports_hca[i].next_slot = 1;
	for (num = 1; num <= PORTS_NUM; num++) {
		if (ports_links[num - 1] == OHCA_LINK_ETHERNET)
			ethernet_up(i, num);
	}
}

void ports_settle(void)
{
	struct ohca_eqe eqe;
	unsigned int i;

	subnet_up();
	inproc_settle();
	for (i = 0; i < PORTS_HCAS; i++) {
		while (drv_eq_poll(ports_hca[i].async, &eqe))
			drv_eq_ack(ports_hca[i].async);
	}
}

int ports_up(uint8_t first, uint8_t second)
{
	unsigned int i;

	ports_links[0] = first;
	ports_links[1] = second;
	server = inproc_start_ports(PORTS_HCAS, ports_links, PORTS_NUM);
	for (i = 0; i < PORTS_HCAS; i++)
		ports_open(i);
	ports_settle();
	return 0;
}

int ports_down(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < PORTS_HCAS; i++)
		drv_close(ports_hca[i].drv);
	return server_stop(server) ? 0 : -1;
}

/* The path from port @from to port @to of HCA number @i */
struct ohca_av ports_av(unsigned int i, uint8_t to, uint8_t from)
{
	struct ohca_av av = {.port = from};

	if (ports_links[to - 1] == OHCA_LINK_INFINIBAND) {
		av.ib.dlid = htole16(PORTS_LID(i, to));
		return av;
	}
	gid_of(i, to, av.dgid);
	memcpy(av.dmac, ports_port(i, to)->mac, 6);
	av.hop_limit = 1;
	return av;
}

struct rig_qp *ports_qp(unsigned int i, uint8_t type, uint8_t num)
{
	struct rig_qp_opts opts = {.type = type, .port = num};

	if (type == OHCA_QPT_GSI)
		opts.flags = OHCA_QP_F_PRIVILEGED;
	return rig_qp_new(&ports_hca[i], &opts);
}

/* Connected QPs, of HCA 0 at port @from and of HCA number @i at port @to */
void ports_connect(struct rig_qp **a, uint8_t from, unsigned int i, struct rig_qp **b, uint8_t to)
{
	*a = ports_qp(0, OHCA_QPT_RC, from);
	*b = ports_qp(i, OHCA_QPT_RC, to);
	(*a)->attr.av = ports_av(i, to, from);
	(*b)->attr.av = ports_av(0, from, to);
	(*a)->attr.dest_qpn = htole32((*b)->qpn);
	(*b)->attr.dest_qpn = htole32((*a)->qpn);
	assert_to_rts(*a);
	assert_to_rts(*b);
}

void ports_write(struct rig_qp *a, struct rig_qp *b)
{
	static uint32_t seed;
	struct rig_mr *from = rig_mr_new(a->hca, PORTS_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	struct rig_mr *to = rig_mr_new(b->hca, PORTS_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(from, PORTS_IOVA, PORTS_LEN);
	const struct rig_wr wr = rig_write(&sge, PORTS_IOVA, to->key);

	rig_mr_fill(from, PORTS_IOVA, PORTS_LEN, ++seed);
	rig_post_send(a, &wr);
	assert_int_equal(rig_wait_send(a).status, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(to, PORTS_IOVA, PORTS_LEN, seed));
}

struct ohca_query_port_out ports_query(unsigned int i, uint8_t num)
{
	const struct ohca_query_port_in in = {.port = num};
	struct ohca_query_port_out out;

	assert_int_equal(drv_cmd(ports_hca[i].drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out,
				 sizeof(out)),
			 0);
	return out;
}

uint64_t ports_counter(unsigned int i, uint8_t num, enum ohca_counter what)
{
	const struct ohca_query_counters_in in = {.port = num};
	struct ohca_query_counters_out out;

	assert_int_equal(drv_cmd(ports_hca[i].drv, OHCA_CMD_QUERY_COUNTERS, &in, sizeof(in), &out,
				 sizeof(out)),
			 0);
	return le64toh(out.value[what]);
}
