// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: moderation of the Ethernet interface's interrupts.
 *
 * A channel has one completion queue for both directions, and so one moderation, which is either
 * the user's or follows the load (DIM).
 */

#include <linux/dim.h>

#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

static int ohca_en_coal_set(struct ohca_en_channel *ch, u32 usecs, u32 frames)
{
	if (!(ch->dev->attr.caps & OHCA_CAP_CQ_MODER))
		return 0; /* each completion raises an event; see ohca_en_set_coalesce() */
	if (!usecs)
		frames = 0; /* each completion raises an event: 0 us would be no limit */
	else if (!frames)
		frames = U16_MAX;
	return ohca_cmd_modify_cq(ch->dev, ch->cq.cqn, frames, usecs);
}

/* DIM has chosen another profile. */
static void ohca_en_coal_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct ohca_en_channel *ch = container_of(dim, struct ohca_en_channel, dim);
	struct dim_cq_moder moder = net_dim_get_rx_moderation(dim->mode, dim->profile_ix);
	int err;

	err = ohca_en_coal_set(ch, moder.usec, moder.pkts);
	if (err && !ohca_fenced(ch->dev))
		netdev_err(ch->ndev, "interrupts not moderated: %pe\n", ERR_PTR(err));
	WRITE_ONCE(dim->state, DIM_START_MEASURE);
}

int ohca_en_coal_start(struct ohca_en_channel *ch, const struct ohca_en_coal *coal)
{
	struct dim_cq_moder moder;

	ch->adaptive = coal->adaptive;
	ch->dim = (struct dim){.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE};
	INIT_WORK(&ch->dim.work, ohca_en_coal_work);
	if (!coal->adaptive)
		return ohca_en_coal_set(ch, coal->usecs, coal->frames);
	moder = net_dim_get_def_rx_moderation(ch->dim.mode);
	ch->dim.profile_ix = NET_DIM_DEF_PROFILE_EQE;
	return ohca_en_coal_set(ch, moder.usec, moder.pkts);
}

void ohca_en_coal_stop(struct ohca_en_channel *ch)
{
	cancel_work_sync(&ch->dim.work);
}

void ohca_en_coal_sample(struct ohca_en_channel *ch)
{
	struct dim_sample sample = {};

	if (!ch->adaptive)
		return;
	dim_update_sample(READ_ONCE(ch->events), ch->tx_packets + ch->rx_packets, ch->bytes,
			  &sample);
	ohca_compat_net_dim(&ch->dim, &sample);
}
