// SPDX-License-Identifier: GPL-2.0
/*
 * How long messages take beside another machine's commands and messages.  The device is in this program: HCAs 1 and 2 send
 * each other messages of 8 bytes, one at a time, while HCA 0 executes one command, or a series of them, or a reset.  Or HCA 1
 * sends such messages to itself, while one HCA or seven send as much as they can.  A figure is the processor time of half a
 * round trip, in which the host's other programs have little part.  Beside commands, only round trips during which the
 * command was being executed count.
 *
 *	bench_beside [--runs N] [--what NAME]
 *
 * prints "beside what=NAME samples=N ns=MEDIAN p99_ns=NS p999_ns=NS ratio=R": the time that 99.9 % do not exceed, as a multiple of
 * what 99.9 % of the round trips do not exceed while the others do nothing.  The host adds to some of the times, never
 * takes from them: so each of the two is the least of the runs.
 */

#include <endian.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "device/cmdq.h"
#include "eth/flow_table.h"
#include "inproc.h"
#include "mem/dm.h"
#include "memop.h"
#include "rig_odp.h"
#include "rig_raw.h"
#include "rig_srq.h"
#include "tcp_packet.h"

#define REGION (8ULL << 30) /* 2 Mi pages; their table has 16 MiB */
#define ODP_REGION (1ULL << 30)
#define ALONE 20000
#define WARM_UP 16
#define OBJECTS 4096
#define HUGE_LEN (1U << 30)
#define INTERRUPTED_NS 100000 /* a longer time is not the caches' */
#define STORM_QPS 8
#define STORM_BATCH 64 /* messages, the last of which is signaled */

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct beside - the measurement
 * @a, @b: QPs of HCAs 1 and 2
 * @ns: half round trips
 * @measures: they are measured
 * @at_once: so many count as one
 * @last: when the last one ended
 * @alone: what 99.9 % of them do not exceed
 */
static struct {
	struct rig *rig;
	struct rig_hca *busy;
	struct rig_qp *a, *b;
	struct rig_mr *ma, *mb;
	struct bench_values ns;
	bool measures;
	unsigned int at_once;
	double last, alone;
	uint32_t ids[OBJECTS];
} m = {.at_once = 1};

/**
 * struct storm - QPs of an HCA that send small messages
 * @posted: of each, not yet completed
 */
struct storm {
	struct rig_hca *hca;
	struct rig_mr *mr;
	struct rig_qp *qps[STORM_QPS];
	unsigned int posted[STORM_QPS];
};

static void send_one(struct rig_qp *from, struct rig_qp *to, struct rig_mr *mr, struct rig_mr *at)
{
	struct ohca_sge sge = rig_sge(mr, BENCH_IOVA, 8), room = rig_sge(at, BENCH_IOVA, 8);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct ohca_cqe cqe;

	rig_post_recv(to, 0, &room, 1);
	rig_post_send(from, &wr);
	while (!drv_cq_poll(to->rcq, &cqe))
		inproc_poll();
	drv_cq_ack(to->rcq);
	while (!drv_cq_poll(from->scq, &cqe))
		inproc_poll();
	drv_cq_ack(from->scq);
}

/* How often the host has given the processor to somebody else */
static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		abort();
	return usage.ru_nivcsw;
}

/* One that the host interrupts takes longer, also by processor time, as the caches are another one's: it does not count. */
static void ping_pong(void)
{
	static long before;
	unsigned int i;
	double ns;
	long now;

	for (i = 0; i < m.at_once; i++) {
		send_one(m.a, m.b, m.ma, m.mb);
		send_one(m.b, m.a, m.mb, m.ma);
	}
	ns = (bench_cpu_clock() - m.last) / 2;
	now = switches();
	if (now == before || ns > INTERRUPTED_NS || !m.ns.num)
		bench_add(&m.ns, ns);
	before = now;
	m.last = bench_cpu_clock();
}

static bool is_busy(void)
{
	const struct drv *drv = m.busy->drv;
	const struct ohca_cmd_cqe *cqe = &drv->cq[drv->ci & ((1U << DRV_LOG_CMDS) - 1)];
	const struct hca *hca = inproc_hca(0);

	if (hca->to_reset)
		return true;
	return hca->ready && drv->pi != drv->ci &&
	       (cqe->owner & 1) != !(drv->ci >> DRV_LOG_CMDS & 1);
}

/* Before each round of the loop in which software waits: the device runs here, with the messages. */
static void hook(void)
{
	if (!m.measures || !is_busy())
		return;
	m.last = bench_cpu_clock();
	while (is_busy())
		ping_pong();
}

