// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics over HTTP on a Unix socket: one request for each connection, whose answer ends with it.  An answer is made family by
 * family, each when the socket has taken the one before it.  A client that is too slow is dropped.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/list.h"
#include "base/listener.h"
#include "base/log.h"
#include "control/metrics.h"

#define MAX_CLIENTS 8
#define MAX_REQUEST 8192
#define CLIENT_NS 10000000000ULL /* for the whole of it */

/**
 * struct metrics_server - the socket
 * @clients: @num of them
 */
struct metrics_server {
	struct loop *loop;
	const struct control_env *env;
	struct listener listener;
	struct list clients;
	unsigned int num;
};

/**
 * struct metrics_client - a connection
 * @late: drops it
 * @more: makes the next family
 * @request: what was received, @received bytes
 * @family: the next one; beyond the last one: there is nothing to make
 * @out: made, @out_len bytes, of which @out_sent are sent; freed by free()
 */
struct metrics_client {
	struct metrics_server *server;
	struct list link;
	int fd;
	struct timer late, more;
	char request[MAX_REQUEST + 1];
	size_t received;
	unsigned int family;
	char *out;
	size_t out_len, out_sent;
};

static void client_free(struct metrics_client *client)
{
	struct loop *loop = client->server->loop;

	loop_timer_cancel(loop, &client->late);
	loop_timer_cancel(loop, &client->more);
	loop_del_fd(loop, client->fd);
	close(client->fd);
	list_del(&client->link);
	client->server->num--;
	free(client->out);
	free(client);
}

/* Whether there is nothing of the answer left to make */
static bool client_is_made(const struct metrics_client *client)
{
	return client->family > metrics_families();
}

/* Make the next part of the answer: a family, or the end.  False: no memory. */
static bool client_make(struct metrics_client *client)
{
	FILE *out;

	free(client->out);
	client->out = NULL;
	client->out_sent = 0;
	out = open_memstream(&client->out, &client->out_len);
	if (!out)
		return false;
	if (client->family < metrics_families())
		metrics_write(out, client->server->env, client->family);
	else
		fputs(METRICS_END, out);
	client->family++;
	return !fclose(out);
}

/* Begin an answer of HTTP; @status is not that of success: it is the whole. */
static bool client_answer(struct metrics_client *client, const char *status, const char *more)
{
	bool good = !more;
	int len = asprintf(&client->out,
			   "HTTP/1.1 %s\r\nContent-Type: %s\r\n%sConnection: close\r\n\r\n%s%s",
			   status, good ? METRICS_TYPE : "text/plain", good ? "" : more,
			   good ? "" : status, good ? "" : "\n");

	if (len < 0) {
		client->out = NULL;
		return false;
	}
	client->out_len = len;
	client->family = good ? 0 : metrics_families() + 1;
	return true;
}

/* The request line is complete, and so are the headers, which make no difference. */
static bool client_read(struct metrics_client *client)
{
	const char *line = client->request;
	const char *path = strchr(line, ' ');
	size_t len = path ? strcspn(path + 1, " ?\r\n") : 0;

	if (!path || path[1] != '/' || !strstr(path, " HTTP/1."))
		return client_answer(client, "400 Bad Request", "");
	if (strncmp(line, "GET ", 4) != 0)
		return client_answer(client, "405 Method Not Allowed", "Allow: GET\r\n");
	if (len != strlen("/metrics") || strncmp(path + 1, "/metrics", len) != 0)
		return client_answer(client, "404 Not Found", "");
	return client_answer(client, "200 OK", NULL);
}

/* Receive the request.  False: the connection has failed, or there is no memory. */
static bool client_receive(struct metrics_client *client)
{
	ssize_t n = recv(client->fd, client->request + client->received,
			 MAX_REQUEST - client->received, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!n)
		return false;
	client->received += n;
	client->request[client->received] = '\0';
	if (strstr(client->request, "\r\n\r\n") || strstr(client->request, "\n\n"))
		return client_read(client);
	return client->received < MAX_REQUEST ||
	       client_answer(client, "431 Request Header Fields Too Large", "");
}

/* Send as much as the socket takes.  False: the connection has failed. */
static bool client_send(struct metrics_client *client)
{
	ssize_t n;

	while (client->out_sent < client->out_len) {
		n = send(client->fd, client->out + client->out_sent,
			 client->out_len - client->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		client->out_sent += n;
	}
	return true;
}

static void on_client(void *arg, uint32_t events);

/* Go on when the socket can take more, or in the next round of the loop; or end. */
static void client_go_on(struct metrics_client *client)
{
	struct loop *loop = client->server->loop;
	bool sent = client->out_sent == client->out_len, good = true;

	if (!client->out)
		good = !loop_add_fd(loop, client->fd, EPOLLIN, on_client, client);
	else if (!sent)
		good = !loop_add_fd(loop, client->fd, EPOLLOUT, on_client, client);
	else if (client_is_made(client))
		good = false;
	else
		loop_timer_arm(loop, &client->more, loop_now(loop));
	if (!good)
		client_free(client);
}

static void on_client(void *arg, uint32_t events)
{
	struct metrics_client *client = arg;

	if (events & EPOLLERR || (!client->out && !client_receive(client)) ||
	    (client->out && !client_send(client))) {
		client_free(client);
		return;
	}
	/* While the next part is made nothing is waited for. */
	if (client->out)
		loop_del_fd(client->server->loop, client->fd);
	client_go_on(client);
}

static void on_more(struct timer *timer)
{
	struct metrics_client *client = list_entry(timer, struct metrics_client, more);

	if (!client_make(client) || !client_send(client))
		client_free(client);
	else
		client_go_on(client);
}

static void on_late(struct timer *timer)
{
	client_free(list_entry(timer, struct metrics_client, late));
}

static void client_new(void *arg, int fd)
{
	struct metrics_server *server = arg;
	struct metrics_client *client = NULL;

	if (server->num < MAX_CLIENTS)
		client = calloc(1, sizeof(*client));
	if (!client) {
		log_error(server->listener.path, "too many clients, one is refused");
		close(fd);
		return;
	}
	client->server = server;
	client->fd = fd;
	client->late.fn = on_late;
	client->more.fn = on_more;
	list_add_tail(&server->clients, &client->link);
	server->num++;
	loop_timer_arm(server->loop, &client->late, loop_now(server->loop) + CLIENT_NS);
	client_go_on(client);
}

struct metrics_server *metrics_server_new(struct loop *loop, const char *path,
					  const struct unix_access *access,
					  const struct control_env *env)
{
	struct metrics_server *server = calloc(1, sizeof(*server));
	int err = -ENOMEM;

	if (server) {
		server->loop = loop;
		server->env = env;
		list_init(&server->clients);
		err = listener_open(&server->listener, loop, path, access, client_new, server);
	}
	if (!err)
		return server;
	free(server);
	errno = -err;
	return NULL;
}

void metrics_server_free(struct metrics_server *server)
{
	if (!server)
		return;
	listener_close(&server->listener);
	while (!list_empty(&server->clients))
		client_free(list_entry(server->clients.next, struct metrics_client, link));
	free(server);
}
