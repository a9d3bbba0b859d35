// SPDX-License-Identifier: GPL-2.0
/*
 * Each event of the connection manager that two connected machines can raise, with the right
 * status: side 0 is the client, side 1 the server.  In one machine (without -2), tests that need a
 * neighbour are skipped.  cm_device has the events of a removed device and of an address that
 * moves.
 *
 * cm_events [-2] [NETDEV]: NETDEV is that of the device; its addresses may be changed
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm_util.h"

#define QKEY_UDP 0x01234567 /* that the kernel gives to RDMA_PS_UDP */
#define REJ_NO_SERVICE 8
#define REJ_CONSUMER 28
#define SIDR_UNSUPPORTED 1
#define SIDR_REJECT 2
#define GROUP "239.77.1.2"
#define SPARE_ADDR "10.77.99.99"

static struct sess sess;
static bool machines;
static const char *netdev;
static struct rdma_event_channel *ch;
static struct rdma_cm_id *listen_id;
static struct cm_end end;
static struct sockaddr_in mine, theirs;

static void cleanup(void)
{
	cm_end_destroy(&end);
	cm_id_destroy(&listen_id);
	if (ch)
		rdma_destroy_event_channel(ch);
	ch = NULL;
}

/* Run a command of the shell. */
__attribute__((format(printf, 1, 2))) static bool run(const char *fmt, ...)
{
	char cmd[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (!system(cmd))
		return true;
	tap_fail(__FILE__, __LINE__, "failed: %s", cmd);
	return false;
}

/* Both sides know the other one's address; the server listens if @listens. */
static bool start(enum rdma_port_space ps, bool listens)
{
	cm_self(&mine, CM_PORT);
	ch = rdma_create_event_channel();
	if (!EXPECT(ch) || !sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return false;
	if (sess.side && listens && !cm_listen(ch, ps, &mine, &listen_id))
		return false;
	return sess_sync(&sess);
}

static bool client_connect(enum rdma_port_space ps)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	return cm_resolve(ch, ps, &theirs, &end.id) && cm_end_create(&end, false) &&
	       EXPECT_EQ(rdma_connect(end.id, &param), 0);
}

static bool server_request(void)
{
	struct cm_event event;

	if (!cm_expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return false;
	end.id = event.ev.id;
	return EXPECT_EQ(event.ev.status, 0) && EXPECT(event.ev.listen_id == listen_id) &&
	       EXPECT(end.id != listen_id);
}

static bool server_accept(void)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	return cm_end_create(&end, false) && EXPECT_EQ(rdma_accept(end.id, &param), 0);
}

/* Up to ESTABLISHED on both sides. */
static bool established(void)
{
	if (!start(RDMA_PS_TCP, true))
		return false;
	if (sess.side ? !server_request() || !server_accept() : !client_connect(RDMA_PS_TCP))
		return false;
	return cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL) && sess_sync(&sess);
}

