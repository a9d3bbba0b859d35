// SPDX-License-Identifier: GPL-2.0
/* Injected faults of packets, between HCAs of a process and on the wire. */

#include <endian.h>

#include "net/wire.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "link_hook.h"
#include "pair.h"
#include "inject/pkt_fault.h"
#include "fabric/uplink.h"

#define MTU 1024
#define WORD (PAIR_IOVA + 0xf00) /* a multiple of 8, as PAIR_IOVA is */

static struct server *server;
static struct pair p;

static int start(void **state)
{
	(void)state;
	link_tells = true;
	server = server_start(2);
	return 0;
}

static int start_wire(void **state)
{
	setenv("OHCAD_WIRE", "stream", 1);
	return start(state);
}

static int stop(void **state)
{
	(void)state;
	unsetenv("OHCAD_WIRE");
	return server_stop(server) ? 0 : -1;
}

static struct fabric *fabric_of(unsigned int hca)
{
	return inproc_hca(hca)->fabric;
}

/* Add a rule, on the side of HCA @hca; it exists until it is cleared. */
static const struct pkt_rule *add(unsigned int hca, const char *text)
{
	char why[RULE_MAX_WHY] = "";
	struct pkt_rule *rule = pkt_rule_parse(text, why, sizeof(why));

	assert_string_equal(why, "");
	assert_int_equal(pkt_fault_add(fabric_of(hca), inproc_hca(hca)->loop, rule), 0);
	return rule;
}

static void clear(void)
{
	pkt_fault_clear(fabric_of(0), 0);
	pkt_fault_clear(fabric_of(1), 0);
}

/* @timeout: ACK timeout */
static void open_type(uint8_t type, uint8_t timeout)
{
	struct rig_qp_opts opts = {.type = type, .log_size = 8};

	p = pair_new(server, &opts);
	p.a->attr.timeout = timeout;
	p.b->attr.timeout = timeout;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
}

static int open_pair(void **state)
{
	(void)state;
	open_type(OHCA_QPT_RC, 14);
	return 0;
}

/* About 2 ms: much is sent again, and the test should be short. */
static int open_hasty_pair(void **state)
{
	(void)state;
	open_type(OHCA_QPT_RC, 9);
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	clear();
	rig_close(p.rig);
	return 0;
}

static uint64_t counter(unsigned int hca, enum ohca_counter what)
{
	return inproc_hca(hca)->port_counters[0].value[what];
}

static struct wire_stats *stats(unsigned int i)
{
	return &inproc_fabric(i)->wire->stats;
}

static void message(uint8_t op, uint32_t len)
{
	static uint32_t seed;
	struct pair_layout l = {len, 1, 2, 2, 3};

	pair_check_message(&p, op, &l, ++seed);
}

static void all_messages(unsigned int rounds)
{
	static const uint32_t sizes[] = {0, 8, 1024, 1025, 5000, 70000};
	unsigned int o, s;

	while (rounds--) {
		for (o = 0; o < PAIR_OPS; o++) {
			for (s = 0; s < ARRAY_SIZE(sizes); s++)
				message(pair_all_ops[o], sizes[s]);
		}
	}
}

/* Everything arrives once, in order and complete, with faults on either side. */
static void test_recovery(void **state)
{
	static const char *const rules[] = {
		"drop,p=2%",
		"delay=100us,p=5%",
		"reorder,p=5%",
		"reorder=4,p=5%",
		"duplicate,p=9%",
		"corrupt,p=2%",
		"drop,p=2%,dir=rx",
		"delay=1ms,p=2%,dir=rx",
		"reorder=2,p=5%,dir=rx",
		"duplicate,p=9%,dir=rx",
		"corrupt,p=2%,dir=rx",
	};
	const struct pkt_rule *rule[2];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		rule[0] = add(0, rules[i]);
		rule[1] = add(1, rules[i]);
		all_messages(2);
		assert_true(rule[0]->hits + rule[1]->hits > 5);
		assert_true(rule[0]->hits < rule[0]->matched && rule[1]->hits < rule[1]->matched);
		clear();
	}
	/* All faults at once */
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		add(0, rules[i]);
		add(1, rules[i]);
	}
	all_messages(2);
}

/*
 * A packet is lost and the next one shows it: the requester sends again from there, without a
 * timeout.
 */
