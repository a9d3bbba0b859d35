/* SPDX-License-Identifier: GPL-2.0 */
/* ohcactl watch: what happens in a device, for programs. */

#ifndef OHCACTL_WATCH_H
#define OHCACTL_WATCH_H

#include "top.h"

/* Print a JSON object in a line for each interval, and for each event.  Returns the exit status, as top_run(). */
int watch_run(int fd, const struct top_options *opts);

#endif
