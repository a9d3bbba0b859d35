// SPDX-License-Identifier: GPL-2.0
/* A subnet manager for tests. */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mad_request.h"
#include "packet/sm_attr.h"
#include "subnet.h"

#define SWITCH_LID 0x20
#define RECV_OFF 1024 /* offset of received packets in the buffer */
#define RESERVED_LKEY 0x100
#define NO_CHANGE 0xf0

#define DIE(...)                                         \
	do {                                             \
		fprintf(stderr, "subnet: " __VA_ARGS__); \
		fputc('\n', stderr);                     \
		abort();                                 \
	} while (0)

bool subnet_used(void)
{
	const char *link = getenv("OHCAD_LINK");

	return link && !strcmp(link, "ib");
}

void subnet_open(struct subnet *subnet, struct rig_hca *hca)
{
	const struct rig_qp_opts opts = {
		.smi = true, .flags = OHCA_QP_F_PRIVILEGED, .log_size = 2, .cq_log_size = 4};

	memset(subnet, 0, sizeof(*subnet));
	subnet->hca = hca;
	subnet->addr = drv_alloc(hca->drv, 4096);
	subnet->buf = drv_ptr(hca->drv, subnet->addr);
	subnet->qp = rig_qp_new(hca, &opts);
	if (rig_to_init(subnet->qp) || rig_to_rtr(subnet->qp) || rig_to_rts(subnet->qp))
		DIE("QP 0 does not get to RTS");
}

/* The response arrives before the send completes, because all nodes are in the device. */
static void exchange(struct subnet *subnet, struct smp *smp)
{
	const struct ohca_av av = {.ib.dlid = htole16(LID_PERMISSIVE), .port = 1};
	const struct ohca_sge from = {.addr = htole64(subnet->addr),
				      .length = htole32(sizeof(*smp)),
				      .lkey = htole32(RESERVED_LKEY)};
	const struct ohca_sge to = {.addr = htole64(subnet->addr + RECV_OFF),
				    .length = htole32(OHCA_GRH_LEN + sizeof(*smp)),
				    .lkey = htole32(RESERVED_LKEY)};
	const struct rig_wr wr = {
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &from,
		.av = &av,
	};
	struct ohca_cqe cqe;

	memcpy(subnet->buf, smp, sizeof(*smp));
	rig_post_recv(subnet->qp, 1, &to, 1);
	rig_post_send(subnet->qp, &wr);
	if (rig_wait_send(subnet->qp).status)
		DIE("a packet was not sent");
	do {
		cqe = rig_wait_recv(subnet->qp);
		if (cqe.status || cqe.net_type != OHCA_NET_IB)
			DIE("no packet of InfiniBand has come");
		memcpy(smp, subnet->buf + RECV_OFF + OHCA_GRH_LEN, sizeof(*smp));
		if (smp->hdr.method == MAD_TRAP)
			rig_post_recv(subnet->qp, 1, &to, 1);
	} while (smp->hdr.method == MAD_TRAP);
}

/* The same with the HCA's own agent */
static void execute(struct subnet *subnet, struct smp *smp)
{
	struct ohca_mad_in in = {.port = 1};
	struct ohca_mad_out out;

	memcpy(in.mad, smp, sizeof(*smp));
	if (drv_cmd(subnet->hca->drv, OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)))
		DIE("the HCA does not take a packet");
	if (out.result != OHCA_MAD_REPLY)
		DIE("the HCA does not answer: %u", out.result);
	memcpy(smp, out.mad, sizeof(*smp));
}

uint16_t subnet_request(struct subnet *subnet, const uint8_t *path, unsigned int hops,
			uint8_t method, uint16_t attr, uint32_t mod, uint8_t data[SMP_DATA_LEN])
{
	uint8_t route[SMP_MAX_HOPS + 1] = {0};
	struct mad_packet p;
	struct smp smp;

	memcpy(route, path, hops);
	p = ib_request(method, attr, mod, route);
	smp = p.smp;
	memcpy(smp.data, data, SMP_DATA_LEN);
	if (hops)
		exchange(subnet, &smp);
	else
		execute(subnet, &smp);
	if (smp.hdr.tid != p.hdr.tid || smp.hdr.method != MAD_GET_RESP)
		DIE("not the answer: method %#x", smp.hdr.method);
	memcpy(data, smp.data, SMP_DATA_LEN);
	return be16toh(smp.hdr.status) & ~MAD_DIRECTION;
}

