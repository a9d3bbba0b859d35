/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: differences between kernel releases.  The driver is written for 7.2; only this file
 * depends on other releases.
 */

#ifndef _OHCA_COMPAT_H
#define _OHCA_COMPAT_H

#include <linux/dim.h>
#include <linux/dma-mapping.h>
#include <linux/ethtool.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <net/devlink.h>
#include <net/netdev_queues.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* 702 for 7.2 */
#define OHCA_KERNEL (LINUX_VERSION_MAJOR * 100 + LINUX_VERSION_PATCHLEVEL)

/*
 * ib_core itself reports a change of the port's netdev to its clients; in older releases the driver
 * does.
 */
#define OHCA_COMPAT_PORT_EVENTS (OHCA_KERNEL < 702)

/* ib_device_ops has create_user_cq and uverbs_robust_udata. */
#define OHCA_COMPAT_USER_OPS (OHCA_KERNEL >= 702)

/* struct rdma_counter has a part for drivers. */
#define OHCA_COMPAT_COUNTER_INIT (OHCA_KERNEL >= 702)

/* ethtool has a separate operation for the number of receive queues. */
#define OHCA_COMPAT_RX_RING_COUNT (OHCA_KERNEL >= 702)

/* ib_core has atomic writes and flushes. */
#define OHCA_COMPAT_ATOMIC_WRITE (OHCA_KERNEL >= 602)

/* "rdma resource" shows drivers' details of SRQs. */
#define OHCA_COMPAT_SRQ_DETAILS (OHCA_KERNEL >= 610)

/* The type of a devlink port is set by an operation of the port. */
#define OHCA_COMPAT_DEVLINK_PORT_OPS (OHCA_KERNEL >= 605)

/* SMC-R finds the netdev of a port only by an operation of the device. */
#define OHCA_COMPAT_GET_NETDEV (OHCA_KERNEL < 612)

/* The arguments of some operations differ in older releases: they call a function below. */
#if OHCA_KERNEL >= 702
#define OHCA_COMPAT_OP(_name) ohca_##_name
#else
#define OHCA_COMPAT_OP(_name) ohca_compat_##_name
#endif

#if OHCA_KERNEL >= 611
#define OHCA_COMPAT_CREATE_CQ ohca_create_cq
#else
#define OHCA_COMPAT_CREATE_CQ ohca_compat_create_cq
#endif

#if OHCA_KERNEL >= 608
#define OHCA_COMPAT_RXFH_OP(_name) ohca_en_##_name
#else
#define OHCA_COMPAT_RXFH_OP(_name) ohca_compat_en_##_name
#endif

#if OHCA_KERNEL >= 606
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#if OHCA_KERNEL >= 605
#include <net/gso.h>
#endif

/* A page pool knows the NAPI instance whose pages need no lock. */
static inline void ohca_compat_pool_set_napi(struct page_pool_params *params,
					     struct napi_struct *napi)
{
#if OHCA_KERNEL >= 604
	params->napi = napi;
#endif
}

#if OHCA_KERNEL >= 613
#define ohca_compat_net_dim(_dim, _sample) net_dim(_dim, _sample)
#else
#define ohca_compat_net_dim(_dim, _sample) net_dim(_dim, *(_sample))

/* A profile of DIM to begin with */
#ifndef NET_DIM_DEF_PROFILE_EQE
#define NET_DIM_DEF_PROFILE_EQE 1
#endif
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(_obj) kzalloc(sizeof(_obj), GFP_KERNEL)
#endif

/* Capabilities of the device that can't be used with this release's ib_core */
#if OHCA_COMPAT_ATOMIC_WRITE
#define OHCA_COMPAT_NO_CAPS 0ULL
#else
#define OHCA_COMPAT_NO_CAPS (OHCA_CAP_ATOMIC_WRITE | OHCA_CAP_FLUSH)
#define IB_DEVICE_ATOMIC_WRITE 0
#define IB_DEVICE_FLUSH_GLOBAL 0
#define IB_ACCESS_FLUSH_GLOBAL 0
#define IB_ACCESS_FLUSH_PERSISTENT 0
#endif

/* In older releases, drivers report to devlink a port's netdev, and that they can reload. */
#if OHCA_KERNEL >= 602
#define ohca_compat_devlink_setup(_devlink)
#define ohca_compat_devlink_netdev(_port, _ndev)
#else
#define SET_NETDEV_DEVLINK_PORT(_ndev, _port)
#define ohca_compat_devlink_setup(_devlink) devlink_set_features(_devlink, DEVLINK_F_RELOAD)

static inline void ohca_compat_devlink_netdev(struct devlink_port *port, struct net_device *ndev)
{
	if (ndev)
		devlink_port_type_eth_set(port, ndev);
	else
		devlink_port_type_clear(port);
}
#endif

#ifndef netif_txq_completed_wake
#define netif_txq_completed_wake(_txq, _pkts, _bytes, _free, _start) \
	({                                                           \
		struct netdev_queue *_queue = (_txq);                \
		netdev_tx_completed_queue(_queue, _pkts, _bytes);    \
		netif_txq_maybe_wake(_queue, _free, _start);         \
	})
#endif

#if OHCA_KERNEL < 608
static inline void ethtool_puts(u8 **data, const char *str)
{
	strscpy(*data, str, ETH_GSTRING_LEN);
	*data += ETH_GSTRING_LEN;
}

