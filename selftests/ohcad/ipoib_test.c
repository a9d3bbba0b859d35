// SPDX-License-Identifier: GPL-2.0
/* IP over InfiniBand on datagrams: segmentation of TCP, and checksums that the device makes and checks. */

#include <endian.h>

#include "harness.h"
#include "ib_rig.h"
#include "inet_sum.h"
#include "inproc_assert.h"
#include "pcapng_file.h"
#include "rig_assert.h"
#include "rnd.h"
#include "tcp_packet.h"

#define IOVA 0x10000ULL
#define LEN (1ULL << 20)
#define RX (IOVA + LEN / 2) /* where datagrams arrive */
#define RX_SLOT 4352
#define RX_SLOTS 60
#define GRH OHCA_GRH_LEN
#define MTU 4096
#define LINK OHCA_IPOIB_HDR_LEN
#define UDP 17
#define ICMP 1

static struct rig_qp *a, *b;
static struct rig_mr *ma, *mb;
static struct ohca_av av;

static struct rig_qp *new_qp(unsigned int i, uint8_t type)
{
	struct rig_qp_opts opts = {.type = type,
				   .flags = type == OHCA_QPT_GSI ? OHCA_QP_F_PRIVILEGED : 0,
				   .max_inline = 256};
	struct rig_qp *qp = rig_qp_new(&hca[i], &opts);

	assert_to_rts(qp);
	return qp;
}

static int open_subnet(void **state)
{
	ib_rig_open(state);
	ma = rig_mr_new(&hca[0], IOVA, LEN, RIG_ALL_ACCESS, 0);
	mb = rig_mr_new(&hca[1], IOVA, LEN, RIG_ALL_ACCESS, 0);
	ib_bed_up();
	a = new_qp(0, OHCA_QPT_UD);
	b = new_qp(1, OHCA_QPT_UD);
	av = ib_av_to(1);
	return 0;
}

static void post_recvs(unsigned int num)
{
	unsigned int i;

	assert_true(num <= RX_SLOTS);
	for (i = 0; i < num; i++) {
		struct ohca_sge sge = rig_sge(mb, RX + i * RX_SLOT, GRH + MTU);

		rig_post_recv(b, i, &sge, 1);
	}
}

/* The next datagram has come to receive @i, with these bytes; returns its completion. */
static struct ohca_cqe expect(unsigned int i, const uint8_t *want, uint32_t len)
{
	static uint8_t got[MTU];
	struct ohca_cqe cqe = rig_wait_recv(b);

	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, i);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(cqe.net_type, OHCA_NET_IB);
	assert_int_equal(le32toh(cqe.byte_len), GRH + len);
	rig_mr_get(mb, RX + i * RX_SLOT + GRH, got, len);
	assert_memory_equal(got, want, len);
	return cqe;
}

/* Segmentation */

static struct tcp_packet *make(const struct tcp_shape *s)
{
	static struct tcp_packet packet;
	const uint8_t link[LINK] = {s->v6 ? 0x86 : 0x08, s->v6 ? 0xdd : 0x00};

	tcp_packet_make(&packet, s, link, sizeof(link));
	return &packet;
}

/**
 * struct lso - a work request of OHCA_OP_LSO
 * @hdr: header
 * @flags: besides OHCA_WQE_SIGNALED and OHCA_WQE_EXT
 */
struct lso {
	const uint8_t *hdr;
	uint16_t hdr_len, mss;
	const struct ohca_sge *sge;
	uint16_t num_sge;
	uint8_t flags;
};

