// SPDX-License-Identifier: GPL-2.0
/* Two fabrics, each with a switch and an HCA, and an uplink of InfiniBand between them. */

#include <endian.h>

#include "harness.h"
#include "ib_wired.h"
#include "inproc_clock.h"
#include "rig_assert.h"

struct rig *rig;

struct ib_switch *sw(unsigned int i)
{
	return inproc_fabric(i)->ib_switch;
}

struct ib_port *uplink_port(unsigned int i)
{
	return &sw(i)->ports[UPLINK_PORT];
}

struct uplink *uplink(unsigned int i)
{
	return list_entry(inproc_fabric(i)->uplinks->list.next, struct uplink, link);
}

struct wire_stats *stats(unsigned int i)
{
	return &inproc_fabric(i)->wire->stats;
}

int ib_wired_start_kind(void **state)
{
	setenv("OHCAD_LINK", "ib", 1);
	setenv("OHCAD_WIRE", *state ? *state : "stream", 1);
	inproc_clock_start();
	server = server_start(2);
	/* Datagrams to a socket that is not there yet are lost. */
	inproc_elapse(300 * MS);
	rig = NULL;
	return 0;
}

int ib_wired_start(void **state)
{
	*state = NULL;
	return ib_wired_start_kind(state);
}

int ib_wired_start_subnet(void **state)
{
	unsigned int i;

	ib_wired_start(state);
	rig = rig_open(server);
	for (i = 0; i < 2; i++) {
		ib_port_set_lid(&sw(i)->ports[0], SW_LID(i), 0);
		ib_port_set_sm(&sw(i)->ports[0], LID(0), 0);
		*ib_switch_linear_room(sw(i), SW_LID(!i), 1) = UPLINK_PORT;
		sw(i)->state_change = false;
		ib_switch_changed(sw(i));
	}
	return 0;
}

int ib_wired_stop(void **state)
{
	(void)state;
	if (rig)
		rig_close(rig);
	inproc_clock_stop();
	return server_stop(server) ? 0 : -1;
}

struct ud open_ud(void)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD};
	struct ud ud = {.av = {.ib.dlid = htole16(LID(1)), .sl = 2, .port = 1}};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ud.qp[i] = rig_qp_new(&rig->hca[i], &opts);
		ud.mr[i] = rig_mr_new(&rig->hca[i], PAIR_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
		assert_to_rts(ud.qp[i]);
	}
	rig_mr_fill(ud.mr[0], PAIR_IOVA, LEN, 9);
	return ud;
}

void recv_at(struct ud *ud, unsigned int i)
{
	struct ohca_sge sge = rig_sge(ud->mr[i], PAIR_IOVA + 4096, 1000);

	rig_post_recv(ud->qp[i], 5, &sge, 1);
}
