/* SPDX-License-Identifier: GPL-2.0 */
/* An agent of a program, by ib_umad, that sends management datagrams from the first port of $OHCA_IBDEV. */

#ifndef SELFTESTS_OHCA_UMAD_AGENT_H
#define SELFTESTS_OHCA_UMAD_AGENT_H

#include <infiniband/umad.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct agent - the agent
 * @umad: the datagram that it sends, and the one that it has received; it is the program's until that ends
 * @tid: of the last request.  Each has its own: ib_umad refuses a second one with the same, and may
 *	still have the first one when its answer is there.
 */
struct agent {
	int fd, id;
	void *umad;
	uint32_t tid;
};

/* Opens it for a class of management; false with errno. */
bool agent_open(struct agent *agent, uint8_t mgmt_class);
/* Sends agent->umad, and waits for its answer.  0, or the error of the request or of the wait. */
int agent_ask(struct agent *agent);

/**
 * struct sa_request - a question to the subnet administrator
 * @lid: of the subnet manager's port
 * @method, @attr_id: in host byte order
 * @comp_mask: which components of the record are meant; host byte order
 * @record, @len: the record, which the answer's replaces
 * @status: of the answer, as in its header; host byte order
 */
struct sa_request {
	uint16_t lid;
	uint8_t method;
	uint16_t attr_id;
	uint64_t comp_mask;
	void *record;
	size_t len;
	uint16_t status;
};

/*
 * Of an agent for UMAD_CLASS_SUBN_ADM.  0, EPROTO if the status says that it was not done, or the
 * error as of agent_ask().
 */
int agent_ask_sa(struct agent *agent, struct sa_request *request);

#endif
