/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: address handles, and paths.
 */

#ifndef _OHCA_AH_H
#define _OHCA_AH_H

#include <rdma/ib_verbs.h>

#include <ohca/ohca_queue.h>

#include "fw_cmd.h"

/**
 * struct ohca_ah - address handle
 * @ibah: ib_core's part
 * @path: where it leads
 * @av: the same for work requests
 * @mad_sent: the kernel has sent a management datagram there; under the lock of GSI's send queue
 */
struct ohca_ah {
	struct ib_ah ibah;
	struct ohca_path path;
	struct ohca_av av;
	bool mad_sent;
};

static inline struct ohca_ah *to_oah(struct ib_ah *ibah)
{
	return container_of(ibah, struct ohca_ah, ibah);
}

int ohca_path_from_ah(struct ohca_path *path, const struct rdma_ah_attr *ah);
void ohca_path_to_ah(struct rdma_ah_attr *ah, const struct ohca_path *path,
		     struct ib_device *ibdev);
int ohca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int ohca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int ohca_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* _OHCA_AH_H */