/* Messages come and go already when what is to be measured begins. */
static void measure(bool on)
{
	unsigned int i;

	for (i = 0; on && i < WARM_UP; i++)
		send_one(m.a, m.b, m.ma, m.mb);
	m.measures = on;
}

/* Round trips in a row; @busy, if not NULL, posts what the others send */
static void series(void (*busy)(void))
{
	unsigned int i;

	for (i = 0; i < ALONE; i++) {
		if (busy)
			busy();
		m.last = bench_cpu_clock();
		ping_pong();
	}
}

static void nothing(void)
{
	series(NULL);
}

/*
 * Ten at a time count as one: what the host itself does to something that takes so long, for those of the others that take
 * longer than one alone.
 */
static void nothing_in_tens(void)
{
	m.at_once = 10;
	series(NULL);
	m.at_once = 1;
}

/* What HCA 0 does: what is not to be measured is between measure(false) and measure(true). */

static void reset(void)
{
	measure(true);
	/* The write to the register is a part of the first round trip. */
	m.last = bench_cpu_clock();
	drv_set_reg(m.busy->drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
	do
		ping_pong();
	while (is_busy());
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static struct rig_mr *large_region(void)
{
	return rig_mr_new(m.busy, BENCH_IOVA, REGION, BENCH_ALL_ACCESS, 1024);
}

static void create_region(void)
{
	measure(true);
	large_region();
	measure(false);
	reset();
}

static void destroy_region(void)
{
	struct rig_mr *mr = large_region();

	measure(true);
	rig_mr_destroy(mr);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void reset_region(void)
{
	large_region();
	reset();
}

static struct rig_mr *odp_region(void)
{
	struct rig_mr *mr = rig_mr_new(m.busy, BENCH_IOVA, ODP_REGION, BENCH_ALL_ACCESS, 1024);

	rig_odp(mr, BENCH_ALL_ACCESS);
	return mr;
}

static void map_pages(void)
{
	struct rig_mr *mr = odp_region();

	measure(true);
	rig_odp_map(mr, 0, mr->num_pages, true);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void unmap_pages(void)
{
	struct rig_mr *mr = odp_region();

	rig_odp_map(mr, 0, mr->num_pages, true);
	measure(true);
	rig_odp_unmap(mr, 0, mr->num_pages);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static const struct rig_qp_opts small_qp = {.log_size = 1, .max_sge = 1};

static void create_qps(void)
{
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(m.busy, &small_qp, &qp);
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		m.ids[i] = drv_create(m.busy->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
}

static void create_many_qps(void)
{
	measure(true);
	create_qps();
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void destroy_many_qps(void)
{
	unsigned int i;

	create_qps();
	measure(true);
	for (i = 0; i < OBJECTS; i++)
		drv_destroy(m.busy->drv, OHCA_CMD_DESTROY_QP, m.ids[i]);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void reset_qps(void)
{
	create_qps();
	reset();
}

/* A QP that many windows are bound to */
static struct rig_qp *qp_with_windows(void)
{
	const struct rig_qp_opts opts = {.ext = true};
	struct rig_qp *qp = rig_qp_new(m.busy, &opts), *peer = rig_qp_new(m.busy, &opts);
	struct rig_mr *mr =
		rig_mr_new(m.busy, BENCH_IOVA, 4096, BENCH_ALL_ACCESS | OHCA_ACCESS_MW_BIND, 0);
	unsigned int i;

	rig_connect(qp, peer);
	for (i = 0; i < OBJECTS; i++) {
		uint32_t key = memop_key(m.busy, OHCA_MKEY_MW_2, 0);
		const struct memop_bind bind = {.rkey = key,
						.new_rkey = memop_next_key(key),
						.lkey = mr->key,
						.addr = BENCH_IOVA,
						.length = 8,
						.access = OHCA_ACCESS_REMOTE_READ};

		if (memop_bind(qp, &bind).status)
			abort();
	}
	return qp;
}

static void reset_qp_windows(void)
{
	struct rig_qp *qp = qp_with_windows();

	measure(true);
	rig_to_reset(qp);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static uint32_t qp_in_groups(void)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .ext = true};
	uint32_t qpn = rig_qp_new(m.busy, &opts)->qpn, i;

	for (i = 0; i < OBJECTS; i++) {
		struct ohca_mcast_in in = {.gid = {0xff, 0x12}, .qpn = htole32(qpn)};

		memcpy(in.gid + 12, &i, sizeof(i));
		if (drv_cmd(m.busy->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0))
			abort();
	}
	return qpn;
}

static void attach_groups(void)
{
	measure(true);
	qp_in_groups();
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void destroy_qp_groups(void)
{
	uint32_t qpn = qp_in_groups();

	measure(true);
	drv_destroy(m.busy->drv, OHCA_CMD_DESTROY_QP, qpn);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void create_cq(void)
{
	measure(true);
	drv_cq_new(m.busy->drv, 20, m.busy->comp->eqn);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void resize_cq(void)
{
	struct drv_cq *cq = drv_cq_new(m.busy->drv, 4, m.busy->comp->eqn);

	measure(true);
	drv_cq_resize(cq, 20);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

#define LONG_LOG_SIZE 15
#define TARGETS 1024

/* Queues of 16 MiB each */
static void create_long_qp(void)
{
	const struct rig_qp_opts opts = {.log_size = LONG_LOG_SIZE, .max_sge = 28};
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(m.busy, &opts, &qp);
	uint32_t id;

	measure(true);
	id = drv_create(m.busy->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	drv_destroy(m.busy->drv, OHCA_CMD_DESTROY_QP, id);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void resize_srq(void)
{
	const struct rig_srq_opts opts = {.log_size = LONG_LOG_SIZE, .max_sge = 31};
	struct rig_srq *srq = rig_srq_new(m.busy, &opts);
	unsigned int i;

	for (i = 0; i < 1U << LONG_LOG_SIZE; i++)
		rig_srq_post(srq, i, NULL, 0);
	measure(true);
	if (rig_srq_resize(srq, LONG_LOG_SIZE))
		abort();
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void destroy_xrc_srq(void)
{
	struct rig_mr *mr = rig_mr_new(m.busy, BENCH_IOVA, 4096, BENCH_ALL_ACCESS, 0);
	const struct rig_qp_opts ini = {.type = OHCA_QPT_XRC_INI,
					.log_size = 1,
					.max_sge = 1,
					.cq = drv_cq_new(m.busy->drv, 4, m.busy->comp->eqn)};
	struct rig_qp_opts tgt = {.type = OHCA_QPT_XRC_TGT};
	struct rig_srq_opts opts = {.log_size = 12};
	struct ohca_sge sge = rig_sge(mr, BENCH_IOVA, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge};
	struct rig_srq *srq;
	unsigned int i;

	tgt.xrcdn = drv_create(m.busy->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0);
	opts.xrcdn = tgt.xrcdn;
	opts.cqn = drv_cq_new(m.busy->drv, 13, m.busy->comp->eqn)->cqn;
	srq = rig_srq_new(m.busy, &opts);
	wr.srqn = srq->srqn;
	for (i = 0; i < TARGETS; i++) {
		struct rig_qp *from = rig_qp_new(m.busy, &ini);

		bench_connect(from, rig_qp_new(m.busy, &tgt));
		rig_srq_post(srq, i, &sge, 1);
		rig_post_send(from, &wr);
		inproc_settle();
	}
	measure(true);
	rig_srq_destroy(srq);
	measure(false);
	rig_renew_hca(m.rig, 0);
}

static void free_dm(void)
{
	const struct ohca_alloc_dm_in in = {.length = htole64(DM_SIZE)};
	struct ohca_alloc_dm_out out;

	if (drv_cmd(m.busy->drv, OHCA_CMD_ALLOC_DM, &in, sizeof(in), &out, sizeof(out)))
		abort();
	memset(inproc_hca(0)->dm->mem, 1, DM_SIZE);
	measure(true);
	drv_destroy(m.busy->drv, OHCA_CMD_FREE_DM, le32toh(out.id));
	measure(false);
	rig_renew_hca(m.rig, 0);
}

/* Messages of HCA 1 to itself */
static void use_pair_of(struct rig_hca *hca)
{
	const struct rig_qp_opts opts = {.log_size = 6, .max_sge = 1};

	m.a = rig_qp_new(hca, &opts);
	m.b = rig_qp_new(hca, &opts);
	m.ma = rig_mr_new(hca, BENCH_IOVA, 4096, BENCH_ALL_ACCESS, 0);
	m.mb = m.ma;
	bench_connect(m.a, m.b);
}

static struct storm storms[SERVER_MAX_HCAS];
static unsigned int num_storms;

static void refill(void)
{
	unsigned int i, k, n;
	struct ohca_cqe cqe;

	for (i = 0; i < num_storms; i++) {
		struct storm *storm = &storms[i];
		struct ohca_sge sge = rig_sge(storm->mr, BENCH_IOVA, 8);
		struct rig_wr wr = rig_write(&sge, BENCH_IOVA + 64, storm->mr->key);

		for (k = 0; k < STORM_QPS; k++) {
			while (drv_cq_poll(storm->qps[k]->scq, &cqe)) {
				storm->posted[k] -= STORM_BATCH;
				drv_cq_ack(storm->qps[k]->scq);
			}
			if (storm->posted[k] > STORM_BATCH)
				continue;
			for (n = 1; n <= STORM_BATCH; n++) {
				wr.flags = n < STORM_BATCH ? 0 : OHCA_WQE_SIGNALED;
				rig_put_send(storm->qps[k], &wr);
			}
			rig_ring(storm->qps[k]);
			storm->posted[k] += STORM_BATCH;
		}
	}
}

/* Storms of @num HCAs, but of HCA 1 */
static void storm_of(unsigned int num)
{
	const struct rig_qp_opts opts = {.log_size = 8, .max_sge = 1};
	unsigned int i, k;

	num_storms = num;
	for (i = 0; i < num; i++) {
		struct storm *storm = &storms[i];

		*storm = (struct storm){.hca = &m.rig->hca[i ? i + 1 : 0]};
		storm->mr = rig_mr_new(storm->hca, BENCH_IOVA, 4096, BENCH_ALL_ACCESS, 0);
		for (k = 0; k < STORM_QPS; k++) {
			storm->qps[k] = rig_qp_new(storm->hca, &opts);
			bench_connect(storm->qps[k], rig_qp_new(storm->hca, &opts));
		}
	}
	series(refill);
}

static void storm_of_one(void)
{
	use_pair_of(&m.rig->hca[1]);
	storm_of(1);
	rig_renew(m.rig);
}

static void storm_of_seven(void)
{
	use_pair_of(&m.rig->hca[1]);
	storm_of(7);
	rig_renew(m.rig);
}

static struct rig_qp *huge_from, *huge_to;
static struct rig_mr *huge;

static void post_huge(void)
{
	struct ohca_sge sge = rig_sge(huge, BENCH_IOVA, HUGE_LEN);
	struct rig_wr wr = rig_write(&sge, BENCH_IOVA, huge->key);
	struct ohca_cqe cqe;
	static unsigned int posted;

	if (!huge_from->sq_pi)
		posted = 0;
	while (drv_cq_poll(huge_from->scq, &cqe)) {
		drv_cq_ack(huge_from->scq);
		posted--;
	}
	for (; posted < 2; posted++)
		rig_post_send(huge_from, &wr);
}

/* Messages of 1 GiB of HCA 0, whose pages no cache holds */
static void beside_huge(struct rig_hca *hca)
{
	const struct rig_qp_opts opts = {.log_size = 2, .max_sge = 1};

	use_pair_of(hca);
	huge = rig_mr_new(m.busy, BENCH_IOVA, HUGE_LEN, BENCH_ALL_ACCESS, 32768);
	huge_from = rig_qp_new(m.busy, &opts);
	huge_to = rig_qp_new(m.busy, &opts);
	bench_connect(huge_from, huge_to);
	series(post_huge);
	rig_renew(m.rig);
}

static void huge_of_other(void)
{
	beside_huge(&m.rig->hca[1]);
}

static void huge_of_same(void)
{
	beside_huge(&m.rig->hca[0]);
}

/* What HCA 0 sends while the messages are measured: each of the few work requests is posted again when it has completed. */
#define KEPT 4

static struct {
	struct rig_qp *qp;
	struct rig_wr wr;
	unsigned int posted;
} kept;

static void post_kept(void)
{
	struct ohca_cqe cqe;

	while (drv_cq_poll(kept.qp->scq, &cqe)) {
		if (cqe.status)
			abort();
		drv_cq_ack(kept.qp->scq);
		kept.posted--;
	}
	for (; kept.posted < KEPT; kept.posted++)
		rig_post_send(kept.qp, &kept.wr);
}

static void start_sending(struct rig_qp *qp, const struct rig_wr *wr)
{
	kept.qp = qp;
	kept.wr = *wr;
	kept.wr.flags |= OHCA_WQE_SIGNALED;
	kept.posted = 0;
	use_pair_of(&m.rig->hca[1]);
}

static void keep_sending(struct rig_qp *qp, const struct rig_wr *wr)
{
	start_sending(qp, wr);
	series(post_kept);
	rig_renew(m.rig);
}

/* Frames of HCA 0 that all flows that it may have get, without receives */
static void frames_for_flows(void)
{
	struct raw from = raw_new(m.busy, OHCA_QPT_ETH, 0), to = raw_new(m.busy, OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(to.qp->qpn);
	struct ohca_sge sge = rig_sge(from.mr, from.mr->iova, RAW_UDP_LEN);
	const struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge};
	unsigned int mask, i;

	rig_mr_set(from.mr, from.mr->iova, raw_udp, RAW_UDP_LEN);
	for (mask = 0; mask < FLOW_MAX_MASKS; mask++) {
		/* Behind the IPv4 address everything is zero. */
		memset(in.mask.src_ip, 0, sizeof(in.mask.src_ip));
		in.mask.src_ip[4 + mask / 8] = 1 << mask % 8;
		for (i = 0; i < FLOW_MAX_SAME; i++)
			raw_flow_new(m.busy, &in);
	}
	keep_sending(from.qp, &wr);
}

/* Large frames of HCA 0, which are cut into as many segments as may be */
static void large_frames(void)
{
	const struct tcp_shape shape = {.data = 64000, .mss = OHCA_TSO_MIN_MSS};
	struct raw from = raw_new(m.busy, OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	static struct tcp_packet large;
	uint8_t link[14] = {[12] = 0x08};
	struct ohca_sq_wqe fields = {.eth.csum_offset = htole16(16)};
	struct rig_mr *mr = rig_mr_new(m.busy, BENCH_IOVA, 1 << 17, BENCH_ALL_ACCESS, 0);
	struct ohca_sge sge;
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_CSUM | OHCA_WQE_TSO,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields};

	memcpy(link, m.rig->hca[1].mac, 6);
	memcpy(link + 6, m.busy->mac, 6);
	tcp_packet_make(&large, &shape, link, sizeof(link));
	rig_mr_set(mr, BENCH_IOVA, large.bytes, large.len);
	sge = rig_sge(mr, BENCH_IOVA, large.len);
	fields.eth.csum_start = htole16(large.tcp);
	fields.eth.ip_start = htole16(large.ip);
	fields.eth.hdr_len = htole16(large.hdr_len);
	fields.eth.mss = htole16(large.mss);
	keep_sending(from.qp, &wr);
}

/* An SRQ of HCA 0 with as many tags as may be, none of which matches */
static struct rig_srq *srq_with_tags(struct rig_mr *mr, struct drv_cq *cq)
{
	struct rig_srq_opts opts = {.max_tags = HCA_MAX_TAGS, .log_size = 6, .cqn = cq->cqn};
	struct rig_srq *srq = rig_srq_new(m.busy, &opts);
	const struct rig_qp_opts qp_opts = {
		.type = OHCA_QPT_TM, .srqn = srq->srqn, .max_sge = OHCA_TM_MAX_SGE};
	struct rig_qp *ops = rig_qp_new(m.busy, &qp_opts);

	if (rig_modify(ops, OHCA_QPS_RTS, OHCA_QP_STATE) ||
	    !rig_srq_add_tags(ops, rig_sge(mr, BENCH_IOVA, 64), HCA_MAX_TAGS))
		abort();
	return srq;
}

static struct {
	struct rig_srq *srq;
	struct rig_mr *mr;
	struct drv_cq *cq;
} tags;

/* Messages take receives, which are posted again. */
static void post_for_tags(void)
{
	struct ohca_sge room = rig_sge(tags.mr, BENCH_IOVA + 64, 64);
	struct ohca_cqe cqe;

	while (drv_cq_poll(tags.cq, &cqe)) {
		drv_cq_ack(tags.cq);
		rig_srq_post(tags.srq, 0, &room, 1);
	}
	post_kept();
}

/* Messages of HCA 0 to itself that have to be compared with all tags */
static void messages_for_tags(void)
{
	const struct ohca_tmh tmh = {.opcode = OHCA_TMH_EAGER};
	struct rig_qp_opts opts = {.max_sge = 1};
	struct ohca_sge sge, room;
	const struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct rig_qp *from = rig_qp_new(m.busy, &opts);
	unsigned int i;

	tags.mr = rig_mr_new(m.busy, BENCH_IOVA, 4096, BENCH_ALL_ACCESS, 0);
	tags.cq = drv_cq_new(m.busy->drv, 8, m.busy->comp->eqn);
	tags.srq = srq_with_tags(tags.mr, tags.cq);
	sge = rig_sge(tags.mr, BENCH_IOVA, sizeof(tmh));
	room = rig_sge(tags.mr, BENCH_IOVA + 64, 64);
	rig_mr_set(tags.mr, BENCH_IOVA, &tmh, sizeof(tmh));
	for (i = 0; i < 64; i++)
		rig_srq_post(tags.srq, 0, &room, 1);
	opts.srqn = tags.srq->srqn;
	opts.tags = true;
	bench_connect(from, rig_qp_new(m.busy, &opts));
	start_sending(from, &wr);
	series(post_for_tags);
	rig_renew(m.rig);
}

static const struct {
	const char *name;
	void (*fn)(void);
} actions[] = {
	{"nothing", nothing},
	{"nothing_in_tens", nothing_in_tens},
	{"create_region", create_region},
	{"destroy_region", destroy_region},
	{"reset_with_region", reset_region},
	{"map_pages", map_pages},
	{"unmap_pages", unmap_pages},
	{"create_qps", create_many_qps},
	{"destroy_qps", destroy_many_qps},
	{"reset_with_qps", reset_qps},
	{"reset_qp_with_windows", reset_qp_windows},
	{"attach_groups", attach_groups},
	{"destroy_qp_in_groups", destroy_qp_groups},
	{"create_cq", create_cq},
	{"resize_cq", resize_cq},
	{"create_long_qp", create_long_qp},
	{"resize_srq", resize_srq},
	{"destroy_xrc_srq", destroy_xrc_srq},
	{"free_dm", free_dm},
	/* From here on the QPs of HCAs 1 and 2 are others. */
	{"huge_of_other", huge_of_other},
	{"huge_of_same", huge_of_same},
	{"storm_of_1", storm_of_one},
	{"storm_of_7", storm_of_seven},
	{"frames_for_flows", frames_for_flows},
	{"large_frames", large_frames},
	{"messages_for_tags", messages_for_tags},
};

static void usage(void)
{
	fprintf(stderr, "usage: bench_beside [--runs N] [--what NAME]\n");
	exit(2);
}

static void open_rig(void)
{
	struct rig_qp_opts opts = {.log_size = 6, .max_sge = 1};

	m.rig = rig_open(server_start(SERVER_MAX_HCAS));
	m.busy = &m.rig->hca[0];
	m.a = rig_qp_new(&m.rig->hca[1], &opts);
	m.b = rig_qp_new(&m.rig->hca[2], &opts);
	m.ma = rig_mr_new(&m.rig->hca[1], BENCH_IOVA, 4096, BENCH_ALL_ACCESS, 0);
	m.mb = rig_mr_new(&m.rig->hca[2], BENCH_IOVA, 4096, BENCH_ALL_ACCESS, 0);
	bench_connect(m.a, m.b);
	inproc_hook = hook;
}

/* The least of the runs */
static void run(unsigned int runs, unsigned int action)
{
	double p50 = 0, p99 = 0, p999 = 0;
	unsigned int i, num = 0;

	for (i = 0; i < runs; i++) {
		double high, higher, middle;

		actions[action].fn();
		if (!m.ns.num)
			abort();
		/* Of few, the longest */
		high = bench_percentile(&m.ns, m.ns.num < 1000 ? 100 : 99.9);
		higher = bench_percentile(&m.ns, 99);
		middle = bench_percentile(&m.ns, 50);
		p99 = !i || higher < p99 ? higher : p99;
		p999 = !i || high < p999 ? high : p999;
		p50 = !i || middle < p50 ? middle : p50;
		num += m.ns.num;
		bench_free(&m.ns);
	}
	if (!m.alone)
		m.alone = p999;
	printf("beside what=%s samples=%u ns=%.0f p99_ns=%.0f p999_ns=%.0f ratio=%.1f\n",
	       actions[action].name, num, p50, p99, p999, p999 / m.alone);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"runs", 1, NULL, 'r'}, {"what", 1, NULL, 'w'}, {NULL, 0, NULL, 0}};
	const char *what = NULL;
	unsigned int runs = 5, i;
	bool found = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'r')
			runs = atoi(optarg);
		else if (opt == 'w')
			what = optarg;
		else
			usage();
	}
	if (optind < argc || !runs)
		usage();
	open_rig();
	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (i && what && strcmp(what, actions[i].name))
			continue;
		found |= i > 0;
		run(runs, i);
	}
	if (!found)
		usage();
	return 0;
}
