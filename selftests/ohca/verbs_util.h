/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for all verbs tests: the device, connected queue pairs, waits with a deadline, data
 * that can be checked.  Functions that return bool report their failure with tap_fail().
 */

#ifndef SELFTEST_VERBS_UTIL_H
#define SELFTEST_VERBS_UTIL_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "sess.h"
#include "tap.h"

#define VU_PAGE ((unsigned long)getpagesize()) /* bytes of a page of this kernel */
#define VU_PORT vu_port()
#define VU_RW (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/**
 * struct vu_dev - an open device
 * @gid_index: RoCEv2 GID of the port's IPv4 address (environment OHCA_IP if set); on InfiniBand the
 *	first one
 * @is_ohca: it is an OHCA; another device may support less
 */
struct vu_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
	bool is_ohca;
};

/* Number of the port to test: environment OHCA_PORT, or 1 */
uint8_t vu_port(void);

/*
 * Name of the device to test (environment OHCA_IBDEV, or the first one named ohca*); static
 * storage, NULL if there is none.
 */
const char *vu_device_name(void);
/* Open it without a PD; NULL if it can't be opened. */
struct ibv_context *vu_open_context(void);
/* Open the device or bail out. */
void vu_open(struct vu_dev *dev);
void vu_close(struct vu_dev *dev);
/* Whether its port is InfiniBand's, and not Ethernet's. */
bool vu_is_ib(const struct vu_dev *dev);
/* Memory as of vu_alloc(), registered with VU_RW; bails out if it can't be. */
struct ibv_mr *vu_alloc_mr(struct vu_dev *dev, size_t len);
/*
 * The rest of main(): run the tests, call @cleanup, deregister @mr and close the device; both may be
 * NULL.  Returns the exit status; what can't be cleaned up is a failure.
 */
int vu_main(struct vu_dev *dev, struct ibv_mr *mr, const struct tap_test *tests, unsigned int num,
	    void (*cleanup)(void));

/**
 * struct vu_qp_opts - how to create and connect a queue pair; VU_QP_OPTS for the usual
 * @send_cq, @recv_cq: NULL: CQs of its own, as large as the queues
 * @srq: NULL: a receive queue of its own
 * @access: IBV_ACCESS_REMOTE_*
 * @pkey_index: entry of the port's P_Key table
 * @path_bits: InfiniBand: of the path to the LID of the other side's &struct vu_addr
 * @sl: service level
 */
struct vu_qp_opts {
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	uint32_t send_wr, recv_wr, send_sge, recv_sge, inline_data;
	bool sig_all;
	int access;
	enum ibv_mtu mtu;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint8_t rd_atomic, dest_rd_atomic;
	uint16_t pkey_index;
	uint8_t path_bits;
	uint8_t sl;
};

#define VU_QP_OPTS                   \
	{                            \
		.send_wr = 64,       \
		.recv_wr = 64,       \
		.send_sge = 1,       \
		.recv_sge = 1,       \
		.access = VU_RW,     \
		.mtu = IBV_MTU_1024, \
		.timeout = 17,       \
		.retry_cnt = 7,      \
		.rnr_retry = 7,      \
		.min_rnr_timer = 1,  \
		.rd_atomic = 4,      \
		.dest_rd_atomic = 4, \
	}

/**
 * struct vu_qp - a queue pair
 * @cap: capacity as granted by the device
 * @own_scq, @own_rcq: the CQ is destroyed with the QP
 */
struct vu_qp {
	struct ibv_qp *qp;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp_cap cap;
	uint32_t psn;
	bool own_scq, own_rcq;
};

/**
 * struct vu_addr - data for the other side
 * @va, @rkey: of a buffer, defined by the test
 * @lid: address of an InfiniBand port
 */
struct vu_addr {
	uint32_t qpn, psn;
	union ibv_gid gid;
	uint64_t va;
	uint32_t rkey;
	uint16_t lid;
	uint16_t rsvd;
};

bool vu_qp_create(struct vu_dev *dev, struct vu_qp *q, const struct vu_qp_opts *opts);
/* A UD QP in RTS, with CQs of its own; false and a failed test. */
bool vu_ud_create(struct vu_dev *dev, struct vu_qp *q, uint16_t pkey_index, uint32_t qkey);
/* Send a datagram, and wait for its completion. */
bool vu_ud_send(struct vu_qp *q, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, struct ibv_mr *mr,
		const void *buf, uint32_t len, uint64_t wr_id);
