// SPDX-License-Identifier: GPL-2.0
/*
 * Completions, events, interrupts and doorbells: nothing is lost when a queue is full or the device
 * sleeps, and there is no event without a request.  The completions are those of flushed work
 * requests.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "rig.h"

#define AWAY 0x800000000ULL /* memory that is unmapped later */

static struct drv *drv;
static struct rig_hca hca;

static void up_with(uint64_t feats)
{
	memset(&hca, 0, sizeof(hca));
	drv = drv_start(server->sock[0], feats);
	hca.drv = drv;
	hca.pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	hca.comp = drv_eq_new(drv, 4, 1, 0);
	hca.next_slot = 1;
}

static int up(void **state)
{
	(void)state;
	up_with(DRV_ALL_FEATS);
	return 0;
}

static int down(void **state)
{
	(void)state;
	drv_close(drv);
	return 0;
}

/* Execute a command: the device has done all earlier work when it completes. */
static void sync_device(void)
{
	struct ohca_cmd cmd = {.opcode = htole16(0xeeee)};

	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_OPCODE);
}

/* A QP whose completions all go to one CQ of 2^cq_log_size entries. */
static struct rig_qp *qp_new(uint8_t cq_log_size)
{
	struct rig_qp_opts opts = {.cq_log_size = cq_log_size, .log_size = 5, .max_sge = 1};
	struct rig_qp *qp = rig_qp_new(&hca, &opts);

	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
	return qp;
}

/*
 * Complete @num receives of the QP with errors; the queue is in RESET and usable again afterwards.
 */
static void flush(struct rig_qp *qp, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		rig_post_recv(qp, 100 + i, NULL, 0);
	assert_int_equal(rig_modify(qp, OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	sync_device();
}

static void again(struct rig_qp *qp)
{
	rig_to_reset(qp);
	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
}

static void test_completions_in_order(void **state)
{
	struct rig_qp *qp = qp_new(3);
	unsigned int round, i;
	struct ohca_cqe cqe;

	(void)state;
	for (round = 0; round < 40; round++) {
		unsigned int num = 1 + round % 8;

		flush(qp, num);
		for (i = 0; i < num; i++) {
			cqe = drv_cq_wait(qp->rcq);
			assert_int_equal(le64toh(cqe.wr_id), 100 + i);
			assert_int_equal(le32toh(cqe.qpn), qp->qpn);
			assert_int_equal(le32toh(cqe.wqe_idx), i);
			assert_int_equal(cqe.status, OHCA_WC_WR_FLUSH_ERR);
			assert_true(cqe.flags & OHCA_CQE_F_RQ);
		}
		assert_false(drv_cq_poll(qp->rcq, &cqe));
		again(qp);
	}
}

static void test_overrun(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	struct rig_qp *qp = qp_new(2);
	struct ohca_cqe cqe;
	struct ohca_eqe eqe;
	unsigned int i, errors = 0;

	(void)state;
	flush(qp, 9);
	for (i = 0; i < 4; i++) {
		cqe = drv_cq_wait(qp->rcq);
		assert_int_equal(le64toh(cqe.wr_id), 100 + i);
	}
	/* There is room now, but the CQ stays in error. */
	again(qp);
	flush(qp, 2);
	assert_false(drv_cq_poll(qp->rcq, &cqe));
	while (drv_eq_poll(async, &eqe)) {
		if (eqe.type != OHCA_EVENT_CQ_ERR)
			continue;
		assert_int_equal(le32toh(eqe.id), qp->rcq->cqn);
		errors++;
	}
	assert_int_equal(errors, 1);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->rcq->cqn), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(qp), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->rcq->cqn), OHCA_CMD_OK);
}

static void test_consumer_index_jumps(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	struct rig_qp *qp = qp_new(2);

	(void)state;
	qp->rcq->rec->ci = htole32(1000);
	flush(qp, 5);
	rig_wait_event(&(struct rig_hca){.drv = drv, .async = async}, OHCA_EVENT_CQ_ERR,
		       qp->rcq->cqn);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
}