static void test_drop(void **state)
{
	uint64_t naks = counter(0, OHCA_CNT_PKT_SEQ_ERR);
	const struct pkt_rule *rule = add(0, "drop,op=rdma-write-middle,skip=1,count=1");

	(void)state;
	message(OHCA_OP_RDMA_WRITE, 5 * MTU);
	assert_int_equal(counter(0, OHCA_CNT_PKT_SEQ_ERR), naks + 1);
	assert_int_equal(rule->matched, 2);
	assert_int_equal(rule->hits, 1);
}

/* A lost acknowledgment is only noticed by the timer; the responder has everything already. */
static void test_lost_ack(void **state)
{
	uint64_t timeouts = counter(0, OHCA_CNT_TIMEOUTS), again = counter(1, OHCA_CNT_DUPLICATES);
	const struct pkt_rule *rule = add(1, "drop,hca=hca1,op=ack,count=2");

	(void)state;
	message(OHCA_OP_SEND, 100);
	assert_int_equal(rule->hits, 2);
	assert_int_equal(counter(0, OHCA_CNT_TIMEOUTS), timeouts + 2);
	assert_int_equal(counter(1, OHCA_CNT_DUPLICATES), again + 2);
}

/* The memory of p.b at WORD is @before; add @val, and compare the value that is returned. */
static void fetch_add(uint64_t before, uint64_t val)
{
	struct ohca_sge sge = rig_sge(p.ma, WORD, 8);
	struct ohca_sq_wqe fields = {0};
	struct rig_wr wr = {.wr_id = val,
			    .opcode = OHCA_OP_FETCH_ADD,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields};
	uint64_t got;

	fields.rdma.raddr = htole64(WORD);
	fields.rdma.rkey = htole32(p.mb->key);
	fields.rdma.compare_add = htole64(val);
	rig_post_send(p.a, &wr);
	pair_assert_send_done(p.a, val, OHCA_OP_FETCH_ADD);
	rig_mr_get(p.ma, WORD, &got, 8);
	assert_int_equal(le64toh(got), before);
}

static void assert_word(uint64_t expected)
{
	uint64_t got;

	rig_mr_get(p.mb, WORD, &got, 8);
	assert_int_equal(le64toh(got), expected);
}

static void new_atomic_region(void)
{
	uint64_t zero = 0;

	p.mb = rig_mr_new(p.b->hca, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC,
			  0);
	rig_mr_set(p.mb, WORD, &zero, 8);
}

static void test_atomics(void **state)
{
	uint64_t again = counter(1, OHCA_CNT_DUPLICATES);
	const struct pkt_rule *rule;

	(void)state;
	new_atomic_region();
	/* The request arrives twice: the second one is answered with the result of the first. */
	rule = add(0, "duplicate,op=fetch-add,count=1");
	fetch_add(0, 5);
	inproc_settle();
	assert_word(5);
	assert_int_equal(rule->hits, 1);
	assert_int_equal(counter(1, OHCA_CNT_DUPLICATES), again + 1);
	clear();
	/* The response is lost, and the repeated one too. */
	rule = add(1, "drop,op=atomic-acknowledge,count=2");
	fetch_add(5, 7);
	assert_word(12);
	assert_int_equal(rule->hits, 2);
	assert_int_equal(counter(1, OHCA_CNT_DUPLICATES), again + 3);
	clear();
	/* The request is lost. */
	rule = add(0, "drop,op=atomic,hca=hca0,count=1");
	fetch_add(12, 1);
	assert_word(13);
	assert_int_equal(rule->hits, 1);
	assert_int_equal(counter(1, OHCA_CNT_DUPLICATES), again + 3);
}

/* A read request that arrives twice is answered twice, and completes once. */
static void test_reads(void **state)
{
	uint64_t again = counter(1, OHCA_CNT_DUPLICATES);
	const struct pkt_rule *rule = add(0, "duplicate,op=rdma-read-request,count=1");
	struct ohca_cqe cqe;

	(void)state;
	message(OHCA_OP_RDMA_READ, 70000);
	inproc_settle();
	assert_false(drv_cq_poll(p.a->scq, &cqe));
	assert_int_equal(rule->hits, 1);
	assert_int_equal(counter(1, OHCA_CNT_DUPLICATES), again + 1);
	clear();
	/* Part of the response is lost: the rest is read again from there. */
	rule = add(1, "drop,op=rdma-read-response-middle,skip=3,count=1");
	message(OHCA_OP_RDMA_READ, 10 * MTU);
	assert_int_equal(rule->hits, 1);
	assert_int_equal(counter(1, OHCA_CNT_DUPLICATES), again + 2);
}

