// SPDX-License-Identifier: GPL-2.0
/*
 * rss [leave]: receive-side scaling: frames of raw packet QPs are spread over receive work queues
 * by their hash, which is computed here as well.  With "leave", exit without destroying the
 * objects: the kernel cleans up.
 */

#include <ohca/ohca_queue.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ohca-abi.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "verbs_util.h"

#define NUM_WQS 4
#define NUM_CQS 2
#define LOG_TABLE 3
#define TABLE (1 << LOG_TABLE)
#define MAX_TABLE 128
#define WRS 16
#define FRAME 96
#define KEY_LEN 40
#define FIELDS                                                                    \
	(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_PORT_UDP | \
	 IBV_RX_HASH_DST_PORT_UDP)

static const uint8_t our_mac[6] = {0x02, 0xa5, 0x1c, 0x33, 0x07, 0x42}; /* only used here */
static uint8_t key[KEY_LEN];
static struct vu_dev dev;
static struct ibv_device_attr_ex attr;

/**
 * struct bed - queues behind a hash, and a QP that sends to them
 * @wqs: queue n completes on @cqs[n % NUM_CQS], its buffers are those of @mem at n * WRS + i
 * @tbl: entry n is queue n % NUM_WQS
 * @rss: the QP that spreads
 * @flow: leads frames to our_mac to it
 */
struct bed {
	struct ibv_cq *cqs[NUM_CQS], *send_cq;
	struct ibv_wq *wqs[NUM_WQS];
	struct ibv_rwq_ind_table *tbl;
	struct ibv_qp *rss, *sender;
	struct ibv_flow *flow;
	uint8_t *mem;
	struct ibv_mr *mr;
};

#define MEM ((NUM_WQS * WRS + 1) * FRAME)

static struct ibv_wq_init_attr wq_attr(struct bed *bed, int n)
{
	return (struct ibv_wq_init_attr){
		.wq_type = IBV_WQT_RQ,
		.max_wr = WRS,
		.max_sge = 2,
		.pd = dev.pd,
		.cq = bed->cqs[n % NUM_CQS],
	};
}

static int wq_to(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr to = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = state};

	return ibv_modify_wq(wq, &to);
}

static int wq_post(struct bed *bed, int n, uint64_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)bed->mem + (n * WRS + slot) * FRAME,
		.length = FRAME,
		.lkey = bed->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};

	return ibv_post_wq_recv(bed->wqs[n], &wr, &bad);
}

static struct ibv_rwq_ind_table *table_of(struct bed *bed, uint32_t log_size)
{
	struct ibv_wq *wqs[2 * MAX_TABLE];
	struct ibv_rwq_ind_table_init_attr init = {.log_ind_tbl_size = log_size, .ind_tbl = wqs};
	int i;

	for (i = 0; i < 2 * MAX_TABLE; i++)
		wqs[i] = bed->wqs[i % NUM_WQS];
	return ibv_create_rwq_ind_table(dev.ctx, &init);
}

static struct ibv_qp_init_attr_ex rss_attr(struct ibv_rwq_ind_table *tbl)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = dev.pd,
		.rwq_ind_tbl = tbl,
		.rx_hash_conf =
			{
				.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				.rx_hash_key_len = KEY_LEN,
				.rx_hash_key = key,
				.rx_hash_fields_mask = FIELDS,
			},
	};
}

static struct ibv_qp *rss_new(struct ibv_rwq_ind_table *tbl)
{
	struct ibv_qp_init_attr_ex init = rss_attr(tbl);

	return ibv_create_qp_ex(dev.ctx, &init);
}

static struct ibv_flow *flow_to(struct ibv_qp *qp)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} flow = {
		.attr =
			{
				.type = IBV_FLOW_ATTR_NORMAL,
				.size = sizeof(flow),
				.num_of_specs = 1,
				.port = VU_PORT,
			},
		.eth =
			{
				.type = IBV_FLOW_SPEC_ETH,
				.size = sizeof(flow.eth),
			},
	};

	memcpy(flow.eth.val.dst_mac, our_mac, 6);
	memset(flow.eth.mask.dst_mac, 0xff, 6);
	return ibv_create_flow(qp, &flow.attr);
}