static void test_resolved(const void *arg)
{
	(void)arg;
	if (!start(RDMA_PS_TCP, false) || sess.side)
		return;
	if (!EXPECT_EQ(rdma_create_id(ch, &end.id, NULL, RDMA_PS_TCP), 0) ||
	    !EXPECT_EQ(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&theirs, CM_TIMEOUT_MS),
		       0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
		return;
	EXPECT(end.id->verbs &&
	       !strcmp(ibv_get_device_name(end.id->verbs->device), vu_device_name()));
	EXPECT_EQ(end.id->port_num, VU_PORT);
	EXPECT_EQ(((struct sockaddr_in *)rdma_get_local_addr(end.id))->sin_addr.s_addr,
		  mine.sin_addr.s_addr);
	if (!EXPECT_EQ(rdma_resolve_route(end.id, CM_TIMEOUT_MS), 0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return;
	EXPECT_EQ(end.id->route.num_paths, 1);
	EXPECT(!memcmp(end.id->route.addr.addr.ibaddr.sgid.raw + 12, &mine.sin_addr, 4));
	EXPECT(!memcmp(end.id->route.addr.addr.ibaddr.dgid.raw + 12, &theirs.sin_addr, 4));
	cm_quiet(ch);
}

/* There is no answer for this address of the network. */
static void test_addr_error(const void *arg)
{
	struct cm_event event;

	(void)arg;
	if (!start(RDMA_PS_TCP, false) || sess.side)
		return;
	theirs.sin_addr.s_addr ^= htonl(0x1fff);
	if (!EXPECT_EQ(rdma_create_id(ch, &end.id, NULL, RDMA_PS_TCP), 0) ||
	    !EXPECT_EQ(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&theirs, 500), 0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_ADDR_ERROR, &event))
		return;
	EXPECT_EQ(event.ev.status, -ETIMEDOUT);
	EXPECT(event.ev.id == end.id);
}

/*
 * Both get an event when the other one disconnects, and when the connection's last packet can't
 * arrive any more.
 */
static void test_life(const void *arg)
{
	const int *first = arg;

	if (!established())
		return;
	EXPECT_EQ(vu_state(&end.q), IBV_QPS_RTS);
	cm_quiet(ch);
	if (!sess_sync(&sess))
		return;
	if (sess.side == *first)
		EXPECT_EQ(rdma_disconnect(end.id), 0);
	if (!cm_expect(ch, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return;
	if (sess.side != *first)
		EXPECT_EQ(rdma_disconnect(end.id), 0);
	EXPECT_EQ(vu_state(&end.q), IBV_QPS_ERR);
	cm_expect(ch, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL);
	cm_quiet(ch);
	sess_sync(&sess);
}

/*
 * The client's identifier has no QP, so it gets the response, and the connection is established
 * when it confirms that.
 */
static void test_response(const void *arg)
{
	struct rdma_conn_param param = {.qp_num = 77, .retry_count = 7, .rnr_retry_count = 7};
	struct cm_event event;

	(void)arg;
	if (!start(RDMA_PS_TCP, true))
		return;
	if (sess.side) {
		if (!server_request() || !server_accept() || !sess_sync(&sess))
			return;
		cm_quiet(ch);
		if (sess_sync(&sess))
			cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL);
	} else {
		if (!cm_resolve(ch, RDMA_PS_TCP, &theirs, &end.id) ||
		    !EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_CONNECT_RESPONSE, &event))
			return;
		EXPECT_EQ(event.ev.status, 0);
		if (!sess_sync(&sess) || !sess_sync(&sess))
			return;
		EXPECT_EQ(rdma_establish(end.id), 0);
	}
	sess_sync(&sess);
}

/* The client's QP cannot be connected any more when the server's answer arrives. */
static void test_connect_error(const void *arg)
{
	struct cm_event event;

	(void)arg;
	if (!start(RDMA_PS_TCP, true))
		return;
	if (sess.side) {
		if (!server_request() || !sess_sync(&sess) || !server_accept())
			return;
		if (cm_expect(ch, RDMA_CM_EVENT_REJECTED, &event))
			EXPECT_EQ(event.ev.status, REJ_CONSUMER);
	} else {
		if (!client_connect(RDMA_PS_TCP) || !sess_sync(&sess) || !vu_to_err(&end.q))
			return;
		if (cm_expect(ch, RDMA_CM_EVENT_CONNECT_ERROR, &event))
			EXPECT(event.ev.status);
		/* the server notices by the disconnect event */
		cm_end_destroy(&end);
	}
	sess_sync(&sess);
}

static void test_rejected(const void *arg)
{
	const bool *listens = arg;
	struct cm_event event;

	if (!start(RDMA_PS_TCP, *listens))
		return;
	if (sess.side) {
		if (*listens && server_request())
			EXPECT_EQ(rdma_reject(end.id, NULL, 0), 0);
	} else if (client_connect(RDMA_PS_TCP) && cm_expect(ch, RDMA_CM_EVENT_REJECTED, &event)) {
		EXPECT_EQ(event.ev.status, *listens ? REJ_CONSUMER : REJ_NO_SERVICE);
		EXPECT_EQ(vu_state(&end.q), IBV_QPS_ERR);
	}
	sess_sync(&sess);
}

/* A datagram service that does not exist, or refuses, can't be reached. */
static void test_unreachable(const void *arg)
{
	const bool *listens = arg;
	struct cm_event event;

	if (!start(RDMA_PS_UDP, *listens))
		return;
	if (sess.side) {
		if (*listens && server_request())
			EXPECT_EQ(rdma_reject(end.id, NULL, 0), 0);
	} else if (client_connect(RDMA_PS_UDP) &&
		   cm_expect(ch, RDMA_CM_EVENT_UNREACHABLE, &event)) {
		EXPECT_EQ(event.ev.status, *listens ? SIDR_REJECT : SIDR_UNSUPPORTED);
	}
	sess_sync(&sess);
}

/* A datagram service returns its QP and its Q_Key. */
static void test_datagram(const void *arg)
{
	struct cm_event event;
	uint32_t qpn;

	(void)arg;
	if (!start(RDMA_PS_UDP, true))
		return;
	if (sess.side) {
		if (!server_request() || !server_accept() ||
		    !sess_xchg(&sess, &end.q.qp->qp_num, &qpn, sizeof(qpn)))
			return;
	} else {
		if (!client_connect(RDMA_PS_UDP) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, &event) ||
		    !sess_xchg(&sess, &end.q.qp->qp_num, &qpn, sizeof(qpn)))
			return;
		EXPECT_EQ(event.ev.status, 0);
		EXPECT_EQ(event.ev.param.ud.qp_num, qpn);
		EXPECT_EQ(event.ev.param.ud.qkey, QKEY_UDP);
	}
	sess_sync(&sess);
}

/* The hardware address of a connection's peer changes: the peer can't be reached. */
static void test_neighbour(const void *arg)
{
	char ip[INET_ADDRSTRLEN];
	struct cm_event event;

	(void)arg;
	if (!machines || !netdev) {
		tap_skip("needs two machines");
		return;
	}
	if (!established())
		return;
	if (!sess.side) {
		inet_ntop(AF_INET, &theirs.sin_addr, ip, sizeof(ip));
		if (run("ip neigh replace %s lladdr 02:00:00:77:77:77 dev %s nud reachable", ip,
			netdev) &&
		    cm_expect(ch, RDMA_CM_EVENT_UNREACHABLE, &event))
			EXPECT_EQ(event.ev.status, -ETIMEDOUT);
		run("ip neigh del %s dev %s", ip, netdev);
		/* the path of the connection is not affected */
		EXPECT_EQ(rdma_disconnect(end.id), 0);
		while (cm_next(ch, &event, vu_timeout_ms()) &&
		       event.ev.event == RDMA_CM_EVENT_UNREACHABLE)
			;
		EXPECT_EQ(event.ev.event, RDMA_CM_EVENT_DISCONNECTED);
	} else if (cm_expect(ch, RDMA_CM_EVENT_DISCONNECTED, NULL)) {
		EXPECT_EQ(rdma_disconnect(end.id), 0);
	}
	sess_sync(&sess);
}

/* An identifier for datagrams that is bound to @addr, with a QP. */
static bool bound(struct sockaddr_in *addr)
{
	addr->sin_port = 0;
	return EXPECT_EQ(rdma_create_id(ch, &end.id, NULL, RDMA_PS_UDP), 0) &&
	       EXPECT_EQ(rdma_bind_addr(end.id, (struct sockaddr *)addr), 0) &&
	       cm_end_create(&end, false);
}

static struct sockaddr_in group = {.sin_family = AF_INET};

static void test_multicast_join(const void *arg)
{
	struct cm_event event;

	if (!start(RDMA_PS_UDP, false) || !bound(&mine) ||
	    !EXPECT_EQ(rdma_join_multicast(end.id, (struct sockaddr *)&group, (void *)arg), 0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN, &event))
		return;
	EXPECT_EQ(event.ev.status, 0);
	EXPECT(event.ev.id == end.id && event.ev.param.ud.private_data == arg);
	EXPECT_EQ(event.ev.param.ud.qp_num, 0xffffff);
	EXPECT_EQ(event.ev.param.ud.qkey, QKEY_UDP);
	EXPECT(!memcmp(event.ev.param.ud.ah_attr.grh.dgid.raw + 12, &group.sin_addr, 4));
	EXPECT_EQ(rdma_leave_multicast(end.id, (struct sockaddr *)&group), 0);
	EXPECT(rdma_leave_multicast(end.id, (struct sockaddr *)&group) == -1);
	cm_quiet(ch);
}

/* The identifier's QP is not a datagram QP when the event comes, so it can't be attached. */
static void test_multicast_attach(const void *arg)
{
	struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = 1}, .qp_type = IBV_QPT_RC};
	struct pollfd pfd = {.events = POLLIN};
	struct cm_event event;

	(void)arg;
	if (!start(RDMA_PS_UDP, false) || !bound(&mine) ||
	    !EXPECT_EQ(rdma_join_multicast(end.id, (struct sockaddr *)&group, NULL), 0))
		return;
	pfd.fd = ch->fd;
	if (!EXPECT_EQ(poll(&pfd, 1, vu_timeout_ms()), 1))
		return;
	attr.send_cq = attr.recv_cq = end.cq;
	end.id->qp = ibv_create_qp(end.pd, &attr);
	if (EXPECT(end.id->qp)) {
		if (cm_expect(ch, RDMA_CM_EVENT_MULTICAST_ERROR, &event))
			EXPECT(event.ev.status);
		EXPECT_EQ(ibv_destroy_qp(end.id->qp), 0);
	}
	end.id->qp = end.q.qp;
}

