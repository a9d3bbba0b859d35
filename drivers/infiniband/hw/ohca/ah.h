/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: address handles and address vectors.
 */

#ifndef _OHCA_AH_H
#define _OHCA_AH_H

#include <rdma/ib_verbs.h>

#include <ohca/ohca_queue.h>

/**
 * struct ohca_ah - address handle
 * @ibah: ib_core's part
 * @av: address vector, for work requests
 * @mad_sent: the kernel has sent a management datagram with it; under the lock of the send queue of
 *	SMI or GSI
 */
struct ohca_ah {
	struct ib_ah ibah;
	struct ohca_av av;
	bool mad_sent;
};

static inline struct ohca_ah *to_oah(struct ib_ah *ibah)
{
	return container_of(ibah, struct ohca_ah, ibah);
}

int ohca_av_from_ah(struct ohca_av *av, const struct rdma_ah_attr *ah);
void ohca_av_to_ah(struct rdma_ah_attr *ah, const struct ohca_av *av, struct ib_device *ibdev);
int ohca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int ohca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int ohca_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* _OHCA_AH_H */
