// SPDX-License-Identifier: GPL-2.0
/*
 * Path migration between two InfiniBand ports that have two LIDs each, and so two paths (LMC 1): of one fabric, or of two
 * that an uplink joins.
 */

#include <endian.h>
#include <unistd.h>

#include "capture/capture.h"
#include "harness.h"
#include "ib_rig.h"
#include "ib_wired.h"
#include "inject/hca_fault.h"
#include "inject/pkt_fault.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "packet/ib.h"
#include "pcapng_file.h"
#include "rig_assert.h"
#include "rig_srq.h"

#define IOVA 0x7f0000000100ULL
#define INTO (IOVA + 8192)
#define RETRIES 1
#define TIMEOUT 8 /* 1 ms */
#define ALT_TIMEOUT 9

static struct rig_hca *at[2];
static struct rig_qp *qp[2]; /* of each HCA */
static struct rig_mr *mr[2];
static uint32_t srqn; /* of OHCA_QPT_XRC_TGT */

static bool is_wired(void)
{
	return rig;
}

static struct ib_port *port_of(unsigned int i)
{
	return inproc_hca(i)->ports[0]->ib;
}

static uint16_t lid_of(unsigned int i)
{
	return is_wired() ? 4 * (i + 1) : BED_LID(i);
}

/* Path 0 or 1 to an HCA: the other one has it back. */
static struct ohca_av av_to(unsigned int to, unsigned int path)
{
	return (struct ohca_av){
		.ib.dlid = htole16(lid_of(to) + path), .ib.path_bits = path, .port = 1};
}

static void connect_qps(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		qp[i]->attr.av = av_to(!i, 0);
		qp[i]->attr.dest_qpn = htole32(qp[!i]->qpn);
		qp[i]->attr.timeout = TIMEOUT;
		qp[i]->attr.retry_cnt = RETRIES;
		assert_to_rts(qp[i]);
	}
}

/* What the ports reported on the way */
static void forget_events(struct rig_hca *of)
{
	struct ohca_eqe eqe;

	inproc_settle();
	while (drv_eq_poll(of->async, &eqe))
		drv_eq_ack(of->async);
}

static void connect_as(uint8_t type)
{
	struct rig_qp_opts opts = {.type = type};
	unsigned int i;

	for (i = 0; i < 2; i++)
		qp[i] = rig_qp_new(at[i], &opts);
	connect_qps();
}

/* The first HCA has the initiator, the second one the target and the SRQ, which is returned. */
static uint32_t connect_xrc(void)
{
	uint32_t xrcdn = drv_create(at[1]->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0);
	struct drv_cq *cq = drv_cq_new(at[1]->drv, 4, at[1]->comp->eqn);
	const struct rig_srq_opts srq = {.xrcdn = xrcdn, .cqn = cq->cqn};
	struct rig_qp_opts opts = {.type = OHCA_QPT_XRC_INI};

	qp[0] = rig_qp_new(at[0], &opts);
	opts.type = OHCA_QPT_XRC_TGT;
	opts.xrcdn = xrcdn;
	qp[1] = rig_qp_new(at[1], &opts);
	connect_qps();
	return rig_srq_new(at[1], &srq)->srqn;
}

