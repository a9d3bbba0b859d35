// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the connection manager when a device is removed, or an address moves to another link.
 *
 * cm_device remove COMMAND: the command removes the device
 * cm_device move ADDRESS COMMAND: the command moves the address, which the device has
 * cm_device connected ADDRESS COMMAND SERVER: the same with a connection from there to rping's
 * server
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm_util.h"

#define RPING_PORT 7174

static const char *command;
static struct sockaddr_in addr, remote;

static bool run_command(void)
{
	if (!system(command))
		return true;
	tap_fail(__FILE__, __LINE__, "failed: %s", command);
	return false;
}

/* Whether an event waits in the channel; does not read it. */
static bool pending(struct rdma_event_channel *ch)
{
	struct pollfd pfd = {.fd = ch->fd, .events = POLLIN};

	return EXPECT_EQ(poll(&pfd, 1, vu_timeout_ms()), 1);
}

/* Connect the server's end and the client's, both in this process. */
static bool connect_ends(struct rdma_event_channel *ch, struct rdma_event_channel *server_ch,
			 struct cm_end *client, struct cm_end *server)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct cm_event event;

	if (!cm_resolve(ch, RDMA_PS_TCP, &addr, &client->id) || !cm_end_create(client, false) ||
	    !EXPECT_EQ(rdma_connect(client->id, &param), 0) ||
	    !cm_expect(server_ch, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return false;
	server->id = event.ev.id;
	return cm_end_create(server, false) && EXPECT_EQ(rdma_accept(server->id, &param), 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
	       cm_expect(server_ch, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

/*
 * These identifiers get the removal event of the device, in any order.  Before that, a connected
 * one may get the disconnect event of the other end, which is on the same device.
 */
static bool all_removed(struct rdma_event_channel *ch, struct rdma_cm_id *connected,
			struct rdma_cm_id *listening)
{
	int left = listening ? 2 : 1;
	struct cm_event event;

	while (left && cm_next(ch, &event, vu_timeout_ms())) {
		if (event.ev.event == RDMA_CM_EVENT_DISCONNECTED && event.ev.id == connected)
			continue;
		if (!EXPECT_EQ(event.ev.event, RDMA_CM_EVENT_DEVICE_REMOVAL) ||
		    !EXPECT_EQ(event.ev.status, 0) ||
		    !EXPECT(event.ev.id && (event.ev.id == connected || event.ev.id == listening)))
			return false;
		if (event.ev.id == connected)
			connected = NULL;
		else
			listening = NULL;
		left--;
	}
	return !left && cm_quiet(ch);
}

/*
 * Each identifier that uses the device gets its removal event: the connected ones, and one that
 * listens.  An identifier whose resolved route was not read in time gets ROUTE_ERROR.  On an
 * Ethernet port that is the only cause of this event, because there is no subnet administration
 * that could refuse (cma_resolve_iboe_route() has no such event).
 */
static void test_removal(const void *arg)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_event_channel *server_ch = rdma_create_event_channel();
	struct rdma_event_channel *late_ch = rdma_create_event_channel();
	struct rdma_cm_id *listen_id = NULL, *late = NULL;
	struct cm_end client = {}, server = {};
	struct cm_event event;

	(void)arg;
	if (!EXPECT(ch && server_ch && late_ch) ||
	    !cm_listen(server_ch, RDMA_PS_TCP, &addr, &listen_id) ||
	    !connect_ends(ch, server_ch, &client, &server))
		goto out;
	if (!EXPECT_EQ(rdma_create_id(late_ch, &late, NULL, RDMA_PS_TCP), 0) ||
	    !EXPECT_EQ(rdma_resolve_addr(late, NULL, (struct sockaddr *)&addr, CM_TIMEOUT_MS), 0) ||
	    !cm_expect(late_ch, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    !EXPECT_EQ(rdma_resolve_route(late, CM_TIMEOUT_MS), 0) || !pending(late_ch) ||
	    !run_command())
		goto out;

	all_removed(ch, client.id, NULL);
	all_removed(server_ch, server.id, listen_id);
	if (cm_expect(late_ch, RDMA_CM_EVENT_ROUTE_ERROR, &event))
		EXPECT(event.ev.status);
	cm_expect(late_ch, RDMA_CM_EVENT_DEVICE_REMOVAL, NULL);
	cm_quiet(late_ch);
	/* nothing works any more, and everything can be destroyed */
	EXPECT(rdma_disconnect(client.id) == -1);
out:
	cm_end_destroy(&client);
	cm_end_destroy(&server);
	cm_id_destroy(&listen_id);
	cm_id_destroy(&late);
	rdma_destroy_event_channel(late_ch);
	rdma_destroy_event_channel(server_ch);
	rdma_destroy_event_channel(ch);
}

/*
 * An identifier that is bound to the address gets an event, once, when its hardware address
 * changes.
 */
static void test_move(const void *arg)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;
	struct cm_event event;

	(void)arg;
	if (!EXPECT(ch) || !EXPECT_EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0) ||
	    !EXPECT_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), 0) || !cm_quiet(ch))
		goto out;
	EXPECT(id->verbs && !strcmp(ibv_get_device_name(id->verbs->device), vu_device_name()));
	if (!run_command() || !cm_expect(ch, RDMA_CM_EVENT_ADDR_CHANGE, &event))
		goto out;
	EXPECT(event.ev.id == id);
	EXPECT_EQ(event.ev.status, 0);
	cm_quiet(ch);
out:
	cm_id_destroy(&id);
	rdma_destroy_event_channel(ch);
}

