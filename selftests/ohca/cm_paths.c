// SPDX-License-Identifier: GPL-2.0
/*
 * A program that uses rdma_cm chooses the path of each connection, between two machines whose
 * InfiniBand ports have 2^LMC LIDs each: path N is from the LID N of the one to the LID N of the
 * other.  Side 0 is the client, side 1 the server.
 *
 * usage: cm_paths -2
 */

#include <endian.h>
#include <string.h>

#include <infiniband/sa.h>

#include "cm_util.h"

#define LEN 4096
#define EXACTLY 2 /* a selector of a path record */

static struct sess sess;
static struct rdma_event_channel *ch;
static struct rdma_cm_id *listen_id;
static struct cm_end end;
static struct sockaddr_in server;
static struct ibv_port_attr port, peer_port;
static uint8_t *buf;
static struct ibv_mr *mr;

static void cleanup(void)
{
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = NULL;
	cm_end_destroy(&end);
	cm_id_destroy(&listen_id);
	if (ch)
		rdma_destroy_event_channel(ch);
	ch = NULL;
}

/* Both sides: a channel; the server listens. */
static bool start(void)
{
	struct sockaddr_in mine;

	cm_self(&mine, CM_PORT);
	ch = rdma_create_event_channel();
	return EXPECT(ch) && sess_xchg(&sess, &mine, &server, sizeof(mine)) &&
	       (!sess.side || cm_listen(ch, RDMA_PS_TCP, &mine, &listen_id)) && sess_sync(&sess);
}

/* The record that the subnet administrator gave, with the LIDs of another path, as on the wire */
static struct ibv_path_record record_of(const struct ibv_sa_path_rec *rec, unsigned int path)
{
	return (struct ibv_path_record){
		.dgid = rec->dgid,
		.sgid = rec->sgid,
		.dlid = htobe16(peer_port.lid + path),
		.slid = htobe16(port.lid + path),
		.flowlabel_hoplimit = htobe32(be32toh(rec->flow_label) << 8 | rec->hop_limit),
		.tclass = rec->traffic_class,
		.reversible_numpath = 0x81,
		.pkey = rec->pkey,
		.qosclass_sl = htobe16(rec->sl),
		.mtu = EXACTLY << 6 | rec->mtu,
		.rate = EXACTLY << 6 | rec->rate,
		.packetlifetime = EXACTLY << 6 | rec->packet_life_time,
	};
}

/* The address is resolved; then the program says which route it is. */
static bool route(unsigned int path)
{
	struct ibv_path_data data = {.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
					      IBV_PATH_FLAG_BIDIRECTIONAL};
	struct rdma_cm_id *asked;
	bool good;

	if (!cm_resolve(ch, RDMA_PS_TCP, &server, &asked))
		return false;
	good = EXPECT_EQ(asked->route.num_paths, 1);
	if (good)
		data.path = record_of(asked->route.path_rec, path);
	cm_id_destroy(&asked);
	return good && EXPECT_EQ(rdma_create_id(ch, &end.id, NULL, RDMA_PS_TCP), 0) &&
	       EXPECT_EQ(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&server, CM_TIMEOUT_MS),
			 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) &&
	       EXPECT_EQ(rdma_set_option(end.id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data,
					 sizeof(data)),
			 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

static bool connected(void)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct cm_event event;

	if (sess.side) {
		if (!cm_expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
			return false;
		end.id = event.ev.id;
		return cm_end_create(&end, false) && EXPECT_EQ(rdma_accept(end.id, &param), 0) &&
		       cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL);
	}
	return cm_end_create(&end, false) && EXPECT_EQ(rdma_connect(end.id, &param), 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

/* The QP's own address vector */
static bool takes(unsigned int path)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return EXPECT_EQ(ibv_query_qp(end.q.qp, &attr, IBV_QP_AV, &init), 0) &&
	       EXPECT_EQ(attr.ah_attr.dlid, peer_port.lid + path) &&
	       EXPECT_EQ(attr.ah_attr.src_path_bits, path);
}

/* A message from the client */
static bool message(void)
{
	struct ibv_wc wc;

	mr = ibv_reg_mr(end.pd, buf, LEN, VU_RW);
	if (!EXPECT(mr))
		return false;
	if (sess.side && !EXPECT_EQ(vu_post_recv(&end.q, 1, mr, buf, LEN), 0))
		return false;
	vu_fill(buf, LEN, sess.side ? 0 : sess.test);
	if (!sess_sync(&sess))
		return false;
	if (sess.side)
		return cm_wait_comp(&end, &wc, 1) && EXPECT_EQ(wc.byte_len, LEN) &&
		       EXPECT_EQ(vu_check(buf, LEN, sess.test), -1);
	return EXPECT_EQ(vu_post_send(&end.q, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, LEN, 0,
				      0),
			 0) &&
	       cm_wait_comp(&end, &wc, 2);
}

static void test_path(const void *arg)
{
	unsigned int path = *(const unsigned int *)arg;

	if (!start() || (!sess.side && !route(path)) || !connected() || !takes(path) ||
	    !message() || !sess_sync(&sess))
		return;
	if (!sess.side)
		EXPECT_EQ(rdma_disconnect(end.id), 0);
	cm_expect(ch, RDMA_CM_EVENT_DISCONNECTED, NULL);
	if (sess.side)
		EXPECT_EQ(rdma_disconnect(end.id), 0);
	sess_sync(&sess);
}

/* From the second path on: the first one is what a program gets that does not choose. */
static const unsigned int paths[] = {1, 2, 3};

static const struct tap_test tests[] = {
	{"a connection by the path 1", test_path, &paths[0]},
	{"a connection by the path 2", test_path, &paths[1]},
	{"a connection by the path 3", test_path, &paths[2]},
};

int main(int argc, char **argv)
{
	struct vu_dev dev;

	if (argc != 2 || strcmp(argv[1], "-2"))
		tap_bail("usage: cm_paths -2");
	sess_start(&sess, true);
	vu_open(&dev);
	port = dev.port;
	vu_close(&dev);
	if (port.lmc < 2)
		tap_bail("the port has fewer than four LIDs");
	if (!sess_xchg(&sess, &port, &peer_port, sizeof(port)))
		tap_bail("no other side");
	buf = vu_alloc(LEN);
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
