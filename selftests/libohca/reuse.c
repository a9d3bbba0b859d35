// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of libohca with numbers of QPs and SRQs that the kernel uses again, and with threads that wait for
 * each other, against a mock kernel and device.
 */

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bed.h"
#include "tap.h"

/**
 * struct successor - an object that is created while the events of its predecessor are not acknowledged
 * @bed: the bed, whose QP is the predecessor
 * @qp: the QP
 * @srq: the SRQ, of the XRC domain @xrcd
 * @left: completions of the predecessor that the CQ has then
 */
struct successor {
	struct bed *bed;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;
	int left;
};

/* Completions that are left when the new QP exists, while its predecessor waits */
static void poll_meanwhile(struct successor *next)
{
	struct ibv_wc wc;

	next->left = ohca_poll_cq(next->bed->cq, 1, &wc);
}

static void create_qp_meanwhile(void *arg)
{
	struct successor *next = arg;

	next->qp = make_qp(next->bed, (struct ibv_qp_cap){.max_send_wr = 4, .max_send_sge = 1});
}

static void test_qp_acks(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_send_sge = 1};
	struct bed bed;
	struct successor next = {.bed = &bed};
	struct ibv_wc wc;
	uint32_t qpn;

	(void)arg;
	if (!set_up(&bed, 8, cap))
		return;
	qpn = to_oqp(bed.qp)->qpn;
	EXPECT_EQ(post(&bed, 1, IBV_SEND_SIGNALED), 0);
	EXPECT(mock_do_send(bed.dev));
	mock_wait_acks = create_qp_meanwhile;
	mock_wait_arg = &next;
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	bed.qp = NULL;
	/* The kernel gave it the same number; it has no completion of its predecessor's. */
	if (EXPECT(next.qp)) {
		EXPECT_EQ(to_oqp(next.qp)->qpn, qpn);
		use_qp(&bed, next.qp);
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 0);
		EXPECT_EQ(post(&bed, 2, IBV_SEND_SIGNALED), 0);
		EXPECT(mock_do_send(bed.dev));
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
		EXPECT_EQ(wc.wr_id, 2);
	}
	tear_down(&bed);
}

static void create_target_meanwhile(void *arg)
{
	struct verbs_xrcd xrcd = {};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = &xrcd.xrcd,
	};
	struct successor *next = arg;

	next->qp = ohca_create_qp_ex(next->bed->ctx, &attr);
	poll_meanwhile(next);
}

static void open_target_meanwhile(void *arg)
{
	struct successor *next = arg;
	struct ibv_qp_open_attr attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.qp_num = next->bed->dev->qpn,
	};

	next->bed->dev->used = true;
	next->qp = ohca_open_qp(next->bed->ctx, &attr);
	poll_meanwhile(next);
}

static void create_tagged_meanwhile(void *arg)
{
	struct successor *next = arg;

	next->qp = make_qp_type(next->bed, IBV_QPT_RC, next->srq, (struct ibv_qp_cap){});
	poll_meanwhile(next);
}