/* Connect the address's end to the server. */
static bool connect_remote(struct rdma_event_channel *ch, struct cm_end *end)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	return EXPECT_EQ(rdma_create_id(ch, &end->id, NULL, RDMA_PS_TCP), 0) &&
	       EXPECT_EQ(rdma_resolve_addr(end->id, (struct sockaddr *)&addr,
					   (struct sockaddr *)&remote, CM_TIMEOUT_MS),
			 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) &&
	       EXPECT_EQ(rdma_resolve_route(end->id, CM_TIMEOUT_MS), 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) && cm_end_create(end, false) &&
	       EXPECT_EQ(rdma_connect(end->id, &param), 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

/*
 * A connected identifier gets the event, too.  Its owner can only destroy it, because there is no
 * address any more from which the other side could be notified.
 */
static void test_move_connected(const void *arg)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct cm_end end = {};
	struct cm_event event;

	(void)arg;
	if (!EXPECT(ch) || !connect_remote(ch, &end) || !run_command() ||
	    !cm_expect(ch, RDMA_CM_EVENT_ADDR_CHANGE, &event))
		goto out;
	EXPECT(event.ev.id == end.id);
	EXPECT_EQ(event.ev.status, 0);
	cm_quiet(ch);
	EXPECT_EQ(vu_state(&end.q), IBV_QPS_RTS);
out:
	cm_end_destroy(&end);
	rdma_destroy_event_channel(ch);
}

static const struct tap_test removal[] = {
	{"DEVICE_REMOVAL, ROUTE_ERROR: the device goes", test_removal, NULL},
};

static const struct tap_test move[] = {
	{"ADDR_CHANGE: the address goes to another link", test_move, NULL},
};

static const struct tap_test connected[] = {
	{"ADDR_CHANGE: a connection's address goes to another link", test_move_connected, NULL},
};

static void get_address(struct sockaddr_in *to, const char *text, uint16_t port)
{
	to->sin_family = AF_INET;
	to->sin_port = htons(port);
	if (inet_pton(AF_INET, text, &to->sin_addr) != 1)
		tap_bail("not an address: %s", text);
}

int main(int argc, char **argv)
{
	/* destroying objects of a removed device succeeds */
	setenv("RDMAV_ALLOW_DISASSOCIATE_DESTROY", "1", 1);
	if (argc == 3 && !strcmp(argv[1], "remove")) {
		command = argv[2];
		cm_self(&addr, CM_PORT);
		return tap_run(removal, ARRAY_SIZE(removal));
	}
	if (argc < 4)
		tap_bail("what is to be done?");
	get_address(&addr, argv[2], 0);
	command = argv[3];
	if (argc == 4 && !strcmp(argv[1], "move"))
		return tap_run(move, ARRAY_SIZE(move));
	if (argc != 5 || strcmp(argv[1], "connected"))
		tap_bail("what is to be done?");
	get_address(&remote, argv[4], RPING_PORT);
	return tap_run(connected, ARRAY_SIZE(connected));
}
