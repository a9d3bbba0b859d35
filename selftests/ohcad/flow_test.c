// SPDX-License-Identifier: GPL-2.0
/* Raw packet QPs, and flows that steer frames to them. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "refuse.h"
#include "rig_raw.h"

/* Match all bits of a field with the value that it has in @in. */
#define MATCH(in, field) memset(&(in).mask.field, 0xff, sizeof((in).mask.field))

/*
 * Each field: a frame with that value goes to the raw QP, from another HCA and from the port
 * itself; a frame that differs there goes to no QP.
 */
static void test_fields(void **state)
{
	static const struct {
		uint8_t off; /* in struct ohca_flow_match */
		uint8_t len;
		uint8_t at; /* in the frame */
	} fields[] = {
		{offsetof(struct ohca_flow_match, dmac), 6, 0},
		{offsetof(struct ohca_flow_match, smac), 6, 6},
		{offsetof(struct ohca_flow_match, src_ip), 4, RAW_AT_IP + 12},
		{offsetof(struct ohca_flow_match, dst_ip), 4, RAW_AT_IP + 16},
		{offsetof(struct ohca_flow_match, ip_tos), 1, RAW_AT_IP + 1},
		{offsetof(struct ohca_flow_match, ip_ttl), 1, RAW_AT_IP + 8},
		{offsetof(struct ohca_flow_match, ip_proto), 1, RAW_AT_IP + 9},
		{offsetof(struct ohca_flow_match, src_port), 2, RAW_AT_UDP},
		{offsetof(struct ohca_flow_match, dst_port), 2, RAW_AT_UDP + 2},
		{offsetof(struct ohca_flow_match, ether_type), 2, 12},
	};
	struct rig *rig = rig_open(server);
	struct raw to = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0),
		   near = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0);
	struct raw far = raw_new(&rig->hca[1], OHCA_QPT_ETH, 0);
	uint8_t frame[RAW_UDP_LEN];
	uint32_t id;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		struct ohca_create_flow_in in = raw_flow_in(to.qp->qpn);

		memcpy((uint8_t *)&in.value + fields[i].off, raw_udp + fields[i].at, fields[i].len);
		memset((uint8_t *)&in.mask + fields[i].off, 0xff, fields[i].len);
		id = raw_flow_new(&rig->hca[0], &in);
		raw_post(&to);
		raw_send(&far, raw_udp, RAW_UDP_LEN);
		raw_assert_got(&to, raw_udp, RAW_UDP_LEN);
		raw_post(&to);
		memcpy(frame, raw_udp, sizeof(frame));
		frame[fields[i].at + fields[i].len - 1] ^= 0x10;
		raw_send(&far, frame, sizeof(frame));
		raw_send(&near, frame, sizeof(frame));
		raw_assert_none(&to);
		raw_send(&near, raw_udp, RAW_UDP_LEN);
		raw_assert_got(&to, raw_udp, RAW_UDP_LEN);
		assert_int_equal(drv_destroy(rig->hca[0].drv, OHCA_CMD_DESTROY_FLOW, id), 0);
		raw_send(&far, raw_udp, RAW_UDP_LEN);
		raw_assert_none(&to);
	}
	rig_close(rig);
}

/* The fields behind a VLAN tag, and the tag. */
static void test_vlan(void **state)
{
	struct rig *rig = rig_open(server);
	struct raw to = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0),
		   from = raw_new(&rig->hca[1], OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(to.qp->qpn);
	uint8_t frame[RAW_UDP_LEN + 4];

	(void)state;
	memcpy(frame, raw_udp, 12);
	memcpy(frame + 12, "\x81\x00\x20\x05", 4);
	memcpy(frame + 16, raw_udp + 12, RAW_UDP_LEN - 12);
	in.value.vlan = htobe16(0x0005);
	in.mask.vlan = htobe16(0x0fff);
	in.value.dst_port = htobe16(0x5001);
	MATCH(in, dst_port);
	raw_flow_new(&rig->hca[0], &in);
	raw_post(&to);
	raw_send(&from, raw_udp, RAW_UDP_LEN);
	raw_assert_none(&to);
	raw_send(&from, frame, sizeof(frame));
	raw_assert_got(&to, frame, sizeof(frame));
	rig_close(rig);
}