static void test_cq_of_one_entry(void **state)
{
	struct rig_qp_opts opts = {.log_size = 5, .max_sge = 1};
	struct drv_cq *cq = drv_cq_new(drv, 0, hca.comp->eqn);
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(&hca, &opts, &qp);
	unsigned int i;

	(void)state;
	qp.rcq = cq;
	in.recv_cqn = htole32(cq->cqn);
	qp.qpn = drv_create(drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	qp.attr.port = 1;
	for (i = 0; i < 10; i++) {
		assert_int_equal(rig_to_init(&qp), OHCA_CMD_OK);
		flush(&qp, 1);
		drv_cq_wait(cq);
		rig_to_reset(&qp);
	}
}

static void arm(struct rig_qp *qp, bool solicited)
{
	struct ohca_cq_rec *rec = qp->rcq->rec;

	__atomic_fetch_add(solicited ? &rec->arm_solicited : &rec->arm_next, 1, __ATOMIC_SEQ_CST);
}

static void consume(struct rig_qp *qp)
{
	struct ohca_cqe cqe;

	while (drv_cq_poll(qp->rcq, &cqe))
		drv_cq_ack(qp->rcq);
}

static void test_arming(void **state)
{
	struct rig_qp *qp = qp_new(4);
	struct ohca_eqe eqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < 40; i++) {
		/* Not armed: no event */
		flush(qp, 3);
		consume(qp);
		assert_false(drv_eq_poll(hca.comp, &eqe));
		again(qp);
		/*
		 * Armed: one event for many completions; a completion with an error counts as
		 * solicited
		 */
		arm(qp, i % 2);
		flush(qp, 5);
		consume(qp);
		eqe = drv_eq_wait(hca.comp);
		assert_int_equal(eqe.type, OHCA_EVENT_COMP);
		assert_int_equal(le32toh(eqe.id), qp->rcq->cqn);
		assert_false(drv_eq_poll(hca.comp, &eqe));
		again(qp);
	}
}

static void test_interrupts_only_if_armed(void **state)
{
	struct rig_qp *qp = qp_new(4);
	unsigned int i;

	(void)state;
	vu_irq_count(drv->vu, 1);
	for (i = 0; i < 20; i++) {
		arm(qp, false);
		flush(qp, 1);
		consume(qp);
		drv_eq_wait(hca.comp);
		sync_device();
		assert_int_equal(vu_irq_count(drv->vu, 1), 0);
		again(qp);

		drv_eq_arm(hca.comp);
		drv_eq_arm(hca.comp);
		arm(qp, false);
		flush(qp, 1);
		consume(qp);
		drv_eq_wait(hca.comp);
		assert_int_equal(vu_irq_wait(drv->vu, 1), 1);
		again(qp);
	}
}

#define MANY 50 /* more CQs than the EQ has entries */

static void test_full_eq_keeps_completions(void **state)
{
	struct rig_qp *qp[MANY];
	unsigned int seen[MANY] = {0}, i, round, got = 0;
	struct ohca_eqe eqe;

	(void)state;
	for (i = 0; i < MANY; i++)
		qp[i] = qp_new(4);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++) {
			arm(qp[i], false);
			flush(qp[i], 1);
			again(qp[i]);
			/*
			 * Another completion of the same CQ: no second event while one is pending.
			 */
			arm(qp[i], false);
			flush(qp[i], 1);
			again(qp[i]);
			consume(qp[i]);
		}
	}
	/* No event was taken: the ring is full and holds the first ones. */
	for (i = 0; i < 16; i++)
		assert_true(drv_eq_poll(hca.comp, &eqe));
	assert_false(drv_eq_poll(hca.comp, &eqe));
	hca.comp->ci = 0;

	memset(seen, 0, sizeof(seen));
	for (got = 0; got < MANY;) {
		eqe = drv_eq_wait(hca.comp);
		for (i = 0; le32toh(eqe.id) != qp[i]->rcq->cqn; i++)
			assert_true(i < MANY);
		if (!seen[i]++)
			got++;
	}
}

static void test_cq_destroyed_while_its_event_waits(void **state)
{
	struct rig_qp *qp[MANY];
	struct ohca_eqe eqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		qp[i] = qp_new(4);
		arm(qp[i], false);
		flush(qp[i], 1);
	}
	for (i = 0; i < MANY; i++) {
		assert_int_equal(rig_qp_destroy(qp[i]), OHCA_CMD_OK);
		assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp[i]->rcq->cqn), 0);
	}
	for (i = 0; i < 16; i++)
		drv_eq_wait(hca.comp);
	sync_device();
	assert_false(drv_eq_poll(hca.comp, &eqe));
}

