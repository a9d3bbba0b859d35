// SPDX-License-Identifier: GPL-2.0
/* Segmentation of TCP: the segments of large frames, and invalid work requests. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "rig_raw.h"
#include "rnd.h"
#include "tcp_packet.h"

#define IOVA 0x10000ULL
#define LEN (1ULL << 20)
#define RX (IOVA + LEN / 2) /* address of received segments */
#define RX_SLOT 9344
#define RX_SLOTS 56
#define HCAS 3
#define MAX_FRAME 9234

/**
 * struct bed - ports and their Ethernet QPs: the first one sends to the second one
 */
struct bed {
	struct rig *rig;
	struct rig_qp *qp[HCAS];
	struct rig_mr *mr[HCAS];
};

static void start_qp(struct rig_qp *qp)
{
	assert_int_equal(rig_modify(qp, OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT), 0);
	assert_int_equal(rig_modify(qp, OHCA_QPS_RTR, OHCA_QP_STATE), 0);
	assert_int_equal(rig_modify(qp, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
}

static struct bed bed_open(void)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_ETH,
				   .flags = OHCA_QP_F_PRIVILEGED,
				   .max_sge = 8,
				   .max_inline = 512};
	struct bed bed = {.rig = rig_open(server)};
	unsigned int i;

	for (i = 0; i < HCAS; i++) {
		bed.qp[i] = rig_qp_new(&bed.rig->hca[i], &opts);
		bed.mr[i] = rig_mr_new(&bed.rig->hca[i], IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
		start_qp(bed.qp[i]);
	}
	return bed;
}

static struct tcp_packet *make(const struct bed *bed, const struct tcp_shape *s)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x00, 0x05};
	static struct tcp_packet frame;
	uint8_t link[14 + 4 * 2], *at = link + 12;
	unsigned int i;

	memcpy(link, bed->rig->hca[1].mac, 6);
	memcpy(link + 6, bed->rig->hca[0].mac, 6);
	for (i = 0; i < s->tags; i++, at += sizeof(tag))
		memcpy(at, tag, sizeof(tag));
	at[0] = s->v6 ? 0x86 : 0x08;
	at[1] = s->v6 ? 0xdd : 0x00;
	tcp_packet_make(&frame, s, link, at + 2 - link);
	return &frame;
}

static struct ohca_sq_wqe tso_fields(const struct tcp_packet *f)
{
	return (struct ohca_sq_wqe){.eth = {.csum_start = htole16(f->tcp),
					    .csum_offset = htole16(16),
					    .ip_start = htole16(f->ip),
					    .hdr_len = htole16(f->hdr_len),
					    .mss = htole16(f->mss)}};
}

static void post_segments(struct bed *bed, unsigned int num)
{
	unsigned int i;

	assert_true(num <= RX_SLOTS);
	for (i = 0; i < num; i++) {
		struct ohca_sge sge = rig_sge(bed->mr[1], RX + i * RX_SLOT, MAX_FRAME);

		rig_post_recv(bed->qp[1], i, &sge, 1);
	}
}

static void assert_segments(struct bed *bed, const struct tcp_packet *f)
{
	static uint8_t want[TCP_MAX_LEN], got[TCP_MAX_LEN];
	struct ohca_cqe cqe;
	unsigned int i;
	uint32_t len;

	for (i = 0; i < tcp_packet_segments(f); i++) {
		cqe = rig_wait_recv(bed->qp[1]);
		len = tcp_packet_segment(f, i, want);
		assert_int_equal(cqe.status, 0);
		assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
		assert_int_equal(le32toh(cqe.byte_len), len);
		rig_mr_get(bed->mr[1], RX + i * RX_SLOT, got, len);
		assert_memory_equal(got, want, len);
	}
	/* A command is executed after the work that was posted before. */
	rig_query(bed->qp[1]);
	assert_false(drv_cq_poll(bed->qp[1]->rcq, &cqe));
}