static bool sender_up(struct bed *bed)
{
	struct ibv_qp_init_attr init = {
		.send_cq = bed->send_cq,
		.recv_cq = bed->send_cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = VU_PORT};

	bed->sender = ibv_create_qp(dev.pd, &init);
	if (!EXPECT(bed->sender) ||
	    !EXPECT_EQ(ibv_modify_qp(bed->sender, &to, IBV_QP_STATE | IBV_QP_PORT), 0))
		return false;
	to.qp_state = IBV_QPS_RTR;
	if (!EXPECT_EQ(ibv_modify_qp(bed->sender, &to, IBV_QP_STATE), 0))
		return false;
	to.qp_state = IBV_QPS_RTS;
	return EXPECT_EQ(ibv_modify_qp(bed->sender, &to, IBV_QP_STATE), 0);
}

static bool bed_up(struct bed *bed)
{
	int i;

	memset(bed, 0, sizeof(*bed));
	bed->mem = vu_alloc(MEM);
	bed->mr = ibv_reg_mr(dev.pd, bed->mem, MEM, IBV_ACCESS_LOCAL_WRITE);
	bed->send_cq = ibv_create_cq(dev.ctx, 16, NULL, NULL, 0);
	if (!EXPECT(bed->mr) || !EXPECT(bed->send_cq))
		return false;
	for (i = 0; i < NUM_CQS; i++) {
		bed->cqs[i] = ibv_create_cq(dev.ctx, NUM_WQS * WRS * 2, NULL, NULL, 0);
		if (!EXPECT(bed->cqs[i]))
			return false;
	}
	for (i = 0; i < NUM_WQS; i++) {
		struct ibv_wq_init_attr init = wq_attr(bed, i);

		bed->wqs[i] = ibv_create_wq(dev.ctx, &init);
		if (!EXPECT(bed->wqs[i]) || !EXPECT(init.max_wr >= WRS) ||
		    !EXPECT(init.max_sge >= 2) || !EXPECT_EQ(wq_to(bed->wqs[i], IBV_WQS_RDY), 0))
			return false;
	}
	bed->tbl = table_of(bed, LOG_TABLE);
	if (!EXPECT(bed->tbl))
		return false;
	bed->rss = rss_new(bed->tbl);
	if (!EXPECT(bed->rss))
		return false;
	bed->flow = flow_to(bed->rss);
	return EXPECT(bed->flow) && sender_up(bed);
}

static void bed_down(struct bed *bed)
{
	int i;

	if (bed->sender)
		EXPECT_EQ(ibv_destroy_qp(bed->sender), 0);
	if (bed->flow)
		EXPECT_EQ(ibv_destroy_flow(bed->flow), 0);
	if (bed->rss)
		EXPECT_EQ(ibv_destroy_qp(bed->rss), 0);
	if (bed->tbl)
		EXPECT_EQ(ibv_destroy_rwq_ind_table(bed->tbl), 0);
	for (i = 0; i < NUM_WQS; i++)
		if (bed->wqs[i])
			EXPECT_EQ(ibv_destroy_wq(bed->wqs[i]), 0);
	for (i = 0; i < NUM_CQS; i++)
		if (bed->cqs[i])
			EXPECT_EQ(ibv_destroy_cq(bed->cqs[i]), 0);
	if (bed->send_cq)
		EXPECT_EQ(ibv_destroy_cq(bed->send_cq), 0);
	if (bed->mr)
		EXPECT_EQ(ibv_dereg_mr(bed->mr), 0);
	vu_free(bed->mem, MEM);
}

/* Bit @bit of @bytes, the first one is the highest of the first byte. */
static uint32_t bit_of(const uint8_t *bytes, unsigned int bit)
{
	return bytes[bit / 8] >> (7 - bit % 8) & 1;
}

