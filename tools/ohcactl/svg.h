/* SPDX-License-Identifier: GPL-2.0 */
/* A drawing of a subnet as SVG. */

#ifndef OHCACTL_SVG_H
#define OHCACTL_SVG_H

#include "subnet.h"

/* Write it to the standard output, by graphviz.  Returns 0, or prints the error and returns -1. */
int svg_write(const struct subnet *subnet);

#endif