/* Send it from pieces that end at odd places, @first bytes in the first one. */
static void send(struct bed *bed, const struct tcp_packet *f, uint32_t first)
{
	uint32_t second = (f->len - first) / 2 | 1, third;
	struct ohca_sq_wqe fields = tso_fields(f);
	struct ohca_sge sge[3];
	struct rig_wr wr = {.wr_id = 5,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED | OHCA_WQE_CSUM | OHCA_WQE_TSO,
			    .num_sge = 3,
			    .sge = sge,
			    .fields = &fields};
	struct ohca_cqe cqe;

	if (second > f->len - first)
		second = 0;
	third = f->len - first - second;
	sge[0] = rig_sge(bed->mr[0], IOVA, first);
	sge[1] = rig_sge(bed->mr[0], IOVA + first, second);
	sge[2] = rig_sge(bed->mr[0], IOVA + first + second, third);
	rig_mr_set(bed->mr[0], IOVA, f->bytes, f->len);
	rig_post_send(bed->qp[0], &wr);
	cqe = rig_wait_send(bed->qp[0]);
	assert_int_equal(cqe.status, 0);
	assert_int_equal(le64toh(cqe.wr_id), 5);
}

static void check_shape(struct bed *bed, const struct tcp_shape *s, uint32_t first)
{
	static uint8_t own[TCP_MAX_LEN];
	struct tcp_packet *f = make(bed, s);

	post_segments(bed, tcp_packet_segments(f));
	send(bed, f, first);
	assert_segments(bed, f);
	/* The sender's memory is unchanged. */
	rig_mr_get(bed->mr[0], IOVA, own, f->len);
	assert_memory_equal(own, f->bytes, f->len);
}

static void test_shapes(void **state)
{
	static const struct tcp_shape shapes[] = {
		{.data = 1, .mss = 1448},
		{.data = 1448, .mss = 1448, .options = 12},
		{.data = 1449, .mss = 1448, .options = 12},
		{.data = 65535 - 40, .mss = 1460},
		{.data = 65535 - 52, .mss = 4044, .options = 12},
		{.data = 65535 - 52, .mss = 8948, .options = 12},
		{.data = 65535 - 40, .mss = 9176, .tags = 1},
		{.data = 20001, .mss = 536, .tags = 2, .ip_more = 40, .options = 40},
		{.data = 3000, .mss = 64},
		{.v6 = true, .data = 1, .mss = 1440},
		{.v6 = true, .data = 30000, .mss = 1439, .tags = 1, .options = 12},
		{.v6 = true, .data = 40000, .mss = 4024, .tags = 1, .options = 12},
		{.v6 = true, .data = 65535 - 60, .mss = 9000},
		{.v6 = true, .data = 9999, .mss = 777, .ip_more = 24, .options = 20},
	};
	struct bed bed = bed_open();
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct tcp_shape s = shapes[i];

		check_shape(&bed, &s, 14);
		s.tcp_flags = 0xff;
		check_shape(&bed, &s, 33);
		s.tcp_flags = 0x10;
		check_shape(&bed, &s, 0);
	}
	rig_close(bed.rig);
}

static void test_inline(void **state)
{
	struct bed bed = bed_open();
	struct tcp_shape s = {.data = 400, .mss = 100, .tcp_flags = TCP_FIN | TCP_PSH | TCP_CWR};
	struct tcp_packet *f = make(&bed, &s);
	struct ohca_sq_wqe fields = tso_fields(f);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED | OHCA_WQE_CSUM | OHCA_WQE_TSO,
			    .inl = f->bytes,
			    .inl_len = f->len,
			    .fields = &fields};

	(void)state;
	post_segments(&bed, tcp_packet_segments(f));
	rig_post_send(bed.qp[0], &wr);
	assert_int_equal(rig_wait_send(bed.qp[0]).status, 0);
	assert_segments(&bed, f);
	rig_close(bed.rig);
}

