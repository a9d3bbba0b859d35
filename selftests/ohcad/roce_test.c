// SPDX-License-Identifier: GPL-2.0
/* RoCEv2 packets: encoding and decoding of every opcode, the CRC, and invalid packets. */

#include <endian.h>

#include "harness.h"
#include "icrc.h"
#include "packet/roce.h"

#define ETH_LEN 14

static struct gid_entry from4 = {
	.gid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 1},
	.mac = {2, 0, 0, 0, 0, 1},
	.vlan = OHCA_VLAN_NONE,
	.type = OHCA_GID_ROCE_V2,
};

static struct gid_entry from6 = {
	.gid = {0xfe, 0x80, [15] = 1},
	.mac = {2, 0, 0, 0, 0, 1},
	.vlan = 100,
	.type = OHCA_GID_ROCE_V2,
};

static struct ohca_av av4 = {
	.dgid = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 2},
	.dmac = {2, 0, 0, 0, 0, 2},
	.hop_limit = 64,
	.tclass = 0x6a,
	.port = 1,
};

static struct ohca_av av6 = {
	.dgid = {0xfe, 0x80, [15] = 2},
	.dmac = {2, 0, 0, 0, 0, 2},
	.hop_limit = 3,
	.tclass = 0x6a,
	.sl = 5,
	.port = 1,
};

static uint8_t data[4096];

/* Every operation that has an opcode, with the contents of its headers */
static struct pkt packet(uint8_t service, uint8_t opcode, const struct bth_op *op,
			 struct pkt_atomic *atomic)
{
	struct pkt pkt = {
		.op = op->op,
		.flags = op->flags | (opcode & 1 ? PKT_SOLICITED : 0) | PKT_ACK_REQ,
		.psn = 0xfffff0 + opcode,
		.npsn = 1,
	};
	uint16_t headers = bth_headers(service, op);

	*atomic = (struct pkt_atomic){
		.compare_add = 0x1122334455667788,
		.swap = op->op == PKT_CMP_SWAP ? 0x99aabbccddeeff00 : 0,
		.mask = op->op == PKT_CMP_SWAP ? ~0ULL : 0,
		.swap_mask = ~0ULL,
	};
	if (headers & HDR_AETH) {
		pkt.syndrome = 0x61;
		pkt.msn = 0xabcdef;
	}
	if (headers & (HDR_RETH | HDR_ATOMICETH)) {
		pkt.va = 0x0123456789abcdef;
		pkt.rkey = 0xdeadbeef;
	}
	if (headers & HDR_RETH)
		pkt.dma_len = 0x80000001;
	if (headers & HDR_ATOMICETH)
		pkt.atomic = atomic;
	if (headers & HDR_FETH)
		pkt.flush = 0x13;
	if (headers & HDR_XRCETH)
		pkt.srqn = 0x654321;
	if (headers & HDR_IMMDT)
		pkt.imm = htobe32(0xcafe0001);
	if (headers & HDR_IETH)
		pkt.inv_key = 0x13579bdf;
	return pkt;
}

static uint32_t make(uint8_t *frame, uint8_t service, uint8_t opcode, uint32_t len, bool ipv6)
{
	const struct roce_path path = {
		.av = ipv6 ? &av6 : &av4,
		.from = ipv6 ? &from6 : &from4,
		.sport = 0xc123,
		.bth = {.service = service,
			.pkey = 0xffff,
			.dest_qpn = service == BTH_UD ? 0xffffff : 0x123456,
			.qkey = 0x80010000,
			.src_qpn = 0x777777},
	};
	struct iovec iov[2] = {{data, len / 3}, {data + len / 3, sizeof(data) - len / 3}};
	struct iov_pos pos = {.iov = iov};
	struct pkt_atomic atomic;
	struct pkt pkt = packet(service, opcode, bth_op(service, opcode), &atomic);

	pkt.len = len;
	return roce_encode(frame, &path, &pkt, &pos);
}

static enum packet_verdict judge(struct roce_packet *p, const uint8_t *frame, size_t len)
{
	enum packet_verdict verdict = roce_peek(p, frame, len);

	return verdict == PACKET_GOOD ? roce_decode(p) : verdict;
}

static uint32_t payload_of(const struct bth_op *op, uint32_t len)
{
	return op->headers & HDR_PAYLOAD ? len : op->op == PKT_ATOMIC_RESP ? 8 : 0;
}

