// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: counters of the ports, and sets of counters that QPs are bound to.
 */

#include "ohca.h"
#include "ohca_compat.h"
#include "qp.h"
#include "verbs.h"

/* clang-format off */

/* Shown by request only */
#define OHCA_OPTIONAL(_name) {.name = (_name), .flags = IB_STAT_FLAG_OPTIONAL}

/* The names are those that other adapters use for these counters. */
const struct rdma_stat_desc ohca_stat_descs[OHCA_NUM_COUNTERS] = {
	[OHCA_CNT_TX_PKTS].name = "tx_packets",
	[OHCA_CNT_TX_BYTES].name = "tx_bytes",
	[OHCA_CNT_RX_PKTS].name = "rx_packets",
	[OHCA_CNT_RX_BYTES].name = "rx_bytes",
	[OHCA_CNT_TX_MCAST].name = "tx_multicast_packets",
	[OHCA_CNT_RX_MCAST].name = "rx_multicast_packets",
	[OHCA_CNT_RX_WRITES].name = "rx_write_requests",
	[OHCA_CNT_RX_READS].name = "rx_read_requests",
	[OHCA_CNT_RX_ATOMICS].name = "rx_atomic_requests",
	[OHCA_CNT_OUT_OF_BUFFER].name = "out_of_buffer",
	[OHCA_CNT_OUT_OF_SEQUENCE].name = "out_of_sequence",
	[OHCA_CNT_DUPLICATES].name = "duplicate_request",
	[OHCA_CNT_PKT_SEQ_ERR].name = "packet_seq_err",
	[OHCA_CNT_RNR_NAKS].name = "rnr_nak_received",
	[OHCA_CNT_TIMEOUTS].name = "local_ack_timeout_err",
	[OHCA_CNT_REQ_ERRORS].name = "req_cqe_error",
	[OHCA_CNT_REQ_FLUSHED].name = "req_cqe_flush_error",
	[OHCA_CNT_RESP_ERRORS].name = "resp_cqe_error",
	[OHCA_CNT_RESP_FLUSHED].name = "resp_cqe_flush_error",
	[OHCA_CNT_RESP_ACCESS_ERRORS].name = "resp_remote_access_errors",
	[OHCA_CNT_RESP_INVALID].name = "resp_remote_invalid_request",
	[OHCA_CNT_RX_DROPPED].name = "rx_dropped_datagrams",
	[OHCA_CNT_RX_MARKED] = OHCA_OPTIONAL("cc_rx_ce_pkts"),
	[OHCA_CNT_RX_CNPS] = OHCA_OPTIONAL("cc_rx_cnp_pkts"),
	[OHCA_CNT_PAGE_FAULTS] = OHCA_OPTIONAL("page_faults"),
	[OHCA_CNT_ETH_NO_BUFFER].name = "rx_no_buffer",
	[OHCA_CNT_ETH_WAITED].name = "tx_waited",
	[OHCA_CNT_ETH_REFUSED].name = "tx_refused",
};

/* clang-format on */

static struct rdma_hw_stats *ohca_stats_alloc(void)
{
	return rdma_alloc_hw_stats_struct(ohca_stat_descs, OHCA_NUM_RDMA_COUNTERS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static struct rdma_hw_stats *ohca_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	struct rdma_hw_stats *stats = ohca_stats_alloc();
	int i;

	for (i = 0; stats && i < stats->num_counters; i++)
		if (stats->descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			set_bit(i, stats->is_disabled);
	return stats;
}

static int ohca_stats_query(struct ohca_dev *dev, u32 counters, u8 port,
			    struct rdma_hw_stats *stats)
{
	u64 value[OHCA_NUM_COUNTERS];
	int err;

	err = ohca_cmd_query_counters(dev, counters, port, value);
	if (!err)
		memcpy(stats->value, value, stats->num_counters * sizeof(*value));
	return err;
}

static int ohca_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port,
			     int index)
{
	int err;

	if (!port) /* only ports have counters */
		return -EINVAL;

	err = ohca_stats_query(to_odev(ibdev), OHCA_PORT_COUNTERS, port, stats);
	return err ? err : stats->num_counters;
}

/* The device always counts all of them; ib_core knows which of the optional ones it shows. */
static int ohca_modify_hw_stat(struct ib_device *ibdev, u32 port, unsigned int index, bool enable)
{
	return 0;
}

/* Sets of counters */

static int ohca_qp_set_counters(struct ib_qp *ibqp, u32 counters)
{
	const struct ohca_qp_attr attr = {.counters = cpu_to_le32(counters)};

	return ohca_cmd_modify_qp(to_odev(ibqp->device), to_oqp(ibqp)->core.qpn, OHCA_QP_COUNTERS,
				  &attr);
}

int ohca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	u32 id = counter->id;
	int err;

	if (!id) {
		err = ohca_cmd_alloc_counters(dev, port, &id);
		if (err)
			return err;
	}

	err = ohca_qp_set_counters(ibqp, id);
	if (err)
		goto err_counters;

	counter->id = id;
	ibqp->counter = counter;
	return 0;

err_counters:
	if (!counter->id)
		ohca_cmd_free_counters(dev, id);
	return err;
}

int ohca_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	int err = ohca_qp_set_counters(ibqp, OHCA_PORT_COUNTERS);

	if (err && !ohca_fenced(to_odev(ibqp->device)))
		return err;

	ibqp->counter = NULL;
	return 0;
}

static int ohca_counter_dealloc(struct rdma_counter *counter)
{
	return counter->id ? ohca_cmd_free_counters(to_odev(counter->device), counter->id) : 0;
}

static struct rdma_hw_stats *ohca_counter_alloc_stats(struct rdma_counter *counter)
{
	return ohca_stats_alloc();
}

static int ohca_counter_update_stats(struct rdma_counter *counter)
{
	return ohca_stats_query(to_odev(counter->device), counter->id, 0, counter->stats);
}

#if OHCA_COMPAT_COUNTER_INIT
/* A set of counters needs only ib_core's part. */
struct ohca_counter_set {
	struct rdma_counter rdma;
};

static void ohca_counter_init(struct rdma_counter *counter)
{
}
#endif

const struct ib_device_ops ohca_stats_ops = {
	.alloc_hw_port_stats = ohca_alloc_hw_port_stats,
	.counter_alloc_stats = ohca_counter_alloc_stats,
	.counter_bind_qp = OHCA_COMPAT_OP(counter_bind_qp),
	.counter_dealloc = ohca_counter_dealloc,
#if OHCA_COMPAT_COUNTER_INIT
	.counter_init = ohca_counter_init,
#endif
	.counter_unbind_qp = OHCA_COMPAT_OP(counter_unbind_qp),
	.counter_update_stats = ohca_counter_update_stats,
	.get_hw_stats = ohca_get_hw_stats,
	.modify_hw_stat = ohca_modify_hw_stat,

#if OHCA_COMPAT_COUNTER_INIT
	INIT_RDMA_OBJ_SIZE(rdma_counter, ohca_counter_set, rdma),
#endif
};