static uint32_t toeplitz(const uint8_t *data, unsigned int len)
{
	uint32_t hash = 0, window;
	unsigned int i, j;

	for (i = 0; i < len * 8; i++) {
		for (window = 0, j = 0; j < 32; j++)
			window = window << 1 | bit_of(key, i + j);
		if (bit_of(data, i))
			hash ^= window;
	}
	return hash;
}

#define AT_IP 14
#define AT_UDP 34

/* Make UDP datagram @n.  Returns the queue that has to receive it. */
static int make_frame(uint8_t *frame, uint32_t n)
{
	static const uint8_t ip[12] = {0x45, 0, 0, FRAME - AT_IP, 0, 0, 0x40, 0, 64, 17, 0, 0};
	uint64_t rnd = n;
	uint32_t words[3];
	int i;

	for (i = 0; i < 3; i++)
		words[i] = vu_rand(&rnd);
	vu_fill(frame, FRAME, n);
	memcpy(frame, our_mac, 6);
	memcpy(frame + 6, "\x02\0\0\0\0\1\x08\0", 8);
	memcpy(frame + AT_IP, ip, sizeof(ip));
	memcpy(frame + AT_IP + 12, words, 12); /* addresses, and the ports behind them */
	return toeplitz(frame + AT_IP + 12, 12) % TABLE % NUM_WQS;
}

static bool send_frame(struct bed *bed, uint8_t *frame)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)frame,
		.length = FRAME,
		.lkey = bed->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
				 };
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_post_send(bed->sender, &wr, &bad), 0) &&
	       vu_wait_wc(bed->send_cq, &wc, 0, IBV_WC_SUCCESS);
}

/* The next completion of queue @n is that of @slot. */
static bool wait_wq(struct bed *bed, int n, uint64_t slot, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return vu_wait_wc(bed->cqs[n % NUM_CQS], &wc, slot, status) &&
	       EXPECT_EQ(wc.qp_num, bed->wqs[n]->wq_num) &&
	       (status || (EXPECT_EQ(wc.opcode, IBV_WC_RECV) && EXPECT_EQ(wc.byte_len, FRAME)));
}

static bool none(struct bed *bed)
{
	struct ibv_wc wc;
	int i, sum = 0;

	for (i = 0; i < NUM_CQS; i++)
		sum += ibv_poll_cq(bed->cqs[i], 1, &wc);
	return EXPECT_EQ(sum, 0);
}

static void test_caps(const void *arg)
{
	const struct ibv_rss_caps *caps = &attr.rss_caps;

	(void)arg;
	EXPECT_EQ(caps->supported_qpts, 1 << IBV_QPT_RAW_PACKET);
	EXPECT(caps->max_rwq_indirection_tables >= 1);
	EXPECT_EQ(caps->max_rwq_indirection_table_size, MAX_TABLE);
	EXPECT_EQ(caps->rx_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ);
	EXPECT_EQ(caps->rx_hash_fields_mask, 0xff);
	EXPECT(attr.max_wq_type_rq >= 1);
}

/* Each frame is in the right queue, unchanged; each queue gets some. */
static void test_spread(const void *arg)
{
	unsigned int got[NUM_WQS] = {0};
	struct bed bed;
	uint8_t *frame;
	uint64_t slot;
	int i, wq;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	frame = bed.mem + NUM_WQS * WRS * FRAME;
	for (wq = 0; wq < NUM_WQS; wq++)
		for (i = 0; i < WRS; i++)
			if (!EXPECT_EQ(wq_post(&bed, wq, i), 0))
				goto out;
	EXPECT_EQ(wq_post(&bed, 0, 0), ENOMEM);
	for (i = 0; i < 200; i++) {
		wq = make_frame(frame, i);
		slot = got[wq]++ % WRS;
		if (!send_frame(&bed, frame) || !wait_wq(&bed, wq, slot, IBV_WC_SUCCESS) ||
		    !EXPECT(!memcmp(bed.mem + (wq * WRS + slot) * FRAME, frame, FRAME)) ||
		    !EXPECT_EQ(wq_post(&bed, wq, slot), 0))
			goto out;
	}
	for (i = 0; i < NUM_WQS; i++)
		EXPECT(got[i] > WRS);
	none(&bed);
out:
	bed_down(&bed);
}

