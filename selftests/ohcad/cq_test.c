// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: resize under traffic, moderation, time stamps and the clock, ignored overrun.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "pair.h"
#include "refuse.h"

static struct pair p;
static struct rig_hca *ha, *hb;

static int up(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8, .cq_log_size = 9};

	(void)state;
	p = pair_open(server, &opts);
	ha = p.a->hca;
	hb = p.b->hca;
	return 0;
}

static int down(void **state)
{
	(void)state;
	rig_close(p.rig);
	return 0;
}

static uint64_t next_id;

/* Post @num writes that complete, with consecutive work request IDs. */
static void post(unsigned int num)
{
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE, .flags = OHCA_WQE_SIGNALED};

	while (num--) {
		wr.wr_id = next_id++;
		rig_put_send(p.a, &wr);
	}
	rig_ring(p.a);
}

static void sync_device(struct drv *drv)
{
	struct ohca_cmd cmd = {.opcode = htole16(0xeeee)};

	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_OPCODE);
}

/* All posted work has completed and its events have been raised. */
static void settle(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		sync_device(ha->drv);
}

static void expect(struct drv_cq *cq, uint64_t wr_id)
{
	struct ohca_cqe cqe = drv_cq_wait(cq);

	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(le32toh(cqe.qpn), p.a->qpn);
}

static void assert_empty(struct drv_cq *cq)
{
	struct ohca_cqe cqe;

	assert_false(drv_cq_poll(cq, &cqe));
}

/*
 * Larger and smaller sizes, with the ring at every position of several passes and any number of
 * entries.
 */
static void test_resize(void **state)
{
	static const uint8_t sizes[] = {7, 10, 5, 6, 9, 8, 12, 5, 7};
	uint64_t seen = next_id;
	unsigned int i, n;

	(void)state;
	for (i = 0; i < 300; i++) {
		n = i % 32;
		post(n);
		settle();
		assert_int_equal(drv_cq_resize(p.a->scq, sizes[i % ARRAY_SIZE(sizes)]), 0);
		post(i % 2);
		for (n += i % 2; n; n--)
			expect(p.a->scq, seen++);
		assert_empty(p.a->scq);
	}
}

#define ARENA (1U << 20) /* for a ring and its table */

/* Completions are written while the CQ is resized again and again. */
static void test_resize_under_traffic(void **state)
{
	uint64_t seen = next_id, sum = next_id + 20000;
	uint64_t arena[2] = {drv_alloc(ha->drv, ARENA), drv_alloc(ha->drv, ARENA)};
	uint64_t next = ha->drv->next;
	unsigned int i = 0;
	struct ohca_cqe cqe;

	(void)state;
	while (seen < sum) {
		while (next_id < sum && next_id - seen < 200)
			post(1 + next_id % 5);
		ha->drv->next = arena[i % 2];
		assert_int_equal(drv_cq_resize(p.a->scq, 8 + i++ % 4), 0);
		while (drv_cq_poll(p.a->scq, &cqe)) {
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			assert_int_equal(le64toh(cqe.wr_id), seen++);
			if (seen % 64 == i % 64)
				break;
		}
		drv_cq_ack(p.a->scq);
	}
	ha->drv->next = next;
	while (seen < next_id)
		expect(p.a->scq, seen++);
	assert_empty(p.a->scq);
}

static void test_resize_to_what_is_there(void **state)
{
	uint64_t seen = next_id;
	unsigned int i;

	(void)state;
	post(33);
	settle();
	assert_int_equal(drv_cq_resize(p.a->scq, 5), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ha->drv->syndrome, offsetof(struct ohca_resize_cq_in, log_size));
	expect(p.a->scq, seen++);
	assert_int_equal(drv_cq_resize(p.a->scq, 5), OHCA_CMD_OK);
	/* The CQ is full now: one more completion overruns it. */
	for (i = 0; i < 32; i++)
		expect(p.a->scq, seen++);
	post(32);
	settle();
	post(1);
	rig_wait_event(ha, OHCA_EVENT_CQ_ERR, p.a->scq->cqn);
	assert_int_equal(drv_cq_resize(p.a->scq, 8), OHCA_CMD_BAD_STATE);
}

#define RESIZE(field, value, status) \
	REFUSE(ha->drv, OHCA_CMD_RESIZE_CQ, struct ohca_resize_cq_in, in, field, value, status)

