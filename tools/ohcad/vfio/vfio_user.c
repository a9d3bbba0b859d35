// SPDX-License-Identifier: GPL-2.0
/* The vfio-user server's socket: it accepts one client at a time. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vfio/keeper.h"
#include "base/listener.h"
#include "base/log.h"
#include "vfio/vfio_user_conn.h"

/**
 * struct vfio_user - a server
 * @conn: the client, or NULL
 * @kept: the client's ID at the keeper
 */
struct vfio_user {
	struct loop *loop;
	const struct vfio_user_ops *ops;
	void *dev;
	char *path;
	struct listener listener;
	struct vfio_user_conn *conn;
	uint32_t kept;
};

static void disconnect(struct vfio_user *vu)
{
	struct vfio_user_conn *conn = vu->conn;

	if (!conn)
		return;
	vu->conn = NULL;
	vfio_user_conn_free(conn);
	keeper_forget(vu->kept);
	if (vu->ops->may_log(vu->dev))
		log_info(vu->listener.path, "client disconnected");
}

static void client_ended(void *arg)
{
	disconnect(arg);
}

static void describe(const struct vfio_user *vu, struct vfio_user_state *state)
{
	unsigned int i;

	for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++)
		state->region_size[i] = vu->ops->region_size(vu->dev, i);
	for (i = 0; i < VFIO_PCI_NUM_IRQS; i++)
		state->irq_count[i] = vu->ops->irq_count(vu->dev, i, &state->irq_flags[i]);
}

/* Serve the client at @fd.  Returns 0 or -errno. */
static int connect_client(struct vfio_user *vu, int fd)
{
	struct vfio_user_peer peer = {.name = vu->listener.path,
				      .fd = fd,
				      .ops = vu->ops,
				      .dev = vu->dev,
				      .ended = client_ended,
				      .arg = vu};
	int state_fd;

	peer.state = vfio_user_state_new(&state_fd);
	if (!peer.state)
		return -errno;
	vu->conn = vfio_user_conn_new(vu->loop, &peer);
	if (!vu->conn) {
		int err = -errno;

		close(state_fd);
		vfio_user_state_free(peer.state);
		return err;
	}
	describe(vu, peer.state);
	vu->kept = keeper_hold(fd, state_fd);
	close(state_fd);
	return 0;
}

static void client_new(void *arg, int fd)
{
	struct vfio_user *vu = arg;
	int err;

	if (vu->conn && vfio_user_conn_gone(vu->conn))
		disconnect(vu);
	if (vu->conn) {
		if (vu->ops->may_log(vu->dev))
			log_error(vu->listener.path, "second client refused");
		close(fd);
		return;
	}
	err = connect_client(vu, fd);
	if (err) {
		if (vu->ops->may_log(vu->dev))
			log_error(vu->listener.path, "can't accept a client: %s", strerror(-err));
		close(fd);
		return;
	}
	if (vu->ops->may_log(vu->dev))
		log_info(vu->listener.path, "client connected");
}

struct vfio_user *vfio_user_new(struct loop *loop, const char *path,
				const struct unix_access *access, const struct vfio_user_ops *ops,
				void *dev)
{
	struct vfio_user *vu = calloc(1, sizeof(*vu));
	int err = -ENOMEM;

	if (vu) {
		vu->loop = loop;
		vu->ops = ops;
		vu->dev = dev;
		err = listener_open(&vu->listener, loop, path, access, client_new, vu);
	}
	if (err) {
		free(vu);
		errno = -err;
		return NULL;
	}
	log_info(path, "listening");
	return vu;
}

bool vfio_user_connected(const struct vfio_user *vu)
{
	return vu->conn && vfio_user_conn_negotiated(vu->conn);
}

void vfio_user_free(struct vfio_user *vu)
{
	if (!vu)
		return;
	disconnect(vu);
	listener_close(&vu->listener);
	free(vu);
}