/*
 * The first priority that matches gets the frame, in each flow of that priority; only a frame that
 * matches no flow goes to the port's own QP.
 */
static void test_priorities(void **state)
{
	struct rig *rig = rig_open(server);
	struct raw own = raw_new(&rig->hca[0], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	struct raw a = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0),
		   b = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0);
	struct raw from = raw_new(&rig->hca[1], OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(a.qp->qpn);
	uint8_t frame[RAW_UDP_LEN];
	uint32_t first, same;

	(void)state;
	memcpy(frame, raw_udp, sizeof(frame));
	memcpy(frame, rig->hca[0].mac, 6);
	in.priority = htole16(7);
	first = raw_flow_new(&rig->hca[0], &in);
	in.qpn = htole32(b.qp->qpn);
	in.priority = htole16(8);
	raw_flow_new(&rig->hca[0], &in);
	raw_post(&own);
	raw_post(&a);
	raw_post(&b);
	raw_send(&from, frame, sizeof(frame));
	raw_assert_got(&a, frame, sizeof(frame));
	raw_assert_none(&b);
	raw_assert_none(&own);

	in.priority = htole16(7);
	same = raw_flow_new(&rig->hca[0], &in);
	raw_post(&a);
	raw_send(&from, frame, sizeof(frame));
	raw_assert_got(&a, frame, sizeof(frame));
	raw_assert_got(&b, frame, sizeof(frame));

	assert_int_equal(drv_destroy(rig->hca[0].drv, OHCA_CMD_DESTROY_FLOW, first), 0);
	assert_int_equal(drv_destroy(rig->hca[0].drv, OHCA_CMD_DESTROY_FLOW, same), 0);
	raw_post(&b);
	raw_send(&from, frame, sizeof(frame));
	raw_assert_got(&b, frame, sizeof(frame));
	raw_assert_none(&own);

	/* The flow matches, but its QP has no buffer: the frame is dropped. */
	raw_send(&from, frame, sizeof(frame));
	raw_assert_none(&own);
	assert_int_equal(rig_qp_destroy(b.qp), OHCA_CMD_BUSY);
	rig_close(rig);
}

static void test_bad_input(void **state)
{
	struct rig *rig = rig_open(server);
	struct raw own = raw_new(&rig->hca[0], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED),
		   a = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0);
	struct rig_qp_opts rc = {.type = OHCA_QPT_RC};
	struct rig_qp *other = rig_qp_new(&rig->hca[0], &rc);
	struct ohca_create_flow_in good = raw_flow_in(a.qp->qpn);
	struct drv *drv = rig->hca[0].drv;

	(void)state;
#define FLOW(field, val, status, at)                                                               \
	REFUSE_AT(drv, OHCA_CMD_CREATE_FLOW, struct ohca_create_flow_in, good, field, val, status, \
		  offsetof(struct ohca_create_flow_in, at))
	FLOW(qpn, htole32(0xffffff), OHCA_CMD_BAD_HANDLE, qpn);
	FLOW(qpn, htole32(own.qp->qpn), OHCA_CMD_BAD_PARAM, qpn);
	FLOW(qpn, htole32(other->qpn), OHCA_CMD_BAD_PARAM, qpn);
	FLOW(port, 0, OHCA_CMD_BAD_PARAM, port);
	FLOW(port, 2, OHCA_CMD_BAD_PARAM, port);
	FLOW(rsvd, 1, OHCA_CMD_BAD_PARAM, rsvd);
	FLOW(value.dmac[3], 1, OHCA_CMD_BAD_PARAM, value);
	FLOW(value.rsvd[0], 1, OHCA_CMD_BAD_PARAM, value);
	FLOW(mask.rsvd[7], 1, OHCA_CMD_BAD_PARAM, mask);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_FLOW, 1), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(rig_qp_destroy(a.qp), 0);
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_bad_input),
	};

	/* The same frames come from several. */
	setenv("OHCAD_HCA", ",trust=all", 1);
	return RUN_TESTS(tests, start_three_hcas, stop_hcas);
}