static void test_resize_errors(void **state)
{
	uint64_t seen = next_id;
	struct drv_cq to;
	struct ohca_resize_cq_in in = drv_cq_resize_in(p.a->scq, 6, &to), bad;

	(void)state;
	RESIZE(cqn, htole32(12345), OHCA_CMD_BAD_HANDLE);
	RESIZE(log_size, 21, OHCA_CMD_BAD_PARAM);
	RESIZE(log_size, 255, OHCA_CMD_BAD_PARAM);
	RESIZE(rec_offset, htole32(64 * 64 - 64), OHCA_CMD_BAD_PARAM);
	RESIZE(rec_offset, htole32(64 * 64 + 4), OHCA_CMD_BAD_PARAM);
	RESIZE(buf, drv_xlt(ha->drv, drv_alloc(ha->drv, 4096), 4096, 12), OHCA_CMD_BAD_PARAM);
	bad = in;
	bad.rsvd[6] = 1;
	refuse(ha->drv, OHCA_CMD_RESIZE_CQ, &bad, sizeof(bad), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_resize_cq_in, rsvd));
	bad = in;
	bad.buf.addr = htole64(DRV_NOWHERE);
	refuse(ha->drv, OHCA_CMD_RESIZE_CQ, &bad, sizeof(bad), OHCA_CMD_BAD_ADDR, 0);
	/* A record whose contents differ from the old one's */
	to.rec->ci = htole32(le32toh(to.rec->ci) + 1);
	refuse(ha->drv, OHCA_CMD_RESIZE_CQ, &in, sizeof(in), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_resize_cq_in, rec_offset));
	/* Nothing has changed */
	post(3);
	while (seen < next_id)
		expect(p.a->scq, seen++);
}

/* A request for an event is still valid after the ring is replaced. */
static void test_resize_keeps_requests(void **state)
{
	struct ohca_eqe eqe;

	(void)state;
	drv_cq_arm(p.a->scq, false);
	assert_int_equal(drv_cq_resize(p.a->scq, 7), OHCA_CMD_OK);
	settle();
	assert_false(drv_eq_poll(ha->comp, &eqe));
	post(1);
	eqe = drv_eq_wait(ha->comp);
	assert_int_equal(le32toh(eqe.id), p.a->scq->cqn);
	/* A request that was answered is not answered again. */
	assert_int_equal(drv_cq_resize(p.a->scq, 8), OHCA_CMD_OK);
	post(1);
	settle();
	assert_false(drv_eq_poll(ha->comp, &eqe));
}

static int moderate(struct rig_hca *hca, uint32_t cqn, uint16_t count, uint16_t period)
{
	struct ohca_modify_cq_in in = {
		.cqn = htole32(cqn), .count = htole16(count), .period = htole16(period)};

	return drv_cmd(hca->drv, OHCA_CMD_MODIFY_CQ, &in, sizeof(in), NULL, 0);
}

static void assert_event(struct rig_hca *hca, struct drv_cq *cq)
{
	struct ohca_eqe eqe = drv_eq_wait(hca->comp);

	assert_int_equal(eqe.type, OHCA_EVENT_COMP);
	assert_int_equal(le32toh(eqe.id), cq->cqn);
}

static void assert_no_event(struct rig_hca *hca)
{
	struct ohca_eqe eqe;

	settle();
	assert_false(drv_eq_poll(hca->comp, &eqe));
}

static void drain(struct drv_cq *cq)
{
	struct ohca_cqe cqe;

	while (drv_cq_poll(cq, &cqe))
		;
	drv_cq_ack(cq);
}