static void set_port(unsigned int admin_up)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN),
		.port = 1,
		.admin_up = admin_up,
	};

	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
}

static void test_full_async_eq(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	struct rig_qp *qp[MANY];
	struct ohca_eqe eqe;
	unsigned int i, errors = 0, last = 0;

	(void)state;
	for (i = 1; i <= 31; i++)
		set_port(i % 2);
	/* After them, one event of each CQ */
	for (i = 0; i < MANY; i++) {
		qp[i] = qp_new(1);
		flush(qp[i], 3);
	}
	set_port(0);
	while (errors < MANY || last != OHCA_EVENT_PORT_ERR) {
		eqe = drv_eq_wait(async);
		if (eqe.type == OHCA_EVENT_CQ_ERR)
			errors++;
		if (eqe.type == OHCA_EVENT_PORT_ERR || eqe.type == OHCA_EVENT_PORT_ACTIVE)
			last = eqe.type;
	}
	assert_int_equal(errors, MANY);
	assert_int_equal(last, OHCA_EVENT_PORT_ERR);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
}

static void test_async_eq_destroyed_while_events_wait(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	unsigned int i;

	(void)state;
	for (i = 1; i <= 31; i++)
		set_port(i % 2);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, async->eqn), OHCA_CMD_OK);
	set_port(0);
	/* The same, ended by a reset */
	drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	for (i = 1; i <= 31; i++)
		set_port(i % 2);
	drv_reset(drv);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
}

static void test_eq_index_jumps(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	struct ohca_eqe eqe;
	unsigned int i;

	(void)state;
	async->rec->ci = htole32(0x12345678);
	for (i = 1; i <= 31; i++)
		set_port(i % 2);
	/* Nothing was overwritten */
	for (i = 1; i <= 16; i++) {
		assert_true(drv_eq_poll(async, &eqe));
		assert_int_equal(eqe.type, i % 2 ? OHCA_EVENT_PORT_ACTIVE : OHCA_EVENT_PORT_ERR);
	}
	drv_eq_ack(async);
	drv_eq_wait(async);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
}

/* Separate memory for the next object. */
static uint64_t go_away_memory(void)
{
	uint64_t next = drv->next;

	vu_mem_new(drv->vu, AWAY, 1 << 20);
	drv->next = AWAY;
	return next;
}

static void go_away(void)
{
	assert_int_equal(vu_dma_unmap(drv->vu, AWAY, 1 << 20), 0);
}

static void until_fatal(uint32_t why)
{
	while (!(drv_reg(drv, OHCA_REG_STATUS) & OHCA_STATUS_FATAL))
		;
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_FATAL);
	assert_int_equal(drv_reg(drv, OHCA_REG_FATAL), why);
}

static void test_cq_memory_goes(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	uint64_t next = go_away_memory();
	struct drv_cq *cq = drv_cq_new(drv, 4, hca.comp->eqn);
	struct rig_qp_opts opts = {.log_size = 5, .max_sge = 1};
	struct ohca_create_qp_in in;
	struct rig_qp qp;

	(void)state;
	drv->next = next;
	in = rig_qp_in(&hca, &opts, &qp);
	in.recv_cqn = htole32(cq->cqn);
	qp.qpn = drv_create(drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	qp.attr.port = 1;
	assert_int_equal(rig_to_init(&qp), OHCA_CMD_OK);
	go_away();
	flush(&qp, 3);
	rig_wait_event(&(struct rig_hca){.drv = drv, .async = async}, OHCA_EVENT_CQ_ERR, cq->cqn);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
}

static void test_eq_memory_goes(void **state)
{
	uint64_t next = go_away_memory();

	(void)state;
	drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	drv->next = next;
	go_away();
	{
		struct ohca_modify_port_in *port;
		struct ohca_cmd cmd = {
			.opcode = htole16(OHCA_CMD_MODIFY_PORT),
			.in_len = htole16(sizeof(*port)),
			.in_addr = htole64(drv_alloc(drv, 4096)),
		};

		port = drv_ptr(drv, le64toh(cmd.in_addr));
		port->attr_mask = htole32(OHCA_PORT_ATTR_ADMIN);
		port->port = 1;
		port->admin_up = 1;
		drv_post(drv, &cmd);
		drv_kick(drv);
	}
	until_fatal(OHCA_FATAL_EQ);
	drv_reset(drv);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
}

static void test_fatal_event(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 2, OHCA_EQ_ASYNC);
	struct ohca_eqe eqe;

	(void)state;
	drv_eq_arm(async);
	drv->pi += 100;
	drv_kick(drv);
	until_fatal(OHCA_FATAL_CMDQ);
	eqe = drv_eq_wait(async);
	assert_int_equal(eqe.type, OHCA_EVENT_DEVICE_FATAL);
	assert_int_equal(le32toh(eqe.id), OHCA_FATAL_CMDQ);
	assert_int_equal(vu_irq_wait(drv->vu, 2), 1);
}

