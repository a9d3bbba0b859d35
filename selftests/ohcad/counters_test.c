// SPDX-License-Identifier: GPL-2.0
/* Sets of counters: in which set a QP counts, and each counter. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "pair.h"
#include "rig_assert.h"
#include "rig_odp.h"

static struct pair p;
static struct rig_hca *ha, *hb;
static uint32_t sa, sb; /* sets of p.a and p.b */

static int bind(struct rig_qp *qp, uint32_t set)
{
	int status;

	qp->attr.counters = htole32(set);
	status = rig_modify(qp, 0, OHCA_QP_COUNTERS);
	return status;
}

static void up_with(struct rig_qp_opts *opts)
{
	p = pair_new(server, opts);
	ha = p.a->hca;
	hb = p.b->hca;
	sa = drv_alloc_counters(ha->drv, 1);
	sb = drv_alloc_counters(hb->drv, 1);
	assert_int_equal(bind(p.a, sa), OHCA_CMD_OK);
	assert_int_equal(bind(p.b, sb), OHCA_CMD_OK);
}

static int up(void **state)
{
	struct rig_qp_opts opts = {.log_size = 6};

	(void)state;
	up_with(&opts);
	p.mb = rig_mr_new(hb, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC, 0);
	p.a->attr.timeout = 10;
	p.a->attr.retry_cnt = 2;
	p.a->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
	return 0;
}

static int down(void **state)
{
	(void)state;
	link_capture = NULL;
	link_tells = false;
	rig_close(p.rig);
	return 0;
}

static struct ohca_query_counters_out query(struct rig_hca *hca, uint32_t set)
{
	struct ohca_query_counters_in in = {.id = htole32(set), .port = !set};
	struct ohca_query_counters_out out;

	assert_int_equal(drv_cmd(hca->drv, OHCA_CMD_QUERY_COUNTERS, &in, sizeof(in), &out,
				 sizeof(out)),
			 OHCA_CMD_OK);
	return out;
}

static uint64_t get(struct rig_hca *hca, uint32_t set, enum ohca_counter c)
{
	struct ohca_query_counters_out out = query(hca, set);

	return le64toh(out.value[c]);
}

/* A counter of p.a or p.b. */
static uint64_t a_has(enum ohca_counter c)
{
	return get(ha, sa, c);
}

static uint64_t b_has(enum ohca_counter c)
{
	return get(hb, sb, c);
}

static void post(uint8_t opcode, uint32_t len, uint64_t raddr)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, len);
	struct rig_wr wr = {
		.opcode = opcode,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.raddr = raddr,
		.rkey = p.mb->key,
	};

	rig_post_send(p.a, &wr);
}

static void assert_done(enum ohca_wc_status status)
{
	assert_int_equal(rig_wait_send(p.a).status, status);
}

static void request(uint8_t opcode, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, len);

	if (op_receives(opcode))
		rig_post_recv(p.b, 1, &sge, 1);
	post(opcode, len, PAIR_IOVA);
	assert_done(OHCA_WC_SUCCESS);
	if (op_receives(opcode))
		rig_wait_recv(p.b);
}

