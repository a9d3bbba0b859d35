/* SPDX-License-Identifier: GPL-2.0 */
/* The part of a subnet manager that HCAs with InfiniBand ports need, from QP 0 of the first one. */

#ifndef SELFTESTS_OHCAD_SUBNET_H
#define SELFTESTS_OHCAD_SUBNET_H

#include "rig.h"
#include "packet/mad.h"

/* Do the HCAs of the device have InfiniBand ports?  OHCAD_LINK=ib in the environment. */
bool subnet_used(void);

/**
 * struct subnet - the subnet manager
 * @qp: QP 0 of @hca
 * @buf: sent packets are at its beginning, received ones follow
 */
struct subnet {
	struct rig_hca *hca;
	struct rig_qp *qp;
	uint64_t addr;
	uint8_t *buf;
};

/* The QP is in RTS. */
void subnet_open(struct subnet *subnet, struct rig_hca *hca);

/*
 * One request, on the directed route @path of @hops hops: 0: the HCA itself, 1: {1}: the switch, 2:
 * {1, n}: the HCA number n.  @data is the attribute, and is replaced by the attribute of the
 * response.  Returns the status of the response, without the direction bit.
 */
uint16_t subnet_request(struct subnet *subnet, const uint8_t *path, unsigned int hops,
			uint8_t method, uint16_t attr, uint32_t mod, uint8_t data[SMP_DATA_LEN]);

/* All ports become active, also those of uplinks between switches: HCA number i, from 0, gets the LID i + 1. */
void subnet_up(struct subnet *subnet, unsigned int num_hcas);

#endif
