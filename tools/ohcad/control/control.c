// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket and its clients.  Requests are served one by one, some at a time; replies wait
 * in memory for a client that does not read them, up to a bound at which it is dropped.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "control/control_cmd.h"
#include "base/list.h"
#include "base/listener.h"
#include "base/log.h"
#include "base/scm.h"

/**
 * struct control - the control socket
 * @clients: @num of them
 */
struct control {
	struct loop *loop;
	const struct control_env *env;
	struct listener listener;
	struct list clients;
	unsigned int num;
};

/**
 * struct client - a connection
 * @link: in control->clients
 * @passed: a descriptor that came with the request that is served next, or -1
 * @ended: nothing more is read; it goes when the replies are sent
 * @more: there are requests in @in
 * @in: what was received, @in_len bytes, and room for a NUL; @in_scanned of them have no newline
 * @out: replies, @out_len bytes of which @out_sent are sent, with room for @out_room
 */
struct client {
	struct control *control;
	struct list link;
	int fd;
	int passed;
	bool ended;
	struct timer more;
	char in[CONTROL_MAX_LINE + 1];
	size_t in_len, in_scanned;
	char *out;
	size_t out_len, out_sent, out_room;
};

static void client_drop_passed(struct client *client)
{
	if (client->passed >= 0)
		close(client->passed);
	client->passed = -1;
}

static void client_free(struct client *client)
{
	struct control *control = client->control;

	loop_timer_cancel(control->loop, &client->more);
	loop_del_fd(control->loop, client->fd);
	close(client->fd);
	client_drop_passed(client);
	list_del(&client->link);
	control->num--;
	free(client->out);
	free(client);
}

/* Replies */

/* Room for @len bytes of replies; it doubles, so that those that wait are seldom copied. */
static bool client_room(struct client *client, size_t len)
{
	size_t room = client->out_room ? client->out_room : 4096;
	char *out;

	if (len <= client->out_room)
		return true;
	if (len > CONTROL_MAX_UNREAD)
		return false;
	while (room < len)
		room *= 2;
	out = realloc(client->out, room);
	if (!out)
		return false;
	client->out = out;
	client->out_room = room;
	return true;
}

/* Queue @reply and free it.  False: no memory, or the client has too many unread replies. */
static bool client_reply(struct client *client, struct json_object *reply)
{
	const char *text = json_object_to_json_string_ext(
		reply, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t len = text ? strlen(text) : 0;
	bool good = len && client_room(client, client->out_len + len + 1);

	if (good) {
		memcpy(client->out + client->out_len, text, len);
		client->out[client->out_len + len] = '\n';
		client->out_len += len + 1;
	}
	json_object_put(reply);
	return good;
}

/* Send as much as the socket takes.  False: the connection has failed. */
static bool client_flush(struct client *client)
{
	ssize_t n;

	while (client->out_sent < client->out_len) {
		n = send(client->fd, client->out + client->out_sent,
			 client->out_len - client->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return false;
		if (n < 0)
			break;
		client->out_sent += n;
	}
	client->out_len -= client->out_sent;
	if (!client->out_len) {
		free(client->out);
		client->out = NULL;
		client->out_room = 0;
	} else if (client->out_sent) {
		memmove(client->out, client->out + client->out_sent, client->out_len);
	}
	client->out_sent = 0;
	return true;
}

/* Requests */

/* Receive, and a descriptor that may come along.  False: the connection has failed. */
static bool client_read(struct client *client)
{
	struct iovec iov = {client->in + client->in_len, CONTROL_MAX_LINE - client->in_len};
	union scm_control fds;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &fds,
		.msg_controllen = sizeof(fds),
	};
	int fd = -1;
	ssize_t n;

	if (client->ended || client->in_len == CONTROL_MAX_LINE)
		return true;
	n = recvmsg(client->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (scm_take(&msg, &fd, 1)) {
		client_drop_passed(client);
		client->passed = fd;
	}
	client->ended = !n;
	client->in_len += n;
	return true;
}

/* The length of the first line, its newline included; 0: there is none. */
static size_t client_line(struct client *client)
{
	const char *end =
		memchr(client->in + client->in_scanned, '\n', client->in_len - client->in_scanned);

	client->in_scanned = end ? 0 : client->in_len;
	return end ? end + 1 - client->in : 0;
}

/*
 * Serve one request, if there is a whole one; other clients are served next.  False: drop the
 * client.
 */
static bool client_serve(struct client *client)
{
	struct control *control = client->control;
	size_t len = client_line(client);
	struct json_object *reply;

	if (len) {
		client->in[len - 1] = '\0';
		reply = control_execute(control->env, client->in, len - 1, &client->passed);
		client_drop_passed(client);
		if (!client_reply(client, reply))
			return false;
		client->in_len -= len;
		memmove(client->in, client->in + len, client->in_len);
		if (client_line(client))
			loop_timer_arm(control->loop, &client->more, loop_now(control->loop));
		return true;
	}
	if (client->in_len < CONTROL_MAX_LINE)
		return true;
	/* The beginning of the next request is not known. */
	client->ended = true;
	client->in_len = 0;
	client->in_scanned = 0;
	return client_reply(client, control_refusal(EMSGSIZE, "the line is too long"));
}

static void on_client(void *arg, uint32_t events);

/* Set the events to wait for. */
static bool client_watch(struct client *client)
{
	uint32_t events = client->ended ? 0 : EPOLLIN;

	if (client->out_len)
		events |= EPOLLOUT;
	return !loop_add_fd(client->control->loop, client->fd, events, on_client, client);
}

static void client_step(struct client *client, bool read)
{
	bool good = (!read || client_read(client)) && client_serve(client) && client_flush(client);

	if (good && client->ended && !client->more.pos && !client->out_len)
		good = false;
	if (!good || !client_watch(client))
		client_free(client);
}

static void on_client(void *arg, uint32_t events)
{
	struct client *client = arg;

	if (events & EPOLLERR)
		client_free(client);
	else
		client_step(client, events & (EPOLLIN | EPOLLHUP));
}

static void on_more(struct timer *timer)
{
	client_step(list_entry(timer, struct client, more), false);
}

static void client_new(void *arg, int fd)
{
	struct control *control = arg;
	struct client *client;

	if (control->num == CONTROL_MAX_CLIENTS) {
		log_error(control->listener.path, "too many clients, one is refused");
		close(fd);
		return;
	}
	client = calloc(1, sizeof(*client));
	if (!client) {
		log_error(control->listener.path, "no memory for a client");
		close(fd);
		return;
	}
	client->control = control;
	client->fd = fd;
	client->passed = -1;
	client->more.fn = on_more;
	list_add_tail(&control->clients, &client->link);
	control->num++;
	if (!client_watch(client))
		client_free(client);
}

/* The socket */

struct control *control_new(struct loop *loop, const char *path, const struct unix_access *access,
			    const struct control_env *env)
{
	struct control *control = calloc(1, sizeof(*control));
	int err = -ENOMEM;

	if (control) {
		control->loop = loop;
		control->env = env;
		list_init(&control->clients);
		err = listener_open(&control->listener, loop, path, access, client_new, control);
	}
	if (!err)
		return control;
	free(control);
	errno = -err;
	return NULL;
}

void control_free(struct control *control)
{
	if (!control)
		return;
	listener_close(&control->listener);
	while (!list_empty(&control->clients))
		client_free(list_entry(control->clients.next, struct client, link));
	free(control);
}
