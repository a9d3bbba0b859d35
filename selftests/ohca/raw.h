/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device from user space without a provider: commands to the kernel as bytes, queues in plain
 * memory, doorbells by hand.  So tests can do what a provider never does.  OHCA only.
 */

#ifndef SELFTEST_RAW_H
#define SELFTEST_RAW_H

#include <linux/types.h>
#include <ohca/ohca_queue.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ohca-abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_LOG_SIZE 4 /* of work queues: 16 entries */
#define RAW_SIZE (1U << RAW_LOG_SIZE)
#define RAW_CQ_LOG_SIZE 6 /* of completion queues: more than a QP can complete */
#define RAW_CQ_SIZE (1U << RAW_CQ_LOG_SIZE)
#define RAW_SQ_STRIDE 256
#define RAW_RQ_STRIDE 64

/**
 * struct raw_ctx - a context
 * @fd: /dev/infiniband/uverbs*
 * @async_fd: its asynchronous events
 * @uctx: the driver's response
 * @uar: doorbell page
 * @shadow: shadow page, or NULL
 */
struct raw_ctx {
	int fd;
	int async_fd;
	struct ohca_uctx_resp uctx;
	volatile uint8_t *uar;
	struct ohca_shadow *shadow;
};

/**
 * struct raw_qp - a CQ for both queues, and a QP
 * @cq_buf: CQ's ring and record
 * @buf: send ring, receive ring, records
 */
struct raw_qp {
	struct raw_ctx *ctx;
	uint32_t cq_handle, cqn, qp_handle, qpn;
	uint8_t *cq_buf, *buf;
	struct ohca_cqe *cqes;
	struct ohca_cq_rec *cq_rec;
	uint8_t *sq, *rq;
	struct ohca_wq_rec *sq_rec, *rq_rec;
	uint32_t slot, sq_pi, rq_pi, cq_ci;
};

#define RAW_CQ_REC (RAW_CQ_SIZE * sizeof(struct ohca_cqe))
#define RAW_CQ_BYTES 8192 /* exactly the pages that it needs */
#define RAW_RQ_OFFSET (RAW_SIZE * RAW_SQ_STRIDE)
#define RAW_SQ_REC (RAW_RQ_OFFSET + RAW_SIZE * RAW_RQ_STRIDE)
#define RAW_RQ_REC (RAW_SQ_REC + sizeof(struct ohca_wq_rec))
#define RAW_QP_BYTES 8192

/*
 * A command: the core's part, then the driver's.  The response goes to @resp of @resp_len bytes
 * (the core's part must name it). Returns 0 or errno.
 */
int raw_cmd(int fd, uint32_t command, const void *core, size_t core_len, const void *drv,
	    size_t drv_len, size_t resp_len);

/* Open the device file without a context; bails out if it can't be. */
int raw_open_file(void);
/* GET_CONTEXT with the driver's part @req of @len bytes.  Returns 0 or errno. */
int raw_get_context(struct raw_ctx *ctx, int fd, const void *req, size_t len);
/* Open, get a context, map its pages; bails out if it can't be. */
void raw_open(struct raw_ctx *ctx);
void raw_close(struct raw_ctx *ctx);

/* Each returns 0 or errno, and the handle. */
int raw_alloc_pd(struct raw_ctx *ctx, uint32_t *handle);
int raw_create_cq(struct raw_ctx *ctx, uint32_t cqe, const void *req, size_t len, uint32_t *handle,
		  uint32_t *cqn);
int raw_create_qp(struct raw_ctx *ctx, uint32_t pd, uint32_t cq, const void *req, size_t len,
		  uint32_t *handle, uint32_t *qpn);
int raw_create_srq(struct raw_ctx *ctx, uint32_t pd, const void *req, size_t len, uint32_t *handle);
/* Returns 0 or errno. */
int raw_arm_srq(struct raw_ctx *ctx, uint32_t handle, uint32_t limit);
int raw_destroy_srq(struct raw_ctx *ctx, uint32_t handle);
int raw_destroy_cq(struct raw_ctx *ctx, uint32_t handle);
int raw_destroy_qp(struct raw_ctx *ctx, uint32_t handle);
int raw_reg_mr(struct raw_ctx *ctx, uint32_t pd, void *mem, size_t len, uint32_t *handle,
	       uint32_t *key);

/* Valid requests for a CQ and a QP */
struct ohca_create_cq_req raw_cq_req(void *buf);
struct ohca_create_qp_req raw_qp_req(void *buf, uint32_t slot);

/* A CQ and a QP with memory of their own, in RESET.  Bails out if it can't be. */
void raw_qp_create(struct raw_ctx *ctx, uint32_t pd, struct raw_qp *q, uint32_t slot);
void raw_qp_destroy(struct raw_qp *q);
/*
 * To RESET, and on to RTS, connected with the QP @dest at the GID; the indices are 0 again.
 * Returns 0 or errno.
 */
int raw_qp_connect(struct raw_qp *q, uint32_t dest, const uint8_t gid[16], int gid_index);

/* The entry that the next raw_ring() posts; all zero. */
struct ohca_sq_wqe *raw_send_wqe(struct raw_qp *q);
/* Post it, or @num entries, and ring the doorbell correctly. */
void raw_ring(struct raw_qp *q, uint32_t num);
/* Set the slot's dirty bit and wake the device if it sleeps, or ring the register. */
void raw_doorbell(struct raw_qp *q);
/* Post receive requests without elements. */
void raw_recv(struct raw_qp *q, uint32_t num);
/* Wait for CQE number @index; false if it does not come within vu_timeout_ms(). */
bool raw_completed(struct raw_qp *q, uint32_t index);
/* Take the next CQE; false if none comes within vu_timeout_ms(). */
bool raw_poll(struct raw_qp *q, struct ohca_cqe *cqe);
/* Wait for an asynchronous event; returns its IBV_EVENT_*, or -1. */
int raw_async(struct raw_ctx *ctx);

#endif
