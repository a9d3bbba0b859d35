/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: a file of what passes the ports and uplinks of a fabric, for Wireshark and its like.
 *
 * Each packet is recorded at each interface that it passes: a port that sends it, ports that it
 * reaches, an uplink.  What never was a packet, a train from one port of this process to another one,
 * is made into packets for the file, as a wire would have had them.  What has no form on the wire, and
 * what the disk is too slow for, is counted as dropped.
 */

#ifndef OHCAD_CAPTURE_H
#define OHCAD_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "capture/pcapng.h"

struct capture;
struct datagram;
struct fabric;
struct loop;
struct pkt;
struct qp;

/**
 * struct capture_if - an interface of captures: embedded in the port or uplink
 * @name, @mac: as they are in the file; @mac is NULL for none
 * @serial: the capture that knows it
 * @index: its number there
 * @seen: packets, recorded or not
 * @dropped: those that were not
 * @gap: those of them since the last one that was
 */
struct capture_if {
	const char *name;
	const uint8_t *mac;
	uint64_t serial;
	uint32_t index;
	uint64_t seen, dropped, gap;
};

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
int capture_start(struct fabric *fabric, struct loop *loop, const struct capture_options *opts);
/* End it, with a line in the log; the file is complete.  -ENOENT if none runs. */
int capture_stop(struct fabric *fabric);
/* False: there has been none. */
bool capture_show(const struct fabric *fabric, struct capture_status *status);
/* The fabric ends. */
void capture_fini(struct fabric *fabric);

/* The slow parts of the functions below. */
void capture_record_frame(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			  const struct iovec *iov, unsigned int num, uint32_t len);
void capture_record_train(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			  const struct qp *src, const struct pkt *pkt);
void capture_record_datagram(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			     const struct qp *src, const struct datagram *dg);
void capture_count_dropped(struct capture *capture, struct capture_if *at);

/* A frame passes @at.  @capture is the fabric's, NULL if there is none, as for all of these. */
static inline void capture_frame(struct capture *capture, struct capture_if *at,
				 enum pcapng_dir dir, const struct iovec *iov, unsigned int num,
				 uint32_t len)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_frame(capture, at, dir, iov, num, len);
}

/* A train of @src passes @at. */
static inline void capture_train(struct capture *capture, struct capture_if *at,
				 enum pcapng_dir dir, const struct qp *src, const struct pkt *pkt)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_train(capture, at, dir, src, pkt);
}

/* A datagram of @src passes @at. */
static inline void capture_datagram(struct capture *capture, struct capture_if *at,
				    enum pcapng_dir dir, const struct qp *src,
				    const struct datagram *dg)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_datagram(capture, at, dir, src, dg);
}

/* Something that can't be recorded passes @at. */
static inline void capture_dropped(struct capture *capture, struct capture_if *at)
{
	if (__builtin_expect(!!capture, 0))
		capture_count_dropped(capture, at);
}

#endif
