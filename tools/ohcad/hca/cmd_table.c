// SPDX-License-Identifier: GPL-2.0
/* All classes of objects, and with them all commands. */

#include "device/cq.h"
#include "device/eq.h"
#include "device/object.h"
#include "eth/flow.h"
#include "eth/netdev.h"
#include "eth/rss.h"
#include "fabric/port.h"
#include "hca/adapter.h"
#include "hca/cmd_table.h"
#include "inject/hca_fault.h"
#include "mem/dm.h"
#include "mem/mkey.h"
#include "mem/pd.h"
#include "mgmt/mad_cmd.h"
#include "net/mad.h"
#include "net/mcast.h"
#include "qp/pace.h"
#include "qp/qp.h"
#include "qp/srq.h"
#include "qp/uar.h"

/* In the order of creation: each class is after those that its objects use. */
static const struct object_class *const classes[] = {
	&device_class,	&fault_class,  &uar_class,     &pd_class,    &dm_class,	  &mkey_class,
	&odp_class,	&eq_class,     &cq_class,      &xrcd_class,  &srq_class,  &counters_class,
	&port_class,	&netdev_class, &ind_tbl_class, &mcast_class, &pace_class, &qp_class,
	&qp_attr_class, &flow_class,   &smp_class,     &mad_class,
};

#define NUM_CLASSES (sizeof(classes) / sizeof(classes[0]))

/* Remove the first @num classes, in reverse order. */
static void fini(struct hca *hca, unsigned int num)
{
	while (num--) {
		if (classes[num]->fini)
			classes[num]->fini(hca);
	}
}

int objects_init(struct hca *hca)
{
	unsigned int i, j;
	int err;

	for (i = 0; i < NUM_CLASSES; i++) {
		const struct object_class *class = classes[i];

		err = class->init ? class->init(hca) : 0;
		if (err) {
			fini(hca, i);
			return err;
		}
		for (j = 0; j < class->num_cmds; j++)
			hca->cmds[class->cmds[j].opcode] = &class->cmds[j];
	}
	return 0;
}

void objects_fini(struct hca *hca)
{
	fini(hca, NUM_CLASSES);
}

void objects_reset_start(struct hca *hca)
{
	hca->to_reset = NUM_CLASSES;
}

bool objects_reset(struct hca *hca, uint64_t end)
{
	while (hca->to_reset) {
		const struct object_class *class = classes[hca->to_reset - 1];

		if (class->drop && !objects_drop(hca, class, end))
			return false;
		if (class->reset)
			class->reset(hca);
		hca->to_reset--;
	}
	return true;
}

void objects_stop(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < NUM_CLASSES; i++) {
		if (classes[i]->stop)
			classes[i]->stop(hca);
	}
}