/* All packets are lost: the retries are exhausted. */
static void test_dead(void **state)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100);
	struct rig_wr wr = {.wr_id = 5,
			    .opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};
	const struct pkt_rule *rule = add(0, "drop,hca=hca0");
	struct ohca_cqe cqe;

	(void)state;
	rig_post_send(p.a, &wr);
	cqe = rig_wait_send(p.a);
	assert_int_equal(cqe.status, OHCA_WC_RETRY_EXC_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_TIMEOUT);
	assert_int_equal(rule->hits, p.a->attr.retry_cnt + 1);
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_ERR);
}

static void test_psn(void **state)
{
	const struct pkt_rule *rule;
	char text[64];

	(void)state;
	/* The PSNs wrap in the middle of the message. */
	snprintf(text, sizeof(text), "drop,op=write,psn=%u-%u,count=10", RIG_PSN + 14,
		 RIG_PSN + 17 - (1 << 24));
	rule = add(0, text);
	message(OHCA_OP_RDMA_WRITE, 14 * MTU);
	assert_int_equal(rule->matched, 0);
	message(OHCA_OP_RDMA_WRITE, 5 * MTU);
	assert_int_equal(rule->matched, 10);
	assert_int_equal(rule->hits, 10);
}

/* A rule for one QP does not affect others: their packets take the direct path. */
static void test_qp(void **state)
{
	struct rig_qp *a = rig_qp_new(p.a->hca, NULL), *b = rig_qp_new(p.b->hca, NULL);
	struct pair all = p, other = p;
	const struct pkt_rule *rule;
	char text[64];

	(void)state;
	rig_connect(a, b);
	other.a = a;
	other.b = b;
	snprintf(text, sizeof(text), "duplicate,hca=hca0,dir=tx,qp=%u", p.a->qpn);
	rule = add(0, text);
	p = other;
	all_messages(1);
	assert_int_equal(rule->matched, 0);
	assert_false(inproc_qp(a)->hooked || inproc_qp(b)->hooked);
	p = all;
	message(OHCA_OP_RDMA_WRITE, MTU);
	assert_int_equal(rule->hits, 1);
	assert_true(inproc_qp(p.a)->hooked);
	assert_false(inproc_qp(p.b)->hooked);
	clear();
	snprintf(text, sizeof(text), "duplicate,hca=hca1,dir=rx,qp=%u", p.b->qpn);
	rule = add(1, text);
	p = other;
	all_messages(1);
	p = all;
	assert_int_equal(rule->matched, 0);
	message(OHCA_OP_RDMA_WRITE, MTU);
	assert_int_equal(rule->hits, 1);
	clear();
	message(OHCA_OP_RDMA_WRITE, MTU);
	assert_false(inproc_qp(p.a)->hooked);
}

/* Both directions of a packet: the responses of p.b arrive at hca0. */
static void test_direction(void **state)
{
	const struct pkt_rule *tx = add(0, "duplicate,hca=hca0,op=request");
	const struct pkt_rule *none = add(0, "duplicate,hca=hca0,op=response");
	const struct pkt_rule *rx = add(0, "duplicate,hca=hca0,op=ack,dir=rx");

	(void)state;
	message(OHCA_OP_RDMA_WRITE, 3 * MTU);
	assert_int_equal(tx->hits, 3);
	assert_int_equal(none->matched, 0);
	/* One acknowledgment for the last packet, and one more for each duplicate */
	assert_int_equal(rx->hits, 4);
}

/*
 * When a rule is exhausted, its QPs return to the direct path, but not before delayed packets have
 * arrived.
 */
static void test_straight(void **state)
{
	const struct pkt_rule *rule = add(0, "reorder=2,op=rdma-write-first,count=1");
	uint64_t early = counter(1, OHCA_CNT_OUT_OF_SEQUENCE);

	(void)state;
	message(OHCA_OP_RDMA_WRITE, 5 * MTU);
	assert_int_equal(rule->hits, 1);
	assert_true(counter(1, OHCA_CNT_OUT_OF_SEQUENCE) >= early + 2);
	assert_int_equal(fabric_of(0)->faults->deferred.num, 0);
	message(OHCA_OP_RDMA_WRITE, 5 * MTU);
	assert_false(inproc_qp(p.a)->hooked);
	assert_int_equal(rule->matched, 1);
}

