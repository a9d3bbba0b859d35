// SPDX-License-Identifier: GPL-2.0
/* Functions for all verbs tests. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "verbs_util.h"

uint64_t vu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

int vu_timeout_ms(void)
{
	return 60000 * tap_slow();
}

static bool is_device(const char *name)
{
	const char *want = getenv("OHCA_IBDEV");

	return want && *want ? !strcmp(name, want) : !strncmp(name, "ohca", 4);
}

const char *vu_device_name(void)
{
	static char name[64];
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	name[0] = 0;
	for (i = 0; list && list[i]; i++) {
		if (!is_device(ibv_get_device_name(list[i])))
			continue;
		snprintf(name, sizeof(name), "%s", ibv_get_device_name(list[i]));
		break;
	}
	if (list)
		ibv_free_device_list(list);
	return name[0] ? name : NULL;
}

struct ibv_context *vu_open_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!is_device(ibv_get_device_name(list[i])))
			continue;
		ctx = ibv_open_device(list[i]);
		break;
	}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

uint8_t vu_port(void)
{
	const char *port = getenv("OHCA_PORT");

	return port ? atoi(port) : 1;
}

bool vu_is_ib(const struct vu_dev *dev)
{
	return dev->port.link_layer == IBV_LINK_LAYER_INFINIBAND;
}

static bool gid_is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

/*
 * The GID of the machine's IPv4 address, or of any IPv4 address, or any RoCEv2 GID.  An InfiniBand
 * port always has a first one.
 */
