// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the ib_device, and the verbs of device, ports, contexts and protection domains.
 */

#include <linux/pci.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ohca-abi.h>

#include "ah.h"
#include "cq.h"
#include "en.h"
#include "mcast.h"
#include "mr.h"
#include "odp.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "qp.h"
#include "rss.h"
#include "srq.h"
#include "ucontext.h"
#include "verbs.h"
#include "wr.h"

/* 4.096 us * 2^15 = 134 ms: the device may be a process that has to wait for a processor */
#define OHCA_CA_ACK_DELAY 15

/* Capabilities of ib_core for those of the device */
static const struct {
	u64 cap;
	u64 flags;
} ohca_cap_flags[] = {
	{OHCA_CAP_ATOMIC_WRITE, IB_DEVICE_ATOMIC_WRITE},
	{OHCA_CAP_FLUSH, IB_DEVICE_FLUSH_GLOBAL},
	{OHCA_CAP_MEM_MGT, IB_DEVICE_MEM_MGT_EXTENSIONS},
	{OHCA_CAP_MW, IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B},
	{OHCA_CAP_PATH_MIG, IB_DEVICE_AUTO_PATH_MIG},
	{OHCA_CAP_SRQ, IB_DEVICE_SRQ_RESIZE},
	{OHCA_CAP_UD_CSUM, IB_DEVICE_UD_IP_CSUM},
	{OHCA_CAP_XRC, IB_DEVICE_XRC},
};

/* The verbs of ports: ib_core has checked that the port exists, except for the link layer. */

static enum rdma_link_layer ohca_get_link_layer(struct ib_device *ibdev, u32 num)
{
	const struct ohca_port *port = ohca_port(to_odev(ibdev), num);

	return port ? port->link->layer : IB_LINK_LAYER_UNSPECIFIED;
}

static int ohca_get_port_immutable(struct ib_device *ibdev, u32 num,
				   struct ib_port_immutable *immutable)
{
	struct ohca_port *port = ohca_port(to_odev(ibdev), num);

	immutable->core_cap_flags = port->link->core_caps;
	if (port->dev->attr.caps & OHCA_CAP_UD) {
		immutable->core_cap_flags = port->link->core_caps_mad;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	}
	immutable->gid_tbl_len = port->attr.gid_tbl_len;
	immutable->pkey_tbl_len = port->attr.pkey_tbl_len;
	return 0;
}

