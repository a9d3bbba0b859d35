// SPDX-License-Identifier: GPL-2.0
/* Receive-side scaling: receive work queues, indirection tables, the hash. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "refuse.h"
#include "rig_raw.h"
#include "eth/toeplitz.h"

#define LOG_ENTRIES 6
#define ENTRIES (1U << LOG_ENTRIES)
#define NUM_WQS 5

#define IPV4_FIELDS (OHCA_RSS_SRC_IPV4 | OHCA_RSS_DST_IPV4)
#define IPV6_FIELDS (OHCA_RSS_SRC_IPV6 | OHCA_RSS_DST_IPV6)
#define TCP_FIELDS (OHCA_RSS_SRC_PORT_TCP | OHCA_RSS_DST_PORT_TCP)
#define UDP_FIELDS (OHCA_RSS_SRC_PORT_UDP | OHCA_RSS_DST_PORT_UDP)

/* The key, and the results that are published with the hash for verification. */
static const uint8_t key[OHCA_RSS_KEY_LEN] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/**
 * struct vector - addresses and ports with the hash of the addresses, and of addresses and ports
 */
struct vector {
	uint8_t src[16], dst[16];
	uint16_t src_port, dst_port;
	uint32_t ip, all;
};

static const struct vector ipv4_vectors[] = {
	{{66, 9, 149, 187}, {161, 142, 100, 80}, 2794, 1766, 0x323e8fc2, 0x51ccc178},
	{{199, 92, 111, 2}, {65, 69, 140, 83}, 14230, 4739, 0xd718262a, 0xc626b0ea},
	{{24, 19, 198, 95}, {12, 22, 207, 184}, 12898, 38024, 0xd2d0a5de, 0x5c2b394a},
	{{38, 27, 205, 30}, {209, 142, 163, 6}, 48228, 2217, 0x82989176, 0xafc7327f},
	{{153, 39, 163, 191}, {202, 188, 127, 2}, 44251, 1303, 0x5d1809c5, 0x10e828a2},
};

static const struct vector ipv6_vectors[] = {
	{{0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7},
	 {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1},
	 2794,
	 1766,
	 0x2cc18cd5,
	 0x40207d3d},
	{{0x3f, 0xfe, 0x05, 0x01, 0, 8, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab},
	 {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
	 14230,
	 4739,
	 0x0f0c461c,
	 0xdde51bbf},
	{{0x3f, 0xfe, 0x19, 0, 0x45, 0x45, 0, 3, 0x02, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
	 {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
	 44251,
	 38024,
	 0x4b61e985,
	 0x02d1feef},
};

static void check_vector(const struct vector *v, size_t addr_len)
{
	uint16_t src_port = htobe16(v->src_port), dst_port = htobe16(v->dst_port);
	uint8_t data[TOEPLITZ_MAX_LEN];

	memcpy(data, v->src, addr_len);
	memcpy(data + addr_len, v->dst, addr_len);
	assert_int_equal(toeplitz(key, data, 2 * addr_len), v->ip);
	memcpy(data + 2 * addr_len, &src_port, 2);
	memcpy(data + 2 * addr_len + 2, &dst_port, 2);
	assert_int_equal(toeplitz(key, data, 2 * addr_len + 4), v->all);
}

static void test_hash(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ipv4_vectors); i++)
		check_vector(&ipv4_vectors[i], 4);
	for (i = 0; i < ARRAY_SIZE(ipv6_vectors); i++)
		check_vector(&ipv6_vectors[i], 16);
	assert_int_equal(toeplitz(key, NULL, 0), 0);
}

/**
 * struct bed - queues behind a hash, and a QP of another HCA that sends
 * @tbl: entry n is queue n modulo NUM_WQS
 * @rss: the QP that distributes the frames
 */
struct bed {
	struct rig *rig;
	struct raw wqs[NUM_WQS];
	uint32_t tbl, rss, flow;
	struct raw from;
};

static struct ohca_create_ind_tbl_in tbl_in(struct bed *bed, uint8_t log_size)
{
	struct ohca_create_ind_tbl_in in = {.log_size = log_size};
	unsigned int i;

	for (i = 0; i < 1U << log_size; i++)
		in.wqn[i] = htole32(bed->wqs[i % NUM_WQS].qp->qpn);
	return in;
}

static struct ohca_create_rss_in rss_in(uint32_t tbl, uint16_t fields)
{
	struct ohca_create_rss_in in = {
		.ind_tbl = htole32(tbl),
		.fields = htole16(fields),
		.function = OHCA_RSS_TOEPLITZ,
	};

	memcpy(in.key, key, sizeof(in.key));
	return in;
}

/* Steer all frames to a new QP that hashes @fields. */
static void bed_hash(struct bed *bed, uint16_t fields)
{
	struct ohca_create_rss_in rss = rss_in(bed->tbl, fields);
	struct ohca_create_flow_in flow;
	struct drv *drv = bed->rig->hca[0].drv;

	if (bed->rss) {
		assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_FLOW, bed->flow), 0);
		assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_QP, bed->rss), 0);
	}
	bed->rss = drv_create(drv, OHCA_CMD_CREATE_RSS, &rss, sizeof(rss));
	flow = raw_flow_in(bed->rss);
	bed->flow = raw_flow_new(&bed->rig->hca[0], &flow);
}