static bool find_gid(struct vu_dev *dev)
{
	const char *ip = getenv("OHCA_IP");
	struct in_addr addr = {};
	int best = 0, i;

	if (vu_is_ib(dev))
		return !ibv_query_gid(dev->ctx, VU_PORT, 0, &dev->gid);
	if (ip)
		inet_pton(AF_INET, ip, &addr);
	for (i = 0; i < dev->port.gid_tbl_len; i++) {
		struct ibv_gid_entry entry;
		int score;

		if (ibv_query_gid_ex(dev->ctx, VU_PORT, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		score = 1;
		if (gid_is_ipv4(&entry.gid))
			score += memcmp(entry.gid.raw + 12, &addr, 4) ? 1 : 2;
		if (score <= best)
			continue;
		best = score;
		dev->gid = entry.gid;
		dev->gid_index = i;
	}
	return best > 0;
}

void vu_open(struct vu_dev *dev)
{
	memset(dev, 0, sizeof(*dev));
	if (!vu_device_name())
		tap_bail("no device to test");
	dev->ctx = vu_open_context();
	if (!dev->ctx)
		tap_bail("cannot open the device: %s", strerror(errno));
	dev->is_ohca = !strncmp(ibv_get_device_name(dev->ctx->device), "ohca", 4);
	if (ibv_query_device(dev->ctx, &dev->attr) || ibv_query_port(dev->ctx, VU_PORT, &dev->port))
		tap_bail("cannot query the device");
	if (!find_gid(dev))
		tap_bail("the port has no GID");
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (!dev->pd)
		tap_bail("no protection domain: %s", strerror(errno));
}

void vu_close(struct vu_dev *dev)
{
	EXPECT_EQ(ibv_dealloc_pd(dev->pd), 0);
	EXPECT_EQ(ibv_close_device(dev->ctx), 0);
}

struct ibv_mr *vu_alloc_mr(struct vu_dev *dev, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(dev->pd, vu_alloc(len), len, VU_RW);

	if (!mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
	return mr;
}

int vu_main(struct vu_dev *dev, struct ibv_mr *mr, const struct tap_test *tests, unsigned int num,
	    void (*cleanup)(void))
{
	int status = tap_run(tests, num);

	tap_begin();
	if (cleanup)
		cleanup();
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	vu_close(dev);
	return tap_failed() ? TAP_FAIL : status;
}

static struct ibv_cq *own_cq(struct vu_dev *dev, const struct vu_qp_opts *opts, uint32_t num)
{
	return ibv_create_cq(dev->ctx, num ? num : 1, NULL, opts->channel, 0);
}

bool vu_qp_create(struct vu_dev *dev, struct vu_qp *q, const struct vu_qp_opts *opts)
{
	struct ibv_qp_init_attr attr = {
		.cap =
			{
				.max_send_wr = opts->send_wr,
				.max_recv_wr = opts->recv_wr,
				.max_send_sge = opts->send_sge,
				.max_recv_sge = opts->recv_sge,
				.max_inline_data = opts->inline_data,
			},
		.qp_type = IBV_QPT_RC,
		.srq = opts->srq,
		.sq_sig_all = opts->sig_all,
	};

	memset(q, 0, sizeof(*q));
	q->own_scq = !opts->send_cq;
	q->own_rcq = !opts->recv_cq;
	q->scq = opts->send_cq ? opts->send_cq : own_cq(dev, opts, opts->send_wr);
	q->rcq = opts->recv_cq ? opts->recv_cq : own_cq(dev, opts, opts->recv_wr);
	if (!EXPECT(q->scq) || !EXPECT(q->rcq))
		goto err;
	attr.send_cq = q->scq;
	attr.recv_cq = q->rcq;
	q->qp = ibv_create_qp(opts->pd ? opts->pd : dev->pd, &attr);
	if (!q->qp) {
		tap_fail(__FILE__, __LINE__, "ibv_create_qp: %s", strerror(errno));
		goto err;
	}
	q->cap = attr.cap;
	q->psn = (q->qp->qp_num * 2654435761U) & 0xffffff;
	return true;
err:
	vu_qp_destroy(q);
	return false;
}

bool vu_ud_create(struct vu_dev *dev, struct vu_qp *q, uint16_t pkey_index, uint32_t qkey)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .pkey_index = pkey_index,
				   .port_num = VU_PORT,
				   .qkey = qkey};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

	q->own_scq = q->own_rcq = true;
	q->scq = ibv_create_cq(dev->ctx, 4, NULL, NULL, 0);
	q->rcq = ibv_create_cq(dev->ctx, 4, NULL, NULL, 0);
	if (!EXPECT(q->scq) || !EXPECT(q->rcq))
		return false;
	init.send_cq = q->scq;
	init.recv_cq = q->rcq;
	q->qp = ibv_create_qp(dev->pd, &init);
	if (!EXPECT(q->qp) || !EXPECT_EQ(ibv_modify_qp(q->qp, &attr, mask), 0))
		return false;
	attr.qp_state = IBV_QPS_RTR;
	if (!EXPECT_EQ(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE), 0))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

bool vu_ud_send(struct vu_qp *q, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, struct ibv_mr *mr,
		const void *buf, uint32_t len, uint64_t wr_id)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len, .lkey = mr->lkey};
	struct ibv_send_wr *bad,
		wr = {
			.wr_id = wr_id,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = qkey},
		};
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_post_send(q->qp, &wr, &bad), 0) &&
	       vu_wait_wc(q->scq, &wc, wr_id, IBV_WC_SUCCESS);
}

void vu_qp_destroy(struct vu_qp *q)
{
	if (q->qp)
		EXPECT_EQ(ibv_destroy_qp(q->qp), 0);
	if (q->own_scq && q->scq)
		EXPECT_EQ(ibv_destroy_cq(q->scq), 0);
	if (q->own_rcq && q->rcq)
		EXPECT_EQ(ibv_destroy_cq(q->rcq), 0);
	memset(q, 0, sizeof(*q));
}

void vu_qp_addr(const struct vu_dev *dev, const struct vu_qp *q, struct vu_addr *addr)
{
	addr->qpn = q->qp->qp_num;
	addr->psn = q->psn;
	addr->gid = dev->gid;
	addr->lid = dev->port.lid;
}

int vu_any_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = VU_PORT, .qkey = 1};
	int mask = IBV_QP_STATE | IBV_QP_PORT;

	if (qp->qp_type == IBV_QPT_UD)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
	else if (qp->qp_type != IBV_QPT_RAW_PACKET)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
	return ibv_modify_qp(qp, &attr, mask);
}

struct ibv_xrcd *vu_open_xrcd(struct vu_dev *dev)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1};

	return ibv_open_xrcd(dev->ctx, &init);
}

struct ibv_srq *vu_create_xrc_srq(struct vu_dev *dev, struct ibv_xrcd *xrcd, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = dev->pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	return ibv_create_srq_ex(dev->ctx, &init);
}