/* A QP without queues in the process has no completion of its predecessor's, either. */
static void test_bare_qp_acks(const void *arg)
{
	void (*const create[])(void *arg) = {
		create_target_meanwhile,
		open_target_meanwhile,
		create_tagged_meanwhile,
	};
	struct ibv_srq_init_attr_ex srq_attr = {
		.attr = {.max_wr = 8, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.tm_cap = {.max_num_tags = 1, .max_ops = 1},
	};
	struct bed bed;
	struct successor next = {.bed = &bed};
	size_t i;

	(void)arg;
	if (!set_up_bare(&bed, 8))
		return;
	srq_attr.pd = bed.pd;
	srq_attr.cq = bed.cq;
	next.srq = ohca_create_srq_ex(bed.ctx, &srq_attr);
	if (!EXPECT(next.srq))
		return;
	for (i = 0; i < ARRAY_SIZE(create); i++) {
		use_qp(&bed, make_qp(&bed, (struct ibv_qp_cap){.max_send_wr = 4}));
		EXPECT_EQ(post(&bed, 1, IBV_SEND_SIGNALED), 0);
		EXPECT(mock_do_send(bed.dev));
		mock_wait_acks = create[i];
		mock_wait_arg = &next;
		next.qp = NULL;
		EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
		bed.qp = NULL;
		EXPECT_EQ(next.left, 0);
		if (EXPECT(next.qp)) {
			EXPECT_EQ(next.qp->qp_num, bed.dev->qpn);
			EXPECT_EQ(ohca_destroy_qp(next.qp), 0);
		}
	}
	EXPECT_EQ(ohca_destroy_srq(next.srq), 0);
	tear_down(&bed);
}

/* The bed's QP takes a receive request of the SRQ, and completes it. */
static void receive_from(struct bed *bed, struct ibv_srq *srq, uint64_t wr_id)
{
	struct mock_taken taken;

	EXPECT_EQ(post_srq(srq, wr_id), 0);
	EXPECT(mock_take(srq_dev(srq), &taken));
	mock_complete_taken(bed->dev, &taken);
}

static void create_srq_meanwhile(void *arg)
{
	struct successor *next = arg;

	next->srq = make_xrc_srq(next->bed, next->xrcd);
}

static void test_srq_acks(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_send_sge = 1};
	struct verbs_xrcd xrcd = {};
	struct bed bed;
	struct successor next = {.bed = &bed, .xrcd = &xrcd.xrcd};
	struct ibv_srq *srq;
	struct ibv_wc wc;
	uint32_t srqn;

	(void)arg;
	if (!set_up(&bed, 8, cap))
		return;
	srq = make_xrc_srq(&bed, next.xrcd);
	if (!EXPECT(srq))
		return;
	srqn = to_osrq(srq)->srqn;
	receive_from(&bed, srq, 1);
	/* The CQ remembers the SRQ of its last completion. */
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	receive_from(&bed, srq, 3);
	mock_wait_acks = create_srq_meanwhile;
	mock_wait_arg = &next;
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	if (EXPECT(next.srq)) {
		EXPECT_EQ(to_osrq(next.srq)->srqn, srqn);
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 0);
		receive_from(&bed, next.srq, 2);
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
		EXPECT_EQ(wc.wr_id, 2);
		EXPECT_EQ(ohca_destroy_srq(next.srq), 0);
	}
	tear_down(&bed);
}

/**
 * struct section - a CQ between ibv_start_poll() and ibv_end_poll(), for which other threads wait
 * @bed: its CQ is that one
 * @plain: another CQ
 * @cq: the CQ
 * @destroyed: posted when the kernel has destroyed the QP or SRQ
 * @acked: its events are acknowledged
 */
struct section {
	struct bed bed;
	struct ibv_cq *plain;
	struct ibv_cq_ex *cq;
	sem_t destroyed;
	sem_t acked;
};

static bool set_up_section(struct section *section)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS};

	if (!set_up_bare(&section->bed, 16))
		return false;
	sem_init(&section->destroyed, 0, 0);
	sem_init(&section->acked, 0, 0);
	section->plain = section->bed.cq;
	section->cq = ohca_create_cq_ex(section->bed.ctx, &attr);
	section->bed.cq = ibv_cq_ex_to_cq(section->cq);
	return EXPECT(section->cq);
}

static void tear_down_section(struct section *section)
{
	EXPECT_EQ(ohca_destroy_cq(section->plain), 0);
	tear_down(&section->bed);
}

/* A completion of a QP that the library does not know */
static void complete_stranger(struct section *section, uint64_t wr_id)
{
	struct mock_qp stranger = {.qpn = 0x1234};
	struct ohca_cqe cqe = {};

	mock_complete(section->cq->cq_context, &stranger, wr_id, &cqe);
}

static void wait_for_acks(void *arg)
{
	struct section *section = arg;

	sem_post(&section->destroyed);
	sem_wait(&section->acked);
}

static void *destroy_qp(void *arg)
{
	return ohca_destroy_qp(arg) ? arg : NULL;
}

static void *destroy_srq(void *arg)
{
	return ohca_destroy_srq(arg) ? arg : NULL;
}

static void *create_qp(void *arg)
{
	create_qp_meanwhile(arg);
	return NULL;
}

/* Another thread destroys an object, and waits for acknowledgements. */
static pthread_t destroy(struct section *section, void *(*thread)(void *arg), void *obj)
{
	pthread_t other;

	mock_wait_acks = wait_for_acks;
	mock_wait_arg = section;
	EXPECT_EQ(pthread_create(&other, NULL, thread, obj), 0);
	sem_wait(&section->destroyed);
	return other;
}

static void join(pthread_t other)
{
	void *ret;

	pthread_join(other, &ret);
	EXPECT(!ret);
}

