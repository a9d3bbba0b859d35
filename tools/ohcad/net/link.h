/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The path from a QP to its peer, and of datagrams to their destinations.  Packets that arrive are
 * passed to qp->ops->receive() and receive_datagram().
 */

#ifndef OHCAD_LINK_H
#define OHCAD_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bth_packet;
struct datagram;
struct fabric;
struct mcast_rest;
struct pkt;
struct port;
struct qp;

/* Why packets of a QP are refused where they arrive: qp->refused */
#define REFUSED_PKEY 0x1 /* the peer is in another partition */
#define REFUSED_MIG_REQ 0x2 /* they ask the peer to migrate, which it can't */

/**
 * struct link_hooks - functions between the QPs of a fabric that may drop, delay or change packets:
 *	fabric->link_hooks, NULL if there are none.  They pass packets on to link_forward(),
 *	link_arrive(), and so on
 * @between: whether packets from @src to @dst, NULL if that is behind an uplink, take the hooked
 *	path
 * @send: a burst leaves @src: link_forward()
 * @arrive: a packet from @src has reached @dst: link_arrive()
 * @send_datagram, @arrive_datagram: likewise; @src is NULL if it has come from an uplink.  Return the
 *	bytes that were received by now
 * @frame: a good packet for @port has come from an uplink.  False: it goes on; else that is all, and if
 *	it goes on later it comes to wire_receive_late()
 * @encoded: a packet was encoded for an uplink; @bth: its transport headers and what follows, with the invariant CRC
 * @forget: what waits and came from @src is lost
 */
struct link_hooks {
	bool (*between)(struct fabric *fabric, const struct qp *src, const struct qp *dst);
	void (*send)(struct qp *src, const struct pkt *burst);
	void (*arrive)(struct qp *src, struct qp *dst, const struct pkt *pkt);
	uint64_t (*send_datagram)(struct qp *src, const struct datagram *dg);
	uint64_t (*arrive_datagram)(struct qp *src, struct port *port, const struct datagram *dg);
	bool (*frame)(struct port *port, const struct bth_packet *p, const uint8_t *frame,
		      size_t len);
	void (*encoded)(struct fabric *fabric, uint8_t *bth, size_t len);
	void (*forget)(struct qp *src);
};

/*
 * Send a packet to the peer of @src.  It is dropped if there is no path, or no QP there that is
 * connected to @src.
 */
void link_send(struct qp *src, const struct pkt *pkt);
/* Pass on a packet that has left @src, or has reached its peer. */
void link_forward(struct qp *src, const struct pkt *pkt);
void link_arrive(struct qp *src, const struct pkt *pkt);
/* link_forward() of a packet, a burst of one, that has this P_Key instead of its QP's */
void link_forward_pkey(struct qp *src, const struct pkt *pkt, uint16_t pkey);
/* Whether the atomic operation @pkt can be sent to the peer.  Packets have fewer of them. */
bool link_has_opcode(struct qp *src, const struct pkt *pkt);
/* The peer of @src, if it is in this process and not in error, on either path; else NULL */
struct qp *link_peer(struct qp *src);
/* Drop packets from @src that are still under way: it is reset. */
void link_forget(struct qp *src);

/* Send a datagram to its QPs, or drop it.  Returns the total number of bytes that were received. */
uint64_t link_send_datagram(struct qp *src, const struct datagram *dg);
/*
 * The same in parts: one that goes to many QPs comes to as many of them as a turn of @src has room for.  While rest->first is
 * not NULL, the same datagram is to be sent again.  Packets that rules for faults apply to come to all at once.
 */
uint64_t link_send_part(struct qp *src, const struct datagram *dg, struct mcast_rest *rest);
/* The same for a datagram that has reached @port; @src is NULL if it came from an uplink. */
uint64_t link_receive_datagram(struct qp *src, struct port *port, const struct datagram *dg);
/* Pass on a datagram that has left @src, or has reached @port. */
uint64_t link_forward_datagram(struct qp *src, const struct datagram *dg);
uint64_t link_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg);

#endif
