/* SPDX-License-Identifier: GPL-2.0 */
/* Commands of the host for the management agents, which come to be with the first HCA. */

#ifndef OHCAD_MAD_CMD_H
#define OHCAD_MAD_CMD_H

extern const struct object_class mad_class;

#endif