static void check_headers(const struct roce_packet *p, uint8_t service, uint8_t opcode)
{
	struct pkt_atomic atomic;
	struct pkt want = packet(service, opcode, bth_op(service, opcode), &atomic);

	assert_int_equal(p->bth.service, service);
	assert_int_equal(p->bth.pkey, 0xffff);
	assert_int_equal(p->bth.pkt.op, want.op);
	assert_int_equal(p->bth.pkt.flags, want.flags);
	assert_int_equal(p->bth.pkt.psn, want.psn & PSN_MASK);
	assert_int_equal(p->bth.pkt.npsn, 1);
	assert_int_equal(p->bth.pkt.syndrome, want.syndrome);
	assert_int_equal(p->bth.pkt.msn, want.msn);
	assert_int_equal(p->bth.pkt.va, want.va);
	assert_int_equal(p->bth.pkt.rkey, want.rkey);
	assert_int_equal(p->bth.pkt.dma_len, want.dma_len);
	assert_int_equal(p->bth.pkt.flush, want.flush);
	assert_int_equal(p->bth.pkt.srqn, want.srqn);
	assert_int_equal(p->bth.pkt.imm, want.imm);
	if (want.atomic)
		assert_memory_equal(p->bth.pkt.atomic, &atomic, sizeof(atomic));
	if (service == BTH_UD) {
		assert_int_equal(p->bth.qkey, 0x80010000);
		assert_int_equal(p->bth.src_qpn, 0x777777);
	}
}

static void check_round_trip(uint8_t service, uint8_t opcode, uint32_t len, bool ipv6)
{
	const struct bth_op *op = bth_op(service, opcode);
	uint8_t *frame = malloc(ROCE_MAX_FRAME), *exact;
	uint32_t num = make(frame, service, opcode, len, ipv6);
	const struct gid_entry *from = ipv6 ? &from6 : &from4;
	struct roce_packet p;

	/* The memory ends with the frame. */
	assert_true(num <= ROCE_MAX_FRAME);
	exact = malloc(num);
	memcpy(exact, frame, num);
	assert_int_equal(judge(&p, exact, num), PACKET_GOOD);
	assert_int_equal(p.bth.dest_qpn, service == BTH_UD ? 0xffffff : 0x123456);
	assert_int_equal(p.vlan, from->vlan);
	assert_int_equal(p.sl, ipv6 ? 5 : 0);
	assert_int_equal(p.tclass, 0x6a);
	assert_memory_equal(p.sgid, from->gid, 16);
	assert_memory_equal(p.dgid, ipv6 ? av6.dgid : av4.dgid, 16);
	assert_memory_equal(p.smac, from->mac, 6);
	check_headers(&p, service, opcode);
	assert_int_equal(p.bth.pkt.len, payload_of(op, len));
	if (p.bth.pkt.len)
		assert_memory_equal(p.bth.pkt.iov->iov_base, data, p.bth.pkt.len);
	free(exact);
	free(frame);
}

/* Call for every opcode of every service; returns how many there are. */
static unsigned int for_all(void (*fn)(uint8_t service, uint8_t opcode))
{
	unsigned int service, opcode, num = 0;

	for (service = 0; service < 8; service++) {
		for (opcode = 0; opcode < BTH_NUM_OPS; opcode++) {
			if (!bth_op(service, opcode))
				continue;
			fn(service, opcode);
			num++;
		}
	}
	return num;
}

static void round_trips(uint8_t service, uint8_t opcode)
{
	static const uint32_t sizes[] = {0, 1, 2, 3, 4, 8, 255, 1024, 4095, 4096};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_round_trip(service, opcode, sizes[i], false);
		check_round_trip(service, opcode, sizes[i], true);
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	/* RC 25, XRC less FLUSH, UC 12, UD 2 */
	assert_int_equal(for_all(round_trips), 25 + 24 + 12 + 2);
}

static FILE *capture;

/* Record packets of an opcode: without payload, with padding, and a long one */
static void record(uint8_t service, uint8_t opcode)
{
	static const uint32_t sizes[] = {0, 77, 1024};
	uint8_t frame[ROCE_MAX_FRAME];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes) * 2; i++) {
		bool fixed = bth_op(service, opcode)->op == PKT_ATOMIC_WRITE;
		uint32_t len = make(frame, service, opcode, fixed ? 8 : sizes[i / 2], i % 2);
		const uint32_t header[4] = {0, 0, len, len};

		assert_int_equal(fwrite(header, sizeof(header), 1, capture), 1);
		assert_int_equal(fwrite(frame, len, 1, capture), 1);
	}
}

/*
 * With ROCE_CAPTURE in the environment: write packets of every opcode to that file, for tests with
 * other programs.
 */
static void test_capture(void **state)
{
	/* pcap, Ethernet */
	const uint32_t header[6] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1};

	(void)state;
	if (!getenv("ROCE_CAPTURE"))
		return;
	capture = fopen(getenv("ROCE_CAPTURE"), "w");
	assert_non_null(capture);
	assert_int_equal(fwrite(header, sizeof(header), 1, capture), 1);
	for_all(record);
	assert_int_equal(fclose(capture), 0);
}