static void post_lso(struct rig_qp *qp, const struct lso *lso)
{
	const struct ohca_sq_wqe fields = {.ud = {.dest_qpn = htole32(b->qpn),
						  .qkey = htole32(RIG_QKEY),
						  .mss = htole16(lso->mss),
						  .hdr_len = htole16(lso->hdr_len)}};
	const struct rig_wr wr = {.wr_id = 77,
				  .opcode = OHCA_OP_LSO,
				  .flags = OHCA_WQE_SIGNALED | lso->flags,
				  .av = &av,
				  .fields = &fields};
	struct ohca_sq_wqe *wqe = rig_sq_entry(qp, qp->sq_pi);
	uint8_t *hdr = (uint8_t *)wqe + OHCA_SQ_WQE_HDR + OHCA_SQ_WQE_EXT;
	uint32_t room = (lso->hdr_len + OHCA_LSO_ALIGN - 1) & ~(OHCA_LSO_ALIGN - 1U);

	rig_put_send(qp, &wr);
	wqe->num_sge = htole16(lso->num_sge);
	if (room <= OHCA_LSO_MAX_HDR) {
		memset(hdr, 0xee, room);
		memcpy(hdr, lso->hdr, lso->hdr_len);
		memcpy(hdr + room, lso->sge, lso->num_sge * sizeof(*lso->sge));
	}
	rig_ring(qp);
}

/* Send it with data from pieces that end at odd places. */
static void send_lso(const struct tcp_packet *f, uint8_t flags)
{
	uint32_t data = f->len - f->hdr_len, first = data / 3 | 1, second = (data - first) / 2;
	const struct ohca_sge sge[] = {
		rig_sge(ma, IOVA + 1, first), rig_sge(ma, IOVA + 1 + first, second),
		rig_sge(ma, IOVA + 1 + first + second, data - first - second)};
	const struct lso lso = {.hdr = f->bytes,
				.hdr_len = f->hdr_len,
				.mss = f->mss,
				.sge = sge,
				.num_sge = ARRAY_SIZE(sge),
				.flags = flags};
	struct ohca_cqe cqe;

	rig_mr_set(ma, IOVA + 1, f->bytes + f->hdr_len, data);
	post_lso(a, &lso);
	cqe = rig_wait_send(a);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 77);
	assert_int_equal(cqe.opcode, OHCA_OP_LSO);
	inproc_settle();
}

static void assert_segments(const struct tcp_packet *f)
{
	static uint8_t want[MTU];
	struct ohca_cqe cqe;
	unsigned int i;
	uint32_t len;

	for (i = 0; i < tcp_packet_segments(f); i++) {
		len = tcp_packet_segment(f, i, want);
		cqe = expect(i, want, len);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_CSUM_OK);
	}
	inproc_assert_no_cqe(b->rcq);
}

static void check_shape(const struct tcp_shape *s)
{
	static uint8_t own[TCP_MAX_LEN];
	struct tcp_packet *f = make(s);
	uint32_t data = f->len - f->hdr_len;
	uint64_t pkts = rig_counter(&hca[0], OHCA_CNT_TX_PKTS);

	post_recvs(tcp_packet_segments(f));
	send_lso(f, 0);
	assert_segments(f);
	assert_int_equal(rig_counter(&hca[0], OHCA_CNT_TX_PKTS) - pkts, tcp_packet_segments(f));
	/* The sender's own memory is as it was. */
	rig_mr_get(ma, IOVA + 1, own, data);
	assert_memory_equal(own, f->bytes + f->hdr_len, data);
	/* What is in the place of lengths and checksums does not matter. */
	post_recvs(tcp_packet_segments(f));
	memset(f->bytes + f->tcp + 16, 0xa5, 2);
	if (f->v6)
		memset(f->bytes + f->ip + 4, 0xa5, 2);
	else
		memset(f->bytes + f->ip + 2, 0xa5, 2), memset(f->bytes + f->ip + 10, 0xa5, 2);
	send_lso(f, OHCA_WQE_CSUM | OHCA_WQE_SOLICITED);
	f = make(s);
	inproc_settle();
	for (pkts = 0; pkts < tcp_packet_segments(f); pkts++) {
		static uint8_t want[MTU];
		uint32_t len = tcp_packet_segment(f, pkts, want);

		assert_int_equal(expect(pkts, want, len).flags,
				 OHCA_CQE_F_RQ | OHCA_CQE_F_CSUM_OK | OHCA_CQE_F_SOLICITED);
	}
}

