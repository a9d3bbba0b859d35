// SPDX-License-Identifier: GPL-2.0
/* Queue pairs of the HCAs of the InfiniBand bed. */

#include <endian.h>

#include "harness.h"
#include "ib_rig.h"
#include "rig_assert.h"

struct rig_hca hca[BED_HCAS];

int ib_rig_open(void **state)
{
	unsigned int i;

	ib_bed_open(state);
	for (i = 0; i < BED_HCAS; i++) {
		memset(&hca[i], 0, sizeof(hca[i]));
		hca[i].drv = ib.drv[i];
		hca[i].async = ib.async[i];
		hca[i].comp = drv_eq_new(ib.drv[i], 6, 1, 0);
		hca[i].pdn = drv_create(ib.drv[i], OHCA_CMD_ALLOC_PD, NULL, 0);
		hca[i].next_slot = 1;
	}
	return 0;
}

struct ohca_av ib_av_to(unsigned int i)
{
	return (struct ohca_av){.ib.dlid = htole16(BED_LID(i)), .port = 1};
}

void ib_connect(struct rig_qp *a, struct rig_qp *b)
{
	a->attr.dest_qpn = htole32(b->qpn);
	b->attr.dest_qpn = htole32(a->qpn);
	assert_to_rts(a);
	assert_to_rts(b);
}

void ib_new_connection(struct rig_qp **from, struct rig_qp **to, unsigned int dst, uint8_t sl)
{
	*from = rig_qp_new(&hca[0], NULL);
	*to = rig_qp_new(&hca[dst], NULL);
	(*from)->attr.timeout = 8; /* 1 ms */
	(*from)->attr.retry_cnt = 1;
	(*from)->attr.av = ib_av_to(dst);
	(*from)->attr.av.sl = sl;
	(*to)->attr.av = ib_av_to(0);
	(*to)->attr.av.sl = sl;
	ib_connect(*from, *to);
}

void ib_post_write(struct rig_qp *from, struct ohca_sge sge, uint64_t raddr, uint32_t rkey)
{
	const struct rig_wr wr = rig_write(&sge, raddr, rkey);

	rig_post_send(from, &wr);
}

uint8_t ib_wait_write(struct rig_qp *from, struct ohca_sge sge, uint64_t raddr, uint32_t rkey)
{
	uint8_t status;

	ib_post_write(from, sge, raddr, rkey);
	status = rig_wait_send(from).status;
	inproc_settle();
	return status;
}

struct rig_qp *ib_new_qp(unsigned int i, uint8_t type)
{
	struct rig_qp_opts opts = {.type = type,
				   .flags = type == OHCA_QPT_GSI ? OHCA_QP_F_PRIVILEGED : 0};
	struct rig_qp *qp = rig_qp_new(&hca[i], &opts);

	assert_to_rts(qp);
	return qp;
}

int ib_mcast(uint16_t op, const struct rig_qp *qp, uint16_t mlid)
{
	struct ohca_mcast_in in = {
		.gid = {0xff, 0x12, [15] = 1}, .qpn = htole32(qp->qpn), .mlid = htole16(mlid)};

	return drv_cmd(qp->hca->drv, op, &in, sizeof(in), NULL, 0);
}