static void test_states(const void *arg)
{
	struct ibv_wq_attr wrong = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
		.wq_state = IBV_WQS_RDY,
		.curr_wq_state = IBV_WQS_RDY,
	};
	struct ibv_wq_attr flags = {
		.attr_mask = IBV_WQ_ATTR_FLAGS,
		.flags = IBV_WQ_FLAGS_CVLAN_STRIPPING,
		.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING,
	};
	struct bed bed;
	uint8_t *frame;
	uint32_t n = 0;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	frame = bed.mem + NUM_WQS * WRS * FRAME;
	while (make_frame(frame, n)) /* one for queue 0 */
		n++;

	/* in error: present and new requests are flushed, frames are dropped */
	EXPECT_EQ(wq_post(&bed, 0, 1), 0);
	EXPECT_EQ(wq_to(bed.wqs[0], IBV_WQS_ERR), 0);
	wait_wq(&bed, 0, 1, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(wq_post(&bed, 0, 2), 0);
	wait_wq(&bed, 0, 2, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(wq_to(bed.wqs[0], IBV_WQS_RDY), EINVAL);
	send_frame(&bed, frame);
	none(&bed);

	/* reset: completions that were not taken are removed, posting is refused */
	EXPECT_EQ(wq_to(bed.wqs[0], IBV_WQS_RESET), 0);
	EXPECT_EQ(wq_post(&bed, 0, 3), EINVAL);
	EXPECT_EQ(wq_to(bed.wqs[0], IBV_WQS_ERR), EINVAL);
	EXPECT_EQ(ibv_modify_wq(bed.wqs[0], &wrong), EINVAL);
	EXPECT_EQ(ibv_modify_wq(bed.wqs[0], &flags), EOPNOTSUPP);
	wrong.curr_wq_state = IBV_WQS_RESET;
	EXPECT_EQ(ibv_modify_wq(bed.wqs[0], &wrong), 0);
	EXPECT_EQ(wq_post(&bed, 0, 4), 0);
	send_frame(&bed, frame);
	EXPECT_EQ(wq_to(bed.wqs[0], IBV_WQS_RESET), 0);
	none(&bed);
	EXPECT_EQ(wq_to(bed.wqs[0], IBV_WQS_RDY), 0);

	/* from the beginning of the ring; the others were not affected */
	EXPECT_EQ(wq_post(&bed, 0, 5), 0);
	send_frame(&bed, frame);
	wait_wq(&bed, 0, 5, IBV_WC_SUCCESS);
	while (make_frame(frame, n) != 1)
		n++;
	EXPECT_EQ(wq_post(&bed, 1, 6), 0);
	send_frame(&bed, frame);
	wait_wq(&bed, 1, 6, IBV_WC_SUCCESS);
out:
	bed_down(&bed);
}

/* A buffer that the queue may not write stops this queue only. */
static void test_bad_buffer(const void *arg)
{
	struct ibv_sge sge = {.length = FRAME, .lkey = 0};
	struct ibv_recv_wr *bad, wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};
	struct bed bed;
	uint8_t *frame;
	uint32_t n = 0;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	frame = bed.mem + NUM_WQS * WRS * FRAME;
	while (make_frame(frame, n))
		n++;
	EXPECT_EQ(ibv_post_wq_recv(bed.wqs[0], &wr, &bad), 0);
	EXPECT_EQ(wq_post(&bed, 0, 2), 0);
	send_frame(&bed, frame);
	wait_wq(&bed, 0, 1, IBV_WC_LOC_PROT_ERR);
	wait_wq(&bed, 0, 2, IBV_WC_WR_FLUSH_ERR);
	wr.num_sge = 33;
	EXPECT_EQ(ibv_post_wq_recv(bed.wqs[1], &wr, &bad), EINVAL);
	EXPECT(bad == &wr);
out:
	bed_down(&bed);
}