/* Within the process packets have no bytes to corrupt: the packet is dropped at the receiver. */
static void test_corrupt(void **state)
{
	const struct pkt_rule *rule = add(0, "corrupt,op=send,count=2");
	uint64_t bad = fabric_of(0)->faults->bad_crc, got = counter(1, OHCA_CNT_RX_PKTS);

	(void)state;
	message(OHCA_OP_SEND, 100);
	assert_int_equal(rule->hits, 2);
	assert_int_equal(fabric_of(0)->faults->bad_crc, bad + 2);
	assert_int_equal(counter(1, OHCA_CNT_RX_PKTS), got + 1);
}

static void post_write(uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, len);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};

	rig_post_send(p.a, &wr);
	inproc_settle();
}

/* Delayed packets are dropped when the QP that sent them is reset. */
static void test_reset(void **state)
{
	struct pkt_deferred_list *deferred;

	(void)state;
	add(0, "delay=10s,op=write");
	deferred = &fabric_of(0)->faults->deferred;
	post_write(3 * MTU);
	assert_true(deferred->num >= 3);
	rig_to_reset(p.a);
	assert_int_equal(deferred->num, 0);
	assert_int_equal(deferred->bytes, 0);
	rig_to_reset(p.b);
	rig_connect(p.a, p.b);
	post_write(3 * MTU);
	assert_true(deferred->num >= 3);
	rig_qp_destroy(p.a);
	assert_int_equal(deferred->num, 0);
	/* And when its HCA is reset */
	p.a = rig_qp_new(p.a->hca, NULL);
	rig_to_reset(p.b);
	rig_connect(p.a, p.b);
	post_write(MTU);
	assert_true(deferred->num > 0);
	rig_close(p.rig);
	assert_int_equal(deferred->num, 0);
	open_type(OHCA_QPT_RC, 14);
}

/* The destination QP has been destroyed. */
static void test_peer_gone(void **state)
{
	const struct pkt_rule *rule = add(0, "delay=100us,op=write,count=3");

	(void)state;
	post_write(3 * MTU);
	rig_qp_destroy(p.b);
	while (fabric_of(0)->faults->deferred.num)
		inproc_step();
	assert_int_equal(rule->hits, 3);
	p.b = rig_qp_new(p.b->hca, NULL);
}

/* The number of delayed packets is limited. */
static void test_bounded(void **state)
{
	struct pkt_deferred_list *deferred;
	unsigned int i;

	(void)state;
	add(0, "delay=10s");
	deferred = &fabric_of(0)->faults->deferred;
	for (i = 0; i < 70 && !deferred->lost; i++)
		post_write(PAIR_LEN / 2);
	assert_true(deferred->lost > 0);
	assert_true(deferred->num <= PKT_DEFERRED_MAX && deferred->bytes <= PKT_DEFERRED_MAX_BYTES);
}

static int open_uc(void **state)
{
	(void)state;
	open_type(OHCA_QPT_UC, 14);
	return 0;
}

/* Send 64 numbered messages of one packet each; returns a bit for each message that arrived. */
static uint64_t stream(void)
{
	struct ohca_sge none = rig_sge(p.mb, PAIR_IOVA, 0);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE_IMM};
	struct ohca_cqe cqe;
	uint64_t got = 0;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		rig_post_recv(p.b, i, &none, 1);
		wr.imm = i;
		rig_put_send(p.a, &wr);
	}
	rig_ring(p.a);
	inproc_settle();
	while (drv_cq_poll(p.b->rcq, &cqe))
		got |= 1ULL << be32toh(cqe.imm_data);
	drv_cq_ack(p.b->rcq);
	return got;
}

/* The random choices depend only on the seed. */
static void test_seed(void **state)
{
	uint64_t first, second;

	(void)state;
	add(0, "drop,p=30%");
	first = stream();
	clear();
	assert_true(first && first != UINT64_MAX);
	assert_int_equal(stream(), UINT64_MAX);
	add(0, "drop,p=30%,seed=1");
	assert_int_equal(stream(), first);
	second = stream();
	assert_true(second != first);
	clear();
	add(0, "drop,p=30%,seed=3");
	assert_true(stream() != first);
}

