/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way from a QP to the one that it is connected to, and of datagrams to those that they are for.
 * What arrives goes to qp->ops->receive() and receive_datagram().
 */

#ifndef OHCAD_LINK_H
#define OHCAD_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bth_packet;
struct datagram;
struct fabric;
struct pkt;
struct port;
struct qp;

/* Why packets of a QP are refused where they arrive: qp->refused */
#define REFUSED_PKEY 0x1 /* the peer is in another partition */
#define REFUSED_MIG_REQ 0x2 /* they ask the peer to migrate, which it can't */

/**
 * struct link_hooks - who stands between the QPs of a fabric, and may lose, delay or change packets:
 *	fabric->link_hooks, NULL while nobody does.  Packets that go on come back to link_forward(),
 *	link_arrive(), and so on
 * @between: must packets from @src to @dst, NULL if that is behind an uplink, take the hooked path?
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
 * Carry a packet to the peer of @src, or drop it: there is no way, or no QP there that is
 * connected to @src.
 */
void link_send(struct qp *src, const struct pkt *pkt);
/* A packet goes on that has left @src, or has reached its peer. */
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
/* It goes on, after it has left @src, or has reached @port. */
uint64_t link_forward_datagram(struct qp *src, const struct datagram *dg);
uint64_t link_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg);

#endif
