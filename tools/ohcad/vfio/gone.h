/* SPDX-License-Identifier: GPL-2.0 */
/* A PCI function that was pulled out: reads yield ones, writes do nothing. */

#ifndef OHCAD_GONE_H
#define OHCAD_GONE_H

#include "vfio/vfio_user.h"

/*
 * The device is the struct vfio_user_state, which has the sizes of regions and the interrupts that
 * the function had.
 */
extern const struct vfio_user_ops gone_ops;

#endif
