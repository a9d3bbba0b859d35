// SPDX-License-Identifier: GPL-2.0
/* Two HCAs, one of which has long work. */

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "qp/sched.h"
#include "slice_bed.h"

struct rig *slice_rig;

/* Of the other HCA */
static struct rig_qp *from, *to;

int slice_open(void **state)
{
	(void)state;
	slice_rig = rig_open(server);
	from = rig_qp_new(&slice_rig->hca[OTHER], NULL);
	to = rig_qp_new(&slice_rig->hca[OTHER], NULL);
	rig_connect(from, to);
	return 0;
}

int slice_close(void **state)
{
	(void)state;
	rig_close(slice_rig);
	return 0;
}

struct drv *slice_drv(void)
{
	return slice_rig->hca[BUSY].drv;
}

const struct quota *slice_quota(enum quota_kind kind)
{
	return &inproc_hca(BUSY)->quotas[kind];
}

void slice_round(void)
{
	struct sched *sched = inproc_hca(BUSY)->sched;

	/* Also if this program had to wait for a processor since then */
	sched->light[0].hca = inproc_hca(OTHER);
	sched->light[0].at = loop_clock();
	sched->small = inproc_qp(from);
	sched->small_peer = inproc_qp(to);
	sched->small_at = sched->light[0].at;
	inproc_assert_message(from, to);
}
