/* SPDX-License-Identifier: GPL-2.0 */
/* The device of all tests of a program: RUN_TESTS() starts and stops it. */

#ifndef SELFTESTS_OHCAD_HCAS_H
#define SELFTESTS_OHCAD_HCAS_H

#include "server.h"

extern struct server *server;

int start_one_hca(void **state);
int start_two_hcas(void **state);
int start_three_hcas(void **state);
int stop_hcas(void **state);

#endif
