/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device counts and measures, as text in the format OpenMetrics 1.0, which Prometheus and others read.  It is made
 * family by family, so that no step takes long.
 */

#ifndef OHCAD_METRICS_H
#define OHCAD_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "control/control.h"

#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define METRICS_END "# EOF\n"

/* Number of families */
unsigned int metrics_families(void);
/* Write a family, from 0: its description, then its samples.  Between the last one and METRICS_END there is nothing. */
void metrics_write(FILE *out, const struct control_env *env, unsigned int family);

/*
 * Listen on @path, for those that have @access, and answer requests of HTTP with all families.  @env must stay where it is.
 * Returns NULL and logs on failure; errno is set.
 */
struct metrics_server *metrics_server_new(struct loop *loop, const char *path,
					  const struct unix_access *access,
					  const struct control_env *env);
void metrics_server_free(struct metrics_server *server);

#endif
