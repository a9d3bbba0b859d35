/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uplinks connect a fabric's Ethernet to other processes and to the host: by sockets, in the
 * formats of QEMU's -netdev stream (each frame after its length, four bytes, big endian) and -netdev
 * dgram (a frame is a datagram), and tap interfaces of the host.  Frames are not passed on from one
 * uplink to another.  An InfiniBand uplink is a cable of the switch, and carries packets in the same framing:
 * see ib_uplink.h.
 */

#ifndef OHCAD_UPLINK_H
#define OHCAD_UPLINK_H

#include <stdbool.h>
#include <stdint.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/unix_listen.h"
#include "capture/capture.h"

struct fabric;
struct ib_uplink;
struct uplink;
struct uplinks;

/**
 * struct uplink_addr - address of a socket; @len is 0 for none
 */
struct uplink_addr {
	socklen_t len;
	union {
		struct sockaddr sa;
		struct sockaddr_un un;
		struct sockaddr_storage storage;
	};
};

enum uplink_kind {
	UPLINK_STREAM,
	UPLINK_DGRAM,
	UPLINK_TAP,
};

/**
 * struct uplink_io - what is on the other side of an uplink
 * @open: open the uplink; frames can be sent at once or later.  0, or -errno and a log line with the reason
 * @close: release what is left after @fd is closed; NULL: nothing
 * @write: write the queue, as far as the socket accepts it
 * @take: pass on received frames, as uplink->more asks for; NULL: they never wait
 * @refuse: close the connection, as the other side has another link layer; NULL: there is no connection
 */
struct uplink_io {
	int (*open)(struct uplink *uplink);
	void (*close)(struct uplink *uplink);
	void (*write)(struct uplink *uplink);
	void (*take)(struct uplink *uplink);
	void (*refuse)(struct uplink *uplink);
};

/**
 * struct uplink_layer - the link layer of uplinks other than Ethernet: ib_uplink.c
 * @init: called for a new uplink; 0 or -errno
 * @free: called before the uplink is freed, also after @init has failed
 * @connected, @disconnected: packets can be sent, or not any more
 * @receive: process received bytes, which may be invalid
 * @wrote: the queue was written as far as the socket accepts it; uplink->blocked: not all of it
 */
struct uplink_layer {
	int (*init)(struct uplink *uplink);
	void (*free)(struct uplink *uplink);
	void (*connected)(struct uplink *uplink);
	void (*disconnected)(struct uplink *uplink);
	void (*receive)(struct uplink *uplink, const uint8_t *bytes, size_t len);
	void (*wrote)(struct uplink *uplink);
};

/**
 * struct uplink_options - an uplink on the command line
 * @name: in log lines: the option's value
 * @kind: datagrams go from @local to @remote
 * @io: that of the kind
 * @layer: InfiniBand; NULL: Ethernet
 * @listen: the stream's other side connects to @local; else we connect to @remote
 * @access: who may connect or send to @local, if that is in the file system
 * @ifname: the tap interface's name
 */
struct uplink_options {
	char *name;
	enum uplink_kind kind;
	const struct uplink_io *io;
	const struct uplink_layer *layer;
	bool listen;
	struct uplink_addr local, remote;
	struct unix_access access;
	char ifname[IFNAMSIZ];
};

/**
 * struct uplink - an uplink
 * @link: in uplinks.list
 * @fd: the socket, or the tap interface's other end; or -1
 * @listen_fd: listening socket, or -1
 * @st: the file of @listen_fd
 * @up: frames can be sent
 * @ib: InfiniBand: the cable, of ib_uplink.c; else NULL
 * @refused: the last connection was refused for its link layer; logged once until one is accepted
 * @blocked: @tx waits until the socket takes more
 * @congested: @tx is so long that QPs wait
 * @warned: @stall has fired once
 * @stalled: it has been congested for too long: frames without room are lost
 * @retry: connects again; for other kinds than streams: sends again
 * @stall: ends congestion
 * @backoff: time to the next try, ns
 * @tx: frames to send, from @tx_start to @tx_end, each after its length
 * @rx: received bytes: for a stream, those from @rx_start to @rx_end were not passed on
 * @more: there are complete frames among them
 * @in, @out, @dropped: frames, or packets
 * @from_here: those of @dropped with a source address of this process
 * @capture: the uplink in captures
 */