static void test_moderation_by_count(void **state)
{
	struct drv_cq *cq = p.a->scq;
	unsigned int i;

	(void)state;
	assert_int_equal(moderate(ha, 12345, 1, 1), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(moderate(ha, cq->cqn, 5, 0), OHCA_CMD_OK);
	for (i = 0; i < 50; i++) {
		/* Events without a request do not count. */
		post(3);
		settle();
		drain(cq);
		drv_cq_arm(cq, false);
		post(4);
		assert_no_event(ha);
		post(1);
		assert_event(ha, cq);
		post(20);
		assert_no_event(ha);
		drain(cq);
	}
	/* More completions at once than the moderation count */
	drv_cq_arm(cq, false);
	post(17);
	assert_event(ha, cq);
	assert_no_event(ha);
	drain(cq);
}

static void test_moderation_by_time(void **state)
{
	struct drv_cq *cq = p.a->scq;
	unsigned int i;

	(void)state;
	assert_int_equal(moderate(ha, cq->cqn, 0xffff, 100), OHCA_CMD_OK);
	for (i = 0; i < 50; i++) {
		drv_cq_arm(cq, false);
		post(1 + i % 3);
		assert_event(ha, cq);
		drain(cq);
	}
	/* The time ends before an event is requested: the next completion starts a new period. */
	assert_int_equal(moderate(ha, cq->cqn, 0xffff, 1), OHCA_CMD_OK);
	post(1);
	assert_no_event(ha);
	drv_cq_arm(cq, false);
	assert_no_event(ha);
	post(1);
	assert_event(ha, cq);
}

/* Completions that moderation holds back are reported when moderation ends or changes. */
static void test_moderation_changes(void **state)
{
	struct drv_cq *cq = p.a->scq;

	(void)state;
	assert_int_equal(moderate(ha, cq->cqn, 10, 0), OHCA_CMD_OK);
	drv_cq_arm(cq, false);
	post(3);
	assert_no_event(ha);
	assert_int_equal(moderate(ha, cq->cqn, 4, 0), OHCA_CMD_OK);
	assert_no_event(ha);
	assert_int_equal(moderate(ha, cq->cqn, 3, 0), OHCA_CMD_OK);
	assert_event(ha, cq);

	drv_cq_arm(cq, false);
	post(2);
	assert_no_event(ha);
	assert_int_equal(moderate(ha, cq->cqn, 3, 50), OHCA_CMD_OK);
	assert_event(ha, cq);

	drv_cq_arm(cq, false);
	assert_int_equal(moderate(ha, cq->cqn, 0, 0), OHCA_CMD_OK);
	assert_no_event(ha);
	post(1);
	assert_event(ha, cq);
}

static void send_to_b(uint8_t flags)
{
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .flags = flags};

	rig_post_recv(p.b, 1, NULL, 0);
	rig_post_send(p.a, &wr);
}

static void test_moderation_and_solicited(void **state)
{
	struct drv_cq *cq = p.b->rcq;

	(void)state;
	assert_int_equal(moderate(hb, cq->cqn, 100, 0), OHCA_CMD_OK);
	/* Requested: at once */
	drv_cq_arm(cq, true);
	send_to_b(0);
	assert_no_event(hb);
	send_to_b(OHCA_WQE_SOLICITED);
	assert_event(hb, cq);
	/* Not requested: like any other */
	drv_cq_arm(cq, false);
	send_to_b(OHCA_WQE_SOLICITED);
	assert_no_event(hb);
	assert_int_equal(moderate(hb, cq->cqn, 2, 0), OHCA_CMD_OK);
	send_to_b(OHCA_WQE_SOLICITED);
	assert_event(hb, cq);
}

static void test_destroyed_while_held_back(void **state)
{
	struct drv_cq *cq = p.a->scq;

	(void)state;
	assert_int_equal(moderate(ha, cq->cqn, 100, 200), OHCA_CMD_OK);
	drv_cq_arm(cq, false);
	post(1);
	expect(cq, next_id - 1);
	assert_int_equal(rig_qp_destroy(p.a), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(ha->drv, OHCA_CMD_DESTROY_CQ, cq->cqn), OHCA_CMD_OK);
	/* Another one, whose device is reset meanwhile */
	assert_int_equal(moderate(hb, p.b->scq->cqn, 100, 0xffff), OHCA_CMD_OK);
	drv_reset(hb->drv);
}

static uint64_t clock_of(struct drv *drv, uint32_t uar)
{
	return vu_rd64(drv->vu, OHCA_BAR_UAR, (uint64_t)uar * OHCA_UAR_SIZE + OHCA_UAR_CLOCK);
}

/* Like software that can't read 64 bits at once. */
static uint64_t clock_in_halves(struct drv *drv)
{
	uint64_t low = vu_rd32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_CLOCK);

	return low | (uint64_t)vu_rd32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_CLOCK + 4) << 32;
}

static void test_clock(void **state)
{
	struct ohca_alloc_uar_in in = {.shadow_addr = htole64(drv_alloc(ha->drv, 4096))};
	uint32_t other = drv_create(ha->drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	struct ohca_query_device_out dev;
	uint64_t last = 0, now;
	unsigned int i;

	(void)state;
	drv_cmd(ha->drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev));
	assert_true(le64toh(dev.caps) & OHCA_CAP_TIMESTAMP);
	assert_int_not_equal(le32toh(dev.clock_khz), 0);
	for (i = 0; i < 1000; i++) {
		now = i % 2 ? clock_of(ha->drv, i % 4 == 1 ? 0 : other) : clock_in_halves(ha->drv);
		assert_true(now > last);
		last = now;
	}
	/* A UAR that does not exist, and registers that are not to be read */
	assert_int_equal(clock_of(ha->drv, 77), 0);
	assert_int_equal(vu_rd64(ha->drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB), 0);
	assert_int_equal(vu_rd32(ha->drv->vu, OHCA_BAR_UAR, OHCA_UAR_WAKE), 0);
	drv_reset(ha->drv);
	assert_int_equal(clock_of(ha->drv, 0), 0);
}

