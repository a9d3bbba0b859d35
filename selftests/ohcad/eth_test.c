// SPDX-License-Identifier: GPL-2.0
/* Ethernet frames between the ports of a device. */

#include <arpa/inet.h>
#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inet_sum.h"
#include "rig.h"

#define IOVA 0x10000ULL
#define LEN (1ULL << 20)
#define SLOT 16384 /* bytes of memory for each frame */
#define MAX_FRAME 9234

/**
 * struct lan - a port and its Ethernet QP on each HCA
 */
struct lan {
	struct rig *rig;
	struct rig_qp *qp[3];
	struct rig_mr *mr[3];
};

static struct lan lan_open(void)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_ETH,
				   .flags = OHCA_QP_F_PRIVILEGED,
				   .max_sge = 8,
				   .max_inline = 128};
	struct lan lan;
	unsigned int i;

	lan.rig = rig_open(server);
	for (i = 0; i < 3; i++) {
		lan.qp[i] = rig_qp_new(&lan.rig->hca[i], &opts);
		lan.mr[i] = rig_mr_new(&lan.rig->hca[i], IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
		assert_int_equal(rig_modify(lan.qp[i], OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT),
				 0);
		assert_int_equal(rig_modify(lan.qp[i], OHCA_QPS_RTR, OHCA_QP_STATE), 0);
		assert_int_equal(rig_modify(lan.qp[i], OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	}
	return lan;
}

/* Build a frame from HCA @from to @dmac in new memory: pattern of @seed after the header. */
static struct ohca_sge make_frame(struct lan *lan, unsigned int from, const uint8_t *dmac,
				  uint32_t len, uint32_t seed)
{
	uint64_t at = IOVA + (seed % 16) * SLOT;

	rig_mr_fill(lan->mr[from], at, len, seed);
	rig_mr_set(lan->mr[from], at, dmac, 6);
	rig_mr_set(lan->mr[from], at + 6, lan->rig->hca[from].mac, 6);
	return rig_sge(lan->mr[from], at, len);
}

static void post(struct lan *lan, unsigned int from, const struct ohca_sge *sge, unsigned int num)
{
	struct rig_wr wr = {.wr_id = 5,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = num,
			    .sge = sge};

	rig_post_send(lan->qp[from], &wr);
}

static void assert_sent(struct lan *lan, unsigned int from)
{
	struct ohca_cqe cqe = rig_wait_send(lan->qp[from]);

	assert_int_equal(cqe.status, 0);
	assert_int_equal(le64toh(cqe.wr_id), 5);
	assert_int_equal(cqe.opcode, OHCA_OP_SEND);
}

static void post_recv(struct lan *lan, unsigned int to, uint32_t len)
{
	struct ohca_sge sge = rig_sge(lan->mr[to], IOVA + LEN / 2, len);

	rig_post_recv(lan->qp[to], to, &sge, 1);
}

/* HCA @to has received the frame that HCA @from sent. */
static void assert_received(struct lan *lan, unsigned int to, unsigned int from,
			    const struct ohca_sge *sge)
{
	struct ohca_cqe cqe = rig_wait_recv(lan->qp[to]);
	uint32_t len = le32toh(sge->length);
	uint8_t sent[MAX_FRAME], got[MAX_FRAME];

	assert_int_equal(cqe.status, 0);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(le32toh(cqe.byte_len), len);
	rig_mr_get(lan->mr[from], le64toh(sge->addr), sent, len);
	rig_mr_get(lan->mr[to], IOVA + LEN / 2, got, len);
	assert_memory_equal(sent, got, len);
}

static void assert_nothing(struct lan *lan, unsigned int to)
{
	struct ohca_cqe cqe;

	/* A command is executed after the work that was posted before. */
	rig_query(lan->qp[to]);
	assert_false(drv_cq_poll(lan->qp[to]->rcq, &cqe));
}

static void test_unicast(void **state)
{
	static const uint32_t lens[] = {14, 60, 64, 1514, 1518, 4096, MAX_FRAME};
	struct lan lan = lan_open();
	unsigned int i, from, to;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (from = 0; from < 3; from++) {
			for (to = 0; to < 3; to++) {
				struct ohca_sge sge;

				if (from == to)
					continue;
				sge = make_frame(&lan, from, lan.rig->hca[to].mac, lens[i], i);
				post_recv(&lan, to, MAX_FRAME);
				post(&lan, from, &sge, 1);
				assert_sent(&lan, from);
				assert_received(&lan, to, from, &sge);
				assert_nothing(&lan, 3 - from - to);
			}
		}
	}
	rig_close(lan.rig);
}

static void test_broadcast(void **state)
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t group[6] = {0x33, 0x33, 0, 0, 0, 1};
	struct lan lan = lan_open();
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct ohca_sge sge = make_frame(&lan, 0, i ? group : all, 100, i);

		post_recv(&lan, 0, 1000);
		post_recv(&lan, 1, 1000);
		post_recv(&lan, 2, 1000);
		post(&lan, 0, &sge, 1);
		assert_sent(&lan, 0);
		assert_received(&lan, 1, 0, &sge);
		assert_received(&lan, 2, 0, &sge);
		assert_nothing(&lan, 0);
	}
	rig_close(lan.rig);
}

