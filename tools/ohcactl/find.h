/* SPDX-License-Identifier: GPL-2.0 */
/* Control sockets of ohcads that run as services. */

#ifndef OHCACTL_FIND_H
#define OHCACTL_FIND_H

/*
 * Find the control socket of the service ohcad@NAME, /run/ohcad/NAME/control, if there is just one.
 * Returns its path, which the caller frees.  Otherwise prints a line and returns NULL.
 */
char *find_socket(void);

#endif