/* The receiver has receives for some segments: those arrive, and the send completes. */
static void test_no_room(void **state)
{
	struct bed bed = bed_open();
	struct tcp_shape s = {.data = 10000, .mss = 1000};
	struct tcp_packet *f = make(&bed, &s);
	unsigned int i;

	(void)state;
	post_segments(&bed, 3);
	send(&bed, f, 14);
	for (i = 0; i < 3; i++)
		assert_int_equal(rig_wait_recv(bed.qp[1]).flags,
				 OHCA_CQE_F_RQ | OHCA_CQE_F_CSUM_OK);
	check_shape(&bed, &s, 14);
	rig_close(bed.rig);
}

/* Post a frame at IOVA with the given @fields; returns the status of its completion. */
static uint8_t try(struct bed *bed, const struct ohca_sq_wqe *fields, uint32_t len, uint8_t flags)
{
	struct ohca_sge sge = rig_sge(bed->mr[0], IOVA, len);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED | flags,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = fields};
	uint8_t status;

	rig_post_send(bed->qp[0], &wr);
	status = rig_wait_send(bed->qp[0]).status;
	if (status) {
		rig_to_reset(bed->qp[0]);
		start_qp(bed->qp[0]);
	}
	return status;
}

#define TSO (OHCA_WQE_CSUM | OHCA_WQE_TSO)

/* A frame that can't be segmented fails, and no part of it is sent. */
static void test_errors(void **state)
{
	static const struct {
		int ip, tcp, hdr_len, mss, offset, len; /* differences from the correct values */
		uint8_t flags, status;
	} cases[] = {
		{.flags = OHCA_WQE_TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.ip = -1, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.ip = 4, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.ip = 20, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.ip = 0xffff - 14, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.tcp = -4, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.tcp = 4, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.tcp = 20, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.tcp = 0xffff - 34, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = -1, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = 4, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = -54, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = 256, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = 0xffff - 54, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.mss = -1000, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.mss = 63 - 1000, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.mss = MAX_FRAME - 54 + 1 - 1000, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.mss = 0xffff - 1000, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.offset = -1, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.offset = 0xffff - 16, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.len = 54 - 5054, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.len = 20 - 5054, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.len = 13 - 5054, .flags = TSO, .status = OHCA_WC_LOC_LEN_ERR},
		{.len = 65536 + 14 - 5054, .flags = TSO, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.len = TCP_MAX_LEN + 1 - 5054, .flags = TSO, .status = OHCA_WC_LOC_LEN_ERR},
	};
	struct bed bed = bed_open();
	struct tcp_shape s = {.data = 5000, .mss = 1000};
	struct tcp_packet *f = make(&bed, &s);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	assert_int_equal(f->len, 5054);
	post_segments(&bed, 5);
	rig_mr_set(bed.mr[0], IOVA, f->bytes, f->len);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ohca_sq_wqe fields = {
			.eth = {.csum_start = htole16(f->tcp + cases[i].tcp),
				.csum_offset = htole16(16 + cases[i].offset),
				.ip_start = htole16(f->ip + cases[i].ip),
				.hdr_len = htole16(f->hdr_len + cases[i].hdr_len),
				.mss = htole16(f->mss + cases[i].mss)}};

		assert_int_equal(try(&bed, &fields, f->len + cases[i].len, cases[i].flags),
				 cases[i].status);
	}
	assert_false(drv_cq_poll(bed.qp[1]->rcq, &cqe));
	send(&bed, f, 14);
	assert_segments(&bed, f);
	rig_close(bed.rig);
}

/* Headers that contradict the work request */
static void test_bad_headers(void **state)
{
	static const struct {
		bool v6;
		uint16_t at;
		uint8_t value;
	} cases[] = {
		{false, 14, 0x44}, {false, 14, 0x46}, {false, 14, 0x55}, {false, 14, 0x60},
		{false, 46, 0x40}, {false, 46, 0x60}, {false, 46, 0xf0}, {true, 14, 0x45},
		{true, 14, 0x70},  {true, 66, 0x40},  {true, 66, 0x60},
	};
	struct bed bed = bed_open();
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tcp_shape s = {.v6 = cases[i].v6, .data = 5000, .mss = 1000};
		struct tcp_packet *f = make(&bed, &s);
		struct ohca_sq_wqe fields = tso_fields(f);

		f->bytes[cases[i].at] = cases[i].value;
		rig_mr_set(bed.mr[0], IOVA, f->bytes, f->len);
		assert_int_equal(try(&bed, &fields, f->len, TSO), OHCA_WC_LOC_QP_OP_ERR);
	}
	rig_close(bed.rig);
}