static bool has_gid(struct ibv_context *ctx, const struct in_addr *addr)
{
	struct ibv_gid_entry entry;
	uint32_t i;

	for (i = 0; i < 64; i++)
		if (!ibv_query_gid_ex(ctx, VU_PORT, i, &entry, 0) && entry.gid.raw[10] == 0xff &&
		    !memcmp(entry.gid.raw + 12, addr, sizeof(*addr)))
			return true;
	return false;
}

static bool wait_gid(struct ibv_context *ctx, const struct in_addr *addr, bool there)
{
	uint64_t deadline = vu_now() + vu_timeout_ms();

	while (has_gid(ctx, addr) != there) {
		if (!EXPECT(vu_now() < deadline))
			return false;
		poll(NULL, 0, 10);
	}
	return true;
}

/* The address that the identifier is bound to is removed: there is no GID to join with. */
static void test_multicast_error(const void *arg)
{
	struct sockaddr_in spare;
	struct cm_event event;
	struct ibv_context *ctx;

	(void)arg;
	if (!netdev) {
		tap_skip("needs the device's network interface");
		return;
	}
	if (!start(RDMA_PS_UDP, false) || sess.side)
		return;
	ctx = vu_open_context();
	spare = mine;
	inet_pton(AF_INET, SPARE_ADDR, &spare.sin_addr);
	if (!EXPECT(ctx) || !run("ip addr add " SPARE_ADDR "/32 dev %s", netdev))
		return;
	if (wait_gid(ctx, &spare.sin_addr, true))
		bound(&spare);
	run("ip addr del " SPARE_ADDR "/32 dev %s", netdev);
	if (!tap_failed() && wait_gid(ctx, &spare.sin_addr, false) &&
	    EXPECT_EQ(rdma_join_multicast(end.id, (struct sockaddr *)&group, (void *)&group), 0) &&
	    cm_expect(ch, RDMA_CM_EVENT_MULTICAST_ERROR, &event))
		EXPECT(event.ev.id == end.id && event.ev.param.ud.private_data == &group);
	EXPECT_EQ(ibv_close_device(ctx), 0);
}

