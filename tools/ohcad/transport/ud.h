/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams: OHCA_QPT_UD, OHCA_QPT_GSI and OHCA_QPT_SMI. */

#ifndef OHCAD_UD_H
#define OHCAD_UD_H

#include "qp/qp_ops.h"

extern const struct qp_type ud_type, gsi_type, smi_type;

#endif
