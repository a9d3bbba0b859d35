/* SPDX-License-Identifier: GPL-2.0 */
/* Two fabrics inside of the test program, each with a switch and an HCA, and an uplink of InfiniBand between them. */

#ifndef SELFTESTS_OHCAD_IB_WIRED_H
#define SELFTESTS_OHCAD_IB_WIRED_H

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_switch.h"
#include "fabric/ib_uplink.h"
#include "fabric/uplink.h"
#include "hcas.h"
#include "inproc.h"
#include "net/wire.h"
#include "pair.h"

#define UPLINK_PORT 2 /* of each switch: the HCA is at port 1 */
#define SW_LID(i) (0x10 + (i))
#define LID(i) ((i) + 1) /* of the HCA, as subnet_up() has it */
#define LEN 100

/* With ib_wired_start_subnet(), or NULL */
extern struct rig *rig;

/* Of the fabric @i */
struct ib_switch *sw(unsigned int i);
struct ib_port *uplink_port(unsigned int i);
struct uplink *uplink(unsigned int i);
struct wire_stats *stats(unsigned int i);

/* Time is that of inproc_clock.h.  The uplink is of the kind *@state, if that is not NULL, else a stream. */
int ib_wired_start_kind(void **state);
int ib_wired_start(void **state);
/* And all ports are active; switches have LIDs too. */
int ib_wired_start_subnet(void **state);
int ib_wired_stop(void **state);

/**
 * struct ud - a datagram QP of each HCA, and memory
 */
struct ud {
	struct rig_qp *qp[2];
	struct rig_mr *mr[2];
	struct ohca_av av;
};

/* From the first HCA to the second one; the memory of the first has LEN bytes to send. */
struct ud open_ud(void);
/* Post a receive. */
void recv_at(struct ud *ud, unsigned int i);

#endif
