// SPDX-License-Identifier: GPL-2.0
/* InfiniBand packets: headers, lengths and CRCs. */

#include <endian.h>

#include "harness.h"
#include "packet/ib.h"

#define GRH_LEN 40

static const uint8_t sgid[16] = {0xfe, 0x80, [15] = 0x25};

/* The packet in the InfiniBand specification's example of CRCs: an RDMA WRITE Only of 14 bytes, without a GRH. */
static const uint8_t example[] = {
	0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00, 0x87,
	0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02,
	0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c,
	0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a,
};

/* CRC-16 by x^16 + x^12 + x^3 + x + 1, bit by bit */
static uint16_t slow_vcrc(const uint8_t *data, size_t len)
{
	uint16_t crc = 0xffff;
	unsigned int bit;

	for (; len--; data++) {
		for (bit = 0; bit < 8; bit++) {
			bool one = (crc ^ *data >> bit) & 1;

			crc = crc >> 1 ^ (one ? 0xd008 : 0);
		}
	}
	return ~crc;
}

static void test_icrc(void **state)
{
	size_t len = sizeof(example) - ICRC_LEN;
	uint8_t packet[sizeof(example)];
	uint32_t crc;

	(void)state;
	memcpy(&crc, example + len, sizeof(crc));
	assert_int_equal(ib_icrc(example, len), le32toh(crc));
	/* Switches may change the virtual lane, and the FECN bit on congestion: nothing else. */
	memcpy(packet, example, sizeof(packet));
	packet[0] ^= 0xf0;
	packet[LRH_LEN + 4] ^= 0xff;
	assert_int_equal(ib_icrc(packet, len), le32toh(crc));
	packet[1] ^= 0x10;
	assert_int_not_equal(ib_icrc(packet, len), le32toh(crc));
}

static void test_vcrc(void **state)
{
	(void)state;
	assert_int_equal(ib_vcrc(example, sizeof(example)), slow_vcrc(example, sizeof(example)));
	assert_int_equal(ib_vcrc(example, 0), 0);
}

/* Encoding gives the same packet. */
static void test_encode_local(void **state)
{
	const struct ohca_av av = {.ib.dlid = htole16(0x375c), .sl = 1};
	const struct ib_path path = {
		.av = &av,
		.slid = 0x17d2,
		.vl = 7,
		.bth = {.service = BTH_RC, .pkey = 0x2487, .dest_qpn = 0x87b1b3},
	};
	struct iovec iov = {.iov_base = (void *)(example + 36), .iov_len = 14};
	struct iov_pos payload = {.iov = &iov};
	const struct pkt pkt = {
		.op = PKT_WRITE,
		.flags = PKT_FIRST | PKT_LAST,
		.psn = 0x0dec2a,
		.npsn = 1,
		.va = 0x01710a1c015d4002,
		.rkey = 0x38f27a05,
		.dma_len = 14,
		.iov = &iov,
		.num = 1,
		.len = 14,
	};
	uint8_t packet[IB_MAX_PACKET];
	uint32_t len = ib_encode(packet, &path, &pkt, &payload);
	uint16_t vcrc;

	(void)state;
	assert_int_equal(len, sizeof(example) + VCRC_LEN);
	assert_memory_equal(packet, example, sizeof(example));
	memcpy(&vcrc, packet + sizeof(example), sizeof(vcrc));
	assert_int_equal(le16toh(vcrc), slow_vcrc(packet, sizeof(example)));
}

static struct ohca_av global_av(void)
{
	return (struct ohca_av){
		.dgid = {0xff, 0x12, [15] = 1},
		.ib = {.dlid = htole16(0xc001), .flags = OHCA_AV_GRH},
		.flow_label = htole32(0x12345),
		.hop_limit = 9,
		.tclass = 0x5a,
		.sl = 3,
	};
}

/* A datagram with a GRH, of @size bytes of payload; returns its length. */
static uint32_t make_global(uint8_t packet[IB_MAX_PACKET], uint8_t *data, uint32_t size)
{
	const struct ohca_av av = global_av();
	const struct ib_path path = {
		.av = &av,
		.sgid = sgid,
		.slid = 4,
		.bth = {.service = BTH_UD,
			.pkey = 0x8001,
			.dest_qpn = 0xffffff,
			.qkey = 0xb1b,
			.src_qpn = 0x42},
	};
	struct iovec iov = {.iov_base = data, .iov_len = size};
	struct iov_pos payload = {.iov = &iov};
	const struct pkt pkt = {
		.op = PKT_SEND,
		.flags = PKT_FIRST | PKT_LAST,
		.psn = 77,
		.npsn = 1,
		.iov = &iov,
		.num = 1,
		.len = size,
	};

	return ib_encode(packet, &path, &pkt, &payload);
}

