// SPDX-License-Identifier: GPL-2.0
/* The device from user space without a provider. */

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw.h"
#include "verbs_util.h"

#define PAGE VU_PAGE

int raw_cmd(int fd, uint32_t command, const void *core, size_t core_len, const void *drv,
	    size_t drv_len, size_t resp_len)
{
	uint8_t bytes[512] __attribute__((aligned(8)));
	struct ib_uverbs_cmd_hdr hdr = {.command = command};
	size_t len = sizeof(hdr) + core_len + drv_len;

	if (len > sizeof(bytes))
		tap_bail("command of %zu bytes", len);
	hdr.in_words = len / 4;
	hdr.out_words = resp_len / 4;
	memcpy(bytes, &hdr, sizeof(hdr));
	memcpy(bytes + sizeof(hdr), core, core_len);
	if (drv_len)
		memcpy(bytes + sizeof(hdr) + core_len, drv, drv_len);
	errno = 0;
	return write(fd, bytes, len) == (ssize_t)len ? 0 : errno;
}

/* Open the device file whose attribute "ibdev" names the device. */
int raw_open_file(void)
{
	static const char *const class = "/sys/class/infiniband_verbs";
	DIR *dir = opendir(class);
	struct dirent *entry;
	char path[512], name[64];
	int fd = -1;

	while (dir && fd < 0 && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s/ibdev", class, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%63s", name) == 1 && !strcmp(name, vu_device_name())) {
			snprintf(path, sizeof(path), "/dev/infiniband/%s", entry->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
		fclose(file);
	}
	if (dir)
		closedir(dir);
	if (fd < 0)
		tap_bail("the device has no file: %s", strerror(errno));
	return fd;
}

int raw_get_context(struct raw_ctx *ctx, int fd, const void *req, size_t len)
{
	struct {
		struct ib_uverbs_get_context_resp core;
		struct ohca_uctx_resp drv;
	} resp = {};
	struct ib_uverbs_get_context core = {.response = (uintptr_t)&resp};
	int err;

	memset(ctx, 0, sizeof(*ctx));
	ctx->fd = fd;
	err = raw_cmd(fd, IB_USER_VERBS_CMD_GET_CONTEXT, &core, sizeof(core), req, len,
		      sizeof(resp));
	if (err)
		return err;
	ctx->async_fd = resp.core.async_fd;
	ctx->uctx = resp.drv;
	return 0;
}

void raw_open(struct raw_ctx *ctx)
{
	const struct ohca_uctx_req req = {};
	int err = raw_get_context(ctx, raw_open_file(), &req, sizeof(req));

	if (err)
		tap_bail("no context: %s", strerror(err));
	ctx->uar = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, ctx->fd, ctx->uctx.uar_offset);
	if (ctx->uar == MAP_FAILED)
		tap_bail("doorbell page: %s", strerror(errno));
	if (!(ctx->uctx.flags & OHCA_UCTX_SHADOW_DB))
		return;
	ctx->shadow = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->fd,
			   ctx->uctx.shadow_offset);
	if (ctx->shadow == MAP_FAILED)
		tap_bail("shadow page: %s", strerror(errno));
}

void raw_close(struct raw_ctx *ctx)
{
	munmap((void *)ctx->uar, PAGE);
	if (ctx->shadow)
		munmap(ctx->shadow, PAGE);
	close(ctx->async_fd);
	close(ctx->fd);
}

int raw_alloc_pd(struct raw_ctx *ctx, uint32_t *handle)
{
	struct {
		struct ib_uverbs_alloc_pd_resp core;
		struct ohca_alloc_pd_resp drv;
	} resp = {};
	struct ib_uverbs_alloc_pd core = {.response = (uintptr_t)&resp};
	int err = raw_cmd(ctx->fd, IB_USER_VERBS_CMD_ALLOC_PD, &core, sizeof(core), NULL, 0,
			  sizeof(resp));

	*handle = resp.core.pd_handle;
	return err;
}