/* The links are active; ports get two LIDs each, and QPs are connected by the first of them. */
static void open_qps(void)
{
	unsigned int i;

	srqn = 0;
	for (i = 0; i < 2; i++) {
		ib_port_set_lid(port_of(i), lid_of(i), 1);
		mr[i] = rig_mr_new(at[i], IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	}
	connect_as(OHCA_QPT_RC);
	for (i = 0; i < 2; i++)
		forget_events(at[i]);
}

static int open_pair(void **state)
{
	ib_rig_open(state);
	ib_bed_up();
	inproc_clock_start();
	at[0] = &hca[0];
	at[1] = &hca[1];
	open_qps();
	return 0;
}

static int close_pair(void **state)
{
	inproc_clock_stop();
	return ib_bed_close(state);
}

/* The switch @of carries packets to that LID of an HCA, or to nobody. */
static void set_route_of(struct ib_switch *of, unsigned int to, unsigned int path, uint8_t port)
{
	*ib_switch_linear_room(of, lid_of(to) + path, 1) = port;
	ib_switch_changed(of);
}

static int open_wired(void **state)
{
	unsigned int i, path;

	ib_wired_start_subnet(state);
	for (i = 0; i < 2; i++) {
		at[i] = &rig->hca[i];
		for (path = 0; path < 2; path++) {
			set_route_of(sw(i), i, path, 1);
			set_route_of(sw(!i), i, path, UPLINK_PORT);
		}
	}
	open_qps();
	return 0;
}

static int close_wired(void **state)
{
	int ret = ib_wired_stop(state);

	unsetenv("OHCAD_LINK");
	unsetenv("OHCAD_WIRE");
	rig = NULL;
	return ret;
}

static void post_write(unsigned int from)
{
	struct ohca_sge sge = rig_sge(mr[from], IOVA, LEN);
	struct rig_wr wr = rig_write(&sge, INTO, mr[!from]->key);

	wr.srqn = srqn;
	rig_post_send(qp[from], &wr);
}

static void write_ends(unsigned int from, uint8_t status)
{
	assert_int_equal(rig_wait_send(qp[from]).status, status);
	inproc_settle();
}

/* LEN bytes, which arrive */
static void write_from(unsigned int from)
{
	static uint32_t seed;

	rig_mr_fill(mr[from], IOVA, LEN, ++seed);
	post_write(from);
	write_ends(from, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(mr[!from], INTO, LEN, seed));
}

static void assert_mig_state(unsigned int i, enum ohca_path_mig_state state)
{
	assert_int_equal(rig_query(qp[i]).path_mig_state, state);
}

static int set_mig_state(unsigned int i, uint8_t state)
{
	qp[i]->attr.path_mig_state = state;
	return rig_modify(qp[i], 0, OHCA_QP_PATH_MIG_STATE);
}

/* REARM, with this alternate path */
static void rearm(unsigned int i, const struct ohca_av *alt, uint16_t pkey_index)
{
	struct ohca_qp_attr *attr = &qp[i]->attr;

	attr->alt_av = *alt;
	attr->alt_port = 1;
	attr->alt_pkey_index = htole16(pkey_index);
	attr->alt_timeout = ALT_TIMEOUT;
	attr->path_mig_state = OHCA_MIG_REARM;
	assert_int_equal(rig_modify(qp[i], 0, OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE), 0);
}

static void rearm_to(unsigned int i, unsigned int path)
{
	const struct ohca_av alt = av_to(!i, path);

	rearm(i, &alt, 0);
}

static void arm_both(unsigned int path)
{
	rearm_to(0, path);
	rearm_to(1, path);
	write_from(0);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_mig_state(1, OHCA_MIG_ARMED);
}

/* It has just migrated to this path. */
static void assert_migrated(unsigned int i, unsigned int path)
{
	const struct ohca_av av = av_to(!i, path);
	struct ohca_qp_attr attr = rig_query(qp[i]);

	inproc_assert_event(at[i], OHCA_EVENT_PATH_MIG, qp[i]->qpn);
	assert_int_equal(attr.path_mig_state, OHCA_MIG_MIGRATED);
	assert_memory_equal(&attr.av, &av, sizeof(av));
	assert_memory_equal(&attr.alt_av, &av, sizeof(av));
	assert_int_equal(attr.port, 1);
	assert_int_equal(attr.timeout, ALT_TIMEOUT);
	assert_int_equal(attr.pkey_index, attr.alt_pkey_index);
}

/* The switch of an HCA carries packets to that LID of it, or to nobody. */
static void set_route(unsigned int to, unsigned int path, bool there)
{
	uint8_t port = is_wired() ? 1 : to + 1;

	set_route_of(port_of(to)->peer->node->sw, to, path, there ? port : IB_SWITCH_NO_PORT);
}

/* What software may set */

static void bad_alternate(uint16_t offset)
{
	qp[0]->attr.path_mig_state = OHCA_MIG_REARM;
	assert_int_equal(rig_modify(qp[0], 0, OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(at[0]->drv->syndrome, offset);
	assert_mig_state(0, OHCA_MIG_MIGRATED);
}

static void test_attributes(void **state)
{
	struct ohca_qp_attr good, *attr = &qp[0]->attr, got;

	(void)state;
	attr->alt_av = av_to(1, 1);
	attr->alt_port = 1;
	attr->alt_timeout = ALT_TIMEOUT;
	good = *attr;
#define BAD(field, value)                                                      \
	do {                                                                   \
		attr->field = value;                                           \
		bad_alternate(offsetof(struct ohca_modify_qp_in, attr.field)); \
		*attr = good;                                                  \
	} while (0)
	BAD(alt_port, 0);
	BAD(alt_port, 2);
	BAD(alt_pkey_index, htole16(IB_PORT_PKEYS));
	BAD(alt_timeout, 32);
	BAD(alt_av.port, 2);
	BAD(alt_av.ib.dlid, 0);
	BAD(alt_av.ib.path_bits, 128);
	BAD(alt_av.sl, 16);
	attr->alt_pkey_index = htole16(IB_PORT_PKEYS - 1);
	assert_int_equal(rig_modify(qp[0], 0, OHCA_QP_ALT_PATH), 0);
	got = rig_query(qp[0]);
	assert_memory_equal(&got.alt_av, &attr->alt_av, sizeof(got.alt_av));
	assert_int_equal(got.alt_port, 1);
	assert_int_equal(got.alt_timeout, ALT_TIMEOUT);
	assert_int_equal(le16toh(got.alt_pkey_index), IB_PORT_PKEYS - 1);
	assert_int_equal(got.path_mig_state, OHCA_MIG_MIGRATED);
	/* The primary path is what it was. */
	assert_memory_equal(&got.av, &attr->av, sizeof(got.av));
	rig_to_reset(qp[0]);
	got = rig_query(qp[0]);
	assert_int_equal(got.alt_port, 0);
	assert_int_equal(got.alt_timeout, 0);
	/* On the way to RTR, too */
	assert_int_equal(rig_to_init(qp[0]), 0);
	assert_int_equal(rig_modify(qp[0], OHCA_QPS_RTR,
				    rig_required(OHCA_QPT_RC, OHCA_QPS_RTR) | OHCA_QP_ALT_PATH),
			 0);
	assert_int_equal(rig_query(qp[0]).alt_port, 1);
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(set_mig_state(0, OHCA_MIG_ARMED), OHCA_CMD_BAD_PARAM);
	assert_int_equal(at[0]->drv->syndrome,
			 offsetof(struct ohca_modify_qp_in, attr.path_mig_state));
	assert_int_equal(set_mig_state(0, 3), OHCA_CMD_BAD_PARAM);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	rearm_to(0, 1);
	assert_mig_state(0, OHCA_MIG_REARM);
	assert_int_equal(set_mig_state(0, OHCA_MIG_REARM), 0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), OHCA_CMD_BAD_STATE);
	assert_int_equal(set_mig_state(0, OHCA_MIG_ARMED), OHCA_CMD_BAD_PARAM);
	assert_mig_state(0, OHCA_MIG_REARM);
	rearm_to(1, 1);
	write_from(0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_ARMED), OHCA_CMD_BAD_PARAM);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_int_equal(set_mig_state(0, OHCA_MIG_REARM), 0);
	assert_mig_state(0, OHCA_MIG_REARM);
	inproc_assert_no_event(at[0]);
	inproc_assert_no_event(at[1]);
}

/* In SQD, too */
static void test_drained(void **state)
{
	(void)state;
	assert_int_equal(rig_modify(qp[0], OHCA_QPS_SQD, OHCA_QP_STATE), 0);
	rearm_to(0, 1);
	rearm_to(1, 1);
	write_from(1);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_migrated(0, 1);
	assert_int_equal(rig_modify(qp[0], OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	write_from(0);
	assert_migrated(1, 1);
}

/* Arming */

static void test_arming(void **state)
{
	(void)state;
	write_from(0);
	assert_mig_state(0, OHCA_MIG_MIGRATED);
	/* One alone waits. */
	rearm_to(0, 1);
	write_from(0);
	write_from(1);
	assert_mig_state(0, OHCA_MIG_REARM);
	assert_mig_state(1, OHCA_MIG_MIGRATED);
	/* Both: a request arms the peer, its answer the requester. */
	rearm_to(1, 1);
	assert_mig_state(0, OHCA_MIG_REARM);
	write_from(0);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_mig_state(1, OHCA_MIG_ARMED);
	write_from(1);
	assert_mig_state(0, OHCA_MIG_ARMED);
	inproc_assert_no_event(at[0]);
	inproc_assert_no_event(at[1]);
}

/* Migrating */

static void migrate_and_back(void)
{
	arm_both(1);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_migrated(0, 1);
	assert_mig_state(1, OHCA_MIG_ARMED);
	write_from(0);
	assert_migrated(1, 1);
	/* Once more is nothing. */
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	write_from(1);
	/* The way back */
	arm_both(0);
	assert_int_equal(set_mig_state(1, OHCA_MIG_MIGRATED), 0);
	assert_migrated(1, 0);
	write_from(1);
	assert_migrated(0, 0);
	write_from(0);
	inproc_assert_no_event(at[0]);
	inproc_assert_no_event(at[1]);
	assert_int_equal(rig_counter(at[0], OHCA_CNT_TIMEOUTS), 0);
}

static void test_by_software(void **state)
{
	(void)state;
	migrate_and_back();
}

/* An alternate path and the order to take it in one command */
static void test_at_once(void **state)
{
	(void)state;
	rearm_to(0, 0);
	rearm_to(1, 1);
	write_from(0);
	qp[0]->attr.alt_av = av_to(1, 1);
	qp[0]->attr.path_mig_state = OHCA_MIG_MIGRATED;
	assert_int_equal(rig_modify(qp[0], 0, OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE), 0);
	assert_migrated(0, 1);
	write_from(0);
	assert_migrated(1, 1);
}

static void test_path_fails(void **state)
{
	unsigned int i;

	(void)state;
	arm_both(1);
	set_route(1, 0, false);
	for (i = 0; i < 4; i++)
		post_write(0);
	for (i = 0; i < 4; i++)
		write_ends(0, OHCA_WC_SUCCESS);
	assert_migrated(0, 1);
	assert_migrated(1, 1);
	assert_int_equal(rig_counter(at[0], OHCA_CNT_TIMEOUTS), RETRIES + 1);
	write_from(1);
	/* There is no other path now. */
	set_route(1, 1, false);
	post_write(0);
	write_ends(0, OHCA_WC_RETRY_EXC_ERR);
	assert_int_equal(rig_counter(at[0], OHCA_CNT_TIMEOUTS), 2 * (RETRIES + 1));
	assert_state(qp[0], OHCA_QPS_ERR);
	inproc_assert_no_event(at[0]);
	inproc_assert_no_event(at[1]);
}

/* Answers take the primary path, which is there in one direction only. */
static void test_way_back_fails(void **state)
{
	(void)state;
	arm_both(1);
	set_route(0, 0, false);
	write_from(0);
	assert_migrated(0, 1);
	assert_migrated(1, 1);
}

/* A requester follows its responder: by a packet that it gets, or when its retries are used up. */
static void test_by_peer(void **state)
{
	(void)state;
	arm_both(1);
	assert_int_equal(set_mig_state(1, OHCA_MIG_MIGRATED), 0);
	assert_migrated(1, 1);
	write_from(1);
	assert_migrated(0, 1);
	assert_int_equal(rig_counter(at[0], OHCA_CNT_TIMEOUTS), 0);
	arm_both(0);
	assert_int_equal(set_mig_state(1, OHCA_MIG_MIGRATED), 0);
	assert_migrated(1, 0);
	write_from(0);
	assert_migrated(0, 0);
	assert_int_equal(rig_counter(at[0], OHCA_CNT_TIMEOUTS), RETRIES + 1);
}

/* No answers: each has to send something to arm the other one. */
static void test_unreliable(void **state)
{
	(void)state;
	connect_as(OHCA_QPT_UC);
	rearm_to(0, 1);
	rearm_to(1, 1);
	write_from(0);
	assert_mig_state(0, OHCA_MIG_REARM);
	assert_mig_state(1, OHCA_MIG_ARMED);
	write_from(1);
	assert_mig_state(0, OHCA_MIG_ARMED);
	/* A path that fails is not noticed. */
	set_route(1, 0, false);
	post_write(0);
	write_ends(0, OHCA_WC_SUCCESS);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_migrated(0, 1);
	write_from(0);
	assert_migrated(1, 1);
}

/* The initiator migrates for a path that fails, the target for the initiator. */
static void test_xrc(void **state)
{
	(void)state;
	srqn = connect_xrc();
	arm_both(1);
	set_route(1, 0, false);
	write_from(0);
	assert_migrated(0, 1);
	assert_migrated(1, 1);
	set_route(1, 0, true);
	arm_both(0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_migrated(0, 0);
	write_from(0);
	assert_migrated(1, 0);
}

/* While rules for packets are there, and all of them take the way of those */
static void test_hooked(void **state)
{
	char why[64];
	struct pkt_rule *rule = pkt_rule_parse("drop,p=0", why, sizeof(why));

	(void)state;
	assert_int_equal(pkt_fault_add(inproc_fabric(0), inproc_hca(0)->loop, rule), 0);
	migrate_and_back();
	assert_true(rule->matched);
}

/* A rule makes one path fail, and no other. */
static void test_rule(void **state)
{
	char text[32], why[64];
	struct pkt_rule *rule;
	unsigned int i;

	(void)state;
	snprintf(text, sizeof(text), "drop,dlid=%u", lid_of(1));
	rule = pkt_rule_parse(text, why, sizeof(why));
	arm_both(1);
	assert_int_equal(pkt_fault_add(inproc_fabric(0), inproc_hca(0)->loop, rule), 0);
	write_from(0);
	assert_migrated(0, 1);
	assert_migrated(1, 1);
	assert_int_equal(rule->hits, RETRIES + 1);
	for (i = 0; i < 2; i++)
		assert_false(qp_get(inproc_hca(i), qp[i]->qpn)->hooked);
}

/* What does not migrate */

static void test_no_alternate(void **state)
{
	const uint16_t pkeys[] = {0xffff, 0x8001}, fewer[] = {0xffff, 0};
	const struct ohca_av alt = av_to(1, 1);

	(void)state;
	ib_port_set_pkeys(port_of(0), 0, pkeys, 2);
	forget_events(at[0]);
	assert_int_equal(set_mig_state(0, OHCA_MIG_REARM), 0);
	assert_int_equal(set_mig_state(1, OHCA_MIG_REARM), 0);
	write_from(0);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), OHCA_CMD_BAD_PARAM);
	assert_mig_state(0, OHCA_MIG_ARMED);
	/* One whose P_Key the port had */
	rearm(0, &alt, 1);
	write_from(0);
	assert_mig_state(0, OHCA_MIG_ARMED);
	ib_port_set_pkeys(port_of(0), 0, fewer, 2);
	forget_events(at[0]);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), OHCA_CMD_BAD_PARAM);
	inproc_assert_no_event(at[0]);
	set_route(1, 0, false);
	post_write(0);
	write_ends(0, OHCA_WC_RETRY_EXC_ERR);
	inproc_assert_event(at[0], OHCA_EVENT_PATH_MIG_ERR, qp[0]->qpn);
	inproc_assert_no_event(at[0]);
	inproc_assert_no_event(at[1]);
}

