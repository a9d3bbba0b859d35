/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the counters of InfiniBand ports need to know of packets besides what QPs count: packets that no QP takes, and
 * those that QPs count and were on no link.  None of it is called for packets from one HCA's QP to another one's.
 */

#ifndef OHCAD_LINK_COUNT_H
#define OHCAD_LINK_COUNT_H

#include <stdbool.h>

#include "fabric/ib_route.h"

struct datagram;
struct ohca_av;
struct pkt;
struct port;
struct qp;

/* What @dg is to its route.  The head is what a violation of its P_Key reports. */
void link_describe(struct ib_packets *packet, const struct datagram *dg);

/* A burst, or a datagram, of @src that no QP takes: counted where it ends.  Any link layer */
void link_lose(struct qp *src, const struct pkt *pkt);
void link_lose_datagram(struct qp *src, const struct datagram *dg);

/* A packet of @src, a burst of one, has this P_Key instead of its own.  False: it is lost for that, and counted. */
bool link_takes_pkey(struct qp *src, const struct pkt *pkt, uint16_t pkey);

/* A burst has come from a QP of the HCA to another one, or the same. */
void link_count_local(const struct qp *src, const struct pkt *pkt);

/* The cables between switches that packets by @av from @port pass; NULL: none */
struct ib_hops *link_hops(struct port *port, const struct ohca_av *av, uint16_t pkey);
/* A datagram of @src, to one port, passes them. */
void link_count_hops(const struct qp *src, const struct datagram *dg);

/* A datagram has come to @port, where @takers QPs count it; @src is NULL if it has come from an uplink. */
void link_count_arrival(const struct qp *src, struct port *port, const struct datagram *dg,
			unsigned int takers);

#endif