int raw_create_cq(struct raw_ctx *ctx, uint32_t cqe, const void *req, size_t len, uint32_t *handle,
		  uint32_t *cqn)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct ohca_create_cq_resp drv;
	} resp = {};
	struct ib_uverbs_create_cq core = {
		.response = (uintptr_t)&resp, .cqe = cqe, .comp_channel = -1};
	int err = raw_cmd(ctx->fd, IB_USER_VERBS_CMD_CREATE_CQ, &core, sizeof(core), req, len,
			  sizeof(resp));

	*handle = resp.core.cq_handle;
	*cqn = resp.drv.cqn;
	return err;
}

int raw_create_qp(struct raw_ctx *ctx, uint32_t pd, uint32_t cq, const void *req, size_t len,
		  uint32_t *handle, uint32_t *qpn)
{
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct ohca_create_qp_resp drv;
	} resp = {};
	struct ib_uverbs_create_qp core = {
		.response = (uintptr_t)&resp,
		.pd_handle = pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = RAW_SIZE,
		.max_recv_wr = RAW_SIZE,
		.max_send_sge = 2,
		.max_recv_sge = 2,
		.max_inline_data = 64,
		.qp_type = IBV_QPT_RC,
	};
	int err = raw_cmd(ctx->fd, IB_USER_VERBS_CMD_CREATE_QP, &core, sizeof(core), req, len,
			  sizeof(resp));

	*handle = resp.core.qp_handle;
	*qpn = resp.drv.qpn;
	return err;
}

int raw_create_srq(struct raw_ctx *ctx, uint32_t pd, const void *req, size_t len, uint32_t *handle)
{
	struct {
		struct ib_uverbs_create_srq_resp core;
		struct ohca_create_srq_resp drv;
	} resp = {};
	struct ib_uverbs_create_srq core = {
		.response = (uintptr_t)&resp,
		.pd_handle = pd,
		.max_wr = RAW_SIZE,
		.max_sge = 1,
	};
	int err = raw_cmd(ctx->fd, IB_USER_VERBS_CMD_CREATE_SRQ, &core, sizeof(core), req, len,
			  sizeof(resp));

	*handle = resp.core.srq_handle;
	return err;
}

int raw_arm_srq(struct raw_ctx *ctx, uint32_t handle, uint32_t limit)
{
	struct ib_uverbs_modify_srq core = {
		.srq_handle = handle, .attr_mask = IBV_SRQ_LIMIT, .srq_limit = limit};

	return raw_cmd(ctx->fd, IB_USER_VERBS_CMD_MODIFY_SRQ, &core, sizeof(core), NULL, 0, 0);
}

int raw_destroy_srq(struct raw_ctx *ctx, uint32_t handle)
{
	struct ib_uverbs_destroy_srq_resp resp;
	struct ib_uverbs_destroy_srq core = {.response = (uintptr_t)&resp, .srq_handle = handle};

	return raw_cmd(ctx->fd, IB_USER_VERBS_CMD_DESTROY_SRQ, &core, sizeof(core), NULL, 0,
		       sizeof(resp));
}

int raw_destroy_cq(struct raw_ctx *ctx, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_destroy_cq core = {.response = (uintptr_t)&resp, .cq_handle = handle};

	return raw_cmd(ctx->fd, IB_USER_VERBS_CMD_DESTROY_CQ, &core, sizeof(core), NULL, 0,
		       sizeof(resp));
}

int raw_destroy_qp(struct raw_ctx *ctx, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct ib_uverbs_destroy_qp core = {.response = (uintptr_t)&resp, .qp_handle = handle};

	return raw_cmd(ctx->fd, IB_USER_VERBS_CMD_DESTROY_QP, &core, sizeof(core), NULL, 0,
		       sizeof(resp));
}

int raw_reg_mr(struct raw_ctx *ctx, uint32_t pd, void *mem, size_t len, uint32_t *handle,
	       uint32_t *key)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ib_uverbs_reg_mr core = {
		.response = (uintptr_t)&resp,
		.start = (uintptr_t)mem,
		.length = len,
		.hca_va = (uintptr_t)mem,
		.pd_handle = pd,
		.access_flags = VU_RW,
	};
	int err = raw_cmd(ctx->fd, IB_USER_VERBS_CMD_REG_MR, &core, sizeof(core), NULL, 0,
			  sizeof(resp));

	*handle = resp.mr_handle;
	*key = resp.lkey;
	return err;
}