static void test_traffic(void **state)
{
	struct ohca_query_counters_out port;
	unsigned int i;

	(void)state;
	for (i = 1; i <= 10; i++) {
		/* 98 packets of 1024 bytes each time; the answer to the read has 98 as well */
		request(OHCA_OP_SEND, 100000);
		request(OHCA_OP_RDMA_WRITE, 100000);
		request(OHCA_OP_RDMA_WRITE_IMM, 100000);
		request(OHCA_OP_RDMA_READ, 100000);
		request(OHCA_OP_FETCH_ADD, 8);
		assert_int_equal(a_has(OHCA_CNT_TX_PKTS), i * (3 * 98 + 2));
		assert_int_equal(a_has(OHCA_CNT_TX_BYTES), i * 300000);
		assert_int_equal(b_has(OHCA_CNT_RX_PKTS), i * (3 * 98 + 2));
		assert_int_equal(b_has(OHCA_CNT_RX_BYTES), i * 300000);
		assert_int_equal(b_has(OHCA_CNT_TX_BYTES), i * 100008);
		assert_int_equal(a_has(OHCA_CNT_RX_BYTES), i * 100008);
		assert_int_equal(a_has(OHCA_CNT_RX_PKTS), b_has(OHCA_CNT_TX_PKTS));
		assert_true(b_has(OHCA_CNT_TX_PKTS) > i * 99);
		assert_int_equal(b_has(OHCA_CNT_RX_WRITES), i * 2);
		assert_int_equal(b_has(OHCA_CNT_RX_READS), i);
		assert_int_equal(b_has(OHCA_CNT_RX_ATOMICS), i);
	}
	for (i = OHCA_CNT_OUT_OF_BUFFER; i < OHCA_NUM_COUNTERS; i++) {
		assert_int_equal(a_has(i), 0);
		assert_int_equal(b_has(i), 0);
	}
	/* All of that is in their own sets, nothing in the port's */
	port = query(ha, 0);
	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		assert_int_equal(port.value[i], 0);
}

/* A QP counts in one set at a time, and a set keeps its values when the QP leaves it. */
static void test_binding(void **state)
{
	uint32_t other = drv_alloc_counters(ha->drv, 1);
	struct ohca_qp_attr attr;

	(void)state;
	request(OHCA_OP_RDMA_WRITE, 100);
	assert_int_equal(bind(p.a, other), OHCA_CMD_OK);
	attr = rig_query(p.a);
	assert_int_equal(le32toh(attr.counters), other);
	request(OHCA_OP_RDMA_WRITE, 1000);
	assert_int_equal(bind(p.a, 0), OHCA_CMD_OK);
	request(OHCA_OP_RDMA_WRITE, 10);
	assert_int_equal(a_has(OHCA_CNT_TX_BYTES), 100);
	assert_int_equal(get(ha, other, OHCA_CNT_TX_BYTES), 1000);
	assert_int_equal(get(ha, 0, OHCA_CNT_TX_BYTES), 10);
	/* No such set: nothing changes */
	assert_int_equal(bind(p.b, 77777), OHCA_CMD_BAD_HANDLE);
	attr = rig_query(p.b);
	assert_int_equal(le32toh(attr.counters), sb);
	p.b->attr.counters = htole32(sb);
	/* A set is in use as long as a QP is bound, RESET or not. */
	assert_int_equal(drv_destroy(ha->drv, OHCA_CMD_FREE_COUNTERS, other), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(ha->drv, OHCA_CMD_FREE_COUNTERS, other), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(ha->drv, OHCA_CMD_FREE_COUNTERS, 0), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_COUNTERS, sb), OHCA_CMD_BUSY);
	rig_to_reset(p.b);
	attr = rig_query(p.b);
	assert_int_equal(le32toh(attr.counters), sb);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_COUNTERS, sb), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(p.b), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_COUNTERS, sb), OHCA_CMD_OK);
	/* With other attributes, on the way to another state */
	rig_to_reset(p.a);
	p.a->attr.counters = htole32(sa);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_INIT,
				    rig_required(OHCA_QPT_RC, OHCA_QPS_INIT) | OHCA_QP_COUNTERS),
			 OHCA_CMD_OK);
	assert_int_equal(drv_destroy(ha->drv, OHCA_CMD_FREE_COUNTERS, sa), OHCA_CMD_BUSY);
	p.a->attr.counters = 0;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_ERR, OHCA_QP_STATE | OHCA_QP_COUNTERS),
			 OHCA_CMD_OK);
	assert_int_equal(drv_destroy(ha->drv, OHCA_CMD_FREE_COUNTERS, sa), OHCA_CMD_OK);
}

