// SPDX-License-Identifier: GPL-2.0
/*
 * One message from machine to machine.  See Documentation/firstqp.rst.
 *
 * send [SERVER]: without SERVER, it is the server, and receives.
 */

#include "first.h"

#define RECV_ID 1
#define SEND_ID 2

/* A receive request: where the next message goes */
static void post_receive(struct end *end)
{
	struct ibv_sge sge = {(uintptr_t)end->buf, BUFFER_SIZE, end->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = RECV_ID, .sg_list = &sge, .num_sge = 1}, *bad;

	need(!ibv_post_recv(end->qp, &wr, &bad), "ibv_post_recv");
}

/* A send request: what goes out */
static void post_send(struct end *end, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)end->buf, len, end->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = SEND_ID, .sg_list = &sge, .num_sge = 1}, *bad;

	wr.opcode = IBV_WR_SEND;
	need(!ibv_post_send(end->qp, &wr, &bad), "ibv_post_send");
}

/* The server receives, the client sends. */
int main(int argc, char **argv)
{
	const char *server = argc > 1 ? argv[1] : NULL;
	int peer = peer_open(server), success;
	struct end end;
	struct ibv_wc wc;

	make_objects(&end);
	connect_qp(&end, peer);
	if (server) {
		peer_meet(peer); /* the server has posted its receive request */
		strcpy(end.buf, "Hello from the other machine");
		post_send(&end, strlen(end.buf) + 1);
		success = wait_completion(&end, &wc);
	} else {
		post_receive(&end);
		peer_meet(peer);
		success = wait_completion(&end, &wc);
		if (success)
			printf("%u bytes: %s\n", wc.byte_len, end.buf);
	}
	peer_meet(peer); /* neither queue pair is destroyed before */
	destroy_objects(&end);
	return !success;
}