static void test_segments(void **state)
{
	static const struct tcp_shape shapes[] = {
		{.data = 1, .mss = 1448},
		{.data = 1992, .mss = 1992, .options = 12},
		{.data = 1993, .mss = 1992, .options = 12},
		{.data = 65535 - 52, .mss = 1992, .options = 12},
		{.data = 65535 - 40, .mss = MTU - LINK - 40},
		{.data = 20001, .mss = 536, .ip_more = 40, .options = 40},
		{.data = 100, .mss = OHCA_LSO_MIN_MSS, .options = 40},
		{.v6 = true, .data = 1, .mss = 1440},
		{.v6 = true, .data = 30000, .mss = 1439, .options = 12},
		{.v6 = true, .data = 65535 - 60, .mss = MTU - LINK - 60},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct tcp_shape s = shapes[i];

		check_shape(&s);
		s.tcp_flags = 0xff;
		check_shape(&s);
	}
}

/* With a GRH, whose payload length is that of each segment */
static void test_grh(void **state)
{
	struct tcp_shape s = {.data = 2500, .mss = 1000, .options = 12};
	struct tcp_packet *f = make(&s);
	static uint8_t want[MTU], grh[GRH];
	unsigned int i;

	(void)state;
	memcpy(av.dgid, ib_port_of(1)->gids[0], 16);
	av.ib.flags = OHCA_AV_GRH;
	post_recvs(3);
	send_lso(f, 0);
	for (i = 0; i < 3; i++) {
		uint32_t len = tcp_packet_segment(f, i, want);

		assert_int_equal(expect(i, want, len).flags,
				 OHCA_CQE_F_RQ | OHCA_CQE_F_CSUM_OK | OHCA_CQE_F_GRH);
		rig_mr_get(mb, RX + i * RX_SLOT, grh, GRH);
		/* BTH, DETH, payload with padding, ICRC */
		assert_int_equal(grh[4] << 8 | grh[5], 12 + 8 + ((len + 3) & ~3U) + 4);
	}
}

/* The receiver has room for some: those arrive, and the send completes. */
static void test_no_room(void **state)
{
	struct tcp_shape s = {.data = 10000, .mss = 1000};
	static uint8_t want[MTU];
	struct tcp_packet *f = make(&s);
	unsigned int i;

	(void)state;
	post_recvs(3);
	send_lso(f, 0);
	for (i = 0; i < 3; i++)
		expect(i, want, tcp_packet_segment(f, i, want));
	inproc_assert_no_cqe(b->rcq);
	assert_int_equal(rig_counter(&hca[1], OHCA_CNT_OUT_OF_BUFFER), 7);
	check_shape(&s);
}

/* Post it; what it completes with.  The QP is in RTS again after an error. */
static struct ohca_cqe try(struct rig_qp *qp, const struct lso *lso)
{
	struct ohca_cqe cqe;

	post_lso(qp, lso);
	cqe = rig_wait_send(qp);
	if (cqe.status) {
		rig_to_reset(qp);
		assert_to_rts(qp);
	}
	return cqe;
}

/* What can't be cut fails, and nothing of it is sent. */
static void test_errors(void **state)
{
	static const struct {
		int hdr_len, mss, len; /* differences to what is right */
		uint8_t flags, status, vendor_err;
	} cases[] = {
		{.mss = -1000, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.mss = OHCA_LSO_MIN_MSS - 1 - 1000, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.mss = MTU - 44 + 1 - 1000, .status = OHCA_WC_LOC_LEN_ERR},
		{.mss = 0xffff - 1000, .status = OHCA_WC_LOC_LEN_ERR},
		{.hdr_len = -44, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = -40, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = -20, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = -1, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = 1, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = 4, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = OHCA_LSO_MAX_HDR - 44, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = OHCA_LSO_MAX_HDR + 1 - 44, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.hdr_len = 0xffff - 44, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.len = -5000, .status = OHCA_WC_LOC_QP_OP_ERR},
		{.len = 65535 - 40 + 1 - 5000, .status = OHCA_WC_LOC_LEN_ERR},
		{.len = (1 << 18) - 5000, .status = OHCA_WC_LOC_LEN_ERR},
		{.flags = OHCA_WQE_INLINE,
		 .status = OHCA_WC_LOC_QP_OP_ERR,
		 .vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE},
		{.flags = OHCA_WQE_TSO,
		 .status = OHCA_WC_LOC_QP_OP_ERR,
		 .vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE},
	};
	struct tcp_shape s = {.data = 5000, .mss = 1000};
	struct tcp_packet *f = make(&s);
	static uint8_t hdr[TCP_MAX_LEN];
	unsigned int i;

	(void)state;
	memcpy(hdr, f->bytes, f->len);
	post_recvs(5);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct ohca_sge sge = rig_sge(ma, IOVA, 5000 + cases[i].len);
		const struct lso lso = {.hdr = hdr,
					.hdr_len = f->hdr_len + cases[i].hdr_len,
					.mss = f->mss + cases[i].mss,
					.sge = &sge,
					.num_sge = 1,
					.flags = cases[i].flags};
		uint8_t vendor_err = cases[i].vendor_err ?: OHCA_VENDOR_ERR_LENGTH;

		assert_cqe(try(a, &lso), cases[i].status, vendor_err, 77);
	}
	inproc_assert_no_cqe(b->rcq);
	send_lso(f, 0);
	assert_segments(f);
}

