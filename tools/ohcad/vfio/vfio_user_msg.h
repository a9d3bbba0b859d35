/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the two parts of the vfio-user server: vfio_user_conn.c receives and sends
 * messages, vfio_user_cmd.c executes them.
 */

#ifndef OHCAD_VFIO_USER_MSG_H
#define OHCAD_VFIO_USER_MSG_H

#include "vfio/vfio_user.h"
#include "vfio/vfio_user_wire.h"

/* Largest payload: a region access of VFIO_USER_MAX_DATA bytes. */
#define VFIO_USER_MAX_PAYLOAD (sizeof(struct vfio_user_region_rw) + VFIO_USER_MAX_DATA)

/**
 * struct vfio_user_request - a request, and room for its answer
 * @hdr: as received
 * @in: payload, @in_len bytes
 * @fds: descriptors that came with it; those that are not -1 afterwards are closed
 * @out: payload of the reply, VFIO_USER_MAX_PAYLOAD bytes; not zeroed
 * @out_len: bytes in it, 0 at first
 * @out_fd: descriptor that goes with it, not closed, or -1
 * @hang_up: disconnect the client after the reply
 */
struct vfio_user_request {
	struct vfio_user_hdr hdr;
	const uint8_t *in;
	uint32_t in_len;
	int fds[VFIO_USER_MAX_FDS];
	unsigned int num_fds;
	uint8_t *out;
	uint32_t out_len;
	int out_fd;
	bool hang_up;
};

/* Check VFIO_USER_VERSION and build the reply to it.  Returns 0 or -errno. */
int vfio_user_negotiate(struct vfio_user_request *req);

/* Execute any other request.  Returns 0 or -errno, which becomes an error reply. */
int vfio_user_execute(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev);

#endif
