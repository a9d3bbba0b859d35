/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet frames, and the QPs that send and receive them (OHCA_QPT_ETH). */

#ifndef OHCAD_ETH_H
#define OHCAD_ETH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "packet/eth_hdr.h"

struct qp;
struct qp_type;

/* Receive a frame for this QP.  Returns false if it had to be dropped. */
bool eth_receive(struct qp *qp, const struct iovec *iov, unsigned int num, uint32_t len);

extern const struct qp_type eth_type;

#endif