bool vu_to_init(struct vu_qp *q, const struct vu_qp_opts *opts)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = opts->pkey_index,
		.port_num = VU_PORT,
		.qp_access_flags = opts->access,
	};

	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
			 0);
}

bool vu_to_rtr(struct vu_dev *dev, struct vu_qp *q, const struct vu_addr *to,
	       const struct vu_qp_opts *opts)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = opts->mtu,
		.dest_qp_num = to->qpn,
		.rq_psn = to->psn,
		.max_dest_rd_atomic = opts->dest_rd_atomic,
		.min_rnr_timer = opts->min_rnr_timer,
		.ah_attr =
			{
				.dlid = to->lid,
				.src_path_bits = opts->path_bits,
				.sl = opts->sl,
				.is_global = !vu_is_ib(dev),
				.grh = {.dgid = to->gid,
					.sgid_index = dev->gid_index,
					.hop_limit = 64},
				.port_num = VU_PORT,
			},
	};

	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
}

bool vu_to_rts(struct vu_qp *q, const struct vu_qp_opts *opts)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = q->psn,
		.timeout = opts->timeout,
		.retry_cnt = opts->retry_cnt,
		.rnr_retry = opts->rnr_retry,
		.max_rd_atomic = opts->rd_atomic,
	};

	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr,
				       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

bool vu_to_err(struct vu_qp *q)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE), 0);
}

bool vu_connect(struct vu_dev *dev, struct vu_qp *q, const struct vu_addr *to,
		const struct vu_qp_opts *opts)
{
	return vu_to_init(q, opts) && vu_to_rtr(dev, q, to, opts) && vu_to_rts(q, opts);
}

bool vu_connect_half(struct vu_dev *dev, struct vu_qp *a, struct vu_qp *b,
		     const struct vu_qp_opts *opts)
{
	struct vu_addr to_a, to_b;

	vu_qp_addr(dev, a, &to_a);
	vu_qp_addr(dev, b, &to_b);
	return vu_connect(dev, a, &to_b, opts) && vu_to_init(b, opts) &&
	       vu_to_rtr(dev, b, &to_a, opts);
}

bool vu_connect_pair(struct vu_dev *dev, struct vu_qp *a, struct vu_qp *b,
		     const struct vu_qp_opts *opts)
{
	return vu_connect_half(dev, a, b, opts) && vu_to_rts(b, opts);
}

bool vu_connect_sess(struct vu_dev *dev, struct sess *s, struct vu_qp *q,
		     const struct vu_qp_opts *opts, struct vu_addr *mine, struct vu_addr *theirs)
{
	if (!vu_qp_create(dev, q, opts))
		return false;
	vu_qp_addr(dev, q, mine);
	return sess_xchg(s, mine, theirs, sizeof(*mine)) && vu_connect(dev, q, theirs, opts) &&
	       sess_sync(s);
}

enum ibv_qp_state vu_state(struct vu_qp *q)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!EXPECT_EQ(ibv_query_qp(q->qp, &attr, IBV_QP_STATE, &init), 0))
		return IBV_QPS_UNKNOWN;
	return attr.qp_state;
}

bool vu_wait(struct ibv_cq *cq, struct ibv_wc *wc, int num)
{
	uint64_t deadline = vu_now() + vu_timeout_ms();
	int got = 0;

	while (got < num) {
		int n = ibv_poll_cq(cq, num - got, wc + got);

		if (n < 0) {
			tap_fail(__FILE__, __LINE__, "ibv_poll_cq: %d", n);
			return false;
		}
		got += n;
		if (n)
			continue;
		if (vu_now() > deadline) {
			tap_fail(__FILE__, __LINE__, "%d of %d completions came", got, num);
			return false;
		}
		sched_yield();
	}
	return true;
}

bool vu_wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t wr_id, enum ibv_wc_status status)
{
	if (!vu_wait(cq, wc, 1))
		return false;
	if (wc->status != status || wc->wr_id != wr_id) {
		tap_fail(__FILE__, __LINE__,
			 "wr_id 0x%llx: %s (vendor_err %#x), expected wr_id 0x%llx: %s",
			 (unsigned long long)wc->wr_id, ibv_wc_status_str(wc->status),
			 wc->vendor_err, (unsigned long long)wr_id, ibv_wc_status_str(status));
		return false;
	}
	return true;
}

