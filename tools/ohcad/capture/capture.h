/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: records the packets that pass interfaces in a file, for Wireshark and the like.
 *
 * Each packet is recorded at each interface that it passes: a port that sends it, ports that it
 * reaches, an uplink.  Packets that can't be recorded, or that the disk is too slow for, count as
 * dropped.
 */

#ifndef OHCAD_CAPTURE_H
#define OHCAD_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/list.h"
#include "capture/pcapng.h"

struct capture;
struct loop;

/**
 * struct capture_if - an interface: embedded in the port or uplink
 * @link: in captures.ifs
 * @name, @mac: as they are in the file; @mac is NULL for none
 * @infiniband: of InfiniBand packets, not Ethernet frames
 * @serial: struct capture.serial of the capture that it has a number in
 * @index: its number there
 * @seen: packets, recorded or not
 * @dropped: packets that were not recorded
 * @gap: packets dropped since the last one that was recorded
 */
struct capture_if {
	struct list link;
	const char *name;
	const uint8_t *mac;
	bool infiniband;
	uint64_t serial;
	uint32_t index;
	uint64_t seen, dropped, gap;
};

/**
 * struct captures - interfaces, and the capture of them
 * @ifs: struct capture_if.link
 * @running: the capture that records now, or NULL
 * @last: @running, or the last capture that ended, or NULL
 */
struct captures {
	struct list ifs;
	struct capture *running, *last;
};

void captures_init(struct captures *captures);
/* End the capture, and free the last one. */
void captures_fini(struct captures *captures);

/* Add an interface; those with an address come first in the file. */
void capture_if_add(struct captures *captures, struct capture_if *at);
/* Remove the interface: no packets pass it any more. */
void capture_if_del(struct capture_if *at);

/* The path that stands for a descriptor that was passed */
#define CAPTURE_PASSED "-"

/**
 * struct capture_options - what to capture, and where to
 * @path: the file; CAPTURE_PASSED: @fd, which the capture takes, if it begins
 * @snaplen: bytes of each packet at most; 0: all
 * @limit: size of the file, after which the capture ends; 0: none
 */
struct capture_options {
	char *path;
	int fd;
	uint32_t snaplen;
	uint64_t limit;
};

/* Returns NULL, or what is wrong with @snaplen and @limit. */
const char *capture_check(const struct capture_options *opts);
/*
 * Options: "FILE[,snaplen=BYTES][,limit=SIZE]", where SIZE is in bytes or ends with k, M or G.  FILE may be CAPTURE_PASSED: the
 * standard output.
 * Returns NULL, or what is wrong with it; capture_options_free() is due in any case.
 */
const char *capture_parse(struct capture_options *opts, const char *text);
void capture_options_free(struct capture_options *opts);

enum capture_state {
	CAPTURE_RUNNING,
	CAPTURE_STOPPED, /* on request */
	CAPTURE_FULL, /* at its limit */
	CAPTURE_FAILED, /* the file takes no more */
};

/**
 * struct capture_status - a capture that runs, or the last one that did
 * @opts: belongs to the capture
 * @error: CAPTURE_FAILED: errno
 * @packets: recorded; they are in the file, unless writing has failed
 * @dropped: not recorded
 * @bytes: of the file, as of @packets
 */
struct capture_status {
	const struct capture_options *opts;
	enum capture_state state;
	int error;
	uint64_t packets, dropped, bytes;
};

/*
 * Begin a capture; the options are copied.  Returns 0, -EBUSY if one runs, or another -errno if the
 * file can't be made.
 */
int capture_start(struct captures *captures, struct loop *loop, const struct capture_options *opts);
/* End the capture and log that; then the file is complete.  -ENOENT if none runs. */
int capture_stop(struct captures *captures);
/* Returns false if there has been no capture. */
bool capture_show(const struct captures *captures, struct capture_status *status);

/* For packets that are made for the capture only: does it record @at? */
bool capture_records(struct capture *capture, struct capture_if *at);
/* Returns where to write a packet of at most @max bytes; NULL if there is no room. */
uint8_t *capture_packet_begin(struct capture *capture, const struct capture_if *at, uint32_t max);
/*
 * The packet of @len bytes was written there.  Returns false if there is no room for another one.
 */
bool capture_packet_end(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			uint8_t *data, uint32_t len);
/* Count @num packets that have passed @at and are not recorded. */
void capture_drop(struct capture *capture, struct capture_if *at, uint32_t num);

/* The slow parts of the functions below. */
void capture_record_frame(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			  const struct iovec *iov, unsigned int num, uint32_t len);
void capture_count_dropped(struct capture *capture, struct capture_if *at);

/* Record a frame that passes @at.  @capture is the one that runs, NULL if there is none. */
static inline void capture_frame(struct capture *capture, struct capture_if *at,
				 enum pcapng_dir dir, const struct iovec *iov, unsigned int num,
				 uint32_t len)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_frame(capture, at, dir, iov, num, len);
}

/* Count a packet that passes @at and can't be recorded. */
static inline void capture_dropped(struct capture *capture, struct capture_if *at)
{
	if (__builtin_expect(!!capture, 0))
		capture_count_dropped(capture, at);
}

#endif
