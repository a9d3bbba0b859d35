// SPDX-License-Identifier: GPL-2.0
/* Initial inputs of the target "mads": packets of a subnet manager, and invalid ones. */

#include <endian.h>

#include "fabric/ib_switch.h"
#include "inproc.h"
#include "mad_request.h"
#include "mads_input.h"
#include "packet/sm_attr.h"
#include "target.h"
#include "world.h"

#define LID_OF(hca) (4 + 4 * (hca))
#define SWITCH_LID 1

static struct server *server;
static struct drv *drv[MADS_HCAS];
static struct seed seed;
static struct mad_packet answer;
static uint8_t data[SMP_DATA_LEN];

static const uint8_t nowhere[] = {0}, to_switch[] = {1, 0},
		     to_hca[][3] = {{1, 1, 0}, {1, 2, 0}, {1, 3, 0}};

static bool receive_smp(struct port *port, const struct mad_packet *p)
{
	if (port == inproc_hca(0)->ports[0])
		answer = *p;
	return true;
}

static void begin(void)
{
	static const struct ib_client_ops client = {receive_smp};
	unsigned int i;

	world_begin();
	server = inproc_start_ib(MADS_HCAS);
	for (i = 0; i < MADS_HCAS; i++) {
		drv[i] = drv_start(server->sock[i], OHCA_FEAT_SHADOW_DB);
		inproc_hca(i)->ports[0]->ib_client = &client;
	}
	seed.len = 0;
}

static void end(const char *name, void (*emit)(const char *name, const struct seed *seed))
{
	unsigned int i;

	emit(name, &seed);
	for (i = 0; i < MADS_HCAS; i++)
		drv_close(drv[i]);
	server_stop(server);
}

static void put(uint8_t kind, uint8_t hca, uint8_t arg, const void *bytes, size_t len)
{
	const struct mads_record rec = {.kind = kind, .hca = hca, .arg = arg, .len = htole16(len)};

	seed_put(&seed, &rec, sizeof(rec));
	seed_put(&seed, bytes, len);
}

static void put_packet(uint8_t kind, uint8_t hca, const struct mad_packet *p)
{
	struct mads_packet to = {.slid = htole16(p->slid), .dlid = htole16(p->dlid), .sl = p->sl};

	memcpy(to.mad, p->mad, sizeof(to.mad));
	put(kind, hca, 0, &to, sizeof(to));
}

/* With @data */
static struct mad_packet directed(uint8_t method, uint16_t attr, uint32_t mod, const uint8_t *route)
{
	struct mad_packet p = ib_request(method, attr, mod, route);

	memcpy(p.smp.data, data, sizeof(data));
	return p;
}

/*
 * Append the request to the seed, and execute it; @data is the attribute, and is replaced by that
 * of the response.
 */
static void ask(uint8_t method, uint16_t attr, uint32_t mod, const uint8_t *route)
{
	struct mad_packet p = directed(method, attr, mod, route);

	put_packet(MADS_SMP, 0, &p);
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	memcpy(data, answer.smp.data, sizeof(data));
}

/* The same by a command, from the guest's own port */
static void ask_own(uint8_t method, uint16_t attr)
{
	struct mad_packet p = directed(method, attr, 0, nowhere);
	struct ohca_mad_in in = {.port = 1, .flags = OHCA_MAD_IGNORE_MKEY};
	struct ohca_mad_out out;

	memcpy(in.mad, p.mad, sizeof(in.mad));
	put(MADS_CMD, 0, OHCA_CMD_MAD, &in, sizeof(in));
	drv_cmd(drv[0], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out));
	memcpy(data, ((struct smp *)out.mad)->data, sizeof(data));
}

/* Changes PortInfo in @data. */
static void port_info(uint16_t lid, uint8_t state)
{
	struct port_info *info = (struct port_info *)data;

	info->speed_supported_state = (info->speed_supported_state & 0xf0) | state;
	info->phys_state_down_default &= 0x0f;
	info->reregister_subnet_timeout = PORT_REREGISTER | 10;
	if (!lid)
		return;
	info->lid = htobe16(lid);
	info->sm_lid = htobe16(LID_OF(0));
}

static void set_port(const uint8_t *route, uint32_t num, uint16_t lid, uint8_t state)
{
	ask(MAD_GET, SM_PORT_INFO, num, route);
	port_info(lid, state);
	ask(MAD_SET, SM_PORT_INFO, num, route);
}

static void set_own_port(uint8_t state)
{
	ask_own(MAD_GET, SM_PORT_INFO);
	port_info(LID_OF(0), state);
	ask_own(MAD_SET, SM_PORT_INFO);
}

