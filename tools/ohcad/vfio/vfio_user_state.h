/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a vfio-user connection, to the byte, in memory that outlives the process.  A process
 * that has this memory and the socket continues where another one was when it died.
 */

#ifndef OHCAD_VFIO_USER_STATE_H
#define OHCAD_VFIO_USER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <linux/vfio.h>

#include "vfio/vfio_user_msg.h"

#define VFIO_USER_HDR sizeof(struct vfio_user_hdr)

/**
 * struct vfio_user_transfer - progress of a message through the socket
 * @msg: of the last call
 * @last: bytes that it moved
 * @before: bytes moved before it
 *
 * It has the layout of a struct mmsghdr.  The kernel stores @last (msg_len) before recvmmsg() and
 * sendmmsg() return to the process, so a process that is killed in such a call dies after that.
 * Each call begins with one store to both fields, which does not change their sum.  So the sum is
 * right at any time.
 */
struct vfio_user_transfer {
	struct msghdr msg;
	union {
		struct {
			uint32_t last, before;
		};
		uint64_t word;
	};
};

_Static_assert(offsetof(struct vfio_user_transfer, last) == offsetof(struct mmsghdr, msg_len) &&
		       sizeof(struct vfio_user_transfer) == sizeof(struct mmsghdr),
	       "it takes the place of a struct mmsghdr");

/**
 * union vfio_user_reply - the reply, changed by one store
 * @len: its size in bytes, header included; 0: there is none
 * @negotiated: VFIO_USER_VERSION has been answered, or is by this reply
 * @with_fd: a descriptor goes with its first byte
 */
union vfio_user_reply {
	struct {
		uint32_t len;
		bool negotiated;
		bool with_fd;
	};
	uint64_t word;
};

/**
 * struct vfio_user_state - a connection
 * @rx: progress of the request, into @hdr and @in
 * @tx: progress of the reply, out of @out
 * @reply: While its length is 0, a request is received, and is executed when it is complete.  Then
 *	the reply is sent.  When that is sent, @rx starts again, and then the length becomes 0.
 * @region_size, @irq_count, @irq_flags: regions and interrupts of the device
 */
struct vfio_user_state {
	struct vfio_user_transfer rx, tx;
	union vfio_user_reply reply;
	struct vfio_user_hdr hdr;
	uint64_t region_size[VFIO_PCI_NUM_REGIONS];
	uint32_t irq_count[VFIO_PCI_NUM_IRQS];
	uint32_t irq_flags[VFIO_PCI_NUM_IRQS];
	uint8_t in[VFIO_USER_MAX_PAYLOAD];
	uint8_t out[VFIO_USER_HDR + VFIO_USER_MAX_PAYLOAD];
};

/*
 * Create the state of a new connection, in a file whose descriptor goes to @fd.  Returns NULL and
 * sets errno on failure.
 */
struct vfio_user_state *vfio_user_state_new(int *fd);
/*
 * Map the state that a dead process left.  Returns NULL and sets errno on failure, also if the
 * state is inconsistent.  A reply with a descriptor is built again, because that descriptor was
 * closed with the process.
 */
struct vfio_user_state *vfio_user_state_inherit(int fd);
void vfio_user_state_free(struct vfio_user_state *state);

/* Bytes moved since vfio_user_begin() */
uint32_t vfio_user_moved(const struct vfio_user_transfer *transfer);
void vfio_user_begin(struct vfio_user_transfer *transfer);

/*
 * Move up to @len bytes, with @control of @control_len bytes.  Returns their number, 0 if none can
 * be moved now, or -errno (-EPIPE: the client has disconnected).  After a receive, @transfer->msg
 * is as recvmsg() leaves it.
 */
ssize_t vfio_user_recv(struct vfio_user_transfer *transfer, int fd, void *buf, size_t len,
		       void *control, size_t control_len);
ssize_t vfio_user_send(struct vfio_user_transfer *transfer, int fd, const void *buf, size_t len,
		       void *control, size_t control_len);

void vfio_user_set_reply(struct vfio_user_state *state, union vfio_user_reply reply);

#endif
