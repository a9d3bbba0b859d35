// SPDX-License-Identifier: GPL-2.0
/* Profiles: their features, capabilities and limits. */

#include <string.h>

#include "device/hca.h"
#include "device/profile.h"

#define CAPS_VERBS                                                                                \
	(OHCA_CAP_UD | OHCA_CAP_SRQ | OHCA_CAP_ATOMIC | OHCA_CAP_MEM_MGT | OHCA_CAP_MODIFY_MKEY | \
	 OHCA_CAP_CQ_RESIZE | OHCA_CAP_COUNTERS)

/* Those of the specification have its least limits; their frames fit into one page. */
static const struct hca_profile profiles[] = {
	{
		.name = "all",
		.feats = OHCA_FEAT_SHADOW_DB | OHCA_FEAT_ETH | OHCA_FEAT_UAR_SHIFT,
		.caps = HCA_CAPS_ALL | HCA_CAPS_ETH | HCA_CAPS_IB,
		.max_rd_atomic = HCA_MAX_RD_ATOMIC,
		.max_sge = OHCA_MAX_SGE,
		.max_inline = OHCA_MAX_INLINE,
		.gids = HCA_MAX_GIDS,
		.max_frame = HCA_MAX_FRAME,
		.max_uar = HCA_MAX_UAR,
		.max_pd = HCA_MAX_PD,
		.max_eq = HCA_MAX_EQ,
		.max_cq = HCA_MAX_CQ,
		.max_cqe = HCA_MAX_CQE,
		.max_mkey = HCA_MAX_MKEY,
		.max_qp = HCA_MAX_QP,
		.max_qp_wr = HCA_MAX_QP_WR,
		.max_msg_size = HCA_MAX_MSG,
		.max_srq = HCA_MAX_SRQ,
		.max_srq_wr = HCA_MAX_SRQ_WR,
		.max_fast_reg = HCA_MAX_FAST_REG,
	},
	{
		.name = "minimal-rc",
		.feats = OHCA_FEAT_ETH,
		.shortest = true,
		.max_rd_atomic = 1,
		.max_sge = 1,
		.gids = 1,
		.max_frame = 1522,
		.max_uar = 4,
		.max_pd = 4,
		.max_eq = 2,
		.max_cq = 4,
		.max_cqe = 64,
		.max_mkey = 4,
		.max_qp = 4,
		.max_qp_wr = 16,
		.max_msg_size = 1U << 20,
	},
	{
		.name = "verbs",
		.feats = OHCA_FEAT_ETH,
		.caps = CAPS_VERBS,
		.shortest = true,
		.max_rd_atomic = 16,
		.max_sge = 4,
		.gids = 16,
		.max_frame = 1522,
		.max_uar = 4,
		.max_pd = 64,
		.max_eq = 2,
		.max_cq = 64,
		.max_cqe = 4096,
		.max_mkey = 1024,
		.max_qp = 64,
		.max_qp_wr = 512,
		.max_msg_size = 1U << 30,
		.max_srq = 16,
		.max_srq_wr = 512,
		.max_fast_reg = 256,
	},
};

const struct hca_profile *const hca_profile_all = &profiles[0];

const struct hca_profile *hca_profile_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	}
	return NULL;
}

void hca_profile_apply(struct hca *hca)
{
	const struct hca_profile *profile = hca->next_profile;

	hca->profile = profile;
	hca->offered = profile->feats;
	hca->caps = profile->caps;
	if (!hca_has_link(hca, OHCA_LINK_ETHERNET)) {
		hca->offered &= ~OHCA_FEAT_ETH;
		hca->caps &= ~HCA_CAPS_ETH;
	}
	if (!hca_has_link(hca, OHCA_LINK_INFINIBAND))
		hca->caps &= ~HCA_CAPS_IB;
	if (hca->links_fixed)
		hca->caps &= ~OHCA_CAP_LINK_LAYER;
	hca->max_msg = profile->max_msg_size;
	hca->uars.max = profile->max_uar;
	hca->pds.max = profile->max_pd;
	hca->eqs.max = profile->max_eq;
	hca->cqs.max = profile->max_cq;
	hca->mkeys.max = profile->max_mkey;
	hca->qps.max = profile->max_qp;
	hca->srqs.max = profile->max_srq;
}