struct ethtool_rxfh_param {
	u8 hfunc;
	u32 indir_size;
	u32 *indir;
	u8 *key;
};

int ohca_en_get_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh);
int ohca_en_set_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh,
		     struct netlink_ext_ack *extack);

static inline int ohca_compat_en_get_rxfh(struct net_device *ndev, u32 *indir, u8 *key, u8 *hfunc)
{
	struct ethtool_rxfh_param rxfh = {
		.indir_size = ndev->ethtool_ops->get_rxfh_indir_size(ndev),
		.indir = indir,
		.key = key,
	};
	int err = ohca_en_get_rxfh(ndev, &rxfh);

	if (hfunc)
		*hfunc = rxfh.hfunc;
	return err;
}

static inline int ohca_compat_en_set_rxfh(struct net_device *ndev, const u32 *indir, const u8 *key,
					  const u8 hfunc)
{
	struct ethtool_rxfh_param rxfh = {
		.hfunc = hfunc,
		.indir = (u32 *)indir,
		.key = (u8 *)key,
	};

	return ohca_en_set_rxfh(ndev, &rxfh, NULL);
}

#endif

#if OHCA_KERNEL >= 610
#define OHCA_COMPAT_ASSIGN_STR(_dst, ...) __assign_str(_dst)
#else
#define OHCA_COMPAT_ASSIGN_STR(_dst, _src) __assign_str(_dst, _src)
#include "ohca_compat_work.h"
#endif

/* What operations of user objects get, besides their arguments */
#if OHCA_KERNEL >= 612
#define OHCA_COMPAT_ATTRS struct uverbs_attr_bundle
#define ohca_compat_bundle(_attrs) (_attrs)
#else
#define OHCA_COMPAT_ATTRS struct ib_udata

static inline struct uverbs_attr_bundle *ohca_compat_bundle(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_uverbs_attr_bundle(udata) : NULL;
}
#endif

#if OHCA_KERNEL < 611
int ohca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);

static inline int ohca_compat_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
					struct ib_udata *udata)
{
	return ohca_create_cq(ibcq, attr, ohca_compat_bundle(udata));
}

/* The pages of a region that was registered for reading only are pinned for reading. */
static inline int ohca_compat_check_rereg(struct ib_umem *umem, int flags, int access)
{
	if (!umem || (flags & (IB_MR_REREG_ACCESS | IB_MR_REREG_TRANS)) != IB_MR_REREG_ACCESS)
		return 0;
	return ib_access_writable(access) && !umem->writable ? -EACCES : 0;
}

#define ib_umem_check_rereg ohca_compat_check_rereg

#endif

#if OHCA_KERNEL >= 702

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

#include <linux/hmm.h>
#include <linux/hmm-dma.h>
#include <linux/pci-p2pdma.h>
#include <rdma/ib_umem_odp.h>

static inline int ohca_compat_odp_map_and_lock(struct ib_umem_odp *umem, u64 va, u64 len,
					       bool write, bool fault)
{
	return ib_umem_odp_map_dma_and_lock(umem, va, len, write ? HMM_PFN_WRITE : 0, fault);
}

static inline unsigned long *ohca_compat_odp_pfns(struct ib_umem_odp *umem)
{
	return umem->map.pfn_list;
}

static inline bool ohca_compat_odp_mapped(struct ib_umem_odp *umem, size_t i)
{
	return umem->map.pfn_list[i] & HMM_PFN_DMA_MAPPED;
}

static inline dma_addr_t ohca_compat_odp_dma(struct ib_umem_odp *umem, size_t i)
{
	bool mapped = ohca_compat_odp_mapped(umem, i);
	struct pci_p2pdma_map_state p2p = {};
	dma_addr_t addr;

	addr = hmm_dma_map_pfn(umem->umem.ibdev->dma_device, &umem->map, i, &p2p);
	if (addr != DMA_MAPPING_ERROR && !mapped)
		umem->npages++;
	return addr;
}

#endif

#else

#include "ohca_compat_verbs.h"

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

/* In this release, mapping for the processor also maps for DMA. */
static inline int ohca_compat_odp_map_and_lock(struct ib_umem_odp *umem, u64 va, u64 len,
					       bool write, bool fault)
{
	u64 access = ODP_READ_ALLOWED_BIT | (write ? ODP_WRITE_ALLOWED_BIT : 0);

	return ib_umem_odp_map_dma_and_lock(umem, va, len, access, fault);
}

static inline unsigned long *ohca_compat_odp_pfns(struct ib_umem_odp *umem)
{
	return umem->pfn_list;
}

static inline bool ohca_compat_odp_mapped(struct ib_umem_odp *umem, size_t i)
{
	return umem->dma_list[i];
}

/* Mapping for reading only notes that, even if the page may be written. */
static inline dma_addr_t ohca_compat_odp_dma(struct ib_umem_odp *umem, size_t i)
{
	if (umem->pfn_list[i] & HMM_PFN_WRITE && umem->umem.writable)
		umem->dma_list[i] |= ODP_WRITE_ALLOWED_BIT;
	return umem->dma_list[i] & ODP_DMA_ADDR_MASK;
}

#endif

#endif

#endif /* _OHCA_COMPAT_H */
