/* SPDX-License-Identifier: GPL-2.0 */
/* A listening socket in the file system that the loop serves. */

#ifndef OHCAD_LISTENER_H
#define OHCAD_LISTENER_H

#include <sys/stat.h>

#include "base/loop.h"
#include "base/unix_listen.h"

/**
 * struct listener - a listening socket, embedded in what it serves
 * @path: its own copy
 * @st: identity of the socket file
 * @retry: accepts again after descriptors ran out
 * @accepted: takes a connection, @fd, which does not block
 */
struct listener {
	struct loop *loop;
	char *path;
	int fd;
	struct stat st;
	struct timer retry;
	void (*accepted)(void *arg, int fd);
	void *arg;
};

/* Listen as unix_listen() does.  Returns 0, or -errno, which is logged; then there is nothing to close. */
int listener_open(struct listener *listener, struct loop *loop, const char *path,
		  const struct unix_access *access, void (*accepted)(void *arg, int fd), void *arg);
/* Close it and remove its file. */
void listener_close(struct listener *listener);

#endif
