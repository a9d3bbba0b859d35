// SPDX-License-Identifier: GPL-2.0
/*
 * The client reads and writes the memory of the server.  See Documentation/firstqp.rst.
 *
 * onesided [SERVER [wrong]]: with "wrong", the client uses a key that does not exist.
 */

#include "first.h"

/* A read or a write: from @theirs to our buffer, or the other way */
static int one_sided(struct end *end, enum ibv_wr_opcode opcode, const struct address *theirs)
{
	struct ibv_sge sge = {(uintptr_t)end->buf, 64, end->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = opcode, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_wc wc;

	wr.opcode = opcode;
	wr.wr.rdma.remote_addr = theirs->buf;
	wr.wr.rdma.rkey = theirs->rkey;
	need(!ibv_post_send(end->qp, &wr, &bad), "ibv_post_send");
	return wait_completion(end, &wc);
}

static int client(struct end *end, const struct address *theirs)
{
	if (!one_sided(end, IBV_WR_RDMA_READ, theirs))
		return 0;
	printf("read: %s\n", end->buf);
	strcpy(end->buf, "the client was here");
	return one_sided(end, IBV_WR_RDMA_WRITE, theirs);
}

int main(int argc, char **argv)
{
	const char *server = argc > 1 ? argv[1] : NULL;
	int peer = peer_open(server), success = 1;
	struct address theirs;
	struct end end;
	struct ibv_wc wc;

	make_objects(&end);
	strcpy(end.buf, "what the server has written");
	theirs = connect_qp(&end, peer);
	if (argc > 2 && !strcmp(argv[2], "wrong"))
		theirs.rkey ^= 0x100;
	peer_meet(peer); /* both are ready */
	if (server)
		success = client(&end, &theirs);
	peer_meet(peer); /* the client is done */
	if (!server)
		printf("%d completions, buffer: %s\n", ibv_poll_cq(end.cq, 1, &wc), end.buf);
	destroy_objects(&end);
	return !success;
}