static void must(uint16_t status, const char *what)
{
	if (status)
		DIE("%s: status %#x", what, status);
}

/* Change a port to @state; @lid is 0 for an external port of the switch. */
static void set_port(struct subnet *subnet, const uint8_t *path, unsigned int hops, uint8_t port,
		     uint16_t lid, uint8_t state)
{
	uint8_t data[SMP_DATA_LEN] = {0};
	struct port_info *info = (struct port_info *)data;

	must(subnet_request(subnet, path, hops, MAD_GET, SM_PORT_INFO, port, data), "get PortInfo");
	if (lid) {
		info->lid = htobe16(lid);
		info->sm_lid = htobe16(1);
	}
	/* That of a cable between switches may be up from before. */
	if ((info->speed_supported_state & ~NO_CHANGE) >= state)
		state = 0;
	info->speed_supported_state = (info->speed_supported_state & NO_CHANGE) | state;
	info->phys_state_down_default &= 0x0f; /* PortPhysicalState does not change */
	info->mtu_sm_sl = 5 << 4;
	info->oper_vls_enforce = (info->vl_cap_init_type & 0xf0) | (info->oper_vls_enforce & 0x0f);
	must(subnet_request(subnet, path, hops, MAD_SET, SM_PORT_INFO, port, data), "set PortInfo");
}

/* The HCAs have fabrics of their own, each with a switch, from each of which an uplink leads to each: inproc.c. */
static bool is_wired(void)
{
	return getenv("OHCAD_WIRE");
}

/* The port of the switch of HCA @from that leads to HCA @to, whose switch it may be. */
static uint8_t port_to(unsigned int from, unsigned int to)
{
	if (!is_wired())
		return to + 1;
	if (from == to)
		return 1;
	return to < from ? to + 2 : to + 1;
}

/* The directed route from HCA 0 to the switch of HCA @to, or on to the HCA itself; returns the number of hops. */
static unsigned int route(uint8_t path[3], unsigned int to, bool hca)
{
	unsigned int hops = 0;

	path[hops++] = 1;
	if (is_wired() && to)
		path[hops++] = port_to(0, to);
	if (hca)
		path[hops++] = port_to(to, to);
	return hops;
}

/* The switch of HCA @of */
static void set_switch(struct subnet *subnet, unsigned int of, unsigned int num_hcas)
{
	uint8_t data[SMP_DATA_LEN] = {0}, path[3];
	struct switch_info *info = (struct switch_info *)data;
	unsigned int hops = route(path, of, false), i;

	must(subnet_request(subnet, path, hops, MAD_GET, SM_SWITCH_INFO, 0, data), "get switch");
	info->linear_top = htobe16(SWITCH_LID);
	info->life_state_change |= SWITCH_STATE_CHANGE;
	must(subnet_request(subnet, path, hops, MAD_SET, SM_SWITCH_INFO, 0, data), "set switch");
	memset(data, 0xff, sizeof(data));
	for (i = 0; i < num_hcas; i++)
		data[i + 1] = port_to(of, i);
	data[SWITCH_LID] = 0;
	must(subnet_request(subnet, path, hops, MAD_SET, SM_LINEAR_FDB, 0, data), "set forwarding");
}

void subnet_up(struct subnet *subnet, unsigned int num_hcas)
{
	unsigned int switches = is_wired() ? num_hcas : 1, hops, i, j;
	uint8_t state, path[3];

	for (i = 0; i < switches; i++)
		set_switch(subnet, i, num_hcas);
	for (state = 3; state <= 4; state++) {
		for (i = 0; i < num_hcas; i++) {
			hops = route(path, i, true);
			set_port(subnet, path, i ? hops : 0, 1, i + 1, state);
		}
		for (i = 0; i < switches; i++) {
			hops = route(path, i, false);
			for (j = 0; j < num_hcas; j++)
				set_port(subnet, path, hops, port_to(i, j), 0, state);
		}
	}
}
