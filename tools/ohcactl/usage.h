/* SPDX-License-Identifier: GPL-2.0 */
/* Wrong command lines. */

#ifndef OHCACTL_USAGE_H
#define OHCACTL_USAGE_H

#define EXIT_USAGE 2

/* Print a line with what is wrong, in two parts; returns EXIT_USAGE. */
int usage_bad(const char *what, const char *why);

#endif
