// SPDX-License-Identifier: GPL-2.0
/* QPs for Ethernet frames, and flows. */

#include <endian.h>

#include "harness.h"
#include "rig_raw.h"

#define IOVA 0x10000
#define LEN (64 * 1024)
#define RECV_AT (IOVA + LEN / 2)

const uint8_t raw_udp[RAW_UDP_LEN] = {
	0x02, 1,    2,	3,    4, 5, /* destination */
	0x02, 9,    8,	7,    6, 5, /* source */
	0x08, 0x00, /* IPv4 */
	0x45, 0x1c, 0,	32,   0, 0,  0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IP */
	0x12, 0x34, 80, 0x01, 0, 12, 0, 0, 1,  2,  3, 4, /* UDP */
};

struct raw raw_new(struct rig_hca *hca, uint8_t type, uint8_t flags)
{
	struct rig_qp_opts opts = {.type = type, .flags = flags, .max_sge = 2};
	struct raw raw = {.hca = hca, .qp = rig_qp_new(hca, &opts)};

	raw.mr = rig_mr_new(hca, IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	if (type != OHCA_QPT_RWQ)
		assert_int_equal(rig_modify(raw.qp, OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT),
				 0);
	assert_int_equal(rig_modify(raw.qp, OHCA_QPS_RTR, OHCA_QP_STATE), 0);
	if (type != OHCA_QPT_RWQ)
		assert_int_equal(rig_modify(raw.qp, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	return raw;
}

void raw_send(struct raw *raw, const uint8_t *frame, uint32_t len)
{
	struct ohca_sge sge = rig_sge(raw->mr, IOVA, len);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};

	rig_mr_set(raw->mr, IOVA, frame, len);
	rig_post_send(raw->qp, &wr);
	assert_int_equal(rig_wait_send(raw->qp).status, 0);
}

void raw_post(struct raw *raw)
{
	struct ohca_sge sge = rig_sge(raw->mr, RECV_AT, RAW_ROOM);

	rig_post_recv(raw->qp, 1, &sge, 1);
}

void raw_assert_got(struct raw *raw, const uint8_t *frame, uint32_t len)
{
	struct ohca_cqe cqe = rig_wait_recv(raw->qp);
	uint8_t got[RAW_ROOM];

	assert_int_equal(cqe.status, 0);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(le32toh(cqe.qpn), raw->qp->qpn);
	assert_int_equal(le32toh(cqe.byte_len), len);
	rig_mr_get(raw->mr, RECV_AT, got, len);
	assert_memory_equal(got, frame, len);
}

void raw_assert_none(struct raw *raw)
{
	struct ohca_cqe cqe;

	rig_query(raw->qp);
	assert_false(drv_cq_poll(raw->qp->rcq, &cqe));
}

struct ohca_create_flow_in raw_flow_in(uint32_t qpn)
{
	return (struct ohca_create_flow_in){.qpn = htole32(qpn), .port = 1};
}

uint32_t raw_flow_new(struct rig_hca *hca, const struct ohca_create_flow_in *in)
{
	return drv_create(hca->drv, OHCA_CMD_CREATE_FLOW, in, sizeof(*in));
}