static void bed_open(struct bed *bed, uint16_t fields)
{
	struct ohca_create_ind_tbl_in in;
	unsigned int i;

	memset(bed, 0, sizeof(*bed));
	bed->rig = rig_open(server);
	bed->from = raw_new(&bed->rig->hca[1], OHCA_QPT_ETH, 0);
	for (i = 0; i < NUM_WQS; i++)
		bed->wqs[i] = raw_new(&bed->rig->hca[0], OHCA_QPT_RWQ, 0);
	in = tbl_in(bed, LOG_ENTRIES);
	bed->tbl = drv_create(bed->rig->hca[0].drv, OHCA_CMD_CREATE_IND_TBL, &in, sizeof(in));
	bed_hash(bed, fields);
}

/* The frame arrives in the queue that the hash of these bytes selects. */
static void expect(struct bed *bed, const uint8_t *frame, uint32_t len, const uint8_t *data,
		   size_t data_len)
{
	struct raw *wq = &bed->wqs[toeplitz(key, data, data_len) % ENTRIES % NUM_WQS];

	raw_post(wq);
	raw_send(&bed->from, frame, len);
	raw_assert_got(wq, frame, len);
}

/**
 * struct packet - a frame built by the test
 */
struct packet {
	uint8_t bytes[128];
	uint32_t len;
};

static void append(struct packet *pkt, const void *bytes, size_t len)
{
	memcpy(pkt->bytes + pkt->len, bytes, len);
	pkt->len += len;
}

/* Ethernet, perhaps with a VLAN tag. */
static struct packet ether(uint16_t type, bool vlan)
{
	uint16_t be = htobe16(type);
	struct packet pkt = {0};

	append(&pkt, raw_udp, 12);
	if (vlan)
		append(&pkt, "\x81\x00\x00\x07", 4);
	append(&pkt, &be, 2);
	return pkt;
}

static void append_ports(struct packet *pkt, const struct vector *v)
{
	uint16_t ports[2] = {htobe16(v->src_port), htobe16(v->dst_port)};
	static const uint8_t rest[16];

	append(pkt, ports, sizeof(ports));
	append(pkt, rest, sizeof(rest));
}

/* An IPv4 packet with some TCP or UDP; @frag: flags and offset. */
static struct packet ipv4(const struct vector *v, uint8_t proto, uint16_t frag, bool vlan)
{
	uint8_t hdr[20] = {0x45, 0, 0, 40, 0, 1, frag >> 8, frag, 64, proto};
	struct packet pkt = ether(0x0800, vlan);

	memcpy(hdr + 12, v->src, 4);
	memcpy(hdr + 16, v->dst, 4);
	append(&pkt, hdr, sizeof(hdr));
	append_ports(&pkt, v);
	return pkt;
}

static struct packet ipv6(const struct vector *v, uint8_t next)
{
	uint8_t hdr[8] = {0x60, 0, 0, 0, 0, 20, next, 64};
	struct packet pkt = ether(0x86dd, false);

	append(&pkt, hdr, sizeof(hdr));
	append(&pkt, v->src, 16);
	append(&pkt, v->dst, 16);
	append_ports(&pkt, v);
	return pkt;
}

#define TCP 6
#define UDP 17
#define SCTP 132

/* The hashed bytes of an IPv4 packet: addresses, or addresses and ports. */
static void expect_ipv4(struct bed *bed, const struct packet *pkt, const struct vector *v,
			bool ports)
{
	uint16_t be[2] = {htobe16(v->src_port), htobe16(v->dst_port)};
	uint8_t data[12];

	memcpy(data, v->src, 4);
	memcpy(data + 4, v->dst, 4);
	memcpy(data + 8, be, 4);
	expect(bed, pkt->bytes, pkt->len, data, ports ? 12 : 8);
}

