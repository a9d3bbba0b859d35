// SPDX-License-Identifier: GPL-2.0
/* A listening socket in the file system that the loop serves. */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/listener.h"
#include "base/log.h"

#define ACCEPT_RETRY_NS 1000000000ULL

static void on_listen(void *arg, uint32_t events)
{
	struct listener *listener = arg;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd >= 0) {
		listener->accepted(listener->arg, fd);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	log_error(listener->path, "accept: %s", strerror(errno));
	loop_del_fd(listener->loop, listener->fd);
	loop_timer_arm(listener->loop, &listener->retry,
		       loop_now(listener->loop) + ACCEPT_RETRY_NS);
}

static void on_retry(struct timer *timer)
{
	struct listener *listener =
		(struct listener *)((char *)timer - offsetof(struct listener, retry));

	if (loop_add_fd(listener->loop, listener->fd, EPOLLIN, on_listen, listener))
		loop_timer_arm(listener->loop, timer, loop_now(listener->loop) + ACCEPT_RETRY_NS);
}

int listener_open(struct listener *listener, struct loop *loop, const char *path,
		  const struct unix_access *access, void (*accepted)(void *arg, int fd), void *arg)
{
	int err;

	memset(listener, 0, sizeof(*listener));
	listener->loop = loop;
	listener->path = strdup(path);
	listener->retry.fn = on_retry;
	listener->accepted = accepted;
	listener->arg = arg;
	listener->fd = listener->path ? unix_listen(path, access, &listener->st) : -ENOMEM;
	err = listener->fd < 0 ? listener->fd : 0;
	if (!err)
		err = loop_add_fd(loop, listener->fd, EPOLLIN, on_listen, listener);
	if (!err)
		return 0;
	log_error(path, "can't listen: %s", strerror(-err));
	if (listener->fd >= 0)
		listener_close(listener);
	else
		free(listener->path);
	return err;
}

void listener_close(struct listener *listener)
{
	loop_timer_cancel(listener->loop, &listener->retry);
	loop_del_fd(listener->loop, listener->fd);
	close(listener->fd);
	unix_unlink(listener->path, &listener->st);
	free(listener->path);
}