/* Make all ports active. */
static void bring_up(void)
{
	struct switch_info *sw = (struct switch_info *)data;
	unsigned int i;
	uint8_t state;

	set_port(to_switch, 0, SWITCH_LID, 0);
	memset(data, 0xff, sizeof(data));
	data[SWITCH_LID] = 0;
	for (i = 0; i < MADS_HCAS; i++)
		memset(data + LID_OF(i), i + 1, 4);
	ask(MAD_SET, SM_LINEAR_FDB, 0, to_switch);
	ask(MAD_GET, SM_SWITCH_INFO, 0, to_switch);
	sw->linear_top = htobe16(LID_OF(MADS_HCAS) - 1);
	sw->life_state_change = SWITCH_STATE_CHANGE;
	ask(MAD_SET, SM_SWITCH_INFO, 0, to_switch);
	for (state = IB_PORT_ARMED; state <= IB_PORT_ACTIVE; state++) {
		for (i = 1; i <= MADS_HCAS; i++)
			set_port(to_switch, i, 0, state);
		set_own_port(state);
		for (i = 1; i < MADS_HCAS; i++)
			set_port(to_hca[i], 0, LID_OF(i), state);
	}
}

static void sweep(void (*emit)(const char *name, const struct seed *seed))
{
	begin();
	bring_up();
	end("sweep", emit);
}

/* Every attribute of every node, and attributes that do not exist */
static void attributes(void (*emit)(const char *name, const struct seed *seed))
{
	const uint8_t *const routes[] = {to_switch, to_hca[1]};
	unsigned int i;
	uint16_t attr;

	for (i = 0; i < 2; i++) {
		begin();
		for (attr = 0; attr <= SM_SM_INFO + 1; attr++) {
			memset(data, 0, sizeof(data));
			ask(MAD_GET, attr, i, routes[i]);
			ask(MAD_SET, attr, i, routes[i]);
		}
		end(i ? "attributes-hca" : "attributes-switch", emit);
	}
}

/* By LID, to all nodes, and to a LID that no node has */
static void by_lid(void (*emit)(const char *name, const struct seed *seed))
{
	uint16_t lid;

	begin();
	bring_up();
	for (lid = 0; lid < LID_OF(MADS_HCAS) + 1; lid++) {
		struct mad_packet p = mad_request(MAD_CLASS_SM_LID, MAD_GET, SM_NODE_INFO, 0);

		p.slid = LID_OF(0);
		p.dlid = lid;
		put_packet(MADS_SMP, 0, &p);
		p.hdr.mgmt_class = MAD_CLASS_PM;
		p.hdr.attr_id = htobe16(lid);
		p.dlid = SWITCH_LID;
		p.mad[65] = lid;
		put_packet(MADS_GMP, 0, &p);
		p.hdr.method = MAD_SET;
		put_packet(MADS_GMP, 1, &p);
	}
	end("lids", emit);
}

/* Two managers, one with an M_Key; an HCA that is reset and enabled; and routes to no node */
static void quarrel(void (*emit)(const char *name, const struct seed *seed))
{
	struct port_info *info = (struct port_info *)data;
	struct mad_packet p;
	unsigned int i;

	begin();
	bring_up();
	ask(MAD_GET, SM_PORT_INFO, 0, to_hca[1]);
	info->mkey = htobe64(77);
	info->mkey_lease = htobe16(1);
	info->mkey_protect_lmc = 0x40;
	ask(MAD_SET, SM_PORT_INFO, 0, to_hca[1]);
	for (i = 0; i < 4; i++) {
		p = directed(MAD_SET, SM_PORT_INFO, 0, to_hca[1]);
		put_packet(MADS_SMP, 2, &p);
		put(MADS_TIME, 0, 250, NULL, 0);
	}
	put(MADS_RESET, 1, 0, NULL, 0);
	put(MADS_RESET, 1, 1, NULL, 0);
	for (i = 0; i <= SMP_MAX_HOPS + 1; i += 5) {
		p = directed(MAD_GET, SM_NODE_INFO, 0, to_switch);
		memset(p.smp.initial_path + 1, 1, SMP_MAX_HOPS);
		p.hdr.hop_cnt = i;
		put_packet(MADS_SMP, 0, &p);
		p.hdr.status = htobe16(MAD_DIRECTION);
		p.hdr.hop_ptr = i;
		put_packet(MADS_SMP, 0, &p);
	}
	end("quarrel", emit);
}

void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed))
{
	sweep(emit);
	attributes(emit);
	by_lid(emit);
	quarrel(emit);
}