struct ohca_create_cq_req raw_cq_req(void *buf)
{
	return (struct ohca_create_cq_req){
		.buf_addr = (uintptr_t)buf,
		.buf_size = RAW_CQ_BYTES,
		.rec_offset = RAW_CQ_REC,
		.log_size = RAW_CQ_LOG_SIZE,
	};
}

struct ohca_create_qp_req raw_qp_req(void *buf, uint32_t slot)
{
	return (struct ohca_create_qp_req){
		.slot = slot,
		.buf_addr = (uintptr_t)buf,
		.buf_size = RAW_QP_BYTES,
		.sq_offset = 0,
		.rq_offset = RAW_RQ_OFFSET,
		.sq_rec_offset = RAW_SQ_REC,
		.rq_rec_offset = RAW_RQ_REC,
		.sq_log_size = RAW_LOG_SIZE,
		.sq_log_stride = 8,
		.rq_log_size = RAW_LOG_SIZE,
		.rq_log_stride = 6,
	};
}

void raw_qp_create(struct raw_ctx *ctx, uint32_t pd, struct raw_qp *q, uint32_t slot)
{
	struct ohca_create_cq_req cq_req;
	struct ohca_create_qp_req qp_req;
	int err;

	memset(q, 0, sizeof(*q));
	q->ctx = ctx;
	q->slot = slot;
	q->cq_buf = vu_alloc(RAW_CQ_BYTES);
	q->cqes = (struct ohca_cqe *)q->cq_buf;
	q->cq_rec = (struct ohca_cq_rec *)(q->cq_buf + RAW_CQ_REC);
	q->buf = vu_alloc(RAW_QP_BYTES);
	q->sq = q->buf;
	q->rq = q->buf + RAW_RQ_OFFSET;
	q->sq_rec = (struct ohca_wq_rec *)(q->buf + RAW_SQ_REC);
	q->rq_rec = (struct ohca_wq_rec *)(q->buf + RAW_RQ_REC);

	cq_req = raw_cq_req(q->cq_buf);
	qp_req = raw_qp_req(q->buf, slot);
	err = raw_create_cq(ctx, RAW_CQ_SIZE, &cq_req, sizeof(cq_req), &q->cq_handle, &q->cqn);
	if (err)
		tap_bail("CQ: %s", strerror(err));
	err = raw_create_qp(ctx, pd, q->cq_handle, &qp_req, sizeof(qp_req), &q->qp_handle, &q->qpn);
	if (err)
		tap_bail("QP: %s", strerror(err));
}

void raw_qp_destroy(struct raw_qp *q)
{
	EXPECT_EQ(raw_destroy_qp(q->ctx, q->qp_handle), 0);
	EXPECT_EQ(raw_destroy_cq(q->ctx, q->cq_handle), 0);
	vu_free(q->cq_buf, RAW_CQ_BYTES);
	vu_free(q->buf, RAW_QP_BYTES);
}

static int modify(struct raw_qp *q, struct ib_uverbs_modify_qp *core, uint8_t state, uint32_t mask)
{
	core->qp_handle = q->qp_handle;
	core->qp_state = state;
	core->attr_mask = mask | IBV_QP_STATE;
	return raw_cmd(q->ctx->fd, IB_USER_VERBS_CMD_MODIFY_QP, core, sizeof(*core), NULL, 0, 0);
}