/* Gathered, inline, without a receive, into a receive that is too small, into several elements. */
static void test_buffers(void **state)
{
	struct lan lan = lan_open();
	struct ohca_sge sge = make_frame(&lan, 0, lan.rig->hca[1].mac, 1000, 3), parts[8], into[3];
	struct rig_wr wr = {.wr_id = 5, .opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED};
	uint8_t data[100];
	unsigned int i;

	(void)state;
	post(&lan, 0, &sge, 1); /* dropped */
	assert_sent(&lan, 0);
	post_recv(&lan, 1, 999);
	post(&lan, 0, &sge, 1); /* does not fit: dropped, and the receive is not consumed */
	assert_sent(&lan, 0);
	assert_nothing(&lan, 1);
	sge.length = htole32(999);
	for (i = 0; i < 8; i++)
		parts[i] = rig_sge(lan.mr[0], IOVA + 3 * SLOT + i * 100, i == 7 ? 299 : 100);
	post(&lan, 0, parts, 8);
	assert_sent(&lan, 0);
	assert_received(&lan, 1, 0, &sge);

	for (i = 0; i < 3; i++)
		into[i] = rig_sge(lan.mr[1], IOVA + LEN / 2 + i * 400, 400);
	rig_post_recv(lan.qp[1], 1, into, 3);
	post(&lan, 0, &sge, 1);
	assert_sent(&lan, 0);
	assert_received(&lan, 1, 0, &sge);

	rig_mr_get(lan.mr[0], IOVA + 3 * SLOT, data, 100);
	wr.inl = data;
	wr.inl_len = 100;
	sge.length = htole32(100);
	post_recv(&lan, 1, 1000);
	rig_post_send(lan.qp[0], &wr);
	assert_sent(&lan, 0);
	assert_received(&lan, 1, 0, &sge);
	rig_close(lan.rig);
}

/* A port that is down receives and sends nothing; sends complete all the same. */
static void test_port_down(void **state)
{
	struct ohca_modify_port_in port = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	struct lan lan = lan_open();
	struct ohca_sge sge = make_frame(&lan, 0, lan.rig->hca[1].mac, 100, 1);

	(void)state;
	post_recv(&lan, 1, 1000);
	assert_int_equal(drv_cmd(lan.rig->hca[0].drv, OHCA_CMD_MODIFY_PORT, &port, sizeof(port),
				 NULL, 0),
			 0);
	post(&lan, 0, &sge, 1);
	assert_sent(&lan, 0);
	assert_nothing(&lan, 1);
	port.admin_up = 1;
	assert_int_equal(drv_cmd(lan.rig->hca[0].drv, OHCA_CMD_MODIFY_PORT, &port, sizeof(port),
				 NULL, 0),
			 0);
	post(&lan, 0, &sge, 1);
	assert_sent(&lan, 0);
	assert_received(&lan, 1, 0, &sge);
	rig_close(lan.rig);
}

