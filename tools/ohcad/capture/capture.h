/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: a file of what passes interfaces, for Wireshark and its like.
 *
 * Each packet is recorded at each interface that it passes: a port that sends it, ports that it
 * reaches, an uplink.  What can't be recorded, and what the disk is too slow for, is counted as dropped.
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
 * @serial: the capture that knows it
 * @index: its number there
 * @seen: packets, recorded or not
 * @dropped: those that were not
 * @gap: those of them since the last one that was
 */
struct capture_if {
	struct list link;
	const char *name;
	const uint8_t *mac;
	uint64_t serial;
	uint32_t index;
	uint64_t seen, dropped, gap;
};

/**
 * struct captures - the interfaces that one capture is of
 * @ifs: struct capture_if.link
 * @running: what is recorded now; NULL: nothing is
 * @last: it, or the one before it, or NULL
 */
struct captures {
	struct list ifs;
	struct capture *running, *last;
};

void captures_init(struct captures *captures);
/* All ends. */
void captures_fini(struct captures *captures);

/* One more interface; those with an address come first in the file. */
void capture_if_add(struct captures *captures, struct capture_if *at);
/* It goes: nothing passes it any more. */
void capture_if_del(struct capture_if *at);

/**
 * struct capture_options - what to capture, and where to
 * @snaplen: bytes of each packet at most; 0: all
 * @limit: size of the file, after which the capture ends; 0: none
 */
struct capture_options {
	char *path;
	uint32_t snaplen;
	uint64_t limit;
};

/* NULL, or what is wrong with @snaplen and @limit. */
const char *capture_check(const struct capture_options *opts);
/*
 * Options: "FILE[,snaplen=BYTES][,limit=SIZE]", where SIZE is in bytes or ends with k, M or G.  Returns
 * NULL, or what is wrong with it; capture_options_free() is due in any case.
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
 * @packets: recorded; in the file, unless that has failed
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
 * Begin one; the options are copied.  Returns 0, -EBUSY if one runs, or another -errno: there can be
 * no such file.
 */
int capture_start(struct captures *captures, struct loop *loop, const struct capture_options *opts);
/* End it, with a line in the log; the file is complete.  -ENOENT if none runs. */
int capture_stop(struct captures *captures);
/* False: there has been none. */
bool capture_show(const struct captures *captures, struct capture_status *status);

/* Packets that are made for the capture: is it to be recorded what passes @at? */
bool capture_records(struct capture *capture, struct capture_if *at);
/* Where a packet of @max bytes at most goes; NULL if there is no room. */
uint8_t *capture_packet_begin(struct capture *capture, uint32_t max);
/* The packet of @len bytes is there; false: it was the last one that there is room for. */
bool capture_packet_end(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			uint8_t *data, uint32_t len);
/* @num packets have passed @at, and are not recorded. */
void capture_drop(struct capture *capture, struct capture_if *at, uint32_t num);

/* The slow parts of the functions below. */
void capture_record_frame(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			  const struct iovec *iov, unsigned int num, uint32_t len);
void capture_count_dropped(struct capture *capture, struct capture_if *at);

/* A frame passes @at.  @capture is the one that runs, NULL if there is none. */
static inline void capture_frame(struct capture *capture, struct capture_if *at,
				 enum pcapng_dir dir, const struct iovec *iov, unsigned int num,
				 uint32_t len)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_frame(capture, at, dir, iov, num, len);
}

/* Something that can't be recorded passes @at. */
static inline void capture_dropped(struct capture *capture, struct capture_if *at)
{
	if (__builtin_expect(!!capture, 0))
		capture_count_dropped(capture, at);
}

#endif
