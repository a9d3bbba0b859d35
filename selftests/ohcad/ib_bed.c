// SPDX-License-Identifier: GPL-2.0
/* HCAs with InfiniBand ports in the test program, and a subnet manager that uses their QP 0. */

#include <endian.h>

#include "harness.h"
#include "ib_bed.h"

struct ib_bed ib;
const char *ib_bed_topology;

const uint8_t to_switch[] = {1, 0}, to_hca1[] = {1, 2, 0}, to_hca2[] = {1, 3, 0};

struct ib_port *ib_port_of(unsigned int hca)
{
	return inproc_hca(hca)->ports[0]->ib;
}

struct ib_switch *ib_switch_of(void)
{
	return inproc_fabric(0)->ib_switch;
}

static bool receive_smp(struct port *port, const struct mad_packet *p)
{
	unsigned int i = 0;

	while (inproc_hca(i) != port->hca)
		i++;
	if (ib.num_got == BED_MAX_GOT)
		return false;
	ib.at[ib.num_got] = i;
	ib.got[ib.num_got++] = *p;
	return true;
}

int ib_bed_open(void **state)
{
	static const struct ib_client_ops client = {receive_smp};
	unsigned int i;

	(void)state;
	memset(&ib, 0, sizeof(ib));
	ib.server = ib_bed_topology ? inproc_start_topology(BED_HCAS, ib_bed_topology)
				    : inproc_start_ib(BED_HCAS);
	for (i = 0; i < BED_HCAS; i++) {
		ib_port_of(i)->port->ib_client = &client;
		ib.drv[i] = drv_start(ib.server->sock[i], OHCA_FEAT_SHADOW_DB);
		ib.async[i] = drv_eq_new(ib.drv[i], 6, 0, OHCA_EQ_ASYNC);
	}
	return 0;
}

int ib_bed_close(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < BED_HCAS; i++)
		drv_close(ib.drv[i]);
	return server_stop(ib.server) ? 0 : -1;
}

struct mad_packet ib_lid_request(uint8_t method, uint16_t attr, uint32_t mod, uint16_t dlid)
{
	struct mad_packet p = mad_request(MAD_CLASS_SM_LID, method, attr, mod);

	p.slid = ib_port_of(0)->lid;
	p.dlid = dlid;
	return p;
}

const struct smp *ib_ask(unsigned int hca, const struct mad_packet *p)
{
	const struct mad_packet *got = NULL;
	unsigned int i;

	ib.num_got = 0;
	ib_send_smp(inproc_hca(hca)->ports[0], p);
	for (i = 0; i < ib.num_got; i++) {
		if (ib.got[i].hdr.tid == p->hdr.tid && ib.at[i] == hca)
			got = &ib.got[i];
	}
	if (!got)
		return NULL;
	assert_int_equal(got->hdr.method, MAD_GET_RESP);
	assert_int_equal(got->hdr.attr_id, p->hdr.attr_id);
	assert_int_equal(got->hdr.attr_mod, p->hdr.attr_mod);
	if (p->hdr.mgmt_class == MAD_CLASS_SM_DR) {
		assert_int_equal(got->hdr.hop_ptr, 1);
		assert_true(got->hdr.status & htobe16(MAD_DIRECTION));
	} else {
		assert_int_equal(got->slid, p->dlid);
		assert_int_equal(got->dlid, p->slid);
	}
	return &got->smp;
}

static int ask(const struct mad_packet *p, void *data)
{
	const struct smp *smp = ib_ask(0, p);

	if (!smp)
		return -1;
	memcpy(data, smp->data, sizeof(smp->data));
	return be16toh(smp->hdr.status) & ~MAD_DIRECTION;
}

int ib_get(uint16_t attr, uint32_t mod, const uint8_t *route, void *data)
{
	struct mad_packet p = ib_request(MAD_GET, attr, mod, route);

	return ask(&p, data);
}

int ib_set(uint16_t attr, uint32_t mod, const uint8_t *route, void *data)
{
	struct mad_packet p = ib_request(MAD_SET, attr, mod, route);

	memcpy(p.smp.data, data, sizeof(p.smp.data));
	return ask(&p, data);
}

static void set_state(const uint8_t *route, uint32_t num, uint8_t state)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, num, route, &info), MAD_OK);
	info.speed_supported_state = (info.speed_supported_state & 0xf0) | state;
	info.phys_state_down_default &= 0x0f;
	assert_int_equal(ib_set(SM_PORT_INFO, num, route, &info), MAD_OK);
	assert_int_equal(info.speed_supported_state & 0x0f, state);
}

static void set_lid(const uint8_t *route, uint16_t lid)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, 0, route, &info), MAD_OK);
	info.lid = htobe16(lid);
	info.sm_lid = htobe16(BED_LID(0));
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default &= 0x0f;
	info.reregister_subnet_timeout = 10; /* 4 ms */
	assert_int_equal(ib_set(SM_PORT_INFO, 0, route, &info), MAD_OK);
}