/* This event is the only one in the queue. */
static void assert_last_event(struct drv_eq *eq, enum ohca_event type, uint32_t id)
{
	struct ohca_eqe eqe;

	eqe = drv_eq_wait(eq);
	assert_int_equal(eqe.type, type);
	assert_int_equal(le32toh(eqe.id), id);
	assert_false(drv_eq_poll(eq, &eqe));
}

/* A completion EQ fails: the asynchronous EQ still reports that. */
static void test_fatal_event_of_other_eq(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 2, OHCA_EQ_ASYNC), *comp = hca.comp;
	uint64_t next = go_away_memory();
	struct rig_qp *qp;

	(void)state;
	hca.comp = drv_eq_new(drv, 4, 1, 0);
	drv->next = next;
	qp = qp_new(4);
	go_away();
	drv_eq_arm(async);
	arm(qp, false);
	rig_post_recv(qp, 1, NULL, 0);
	{
		struct ohca_modify_qp_in *in;
		struct ohca_cmd cmd = {
			.opcode = htole16(OHCA_CMD_MODIFY_QP),
			.in_len = htole16(sizeof(*in)),
			.in_addr = htole64(drv_alloc(drv, 4096)),
		};

		in = drv_ptr(drv, le64toh(cmd.in_addr));
		in->qpn = htole32(qp->qpn);
		in->attr_mask = htole32(OHCA_QP_STATE);
		in->attr.state = OHCA_QPS_ERR;
		drv_post(drv, &cmd);
		drv_kick(drv);
	}
	until_fatal(OHCA_FATAL_EQ);
	assert_last_event(async, OHCA_EVENT_DEVICE_FATAL, OHCA_FATAL_EQ);
	assert_int_equal(vu_irq_wait(drv->vu, 2), 1);
	hca.comp = comp;
}

/* The link of a failed device goes down without an event for the port. */
static void test_fatal_takes_the_link(void **state)
{
	struct drv_eq *async = drv_eq_new(drv, 4, 2, OHCA_EQ_ASYNC);

	(void)state;
	set_port(1);
	assert_last_event(async, OHCA_EVENT_PORT_ACTIVE, 1);
	drv->pi += 100;
	drv_kick(drv);
	until_fatal(OHCA_FATAL_CMDQ);
	assert_last_event(async, OHCA_EVENT_DEVICE_FATAL, OHCA_FATAL_CMDQ);
}

/* After a fatal error nothing is written in host memory, whatever software does. */
static void test_fatal_is_silent(void **state)
{
	static uint8_t before[1 << 20];
	struct rig_qp *qp[20];
	unsigned int i;
	uint8_t *mem;

	(void)state;
	for (i = 0; i < 20; i++) {
		qp[i] = qp_new(4);
		arm(qp[i], false);
		flush(qp[i], 1);
	}
	drv->pi += 100;
	drv_kick(drv);
	until_fatal(OHCA_FATAL_CMDQ);
	for (i = 0; i < 20; i++)
		rig_post_recv(qp[i], 5, NULL, 0);
	drv_eq_ack(hca.comp);
	mem = drv_ptr(drv, DRV_MEM);
	memcpy(before, mem, sizeof(before));
	for (i = 0; i < 500; i++) {
		vu_wr64(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB,
			(uint64_t)qp[i % 20]->qpn << OHCA_SQ_DB_QPN_SHIFT);
		vu_wr32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_WAKE, 1);
	}
	assert_memory_equal(before, mem, sizeof(before));
}