/* Random work requests and headers: only valid frames are sent. */
static void test_garbage(void **state)
{
	struct bed bed = bed_open();
	unsigned int i, done = 0, refused = 0;
	struct ohca_cqe cqe;

	(void)state;
	rnd_seed();
	for (i = 0; i < 3000; i++) {
		struct tcp_shape s = {
			.v6 = rnd(2), .data = 1 + rnd(5000), .mss = 64 + rnd(3000), .tags = rnd(3)};
		struct tcp_packet *f = make(&bed, &s);
		struct ohca_sq_wqe fields = tso_fields(f);
		__le16 *field[] = {&fields.eth.csum_start, &fields.eth.csum_offset,
				   &fields.eth.ip_start, &fields.eth.hdr_len, &fields.eth.mss};
		unsigned int n = rnd(2);

		while (n--)
			*field[rnd(ARRAY_SIZE(field))] = htole16(rnd(rnd(2) ? 300 : 65536));
		f->bytes[12 + rnd(60)] ^= rnd(2) << rnd(8);
		rig_mr_set(bed.mr[0], IOVA, f->bytes, f->len);
		rig_to_reset(bed.qp[1]);
		start_qp(bed.qp[1]);
		post_segments(&bed, RX_SLOTS);
		if (try(&bed, &fields, 1 + rnd(f->len), TSO))
			refused++;
		else
			done++;
		rig_query(bed.qp[1]);
		while (drv_cq_poll(bed.qp[1]->rcq, &cqe)) {
			assert_int_equal(cqe.status, 0);
			assert_in_range(le32toh(cqe.byte_len), 14, MAX_FRAME);
		}
	}
	assert_true(done > 300 && refused > 300);
	rig_close(bed.rig);
}

static void set_port(struct bed *bed, unsigned int hca, uint32_t attr, bool on)
{
	struct ohca_modify_port_in in = {.attr_mask = htole32(attr),
					 .port = 1,
					 .promisc = attr == OHCA_PORT_ATTR_PROMISC && on,
					 .large_rx = attr == OHCA_PORT_ATTR_LARGE_RX && on};

	assert_int_equal(
		drv_cmd(bed->rig->hca[hca].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
}

/* The frame is here as it was sent, in parts of MAX_FRAME bytes. */
static void assert_whole(struct bed *bed, const struct tcp_packet *f)
{
	static uint8_t got[TCP_MAX_LEN];
	uint32_t off, part, i = 0;
	struct ohca_cqe cqe;

	for (off = 0; off < f->len; off += part) {
		cqe = rig_wait_recv(bed->qp[1]);
		part = f->len - off < MAX_FRAME ? f->len - off : MAX_FRAME;
		assert_int_equal(cqe.status, 0);
		assert_int_equal(cqe.opcode,
				 off + part < f->len ? OHCA_CQE_RECV_PART : OHCA_CQE_RECV);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ);
		assert_int_equal(le32toh(cqe.byte_len), part);
		assert_int_equal(le16toh(cqe.eth.mss), f->mss);
		assert_int_equal(le16toh(cqe.eth.csum_start), f->tcp);
		assert_int_equal(cqe.eth.net_type, f->v6 ? OHCA_NET_IPV6 : OHCA_NET_IPV4);
		rig_mr_get(bed->mr[1], RX + i++ * RX_SLOT, got + off, part);
	}
	assert_memory_equal(got, f->bytes, f->len);
}

static void test_whole(void **state)
{
	static const struct tcp_shape shapes[] = {
		{.data = 1, .mss = 1448},
		{.data = MAX_FRAME - 54, .mss = 64},
		{.data = MAX_FRAME - 53, .mss = 1448},
		{.data = 65535 - 40, .mss = 1460, .tags = 2, .tcp_flags = 0xff},
		{.data = 65535 - 52, .mss = 4044, .options = 12},
		{.data = 65535 - 52, .mss = 8948, .options = 12},
		{.v6 = true, .data = 65535 - 72, .mss = 8928, .options = 12, .tcp_flags = TCP_FIN},
		{.v6 = true, .data = 20000, .mss = 1400, .tags = 1, .ip_more = 24},
	};
	struct bed bed = bed_open();
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	set_port(&bed, 1, OHCA_PORT_ATTR_LARGE_RX, true);
	set_port(&bed, 1, OHCA_PORT_ATTR_PROMISC, true); /* then there are two receivers */
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct tcp_packet *f = make(&bed, &shapes[i]);

		post_segments(&bed, (f->len + MAX_FRAME - 1) / MAX_FRAME);
		send(&bed, f, 14);
		assert_whole(&bed, f);
		rig_query(bed.qp[1]);
		assert_false(drv_cq_poll(bed.qp[1]->rcq, &cqe));
	}
	rig_close(bed.rig);
}