/* Objects in use can't be destroyed until their users are. */
static void test_order(const void *arg)
{
	struct bed bed;
	int i;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	EXPECT_EQ(ibv_destroy_qp(bed.rss), EBUSY);
	EXPECT_EQ(ibv_destroy_rwq_ind_table(bed.tbl), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(bed.cqs[0]), EBUSY);
	for (i = 0; i < NUM_WQS; i++)
		EXPECT_EQ(ibv_destroy_wq(bed.wqs[i]), EBUSY);
	EXPECT_EQ(ibv_destroy_flow(bed.flow), 0);
	bed.flow = NULL;
	EXPECT_EQ(ibv_destroy_rwq_ind_table(bed.tbl), EBUSY);
	EXPECT_EQ(ibv_destroy_qp(bed.rss), 0);
	bed.rss = NULL;
	EXPECT_EQ(ibv_destroy_wq(bed.wqs[0]), EBUSY);
out:
	bed_down(&bed);
}

static void test_bad_queues(const void *arg)
{
	struct ibv_wq_init_attr init;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
#define REFUSE_WQ(field, val, err)                               \
	do {                                                     \
		init = wq_attr(&bed, 0);                         \
		init.field = val;                                \
		EXPECT_NULL(ibv_create_wq(dev.ctx, &init), err); \
	} while (0)
	REFUSE_WQ(wq_type, IBV_WQT_RQ + 1, EINVAL);
	REFUSE_WQ(max_wr, 0, EINVAL);
	REFUSE_WQ(max_wr, dev.attr.max_qp_wr + 1, EINVAL);
	REFUSE_WQ(max_sge, dev.attr.max_sge + 1, EINVAL);
	REFUSE_WQ(comp_mask, IBV_WQ_INIT_ATTR_RESERVED, EOPNOTSUPP);
	init = wq_attr(&bed, 0);
	init.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	init.create_flags = IBV_WQ_FLAGS_SCATTER_FCS;
	EXPECT_NULL(ibv_create_wq(dev.ctx, &init), EOPNOTSUPP);
	EXPECT_NULL(table_of(&bed, 8), EINVAL);
	EXPECT_NULL(table_of(&bed, 14), EINVAL);
	EXPECT_NULL(table_of(&bed, UINT32_MAX), EINVAL);
out:
	bed_down(&bed);
}

/* Invalid attributes of a QP with a table */
static void refuse_hashes(struct bed *bed)
{
	struct ibv_qp_init_attr_ex init;

#define REFUSE_RSS(field, val, err)                                 \
	do {                                                        \
		init = rss_attr(bed->tbl);                          \
		init.field = val;                                   \
		EXPECT_NULL(ibv_create_qp_ex(dev.ctx, &init), err); \
	} while (0)
	REFUSE_RSS(rx_hash_conf.rx_hash_function, 0, EOPNOTSUPP);
	REFUSE_RSS(rx_hash_conf.rx_hash_function, 2, EOPNOTSUPP);
	REFUSE_RSS(rx_hash_conf.rx_hash_key_len, KEY_LEN - 1, EINVAL);
	REFUSE_RSS(rx_hash_conf.rx_hash_fields_mask, 0, EINVAL);
	REFUSE_RSS(rx_hash_conf.rx_hash_fields_mask, FIELDS | IBV_RX_HASH_SRC_IPV6, EINVAL);
	REFUSE_RSS(rx_hash_conf.rx_hash_fields_mask, FIELDS | IBV_RX_HASH_DST_PORT_TCP, EINVAL);
	REFUSE_RSS(rx_hash_conf.rx_hash_fields_mask, FIELDS | IBV_RX_HASH_IPSEC_SPI, EOPNOTSUPP);
	REFUSE_RSS(rx_hash_conf.rx_hash_fields_mask, FIELDS | IBV_RX_HASH_INNER, EOPNOTSUPP);
	REFUSE_RSS(rx_hash_conf.rx_hash_fields_mask, FIELDS | 1ULL << 32, EOPNOTSUPP);
	REFUSE_RSS(comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE, EINVAL);
	REFUSE_RSS(comp_mask, init.comp_mask | IBV_QP_INIT_ATTR_MAX_TSO_HEADER, EOPNOTSUPP);
	REFUSE_RSS(qp_type, IBV_QPT_RC, EINVAL);
	REFUSE_RSS(qp_type, IBV_QPT_UD, EINVAL);
	REFUSE_RSS(send_cq, bed->send_cq, EINVAL);
	REFUSE_RSS(recv_cq, bed->send_cq, EINVAL);
	REFUSE_RSS(cap.max_recv_wr, 1, EINVAL);
}