/* A send of a QP in the error state is flushed when its doorbell is rung. */
static void put_send(struct rig_qp *qp, uint64_t wr_id)
{
	static const struct ohca_sge none;
	struct rig_wr wr = {.wr_id = wr_id, .opcode = OHCA_OP_SEND, .sge = &none};

	rig_put_send(qp, &wr);
	__atomic_store_n(&qp->sq_rec->pi, htole32(qp->sq_pi), __ATOMIC_RELEASE);
}

/* In INIT */
static struct rig_qp *new_qp(uint8_t type, unsigned int slot, uint32_t uar)
{
	struct rig_qp_opts opts = {.type = type, .log_size = 5, .max_sge = 1, .ext = true};
	struct ohca_create_qp_in in;
	struct rig_qp *qp = calloc(1, sizeof(*qp));

	assert_non_null(qp);
	in = rig_qp_in(&hca, &opts, qp);
	in.slot = htole16(slot);
	in.uar = htole32(uar);
	qp->qpn = drv_create(drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	qp->attr.port = 1;
	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
	return qp;
}

static struct rig_qp *error_qp(unsigned int slot, uint32_t uar)
{
	struct rig_qp *qp = new_qp(OHCA_QPT_RC, slot, uar);

	assert_int_equal(rig_modify(qp, OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	return qp;
}

/*
 * It reads its send queue only when its doorbell is rung.  (A QP in the error state also reads it
 * by a timer.)  The turn that it got when it entered RTS is over.
 */
static struct rig_qp *datagram_qp(unsigned int slot, uint32_t uar)
{
	struct rig_qp *qp = new_qp(OHCA_QPT_UD, slot, uar);

	assert_int_equal(rig_to_rtr(qp), OHCA_CMD_OK);
	assert_int_equal(rig_to_rts(qp), OHCA_CMD_OK);
	sync_device();
	return qp;
}

static void test_every_slot_rings(void **state)
{
	static const unsigned int slots[] = {0, 1, 63, 64, 447, 448, 449, 511, 512, 4542, 4543};
	unsigned int n = ARRAY_SIZE(slots), i, round;
	struct rig_qp *qp[2 * ARRAY_SIZE(slots)];
	struct ohca_alloc_uar_in in = {.shadow_addr = htole64(drv_alloc(drv, 4096))};
	struct ohca_shadow *shadow = drv_ptr(drv, le64toh(in.shadow_addr));
	uint32_t uar = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));

	(void)state;
	/* Two QPs share each slot */
	for (i = 0; i < 2 * n; i++)
		qp[i] = error_qp(slots[i % n], uar);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < n; i++) {
			/* The other QP of the slot has nothing, or both have work */
			put_send(qp[i], round);
			if (round % 2)
				put_send(qp[i + n], round);
			drv_ring(drv, uar, shadow, slots[i]);
			assert_int_equal(le64toh(drv_cq_wait(qp[i]->scq).wr_id), round);
			if (round % 2)
				assert_int_equal(le64toh(drv_cq_wait(qp[i + n]->scq).wr_id), round);
		}
	}
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, uar), OHCA_CMD_BUSY);
	for (i = 0; i < 2 * n; i++) {
		assert_int_equal(rig_qp_destroy(qp[i]), OHCA_CMD_OK);
		free(qp[i]);
	}
	/* Bits of unused slots */
	drv_ring_all(shadow);
	drv_ring(drv, uar, shadow, 0);
	drv_until32((void *)&shadow->summary, UINT32_MAX, 0, "summary is cleared");
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, uar), OHCA_CMD_OK);
}

/* More UARs with work at once than the device serves in a round. */
static void test_many_uars(void **state)
{
	struct ohca_shadow *shadow[MANY];
	struct rig_qp *qp[MANY];
	uint32_t uar[MANY];
	unsigned int i, round;

	(void)state;
	for (i = 0; i < MANY; i++) {
		struct ohca_alloc_uar_in in = {.shadow_addr = htole64(drv_alloc(drv, 4096))};

		shadow[i] = drv_ptr(drv, le64toh(in.shadow_addr));
		uar[i] = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
		qp[i] = error_qp(i * 90, uar[i]);
	}
	for (round = 0; round < 50; round++) {
		for (i = 0; i < MANY; i++) {
			put_send(qp[i], round);
			drv_ring(drv, uar[i], shadow[i], i * 90);
		}
		for (i = 0; i < MANY; i++)
			assert_int_equal(le64toh(drv_cq_wait(qp[i]->scq).wr_id), round);
	}
	for (i = 0; i < MANY; i++)
		free(qp[i]);
}