/* In RTR after requests, the next PSN is still expected. */
static void test_binding_in_rtr(void **state)
{
	uint32_t other = drv_alloc_counters(hb->drv, 1);
	uint32_t psn;

	(void)state;
	rig_to_reset(p.a);
	rig_to_reset(p.b);
	assert_int_equal(rig_to_init(p.a), OHCA_CMD_OK);
	assert_int_equal(rig_to_init(p.b), OHCA_CMD_OK);
	assert_int_equal(rig_to_rtr(p.b), OHCA_CMD_OK);
	assert_int_equal(rig_to_rtr(p.a), OHCA_CMD_OK);
	assert_int_equal(rig_to_rts(p.a), OHCA_CMD_OK);
	request(OHCA_OP_SEND, 3000);
	psn = le32toh(rig_query(p.b).rq_psn);
	assert_int_equal(psn, le32toh(p.b->attr.rq_psn) + 3);
	assert_int_equal(bind(p.b, other), OHCA_CMD_OK);
	assert_int_equal(rig_query(p.b).state, OHCA_QPS_RTR);
	assert_int_equal(le32toh(rig_query(p.b).rq_psn), psn);
	request(OHCA_OP_SEND, 10);
	assert_int_equal(b_has(OHCA_CNT_RX_BYTES), 3000);
	assert_int_equal(get(hb, other, OHCA_CNT_RX_BYTES), 10);
}

static void expect_fault(struct rig_hca *hca, struct rig_mr *mr, bool write)
{
	struct rig_fault fault;

	inproc_settle();
	assert_true(rig_fault_poll(hca, &fault));
	assert_int_equal(rig_odp_map(mr, fault.first, fault.num, write), OHCA_CMD_OK);
}

/* One for the page at the reader, one for the page at the responder. */
static void test_page_faults(void **state)
{
	(void)state;
	link_tells = true;
	rig_odp(p.ma, RIG_ALL_ACCESS);
	rig_odp(p.mb, RIG_ALL_ACCESS);
	post(OHCA_OP_RDMA_READ, 8, PAIR_IOVA);
	expect_fault(ha, p.ma, true);
	assert_int_equal(a_has(OHCA_CNT_PAGE_FAULTS), 1);
	expect_fault(hb, p.mb, false);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(a_has(OHCA_CNT_PAGE_FAULTS), 1);
	assert_int_equal(b_has(OHCA_CNT_PAGE_FAULTS), 1);
}

/* Software of an earlier version has room for less output, and gets only that. */
static void test_earlier(void **state)
{
	struct ohca_query_counters_in in = {.id = htole32(sa)};
	struct ohca_query_counters_out out, whole;

	(void)state;
	request(OHCA_OP_RDMA_WRITE, 100);
	whole = query(ha, sa);
	memset(&out, 0xa5, sizeof(out));
	memset((uint8_t *)&whole + OHCA_QUERY_COUNTERS_OUT_MIN, 0xa5,
	       sizeof(whole) - OHCA_QUERY_COUNTERS_OUT_MIN);
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_QUERY_COUNTERS, &in, sizeof(in), &out,
				 OHCA_QUERY_COUNTERS_OUT_MIN),
			 OHCA_CMD_OK);
	assert_memory_equal(&out, &whole, sizeof(out));
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_QUERY_COUNTERS, &in, sizeof(in), &out,
				 OHCA_QUERY_COUNTERS_OUT_MIN - 1),
			 OHCA_CMD_BAD_LEN);
}

static void test_not_ready(void **state)
{
	(void)state;
	post(OHCA_OP_SEND, 0, 0);
	inproc_settle();
	assert_true(b_has(OHCA_CNT_OUT_OF_BUFFER) >= 1);
	rig_post_recv(p.b, 1, NULL, 0);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(a_has(OHCA_CNT_RNR_NAKS), b_has(OHCA_CNT_OUT_OF_BUFFER));
}

static unsigned int lose; /* bit n: packet n from now on is lost */

static void lose_some(struct qp *src, const struct pkt *pkt)
{
	bool lost = lose & 1;

	lose >>= 1;
	if (!lost)
		__real_link_send(src, pkt);
}