/* The first one has migrated, and the second one, which does not follow, reports it once. */
static void refused(enum ohca_path_mig_state state)
{
	assert_migrated(0, 1);
	post_write(0);
	write_ends(0, OHCA_WC_RETRY_EXC_ERR);
	inproc_assert_event(at[1], OHCA_EVENT_PATH_MIG_ERR, qp[1]->qpn);
	inproc_assert_no_event(at[1]);
	assert_mig_state(1, state);
	assert_int_equal(rig_query(qp[1]).av.ib.path_bits, 0);
}

static void test_wrong_alternate(void **state)
{
	struct ohca_av wrong = av_to(0, 1);

	(void)state;
	wrong.ib.path_bits = 0;
	rearm_to(0, 1);
	rearm(1, &wrong, 0);
	write_from(0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	refused(OHCA_MIG_ARMED);
}

static void test_wrong_partition(void **state)
{
	const uint16_t pkeys[] = {0xffff, 0x8001};
	const struct ohca_av alt = av_to(0, 1);

	(void)state;
	ib_port_set_pkeys(port_of(1), 0, pkeys, 2);
	forget_events(at[1]);
	rearm_to(0, 1);
	rearm(1, &alt, 1);
	write_from(0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	refused(OHCA_MIG_ARMED);
	assert_int_equal(port_of(1)->pkey_viols, RETRIES + 1);
}

/* The partition of the alternate path is its own. */
static void test_partition(void **state)
{
	const uint16_t pkeys[] = {0xffff, 0x8001};
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct ohca_av alt = av_to(!i, 1);

		ib_port_set_pkeys(port_of(i), 0, pkeys, 2);
		forget_events(at[i]);
		rearm(i, &alt, 1);
	}
	write_from(0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_migrated(0, 1);
	write_from(0);
	assert_migrated(1, 1);
	assert_int_equal(le16toh(rig_query(qp[1]).pkey_index), 1);
}

static void test_not_armed(void **state)
{
	(void)state;
	arm_both(1);
	rearm_to(1, 1);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	refused(OHCA_MIG_REARM);
}

/* MigReq in what a capture has of a write and its acknowledgment */
static void assert_mig_req(const char *file, bool request, bool answer)
{
	const struct capture_options opts = {.path = (char *)file};
	struct captures *captures = &inproc_fabric(0)->captures;
	unsigned int i;
	struct pf *pf;

	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	write_from(0);
	assert_int_equal(capture_stop(captures), 0);
	pf = pf_read(file);
	assert_int_equal(pf->num, 4); /* each at two ports */
	for (i = 0; i < pf->num; i++) {
		const uint8_t *bth = pf->packets[i].data + PF_ERF_LEN + LRH_LEN;
		bool is_ack = bth[0] == BTH_OP_ACK;

		assert_int_equal(!!(bth[1] & BTH_MIG_REQ), is_ack ? answer : request);
	}
	pf_free(pf);
	unlink(file);
}

static void test_mig_req(void **state)
{
	char dir[] = "/tmp/ohcad-path-mig.XXXXXX", file[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/pcapng", dir);
	assert_mig_req(file, true, true);
	rearm_to(0, 1);
	assert_mig_req(file, false, true);
	rearm_to(1, 1);
	assert_mig_req(file, false, false);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_mig_req(file, false, false);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_mig_req(file, true, true);
	captures_fini(&inproc_fabric(0)->captures);
	assert_int_equal(rmdir(dir), 0);
}

/* A packet with MigReq from nobody's LID is not by the alternate path of a QP that has none. */
static void test_no_alternate_no_lid(void **state)
{
	uint8_t packet[IB_MAX_PACKET];
	const struct ohca_av av = {.ib.dlid = htole16(lid_of(0))};
	const struct ib_path path = {
		.av = &av,
		.bth = {.service = BTH_RC,
			.mig_req = true,
			.pkey = PKEY_DEFAULT,
			.dest_qpn = qp[0]->qpn},
	};
	const struct pkt pkt = {.op = PKT_SEND, .flags = PKT_FIRST | PKT_LAST, .npsn = 1};
	struct iov_pos payload = {0};
	struct ib_packet p;

	(void)state;
	assert_int_equal(set_mig_state(0, OHCA_MIG_REARM), 0);
	assert_int_equal(set_mig_state(1, OHCA_MIG_REARM), 0);
	write_from(0);
	assert_mig_state(0, OHCA_MIG_ARMED);
	assert_int_equal(ib_peek(&p, packet, ib_encode(packet, &path, &pkt, &payload)),
			 PACKET_GOOD);
	inproc_fabric(0)->receive_ib(inproc_hca(0)->ports[0], &p);
	assert_mig_state(0, OHCA_MIG_ARMED);
	inproc_assert_event(at[0], OHCA_EVENT_PATH_MIG_ERR, qp[0]->qpn);
	write_from(0);
}

/* A QP that is destroyed has no events any more, not even those that waited for room. */
static void test_destroyed(void **state)
{
	struct ohca_eqe eqe;

	(void)state;
	arm_both(1);
	assert_int_equal(hca_fault_eq(inproc_hca(0), at[0]->async->eqn, true), 0);
	assert_int_equal(set_mig_state(0, OHCA_MIG_MIGRATED), 0);
	assert_int_equal(rig_qp_destroy(qp[0]), OHCA_CMD_OK);
	assert_int_equal(hca_fault_eq(inproc_hca(0), at[0]->async->eqn, false), 0);
	inproc_elapse(20 * MS);
	assert_false(drv_eq_poll(at[0]->async, &eqe));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)
#define WIRED(name) {"wired_" #name, name, open_wired, close_wired, NULL}
#define BOTH(name) TEST(name), WIRED(name)

static const struct CMUnitTest tests[] = {
	TEST(test_attributes),
	TEST(test_states),
	TEST(test_drained),
	TEST(test_destroyed),
	BOTH(test_arming),
	BOTH(test_by_software),
	BOTH(test_at_once),
	BOTH(test_path_fails),
	BOTH(test_way_back_fails),
	BOTH(test_by_peer),
	BOTH(test_unreliable),
	BOTH(test_hooked),
	BOTH(test_rule),
	BOTH(test_no_alternate),
	BOTH(test_wrong_alternate),
	BOTH(test_wrong_partition),
	BOTH(test_partition),
	BOTH(test_not_armed),
	BOTH(test_mig_req),
	BOTH(test_xrc),
	WIRED(test_no_alternate_no_lid),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
