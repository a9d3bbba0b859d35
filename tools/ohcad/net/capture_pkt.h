/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets between QPs in captures.  A burst between two ports of this process is delivered without
 * frames.  For the capture it is divided into packets as on a wire.
 */

#ifndef OHCAD_CAPTURE_PKT_H
#define OHCAD_CAPTURE_PKT_H

#include "capture/capture.h"

struct datagram;
struct pkt;
struct qp;

/* The slow parts of the functions below. */
void capture_record_burst(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			  const struct qp *src, const struct pkt *pkt);
void capture_record_datagram(struct capture *capture, struct capture_if *at, enum pcapng_dir dir,
			     const struct qp *src, const struct datagram *dg);

/* A burst of @src passes @at.  @capture is the one that runs, NULL if there is none. */
static inline void capture_burst(struct capture *capture, struct capture_if *at,
				 enum pcapng_dir dir, const struct qp *src, const struct pkt *pkt)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_burst(capture, at, dir, src, pkt);
}

/* A datagram of @src passes @at. */
static inline void capture_datagram(struct capture *capture, struct capture_if *at,
				    enum pcapng_dir dir, const struct qp *src,
				    const struct datagram *dg)
{
	if (__builtin_expect(!!capture, 0))
		capture_record_datagram(capture, at, dir, src, dg);
}

#endif