static void test_lost(void **state)
{
	(void)state;
	link_capture = lose_some;
	/* The first of two requests is lost; the second one shows the gap. */
	lose = 1;
	post(OHCA_OP_RDMA_WRITE, 8, PAIR_IOVA);
	post(OHCA_OP_RDMA_WRITE, 8, PAIR_IOVA);
	assert_done(OHCA_WC_SUCCESS);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(b_has(OHCA_CNT_OUT_OF_SEQUENCE), 1);
	assert_int_equal(a_has(OHCA_CNT_PKT_SEQ_ERR), 1);
	assert_int_equal(a_has(OHCA_CNT_TIMEOUTS), 0);
	/* The acknowledgment is lost: the request is repeated after the timeout. */
	lose = 2;
	post(OHCA_OP_RDMA_WRITE, 8, PAIR_IOVA);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(a_has(OHCA_CNT_TIMEOUTS), 1);
	assert_int_equal(b_has(OHCA_CNT_DUPLICATES), 1);
	assert_int_equal(b_has(OHCA_CNT_RX_WRITES), 3);
	/* Everything is lost */
	lose = ~0U;
	post(OHCA_OP_RDMA_WRITE, 8, PAIR_IOVA);
	post(OHCA_OP_RDMA_WRITE, 8, PAIR_IOVA);
	assert_done(OHCA_WC_RETRY_EXC_ERR);
	assert_done(OHCA_WC_WR_FLUSH_ERR);
	assert_int_equal(a_has(OHCA_CNT_REQ_ERRORS), 1);
	assert_int_equal(a_has(OHCA_CNT_REQ_FLUSHED), 1);
	assert_true(a_has(OHCA_CNT_TIMEOUTS) >= 3);
}

static void test_refused(void **state)
{
	struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, 8);

	(void)state;
	post(OHCA_OP_RDMA_WRITE, 8, 0);
	assert_done(OHCA_WC_REM_ACCESS_ERR);
	assert_int_equal(b_has(OHCA_CNT_RESP_ACCESS_ERRORS), 1);
	assert_int_equal(b_has(OHCA_CNT_RX_WRITES), 1);
	assert_int_equal(b_has(OHCA_CNT_RESP_INVALID), 0);

	rig_to_reset(p.a);
	rig_to_reset(p.b);
	rig_connect(p.a, p.b);
	rig_post_recv(p.b, 1, &sge, 1);
	rig_post_recv(p.b, 2, &sge, 1);
	rig_post_recv(p.b, 3, &sge, 1);
	post(OHCA_OP_SEND, 9, 0);
	assert_done(OHCA_WC_REM_INV_REQ_ERR);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_LOC_LEN_ERR);
	rig_wait_recv(p.b);
	rig_wait_recv(p.b);
	assert_int_equal(b_has(OHCA_CNT_RESP_INVALID), 1);
	assert_int_equal(b_has(OHCA_CNT_RESP_ERRORS), 1);
	assert_int_equal(b_has(OHCA_CNT_RESP_FLUSHED), 2);
	assert_int_equal(a_has(OHCA_CNT_REQ_ERRORS), 2);
}

