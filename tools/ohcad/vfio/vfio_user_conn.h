/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of the vfio-user server, from its first message, or from the state that another process
 * left.
 */

#ifndef OHCAD_VFIO_USER_CONN_H
#define OHCAD_VFIO_USER_CONN_H

#include "vfio/vfio_user.h"
#include "vfio/vfio_user_state.h"

struct vfio_user_conn;

/**
 * struct vfio_user_peer - a client, and the device that it is connected to
 * @name: for log lines, owned by the caller
 * @fd: the socket, which is non-blocking
 * @state: state of the connection
 * @ended: called when the client has disconnected or can't be served any more: call
 *	vfio_user_conn_free()
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

/*
 * Serve it.  Socket and state then belong to the connection.  Returns NULL and sets errno on
 * failure.
 */
struct vfio_user_conn *vfio_user_conn_new(struct loop *loop, const struct vfio_user_peer *peer);
/* Disconnect; calls the device's @disconnected if the client has negotiated the version. */
void vfio_user_conn_free(struct vfio_user_conn *conn);

bool vfio_user_conn_negotiated(const struct vfio_user_conn *conn);
/* The client has disconnected, though @ended may not have been called yet. */
bool vfio_user_conn_gone(const struct vfio_user_conn *conn);

#endif
