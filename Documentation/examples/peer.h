/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other machine, over TCP: two programs that want to connect their queue pairs have to tell each
 * other their addresses first.  Nothing here is RDMA.  See Documentation/firstqp.rst.
 */

#ifndef EXAMPLE_PEER_H
#define EXAMPLE_PEER_H

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_PORT "18500"

/* Ends the program if what it needs did not succeed. */
static inline void need(int success, const char *what)
{
	if (success)
		return;
	fprintf(stderr, "%s failed: %s\n", what, strerror(errno));
	exit(1);
}

/* The server's side: wait for a client. */
static inline int peer_accept(const struct addrinfo *addr)
{
	int listener = socket(addr->ai_family, SOCK_STREAM, 0), yes = 1, fd;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	need(!bind(listener, addr->ai_addr, addr->ai_addrlen) && !listen(listener, 1), "listen");
	fd = accept(listener, NULL, NULL);
	need(fd >= 0, "accept");
	close(listener);
	return fd;
}

/* Return a connection to the server of that name, or if @name is NULL to the next client. */
static inline int peer_open(const char *name)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *addr;
	int fd, tries;

	hints.ai_flags = name ? 0 : AI_PASSIVE;
	need(!getaddrinfo(name, PEER_PORT, &hints, &addr), "getaddrinfo");
	if (!name)
		return peer_accept(addr);
	for (tries = 0; tries < 500; tries++) { /* the server may start later */
		fd = socket(addr->ai_family, SOCK_STREAM, 0);
		if (!connect(fd, addr->ai_addr, addr->ai_addrlen))
			return fd;
		close(fd);
		poll(NULL, 0, 20);
	}
	need(0, "connect");
	return -1;
}

/* Send @mine, and receive as much into @theirs: afterwards both sides have come this far. */
static inline void peer_swap(int fd, const void *mine, void *theirs, size_t len)
{
	need(send(fd, mine, len, MSG_NOSIGNAL) == (ssize_t)len, "send");
	need(recv(fd, theirs, len, MSG_WAITALL) == (ssize_t)len, "recv");
}

/* Whether the other side waits in peer_meet(), or begins to within so many milliseconds. */
static inline int peer_waits(int fd, int milliseconds)
{
	struct pollfd peer = {.fd = fd, .events = POLLIN};

	return poll(&peer, 1, milliseconds) > 0;
}

/* Wait until the other side has come this far, too. */
static inline void peer_meet(int fd)
{
	char mine = 0, theirs;

	peer_swap(fd, &mine, &theirs, 1);
}

#endif