/* Ports of InfiniBand show it to their subnet, and sysfs to all. */
static int ohca_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr)
{
	struct ohca_dev *dev = to_odev(ibdev);
	int err;

	static_assert(sizeof(dev->node_desc) == sizeof(attr->node_desc));

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;

	err = ohca_cmd_set_node_desc(dev, attr->node_desc);
	if (err)
		return err;

	memcpy(dev->node_desc, attr->node_desc, sizeof(dev->node_desc));
	memcpy(ibdev->node_desc, attr->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static int ohca_modify_port(struct ib_device *ibdev, u32 num, int mask, struct ib_port_modify *attr)
{
	struct ohca_port *port = ohca_port(to_odev(ibdev), num);

	return port->link->modify_port(port, mask, attr);
}

static int ohca_process_mad(struct ib_device *ibdev, int flags, u32 num, const struct ib_wc *wc,
			    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_len, u16 *out_pkey_index)
{
	const struct ohca_port *port = ohca_port(to_odev(ibdev), num);

	return port->link->process_mad(ibdev, flags, num, wc, grh, in, out, out_len,
				       out_pkey_index);
}

static int ohca_query_pkey(struct ib_device *ibdev, u32 num, u16 index, u16 *pkey)
{
	struct ohca_port *port = ohca_port(to_odev(ibdev), num);

	return port->link->query_pkey(port, index, pkey);
}

static int ohca_query_port(struct ib_device *ibdev, u32 num, struct ib_port_attr *attr)
{
	struct ohca_port *port = ohca_port(to_odev(ibdev), num);

	return port->link->query_port(port, attr);
}

/* Of the largest table */
static u16 ohca_max_pkeys(struct ohca_dev *dev)
{
	struct ohca_port *port;
	u16 max = 0;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		max = max(max, port->attr.pkey_tbl_len);
	return max;
}

/* Unreliable types can't wait for pages of a receive buffer. */
static void ohca_query_odp_caps(u64 caps, struct ib_odp_caps *odp)
{
	u32 srq = caps & OHCA_CAP_SRQ ? IB_ODP_SUPPORT_SRQ_RECV : 0;
	u32 rc = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ | srq;

	if (caps & OHCA_CAP_ATOMIC)
		rc |= IB_ODP_SUPPORT_ATOMIC;
	odp->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	odp->per_transport_caps.rc_odp_caps = rc | IB_ODP_SUPPORT_RECV;
	if (caps & OHCA_CAP_UC)
		odp->per_transport_caps.uc_odp_caps = IB_ODP_SUPPORT_SEND;
	if (caps & OHCA_CAP_UD)
		odp->per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_SEND;
	if (caps & OHCA_CAP_XRC)
		odp->per_transport_caps.xrc_odp_caps = rc;
}

/* Attributes of the device that depend on its capabilities */
static void ohca_query_caps(struct ohca_dev *dev, struct ib_device_attr *attr)
{
	const struct ohca_dev_attr *hw = &dev->attr;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ohca_cap_flags); i++)
		if (hw->caps & ohca_cap_flags[i].cap)
			attr->device_cap_flags |= ohca_cap_flags[i].flags;

	if (hw->caps & OHCA_CAP_ATOMIC) {
		attr->atomic_cap = IB_ATOMIC_GLOB;
		attr->masked_atomic_cap = IB_ATOMIC_GLOB;
	}
	if (hw->caps & OHCA_CAP_MEM_MGT)
		attr->max_fast_reg_page_list_len = ohca_max_fast_reg(dev);
	if (hw->caps & OHCA_CAP_MW)
		attr->max_mw = hw->max_mkey;
	if (hw->caps & OHCA_CAP_CQ_MODER) {
		attr->cq_caps.max_cq_moderation_count = U16_MAX;
		attr->cq_caps.max_cq_moderation_period = U16_MAX;
	}
	if (hw->caps & OHCA_CAP_TIMESTAMP) {
		attr->hca_core_clock = hw->clock_khz;
		attr->timestamp_mask = U64_MAX;
	}
	if (hw->caps & OHCA_CAP_UD)
		attr->max_ah = INT_MAX; /* they are in memory only */
	if (hw->caps & OHCA_CAP_UD_LSO)
		attr->kernel_cap_flags |= IBK_UD_TSO;
	if (hw->caps & OHCA_CAP_MCAST) {
		attr->kernel_cap_flags |= IBK_BLOCK_MULTICAST_LOOPBACK;
		attr->max_mcast_grp = hw->max_mcast;
		attr->max_mcast_qp_attach = hw->max_mcast_qp;
		attr->max_total_mcast_qp_attach =
			min_t(u64, (u64)hw->max_mcast * hw->max_mcast_qp, INT_MAX);
	}
	if (hw->caps & OHCA_CAP_RSS) {
		attr->rss_caps.supported_qpts = BIT(IB_QPT_RAW_PACKET);
		attr->rss_caps.max_rwq_indirection_tables = hw->max_ind_tbl;
		attr->rss_caps.max_rwq_indirection_table_size = BIT(hw->log_max_ind_tbl);
		attr->max_wq_type_rq = hw->max_qp;
	}
	if (hw->caps & OHCA_CAP_ODP) {
		attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
		ohca_query_odp_caps(hw->caps, &attr->odp_caps);
	}
	if (hw->caps & OHCA_CAP_SRQ) {
		attr->max_srq = hw->max_srq;
		attr->max_srq_wr = hw->max_srq_wr;
		attr->max_srq_sge = hw->max_recv_sge;
	}
	if (hw->caps & OHCA_CAP_TM)
		attr->tm_caps = (struct ib_tm_caps){
			.max_rndv_hdr_size = OHCA_TM_MAX_RNDV,
			.max_num_tags = ohca_max_tags(dev),
			.flags = IB_TM_CAP_RNDV_RC,
			.max_ops = hw->max_qp_wr,
			.max_sge = OHCA_TM_MAX_SGE,
		};
}