static void compare_icrc(uint8_t service, uint8_t opcode)
{
	uint8_t frame[ROCE_MAX_FRAME];
	uint32_t len = make(frame, service, opcode, 77, false), crc;

	memcpy(&crc, frame + len - 4, 4);
	assert_int_equal(le32toh(crc), icrc_of(frame, len, ETH_LEN, false));
	len = make(frame, service, opcode, 1024, true);
	memcpy(&crc, frame + len - 4, 4);
	assert_int_equal(le32toh(crc), icrc_of(frame, len, ETH_LEN + 4, true));
}

static void test_icrc(void **state)
{
	(void)state;
	for_all(compare_icrc);
}

/*
 * Routers may change these fields: the packet stays valid.  A change of any other byte is detected.
 */
static void test_icrc_covers(void **state)
{
	static const uint8_t may_change[] = {
		1,	8, /* type of service, time to live */
		20 + 6, 20 + 7, /* checksum of UDP */
		28 + 4, /* FECN, BECN */
	};
	uint8_t frame[ROCE_MAX_FRAME];
	uint32_t len = make(frame, BTH_RC, BTH_OP_WRITE_ONLY, 100, false), i, j;
	struct roce_packet p;

	(void)state;
	for (i = ETH_LEN; i < len; i++) {
		bool may = false;

		for (j = 0; j < ARRAY_SIZE(may_change); j++)
			may |= i - ETH_LEN == may_change[j];
		frame[i] ^= 0x10;
		/* The checksum of IPv4 covers the whole header. */
		if (may && i >= ETH_LEN + 20)
			assert_int_equal(judge(&p, frame, len), PACKET_GOOD);
		else
			assert_int_not_equal(judge(&p, frame, len), PACKET_GOOD);
		frame[i] ^= 0x10;
	}
	assert_int_equal(judge(&p, frame, len), PACKET_GOOD);
}

static void set_icrc(uint8_t *frame, uint32_t len)
{
	uint32_t crc = htole32(icrc_of(frame, len, ETH_LEN, false));

	memcpy(frame + len - 4, &crc, 4);
}

/* Lengths of IP and UDP, and the checksum of IP, for a frame of @len bytes */
static void set_lengths(uint8_t *frame, uint32_t len)
{
	uint8_t *ip = frame + ETH_LEN;
	uint32_t sum = 0, i;

	put_be16(ip + 2, len - ETH_LEN);
	put_be16(ip + 24, len - ETH_LEN - 20);
	put_be16(ip + 10, 0);
	for (i = 0; i < 20; i += 2)
		sum += get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(ip + 10, ~(sum + (sum >> 16)));
}

/* Truncate at every length: by the link, and with lengths that fit. */
static void truncate_all(uint8_t service, uint8_t opcode)
{
	const struct bth_op *op = bth_op(service, opcode);
	uint8_t frame[ROCE_MAX_FRAME];
	uint32_t len = make(frame, service, opcode, 36, false), cut;
	uint32_t least = len - (op->headers & HDR_PAYLOAD ? 36 : 0);
	struct roce_packet p;

	for (cut = 0; cut < len; cut++) {
		uint8_t *exact = malloc(cut + 1);
		enum packet_verdict verdict;

		memcpy(exact, frame, cut);
		assert_int_not_equal(judge(&p, exact, cut), PACKET_GOOD);
		if (cut >= ETH_LEN + 20 + 8) {
			set_lengths(exact, cut);
			if (cut >= ETH_LEN + 20 + 8 + BTH_LEN + 4)
				set_icrc(exact, cut);
			verdict = judge(&p, exact, cut);
			assert_true(verdict == PACKET_MALFORMED ||
				    (verdict == PACKET_GOOD && cut >= least && cut % 4 == len % 4));
		}
		free(exact);
	}
}

static void test_truncated(void **state)
{
	(void)state;
	for_all(truncate_all);
}

/* A byte of the transport headers is changed, and the CRC is correct. */
static enum packet_verdict with_byte(uint32_t at, uint8_t value)
{
	uint8_t frame[ROCE_MAX_FRAME];
	uint32_t len = make(frame, BTH_RC, BTH_OP_SEND_ONLY, 4, false);
	struct roce_packet p;

	frame[ETH_LEN + 28 + at] = value;
	set_icrc(frame, len);
	return judge(&p, frame, len);
}

