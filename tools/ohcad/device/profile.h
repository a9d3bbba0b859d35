/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Profiles of the specification: an HCA that offers no more than one of them, for software that is to
 * work with the least of all devices.
 */

#ifndef OHCAD_PROFILE_H
#define OHCAD_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

/**
 * struct hca_profile - what an HCA offers
 * @name: in the option and the command of this name
 * @feats: OHCA_FEAT_*, without those that do not go with its link layer
 * @caps: OHCA_CAP_*, likewise
 * @shortest: outputs of commands have their shortest forms, OHCA_*_OUT_MIN
 * @gids: entries of the GID table of an Ethernet port
 * @max_frame: bytes of the largest frame of an Ethernet port
 *
 * The other members are the limits of these names, without the capabilities that they belong to.
 */
struct hca_profile {
	const char *name;
	uint64_t feats;
	uint64_t caps;
	bool shortest;
	uint8_t max_rd_atomic;
	uint16_t max_sge;
	uint16_t max_inline;
	uint16_t gids;
	uint32_t max_frame;
	uint32_t max_uar;
	uint32_t max_pd;
	uint32_t max_eq;
	uint32_t max_cq;
	uint32_t max_cqe;
	uint32_t max_mkey;
	uint32_t max_qp;
	uint32_t max_qp_wr;
	uint32_t max_msg_size;
	uint32_t max_srq;
	uint32_t max_srq_wr;
	uint32_t max_fast_reg;
};

/* The one that offers everything, which an HCA has if it is given no other one */
extern const struct hca_profile *const hca_profile_all;

/* Returns NULL if there is none of this name. */
const struct hca_profile *hca_profile_find(const char *name);

/* The HCA has no objects: it offers what hca->next_profile has from now on. */
void hca_profile_apply(struct hca *hca);

#endif