/* A QP with this CQ for its send queue, connected to itself. */
static struct rig_qp qp_with_cq(struct drv_cq *cq)
{
	struct rig_qp_opts opts = {.log_size = 8};
	struct ohca_create_qp_in in;
	struct rig_qp qp;

	in = rig_qp_in(ha, &opts, &qp);
	in.send_cqn = htole32(cq->cqn);
	qp.scq = cq;
	qp.qpn = drv_create(ha->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	ha->next_slot++;
	qp.attr = p.a->attr;
	rig_connect(&qp, &qp);
	return qp;
}

static void test_timestamps(void **state)
{
	struct drv_cq *cq = drv_cq_new_flags(ha->drv, 8, ha->comp->eqn, OHCA_CQ_TIMESTAMP);
	struct rig_qp qp = qp_with_cq(cq);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE, .flags = OHCA_WQE_SIGNALED};
	uint64_t last, now;
	struct ohca_cqe cqe;
	unsigned int i, j;

	(void)state;
	for (i = 0; i < 50; i++) {
		last = clock_of(ha->drv, 0);
		for (j = 0; j < 100; j++)
			rig_put_send(&qp, &wr);
		rig_ring(&qp);
		for (j = 0; j < 100; j++) {
			cqe = drv_cq_wait(cq);
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			now = le64toh(cqe.timestamp);
			assert_true(now >= last);
			last = now;
		}
		assert_true(clock_of(ha->drv, 0) >= last);
	}
	/* A CQ without the flag has none. */
	post(1);
	cqe = drv_cq_wait(p.a->scq);
	assert_int_equal(le64toh(cqe.timestamp), 0);
}

static void test_overrun_ignored(void **state)
{
	struct drv_cq *cq = drv_cq_new_flags(ha->drv, 3, ha->comp->eqn, OHCA_CQ_IGNORE_OVERRUN);
	struct rig_qp qp = qp_with_cq(cq);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE, .flags = OHCA_WQE_SIGNALED};
	unsigned int i;

	(void)state;
	for (i = 0; i < 203; i++) {
		wr.wr_id = i;
		rig_put_send(&qp, &wr);
	}
	drv_cq_arm(cq, false);
	rig_ring(&qp);
	assert_event(ha, cq);
	/* The last completion is in its place and has overwritten all others. */
	drv_until32((const __le32 *)&cq->ring[202 % 8].wr_id, ~0U, 202, "the last completion");
	settle();
	assert_int_equal(rig_query(&qp).state, OHCA_QPS_RTS);
	cq->ci = 195;
	for (i = 195; i < 203; i++)
		assert_int_equal(le64toh(drv_cq_wait(cq).wr_id), i);
	/* Also with a consumer index that is far behind */
	cq->ci = 3;
	assert_int_equal(drv_cq_resize(cq, 4), OHCA_CMD_OK);
	cq->ci = 203;
	drv_cq_ack(cq);
	wr.wr_id = 203;
	rig_put_send(&qp, &wr);
	rig_ring(&qp);
	assert_int_equal(le64toh(drv_cq_wait(cq).wr_id), 203);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_resize, up, down),
		cmocka_unit_test_setup_teardown(test_resize_under_traffic, up, down),
		cmocka_unit_test_setup_teardown(test_resize_to_what_is_there, up, down),
		cmocka_unit_test_setup_teardown(test_resize_errors, up, down),
		cmocka_unit_test_setup_teardown(test_resize_keeps_requests, up, down),
		cmocka_unit_test_setup_teardown(test_moderation_by_count, up, down),
		cmocka_unit_test_setup_teardown(test_moderation_by_time, up, down),
		cmocka_unit_test_setup_teardown(test_moderation_changes, up, down),
		cmocka_unit_test_setup_teardown(test_moderation_and_solicited, up, down),
		cmocka_unit_test_setup_teardown(test_destroyed_while_held_back, up, down),
		cmocka_unit_test_setup_teardown(test_clock, up, down),
		cmocka_unit_test_setup_teardown(test_timestamps, up, down),
		cmocka_unit_test_setup_teardown(test_overrun_ignored, up, down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