static void test_malformed(void **state)
{
	uint8_t frame[ROCE_MAX_FRAME + 64];
	unsigned int opcode, good = 0;
	struct roce_packet p;
	uint32_t len;

	(void)state;
	assert_int_equal(with_byte(1, 0), PACKET_GOOD);
	assert_int_equal(with_byte(1, 0x30), PACKET_GOOD); /* one byte, three bytes of padding */
	assert_int_equal(with_byte(1, 0x01), PACKET_MALFORMED); /* version */
	for (opcode = 0; opcode < 256; opcode++) {
		enum packet_verdict verdict = with_byte(0, opcode);

		assert_true(verdict == PACKET_GOOD || verdict == PACKET_MALFORMED ||
			    (verdict == PACKET_CNP && opcode == 0x81));
		good += verdict == PACKET_GOOD;
	}
	/* Opcodes without further headers, or with four bytes of them that any four bytes can be */
	assert_true(good > 10 && good < 60);
	/* Padding without payload */
	len = make(frame, BTH_RC, BTH_OP_ACK, 0, false);
	frame[ETH_LEN + 28 + 1] = 0x10;
	set_icrc(frame, len);
	assert_int_equal(judge(&p, frame, len), PACKET_MALFORMED);
	/* More than the largest MTU */
	len = make(frame, BTH_RC, BTH_OP_SEND_ONLY, 4096, false) + 4;
	set_lengths(frame, len);
	set_icrc(frame, len);
	assert_int_equal(judge(&p, frame, len), PACKET_MALFORMED);
	/* Bytes after the packet belong to the link. */
	len = make(frame, BTH_RC, BTH_OP_ACK, 0, false);
	assert_int_equal(judge(&p, frame, len + 20), PACKET_GOOD);
}

/* Packets of other protocols are Ethernet frames. */
static void test_others(void **state)
{
	uint8_t frame[ROCE_MAX_FRAME];
	uint32_t len = make(frame, BTH_RC, BTH_OP_SEND_ONLY, 64, false);
	static const struct {
		uint8_t at, value;
	} other[] = {
		{12, 0x86},	  {12, 0x81},	       {ETH_LEN, 0x46},
		{ETH_LEN, 0x65},  {ETH_LEN + 6, 0x20}, {ETH_LEN + 7, 0x01},
		{ETH_LEN + 9, 6}, {ETH_LEN + 22, 0},   {ETH_LEN + 23, 0xb6},
	};
	struct roce_packet p;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		uint8_t old = frame[other[i].at];

		frame[other[i].at] = other[i].value;
		assert_int_equal(judge(&p, frame, len), PACKET_OTHER);
		frame[other[i].at] = old;
	}
	assert_int_equal(judge(&p, frame, len), PACKET_GOOD);
}

/* Random bytes after the headers that make it a RoCEv2 packet: the verdict is one of those. */
static void test_random(void **state)
{
	uint8_t frame[ROCE_MAX_FRAME];
	struct roce_packet p;
	unsigned int i, j;

	(void)state;
	srand(1);
	for (i = 0; i < 20000; i++) {
		uint32_t len = ETH_LEN + 28 + BTH_LEN + 4 + rand() % 100;
		uint8_t *exact = malloc(len);

		make(frame, BTH_RC, BTH_OP_SEND_ONLY, 200, false);
		memcpy(exact, frame, len);
		for (j = ETH_LEN + 28; j < len; j++)
			exact[j] = rand();
		exact[ETH_LEN + 28 + 1] &= 0xf0;
		set_lengths(exact, len);
		set_icrc(exact, len);
		assert_in_range(judge(&p, exact, len), PACKET_GOOD, PACKET_CNP);
		free(exact);
	}
}

/* A flow always has the same port; flows have different ones. */
static void test_sport(void **state)
{
	struct ohca_av av = av4;
	uint16_t port = roce_sport(&av, 17, 18);

	(void)state;
	assert_int_equal(port, 0xc000 | 17 * 18);
	assert_int_equal(roce_sport(&av, 17, 18), port);
	/* All 40 bits of a product count. */
	assert_int_equal(roce_sport(&av, 0x100000, 0x10), 0xc010);
	assert_int_equal(roce_sport(&av, 0x100000, 0x400000), 0xc004);
	assert_int_not_equal(roce_sport(&av, 17, 19), port);
	av.flow_label = htole32(0x12345);
	/* As the kernel's rdma_flow_label_to_udp_sport() computes it */
	assert_int_equal(roce_sport(&av, 17, 18),
			 0xc000 | ((0x12345 & 0x3fff) ^ ((0x12345 & 0xfc000) >> 14)));
	assert_int_equal(roce_sport(&av, 1, 2), roce_sport(&av, 17, 18));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_capture),
		cmocka_unit_test(test_icrc),	   cmocka_unit_test(test_icrc_covers),
		cmocka_unit_test(test_truncated),  cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_others),	   cmocka_unit_test(test_random),
		cmocka_unit_test(test_sport),
	};
	unsigned int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + (i >> 8);
	return RUN_TESTS(tests, NULL, NULL);
}
