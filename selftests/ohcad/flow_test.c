// SPDX-License-Identifier: GPL-2.0
/* Raw packet QPs and the flows that lead frames to them. */

#include <endian.h>

#include "harness.h"
#include "refuse.h"
#include "rig.h"
#include "server.h"

#define IOVA 0x10000
#define LEN (64 * 1024)
#define RECV_AT (IOVA + LEN / 2)
#define SLOT 2048

static struct server *server;

static int start(void **state)
{
	(void)state;
	server = server_start(3);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	return server_stop(server) ? 0 : -1;
}

/**
 * struct raw - a raw packet QP and memory for its frames
 */
struct raw {
	struct rig_hca *hca;
	struct rig_qp *qp;
	struct rig_mr *mr;
};

static struct raw raw_new(struct rig_hca *hca, uint8_t flags)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_ETH, .flags = flags, .max_sge = 2};
	struct raw raw = {.hca = hca, .qp = rig_qp_new(hca, &opts)};

	raw.mr = rig_mr_new(hca, IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	assert_int_equal(rig_modify(raw.qp, OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT), 0);
	assert_int_equal(rig_modify(raw.qp, OHCA_QPS_RTR, OHCA_QP_STATE), 0);
	assert_int_equal(rig_modify(raw.qp, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	return raw;
}

/* A UDP datagram of IPv4; what tests change of it. */
static const uint8_t udp_frame[] = {
	0x02, 1,    2,	3,    4, 5, /* destination */
	0x02, 9,    8,	7,    6, 5, /* source */
	0x08, 0x00, /* IPv4 */
	0x45, 0x1c, 0,	32,   0, 0,  0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IP */
	0x12, 0x34, 80, 0x01, 0, 12, 0, 0, 1,  2,  3, 4, /* UDP */
};

#define AT_IP 14
#define AT_UDP 34

static void send_frame(struct raw *raw, const uint8_t *frame, uint32_t len)
{
	struct ohca_sge sge = rig_sge(raw->mr, IOVA, len);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};

	rig_mr_set(raw->mr, IOVA, frame, len);
	rig_post_send(raw->qp, &wr);
	assert_int_equal(rig_wait_send(raw->qp).status, 0);
}

static void post_recv(struct raw *raw)
{
	struct ohca_sge sge = rig_sge(raw->mr, RECV_AT, SLOT);

	rig_post_recv(raw->qp, 1, &sge, 1);
}

static void assert_got(struct raw *raw, const uint8_t *frame, uint32_t len)
{
	struct ohca_cqe cqe = rig_wait_recv(raw->qp);
	uint8_t got[SLOT];

	assert_int_equal(cqe.status, 0);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(le32toh(cqe.byte_len), len);
	rig_mr_get(raw->mr, RECV_AT, got, len);
	assert_memory_equal(got, frame, len);
}

static void assert_none(struct raw *raw)
{
	struct ohca_cqe cqe;

	rig_query(raw->qp);
	assert_false(drv_cq_poll(raw->qp->rcq, &cqe));
}

static struct ohca_create_flow_in flow_in(struct raw *raw)
{
	return (struct ohca_create_flow_in){.qpn = htole32(raw->qp->qpn), .port = 1};
}

static uint32_t flow_new(struct raw *raw, const struct ohca_create_flow_in *in)
{
	return drv_create(raw->hca->drv, OHCA_CMD_CREATE_FLOW, in, sizeof(*in));
}

/* Match all bits of a field with the value that it has in @in. */
#define MATCH(in, field) memset(&(in).mask.field, 0xff, sizeof((in).mask.field))

/*
 * Each field: the frame that has it goes to the raw QP, from another HCA and from the port itself,
 * one that differs there to nobody.
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
		{offsetof(struct ohca_flow_match, src_ip), 4, AT_IP + 12},
		{offsetof(struct ohca_flow_match, dst_ip), 4, AT_IP + 16},
		{offsetof(struct ohca_flow_match, ip_tos), 1, AT_IP + 1},
		{offsetof(struct ohca_flow_match, ip_ttl), 1, AT_IP + 8},
		{offsetof(struct ohca_flow_match, ip_proto), 1, AT_IP + 9},
		{offsetof(struct ohca_flow_match, src_port), 2, AT_UDP},
		{offsetof(struct ohca_flow_match, dst_port), 2, AT_UDP + 2},
		{offsetof(struct ohca_flow_match, ether_type), 2, 12},
	};
	struct rig *rig = rig_open(server);
	struct raw to = raw_new(&rig->hca[0], 0), near = raw_new(&rig->hca[0], 0);
	struct raw far = raw_new(&rig->hca[1], 0);
	uint8_t frame[sizeof(udp_frame)];
	uint32_t id;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		struct ohca_create_flow_in in = flow_in(&to);

		memcpy((uint8_t *)&in.value + fields[i].off, udp_frame + fields[i].at,
		       fields[i].len);
		memset((uint8_t *)&in.mask + fields[i].off, 0xff, fields[i].len);
		id = flow_new(&to, &in);
		post_recv(&to);
		send_frame(&far, udp_frame, sizeof(udp_frame));
		assert_got(&to, udp_frame, sizeof(udp_frame));
		post_recv(&to);
		memcpy(frame, udp_frame, sizeof(frame));
		frame[fields[i].at + fields[i].len - 1] ^= 0x10;
		send_frame(&far, frame, sizeof(frame));
		send_frame(&near, frame, sizeof(frame));
		assert_none(&to);
		send_frame(&near, udp_frame, sizeof(udp_frame));
		assert_got(&to, udp_frame, sizeof(udp_frame));
		assert_int_equal(drv_destroy(rig->hca[0].drv, OHCA_CMD_DESTROY_FLOW, id), 0);
		send_frame(&far, udp_frame, sizeof(udp_frame));
		assert_none(&to);
	}
	rig_close(rig);
}

/* The fields behind a VLAN tag, and the tag. */
static void test_vlan(void **state)
{
	struct rig *rig = rig_open(server);
	struct raw to = raw_new(&rig->hca[0], 0), from = raw_new(&rig->hca[1], 0);
	struct ohca_create_flow_in in = flow_in(&to);
	uint8_t frame[sizeof(udp_frame) + 4];

	(void)state;
	memcpy(frame, udp_frame, 12);
	memcpy(frame + 12, "\x81\x00\x20\x05", 4);
	memcpy(frame + 16, udp_frame + 12, sizeof(udp_frame) - 12);
	in.value.vlan = htobe16(0x0005);
	in.mask.vlan = htobe16(0x0fff);
	in.value.dst_port = htobe16(0x5001);
	MATCH(in, dst_port);
	flow_new(&to, &in);
	post_recv(&to);
	send_frame(&from, udp_frame, sizeof(udp_frame));
	assert_none(&to);
	send_frame(&from, frame, sizeof(frame));
	assert_got(&to, frame, sizeof(frame));
	rig_close(rig);
}

/*
 * The first priority that matches gets the frame, each flow of it; only what matches none is the
 * port's own.
 */
static void test_priorities(void **state)
{
	struct rig *rig = rig_open(server);
	struct raw own = raw_new(&rig->hca[0], OHCA_QP_F_PRIVILEGED);
	struct raw a = raw_new(&rig->hca[0], 0), b = raw_new(&rig->hca[0], 0);
	struct raw from = raw_new(&rig->hca[1], 0);
	struct ohca_create_flow_in in = flow_in(&a);
	uint8_t frame[sizeof(udp_frame)];
	uint32_t first, same;

	(void)state;
	memcpy(frame, udp_frame, sizeof(frame));
	memcpy(frame, rig->hca[0].mac, 6);
	in.priority = htole16(7);
	first = flow_new(&a, &in);
	in.qpn = htole32(b.qp->qpn);
	in.priority = htole16(8);
	flow_new(&b, &in);
	post_recv(&own);
	post_recv(&a);
	post_recv(&b);
	send_frame(&from, frame, sizeof(frame));
	assert_got(&a, frame, sizeof(frame));
	assert_none(&b);
	assert_none(&own);

	in.priority = htole16(7);
	same = flow_new(&b, &in);
	post_recv(&a);
	send_frame(&from, frame, sizeof(frame));
	assert_got(&a, frame, sizeof(frame));
	assert_got(&b, frame, sizeof(frame));

	assert_int_equal(drv_destroy(rig->hca[0].drv, OHCA_CMD_DESTROY_FLOW, first), 0);
	assert_int_equal(drv_destroy(rig->hca[0].drv, OHCA_CMD_DESTROY_FLOW, same), 0);
	post_recv(&b);
	send_frame(&from, frame, sizeof(frame));
	assert_got(&b, frame, sizeof(frame));
	assert_none(&own);

	/* A flow that takes the frame when its QP has no buffer loses it. */
	send_frame(&from, frame, sizeof(frame));
	assert_none(&own);
	assert_int_equal(rig_qp_destroy(b.qp), OHCA_CMD_BUSY);
	rig_close(rig);
}

static void test_bad_input(void **state)
{
	struct rig *rig = rig_open(server);
	struct raw own = raw_new(&rig->hca[0], OHCA_QP_F_PRIVILEGED), a = raw_new(&rig->hca[0], 0);
	struct rig_qp_opts rc = {.type = OHCA_QPT_RC};
	struct rig_qp *other = rig_qp_new(&rig->hca[0], &rc);
	struct ohca_create_flow_in good = flow_in(&a);
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

	return RUN_TESTS(tests, start, stop);
}