/* Whether those that wait for the CQ leave the table to this thread. */
static bool is_free(struct ohca_table *table)
{
	struct timespec until;

	usleep(20000);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	if (!EXPECT_EQ(pthread_mutex_timedlock(&table->mutex, &until), 0))
		return false;
	pthread_mutex_unlock(&table->mutex);
	return true;
}

/*
 * A thread that looks at completions creates objects.  Others wait for the CQ, because they destroy
 * an SRQ, or a QP, and create a QP with its number.
 */
static void test_section(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	struct ibv_poll_cq_attr poll = {};
	struct verbs_xrcd xrcd = {};
	struct section section;
	struct successor next = {.bed = &section.bed};
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	pthread_t other[3];
	uint32_t qpn;
	int i;

	(void)arg;
	if (!set_up_section(&section))
		return;
	qp = make_qp(&section.bed, cap);
	qpn = qp->qp_num;
	srq = make_xrc_srq(&section.bed, &xrcd.xrcd);
	complete_stranger(&section, 8);

	EXPECT_EQ(ibv_start_poll(section.cq, &poll), 0);
	other[0] = destroy(&section, destroy_srq, srq);
	mock_srqs[0].used = true; /* the number is not used again */
	sem_post(&section.acked);
	srq = NULL;
	if (is_free(&to_octx(section.bed.ctx)->srqs))
		srq = make_srq(&section.bed, 1, 1);
	other[1] = destroy(&section, destroy_qp, qp);
	EXPECT_EQ(pthread_create(&other[2], NULL, create_qp, &next), 0);
	qp = NULL;
	if (is_free(&to_octx(section.bed.ctx)->qps))
		qp = make_qp(&section.bed, cap);
	sem_post(&section.acked);
	is_free(&to_octx(section.bed.ctx)->qps);
	ibv_end_poll(section.cq);

	for (i = 0; i < 3; i++)
		join(other[i]);
	if (EXPECT(next.qp)) {
		EXPECT_EQ(next.qp->qp_num, qpn);
		EXPECT_EQ(ohca_destroy_qp(next.qp), 0);
	}
	if (EXPECT(qp))
		EXPECT_EQ(ohca_destroy_qp(qp), 0);
	if (EXPECT(srq))
		EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down_section(&section);
}

/* Run a part of a test that might wait for ever. */
static void in_time(void *(*part)(void *arg), void *arg)
{
	struct timespec until;
	pthread_t thread;

	EXPECT_EQ(pthread_create(&thread, NULL, part, arg), 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10 * tap_slow();
	if (pthread_timedjoin_np(thread, NULL, &until))
		tap_bail("a thread waits for ever");
}

/* The kernel uses the number of an object that another thread destroys, in a section. */
static void *reuse_in_section(void *arg)
{
	struct section *section = arg;
	struct ibv_qp_cap cap = {.max_send_wr = 4};
	struct ibv_cq_ex *cq = section->cq;
	struct ibv_poll_cq_attr poll = {};
	struct bed *bed = &section->bed;
	struct verbs_xrcd xrcd = {};
	struct ibv_srq *srq;
	pthread_t other[2];
	uint32_t num;

	use_qp(bed, make_qp(bed, cap));
	srq = make_xrc_srq(bed, &xrcd.xrcd);
	complete_stranger(section, 1);
	EXPECT_EQ(post(bed, 2, IBV_SEND_SIGNALED), 0);
	EXPECT(mock_do_send(bed->dev));
	receive_from(bed, srq, 3);
	complete_stranger(section, 4);

	EXPECT_EQ(ibv_start_poll(cq, &poll), 0);
	num = bed->qp->qp_num;
	other[0] = destroy(section, destroy_qp, bed->qp);
	bed->qp = make_qp(bed, cap);
	EXPECT_EQ(bed->qp->qp_num, num);
	sem_post(&section->acked);
	num = to_osrq(srq)->srqn;
	other[1] = destroy(section, destroy_srq, srq);
	srq = make_xrc_srq(bed, &xrcd.xrcd);
	EXPECT_EQ(to_osrq(srq)->srqn, num);
	sem_post(&section->acked);
	/* The present completion is not written to. */
	EXPECT_EQ(le32toh(mock_cq_rec(cq->cq_context)->ci), 0);
	EXPECT_EQ(ibv_wc_read_qp_num(cq), 0x1234);
	EXPECT_EQ(ibv_next_poll(cq), 0);
	EXPECT_EQ(cq->wr_id, 4);
	EXPECT_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	EXPECT_EQ(le32toh(mock_cq_rec(cq->cq_context)->ci), 4);
	join(other[0]);
	join(other[1]);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	return NULL;
}

/* The thread that looks at completions destroys the objects that they are of. */
static void *destroy_in_section(void *arg)
{
	struct section *section = arg;
	struct ibv_qp_cap cap = {.max_send_wr = 4};
	struct ibv_cq_ex *cq = section->cq;
	struct ibv_poll_cq_attr poll = {};
	struct bed *bed = &section->bed;
	struct verbs_xrcd xrcd = {};
	struct ibv_srq *srq;
	uint64_t i;

	use_qp(bed, make_qp(bed, cap));
	srq = make_xrc_srq(bed, &xrcd.xrcd);
	for (i = 1; i < 3; i++) {
		EXPECT_EQ(post(bed, i, IBV_SEND_SIGNALED), 0);
		EXPECT(mock_do_send(bed->dev));
		receive_from(bed, srq, i);
	}
	complete_stranger(section, 8);

	EXPECT_EQ(ibv_start_poll(cq, &poll), 0);
	EXPECT_EQ(cq->wr_id, 1);
	EXPECT_EQ(to_state(bed->qp, IBV_QPS_RESET), 0);
	EXPECT_EQ(ohca_destroy_qp(bed->qp), 0);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	bed->qp = NULL;
	EXPECT_EQ(le32toh(mock_cq_rec(cq->cq_context)->ci), 0);
	EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_SEND);
	EXPECT_EQ(ibv_next_poll(cq), 0);
	EXPECT_EQ(cq->wr_id, 8);
	EXPECT_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	return NULL;
}

