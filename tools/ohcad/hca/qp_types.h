/* SPDX-License-Identifier: GPL-2.0 */
/* The types of QPs: hca->qp_types. */

#ifndef OHCAD_QP_TYPES_H
#define OHCAD_QP_TYPES_H

#include "qp/qp_ops.h"

extern const struct qp_type *const hca_qp_types[QP_NUM_TYPES];

#endif
