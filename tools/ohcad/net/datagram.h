/* SPDX-License-Identifier: GPL-2.0 */
/* A datagram between QPs of types UD, GSI and SMI. */

#ifndef OHCAD_DATAGRAM_H
#define OHCAD_DATAGRAM_H

#include "ohca/ohca_queue.h"
#include "qp/wq.h"

struct gid_entry;

/**
 * struct datagram - a packet
 * @av: destination
 * @from: source GID; InfiniBand: NULL
 * @dest_qpn, @qkey, @psn, @pkey: headers
 * @cqe: fields for the receiver's completion: immediate data, source, flags
 * @grh: first piece of @iov
 * @iov: what goes to memory: GRH and payload, that with a piece for headers of its own
 * @num: pieces of it
 * @len: bytes of it
 */
struct datagram {
	const struct ohca_av *av;
	const struct gid_entry *from;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t psn;
	uint16_t pkey;
	struct ohca_cqe cqe;
	uint8_t grh[OHCA_GRH_LEN];
	struct iovec iov[SGE_MAX_IOV + 2];
	unsigned int num;
	uint32_t len;
};

#endif
