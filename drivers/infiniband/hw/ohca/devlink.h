/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the devlink instance, versions and health.
 */

#ifndef _OHCA_DEVLINK_H
#define _OHCA_DEVLINK_H

#include <linux/kconfig.h>

#include "health.h"

struct ohca_dev;

#if IS_ENABLED(CONFIG_NET_DEVLINK)

/**
 * ohca_devlink_init() - register versions and health with devlink
 * @dev: device, fully working
 *
 * Return: 0 or a negative errno
 */
int ohca_devlink_init(struct ohca_dev *dev);

/**
 * ohca_devlink_fini() - unregister from devlink
 * @dev: device
 */
void ohca_devlink_fini(struct ohca_dev *dev);

/**
 * ohca_devlink_report_fatal() - report to devlink that the device was fenced; sleeps
 * @dev: device
 * @reason: why
 *
 * Recovery begins, unless the user has switched auto_recover off.
 */
void ohca_devlink_report_fatal(struct ohca_dev *dev, const char *reason);

/**
 * ohca_devlink_report_recovery() - report to devlink if the device was recovered by itself; sleeps
 * @dev: device
 */
void ohca_devlink_report_recovery(struct ohca_dev *dev);

#else

static inline int ohca_devlink_init(struct ohca_dev *dev)
{
	return 0;
}

static inline void ohca_devlink_fini(struct ohca_dev *dev)
{
}

static inline void ohca_devlink_report_fatal(struct ohca_dev *dev, const char *reason)
{
	ohca_recover_begin(dev);
}

static inline void ohca_devlink_report_recovery(struct ohca_dev *dev)
{
}

#endif

#endif /* _OHCA_DEVLINK_H */
