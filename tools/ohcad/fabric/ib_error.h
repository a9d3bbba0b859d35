/* SPDX-License-Identifier: GPL-2.0 */
/* Errors of InfiniBand links (specification volume 1, 16.1.3.5 and 14.2.5.1), which are injected only */

#ifndef OHCAD_IB_ERROR_H
#define OHCAD_IB_ERROR_H

#include "fabric/ib_port.h"

enum ib_error {
	IB_ERROR_SYMBOL, /* SymbolErrorCounter; a physical error */
	IB_ERROR_RECOVERY, /* LinkErrorRecoveryCounter */
	IB_ERROR_DOWNED, /* LinkDownedCounter */
	IB_ERROR_RCV, /* PortRcvErrors; a physical error */
	IB_ERROR_RCV_REMOTE, /* PortRcvRemotePhysicalErrors */
	IB_ERROR_OVERRUN, /* a flow control update period in which buffers overran */
	IB_ERROR_FLOW_CONTROL, /* the watchdog of flow control updates expired: trap 131 */
	IB_NUM_ERRORS
};

/*
 * Inject @num errors of a kind at a port.  When physical errors exceed LocalPhyErrors, LocalLinkIntegrityErrors is incremented
 * and trap 129 sent; after OverrunErrors periods with an overrun, ExcessiveBufferOverrunErrors and trap 130.
 */
void ib_port_error(struct ib_port *ib, enum ib_error error, uint32_t num);

#endif
