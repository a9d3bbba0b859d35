// SPDX-License-Identifier: GPL-2.0
/* A listener without a socket. */

#include "listener_end.h"

static struct listener *listener;

int listener_open(struct listener *l, struct loop *loop, const char *path,
		  const struct unix_access *access, void (*accepted)(void *arg, int fd), void *arg)
{
	(void)path;
	(void)access;
	l->loop = loop;
	l->accepted = accepted;
	l->arg = arg;
	listener = l;
	return 0;
}

void listener_close(struct listener *l)
{
	(void)l;
}

void listener_end_accept(int fd)
{
	listener->accepted(listener->arg, fd);
}
