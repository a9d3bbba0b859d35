/* SPDX-License-Identifier: GPL-2.0 */
/* An agent of a program, by ib_umad, that sends management datagrams from the first port of $OHCA_IBDEV. */

#ifndef SELFTESTS_OHCA_UMAD_AGENT_H
#define SELFTESTS_OHCA_UMAD_AGENT_H

#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct agent - the agent
 * @umad: the datagram that it sends, and the one that it has received; it is the program's until that ends
 */
struct agent {
	int fd, id;
	void *umad;
};

/* Opens it for a class of management; false with errno. */
bool agent_open(struct agent *agent, uint8_t mgmt_class);
/* Sends agent->umad, and waits for its answer.  0, or the error of the request or of the wait. */
int agent_ask(struct agent *agent);

#endif