static void test_datagrams(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD};
	struct ohca_av av = {.hop_limit = 1, .port = 1};
	/* 239.0.0.1 */
	static const uint8_t mcast_gid[16] = {[10] = 0xff, 0xff, 239, 0, 0, 1};
	struct ohca_mcast_in mcast = {};
	struct ohca_sge sge;
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.av = &av,
		.qkey = RIG_QKEY,
	};

	(void)state;
	up_with(&opts);
	assert_to_rts(p.a);
	assert_to_rts(p.b);
	memcpy(av.dgid, hb->gid, 16);
	memcpy(av.dmac, hb->mac, 6);
	wr.dest_qpn = p.b->qpn;
	sge = rig_sge(p.ma, PAIR_IOVA, 300);

	rig_post_send(p.a, &wr);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(b_has(OHCA_CNT_OUT_OF_BUFFER), 1);
	{
		struct ohca_sge into = rig_sge(p.mb, PAIR_IOVA, 340);

		rig_post_recv(p.b, 1, &into, 1);
	}
	wr.qkey = RIG_QKEY + 1;
	rig_post_send(p.a, &wr);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(b_has(OHCA_CNT_RX_DROPPED), 1);
	wr.qkey = RIG_QKEY;
	sge = rig_sge(p.ma, PAIR_IOVA, 301);
	rig_post_send(p.a, &wr);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(b_has(OHCA_CNT_RX_DROPPED), 2);
	sge = rig_sge(p.ma, PAIR_IOVA, 300);
	rig_post_send(p.a, &wr);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	assert_int_equal(a_has(OHCA_CNT_TX_PKTS), 4);
	assert_int_equal(a_has(OHCA_CNT_TX_BYTES), 1201);
	assert_int_equal(b_has(OHCA_CNT_RX_PKTS), 4);
	assert_int_equal(b_has(OHCA_CNT_RX_BYTES), 1201);
	assert_int_equal(a_has(OHCA_CNT_TX_MCAST), 0);
	assert_int_equal(b_has(OHCA_CNT_RX_MCAST), 0);

	memcpy(mcast.gid, mcast_gid, 16);
	mcast.qpn = htole32(p.b->qpn);
	assert_int_equal(drv_cmd(hb->drv, OHCA_CMD_ATTACH_MCAST, &mcast, sizeof(mcast), NULL, 0),
			 0);
	memcpy(av.dgid, mcast_gid, 16);
	wr.dest_qpn = 0xffffff;
	rig_post_send(p.a, &wr);
	assert_done(OHCA_WC_SUCCESS);
	assert_int_equal(a_has(OHCA_CNT_TX_MCAST), 1);
	assert_int_equal(b_has(OHCA_CNT_RX_MCAST), 1);
	assert_int_equal(a_has(OHCA_CNT_TX_PKTS), 5);
	assert_int_equal(b_has(OHCA_CNT_RX_PKTS), 5);
	assert_int_equal(b_has(OHCA_CNT_OUT_OF_BUFFER), 2);
}

static void test_many(void **state)
{
	const struct ohca_alloc_counters_in in = {.port = 1};
	struct ohca_query_device_out dev;
	struct ohca_handle out;
	uint32_t i;

	(void)state;
	drv_cmd(ha->drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev));
	assert_true(le64toh(dev.caps) & OHCA_CAP_COUNTERS);
	for (i = 1; i < le32toh(dev.max_counters); i++)
		drv_alloc_counters(ha->drv, 1);
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_ALLOC_COUNTERS, &in, sizeof(in), &out,
				 sizeof(out)),
			 OHCA_CMD_NO_RESOURCE);
	/* The counters of the port begin at 0 after a reset. */
	assert_int_equal(bind(p.a, 0), OHCA_CMD_OK);
	request(OHCA_OP_RDMA_WRITE, 8);
	assert_int_not_equal(get(ha, 0, OHCA_CNT_TX_PKTS), 0);
	drv_reset(ha->drv);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	drv_first_uar(ha->drv);
	assert_int_equal(get(ha, 0, OHCA_CNT_TX_PKTS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_traffic, up, down),
		cmocka_unit_test_setup_teardown(test_binding, up, down),
		cmocka_unit_test_setup_teardown(test_binding_in_rtr, up, down),
		cmocka_unit_test_setup_teardown(test_earlier, up, down),
		cmocka_unit_test_setup_teardown(test_page_faults, up, down),
		cmocka_unit_test_setup_teardown(test_not_ready, up, down),
		cmocka_unit_test_setup_teardown(test_lost, up, down),
		cmocka_unit_test_setup_teardown(test_refused, up, down),
		cmocka_unit_test_setup_teardown(test_datagrams, NULL, down),
		cmocka_unit_test_setup_teardown(test_many, up, down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
