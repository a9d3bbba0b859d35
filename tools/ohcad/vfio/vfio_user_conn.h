/* SPDX-License-Identifier: GPL-2.0 */
/* A client of the vfio-user server, from its first message, or from where another process was. */

#ifndef OHCAD_VFIO_USER_CONN_H
#define OHCAD_VFIO_USER_CONN_H

#include "vfio/vfio_user.h"
#include "vfio/vfio_user_state.h"

struct vfio_user_conn;

/**
 * struct vfio_user_peer - a client and what it talks to
 * @name: for log lines, the caller's
 * @fd: the socket, which does not block
 * @state: how far it is
 * @ended: the client has hung up, or is beyond hope: time for vfio_user_conn_free()
 */
struct vfio_user_peer {
	const char *name;
	int fd;
	struct vfio_user_state *state;
	const struct vfio_user_ops *ops;
	void *dev;
	void (*ended)(void *arg);
	void *arg;
};

/* Serve it.  Socket and state then belong to the connection.  NULL: errno is set. */
struct vfio_user_conn *vfio_user_conn_new(struct loop *loop, const struct vfio_user_peer *peer);
/* Hang up; calls the device's @disconnected if the client has negotiated. */
void vfio_user_conn_free(struct vfio_user_conn *conn);

bool vfio_user_conn_negotiated(const struct vfio_user_conn *conn);
/* The client is gone, though @ended may not have been called yet. */
bool vfio_user_conn_gone(const struct vfio_user_conn *conn);

#endif