/* Only the UAR that the queue was created with can ring its doorbell. */
static void test_foreign_doorbells(void **state)
{
	struct ohca_alloc_uar_in in = {.shadow_addr = htole64(drv_alloc(drv, 4096))};
	uint32_t uar = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	struct rig_qp *qp = datagram_qp(5, 0);
	uint64_t db = (uint64_t)qp->qpn << OHCA_SQ_DB_QPN_SHIFT | 1;
	struct ohca_cqe cqe;

	(void)state;
	put_send(qp, 7);
	vu_wr64(drv->vu, OHCA_BAR_UAR, uar * OHCA_UAR_SIZE + OHCA_UAR_SQ_DB, db);
	vu_wr64(drv->vu, OHCA_BAR_UAR, 9 * OHCA_UAR_SIZE + OHCA_UAR_SQ_DB, db);
	vu_wr64(drv->vu, OHCA_BAR_UAR, 0x10, db);
	vu_wr32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB, db);
	vu_wr32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB + 4, db >> 32);
	sync_device();
	assert_false(drv_cq_poll(qp->scq, &cqe));
	vu_wr64(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB, db);
	assert_int_equal(le64toh(drv_cq_wait(qp->scq).wr_id), 7);
	free(qp);
}

/*
 * Doorbells of UARs that are 64 KiB apart: each is that of its UAR only, and between UARs there is
 * none.
 */
static void test_distant_uars(void **state)
{
	struct ohca_alloc_uar_in in = {0};
	struct ohca_cqe cqe;
	struct rig_qp *qp;
	uint64_t db;
	uint32_t uar;

	(void)state;
	drv_close(drv);
	memset(&hca, 0, sizeof(hca));
	drv = drv_open(server->sock[0]);
	drv->uar_shift = 16;
	assert_int_equal(drv_enable(drv, DRV_ALL_FEATS | OHCA_FEAT_UAR_SHIFT), OHCA_STATUS_READY);
	drv_first_uar(drv);
	hca.drv = drv;
	hca.pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	hca.comp = drv_eq_new(drv, 4, 1, 0);
	hca.next_slot = 1;
	in.shadow_addr = htole64(drv_alloc(drv, 4096));
	uar = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	qp = datagram_qp(7, uar);
	db = (uint64_t)qp->qpn << OHCA_SQ_DB_QPN_SHIFT | 1;
	put_send(qp, 3);
	vu_wr64(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB, db);
	vu_wr64(drv->vu, OHCA_BAR_UAR, uar * OHCA_UAR_SIZE + OHCA_UAR_SQ_DB, db);
	vu_wr64(drv->vu, OHCA_BAR_UAR, drv_uar(drv, uar) + OHCA_UAR_SIZE + OHCA_UAR_SQ_DB, db);
	vu_wr64(drv->vu, OHCA_BAR_UAR, drv_uar(drv, uar + 1) + OHCA_UAR_SQ_DB, db);
	assert_int_equal(vu_rd64(drv->vu, OHCA_BAR_UAR,
				 drv_uar(drv, uar) + OHCA_UAR_SIZE + OHCA_UAR_CLOCK),
			 0);
	assert_int_not_equal(vu_rd64(drv->vu, OHCA_BAR_UAR, drv_uar(drv, uar) + OHCA_UAR_CLOCK), 0);
	sync_device();
	assert_false(drv_cq_poll(qp->scq, &cqe));
	vu_wr64(drv->vu, OHCA_BAR_UAR, drv_uar(drv, uar) + OHCA_UAR_SQ_DB, db);
	assert_int_equal(le64toh(drv_cq_wait(qp->scq).wr_id), 3);
	put_send(qp, 4);
	drv_ring(drv, uar, drv_ptr(drv, le64toh(in.shadow_addr)), 7);
	assert_int_equal(le64toh(drv_cq_wait(qp->scq).wr_id), 4);
	free(qp);
}