/* An unreliable connection sends nothing again, but a late packet may arrive. */
static void test_unreliable(void **state)
{
	(void)state;
	add(0, "drop,skip=5,count=2");
	assert_int_equal(stream(), ~(3ULL << 5));
	clear();
	add(0, "corrupt,skip=5,count=2");
	assert_int_equal(stream(), ~(3ULL << 5));
	clear();
	add(0, "reorder=3,skip=5,count=2");
	assert_int_equal(stream(), UINT64_MAX);
}

static void put_datagram(unsigned int i)
{
	struct ohca_sge none = rig_sge(p.ma, PAIR_IOVA, 0);
	struct ohca_sge into = rig_sge(p.mb, PAIR_IOVA, OHCA_GRH_LEN);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND_IMM,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &none,
			    .imm = i,
			    .av = &p.a->attr.av,
			    .dest_qpn = p.b->qpn,
			    .qkey = RIG_QKEY};

	rig_post_recv(p.b, i, &into, 1);
	rig_put_send(p.a, &wr);
}

/* Send datagram @i to p.b. */
static void send_datagram(unsigned int i)
{
	put_datagram(i);
	rig_ring(p.a);
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
}

/* The next datagrams that arrive have these numbers, and there are no others. */
static void assert_datagrams(const unsigned int *expected, unsigned int num)
{
	struct ohca_cqe cqe;
	unsigned int i;

	for (i = 0; i < num; i++) {
		cqe = rig_wait_recv(p.b);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(be32toh(cqe.imm_data), expected[i]);
	}
	inproc_settle();
	assert_false(drv_cq_poll(p.b->rcq, &cqe));
}

#define ASSERT_DATAGRAMS(...)                                       \
	do {                                                        \
		const unsigned int _expected[] = {__VA_ARGS__};     \
		assert_datagrams(_expected, ARRAY_SIZE(_expected)); \
	} while (0)

static int open_ud(void **state)
{
	(void)state;
	open_type(OHCA_QPT_UD, 0);
	return 0;
}

/* A rule for one datagram, at the sender or at the receiver. */
static void add_once(const char *action, bool rx)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,op=ud-send,hca=hca%u,dir=%s,count=1", action, rx,
		 rx ? "rx" : "tx");
	add(rx, text);
}

static void test_datagrams(void **state)
{
	unsigned int rx;

	(void)state;
	for (rx = 0; rx < 2; rx++) {
		struct pkt_deferred_list *deferred;

		add_once("drop", rx);
		send_datagram(1);
		send_datagram(2);
		ASSERT_DATAGRAMS(2);
		add_once("duplicate", rx);
		send_datagram(3);
		ASSERT_DATAGRAMS(3, 3);
		add_once("corrupt", rx);
		send_datagram(4);
		send_datagram(5);
		ASSERT_DATAGRAMS(5);
		add_once("reorder", rx);
		put_datagram(6);
		send_datagram(7);
		rig_wait_send(p.a);
		ASSERT_DATAGRAMS(7, 6);
		add_once("delay=100us", rx);
		send_datagram(8);
		ASSERT_DATAGRAMS(8);
		/* A datagram is delayed for longer than its sender exists */
		add_once("delay=10s", rx);
		deferred = &fabric_of(rx)->faults->deferred;
		send_datagram(9);
		send_datagram(10);
		ASSERT_DATAGRAMS(10);
		assert_int_equal(deferred->num, 1);
		/* A received frame does not refer to its sender */
		if (rx && ON_WIRE)
			pkt_deferred_forget(deferred, NULL, NULL);
		rig_to_reset(p.a);
		assert_int_equal(deferred->num, 0);
		rig_to_reset(p.b);
		rig_connect(p.a, p.b);
		clear();
	}
}