/**
 * struct ip_case - a frame with IP and TCP or UDP in it
 */
struct ip_case {
	bool v6, tcp, vlan;
	uint32_t payload;
};

/* Build it, with the checksum of the pseudo header in the checksum field; returns the length. */
static uint32_t build(uint8_t *f, const struct ip_case *c, const uint8_t *dmac, uint16_t *start,
		      uint16_t *offset)
{
	uint32_t l4_len = (c->tcp ? 20 : 8) + c->payload, at = 14, i;
	uint8_t proto = c->tcp ? 6 : 17;
	uint32_t pseudo = proto + l4_len;

	memset(f, 0, MAX_FRAME);
	memcpy(f, dmac, 6);
	f[6] = 2;
	if (c->vlan) {
		f[12] = 0x81;
		f[15] = 5;
		at = 18;
	}
	f[at - 2] = c->v6 ? 0x86 : 0x08;
	f[at - 1] = c->v6 ? 0xdd : 0x00;
	if (c->v6) {
		f[at] = 0x60;
		f[at + 4] = l4_len >> 8;
		f[at + 5] = l4_len;
		f[at + 6] = proto;
		for (i = 8; i < 40; i++)
			f[at + i] = i * 11;
		pseudo += sum16(f + at + 8, 32);
		at += 40;
	} else {
		uint16_t sum;

		f[at] = 0x45;
		f[at + 2] = (l4_len + 20) >> 8;
		f[at + 3] = l4_len + 20;
		f[at + 8] = 64;
		f[at + 9] = proto;
		for (i = 12; i < 20; i++)
			f[at + i] = i * 11;
		sum = ~fold(sum16(f + at, 20));
		f[at + 10] = sum >> 8;
		f[at + 11] = sum;
		pseudo += sum16(f + at + 12, 8);
		at += 20;
	}
	for (i = 0; i < l4_len; i++)
		f[at + i] = i * 7 + c->payload;
	if (!c->tcp) {
		f[at + 4] = l4_len >> 8;
		f[at + 5] = l4_len;
	}
	*start = at;
	*offset = c->tcp ? 16 : 6;
	pseudo = fold(pseudo);
	f[at + *offset] = pseudo >> 8;
	f[at + *offset + 1] = pseudo;
	return at + l4_len;
}

/* Is the checksum from @start on correct?  The pseudo header's checksum was in its field. */
static bool sum_is_good(const uint8_t *sent, const uint8_t *got, uint32_t len, uint16_t start,
			uint16_t offset)
{
	uint32_t pseudo = sent[start + offset] << 8 | sent[start + offset + 1];

	return fold(sum16(got + start, len - start) + pseudo) == 0xffff;
}

static void test_checksums(void **state)
{
	struct lan lan = lan_open();
	unsigned int i;

	(void)state;
	for (i = 0; i < 64; i++) {
		struct ip_case c = {i & 1, i & 2, i & 4, 13 * (i >> 3) * (i >> 3) * (i >> 3)};
		uint8_t sent[MAX_FRAME], got[MAX_FRAME];
		uint16_t at, offset;
		uint32_t len = build(sent, &c, lan.rig->hca[1].mac, &at, &offset);
		/* Split at odd places */
		struct ohca_sge sge[3] = {rig_sge(lan.mr[0], IOVA, 33),
					  rig_sge(lan.mr[0], IOVA + 33, 1),
					  rig_sge(lan.mr[0], IOVA + 34, len - 34)};
		struct rig_wr wr = {.wr_id = 5,
				    .opcode = OHCA_OP_SEND,
				    .num_sge = 3,
				    .sge = sge,
				    .flags = OHCA_WQE_SIGNALED | OHCA_WQE_CSUM};
		struct ohca_sq_wqe *wqe = rig_sq_entry(lan.qp[0], lan.qp[0]->sq_pi);
		struct ohca_cqe cqe;

		rig_mr_set(lan.mr[0], IOVA, sent, len);
		post_recv(&lan, 1, MAX_FRAME);
		rig_put_send(lan.qp[0], &wr);
		wqe->eth.csum_start = htole16(at);
		wqe->eth.csum_offset = htole16(offset);
		rig_ring(lan.qp[0]);
		assert_sent(&lan, 0);
		cqe = rig_wait_recv(lan.qp[1]);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_CSUM_OK);
		rig_mr_get(lan.mr[1], IOVA + LEN / 2, got, len);
		assert_true(sum_is_good(sent, got, len, at, offset));
		/* The sender's memory is unchanged. */
		rig_mr_get(lan.mr[0], IOVA, got, len);
		assert_memory_equal(got, sent, len);

		/*
		 * The checksum was not completed and is wrong: the completion does not report it as
		 * correct.
		 */
		post_recv(&lan, 1, MAX_FRAME);
		post(&lan, 0, sge, 3);
		assert_sent(&lan, 0);
		assert_int_equal(rig_wait_recv(lan.qp[1]).flags, OHCA_CQE_F_RQ);
	}
	rig_close(lan.rig);
}