static int ohca_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	const struct ohca_dev_attr *hw = &to_odev(ibdev)->attr;
	struct pci_dev *pdev = to_odev(ibdev)->pdev;
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	*attr = (struct ib_device_attr){
		.fw_ver = hw->fw_ver,
		.sys_image_guid = hw->node_guid,
		.max_mr_size = hw->max_mr_size,
		.page_size_cap = hw->page_size_cap,
		.vendor_id = pdev->vendor,
		.vendor_part_id = pdev->device,
		.hw_ver = hw->hw_ver,
		.max_qp = hw->max_qp,
		.max_qp_wr = hw->max_qp_wr,
		.device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_SYS_IMAGE_GUID,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
		.max_send_sge = hw->max_send_sge,
		.max_recv_sge = hw->max_recv_sge,
		.max_sge_rd = hw->max_send_sge,
		.max_cq = hw->max_cq,
		.max_cqe = hw->max_cqe,
		.max_mr = hw->max_mkey,
		.max_pd = hw->max_pd,
		.max_qp_rd_atom = hw->max_rd_atomic,
		.max_res_rd_atom = min_t(u64, (u64)hw->max_rd_atomic * hw->max_qp, INT_MAX),
		.max_qp_init_rd_atom = hw->max_rd_atomic,
		.atomic_cap = IB_ATOMIC_NONE,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_pkeys = ohca_max_pkeys(to_odev(ibdev)),
		.local_ca_ack_delay = OHCA_CA_ACK_DELAY,
		.max_dm_size = hw->caps & OHCA_CAP_DM ? (u64)hw->dm_pages << OHCA_DM_PAGE_SHIFT : 0,
	};
	ohca_query_caps(to_odev(ibdev), attr);
	return ib_respond_empty_udata(udata);
}

static void ohca_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u64 ver = to_odev(ibdev)->attr.fw_ver;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u", upper_32_bits(ver),
		 lower_32_bits(ver) >> 16, lower_32_bits(ver) & 0xffff);
}

static int ohca_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_alloc_pd_resp resp = {};
	struct ohca_pd *pd = to_opd(ibpd);
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	err = ohca_cmd_alloc_pd(dev, &pd->pdn);
	if (err)
		return udata ? err : ohca_kernel_err(dev, err);

	if (udata) {
		resp.pdn = pd->pdn;
		err = ib_respond_udata(udata, resp);
		if (err)
			goto err_pd;
	}
	return 0;

err_pd:
	ohca_cmd_free_pd(dev, pd->pdn);
	return err;
}

static int ohca_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (ohca_end_later(dev, ohca_udata_context(udata), OHCA_END_PD, to_opd(ibpd)->pdn, NULL))
		return 0;
	if (ohca_cmd_free_pd(dev, to_opd(ibpd)->pdn))
		ohca_fence(dev, "PD not freed");
	return 0;
}

/* In sysfs, where ibstat and ibv_devinfo look */

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "OHCA\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct ohca_dev *dev = rdma_device_to_drv_device(device, struct ohca_ibdev, ibdev)->dev;

	return sysfs_emit(buf, "%x\n", dev->attr.hw_ver);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct ohca_ibdev *ib = rdma_device_to_drv_device(device, struct ohca_ibdev, ibdev);
	struct pci_dev *pdev = ib->dev->pdev;

	return sysfs_emit(buf, "%04x:%04x\n", pdev->subsystem_vendor, pdev->subsystem_device);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *ohca_attrs[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL,
};

static const struct attribute_group ohca_attr_group = {
	.attrs = ohca_attrs,
};

static const struct ib_device_ops ohca_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = OHCA_ABI_VERSION,
#if OHCA_COMPAT_USER_OPS
	.uverbs_robust_udata = true,
#endif

	.alloc_pd = ohca_alloc_pd,
	.alloc_ucontext = ohca_alloc_ucontext,
	.create_cq = OHCA_COMPAT_CREATE_CQ,
	.create_qp = ohca_create_qp,
#if OHCA_COMPAT_USER_OPS
	.create_user_cq = ohca_create_user_cq,
