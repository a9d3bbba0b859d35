// SPDX-License-Identifier: GPL-2.0
/*
 * The classic client and server of the connection manager.  The client sends the length of its
 * data, the server answers with a buffer's address and key; both wait for these messages on
 * completion channels.  The client writes its data, reads them back, compares, and disconnects.
 * The server is side 1 of one machine or, with -2, of two machines.
 */

#include <string.h>

#include "cm_util.h"

#define MAX_LEN (1UL << 20)
#define DEPTH 3

/* Sent in both directions */
struct meta {
	uint64_t addr;
	uint32_t len;
	uint32_t rkey;
};

enum {
	WR_META_RECV = 1,
	WR_META_SEND,
	WR_WRITE,
	WR_READ,
};

static struct sess sess;
static struct rdma_event_channel *ch;
static struct rdma_cm_id *listen_id;
static struct cm_end end;
static uint8_t *buf; /* the client's: source, then destination; the server's: storage */
static struct meta *meta; /* what was received, then what is sent */
static struct ibv_mr *mr, *meta_mr;

static void cleanup(void)
{
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	if (meta_mr)
		EXPECT_EQ(ibv_dereg_mr(meta_mr), 0);
	mr = meta_mr = NULL;
	cm_end_destroy(&end);
	cm_id_destroy(&listen_id);
	if (ch)
		rdma_destroy_event_channel(ch);
	ch = NULL;
}

/* Create verbs objects, and post a receive before any message can arrive. */
static bool prepare(void)
{
	if (!cm_end_create(&end, false))
		return false;
	meta_mr = ibv_reg_mr(end.pd, meta, 2 * sizeof(*meta), IBV_ACCESS_LOCAL_WRITE);
	return EXPECT(meta_mr) &&
	       EXPECT_EQ(vu_post_recv(&end.q, WR_META_RECV, meta_mr, meta, sizeof(*meta)), 0);
}

static bool send_meta(void *addr, uint32_t len)
{
	struct ibv_wc wc;

	meta[1] = (struct meta){.addr = (uintptr_t)addr, .len = len, .rkey = mr->rkey};
	return EXPECT_EQ(vu_post_send(&end.q, IBV_WR_SEND, WR_META_SEND, IBV_SEND_SIGNALED, meta_mr,
				      &meta[1], sizeof(*meta), 0, 0),
			 0) &&
	       cm_wait_comp(&end, &wc, WR_META_SEND);
}

static bool recv_meta(void)
{
	struct ibv_wc wc;

	return cm_wait_comp(&end, &wc, WR_META_RECV) && EXPECT_EQ(wc.opcode, IBV_WC_RECV) &&
	       EXPECT_EQ(wc.byte_len, sizeof(*meta));
}

static void server(const struct sockaddr_in *addr)
{
	struct rdma_conn_param param = {.responder_resources = DEPTH, .initiator_depth = DEPTH};
	struct cm_event event;

	if (!cm_listen(ch, RDMA_PS_TCP, addr, &listen_id) || !sess_sync(&sess) ||
	    !cm_expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return;
	EXPECT(event.ev.listen_id == listen_id);
	end.id = event.ev.id;
	if (!prepare() || !EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL) || !recv_meta())
		return;
	if (!EXPECT(meta->len && meta->len <= MAX_LEN))
		return;
	mr = ibv_reg_mr(end.pd, buf, meta->len, VU_RW);
	if (!EXPECT(mr) || !send_meta(buf, meta->len) ||
	    !cm_expect(ch, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return;
	EXPECT_EQ(rdma_disconnect(end.id), 0);
	EXPECT_EQ(vu_check(buf, meta->len, sess.test), -1);
}

static void client(const struct sockaddr_in *addr, uint32_t len)
{
	struct rdma_conn_param param = {
		.responder_resources = DEPTH,
		.initiator_depth = DEPTH,
		.retry_count = 3,
	};
	struct cm_event event;
	struct ibv_wc wc;

	if (!sess_sync(&sess) || !cm_resolve(ch, RDMA_PS_TCP, addr, &end.id) || !prepare())
		return;
	if (!EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return;
	vu_fill(buf, len, sess.test);
	mr = ibv_reg_mr(end.pd, buf, 2 * MAX_LEN, VU_RW);
	if (!EXPECT(mr) || !send_meta(buf, len) || !recv_meta() || !EXPECT_EQ(meta->len, len))
		return;
	if (!EXPECT_EQ(vu_post_send(&end.q, IBV_WR_RDMA_WRITE, WR_WRITE, IBV_SEND_SIGNALED, mr, buf,
				    len, meta->addr, meta->rkey),
		       0) ||
	    !cm_wait_comp(&end, &wc, WR_WRITE) || !EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE))
		return;
	if (!EXPECT_EQ(vu_post_send(&end.q, IBV_WR_RDMA_READ, WR_READ, IBV_SEND_SIGNALED, mr,
				    buf + MAX_LEN, len, meta->addr, meta->rkey),
		       0) ||
	    !cm_wait_comp(&end, &wc, WR_READ) || !EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ))
		return;
	EXPECT_EQ(vu_check(buf + MAX_LEN, len, sess.test), -1);
	if (!EXPECT_EQ(rdma_disconnect(end.id), 0))
		return;
	cm_expect(ch, RDMA_CM_EVENT_DISCONNECTED, &event);
}

static void test_example(const void *arg)
{
	struct sockaddr_in mine, theirs;
	const uint32_t *len = arg;

	memset(buf, 0, 2 * MAX_LEN);
	cm_self(&mine, CM_PORT);
	ch = rdma_create_event_channel();
	if (!EXPECT(ch) || !sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return;
	if (sess.side)
		server(&mine);
	else
		client(&theirs, *len);
	sess_sync(&sess);
}

static const uint32_t lens[] = {14, 5000, MAX_LEN};

static const struct tap_test tests[] = {
	{"client and server with a word", test_example, &lens[0]},
	{"client and server with 5000 bytes", test_example, &lens[1]},
	{"client and server with a mebibyte", test_example, &lens[2]},
};

int main(int argc, char **argv)
{
	int status;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	buf = vu_alloc(2 * MAX_LEN);
	meta = vu_alloc(2 * sizeof(*meta));
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	vu_free(meta, 2 * sizeof(*meta));
	vu_free(buf, 2 * MAX_LEN);
	return status;
}