static void test_encode_global(void **state)
{
	const struct ohca_av av = global_av();
	uint8_t data[5] = {1, 2, 3, 4, 5}, packet[IB_MAX_PACKET];
	uint32_t len = make_global(packet, data, sizeof(data)), crc, flipped;
	const uint8_t *grh = packet + LRH_LEN;

	(void)state;
	assert_int_equal(len, LRH_LEN + GRH_LEN + BTH_LEN + DETH_LEN + 8 + ICRC_LEN + VCRC_LEN);
	assert_int_equal(packet[1], 3 << 4 | 3);
	assert_int_equal(get_be16(packet + 4) * 4, len - VCRC_LEN);
	assert_int_equal(get_be32(grh), 6U << 28 | 0x5a << 20 | 0x12345);
	assert_int_equal(get_be16(grh + 4), BTH_LEN + DETH_LEN + 8 + ICRC_LEN);
	assert_int_equal(grh[6], 0x1b);
	assert_int_equal(grh[7], 9);
	assert_memory_equal(grh + 8, sgid, 16);
	assert_memory_equal(grh + 24, av.dgid, 16);
	/* Routers change the LRH, traffic class, flow label and hop limit. */
	memcpy(&crc, packet + len - VCRC_LEN - ICRC_LEN, sizeof(crc));
	memset(packet + 2, 0xee, 6);
	packet[LRH_LEN + 1] ^= 0xff;
	packet[LRH_LEN + 7] ^= 0xff;
	flipped = ib_icrc(packet, len - VCRC_LEN - ICRC_LEN);
	assert_int_equal(flipped, le32toh(crc));
}

static void test_encode_mad(void **state)
{
	struct mad_packet mad = {.slid = 3, .dlid = LID_PERMISSIVE, .mad = {1, 0x81, 1, 1}};
	uint8_t packet[IB_MAX_PACKET];
	uint32_t len = ib_encode_mad(packet, &mad);

	(void)state;
	assert_int_equal(len, LRH_LEN + BTH_LEN + DETH_LEN + MAD_LEN + ICRC_LEN + VCRC_LEN);
	assert_int_equal(packet[0], 15 << 4);
	assert_int_equal(get_be16(packet + 2), LID_PERMISSIVE);
	assert_int_equal(get_be16(packet + 6), 3);
	assert_memory_equal(packet + LRH_LEN + BTH_LEN + DETH_LEN, mad.mad, MAD_LEN);
}

static void test_decode(void **state)
{
	uint8_t data[5] = {1, 2, 3, 4, 5}, packet[IB_MAX_PACKET];
	uint32_t len = make_global(packet, data, sizeof(data));
	struct ib_packet p;

	(void)state;
	assert_int_equal(ib_peek(&p, packet, len), PACKET_GOOD);
	assert_true(ib_vcrc_is_good(&p));
	assert_int_equal(p.vl, 0);
	assert_int_equal(p.sl, 3);
	assert_int_equal(p.dlid, 0xc001);
	assert_int_equal(p.slid, 4);
	assert_ptr_equal(p.grh, packet + LRH_LEN);
	assert_int_equal(ib_decode(&p), PACKET_GOOD);
	assert_int_equal(p.bth.service, BTH_UD);
	assert_int_equal(p.bth.pkey, 0x8001);
	assert_int_equal(p.bth.dest_qpn, 0xffffff);
	assert_int_equal(p.bth.qkey, 0xb1b);
	assert_int_equal(p.bth.src_qpn, 0x42);
	assert_int_equal(p.bth.pkt.psn, 77);
	assert_int_equal(p.bth.pkt.len, sizeof(data));
	assert_memory_equal(p.bth.payload.iov_base, data, sizeof(data));
}

/* The same without a GRH: the specification's example */
static void test_decode_local(void **state)
{
	uint8_t packet[sizeof(example) + VCRC_LEN];
	struct ib_packet p;

	(void)state;
	memcpy(packet, example, sizeof(example));
	ib_put_vcrc(packet, sizeof(packet));
	assert_int_equal(ib_peek(&p, packet, sizeof(packet)), PACKET_GOOD);
	assert_true(ib_vcrc_is_good(&p));
	assert_null(p.grh);
	assert_int_equal(p.vl, 7);
	assert_int_equal(ib_decode(&p), PACKET_GOOD);
	assert_int_equal(p.bth.pkt.op, PKT_WRITE);
	assert_int_equal(p.bth.pkt.va, 0x01710a1c015d4002);
	assert_int_equal(p.bth.pkt.rkey, 0x38f27a05);
	assert_int_equal(p.bth.pkt.len, 14);
}

