/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the uplinks' parts: uplink.c has the queue of frames, uplink_sock.c the sockets,
 * uplink_tap.c the tap interfaces.
 */

#ifndef OHCAD_UPLINK_IO_H
#define OHCAD_UPLINK_IO_H

#include "fabric/uplink.h"

#define UPLINK_LEN_SIZE 4 /* before each frame */
#define UPLINK_RX_SIZE (256U << 10)
/* Frames of an uplink in a round; sockets have a few long ones at a time, but hundreds of short ones. */
#define UPLINK_TURN 64

extern const struct uplink_io stream_io, dgram_io, tap_io;

/* Frames can be sent from now on. */
void uplink_connected(struct uplink *uplink);
/* Send a frame or packet, which is counted and captured; a message of the link itself is only queued.  False: there is no room */
void uplink_send(struct uplink *uplink, const struct iovec *iov, unsigned int num, uint32_t len);
bool uplink_queue(struct uplink *uplink, const struct iovec *iov, unsigned int num, uint32_t len);
/* Count and capture such a frame or packet, which was queued already. */
void uplink_sent(struct uplink *uplink, const struct iovec *iov, unsigned int num, uint32_t len);
/* The other side has another link layer: close the connection, and log it once. */
void uplink_refuse(struct uplink *uplink, const char *why);
/* A frame was received. */
void uplink_receive(struct uplink *uplink, const uint8_t *frame, size_t len);
/* A part of the queue was written. */
void uplink_progress(struct uplink *uplink);
/* The connection has ended: drop the queue. */
void uplink_down(struct uplink *uplink);
/* Write the queue, as far as the socket accepts it. */
void uplink_write(struct uplink *uplink);
/* Close @uplink->fd, if it is open. */
void uplink_close_fd(struct uplink *uplink);

static inline size_t uplink_queued(const struct uplink *uplink)
{
	return uplink->tx_end - uplink->tx_start;
}

#endif
