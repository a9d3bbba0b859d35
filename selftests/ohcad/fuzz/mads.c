// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: management datagrams of malicious guests; see mads_input.h. */

#include <endian.h>

#include "fabric/ib_switch.h"
#include "inproc.h"
#include "mads_input.h"
#include "records.h"
#include "target.h"
#include "world.h"

#define MAX_BYTES OHCA_CMD_MAX_LEN

static struct server *server;
static struct drv *drv[MADS_HCAS];

/* The device's state at the beginning of each input: links are up, nothing is configured */
static void begin(void)
{
	unsigned int i;

	world_begin();
	server = inproc_start_ib(MADS_HCAS);
	for (i = 0; i < MADS_HCAS; i++)
		drv[i] = drv_start(server->sock[i], OHCA_FEAT_SHADOW_DB);
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < MADS_HCAS; i++)
		drv_close(drv[i]);
	server_stop(server);
}

static void do_packet(const struct mads_record *rec, unsigned int hca, const uint8_t *bytes)
{
	struct port *port = inproc_hca(hca)->ports[0];
	struct mads_packet from;
	struct mad_packet p = {0};

	memcpy(&from, bytes, sizeof(from));
	p.slid = le16toh(from.slid);
	p.dlid = le16toh(from.dlid);
	p.sl = from.sl & 15;
	memcpy(p.mad, from.mad, sizeof(p.mad));
	if (rec->kind % MADS_KINDS == MADS_GMP) {
		p.src_qpn = 1;
		p.dest_qpn = 1;
		ib_ask_node(port->ib->peer, &p);
	} else {
		ib_send_smp(port, &p);
	}
}

static void do_cmd(const struct mads_record *rec, unsigned int hca, const uint8_t *bytes,
		   size_t len)
{
	uint8_t out[OHCA_CMD_MAX_LEN];

	/* A device that is not enabled can't take commands. */
	if (drv_reg(drv[hca], OHCA_REG_STATUS) & OHCA_STATUS_READY)
		drv_cmd(drv[hca], rec->arg, bytes, len, out, sizeof(out));
}

static void do_reset(const struct mads_record *rec, unsigned int hca)
{
	drv_reset(drv[hca]);
	drv[hca]->next = DRV_MEM;
	if (rec->arg)
		drv_enable(drv[hca], OHCA_FEAT_SHADOW_DB);
}

static void happen(struct input *in, const void *record)
{
	const struct mads_record *rec = record;
	size_t len = le16toh(rec->len) % (MAX_BYTES + 1);
	unsigned int hca = rec->hca % MADS_HCAS;
	const uint8_t *from = input_bytes(in, &len);
	uint8_t bytes[MAX_BYTES] = {0};

	if (len)
		memcpy(bytes, from, len);
	switch (rec->kind % MADS_KINDS) {
	case MADS_CMD:
		do_cmd(rec, hca, bytes, len);
		break;
	case MADS_RESET:
		do_reset(rec, hca);
		break;
	case MADS_TIME:
		world_sleep(rec->arg * 1000000ULL);
		break;
	default:
		do_packet(rec, hca, bytes);
	}
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct mads_record rec;

	begin();
	records_run(&in, &rec, sizeof(rec), happen, NULL);
	end();
	return 0;
}