/* Invalid sends: the QP enters the error state, and the port receives nothing. */
static void test_errors(void **state)
{
	struct lan lan = lan_open();
	struct ohca_sge sge = make_frame(&lan, 0, lan.rig->hca[1].mac, 100, 1);
	const struct {
		uint8_t opcode, flags;
		uint32_t len, lkey;
		uint16_t csum_start;
		uint8_t status;
	} cases[] = {
		{OHCA_OP_RDMA_WRITE, 0, 100, lan.mr[0]->key, 0, OHCA_WC_LOC_QP_OP_ERR},
		{OHCA_OP_SEND_IMM, 0, 100, lan.mr[0]->key, 0, OHCA_WC_LOC_QP_OP_ERR},
		{OHCA_OP_SEND, 0x80, 100, lan.mr[0]->key, 0, OHCA_WC_LOC_QP_OP_ERR},
		{OHCA_OP_SEND, 0, 13, lan.mr[0]->key, 0, OHCA_WC_LOC_LEN_ERR},
		{OHCA_OP_SEND, 0, 0, lan.mr[0]->key, 0, OHCA_WC_LOC_LEN_ERR},
		{OHCA_OP_SEND, 0, MAX_FRAME + 1, lan.mr[0]->key, 0, OHCA_WC_LOC_LEN_ERR},
		{OHCA_OP_SEND, 0, 100, 0, 0, OHCA_WC_LOC_PROT_ERR},
		{OHCA_OP_SEND, OHCA_WQE_CSUM, 100, lan.mr[0]->key, 99, OHCA_WC_LOC_QP_OP_ERR},
		{OHCA_OP_SEND, OHCA_WQE_CSUM, 100, lan.mr[0]->key, 0xffff, OHCA_WC_LOC_QP_OP_ERR},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig_wr wr = {.wr_id = 5,
				    .opcode = cases[i].opcode,
				    .flags = cases[i].flags,
				    .num_sge = 1,
				    .sge = &sge,
				    .raddr = cases[i].csum_start};
		struct rig_qp *qp = lan.qp[0];

		sge.length = htole32(cases[i].len);
		sge.lkey = htole32(cases[i].lkey);
		rig_post_send(qp, &wr);
		assert_int_equal(rig_wait_send(qp).status, cases[i].status);
		assert_int_equal(rig_query(qp).state, OHCA_QPS_ERR);
		rig_to_reset(qp);
		assert_int_equal(rig_modify(qp, OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT), 0);
		assert_int_equal(rig_modify(qp, OHCA_QPS_RTR, OHCA_QP_STATE), 0);
		assert_int_equal(rig_modify(qp, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	}
	rig_close(lan.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unicast),	  cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_buffers),	  cmocka_unit_test(test_port_down),
		cmocka_unit_test(test_checksums), cmocka_unit_test(test_errors),
	};

	return RUN_TESTS(tests, start_three_hcas, stop_hcas);
}
