// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: tracepoints.
 */

#define CREATE_TRACE_POINTS
#include "trace.h"
