/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What older releases of rdma-core lack.  CMakeLists.txt, which knows the release, defines
 *   OHCA_NO_FLUSH        before 45: verbs have no flush
 *   OHCA_NO_DMABUF_ATTR  before 54: ibv_cmd_reg_dmabuf_mr() takes no attributes of the driver
 */
#ifndef OHCA_COMPAT_H
#define OHCA_COMPAT_H

#include <infiniband/driver.h>

#ifdef OHCA_NO_FLUSH
#define OHCA_OPS_FLUSH 0U
#else
#define OHCA_OPS_FLUSH (1U << IBV_WR_FLUSH)
#endif

#ifdef OHCA_NO_DMABUF_ATTR
#define ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr, driver) \
	ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr)
#endif

#endif