/* Headers that are not those of TCP, or contradict their length */
static void test_bad_headers(void **state)
{
	static const struct {
		bool v6;
		uint16_t at;
		uint8_t value;
	} cases[] = {
		{false, 0, 0x86},  {false, 1, 0x06},  {false, 4, 0x44},	 {false, 4, 0x46},
		{false, 4, 0x55},  {false, 4, 0x65},  {false, 4, 0x4f},	 {false, 13, UDP},
		{false, 36, 0x40}, {false, 36, 0x60}, {false, 36, 0xf0}, {true, 0, 0x08},
		{true, 4, 0x45},   {true, 4, 0x70},   {true, 10, UDP},	 {true, 56, 0x40},
		{true, 56, 0x60},
	};
	const struct ohca_sge sge = rig_sge(ma, IOVA, 5000);
	unsigned int i;

	(void)state;
	post_recvs(5);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tcp_shape s = {.v6 = cases[i].v6, .data = 5000, .mss = 1000};
		struct tcp_packet *f = make(&s);
		const struct lso lso = {.hdr = f->bytes,
					.hdr_len = f->hdr_len,
					.mss = f->mss,
					.sge = &sge,
					.num_sge = 1};

		f->bytes[cases[i].at] = cases[i].value;
		assert_cqe(try(a, &lso), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_LENGTH, 77);
	}
	inproc_assert_no_cqe(b->rcq);
}

/* The rest of a work request is checked as of any datagram. */
static void test_bad_rest(void **state)
{
	struct tcp_shape s = {.data = 5000, .mss = 1000};
	struct tcp_packet *f = make(&s);
	struct ohca_sge sge[5] = {rig_sge(ma, IOVA, 5000)};
	struct lso lso = {
		.hdr = f->bytes, .hdr_len = f->hdr_len, .mss = f->mss, .sge = sge, .num_sge = 1};

	(void)state;
	av.sl = 16;
	assert_cqe(try(a, &lso), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_AV, 77);
	av.sl = 0;
	sge[0].lkey = htole32(1);
	assert_cqe(try(a, &lso), OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY, 77);
	sge[0] = rig_sge(ma, IOVA + LEN - 4999, 5000);
	assert_cqe(try(a, &lso), OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_BOUNDS, 77);
	lso.num_sge = 5;
	assert_cqe(try(a, &lso), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE, 77);
	inproc_assert_no_cqe(b->rcq);
}

/* Other QPs know neither the operation nor the flag. */
static void test_other_types(void **state)
{
	struct rig_qp *gsi = new_qp(0, OHCA_QPT_GSI);
	struct tcp_shape s = {.data = 500, .mss = 100};
	struct tcp_packet *f = make(&s);
	const struct ohca_sge sge = rig_sge(ma, IOVA, 500);
	const struct lso lso = {
		.hdr = f->bytes, .hdr_len = f->hdr_len, .mss = f->mss, .sge = &sge, .num_sge = 1};
	struct rig_wr wr = rig_datagram(b, &av, &sge);

	(void)state;
	assert_cqe(try(gsi, &lso), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE, 77);
	wr.flags |= OHCA_WQE_CSUM;
	rig_post_send(gsi, &wr);
	assert_cqe(rig_wait_send(gsi), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE, 77);
}

