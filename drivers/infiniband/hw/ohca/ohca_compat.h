/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: differences between kernel releases.  The driver is written for 7.2; this is the only file that knows others.
 */

#ifndef _OHCA_COMPAT_H
#define _OHCA_COMPAT_H

#include <linux/version.h>

/* Since 7.0 (or so) ib_core itself tells of a port whose netdev changes state; before, the driver does. */
#define OHCA_COMPAT_PORT_EVENTS (LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0))

#endif /* _OHCA_COMPAT_H */
