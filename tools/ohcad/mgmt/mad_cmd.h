/* SPDX-License-Identifier: GPL-2.0 */
/* Commands by which the host uses the management agents.  The class also sets fabric->ib_agent. */

#ifndef OHCAD_MAD_CMD_H
#define OHCAD_MAD_CMD_H

extern const struct object_class mad_class;

#endif