static const bool no, yes = true;
static const int side0, side1 = 1;

static const struct tap_test tests[] = {
	{"ADDR_RESOLVED, ROUTE_RESOLVED", test_resolved, NULL},
	{"ADDR_ERROR: nobody has the address", test_addr_error, NULL},
	{"CONNECT_REQUEST, ESTABLISHED; the client's DISCONNECTED, TIMEWAIT_EXIT", test_life,
	 &side0},
	{"CONNECT_REQUEST, ESTABLISHED; the server's DISCONNECTED, TIMEWAIT_EXIT", test_life,
	 &side1},
	{"CONNECT_RESPONSE: an identifier without QP", test_response, NULL},
	{"CONNECT_ERROR: a QP that can't be connected", test_connect_error, NULL},
	{"REJECTED: nobody listens", test_rejected, &no},
	{"REJECTED: by the server", test_rejected, &yes},
	{"UNREACHABLE: no datagram service", test_unreachable, &no},
	{"UNREACHABLE: the datagram service refuses", test_unreachable, &yes},
	{"UNREACHABLE: the peer's hardware address changes", test_neighbour, NULL},
	{"ESTABLISHED: a datagram service", test_datagram, NULL},
	{"MULTICAST_JOIN", test_multicast_join, &group},
	{"MULTICAST_ERROR: the QP can't be attached", test_multicast_attach, NULL},
	{"MULTICAST_ERROR: the address is gone", test_multicast_error, NULL},
};

int main(int argc, char **argv)
{
	machines = argc > 1 && !strcmp(argv[1], "-2");
	if (argc > 1 + machines)
		netdev = argv[1 + machines];
	inet_pton(AF_INET, GROUP, &group.sin_addr);
	sess_start(&sess, machines);
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