/* The manager's own port, by a directed route without hops, as the kernel does it */
static void set_own(uint8_t state)
{
	struct ohca_mad_in in = {.port = 1, .flags = OHCA_MAD_IGNORE_MKEY};
	struct ohca_mad_out out;
	static const uint8_t nowhere[] = {0};
	struct mad_packet p = ib_request(MAD_GET, SM_PORT_INFO, 0, nowhere);
	struct smp *smp = (struct smp *)in.mad;
	struct port_info *info = (struct port_info *)smp->data;

	memcpy(in.mad, p.mad, sizeof(in.mad));
	assert_int_equal(drv_cmd(ib.drv[0], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	memcpy(in.mad, out.mad, sizeof(in.mad));
	smp->hdr = p.hdr;
	smp->hdr.method = MAD_SET;
	info->lid = htobe16(BED_LID(0));
	info->sm_lid = htobe16(BED_LID(0));
	info->speed_supported_state = (info->speed_supported_state & 0xf0) | state;
	info->phys_state_down_default &= 0x0f;
	info->reregister_subnet_timeout = 10;
	assert_int_equal(drv_cmd(ib.drv[0], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	smp = (struct smp *)out.mad;
	assert_int_equal(be16toh(smp->hdr.status), MAD_DIRECTION);
}

void ib_bed_up(void)
{
	struct switch_info sw[4] = {0}; /* more than SMP_DATA_LEN */
	uint8_t linear[SMP_DATA_LEN];
	unsigned int i, j;

	set_lid(to_switch, BED_SWITCH_LID);
	set_lid(to_hca1, BED_LID(1));
	set_lid(to_hca2, BED_LID(2));
	memset(linear, IB_SWITCH_NO_PORT, sizeof(linear));
	linear[BED_SWITCH_LID] = 0;
	for (i = 0; i < BED_HCAS; i++) {
		for (j = 0; j < 4; j++)
			linear[BED_LID(i) + j] = i + 1;
	}
	assert_int_equal(ib_set(SM_LINEAR_FDB, 0, to_switch, linear), MAD_OK);
	sw[0].linear_top = htobe16(BED_LID(BED_HCAS) - 1);
	sw[0].life_state_change = SWITCH_STATE_CHANGE;
	assert_int_equal(ib_set(SM_SWITCH_INFO, 0, to_switch, sw), MAD_OK);
	for (j = IB_PORT_ARMED; j <= IB_PORT_ACTIVE; j++) {
		for (i = 1; i <= BED_HCAS; i++)
			set_state(to_switch, i, j);
		set_own(j);
		set_state(to_hca1, 0, j);
		set_state(to_hca2, 0, j);
	}
}

static struct ib_node *next_node(const struct ib_node *node)
{
	const struct fabric *fabric = inproc_fabric(0);
	struct list *link = node ? node->link.next : fabric->ib_nodes.next;

	return link == &fabric->ib_nodes ? NULL : list_entry(link, struct ib_node, link);
}

static void give_lids(void)
{
	uint16_t lid = BED_NODE_LID;
	struct ib_node *node;
	struct ib_port *ib;
	unsigned int i;

	for (node = next_node(NULL); node; node = next_node(node)) {
		for (i = node->sw ? 0 : 1; i <= (node->sw ? 0U : node->num_ports); i++) {
			ib = node->ports[i];
			if (!ib->port)
				ib_port_set_lid(ib, lid++, 0);
			ib_port_set_sm(ib, BED_LID(0), 0);
		}
	}
	for (i = 0; i < BED_HCAS; i++)
		ib_port_set_lid(ib_port_of(i), BED_LID(i), 0);
}

/* Does the switch know a way to @lid? */
static bool knows(const struct ib_node *node, uint16_t lid)
{
	return node->sw && ib_switch_linear(node->sw, lid) != IB_SWITCH_NO_PORT;
}

/* Switches with a neighbour that knows the way to @lid, or is its port @to, learn it.  Returns whether one does. */
static bool spread(uint16_t lid, const struct ib_port *to)
{
	struct ib_node *node, *learnt[64];
	uint8_t out[64];
	unsigned int num = 0, i;

	for (node = next_node(NULL); node; node = next_node(node)) {
		if (!node->sw || knows(node, lid))
			continue;
		for (i = 1; i <= node->num_ports; i++) {
			const struct ib_port *peer = node->ports[i]->peer;

			if (peer && (peer == to || knows(peer->node, lid)))
				break;
		}
		if (i > node->num_ports)
			continue;
		assert_true(num < 64);
		learnt[num] = node;
		out[num++] = i;
	}
	for (i = 0; i < num; i++) {
		*ib_switch_linear_room(learnt[i]->sw, lid, 1) = out[i];
		if (learnt[i]->sw->linear_top < lid)
			learnt[i]->sw->linear_top = lid;
	}
	return num;
}

static void route_to(const struct ib_port *to)
{
	struct ib_switch *sw = to->node->sw;

	if (sw) {
		*ib_switch_linear_room(sw, to->lid, 1) = 0;
		if (sw->linear_top < to->lid)
			sw->linear_top = to->lid;
	}
	while (spread(to->lid, to))
		;
}

void ib_bed_route(void)
{
	struct ib_node *node;
	unsigned int i, state;

	give_lids();
	for (node = next_node(NULL); node; node = next_node(node)) {
		for (i = node->sw ? 0 : 1; i <= (node->sw ? 0U : node->num_ports); i++)
			route_to(node->ports[i]);
		if (node->sw)
			ib_switch_changed(node->sw);
	}
	for (state = IB_PORT_ARMED; state <= IB_PORT_ACTIVE; state++) {
		for (node = next_node(NULL); node; node = next_node(node)) {
			for (i = 1; i <= node->num_ports; i++) {
				if (node->ports[i]->state == state - 1)
					ib_link_set_state(node->ports[i], state);
			}
		}
	}
	inproc_settle();
}

void ib_expect_event(unsigned int hca, enum ohca_event type)
{
	struct ohca_eqe eqe;

	inproc_settle();
	assert_true(drv_eq_poll(ib.async[hca], &eqe));
	drv_eq_ack(ib.async[hca]);
	assert_int_equal(eqe.type, type);
	assert_int_equal(le32toh(eqe.id), 1);
}

void ib_expect_no_event(unsigned int hca)
{
	struct ohca_eqe eqe;

	inproc_settle();
	assert_false(drv_eq_poll(ib.async[hca], &eqe));
}
