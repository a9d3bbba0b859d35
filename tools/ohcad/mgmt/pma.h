/* SPDX-License-Identifier: GPL-2.0 */
/* The performance management agent of a node (InfiniBand specification volume 1, 16.1). */

#ifndef OHCAD_PMA_H
#define OHCAD_PMA_H

#include "fabric/ib_port.h"
#include "packet/mad.h"

/**
 * struct pma_sums - a summary of the counters that the agent returns for a port
 * @xmit_data, @rcv_data: PortXmitData and PortRcvData, of 64 bits: units of 4 bytes
 * @errors: the sum of the error counters of PortCounters, without those that count where nothing is wrong:
 *	LinkDownedCounter, and PortRcvSwitchRelayErrors, which has multicast packets for groups without other members
 */
struct pma_sums {
	uint64_t xmit_data, rcv_data;
	uint64_t errors;
};

/* Sum up the counters of a port since the performance manager has reset them. */
void pma_sum(const struct ib_port *ib, struct pma_sums *sums);

/* Process a datagram of the performance management class at @at.  OHCA_MAD_REPLY: @p->mad is the response. */
enum ohca_mad_result pma_process(struct ib_port *at, struct mad_packet *p);

#endif