#endif
	.dealloc_pd = ohca_dealloc_pd,
	.dealloc_ucontext = ohca_dealloc_ucontext,
	.dereg_mr = ohca_dereg_mr,
	.destroy_cq = ohca_destroy_cq,
	.destroy_qp = ohca_destroy_qp,
	.device_group = &ohca_attr_group,
	.disassociate_ucontext = ohca_disassociate_ucontext,
	.get_dev_fw_str = ohca_get_dev_fw_str,
	.get_dma_mr = ohca_get_dma_mr,
	.get_link_layer = ohca_get_link_layer,
	.get_port_immutable = ohca_get_port_immutable,
	.mmap = ohca_mmap,
	.mmap_free = ohca_mmap_free,
	.modify_device = ohca_modify_device,
	.modify_port = ohca_modify_port,
	.modify_qp = ohca_modify_qp,
	.poll_cq = ohca_poll_cq,
	.post_recv = ohca_post_recv,
	.post_send = ohca_post_send,
	.process_mad = ohca_process_mad,
	.query_device = ohca_query_device,
	.query_pkey = ohca_query_pkey,
	.query_port = ohca_query_port,
	.query_qp = ohca_query_qp,
	.query_ucontext = ohca_query_ucontext,
	.reg_user_mr = OHCA_COMPAT_OP(reg_user_mr),
	.reg_user_mr_dmabuf = OHCA_COMPAT_OP(reg_user_mr_dmabuf),
	.req_notify_cq = ohca_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, ohca_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, ohca_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, ohca_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ohca_ucontext, ibuc),
};

static const struct ib_device_ops ohca_cq_moder_ops = {
	.modify_cq = ohca_modify_cq,
};

static const struct ib_device_ops ohca_cq_resize_ops = {
	.resize_user_cq = OHCA_COMPAT_OP(resize_user_cq),
};

static const struct ib_device_ops ohca_mem_mgt_ops = {
	.alloc_mr = ohca_alloc_mr,
	.map_mr_sg = ohca_map_mr_sg,
};

static const struct ib_device_ops ohca_modify_mkey_ops = {
	.rereg_user_mr = ohca_rereg_user_mr,
};

static const struct ib_device_ops ohca_mw_ops = {
	.alloc_mw = ohca_alloc_mw,
	.dealloc_mw = ohca_dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, ohca_mw, ibmw),
};

static const struct ib_device_ops ohca_raw_ops = {
	.create_flow = ohca_create_flow,
	.destroy_flow = ohca_destroy_flow,
};

static const struct ib_device_ops ohca_rss_ops = {
	.create_rwq_ind_table = ohca_create_rwq_ind_table,
	.create_wq = ohca_create_wq,
	.destroy_rwq_ind_table = ohca_destroy_rwq_ind_table,
	.destroy_wq = ohca_destroy_wq,
	.modify_wq = ohca_modify_wq,

	INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, ohca_ind_tbl, ibtbl),
};

static const struct ib_device_ops ohca_dm_ops = {
	.alloc_dm = ohca_alloc_dm,
	.dealloc_dm = ohca_dealloc_dm,
	.reg_dm_mr = ohca_reg_dm_mr,
};

static const struct ib_device_ops ohca_mcast_ops = {
	.attach_mcast = ohca_attach_mcast,
	.detach_mcast = ohca_detach_mcast,
};

static const struct ib_device_ops ohca_srq_ops = {
	.create_srq = ohca_create_srq,
	.destroy_srq = ohca_destroy_srq,
	.modify_srq = ohca_modify_srq,
	.post_srq_recv = ohca_post_srq_recv,
	.query_srq = ohca_query_srq,

	INIT_RDMA_OBJ_SIZE(ib_srq, ohca_srq, ibsrq),
};

static const struct ib_device_ops ohca_ud_ops = {
	.create_ah = ohca_create_ah,
	.create_user_ah = ohca_create_ah,
	.destroy_ah = ohca_destroy_ah,
	.query_ah = ohca_query_ah,

	INIT_RDMA_OBJ_SIZE(ib_ah, ohca_ah, ibah),
};

static const struct ib_device_ops ohca_xrc_ops = {
	.alloc_xrcd = ohca_alloc_xrcd,
	.dealloc_xrcd = ohca_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_xrcd, ohca_xrcd, ibxrcd),
};

