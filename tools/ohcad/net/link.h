/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way from a QP to the one that it is connected to, and of datagrams to those that they are for.
 * What arrives goes to qp->ops->receive() and receive_datagram().
 */

#ifndef OHCAD_LINK_H
#define OHCAD_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct datagram;
struct pkt;
struct port;
struct qp;

/*
 * Carry a packet to the peer of @src, or drop it: there is no way, or no QP there that is
 * connected to @src.
 */
void link_send(struct qp *src, const struct pkt *pkt);
/* pkt_fault.c: a packet goes on that has left @src, or has reached its peer. */
void link_forward(struct qp *src, const struct pkt *pkt);
void link_arrive(struct qp *src, const struct pkt *pkt);
/* Can the atomic operation @pkt be sent to the peer?  There are fewer of them on the wire. */
bool link_has_opcode(struct qp *src, const struct pkt *pkt);
/* The peer of @src, if it is in this process and alive, whichever way packets take; else NULL. */
struct qp *link_peer(struct qp *src);
/* What waits on its way from @src is lost: reset. */
void link_forget(struct qp *src);

/*
 * Carry a datagram to the QPs that it is for, or drop it.  Returns how many bytes were received,
 * all in all.
 */
uint64_t link_send_datagram(struct qp *src, const struct datagram *dg);
/* The same with one that has reached @port; @src is NULL if it has come from an uplink. */
uint64_t link_receive_datagram(struct qp *src, struct port *port, const struct datagram *dg);
/* pkt_fault.c: it goes on, after it has left @src, or has reached @port. */
uint64_t link_forward_datagram(struct qp *src, const struct datagram *dg);
uint64_t link_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg);

#endif