static void test_rules(void **state)
{
	char why[64];
	struct pkt_rule *rule = pkt_rule_parse("drop,hca=hca7", why, sizeof(why));
	const struct pkt_rule *first, *second;
	struct fabric *fabric = fabric_of(0);

	(void)state;
	assert_int_equal(pkt_fault_add(fabric, inproc_hca(0)->loop, rule), -ENOENT);
	pkt_rule_free(rule);
	first = add(0, "drop,op=flush");
	second = add(0, "corrupt,op=flush");
	assert_int_equal(second->id, first->id + 1);
	assert_ptr_equal(pkt_fault_next(fabric, NULL), first);
	assert_ptr_equal(pkt_fault_next(fabric, first), second);
	assert_null(pkt_fault_next(fabric, second));
	assert_false(pkt_fault_clear(fabric, second->id + 1));
	assert_true(pkt_fault_clear(fabric, first->id));
	assert_ptr_equal(pkt_fault_next(fabric, NULL), second);
	assert_true(pkt_fault_clear(fabric, 0));
	assert_null(pkt_fault_next(fabric, NULL));
	assert_true(pkt_fault_clear(fabric, 0));
}

/* Packets only take this path while there are rules, or packets delayed by earlier ones. */
static void test_rest(void **state)
{
	struct fabric *fabric = fabric_of(0);

	(void)state;
	assert_null(fabric->link_hooks);
	add(0, "drop,op=flush");
	assert_non_null(fabric->link_hooks);
	add(0, "delay=10s,op=write,count=1");
	clear();
	assert_null(fabric->link_hooks);
	add(0, "delay=50ms,op=write,count=1");
	post_write(8);
	clear();
	assert_non_null(fabric->link_hooks);
	while (fabric->link_hooks)
		inproc_step();
	add(0, "delay=10s,op=write,count=1");
	post_write(8);
	clear();
	assert_non_null(fabric->link_hooks);
	rig_to_reset(p.a);
	assert_null(fabric->link_hooks);
}

/* The bit is flipped in the frame, after the CRC was computed. */
static void test_wire_corrupt(void **state)
{
	uint64_t bad[2] = {stats(0)->bad_icrc, stats(1)->bad_icrc};
	const struct pkt_rule *tx = add(0, "corrupt,op=send+write,p=50%,count=40");
	const struct pkt_rule *rx;

	(void)state;
	while (!pkt_rule_done(tx))
		all_messages(1);
	assert_int_equal(stats(1)->bad_icrc, bad[1] + 40);
	assert_int_equal(stats(0)->bad_icrc, bad[0]);
	rx = add(0, "corrupt,op=ack,dir=rx,p=50%,count=10");
	while (!pkt_rule_done(rx))
		all_messages(1);
	assert_int_equal(stats(1)->bad_icrc, bad[1] + 40);
	assert_int_equal(stats(0)->bad_icrc, bad[0] + 10);
	assert_int_equal(fabric_of(0)->faults->bad_crc, 0);
}

#define HASTY(test) cmocka_unit_test_setup_teardown(test, open_hasty_pair, close_pair)
#define DATAGRAMS(test) cmocka_unit_test_setup_teardown(test, open_ud, close_pair)
#define PAIRED(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)
#define UNRELIABLE(test) cmocka_unit_test_setup_teardown(test, open_uc, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HASTY(test_recovery),	   PAIRED(test_drop),
		PAIRED(test_lost_ack),	   PAIRED(test_atomics),
		PAIRED(test_reads),	   PAIRED(test_dead),
		PAIRED(test_psn),	   PAIRED(test_qp),
		PAIRED(test_direction),	   PAIRED(test_straight),
		PAIRED(test_corrupt),	   PAIRED(test_reset),
		PAIRED(test_peer_gone),	   UNRELIABLE(test_bounded),
		UNRELIABLE(test_seed),	   UNRELIABLE(test_unreliable),
		DATAGRAMS(test_datagrams), PAIRED(test_rules),
		PAIRED(test_rest),
	};
	const struct CMUnitTest wire_tests[] = {
		HASTY(test_recovery),	   PAIRED(test_drop),		PAIRED(test_lost_ack),
		PAIRED(test_atomics),	   PAIRED(test_reads),		PAIRED(test_dead),
		PAIRED(test_psn),	   PAIRED(test_reset),		UNRELIABLE(test_bounded),
		UNRELIABLE(test_seed),	   UNRELIABLE(test_unreliable), HASTY(test_wire_corrupt),
		DATAGRAMS(test_datagrams),
	};
	int failed = RUN_TESTS(tests, start, stop);

	return RUN_TESTS(wire_tests, start_wire, stop) + failed;
}
