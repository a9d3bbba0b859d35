/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: what "rdma resource" shows of the driver's objects.
 */

#ifndef _OHCA_RESTRACK_H
#define _OHCA_RESTRACK_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops ohca_restrack_ops;

#endif /* _OHCA_RESTRACK_H */