/* Another port would receive the frame too, or there is no room for it: it is segmented. */
static void test_not_whole(void **state)
{
	struct bed bed = bed_open();
	struct tcp_shape s = {.data = 15000, .mss = 1000};
	struct ohca_create_flow_in in;
	struct raw raw;
	uint32_t flow;

	(void)state;
	set_port(&bed, 2, OHCA_PORT_ATTR_LARGE_RX, true); /* the frame is not for this port */
	check_shape(&bed, &s, 14);
	set_port(&bed, 1, OHCA_PORT_ATTR_LARGE_RX, true);
	set_port(&bed, 2, OHCA_PORT_ATTR_PROMISC, true);
	check_shape(&bed, &s, 14);
	set_port(&bed, 2, OHCA_PORT_ATTR_PROMISC, false);

	raw = raw_new(&bed.rig->hca[1], OHCA_QPT_ETH, 0);
	in = raw_flow_in(raw.qp->qpn);
	in.mask.dmac[0] = 0xff;
	in.value.dmac[0] = 0x40; /* this flow does not match the frame */
	flow = raw_flow_new(&bed.rig->hca[1], &in);
	check_shape(&bed, &s, 14);
	assert_int_equal(drv_destroy(bed.rig->hca[1].drv, OHCA_CMD_DESTROY_FLOW, flow), 0);

	set_port(&bed, 1, OHCA_PORT_ATTR_LARGE_RX, false);
	check_shape(&bed, &s, 14);
	rig_close(bed.rig);
}

/* Two receives have no room for the whole frame, but for a segment each. */
static void test_no_room_whole(void **state)
{
	struct bed bed = bed_open();
	struct tcp_shape s = {.data = 20000, .mss = 1000};
	struct tcp_packet *f = make(&bed, &s);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	set_port(&bed, 1, OHCA_PORT_ATTR_LARGE_RX, true);
	post_segments(&bed, 2);
	send(&bed, f, 14);
	for (i = 0; i < 2; i++) {
		cqe = rig_wait_recv(bed.qp[1]);
		assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_CSUM_OK);
		assert_int_equal(le32toh(cqe.byte_len), 1054);
		assert_int_equal(cqe.eth.mss, 0);
	}
	post_segments(&bed, 3);
	send(&bed, f, 14);
	assert_whole(&bed, f);
	rig_close(bed.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),	      cmocka_unit_test(test_inline),
		cmocka_unit_test(test_no_room),	      cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bad_headers),   cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_whole),	      cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_no_room_whole),
	};

	/* In promiscuous mode, a port sees what is for others. */
	setenv("OHCAD_HCA", ",mirror=on", 1);
	return RUN_TESTS(tests, start_three_hcas, stop_hcas);
}