struct uplink {
	struct uplinks *all;
	struct list link;
	struct uplink_options opts;
	int fd, listen_fd;
	struct stat st;
	bool up;
	struct ib_uplink *ib;
	bool refused;
	bool blocked;
	bool congested;
	bool warned;
	bool stalled;
	struct timer retry, stall;
	uint64_t backoff;
	uint8_t *tx;
	size_t tx_start, tx_end;
	uint8_t *rx;
	size_t rx_start, rx_end;
	bool more;
	uint64_t in, out, dropped, from_here;
	struct capture_if capture;
};

#define UPLINKS_LOG_FDB 10

/**
 * struct fdb_entry - the uplink from which a MAC address was seen last
 */
struct fdb_entry {
	uint8_t mac[6];
	struct uplink *uplink;
	uint64_t time;
};

/**
 * struct uplinks_ops - functions of the fabric for uplinks
 * @receive: a frame of valid length has arrived
 * @is_local: whether it is a MAC address of this process
 * @relieved: no uplink is congested any more
 */
struct uplinks_ops {
	void (*receive)(struct fabric *fabric, const uint8_t *frame, uint32_t len);
	bool (*is_local)(const struct fabric *fabric, const uint8_t mac[6]);
	void (*relieved)(struct fabric *fabric);
};

/**
 * struct uplinks - the uplinks of a fabric
 * @fabric: for @ops
 * @captures: captures of the fabric, in which uplinks are interfaces
 * @parked: senders that wait until no uplink is congested; @resume resumes them
 * @congested: number of congested uplinks
 * @fdb: MAC addresses, hashed
 */
struct uplinks {
	struct loop *loop;
	struct fabric *fabric;
	const struct uplinks_ops *ops;
	struct captures *captures;
	struct list list;
	struct list parked;
	void (*resume)(struct list *node);
	unsigned int congested;
	struct fdb_entry fdb[1 << UPLINKS_LOG_FDB];
};

/* Create the list, without uplinks.  Returns NULL if there is no memory. */
struct uplinks *uplinks_new(struct fabric *fabric, const struct uplinks_ops *ops, struct loop *loop,
			    struct captures *captures);
void uplinks_free(struct uplinks *all);
/* Add one; the options are copied.  Returns 0, or -errno and logs. */
int uplink_add(struct uplinks *all, const struct uplink_options *opts);

/* Send a frame to where its destination was seen last, or to all uplinks of Ethernet. */
void uplinks_send(struct uplinks *all, const uint8_t dmac[6], const struct iovec *iov,
		  unsigned int num, uint32_t len);
/* Was a frame from this address seen at an uplink lately? */
bool uplinks_know(const struct uplinks *all, const uint8_t mac[6]);
/*
 * Whether a sender should wait because an uplink is congested.  Then @resume is called with its
 * @node, out of the list, when none is congested any more; all callers use the same function.
 */
bool uplinks_park(struct uplinks *all, struct list *node, void (*resume)(struct list *node));
/*
 * A round: pass on received frames that wait, and write those that were sent to the sockets.  Returns whether frames were passed on.
 */
bool uplinks_poll(struct uplinks *all);

/*
 * Options, without "--uplink": "stream=unix:PATH|tcp:HOST:PORT[,listen]",
 * "dgram=unix:PATH|udp:HOST:PORT,remote=unix:PATH|udp:HOST:PORT" or "tap=INTERFACE", and for sockets
 * ",link=eth|ib".  Returns NULL, or what is wrong with it; uplink_options_free() is due in any case.
 */
const char *uplink_parse(struct uplink_options *opts, const char *text);
void uplink_options_free(struct uplink_options *opts);

#endif
