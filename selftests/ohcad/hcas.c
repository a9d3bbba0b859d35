// SPDX-License-Identifier: GPL-2.0
/* The device of all tests of a program. */

#include "hcas.h"

struct server *server;

int start_one_hca(void **state)
{
	(void)state;
	server = server_start(1);
	return 0;
}

int start_two_hcas(void **state)
{
	(void)state;
	server = server_start(2);
	return 0;
}

int start_three_hcas(void **state)
{
	(void)state;
	server = server_start(3);
	return 0;
}

int stop_hcas(void **state)
{
	(void)state;
	return server_stop(server) ? 0 : -1;
}