static void test_doorbells_without_shadow(void **state)
{
	struct rig_qp *qp;
	unsigned int i;

	(void)state;
	drv_close(drv);
	up_with(0);
	qp = error_qp(4543, 0);
	for (i = 0; i < 20; i++) {
		put_send(qp, i);
		vu_wr64(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB,
			(uint64_t)qp->qpn << OHCA_SQ_DB_QPN_SHIFT);
		assert_int_equal(le64toh(drv_cq_wait(qp->scq).wr_id), i);
	}
	free(qp);
}

/* The device goes to sleep by itself, and a doorbell wakes it. */
static void test_sleep_and_wake(void **state)
{
	struct ohca_cmd cmd = {.opcode = htole16(0xeeee)};
	unsigned int i;

	(void)state;
	for (i = 0; i < 50; i++) {
		drv_until32(&drv->shadow->asleep, 1, 1, "the device falls asleep");
		drv_post(drv, &cmd);
		drv->rec->pi = htole32(drv->pi);
		assert_true(drv_ring(drv, 0, drv->shadow, 0));
		assert_int_equal(drv_wait(drv).status, OHCA_CMD_BAD_OPCODE);
	}
}

/* Doorbells at different times around the moment at which the device arms the wake-up. */
static void test_sleep_races(void **state)
{
	struct ohca_cmd cmd = {.opcode = htole16(0xeeee)};
	unsigned int i;

	(void)state;
	srand(2);
	for (i = 0; i < 20000; i++) {
		unsigned int spin = i % 8 ? 0 : rand() % (1U << (10 + rand() % 12));

		while (spin--)
			__asm__ volatile("" ::: "memory");
		drv_post(drv, &cmd);
		__atomic_store_n(&drv->rec->pi, htole32(drv->pi), __ATOMIC_RELEASE);
		drv_ring(drv, 0, drv->shadow, 0);
		drv_wait(drv);
	}
}

static void test_shadow_memory_goes_and_comes(void **state)
{
	struct ohca_alloc_uar_in in;
	uint64_t next = go_away_memory();
	struct ohca_shadow *shadow;
	struct rig_qp *qp;
	uint32_t uar;

	(void)state;
	in = (struct ohca_alloc_uar_in){.shadow_addr = htole64(drv_alloc(drv, 4096))};
	shadow = drv_ptr(drv, AWAY);
	uar = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	drv->next = next;
	qp = error_qp(5, uar);
	drv_until32(&shadow->asleep, 1, 1, "the UAR falls asleep");
	go_away();
	put_send(qp, 1);
	drv_ring(drv, uar, shadow, 5);
	sync_device();
	assert_int_equal(vu_dma_map(drv->vu, AWAY, 1 << 20, drv->vu->mems[drv->vu->num_mems - 1].fd,
				    0, VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE),
			 0);
	assert_int_equal(le64toh(drv_cq_wait(qp->scq).wr_id), 1);
	free(qp);
}

static void test_busy_objects(void **state)
{
	struct rig_qp *qp = qp_new(4);

	(void)state;
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, hca.pdn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, 0), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->scq->cqn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->rcq->cqn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, hca.comp->eqn), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(qp), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->scq->cqn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->rcq->cqn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, hca.comp->eqn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, hca.pdn), OHCA_CMD_OK);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, up, down)
	const struct CMUnitTest tests[] = {
		TEST(test_completions_in_order),
		TEST(test_overrun),
		TEST(test_consumer_index_jumps),
		TEST(test_cq_of_one_entry),
		TEST(test_arming),
		TEST(test_interrupts_only_if_armed),
		TEST(test_full_eq_keeps_completions),
		TEST(test_cq_destroyed_while_its_event_waits),
		TEST(test_full_async_eq),
		TEST(test_async_eq_destroyed_while_events_wait),
		TEST(test_eq_index_jumps),
		TEST(test_cq_memory_goes),
		TEST(test_eq_memory_goes),
		TEST(test_fatal_event),
		TEST(test_fatal_event_of_other_eq),
		TEST(test_fatal_takes_the_link),
		TEST(test_fatal_is_silent),
		TEST(test_every_slot_rings),
		TEST(test_many_uars),
		TEST(test_foreign_doorbells),
		TEST(test_distant_uars),
		TEST(test_doorbells_without_shadow),
		TEST(test_sleep_and_wake),
		TEST(test_sleep_races),
		TEST(test_shadow_memory_goes_and_comes),
		TEST(test_busy_objects),
	};

	return RUN_TESTS(tests, start_one_hca, stop_hcas);
}
