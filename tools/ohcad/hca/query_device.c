// SPDX-License-Identifier: GPL-2.0
/* OHCA_CMD_QUERY_DEVICE: attributes and limits of the device. */

#include <endian.h>

#include "device/object.h"
#include "device/profile.h"
#include "fabric/ib_node.h"
#include "hca/adapter.h"
#include "mem/dm.h"

#define FW_VERSION (1ULL << 32) /* 1.0.0 */
#define CLOCK_KHZ 1000000 /* frequency of loop_clock() */

/* That of InfiniBand ports may be one of a topology. */
static uint64_t node_guid(const struct hca *hca)
{
	const struct ib_node *node = ib_hca_node(hca);

	return node ? node->guid : ib_guid(hca->mac, IB_GUID_NODE);
}

/* The limits that belong to a capability: 0 without it */
static void put_cap_limits(const struct hca *hca, struct ohca_query_device_out *out)
{
	uint64_t caps = hca_caps(hca);

	if (caps & OHCA_CAP_MCAST) {
		out->max_mcast = htole32(HCA_MAX_MCAST);
		out->max_mcast_qp = htole32(HCA_MAX_MCAST_QP);
	}
	if (caps & OHCA_CAP_SRQ) {
		out->max_srq = htole32(hca->profile->max_srq);
		out->max_srq_wr = htole32(hca->profile->max_srq_wr);
	}
	if (caps & OHCA_CAP_RSS) {
		out->max_ind_tbl = htole32(HCA_MAX_IND_TBL);
		out->log_max_ind_tbl = HCA_LOG_MAX_IND_TBL;
	}
	if (caps & OHCA_CAP_MEM_MGT)
		out->max_fast_reg = htole32(hca->profile->max_fast_reg);
	if (caps & OHCA_CAP_COUNTERS)
		out->max_counters = htole32(HCA_MAX_COUNTERS);
	if (caps & OHCA_CAP_XRC)
		out->max_xrcd = htole32(HCA_MAX_XRCD);
	if (caps & OHCA_CAP_TM)
		out->max_tags = htole32(HCA_MAX_TAGS);
	if (caps & OHCA_CAP_TIMESTAMP)
		out->clock_khz = htole32(CLOCK_KHZ);
	if (caps & OHCA_CAP_DM)
		out->dm_pages = htole32(DM_PAGES);
}

static enum ohca_cmd_status cmd_query_device(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct hca_profile *profile = hca->profile;
	struct ohca_query_device_out *out = ctx->out;

	out->fw_ver = htole64(FW_VERSION);
	out->node_guid = htobe64(node_guid(hca));
	out->max_mr_size = htole64(HCA_MAX_MR);
	out->page_size_cap = htole64((1ULL << 41) - (1ULL << OHCA_XLT_PAGE_SHIFT));
	out->reserved_lkey = htole32(HCA_RESERVED_LKEY);
	out->max_uar = htole32(hca->uars.max);
	out->max_pd = htole32(profile->max_pd);
	out->max_eq = htole32(profile->max_eq);
	out->max_cq = htole32(profile->max_cq);
	out->max_cqe = htole32(profile->max_cqe);
	out->max_mkey = htole32(profile->max_mkey);
	out->max_qp = htole32(profile->max_qp);
	out->max_qp_wr = htole32(profile->max_qp_wr);
	out->max_msg_size = htole32(profile->max_msg_size);
	out->max_send_sge = htole16(profile->max_sge);
	out->max_recv_sge = htole16(profile->max_sge);
	out->max_inline = htole16(profile->max_inline);
	out->max_rd_atomic = profile->max_rd_atomic;
	out->num_ports = hca->num_ports;
	out->hw_ver = htole32(OHCA_PCI_REVISION);
	out->caps = htole64(hca_caps(hca));
	put_cap_limits(hca, out);
	return OHCA_CMD_OK;
}

static const struct cmd_desc device_cmds[] = {
	CMD_DESC(QUERY_DEVICE, cmd_query_device, 0, sizeof(struct ohca_query_device_out),
		 .out_min = OHCA_QUERY_DEVICE_OUT_MIN),
};

const struct object_class device_class = {
	OBJECT_CMDS(device_cmds),
};
