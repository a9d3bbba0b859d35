/* SPDX-License-Identifier: GPL-2.0 */
/* The InfiniBand halves of commands on ports. */

#ifndef OHCAD_IB_PORT_CMD_H
#define OHCAD_IB_PORT_CMD_H

#include "device/cmd.h"
#include "fabric/ib_port.h"

/* OHCA_CMD_QUERY_PORT */
void ib_port_query(const struct ib_port *ib, struct ohca_query_port_out *out);
/* OHCA_CMD_MODIFY_PORT, whose port is checked */
enum ohca_cmd_status ib_port_modify(struct ib_port *ib, struct cmd_ctx *ctx);

#endif
