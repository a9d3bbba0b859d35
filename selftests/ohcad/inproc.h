/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device in the test program, instead of client.c and server.c: the same functions without a
 * socket.  There is one thread: the device runs while the driver waits for it (each sched_yield()
 * is a round of its loop).
 *
 * With OHCAD_WIRE in the environment each HCA has a fabric of its own, and they are joined by
 * uplinks, of the kind that it says (stream, dgram, tcp, udp): all packets between them are on the
 * wire.  With OHCAD_LINK=ib they are InfiniBand, as in server.c.  The kind tap is a tap interface for each, INPROC_TAP, that the test has to join.  With OHCAD_FAULT, a rule for packets, all of them come by pkt_fault.c.
 */

#ifndef SELFTESTS_OHCAD_INPROC_H
#define SELFTESTS_OHCAD_INPROC_H

#include "device/quota.h"
#include "fabric/owner.h"
#include "transport/rc.h"
#include "rig.h"

#define INPROC_TAP "ohcatap%u"

/* As server_start(), with InfiniBand ports */
struct server *inproc_start_ib(unsigned int num);
/* As server_start(): @eth HCAs with Ethernet ports, then @ib with InfiniBand ports.  Not with OHCAD_WIRE */
struct server *inproc_start_both(unsigned int eth, unsigned int ib);
/* The same with several ports, of these link layers: OHCA_LINK_* */
struct server *inproc_start_ports(unsigned int num, const uint8_t *links, uint8_t num_ports);

/* The same as the HCAs of a topology, a net file of this text, in its order */
struct server *inproc_start_topology(unsigned int num, const char *text);

/* One round of the device's loop. */
void inproc_step(void);
/* Only the HCAs' part of the round, without timers and descriptors: for benchmarks. */
void inproc_poll(void);
/* Run rounds until the device has nothing more to do. */
void inproc_settle(void);
/* The addresses of the HCAs of the next server */
extern struct owner_options inproc_owner[SERVER_MAX_HCAS];
/* Their quotas */
extern struct quota_options inproc_quotas[SERVER_MAX_HCAS];
/* Called in every round, before the device runs. */
extern void (*inproc_hook)(void);
/* Called for each interrupt; hca->fn is the function that raises it. */
extern void (*inproc_interrupt)(struct pci_fn *fn);

struct hca *inproc_hca(unsigned int i);
struct fabric *inproc_fabric(unsigned int i);
/* Add one more uplink; @text is the option's value. */
void inproc_add_uplink(struct fabric *fabric, const char *text);
/* Map the memory again that vu_dma_unmap() has unmapped. */
void inproc_map(struct vu *vu);
/* May the HCA use the bus? */
void inproc_set_bus_master(struct hca *hca, bool on);
/* As rig_renew(); QPs then have the same numbers again as in a device that was just started. */
void inproc_renew(struct rig *rig);
/* The device's object of a QP. */
struct qp *inproc_qp(const struct rig_qp *qp);

#endif
