// SPDX-License-Identifier: GPL-2.0
/* Packets between QPs in captures. */

#include "fabric/port.h"
#include "net/capture_pkt.h"
#include "net/wire.h"
#include "packet/roce.h"
#include "qp/qp.h"

/* All packets of a burst. */
static void record(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
		   const struct roce_path *path, const struct pkt *pkt, uint8_t mtu_shift)
{
	struct iov_pos payload = {.iov = pkt->iov};
	uint32_t i, num = pkt_num_parts(pkt);

	for (i = 0; i < num; i++) {
		struct pkt part = pkt_part(pkt, i, mtu_shift);
		uint8_t *data = capture_packet_begin(c, ROCE_MAX_FRAME);

		if (!data) {
			capture_drop(c, at, num - i);
			return;
		}
		if (!capture_packet_end(c, at, dir, data, roce_encode(data, path, &part, &payload)))
			return;
	}
}

void capture_record_burst(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			  const struct qp *src, const struct pkt *pkt)
{
	struct roce_path path;

	if (!src->hca->port->active || !capture_records(c, at))
		return;
	if (wire_path(src, &path) && roce_atomic_is_plain(pkt))
		record(c, at, dir, &path, pkt, src->mtu_shift);
	else
		capture_drop(c, at, 1);
}

void capture_record_datagram(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			     const struct qp *src, const struct datagram *dg)
{
	struct roce_path path;
	struct pkt pkt;

	if (!src->hca->port->active || !capture_records(c, at))
		return;
	pkt = wire_datagram(src, dg, &path);
	record(c, at, dir, &path, &pkt, src->mtu_shift);
}