/* Anything at all in the work request and in the header: what comes out of it are datagrams. */
static void test_garbage(void **state)
{
	unsigned int i, done = 0, refused = 0;
	struct ohca_cqe cqe;

	(void)state;
	rnd_seed();
	for (i = 0; i < 3000; i++) {
		struct tcp_shape s = {.v6 = rnd(2), .data = 1 + rnd(5000), .mss = 64 + rnd(3000)};
		struct tcp_packet *f = make(&s);
		const struct ohca_sge sge = rig_sge(ma, IOVA, rnd(rnd(8) ? s.data + 1 : 70000));
		struct lso lso = {.hdr = f->bytes,
				  .hdr_len = f->hdr_len,
				  .mss = f->mss,
				  .sge = &sge,
				  .num_sge = 1};

		if (!rnd(3))
			lso.hdr_len = rnd(rnd(2) ? 150 : 65536);
		if (!rnd(3))
			lso.mss = rnd(rnd(2) ? 5000 : 65536);
		f->bytes[rnd(60)] ^= rnd(2) << rnd(8);
		rig_to_reset(b);
		assert_to_rts(b);
		post_recvs(RX_SLOTS);
		if (try(a, &lso).status)
			refused++;
		else
			done++;
		inproc_settle();
		while (drv_cq_poll(b->rcq, &cqe)) {
			assert_int_equal(cqe.status, 0);
			assert_in_range(le32toh(cqe.byte_len), GRH + 1, GRH + MTU);
		}
	}
	assert_true(done > 300 && refused > 300);
}

/* Checksums */

/**
 * struct packet - a packet of IP in a datagram, and where its parts are
 * @csum: of its checksum
 */
struct packet {
	uint8_t bytes[MTU];
	uint32_t len, ip, l4, csum;
	bool v6;
};

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

/* With checksums that are right; @more: bytes of IPv4 options */
static struct packet make_packet(bool v6, uint8_t proto, unsigned int more, uint32_t data)
{
	struct packet p = {.v6 = v6, .ip = LINK, .l4 = LINK + (v6 ? 40 : 20) + more};
	uint32_t hdr = proto == UDP ? 8 : 20, l4_len = hdr + data, i;
	uint8_t *ip = p.bytes + p.ip, *l4 = p.bytes + p.l4;

	p.len = p.l4 + l4_len;
	for (i = p.ip; i < p.len; i++)
		p.bytes[i] = i * 13 + data;
	put16(p.bytes, v6 ? 0x86dd : 0x0800);
	if (v6) {
		ip[0] = 0x60;
		ip[6] = proto;
		put16(ip + 4, l4_len);
	} else {
		ip[0] = 0x40 | (20 + more) / 4;
		ip[9] = proto;
		put16(ip + 2, p.len - p.ip);
		put16(ip + 6, 0x4000);
		put16(ip + 10, 0);
		put16(ip + 10, ~fold(sum16(ip, p.l4 - p.ip)));
	}
	if (proto == UDP)
		put16(l4 + 4, l4_len);
	else
		l4[12] = 0x50;
	p.csum = p.l4 + (proto == UDP ? 6 : 16);
	put16(p.bytes + p.csum, 0);
	i = sum16(ip + (v6 ? 8 : 12), v6 ? 32 : 8) + proto + l4_len;
	put16(p.bytes + p.csum, ~fold(i + sum16(l4, l4_len)));
	return p;
}

/* Send bytes, in two pieces of which the first one has @first of them, and take the datagram: it is @want. */
static uint8_t send_packet(const struct packet *p, const struct packet *want, uint32_t first,
			   uint8_t flags)
{
	const struct ohca_sge sge[] = {rig_sge(ma, IOVA, first),
				       rig_sge(ma, IOVA + first, p->len - first)};
	struct rig_wr wr = rig_datagram(b, &av, sge);

	rig_mr_set(ma, IOVA, p->bytes, p->len);
	wr.num_sge = 2;
	wr.flags |= flags;
	post_recvs(1);
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, 77);
	return expect(0, want->bytes, want->len).flags & ~OHCA_CQE_F_RQ;
}