static void test_ipv4(void **state)
{
	struct packet pkt;
	struct bed bed;
	unsigned int i;

	(void)state;
	bed_open(&bed, IPV4_FIELDS | TCP_FIELDS);
	for (i = 0; i < ARRAY_SIZE(ipv4_vectors); i++) {
		const struct vector *v = &ipv4_vectors[i];

		pkt = ipv4(v, TCP, 0, false);
		expect_ipv4(&bed, &pkt, v, true);
		pkt = ipv4(v, TCP, 0, true);
		expect_ipv4(&bed, &pkt, v, true);
		pkt = ipv4(v, UDP, 0, false);
		expect_ipv4(&bed, &pkt, v, false);
		/* Don't fragment, first fragment, another one */
		pkt = ipv4(v, TCP, 0x4000, false);
		expect_ipv4(&bed, &pkt, v, true);
		pkt = ipv4(v, TCP, 0x2000, false);
		expect_ipv4(&bed, &pkt, v, false);
		pkt = ipv4(v, TCP, 0x0010, false);
		expect_ipv4(&bed, &pkt, v, false);
	}
	bed_hash(&bed, IPV4_FIELDS | UDP_FIELDS | IPV6_FIELDS | TCP_FIELDS);
	for (i = 0; i < ARRAY_SIZE(ipv4_vectors); i++) {
		const struct vector *v = &ipv4_vectors[i];

		pkt = ipv4(v, UDP, 0, false);
		expect_ipv4(&bed, &pkt, v, true);
		pkt = ipv4(v, SCTP, 0, false);
		expect_ipv4(&bed, &pkt, v, false);
		/* Ports that are truncated */
		pkt = ipv4(v, UDP, 0, false);
		pkt.len = RAW_AT_UDP + 3;
		expect_ipv4(&bed, &pkt, v, false);
	}
	rig_close(bed.rig);
}

static void test_ipv6(void **state)
{
	uint8_t data[TOEPLITZ_MAX_LEN];
	struct packet pkt;
	struct bed bed;
	unsigned int i;

	(void)state;
	bed_open(&bed, OHCA_RSS_FIELDS);
	for (i = 0; i < ARRAY_SIZE(ipv6_vectors); i++) {
		const struct vector *v = &ipv6_vectors[i];
		uint16_t be[2] = {htobe16(v->src_port), htobe16(v->dst_port)};

		memcpy(data, v->src, 16);
		memcpy(data + 16, v->dst, 16);
		memcpy(data + 32, be, 4);
		pkt = ipv6(v, TCP);
		expect(&bed, pkt.bytes, pkt.len, data, 36);
		pkt = ipv6(v, UDP);
		expect(&bed, pkt.bytes, pkt.len, data, 36);
		pkt = ipv6(v, SCTP);
		expect(&bed, pkt.bytes, pkt.len, data, 32);
	}
	rig_close(bed.rig);
}

/* Each field alone, and frames that have no such field. */
static void test_fields(void **state)
{
	const struct vector *v = &ipv4_vectors[0], *v6 = &ipv6_vectors[0];
	const uint16_t src_port = htobe16(v->src_port), dst_port = htobe16(v->dst_port);
	const struct {
		uint16_t field;
		struct packet pkt;
		const void *data;
		size_t len;
	} cases[] = {
		{OHCA_RSS_SRC_IPV4, ipv4(v, TCP, 0, false), v->src, 4},
		{OHCA_RSS_DST_IPV4, ipv4(v, TCP, 0, false), v->dst, 4},
		{OHCA_RSS_SRC_IPV6, ipv6(v6, TCP), v6->src, 16},
		{OHCA_RSS_DST_IPV6, ipv6(v6, TCP), v6->dst, 16},
		{OHCA_RSS_SRC_PORT_TCP, ipv4(v, TCP, 0, false), &src_port, 2},
		{OHCA_RSS_DST_PORT_TCP, ipv4(v, TCP, 0, false), &dst_port, 2},
		{OHCA_RSS_SRC_PORT_UDP, ipv4(v, UDP, 0, false), &src_port, 2},
		{OHCA_RSS_DST_PORT_UDP, ipv4(v, UDP, 0, false), &dst_port, 2},
		{OHCA_RSS_SRC_IPV6, ipv4(v, TCP, 0, false), NULL, 0},
		{OHCA_RSS_SRC_IPV4, ipv6(v6, TCP), NULL, 0},
		{OHCA_RSS_FIELDS, ether(0x0806, false), NULL, 0},
		{0, ipv4(v, TCP, 0, false), NULL, 0},
	};
	struct bed bed;
	unsigned int i;

	(void)state;
	bed_open(&bed, 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bed_hash(&bed, cases[i].field);
		expect(&bed, cases[i].pkt.bytes, cases[i].pkt.len, cases[i].data, cases[i].len);
	}
	rig_close(bed.rig);
}

