/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uplinks: through them a fabric is one Ethernet with what is outside of the process: sockets, in the
 * formats of QEMU's -netdev stream (each frame after its length, four bytes, big endian) and -netdev
 * dgram (a frame is a datagram), and tap interfaces of the host.  Frames are not passed on from one
 * uplink to another.
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
#include "fabric/port.h"
#include "net/wire.h"

struct fabric;
struct qp;
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
 * struct uplink_options - what the command line says of an uplink
 * @name: in log lines: the option's value
 * @kind: datagrams go from @local to @remote
 * @listen: the stream's other side connects to @local; else we connect to @remote
 * @ifname: the tap interface's name
 */
struct uplink_options {
	char *name;
	enum uplink_kind kind;
	bool listen;
	struct uplink_addr local, remote;
	char ifname[IFNAMSIZ];
};

/**
 * struct uplink - an uplink
 * @link: in uplinks.list
 * @fd: the socket, or the tap interface's other end; or -1
 * @listen_fd: waits for the other side, or -1
 * @st: the file of @listen_fd
 * @up: frames can be sent
 * @blocked: @tx waits until the socket takes more
 * @congested: so much is in @tx that QPs had better wait
 * @warned: @stall has fired once
 * @stalled: it has been congested for too long: what does not fit is lost
 * @retry: connects again; of what is no stream: sends again
 * @stall: ends congestion
 * @backoff: time to the next try, ns
 * @tx: frames to send, from @tx_start to @tx_end, each after its length
 * @rx: what was received: of a stream, @rx_len bytes that are no whole frame yet
 * @in, @out, @dropped: frames
 * @capture: the uplink in captures
 */
struct uplink {
	struct uplinks *all;
	struct list link;
	struct uplink_options opts;
	int fd, listen_fd;
	struct stat st;
	bool up;
	bool blocked;
	bool congested;
	bool warned;
	bool stalled;
	struct timer retry, stall;
	uint64_t backoff;
	uint8_t *tx;
	size_t tx_start, tx_end;
	uint8_t *rx;
	size_t rx_len;
	uint64_t in, out, dropped;
	struct capture_if capture;
};

#define UPLINKS_LOG_FDB 10

/**
 * struct fdb_entry - where a MAC address was seen last
 */
struct fdb_entry {
	uint8_t mac[6];
	struct uplink *uplink;
	uint64_t time;
};

/**
 * struct uplinks - the uplinks of a fabric
 * @parked: QPs (struct qp.run) that wait until no uplink is congested
 * @congested: uplinks that are
 * @stats: packets of the transport
 * @routes: ports that packets from uplinks have been for
 * @fdb: MAC addresses, hashed
 */
struct uplinks {
	struct loop *loop;
	struct fabric *fabric;
	struct list list;
	struct list parked;
	unsigned int congested;
	struct wire_stats stats;
	struct route routes[1 << PORT_LOG_ROUTES];
	struct fdb_entry fdb[1 << UPLINKS_LOG_FDB];
};

/* The fabric has uplinks from now on: fabric->uplinks.  0 or -ENOMEM. */
int uplinks_init(struct fabric *fabric, struct loop *loop);
void uplinks_fini(struct fabric *fabric);
/* Add one; the options are copied.  Returns 0, or -errno and logs. */
int uplink_add(struct uplinks *all, const struct uplink_options *opts);

/* Send a frame to where its destination was seen last, or to all uplinks. */
void uplinks_send(struct uplinks *all, const uint8_t dmac[6], const struct iovec *iov,
		  unsigned int num, uint32_t len);
/* What was sent in this round goes to the sockets. */
void uplinks_flush(struct uplinks *all);

/*
 * Options, without "--uplink": "stream=unix:PATH|tcp:HOST:PORT[,listen]",
 * "dgram=unix:PATH|udp:HOST:PORT,remote=unix:PATH|udp:HOST:PORT" or "tap=INTERFACE".  Returns NULL, or
 * what is wrong with it; uplink_options_free() is due in any case.
 */
const char *uplink_parse(struct uplink_options *opts, const char *text);
void uplink_options_free(struct uplink_options *opts);

#endif
