/* SPDX-License-Identifier: GPL-2.0 */
/* A drawing of a subnet in the language of graphviz. */

#ifndef OHCACTL_DOT_H
#define OHCACTL_DOT_H

#include <stdio.h>

#include "subnet.h"

/*
 * Write the graph to @out; the caller checks that for errors.  It names the layout engine that suits
 * it, which "dot -Tsvg" uses.
 */
void dot_write(FILE *out, const struct subnet *subnet);

#endif