/* Many connections reach each of the queues; a frame without a receive request is dropped. */
static void test_spread(void **state)
{
	unsigned int i, posted[NUM_WQS] = {0}, got[NUM_WQS] = {0};
	struct vector v = ipv4_vectors[0];
	struct ohca_cqe cqe;
	struct packet pkt;
	struct bed bed;

	(void)state;
	bed_open(&bed, IPV4_FIELDS | UDP_FIELDS);
	for (i = 0; i < NUM_WQS; i++) {
		for (; posted[i] < 16; posted[i]++)
			raw_post(&bed.wqs[i]);
	}
	for (i = 0; i < 200; i++) {
		v.src_port = 1000 + i;
		pkt = ipv4(&v, UDP, 0, false);
		raw_send(&bed.from, pkt.bytes, pkt.len);
	}
	for (i = 0; i < NUM_WQS; i++) {
		rig_query(bed.wqs[i].qp);
		for (; drv_cq_poll(bed.wqs[i].qp->rcq, &cqe); got[i]++)
			assert_int_equal(cqe.status, 0);
		/* The number of connections of this queue. */
		assert_int_equal(got[i], 16);
	}
	rig_close(bed.rig);
}

static int wq_to(struct raw *wq, enum ohca_qp_state state)
{
	return rig_modify(wq->qp, state, OHCA_QP_STATE);
}

static void assert_flushed(struct raw *wq)
{
	struct ohca_cqe cqe = rig_wait_recv(wq->qp);

	assert_int_equal(cqe.status, OHCA_WC_WR_FLUSH_ERR);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(le32toh(cqe.qpn), wq->qp->qpn);
}

static void test_states(void **state)
{
	struct bed bed;
	struct raw *wq = &bed.wqs[0];

	(void)state;
	bed_open(&bed, 0);
	assert_int_equal(rig_query(wq->qp).state, OHCA_QPS_RTR);

	/* Posted before ERR and in ERR: flushed.  Frames are dropped in ERR. */
	raw_post(wq);
	assert_int_equal(wq_to(wq, OHCA_QPS_ERR), 0);
	assert_flushed(wq);
	raw_post(wq);
	assert_flushed(wq);
	raw_send(&bed.from, raw_udp, RAW_UDP_LEN);
	raw_assert_none(wq);
	assert_int_equal(wq_to(wq, OHCA_QPS_RTR), OHCA_CMD_BAD_STATE);
	assert_int_equal(wq_to(wq, OHCA_QPS_ERR), 0);

	/* RESET: the record is reset, frames are dropped. */
	rig_to_reset(wq->qp);
	raw_post(wq);
	raw_send(&bed.from, raw_udp, RAW_UDP_LEN);
	raw_assert_none(wq);
	assert_int_equal(wq_to(wq, OHCA_QPS_ERR), OHCA_CMD_BAD_STATE);
	assert_int_equal(wq_to(wq, OHCA_QPS_INIT), OHCA_CMD_BAD_STATE);
	assert_int_equal(rig_modify(wq->qp, OHCA_QPS_RTR, OHCA_QP_STATE | OHCA_QP_PORT),
			 OHCA_CMD_BAD_STATE);
	assert_int_equal(wq_to(wq, OHCA_QPS_RTR), 0);
	raw_send(&bed.from, raw_udp, RAW_UDP_LEN);
	raw_assert_got(wq, raw_udp, RAW_UDP_LEN);
	assert_int_equal(wq_to(wq, OHCA_QPS_RTR), 0);
	assert_int_equal(wq_to(wq, OHCA_QPS_RTS), OHCA_CMD_BAD_STATE);
	rig_close(bed.rig);
}

/*
 * A receive to memory that the queue may not write, and an invalid producer index, stop the queue;
 * the others go on.
 */