void vu_qp_destroy(struct vu_qp *q);
/* A QP of any type to INIT, with Q_Key 1 if it has one; returns 0 or an errno. */
int vu_any_to_init(struct ibv_qp *qp);
/* An XRC domain without a file, and a small SRQ in one; NULL and errno. */
struct ibv_xrcd *vu_open_xrcd(struct vu_dev *dev);
struct ibv_srq *vu_create_xrc_srq(struct vu_dev *dev, struct ibv_xrcd *xrcd, struct ibv_cq *cq);
void vu_qp_addr(const struct vu_dev *dev, const struct vu_qp *q, struct vu_addr *addr);
bool vu_to_init(struct vu_qp *q, const struct vu_qp_opts *opts);
bool vu_to_rtr(struct vu_dev *dev, struct vu_qp *q, const struct vu_addr *to,
	       const struct vu_qp_opts *opts);
bool vu_to_rts(struct vu_qp *q, const struct vu_qp_opts *opts);
bool vu_to_err(struct vu_qp *q);
/* All the way from RESET to RTS, towards @to. */
bool vu_connect(struct vu_dev *dev, struct vu_qp *q, const struct vu_addr *to,
		const struct vu_qp_opts *opts);
/* Two queue pairs of this process, RESET to RTS. */
bool vu_connect_pair(struct vu_dev *dev, struct vu_qp *a, struct vu_qp *b,
		     const struct vu_qp_opts *opts);
/* The same, but @b only to RTR. */
bool vu_connect_half(struct vu_dev *dev, struct vu_qp *a, struct vu_qp *b,
		     const struct vu_qp_opts *opts);
/*
 * Create a QP and connect it with the other side's; swaps *@mine (va and rkey are the caller's) and
 * *@theirs.
 */
bool vu_connect_sess(struct vu_dev *dev, struct sess *s, struct vu_qp *q,
		     const struct vu_qp_opts *opts, struct vu_addr *mine, struct vu_addr *theirs);
enum ibv_qp_state vu_state(struct vu_qp *q);

/* Milliseconds of a monotonic clock. */
uint64_t vu_now(void);
/* Milliseconds for a completion or event that has to come; only a failure takes so long. */
int vu_timeout_ms(void);
/* Take exactly @num completions; false if they do not come. */
bool vu_wait(struct ibv_cq *cq, struct ibv_wc *wc, int num);
/* The next completion has this wr_id and status. */
bool vu_wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t wr_id, enum ibv_wc_status status);
/*
 * Wait for an event of a completion channel, or asynchronous event; acknowledged; false if it does
 * not come.
 */
bool vu_wait_event(struct ibv_comp_channel *channel, struct ibv_cq **cq);
bool vu_wait_async(struct ibv_context *ctx, enum ibv_event_type type, void *element);
/* Whether there is an asynchronous event; it is taken and acknowledged. */
bool vu_async_pending(struct ibv_context *ctx, struct ibv_async_event *event);

/* Work requests of one element. */
int vu_post_send(struct vu_qp *q, enum ibv_wr_opcode op, uint64_t wr_id, int flags,
		 struct ibv_mr *mr, void *addr, uint32_t len, uint64_t raddr, uint32_t rkey);
int vu_post_recv(struct vu_qp *q, uint64_t wr_id, struct ibv_mr *mr, void *addr, uint32_t len);

/* Anonymous memory, zeroed, page aligned; bails out if there is none. */
void *vu_alloc(size_t len);
void vu_free(void *buf, size_t len);

/* Whether the kernel is older than that. */
bool vu_kernel_before(unsigned int major, unsigned int minor);

/* Data that depend on the seed and on each byte's offset */
void vu_fill(void *buf, size_t len, uint64_t seed);
/* Offset of the first byte that differs from what vu_fill() writes, or -1. */
ssize_t vu_check(const void *buf, size_t len, uint64_t seed);
/* A checksum of 64 bits. */
uint64_t vu_sum(const void *buf, size_t len);
/* The next number of a reproducible sequence. */
uint64_t vu_rand(uint64_t *state);

#endif