/* What ib_peek() and ib_decode() say of the packet with a byte that is another one; the CRCs are right. */
static enum packet_verdict changed(const uint8_t *good, uint32_t len, size_t at, uint8_t byte)
{
	uint8_t packet[IB_MAX_PACKET];
	size_t end = len - VCRC_LEN - ICRC_LEN;
	struct ib_packet p;
	uint32_t icrc;

	memcpy(packet, good, len);
	packet[at] = byte;
	icrc = htole32(ib_icrc(packet, end));
	memcpy(packet + end, &icrc, sizeof(icrc));
	ib_put_vcrc(packet, len);
	if (ib_peek(&p, packet, len) != PACKET_GOOD)
		return PACKET_MALFORMED;
	assert_true(ib_vcrc_is_good(&p));
	return ib_decode(&p);
}

static void test_decode_bad(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} bad[] = {
		{0, 0x01}, /* LVer */
		{1, 0x30}, /* LNH: raw */
		{1, 0x31},
		{4, 0x01}, /* PktLen */
		{5, 0x13},
		{5, 0x15},
		{LRH_LEN, 0x40}, /* IPVer */
		{LRH_LEN + 5, 29}, /* PayLen */
		{LRH_LEN + 6, 17}, /* NxtHdr */
		{LRH_LEN + GRH_LEN, 0x60}, /* opcode: an RDMA WRITE of UD */
		{LRH_LEN + GRH_LEN + 1, 0x01}, /* TVer */
	};
	uint8_t data[5] = {1, 2, 3, 4, 5}, packet[IB_MAX_PACKET];
	uint32_t len = make_global(packet, data, sizeof(data));
	struct ib_packet p;
	unsigned int i;

	(void)state;
	assert_int_equal(changed(packet, len, LRH_LEN + 8, 0xfe), PACKET_GOOD);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(changed(packet, len, bad[i].at, bad[i].byte), PACKET_MALFORMED);
	for (i = 0; i < len; i++)
		assert_int_equal(ib_peek(&p, packet, i), PACKET_MALFORMED);
	assert_int_equal(ib_peek(&p, packet, len + 4), PACKET_MALFORMED);
	/* One wrong bit: each CRC sees it in what it is about. */
	packet[len - VCRC_LEN - ICRC_LEN - 5] ^= 1;
	assert_int_equal(ib_peek(&p, packet, len), PACKET_GOOD);
	assert_false(ib_vcrc_is_good(&p));
	assert_int_equal(ib_decode(&p), PACKET_BAD_CRC);
}

static void test_decode_mad(void **state)
{
	struct mad_packet mad = {.slid = 3, .dlid = LID_PERMISSIVE, .mad = {1, 0x81, 1, 1}}, got;
	uint8_t packet[IB_MAX_PACKET];
	uint32_t len = ib_encode_mad(packet, &mad);
	struct ib_packet p;

	(void)state;
	assert_int_equal(ib_peek(&p, packet, len), PACKET_GOOD);
	assert_true(ib_decode_mad(&got, &p, QPN_SMI));
	assert_false(ib_decode_mad(&got, &p, QPN_GSI));
	assert_int_equal(got.slid, 3);
	assert_int_equal(got.dlid, LID_PERMISSIVE);
	assert_memory_equal(got.mad, mad.mad, MAD_LEN);
	mad.dest_qpn = QPN_GSI;
	mad.src_qpn = 0x123;
	len = ib_encode_mad(packet, &mad);
	assert_int_equal(ib_peek(&p, packet, len), PACKET_GOOD);
	assert_int_equal(p.vl, 0);
	assert_false(ib_decode_mad(&got, &p, QPN_SMI));
	assert_true(ib_decode_mad(&got, &p, QPN_GSI));
	assert_int_equal(got.src_qpn, 0x123);
	/* Not as long as a management datagram is */
	len = make_global(packet, mad.mad, 252);
	assert_int_equal(ib_peek(&p, packet, len), PACKET_GOOD);
	assert_false(ib_decode_mad(&got, &p, QPN_MCAST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_icrc),	     cmocka_unit_test(test_vcrc),
		cmocka_unit_test(test_encode_local), cmocka_unit_test(test_encode_global),
		cmocka_unit_test(test_encode_mad),   cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_local), cmocka_unit_test(test_decode_bad),
		cmocka_unit_test(test_decode_mad),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