static void test_errors(void **state)
{
	struct ohca_sge sge = {.addr = htole64(0x1000), .length = htole32(2048), .lkey = 0};
	struct bed bed;
	struct raw *wq = &bed.wqs[0];

	(void)state;
	bed_open(&bed, 0);
	rig_post_recv(wq->qp, 1, &sge, 1);
	raw_post(wq);
	raw_send(&bed.from, raw_udp, RAW_UDP_LEN);
	assert_int_equal(rig_wait_recv(wq->qp).status, OHCA_WC_LOC_PROT_ERR);
	assert_flushed(wq);
	assert_int_equal(rig_query(wq->qp).state, OHCA_QPS_ERR);

	rig_to_reset(wq->qp);
	assert_int_equal(wq_to(wq, OHCA_QPS_RTR), 0);
	wq->qp->rq_rec->pi = htole32(0x10000);
	raw_send(&bed.from, raw_udp, RAW_UDP_LEN);
	rig_wait_event(wq->hca, OHCA_EVENT_QP_FATAL, wq->qp->qpn);
	assert_int_equal(rig_query(wq->qp).state, OHCA_QPS_ERR);
	assert_int_equal(rig_query(bed.wqs[1].qp).state, OHCA_QPS_RTR);
	rig_close(bed.rig);
}

/* Referenced objects can't be destroyed; unreferenced ones can, in any order. */
static void test_busy(void **state)
{
	struct drv *drv;
	struct bed bed;
	unsigned int i;

	(void)state;
	bed_open(&bed, 0);
	drv = bed.rig->hca[0].drv;
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_QP, bed.rss), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_FLOW, bed.flow), 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_IND_TBL, bed.tbl), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_QP, bed.rss), 0);
	for (i = 0; i < NUM_WQS; i++)
		assert_int_equal(rig_qp_destroy(bed.wqs[i].qp), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_IND_TBL, bed.tbl), 0);
	for (i = 0; i < NUM_WQS; i++)
		assert_int_equal(rig_qp_destroy(bed.wqs[i].qp), 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_IND_TBL, bed.tbl), OHCA_CMD_BAD_HANDLE);
	rig_close(bed.rig);
}

/* A reset destroys all of it. */
static void test_reset(void **state)
{
	struct bed bed;

	(void)state;
	bed_open(&bed, OHCA_RSS_FIELDS);
	drv_reset(bed.rig->hca[0].drv);
	raw_send(&bed.from, raw_udp, RAW_UDP_LEN);
	rig_close(bed.rig);
}

static void test_bad_tables(void **state)
{
	struct ohca_create_ind_tbl_in good;
	struct rig_hca *hca;
	struct raw other;
	struct bed bed;

	(void)state;
	bed_open(&bed, 0);
	hca = &bed.rig->hca[0];
	other = raw_new(hca, OHCA_QPT_ETH, 0);
	good = tbl_in(&bed, 2);
#define TBL(field, value, status, at)                                                            \
	REFUSE_AT(hca->drv, OHCA_CMD_CREATE_IND_TBL, struct ohca_create_ind_tbl_in, good, field, \
		  value, status, offsetof(struct ohca_create_ind_tbl_in, at))
	TBL(log_size, 8, OHCA_CMD_BAD_PARAM, log_size);
	TBL(log_size, 255, OHCA_CMD_BAD_PARAM, log_size);
	TBL(log_size, 1, OHCA_CMD_BAD_PARAM, wqn); /* entries beyond the last */
	TBL(log_size, 3, OHCA_CMD_BAD_HANDLE, wqn[4]); /* entries that are missing */
	TBL(rsvd[6], 1, OHCA_CMD_BAD_PARAM, rsvd);
	TBL(wqn[3], htole32(0xffffff), OHCA_CMD_BAD_HANDLE, wqn[3]);
	TBL(wqn[3], htole32(other.qp->qpn), OHCA_CMD_BAD_PARAM, wqn[3]);
	TBL(wqn[3], htole32(bed.rss), OHCA_CMD_BAD_PARAM, wqn[3]);

	/* No failed command holds a reference to a queue. */
	assert_int_equal(drv_destroy(hca->drv, OHCA_CMD_DESTROY_FLOW, bed.flow), 0);
	assert_int_equal(drv_destroy(hca->drv, OHCA_CMD_DESTROY_QP, bed.rss), 0);
	assert_int_equal(drv_destroy(hca->drv, OHCA_CMD_DESTROY_IND_TBL, bed.tbl), 0);
	assert_int_equal(rig_qp_destroy(bed.wqs[0].qp), 0);
	rig_close(bed.rig);
}

