/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams: OHCA_QPT_UD and OHCA_QPT_GSI. */

#ifndef OHCAD_UD_H
#define OHCAD_UD_H

#include "qp/qp.h"

#define UD_MCAST_QPN 0xffffff /* destination QP of multicast packets */
#define UD_GSI_QPN 1
#define UD_GSI_QKEY 0x80010000 /* well known (InfiniBand specification, 10.2.5) */

/**
 * struct datagram - a packet
 * @av: where it goes
 * @from: the GID that it comes from
 * @dest_qpn, @qkey, @psn: headers
 * @cqe: what a completion tells of it: immediate data, source, flags
 * @grh: first piece of @iov
 * @iov: what goes to memory: GRH and payload
 * @num: pieces of it
 * @len: bytes of it
 */
struct datagram {
	const struct ohca_av *av;
	const struct gid_entry *from;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t psn;
	struct ohca_cqe cqe;
	uint8_t grh[OHCA_GRH_LEN];
	struct iovec iov[WQ_MAX_IOV + 1];
	unsigned int num;
	uint32_t len;
};

/* Send datagrams; returns whether there are more. */
bool ud_run(struct qp *qp, uint32_t budget);

/* A datagram for this QP, of type UD or GSI; false if it was dropped. */
bool ud_receive(struct qp *qp, const struct datagram *dg);

/*
 * link.c: carry a datagram to the QPs that it is for, or drop it.  Returns how many bytes were
 * received, all in all.
 */
uint64_t link_send_datagram(struct qp *src, const struct datagram *dg);
/* The same with one that has reached @port; @src is NULL if it has come from an uplink. */
uint64_t link_receive_datagram(struct qp *src, struct port *port, const struct datagram *dg);
/* pkt_fault.c: it goes on, after it has left @src, or has reached @port. */
uint64_t link_forward_datagram(struct qp *src, const struct datagram *dg);
uint64_t link_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg);

#endif