bool vu_wait_event(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
	struct pollfd pfd = {.fd = channel->fd, .events = POLLIN};
	void *cq_context;

	if (poll(&pfd, 1, vu_timeout_ms()) != 1) {
		tap_fail(__FILE__, __LINE__, "no completion event");
		return false;
	}
	if (!EXPECT_EQ(ibv_get_cq_event(channel, cq, &cq_context), 0))
		return false;
	ibv_ack_cq_events(*cq, 1);
	return true;
}

bool vu_wait_async(struct ibv_context *ctx, enum ibv_event_type type, void *element)
{
	struct pollfd pfd = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;
	bool ok;

	if (poll(&pfd, 1, vu_timeout_ms()) != 1) {
		tap_fail(__FILE__, __LINE__, "no event, expected %s", ibv_event_type_str(type));
		return false;
	}
	if (!EXPECT_EQ(ibv_get_async_event(ctx, &event), 0))
		return false;
	ok = event.event_type == type && (!element || event.element.qp == element);
	if (!ok)
		tap_fail(__FILE__, __LINE__, "event %s of %p, expected %s of %p",
			 ibv_event_type_str(event.event_type), (void *)event.element.qp,
			 ibv_event_type_str(type), element);
	ibv_ack_async_event(&event);
	return ok;
}

bool vu_async_pending(struct ibv_context *ctx, struct ibv_async_event *event)
{
	struct pollfd pfd = {.fd = ctx->async_fd, .events = POLLIN};

	if (poll(&pfd, 1, 0) != 1 || ibv_get_async_event(ctx, event))
		return false;
	ibv_ack_async_event(event);
	return true;
}

int vu_post_send(struct vu_qp *q, enum ibv_wr_opcode op, uint64_t wr_id, int flags,
		 struct ibv_mr *mr, void *addr, uint32_t len, uint64_t raddr, uint32_t rkey)
{
	struct ibv_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = mr ? mr->lkey : 0};
	struct ibv_send_wr wr =
				   {
					   .wr_id = wr_id,
					   .sg_list = &sge,
					   .num_sge = len ? 1 : 0,
					   .opcode = op,
					   .send_flags = flags,
					   .imm_data = htonl(0x01234567),
					   .wr.rdma = {.remote_addr = raddr, .rkey = rkey},
				   },
			   *bad;

	return ibv_post_send(q->qp, &wr, &bad);
}

int vu_post_recv(struct vu_qp *q, uint64_t wr_id, struct ibv_mr *mr, void *addr, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = mr ? mr->lkey : 0};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = len ? 1 : 0}, *bad;

	return ibv_post_recv(q->qp, &wr, &bad);
}

void *vu_alloc(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		tap_bail("no memory (%zu bytes)", len);
	return p;
}

void vu_free(void *buf, size_t len)
{
	munmap(buf, len);
}

bool vu_kernel_before(unsigned int major, unsigned int minor)
{
	unsigned int at_major, at_minor;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &at_major, &at_minor) != 2)
		return false;
	return at_major < major || (at_major == major && at_minor < minor);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

void vu_fill(void *buf, size_t len, uint64_t seed)
{
	uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i += 8) {
		uint64_t word = mix(seed * 0x100000001b3ULL + i + 1);

		memcpy(p + i, &word, len - i < 8 ? len - i : 8);
	}
}

ssize_t vu_check(const void *buf, size_t len, uint64_t seed)
{
	const uint8_t *p = buf;
	size_t i, j;

	for (i = 0; i < len; i += 8) {
		uint64_t word = mix(seed * 0x100000001b3ULL + i + 1);
		size_t n = len - i < 8 ? len - i : 8;

		if (!memcmp(p + i, &word, n))
			continue;
		for (j = 0; j < n; j++)
			if (p[i + j] != ((uint8_t *)&word)[j])
				return i + j;
	}
	return -1;
}

uint64_t vu_sum(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	uint64_t sum = len;
	size_t i;

	for (i = 0; i < len; i += 8) {
		uint64_t word = 0;

		memcpy(&word, p + i, len - i < 8 ? len - i : 8);
		sum = mix(sum ^ word) + i;
	}
	return sum;
}

uint64_t vu_rand(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return mix(mix(*state));
}