/* It has no queues and no states. */
static void test_hashes(const void *arg)
{
	struct ibv_qp_attr qp_attr = {.qp_state = IBV_QPS_INIT, .port_num = VU_PORT};
	struct ibv_recv_wr *bad_recv, recv = {};
	struct ibv_send_wr *bad_send, send = {.opcode = IBV_WR_SEND};
	struct ibv_qp_init_attr_ex init;
	struct ibv_qp_init_attr old;
	struct ibv_rwq_ind_table *one;
	struct ibv_qp *qp;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	refuse_hashes(&bed);
	EXPECT_EQ(ibv_modify_qp(bed.rss, &qp_attr, IBV_QP_STATE | IBV_QP_PORT), EOPNOTSUPP);
	EXPECT_EQ(ibv_query_qp(bed.rss, &qp_attr, IBV_QP_STATE, &old), EOPNOTSUPP);
	EXPECT_EQ(ibv_post_send(bed.rss, &send, &bad_send), EINVAL);
	EXPECT_EQ(ibv_post_recv(bed.rss, &recv, &bad_recv), EINVAL);

	/* one entry needs no fields */
	one = table_of(&bed, 0);
	if (EXPECT(one)) {
		init = rss_attr(one);
		init.rx_hash_conf.rx_hash_fields_mask = 0;
		qp = ibv_create_qp_ex(dev.ctx, &init);
		EXPECT(qp && qp->qp_num != bed.rss->qp_num);
		if (qp)
			EXPECT_EQ(ibv_destroy_qp(qp), 0);
		EXPECT_EQ(ibv_destroy_rwq_ind_table(one), 0);
	}
out:
	bed_down(&bed);
}

/**
 * struct request - an ioctl
 */
struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[12];
};

static struct ib_uverbs_attr *add_attr(struct request *req, uint16_t id, uint16_t len,
				       uint64_t data)
{
	struct ib_uverbs_attr *to = &req->attrs[req->hdr.num_attrs++];

	*to = (struct ib_uverbs_attr){
		.attr_id = id,
		.len = len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
	return to;
}

static int run(struct request *req, uint16_t method)
{
	req->hdr.object_id = UVERBS_OBJECT_WQ;
	req->hdr.method_id = method;
	req->hdr.length = sizeof(req->hdr) + req->hdr.num_attrs * sizeof(req->attrs[0]);
	errno = 0;
	return ioctl(dev.ctx->cmd_fd, RDMA_VERBS_IOCTL, req) ? errno : 0;
}

/* Create a queue without the library, and destroy it; returns 0 or errno. */
static int raw_wq(struct ibv_cq *cq, const struct ohca_create_wq_req *drv, uint16_t len)
{
	struct request req = {}, undo = {};
	struct ib_uverbs_attr *handle;
	uint32_t max_wr, max_sge, wqn, events;
	int err;

	handle = add_attr(&req, UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 0, dev.pd->handle);
	if (cq)
		add_attr(&req, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 0, cq->handle);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_TYPE, 8, IBV_WQT_RQ);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, 0);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, WRS);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, 1);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_FLAGS, 4, 0);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4, (uintptr_t)&max_wr);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4, (uintptr_t)&max_sge);
	add_attr(&req, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4, (uintptr_t)&wqn);
	add_attr(&req, UVERBS_ATTR_UHW_IN, len, (uintptr_t)drv);
	err = run(&req, UVERBS_METHOD_WQ_CREATE);
	if (err)
		return err;
	add_attr(&undo, UVERBS_ATTR_DESTROY_WQ_HANDLE, 0, handle->data);
	add_attr(&undo, UVERBS_ATTR_DESTROY_WQ_RESP, 4, (uintptr_t)&events);
	EXPECT_EQ(run(&undo, UVERBS_METHOD_WQ_DESTROY), 0);
	return 0;
}

