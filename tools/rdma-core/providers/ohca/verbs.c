// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attributes of the device and of its ports, and its clock.
 */

#include <errno.h>
#include <stdio.h>

#include <util/mmio.h>

#include "ohca.h"

int ohca_query_device(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
		      struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t ver;
	int ret;

	ret = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp, &resp_size);
	if (ret)
		return ret;
	ver = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(ver >> 32 & 0xffff), (unsigned int)(ver >> 16 & 0xffff),
		 (unsigned int)(ver & 0xffff));
	if (ohca_has(ctx, OHCA_CAP_RSS) &&
	    attr_size >= offsetof(struct ibv_device_attr_ex, rss_caps) + sizeof(attr->rss_caps)) {
		attr->rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
		attr->rss_caps.rx_hash_fields_mask = OHCA_RSS_FIELDS;
	}
	return 0;
}

int ohca_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(ctx, port, attr, &cmd, sizeof(cmd));
}

int ohca_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	uint32_t mask = values->comp_mask;

	values->comp_mask = 0;
	if (mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return ohca_errno(EINVAL);
	if (!mask)
		return 0;
	if (!ohca_has(ctx, OHCA_CAP_TIMESTAMP))
		return ohca_errno(EOPNOTSUPP);
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = le64toh(mmio_read64_le(to_octx(ctx)->uar + OHCA_UAR_CLOCK));
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}
