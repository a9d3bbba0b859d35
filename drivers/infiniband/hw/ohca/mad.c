// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: management datagrams that ib_mad offers to the driver before its agents.
 *
 * For an Ethernet port, requests for the port's counters (performance management) are answered
 * here.  For an InfiniBand port, the device has agents for subnet management and performance
 * management.
 */

#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "ohca.h"
#include "verbs.h"

#define OHCA_PMA_VERSION 1
#define OHCA_PMA_DATA 40 /* offset of the attribute in the MAD's data */
#define OHCA_PMA_RESP_TIME 18 /* 4.096 us * 2^18: one second */

static void ohca_pma_info(struct ib_class_port_info *info)
{
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = OHCA_PMA_VERSION;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	ib_set_cpi_resp_time(info, OHCA_PMA_RESP_TIME);
}

/* Counters of 32 bits stay at their maximum. */
static __be32 ohca_pma_sat(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static void ohca_pma_counters(struct ib_pma_portcounters *out, u32 port, const u64 *value)
{
	out->port_select = port;
	out->port_xmit_data = ohca_pma_sat(value[OHCA_CNT_TX_BYTES] / 4);
	out->port_rcv_data = ohca_pma_sat(value[OHCA_CNT_RX_BYTES] / 4);
	out->port_xmit_packets = ohca_pma_sat(value[OHCA_CNT_TX_PKTS]);
	out->port_rcv_packets = ohca_pma_sat(value[OHCA_CNT_RX_PKTS]);
}

static void ohca_pma_counters_ext(struct ib_pma_portcounters_ext *out, u32 port, const u64 *value)
{
	out->port_select = port;
	out->port_xmit_data = cpu_to_be64(value[OHCA_CNT_TX_BYTES] / 4);
	out->port_rcv_data = cpu_to_be64(value[OHCA_CNT_RX_BYTES] / 4);
	out->port_xmit_packets = cpu_to_be64(value[OHCA_CNT_TX_PKTS]);
	out->port_rcv_packets = cpu_to_be64(value[OHCA_CNT_RX_PKTS]);
	out->port_unicast_xmit_packets =
		cpu_to_be64(value[OHCA_CNT_TX_PKTS] - value[OHCA_CNT_TX_MCAST]);
	out->port_unicast_rcv_packets =
		cpu_to_be64(value[OHCA_CNT_RX_PKTS] - value[OHCA_CNT_RX_MCAST]);
	out->port_multicast_xmit_packets = cpu_to_be64(value[OHCA_CNT_TX_MCAST]);
	out->port_multicast_rcv_packets = cpu_to_be64(value[OHCA_CNT_RX_MCAST]);
}

/* Answer a request for the counters; @out has the header of the answer already. */
static int ohca_pma_get(struct ohca_dev *dev, u32 port, struct ib_mad *out)
{
	void *data = out->data + OHCA_PMA_DATA;
	u64 value[OHCA_NUM_COUNTERS];

	switch (out->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		ohca_pma_info(data);
		break;
	case IB_PMA_PORT_COUNTERS:
		if (ohca_cmd_query_counters(dev, OHCA_PORT_COUNTERS, port, value))
			return IB_MAD_RESULT_FAILURE;
		ohca_pma_counters(data, port, value);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (ohca_cmd_query_counters(dev, OHCA_PORT_COUNTERS, port, value))
			return IB_MAD_RESULT_FAILURE;
		ohca_pma_counters_ext(data, port, value);
		break;
	default:
		out->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
		break;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

int ohca_eth_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			 const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			 size_t *out_len, u16 *out_pkey_index)
{
	/* All other datagrams are for ib_mad's agents. */
	if (!(to_odev(ibdev)->attr.caps & OHCA_CAP_COUNTERS) ||
	    in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = 0;
	return ohca_pma_get(to_odev(ibdev), port, out);
}

/* Whether the datagram is for an agent of the device */
static bool ohca_mad_is_agents(const struct ib_mad_hdr *hdr)
{
	switch (hdr->mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
	case IB_MGMT_CLASS_PERF_MGMT:
		return hdr->method == IB_MGMT_METHOD_GET || hdr->method == IB_MGMT_METHOD_SET ||
		       hdr->method == IB_MGMT_METHOD_TRAP_REPRESS;
	default:
		return false;
	}
}

/*
 * Sleeps: the caller is ib_mad's work queue, or a program by ib_umad or sysfs.  Datagrams that the
 * device's agents do not handle, such as SMInfo, are for agents in software.
 */
int ohca_ib_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			size_t *out_len, u16 *out_pkey_index)
{
	struct ohca_mad_in cmd = {
		.port = port,
		.flags = flags & IB_MAD_IGNORE_MKEY ? OHCA_MAD_IGNORE_MKEY : 0,
	};
	struct ohca_mad_out res;

	static_assert(sizeof(cmd.mad) == sizeof(*in) && sizeof(res.mad) == sizeof(*out));

	if (!ohca_mad_is_agents(&in->mad_hdr))
		return IB_MAD_RESULT_SUCCESS;

	if (wc) {
		cmd.slid = cpu_to_le16(wc->slid);
		cmd.src_qpn = cpu_to_le32(wc->src_qp);
		cmd.pkey_index = cpu_to_le16(wc->pkey_index);
		cmd.sl = wc->sl;
		cmd.path_bits = wc->dlid_path_bits;
	}
	memcpy(cmd.mad, in, sizeof(cmd.mad));
	if (ohca_cmd_mad(to_odev(ibdev), &cmd, &res))
		return IB_MAD_RESULT_FAILURE;

	switch (res.result) {
	case OHCA_MAD_PASS:
		return IB_MAD_RESULT_SUCCESS;
	case OHCA_MAD_REPLY:
		memcpy(out, res.mad, sizeof(*out));
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case OHCA_MAD_CONSUMED:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	default:
		return IB_MAD_RESULT_FAILURE;
	}
}