static void test_bad_hashes(void **state)
{
	struct ohca_modify_qp_in modify = {.attr_mask = htole32(OHCA_QP_STATE)};
	struct rig_qp_opts opts = {.type = OHCA_QPT_RSS};
	struct ohca_create_flow_in flow;
	struct ohca_create_qp_in qp_in;
	struct ohca_create_rss_in good;
	struct rig_qp qp;
	struct drv *drv;
	struct bed bed;

	(void)state;
	bed_open(&bed, 0);
	drv = bed.rig->hca[0].drv;
	good = rss_in(bed.tbl, OHCA_RSS_FIELDS);
#define RSS(field, value, status) \
	REFUSE(drv, OHCA_CMD_CREATE_RSS, struct ohca_create_rss_in, good, field, value, status)
	RSS(ind_tbl, htole32(0xffff), OHCA_CMD_BAD_HANDLE);
	RSS(ind_tbl, 0, OHCA_CMD_BAD_HANDLE);
	RSS(fields, htole16(0x100), OHCA_CMD_BAD_PARAM);
	RSS(function, 0, OHCA_CMD_BAD_PARAM);
	RSS(function, 2, OHCA_CMD_BAD_PARAM);
	RSS(port, 1, OHCA_CMD_BAD_PARAM);

	/*
	 * The RSS QP has no states and has a create command of its own; a receive work queue can't
	 * be the destination of a flow.
	 */
	modify.qpn = htole32(bed.rss);
	modify.attr.state = OHCA_QPS_RTR;
	refuse(drv, OHCA_CMD_MODIFY_QP, &modify, sizeof(modify), OHCA_CMD_BAD_STATE,
	       offsetof(struct ohca_modify_qp_in, attr_mask));
	qp_in = rig_qp_in(&bed.rig->hca[0], &opts, &qp);
	refuse(drv, OHCA_CMD_CREATE_QP, &qp_in, sizeof(qp_in), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_create_qp_in, type));
	flow = raw_flow_in(bed.wqs[0].qp->qpn);
	refuse(drv, OHCA_CMD_CREATE_FLOW, &flow, sizeof(flow), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_create_flow_in, qpn));
	rig_close(bed.rig);
}

static void test_bad_queues(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_RWQ};
	struct ohca_create_qp_in good;
	struct rig_qp qp;
	struct drv *drv;
	struct bed bed;

	(void)state;
	bed_open(&bed, 0);
	drv = bed.rig->hca[0].drv;
	good = rig_qp_in(&bed.rig->hca[0], &opts, &qp);
#define RWQ(field, value, status) \
	REFUSE(drv, OHCA_CMD_CREATE_QP, struct ohca_create_qp_in, good, field, value, status)
	RWQ(flags, OHCA_QP_F_PRIVILEGED, OHCA_CMD_BAD_PARAM);
	RWQ(flags, OHCA_QP_F_SRQ, OHCA_CMD_BAD_PARAM);
	RWQ(pdn, 0, OHCA_CMD_BAD_HANDLE);
	RWQ(recv_cqn, 0, OHCA_CMD_BAD_HANDLE);
	RWQ(send_cqn, good.recv_cqn, OHCA_CMD_BAD_PARAM);
	RWQ(uar, htole32(1), OHCA_CMD_BAD_PARAM);
	RWQ(slot, htole16(1), OHCA_CMD_BAD_PARAM);
	RWQ(max_send_sge, htole16(1), OHCA_CMD_BAD_PARAM);
	RWQ(sq_log_size, 1, OHCA_CMD_BAD_PARAM);
	RWQ(rq_log_size, 16, OHCA_CMD_BAD_PARAM);
	RWQ(rq_log_stride, 4, OHCA_CMD_BAD_PARAM);
	RWQ(max_recv_sge, htole16(33), OHCA_CMD_BAD_PARAM);
	REFUSE_AT(drv, OHCA_CMD_CREATE_QP, struct ohca_create_qp_in, good, buf.addr,
		  htole64(DRV_NOWHERE), OHCA_CMD_BAD_ADDR, 0);
	drv_create(drv, OHCA_CMD_CREATE_QP, &good, sizeof(good));
	rig_close(bed.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),	   cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),	   cmocka_unit_test(test_fields),
		cmocka_unit_test(test_spread),	   cmocka_unit_test(test_states),
		cmocka_unit_test(test_errors),	   cmocka_unit_test(test_busy),
		cmocka_unit_test(test_reset),	   cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_bad_hashes), cmocka_unit_test(test_bad_queues),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