static const struct part {
	void *(*run)(void *section);
} reuse = {reuse_in_section}, destruction = {destroy_in_section};

static void test_in_section(const void *arg)
{
	const struct part *part = arg;
	struct section section;

	if (!set_up_section(&section))
		return;
	in_time(part->run, &section);
	tear_down_section(&section);
}

/* Who destroys a QP has neither of its CQs while it waits for the other one. */
static void *poll_in_section(void *arg)
{
	struct section *section = arg;
	struct ibv_poll_cq_attr poll = {};
	pthread_t other;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 2; i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = i ? section->plain : section->bed.cq,
			.recv_cq = i ? section->bed.cq : section->plain,
			.qp_type = IBV_QPT_RC,
		};
		struct ibv_qp *qp = ohca_create_qp(section->bed.pd, &attr);

		complete_stranger(section, 8);
		EXPECT_EQ(ibv_start_poll(section->cq, &poll), 0);
		EXPECT_EQ(pthread_create(&other, NULL, destroy_qp, qp), 0);
		usleep(20000);
		EXPECT_EQ(ohca_poll_cq(section->plain, 1, &wc), 0);
		ibv_end_poll(section->cq);
		join(other);
	}
	return NULL;
}

static void test_poll_in_section(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16};
	struct section section;
	struct ibv_cq_ex *cqs[2];
	int i;

	(void)arg;
	if (!set_up_section(&section))
		return;
	cqs[0] = section.cq;
	cqs[1] = ohca_create_cq_ex(section.bed.ctx, &attr);
	EXPECT_EQ(ohca_destroy_cq(section.plain), 0);
	/* Whichever has the higher address */
	for (i = 0; i < 2; i++) {
		section.cq = cqs[i];
		section.bed.cq = ibv_cq_ex_to_cq(cqs[i]);
		section.plain = ibv_cq_ex_to_cq(cqs[!i]);
		in_time(poll_in_section, &section);
	}
	tear_down_section(&section);
}

static const struct tap_test tests[] = {
	{"QP: its number is used again before its events are acknowledged", test_qp_acks, NULL},
	{"QP without queues: likewise", test_bare_qp_acks, NULL},
	{"SRQ: its number is used again before its events are acknowledged", test_srq_acks, NULL},
	{"objects made between ibv_start_poll() and ibv_end_poll()", test_section, NULL},
	{"numbers used again between ibv_start_poll() and ibv_end_poll()", test_in_section, &reuse},
	{"objects destroyed between ibv_start_poll() and ibv_end_poll()", test_in_section,
	 &destruction},
	{"a CQ polled between ibv_start_poll() and ibv_end_poll() of another", test_poll_in_section,
	 NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
