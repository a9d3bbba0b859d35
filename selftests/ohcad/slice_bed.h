/* SPDX-License-Identifier: GPL-2.0 */
/* Two HCAs: one has long work, and messages of the other one are sent and received beside it. */

#ifndef SELFTESTS_OHCAD_SLICE_BED_H
#define SELFTESTS_OHCAD_SLICE_BED_H

#include "device/quota.h"
#include "rig.h"

/* The HCAs */
#define BUSY 0
#define OTHER 1

extern struct rig *slice_rig;

/* Of each test */
int slice_open(void **state);
int slice_close(void **state);

/* The driver and the quotas of the busy HCA */
struct drv *slice_drv(void);
const struct quota *slice_quota(enum quota_kind kind);

/* A step of the device, in which a message of the other HCA arrives */
void slice_round(void);

#endif
