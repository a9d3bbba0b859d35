/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Your first queue pair: a function for each step.  See Documentation/firstqp.rst, which explains
 * them in this order.
 */

#ifndef EXAMPLE_FIRST_H
#define EXAMPLE_FIRST_H

#include <infiniband/verbs.h>
#include <time.h>

#include "peer.h"

#define PORT 1 /* ports of an HCA are numbered from 1 */
#define BUFFER_SIZE 4096

/* Everything that one end of a connection has */
struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char *buf;
};

/* The device: open the first one. */
static inline void open_device(struct end *end)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	need(list && list[0], "the search for an RDMA device");
	end->ctx = ibv_open_device(list[0]);
	need(!!end->ctx, "ibv_open_device");
	ibv_free_device_list(list);
}

/* The protection domain, to which all that follows belongs. */
static inline void make_pd(struct end *end)
{
	end->pd = ibv_alloc_pd(end->ctx);
	need(!!end->pd, "ibv_alloc_pd");
}

/* The memory region: a buffer that the device may read and write. */
static inline void make_mr(struct end *end)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_ATOMIC;

	end->buf = aligned_alloc(4096, BUFFER_SIZE);
	need(!!end->buf, "aligned_alloc");
	memset(end->buf, 0, BUFFER_SIZE);
	end->mr = ibv_reg_mr(end->pd, end->buf, BUFFER_SIZE, access);
	need(!!end->mr, "ibv_reg_mr");
}

/* The completion queue: where the device says what is done. */
static inline void make_cq(struct end *end)
{
	end->cq = ibv_create_cq(end->ctx, 16, NULL, NULL, 0);
	need(!!end->cq, "ibv_create_cq");
}

/* The queue pair: a send queue, and a receive queue. */
static inline void make_qp(struct end *end)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1, /* each work request has a completion */
	};

	end->qp = ibv_create_qp(end->pd, &attr);
	need(!!end->qp, "ibv_create_qp");
}

/* Everything so far, in order. */
static inline void make_objects(struct end *end)
{
	open_device(end);
	make_pd(end);
	make_mr(end);
	make_cq(end);
	make_qp(end);
}

/* What the other side has to know */
struct address {
	union ibv_gid gid; /* of the port, on Ethernet */
	uint64_t buf; /* of the memory region, for one-sided operations */
	uint32_t rkey;
	uint32_t qpn; /* of the queue pair */
	uint16_t lid; /* of the port, on InfiniBand */
	uint16_t gid_index; /* only of interest here */
};

/* The GID that is the port's IPv4 address, by RoCEv2; on InfiniBand its first GID. */
static inline void find_gid(struct end *end, struct address *mine)
{
	static const uint8_t ipv4[12] = {[10] = 0xff, [11] = 0xff}; /* ::ffff:0:0 */
	struct ibv_gid_entry entry;
	uint16_t i;

	for (i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(end->ctx, PORT, i, &entry, 0))
			continue;
		if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && memcmp(entry.gid.raw, ipv4, 12))
			continue;
		if (entry.gid_type == IBV_GID_TYPE_ROCE_V1)
			continue;
		mine->gid = entry.gid;
		mine->gid_index = i;
		return;
	}
	need(0, "the search for a GID");
}

static inline void find_address(struct end *end, struct address *mine)
{
	struct ibv_port_attr port;

	memset(mine, 0, sizeof(*mine));
	need(!ibv_query_port(end->ctx, PORT, &port), "ibv_query_port");
	find_gid(end, mine);
	mine->lid = port.lid;
	mine->qpn = end->qp->qp_num;
	mine->buf = (uintptr_t)end->buf;
	mine->rkey = end->mr->rkey;
}

/* RESET to INIT: the queue pair has a port, and takes receive requests. */
static inline void to_init(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.pkey_index = 0,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	need(!ibv_modify_qp(end->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS),
	     "INIT");
}

/* INIT to RTR, ready to receive: the queue pair knows the other one. */
static inline void to_rtr(struct end *end, const struct address *mine, const struct address *theirs)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024, /* a packet has at most so many bytes of data */
		.dest_qp_num = theirs->qpn,
		.rq_psn = 0, /* the number of the first packet that it expects */
		.max_dest_rd_atomic = 4, /* reads and atomics of the other side at once */
		.min_rnr_timer = 12, /* 0.64 ms */
		.ah_attr = {.port_num = PORT, .dlid = theirs->lid},
	};

	if (!theirs->lid) { /* Ethernet */
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = theirs->gid;
		attr.ah_attr.grh.sgid_index = mine->gid_index;
		attr.ah_attr.grh.hop_limit = 64;
	}
	need(!ibv_modify_qp(end->qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	     "RTR");
}

/* RTR to RTS, ready to send */
static inline void to_rts(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 0, /* the number of the first packet that it sends */
		.timeout = 14, /* 67 ms without an acknowledgment: send again */
		.retry_cnt = 7, /* so often */
		.rnr_retry = 7, /* without end, if the other side has no receive request */
		.max_rd_atomic = 4, /* own reads and atomics at once */
	};

	need(!ibv_modify_qp(end->qp, &attr,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
	     "RTS");
}

/* Connect with the other machine's queue pair, from RESET to RTS; returns its address. */
static inline struct address connect_qp(struct end *end, int peer)
{
	struct address mine, theirs;

	to_init(end);
	find_address(end, &mine);
	peer_swap(peer, &mine, &theirs, sizeof(mine));
	to_rtr(end, &mine, &theirs);
	to_rts(end);
	printf("QP %u, LID %u: connected with QP %u, LID %u\n", mine.qpn, mine.lid, theirs.qpn,
	       theirs.lid);
	return theirs;
}

static inline uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

/* Wait for the next completion, and say what it is; returns false if it is an error, or none. */
static inline int wait_completion(struct end *end, struct ibv_wc *wc)
{
	uint64_t start = now_us();
	int num;

	while (!(num = ibv_poll_cq(end->cq, 1, wc))) {
		if (now_us() - start > 5000000) {
			printf("no completion in 5 seconds\n");
			return 0;
		}
	}
	need(num == 1, "ibv_poll_cq");
	printf("completion of request %lu after %lu us: status %u, %s\n", (unsigned long)wc->wr_id,
	       (unsigned long)(now_us() - start), wc->status, ibv_wc_status_str(wc->status));
	return wc->status == IBV_WC_SUCCESS;
}

/* Destroy everything, in the reverse order. */
static inline void destroy_objects(struct end *end)
{
	need(!ibv_destroy_qp(end->qp), "ibv_destroy_qp");
	need(!ibv_destroy_cq(end->cq), "ibv_destroy_cq");
	need(!ibv_dereg_mr(end->mr), "ibv_dereg_mr");
	need(!ibv_dealloc_pd(end->pd), "ibv_dealloc_pd");
	need(!ibv_close_device(end->ctx), "ibv_close_device");
	free(end->buf);
}

#endif