/* The device completes the checksums, whatever was in their place. */
static void test_csum(void **state)
{
	static const struct {
		bool v6;
		uint8_t proto;
		unsigned int more;
		uint32_t data;
	} cases[] = {
		{false, 6, 0, 0},   {false, 6, 0, 1},	{false, 6, 40, 2003},	{false, 6, 12, 100},
		{false, UDP, 0, 0}, {false, UDP, 0, 1}, {false, UDP, 40, 1999}, {true, 6, 0, 0},
		{true, 6, 0, 2001}, {true, UDP, 0, 3},	{true, UDP, 0, 4000},
	};
	unsigned int i;
	uint32_t first;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct packet want =
			make_packet(cases[i].v6, cases[i].proto, cases[i].more, cases[i].data);
		struct packet p = want;

		put16(p.bytes + p.csum, 0x1234);
		if (!p.v6)
			put16(p.bytes + p.ip + 10, 0x5678);
		for (first = 0; first <= p.len; first += 1 + p.len / 7)
			assert_int_equal(send_packet(&p, &want, first, OHCA_WQE_CSUM),
					 OHCA_CQE_F_CSUM_OK);
		/* The sender's memory is as it was. */
		rig_mr_get(ma, IOVA, want.bytes, p.len);
		assert_memory_equal(want.bytes, p.bytes, p.len);
	}
}

/* A sum of 0 is sent as 0xffff: UDP takes 0 for none. */
static void test_csum_zero(void **state)
{
	struct packet want = make_packet(false, UDP, 0, 2), p;
	uint16_t left = want.bytes[want.csum] << 8 | want.bytes[want.csum + 1];

	(void)state;
	/* The data make up for what is left. */
	left += want.bytes[want.l4 + 8] << 8 | want.bytes[want.l4 + 9];
	if (left < (want.bytes[want.csum] << 8 | want.bytes[want.csum + 1]))
		left++;
	put16(want.bytes + want.l4 + 8, left);
	put16(want.bytes + want.csum, 0xffff);
	p = want;
	put16(p.bytes + p.csum, 0);
	assert_int_equal(send_packet(&p, &want, 10, OHCA_WQE_CSUM), OHCA_CQE_F_CSUM_OK);
}

/* What has no checksum to complete is sent as it is, but for the header of IPv4. */
static void test_csum_others(void **state)
{
	struct packet want = make_packet(false, ICMP, 0, 100), p = want;

	(void)state;
	put16(p.bytes + p.ip + 10, 0x5678);
	assert_int_equal(send_packet(&p, &want, 50, OHCA_WQE_CSUM), 0);
	/* A fragment */
	want = make_packet(false, 6, 0, 100);
	put16(want.bytes + want.ip + 6, 0x2000);
	put16(want.bytes + want.ip + 10, 0);
	put16(want.bytes + want.ip + 10, ~fold(sum16(want.bytes + want.ip, 20)));
	p = want;
	put16(p.bytes + p.ip + 10, 0x5678);
	assert_int_equal(send_packet(&p, &want, 50, OHCA_WQE_CSUM), 0);
	/* It ends before IP says. */
	want = make_packet(false, 6, 0, 100);
	want.len--;
	assert_int_equal(send_packet(&want, &want, 50, OHCA_WQE_CSUM), 0);
	/* No IP, options that are not there, nothing at all */
	want = make_packet(false, 6, 0, 100);
	put16(want.bytes, 0x0806);
	assert_int_equal(send_packet(&want, &want, 50, OHCA_WQE_CSUM), 0);
	want = make_packet(false, 6, 0, 100);
	want.bytes[want.ip] = 0x4f;
	want.len = 40;
	assert_int_equal(send_packet(&want, &want, 5, OHCA_WQE_CSUM), 0);
	for (want.len = 0; want.len < 24; want.len++)
		assert_int_equal(send_packet(&want, &want, want.len / 2, OHCA_WQE_CSUM), 0);
}