/* Operations that only devices with a capability have */
static const struct {
	u64 cap;
	const struct ib_device_ops *ops;
} ohca_cap_ops[] = {
	{OHCA_CAP_COUNTERS, &ohca_stats_ops},
	{OHCA_CAP_DM, &ohca_dm_ops},
	{OHCA_CAP_RAW, &ohca_raw_ops},
	{OHCA_CAP_RSS, &ohca_rss_ops},
	{OHCA_CAP_CQ_MODER, &ohca_cq_moder_ops},
	{OHCA_CAP_CQ_RESIZE, &ohca_cq_resize_ops},
	{OHCA_CAP_MEM_MGT, &ohca_mem_mgt_ops},
	{OHCA_CAP_MODIFY_MKEY, &ohca_modify_mkey_ops},
	{OHCA_CAP_MW, &ohca_mw_ops},
	{OHCA_CAP_MCAST, &ohca_mcast_ops},
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
	{OHCA_CAP_ODP, &ohca_odp_ops},
#endif
	{OHCA_CAP_SRQ, &ohca_srq_ops},
	{OHCA_CAP_UD, &ohca_ud_ops},
	{OHCA_CAP_XRC, &ohca_xrc_ops},
};

static void ohca_ib_set_ops(struct ohca_dev *dev, struct ib_device *ibdev)
{
	u32 i;

	ib_set_device_ops(ibdev, &ohca_ops);
	ib_set_device_ops(ibdev, &ohca_restrack_ops);
	if (ohca_has_link(dev, OHCA_LINK_INFINIBAND))
		ib_set_device_ops(ibdev, &ohca_ib_ops);
	if (ohca_has_link(dev, OHCA_LINK_ETHERNET))
		ib_set_device_ops(ibdev, &ohca_eth_ops);
	for (i = 0; i < ARRAY_SIZE(ohca_cap_ops); i++)
		if (dev->attr.caps & ohca_cap_ops[i].cap)
			ib_set_device_ops(ibdev, ohca_cap_ops[i].ops);
}

/* A recovered device gets its old name, unless another device has it now. */
static int ohca_ib_register_name(struct ohca_dev *dev, struct ib_device *ibdev)
{
	int err = ib_register_device(ibdev, dev->ib_name, &dev->pdev->dev);

	if (err != -ENFILE)
		return err;
	return ib_register_device(ibdev, OHCA_IB_NAME, &dev->pdev->dev);
}

static void ohca_ib_drop_netdevs(struct ohca_dev *dev, struct ib_device *ibdev)
{
	struct ohca_port *port;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		ib_device_set_netdev(ibdev, NULL, port->num);
}

static int ohca_ib_set_netdevs(struct ohca_dev *dev, struct ib_device *ibdev)
{
	struct ohca_port *port;
	int err = 0;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port)) {
		err = ib_device_set_netdev(ibdev, port->netdev, port->num);
		if (err)
			break;
	}
	return err;
}

/**
 * ohca_ib_register() - register the device with ib_core
 * @dev: device, fully working; its netdevs, if it has any, are registered
 *
 * Return: 0 or a negative errno
 */
int ohca_ib_register(struct ohca_dev *dev)
{
	struct ohca_ibdev *ib = ib_alloc_device(ohca_ibdev, ibdev);
	struct ib_device *ibdev = &ib->ibdev;
	int err;

	if (!ib)
		return -ENOMEM;

	ib->dev = dev;
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = dev->attr.node_guid;
	ibdev->phys_port_cnt = dev->attr.num_ports;
	ibdev->num_comp_vectors = dev->eqs.ncomp;
	ibdev->local_dma_lkey = dev->attr.reserved_lkey;
	ibdev->dev.parent = &dev->pdev->dev;
	memcpy(ibdev->node_desc, dev->node_desc, sizeof(ibdev->node_desc));
	ohca_ib_set_ops(dev, ibdev);
	ibdev->driver_def = ohca_uapi_defs;

	err = ohca_ib_set_netdevs(dev, ibdev);
	if (err)
		goto err_netdevs;

	dev->ibdev = ibdev;
	err = ohca_ib_register_name(dev, ibdev);
	if (err)
		goto err_register;
	return 0;

err_register:
	dev->ibdev = NULL;
err_netdevs:
	ohca_ib_drop_netdevs(dev, ibdev); /* before the netdevs are removed */
	ib_dealloc_device(ibdev);
	return err;
}

/**
 * ohca_ib_unregister() - unregister the device from ib_core
 * @dev: device
 *
 * All objects that were created through it are destroyed, including those of processes.
 */
void ohca_ib_unregister(struct ohca_dev *dev)
{
	struct ib_device *ibdev = dev->ibdev;

	ib_unregister_device(ibdev);
	strscpy(dev->ib_name, dev_name(&ibdev->dev), sizeof(dev->ib_name));
	dev->ibdev = NULL;
	ib_dealloc_device(ibdev);
}