int raw_qp_connect(struct raw_qp *q, uint32_t dest, const uint8_t gid[16], int gid_index)
{
	struct ib_uverbs_modify_qp core = {
		.port_num = VU_PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.timeout = 10,
		.retry_cnt = 1,
		.rnr_retry = 0,
		.dest = {.sgid_index = gid_index,
			 .hop_limit = 64,
			 .is_global = 1,
			 .port_num = VU_PORT},
	};
	int err = modify(q, &core, IBV_QPS_RESET, 0);

	memcpy(core.dest.dgid, gid, 16);
	q->sq_pi = 0;
	q->rq_pi = 0;
	q->sq_rec->pi = 0;
	q->rq_rec->pi = 0;
	if (!err)
		err = modify(q, &core, IBV_QPS_INIT,
			     IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (!err)
		err = modify(q, &core, IBV_QPS_RTR,
			     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (!err)
		err = modify(q, &core, IBV_QPS_RTS,
			     IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_MAX_QP_RD_ATOMIC);
	return err;
}

struct ohca_sq_wqe *raw_send_wqe(struct raw_qp *q)
{
	uint8_t *wqe = q->sq + q->sq_pi % RAW_SIZE * RAW_SQ_STRIDE;

	memset(wqe, 0, RAW_SQ_STRIDE);
	return (struct ohca_sq_wqe *)wqe;
}

void raw_doorbell(struct raw_qp *q)
{
	struct ohca_shadow *shadow = q->ctx->shadow;
	uint32_t slot = q->slot;

	if (!shadow) {
		*(volatile uint64_t *)(q->ctx->uar + OHCA_UAR_SQ_DB) =
			htole64((uint64_t)q->qpn << OHCA_SQ_DB_QPN_SHIFT | q->sq_pi);
		return;
	}
	if (slot < OHCA_SHADOW_DIRECT_SLOTS) {
		__atomic_fetch_or(&shadow->direct[slot / 64], htole64(1ULL << slot % 64),
				  __ATOMIC_SEQ_CST);
	} else {
		slot -= OHCA_SHADOW_DIRECT_SLOTS;
		__atomic_fetch_or(&shadow->indirect[slot / 64], htole64(1ULL << slot % 64),
				  __ATOMIC_SEQ_CST);
		__atomic_fetch_or(&shadow->summary, htole64(1ULL << slot / 64), __ATOMIC_SEQ_CST);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shadow->asleep, __ATOMIC_SEQ_CST))
		*(volatile uint32_t *)(q->ctx->uar + OHCA_UAR_WAKE) = 1;
}

void raw_ring(struct raw_qp *q, uint32_t num)
{
	q->sq_pi += num;
	__atomic_store_n(&q->sq_rec->pi, htole32(q->sq_pi), __ATOMIC_RELEASE);
	raw_doorbell(q);
}

void raw_recv(struct raw_qp *q, uint32_t num)
{
	while (num--)
		memset(q->rq + q->rq_pi++ % RAW_SIZE * RAW_RQ_STRIDE, 0, RAW_RQ_STRIDE);
	__atomic_store_n(&q->rq_rec->pi, htole32(q->rq_pi), __ATOMIC_RELEASE);
}

bool raw_completed(struct raw_qp *q, uint32_t index)
{
	struct ohca_cqe *cqe = &q->cqes[index % RAW_CQ_SIZE];
	uint64_t deadline = vu_now() + vu_timeout_ms();

	while ((__atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE) & 1) ==
	       (index >> RAW_CQ_LOG_SIZE & 1)) {
		if (vu_now() > deadline)
			return false;
		sched_yield();
	}
	return true;
}

bool raw_poll(struct raw_qp *q, struct ohca_cqe *cqe)
{
	if (!raw_completed(q, q->cq_ci))
		return false;
	*cqe = q->cqes[q->cq_ci % RAW_CQ_SIZE];
	q->cq_ci++;
	__atomic_store_n(&q->cq_rec->ci, htole32(q->cq_ci), __ATOMIC_RELEASE);
	return true;
}

int raw_async(struct raw_ctx *ctx)
{
	struct pollfd pfd = {.fd = ctx->async_fd, .events = POLLIN};
	struct ib_uverbs_async_event_desc event;

	if (poll(&pfd, 1, vu_timeout_ms()) != 1 ||
	    read(ctx->async_fd, &event, sizeof(event)) != sizeof(event))
		return -1;
	return event.event_type;
}