#define RING (WRS * 32)

static void test_abi(const void *arg)
{
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 16, NULL, NULL, 0);
	uint8_t *mem = vu_alloc(4096);
	const struct ohca_create_wq_req good = {
		.buf_addr = (uintptr_t)mem,
		.buf_size = RING + sizeof(struct ohca_wq_rec),
		.rec_offset = RING,
		.log_size = 4,
		.log_stride = 5,
	};
	struct ohca_create_wq_req req;

	(void)arg;
	if (!EXPECT(cq))
		return;
	EXPECT_EQ(raw_wq(cq, &good, sizeof(good)), 0);
	EXPECT_EQ(raw_wq(NULL, &good, sizeof(good)), EINVAL);
	EXPECT_EQ(raw_wq(cq, &good, sizeof(good) - 4), EINVAL);
#define REFUSE_RAW(field, val, err)                            \
	do {                                                   \
		req = good;                                    \
		req.field = val;                               \
		EXPECT_EQ(raw_wq(cq, &req, sizeof(req)), err); \
	} while (0)
	REFUSE_RAW(comp_mask, 1, EOPNOTSUPP);
	REFUSE_RAW(rsvd[1], 1, EINVAL);
	REFUSE_RAW(buf_addr, 0, EFAULT);
	REFUSE_RAW(buf_addr, good.buf_addr + 8, EINVAL);
	REFUSE_RAW(buf_size, good.buf_size - 1, EINVAL);
	REFUSE_RAW(ring_offset, 16, EINVAL);
	REFUSE_RAW(rec_offset, RING + 32, EINVAL);
	REFUSE_RAW(rec_offset, UINT32_MAX & ~63U, EINVAL);
	REFUSE_RAW(log_size, 3, EINVAL);
	REFUSE_RAW(log_size, 5, EINVAL);
	REFUSE_RAW(log_size, 255, EINVAL);
	REFUSE_RAW(log_stride, 4, EINVAL);
	REFUSE_RAW(log_stride, 255, EINVAL);
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
	vu_free(mem, 4096);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{"the device reports what it can do", test_caps, NULL},
		{"frames are where their hash leads them", test_spread, NULL},
		{"states of a queue", test_states, NULL},
		{"a buffer that is not the queue's", test_bad_buffer, NULL},
		{"what is in use is not destroyed", test_order, NULL},
		{"queues and tables that can't be", test_bad_queues, NULL},
		{"hashes that can't be, and what such a QP does not do", test_hashes, NULL},
		{"requests that no library makes", test_abi, NULL},
	};
	struct bed bed;

	vu_open(&dev);
	if (ibv_query_device_ex(dev.ctx, NULL, &attr))
		tap_bail("the device can't be queried");
	if (!attr.rss_caps.supported_qpts)
		tap_skip_all("the device does not do that");
	vu_fill(key, sizeof(key), 1);
	if (argc > 1 && !strcmp(argv[1], "leave"))
		_exit(bed_up(&bed) && !wq_post(&bed, 0, 0) ? 0 : 1);
	return vu_main(&dev, NULL, tests, ARRAY_SIZE(tests), NULL);
}