/* Checksums that software made are looked at where the datagram arrives. */
static void test_csum_checked(void **state)
{
	static const struct {
		bool v6;
		uint8_t proto;
		uint8_t good;
	} cases[] = {
		{false, 6, OHCA_CQE_F_CSUM_OK},
		{false, UDP, OHCA_CQE_F_CSUM_OK},
		{true, 6, OHCA_CQE_F_CSUM_OK},
		{true, UDP, OHCA_CQE_F_CSUM_OK},
		{false, ICMP, 0},
	};
	unsigned int i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct packet p = make_packet(cases[i].v6, cases[i].proto, 0, 1001);
		const uint32_t at[] = {p.csum, p.len - 1, p.ip + (p.v6 ? 20 : 16)};

		assert_int_equal(send_packet(&p, &p, 50, 0), cases[i].good);
		for (k = 0; k < ARRAY_SIZE(at); k++) {
			p.bytes[at[k]] ^= 0x10;
			assert_int_equal(send_packet(&p, &p, 50, 0), 0);
			p.bytes[at[k]] ^= 0x10;
		}
		/* No IP over InfiniBand */
		put16(p.bytes, 0x0806);
		assert_int_equal(send_packet(&p, &p, 50, 0), 0);
		if (!p.v6) {
			put16(p.bytes, 0x0800);
			p.bytes[p.ip + 11] ^= 1;
			assert_int_equal(send_packet(&p, &p, 50, 0), 0);
		}
	}
}

static void test_udp_without(void **state)
{
	struct packet p = make_packet(false, UDP, 0, 100);

	(void)state;
	put16(p.bytes + p.csum, 0);
	assert_int_equal(send_packet(&p, &p, 50, 0), 0);
}

/* What goes over the link.  With CAPTURE_FILE in the environment: in that file, for others to judge. */
static void test_captured(void **state)
{
	const struct tcp_shape v4 = {.data = 20000, .mss = 1992, .options = 12};
	const struct tcp_shape v6 = {.v6 = true, .data = 10000, .mss = 1439};
	struct captures *captures = &inproc_fabric(0)->captures;
	const char *keep = getenv("CAPTURE_FILE");
	char path[] = "/tmp/ohcad-ipoib.XXXXXX";
	struct capture_options opts = {.path = (char *)(keep ? keep : path)};
	struct packet tcp = make_packet(true, 6, 0, 100), udp = make_packet(false, UDP, 0, 101), p;
	int fd = mkstemp(path);
	struct pf *pf;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	post_recvs(11);
	send_lso(make(&v4), 0);
	assert_segments(make(&v4));
	post_recvs(7);
	send_lso(make(&v6), 0);
	assert_segments(make(&v6));
	p = tcp;
	put16(p.bytes + p.csum, 0);
	send_packet(&p, &tcp, 30, OHCA_WQE_CSUM);
	p = udp;
	put16(p.bytes + p.csum, 0);
	send_packet(&p, &udp, 30, OHCA_WQE_CSUM);
	assert_int_equal(capture_stop(captures), 0);
	/* Each is sent, and arrives. */
	pf = pf_read(opts.path);
	assert_int_equal(pf->num, 2 * (11 + 7 + 2));
	pf_free(pf);
	captures_fini(captures);
	unlink(path);
}

/* They are the InfiniBand ports'. */
static void test_caps(void **state)
{
	struct ohca_query_device_out out;

	(void)state;
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	assert_true(le64toh(out.caps) & OHCA_CAP_UD_CSUM);
	assert_true(le64toh(out.caps) & OHCA_CAP_UD_LSO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_subnet, ib_bed_close)

static const struct CMUnitTest tests[] = {
	TEST(test_segments),	TEST(test_grh),		TEST(test_no_room),
	TEST(test_errors),	TEST(test_bad_headers), TEST(test_bad_rest),
	TEST(test_other_types), TEST(test_garbage),	TEST(test_csum),
	TEST(test_csum_zero),	TEST(test_csum_others), TEST(test_csum_checked),
	TEST(test_udp_without), TEST(test_captured),	TEST(test_caps),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
