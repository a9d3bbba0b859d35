// SPDX-License-Identifier: GPL-2.0
/*
 * The client counts in the memory of the server.  See Documentation/firstqp.rst.
 *
 * atomics [SERVER]
 */

#include "first.h"

#define ROUNDS 10

/* An atomic operation on the 8 bytes at @theirs; the value before comes to our buffer. */
static uint64_t atomic(struct end *end, struct ibv_send_wr *wr, const struct address *theirs)
{
	struct ibv_sge sge = {(uintptr_t)end->buf, 8, end->mr->lkey};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->wr.atomic.remote_addr = theirs->buf;
	wr->wr.atomic.rkey = theirs->rkey;
	need(!ibv_post_send(end->qp, wr, &bad), "ibv_post_send");
	need(wait_completion(end, &wc), "the atomic operation");
	return *(uint64_t *)end->buf;
}

static void client(struct end *end, const struct address *theirs)
{
	struct ibv_send_wr add = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
	struct ibv_send_wr swap = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP};
	uint64_t i, old;

	for (i = 0; i < ROUNDS; i++) {
		add.wr_id = i;
		add.wr.atomic.compare_add = 3;
		old = atomic(end, &add, theirs);
		printf("fetch and add 3: it was %lu\n", (unsigned long)old);
	}
	swap.wr_id = i;
	swap.wr.atomic.compare_add = 3 * ROUNDS; /* if it is this, */
	swap.wr.atomic.swap = 1000; /* it becomes that */
	old = atomic(end, &swap, theirs);
	printf("compare with %d and swap: it was %lu\n", 3 * ROUNDS, (unsigned long)old);
}

int main(int argc, char **argv)
{
	const char *server = argc > 1 ? argv[1] : NULL;
	int peer = peer_open(server);
	struct address theirs;
	struct end end;

	make_objects(&end);
	theirs = connect_qp(&end, peer);
	peer_meet(peer); /* both are ready */
	if (server)
		client(&end, &theirs);
	peer_meet(peer); /* the client is done */
	if (!server)
		printf("the counter is %lu\n", (unsigned long)*(uint64_t *)end.buf);
	destroy_objects(&end);
	return 0;
}
