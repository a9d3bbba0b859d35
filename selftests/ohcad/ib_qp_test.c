// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of InfiniBand ports: which packets they accept, and the fields of their completions;
 * QP 0.
 */

#include <endian.h>

#include "device/object.h"
#include "harness.h"
#include "ib_rig.h"
#include "inproc_assert.h"
#include "net/mad.h"
#include "packet/mad.h"
#include "refuse.h"
#include "rig_assert.h"

#define IOVA 0x7f0000000100ULL
#define INTO (IOVA + 8192)
#define GRH OHCA_GRH_LEN
#define LEN 100
#define MLID 0xc000
#define NEXT_HDR_IB 0x1b

static struct rig_qp *a, *b;
static struct rig_mr *ma, *mb;
static struct ohca_av av;

/* Links are up, and nothing else */
static int open_links(void **state)
{
	ib_rig_open(state);
	ma = rig_mr_new(&hca[0], IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	mb = rig_mr_new(&hca[1], IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	return 0;
}

static int open_subnet(void **state)
{
	open_links(state);
	ib_bed_up();
	a = ib_new_qp(0, OHCA_QPT_UD);
	b = ib_new_qp(1, OHCA_QPT_UD);
	av = (struct ohca_av){.ib.dlid = htole16(BED_LID(1)), .sl = 3, .port = 1};
	return 0;
}

static void recv_of(struct rig_qp *qp, struct rig_mr *mr)
{
	struct ohca_sge sge = rig_sge(mr, INTO, 1024);

	rig_post_recv(qp, 5, &sge, 1);
}

static struct rig_wr wr_to(const struct rig_qp *to, const struct ohca_sge *sge)
{
	return rig_datagram(to, &av, sge);
}

static void send_wr(struct rig_qp *qp, const struct rig_wr *wr)
{
	rig_post_send(qp, wr);
	assert_cqe(rig_wait_send(qp), OHCA_WC_SUCCESS, 0, wr->wr_id);
	inproc_settle();
}

/* LEN bytes from a to another QP */
static void send_to(const struct rig_qp *to)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, LEN);
	struct rig_wr wr = wr_to(to, &sge);

	rig_mr_fill(ma, IOVA, LEN, 9);
	send_wr(a, &wr);
}

static void set_pkeys(unsigned int i, uint16_t first, uint16_t second)
{
	const uint16_t pkeys[] = {first, second};

	ib_port_set_pkeys(ib_port_of(i), 0, pkeys, 2);
}

/* Completions and headers of datagrams */

static void test_completion(void **state)
{
	struct ohca_cqe cqe;

	(void)state;
	ib_port_set_lid(ib_port_of(0), BED_LID(0), 1);
	ib_port_set_lid(ib_port_of(1), BED_LID(1), 2);
	av.ib.dlid = htole16(BED_LID(1) + 3);
	/* Only one of them counts. */
	av.ib.path_bits = 0x7f;
	recv_of(b, mb);
	send_to(b);
	cqe = rig_wait_recv(b);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 5);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(cqe.net_type, OHCA_NET_IB);
	assert_int_equal(cqe.flags & ~OHCA_CQE_F_SOLICITED, OHCA_CQE_F_RQ);
	assert_int_equal(le32toh(cqe.byte_len), GRH + LEN);
	assert_int_equal(le32toh(cqe.src_qpn), a->qpn);
	assert_int_equal(le16toh(cqe.ib.slid), BED_LID(0) + 1);
	assert_int_equal(cqe.ib.dlid_path_bits, 3);
	assert_int_equal(cqe.sl, 3);
	assert_int_equal(cqe.vlan, 0);
	assert_int_equal(cqe.pkey_index, 0);
	assert_true(rig_mr_is(mb, INTO + GRH, LEN, 9));
}

static void add_grh(const uint8_t dgid[16])
{
	memcpy(av.dgid, dgid, 16);
	av.ib.flags = OHCA_AV_GRH;
	av.flow_label = htole32(0x12345);
	av.hop_limit = 33;
	av.tclass = 0x28;
}

static void test_grh(void **state)
{
	uint8_t grh[GRH];
	struct ohca_cqe cqe;

	(void)state;
	add_grh(ib_port_of(1)->gids[0]);
	recv_of(b, mb);
	send_to(b);
	cqe = rig_wait_recv(b);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 5);
	assert_int_equal(cqe.net_type, OHCA_NET_IB);
	assert_true(cqe.flags & OHCA_CQE_F_GRH);
	assert_int_equal(le32toh(cqe.byte_len), GRH + LEN);
	assert_true(rig_mr_is(mb, INTO + GRH, LEN, 9));
	rig_mr_get(mb, INTO, grh, sizeof(grh));
	assert_memory_equal(grh, ((uint8_t[]){0x62, 0x81, 0x23, 0x45}), 4);
	assert_int_equal(grh[6], NEXT_HDR_IB);
	assert_int_equal(grh[7], 33);
	assert_memory_equal(grh + 8, ib_port_of(0)->gids[0], 16);
	assert_memory_equal(grh + 24, ib_port_of(1)->gids[0], 16);
}

static void test_loopback(void **state)
{
	struct rig_qp *other = ib_new_qp(0, OHCA_QPT_UD);

	(void)state;
	av.ib.dlid = htole16(BED_LID(0));
	recv_of(other, ma);
	send_to(other);
	assert_int_equal(le16toh(rig_wait_recv(other).ib.slid), BED_LID(0));
}

/* The net_type field of the completion */
static void test_net_type(void **state)
{
	struct rig_qp *from = rig_qp_new(&hca[0], NULL), *to = rig_qp_new(&hca[1], NULL);
	struct ohca_sge sge = rig_sge(ma, IOVA, LEN);
	const struct rig_wr wr = {.wr_id = 77,
				  .opcode = OHCA_OP_SEND,
				  .flags = OHCA_WQE_SIGNALED,
				  .num_sge = 1,
				  .sge = &sge};
	struct ohca_cqe cqe;

	(void)state;
	from->attr.av = (struct ohca_av){.ib.dlid = htole16(BED_LID(1)), .port = 1};
	from->attr.dest_qpn = htole32(to->qpn);
	to->attr.av = (struct ohca_av){.ib.dlid = htole16(BED_LID(0)), .port = 1};
	to->attr.dest_qpn = htole32(from->qpn);
	assert_to_rts(from);
	assert_to_rts(to);
	recv_of(to, mb);
	send_wr(from, &wr);
	cqe = rig_wait_recv(to);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 5);
	assert_int_equal(cqe.net_type, 0);
	assert_int_equal(le32toh(cqe.byte_len), LEN);
}

/* Which QPs accept a datagram */

static void test_pkeys(void **state)
{
	(void)state;
	recv_of(b, mb);
	set_pkeys(0, 0x7fff, 0);
	set_pkeys(1, 0x7fff, 0);
	send_to(b);
	inproc_assert_no_cqe(b->rcq);
	assert_int_equal(ib_port_of(1)->pkey_viols, 1);
	assert_int_equal(rig_counter(&hca[1], OHCA_CNT_RX_DROPPED), 1);
	set_pkeys(1, 0x8001, 0xffff);
	send_to(b);
	inproc_assert_no_cqe(b->rcq);
	assert_int_equal(ib_port_of(1)->pkey_viols, 2);
	set_pkeys(1, 0xffff, 0);
	send_to(b);
	rig_wait_recv(b);
	set_pkeys(0, 0, 0xffff);
	recv_of(b, mb);
	send_to(b);
	inproc_assert_no_cqe(b->rcq);
}

static void test_gsi_pkeys(void **state)
{
	struct rig_qp *from = ib_new_qp(0, OHCA_QPT_GSI), *to = ib_new_qp(1, OHCA_QPT_GSI);
	struct ohca_sge sge = rig_sge(ma, IOVA, LEN);
	struct rig_wr wr = wr_to(to, &sge);
	struct ohca_sq_wqe fields = {.ud.dest_qpn = htole32(1),
				     .ud.qkey = htole32(RIG_GSI_QKEY),
				     .ud.pkey_index = htole16(1)};

	(void)state;
	wr.fields = &fields;
	set_pkeys(0, 0xffff, 0x8001);
	set_pkeys(1, 0xffff, 0x8001);
	recv_of(to, mb);
	send_wr(from, &wr);
	assert_int_equal(le16toh(rig_wait_recv(to).pkey_index), 1);
	set_pkeys(1, 0x8001, 0x8001);
	recv_of(to, mb);
	send_wr(from, &wr);
	assert_int_equal(le16toh(rig_wait_recv(to).pkey_index), 0);
	set_pkeys(1, 0xffff, 0);
	recv_of(to, mb);
	send_wr(from, &wr);
	inproc_assert_no_cqe(to->rcq);
	assert_int_equal(ib_port_of(1)->pkey_viols, 1);
}

static void test_qkey(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, LEN);
	struct rig_wr wr = wr_to(b, &sge);

	(void)state;
	wr.qkey = RIG_QKEY + 1;
	recv_of(b, mb);
	send_wr(a, &wr);
	inproc_assert_no_cqe(b->rcq);
	assert_int_equal(ib_port_of(1)->qkey_viols, 1);
	assert_int_equal(ib_port_of(1)->pkey_viols, 0);
	assert_int_equal(rig_counter(&hca[1], OHCA_CNT_RX_DROPPED), 1);
}

static void test_not_active(void **state)
{
	(void)state;
	recv_of(b, mb);
	port_plug(inproc_hca(1)->ports[0], false);
	send_to(b);
	port_plug(inproc_hca(1)->ports[0], true);
	assert_int_equal(ib_port_of(1)->state, IB_PORT_INIT);
	send_to(b);
	inproc_assert_no_cqe(b->rcq);
	port_plug(inproc_hca(0)->ports[0], false);
	port_plug(inproc_hca(0)->ports[0], true);
	send_to(b);
	inproc_assert_no_cqe(b->rcq);
}

/* The address vector is invalid, for a command and for a work request. */
static void bad_av(uint32_t dest_qpn, bool command_too)
{
	struct rig_qp *rc = rig_qp_new(&hca[0], NULL);
	struct ohca_sge sge = rig_sge(ma, IOVA, LEN);
	struct rig_wr wr = wr_to(b, &sge);

	wr.dest_qpn = dest_qpn;
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_AV, 77);
	rig_to_reset(a);
	assert_to_rts(a);
	rc->attr.av = av;
	assert_int_equal(rig_to_init(rc), 0);
	if (command_too)
		assert_int_equal(rig_to_rtr(rc), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rig_qp_destroy(rc), 0);
}

static void test_bad_address(void **state)
{
	const struct ohca_av good = av;
	uint8_t *gid = ib_port_of(1)->gids[0];

	(void)state;
#define BAD(field, value)             \
	do {                          \
		av = good;            \
		av.field = value;     \
		bad_av(b->qpn, true); \
	} while (0)
	BAD(ib.dlid, 0);
	BAD(ib.dlid, htole16(MLID));
	BAD(ib.path_bits, 0x80);
	BAD(ib.static_rate, 26);
	BAD(ib.flags, 2);
	BAD(dgid[15], 1);
	BAD(sgid_index, htole16(1));
	BAD(flow_label, htole32(1));
	BAD(hop_limit, 1);
	BAD(tclass, 1);
	BAD(sl, 16);
	BAD(port, 2);
	av = good;
	add_grh(gid);
	av.sgid_index = htole16(1);
	bad_av(b->qpn, true);
	av.sgid_index = 0;
	av.flow_label = htole32(0x100000);
	bad_av(b->qpn, true);
	/* A multicast LID for one QP, the LID of a port for a group, the permissive LID */
	av.flow_label = 0;
	av.ib.dlid = htole16(MLID);
	bad_av(b->qpn, false);
	av.ib.dlid = htole16(BED_LID(1));
	bad_av(0xffffff, false);
	av.ib.dlid = htole16(LID_PERMISSIVE);
	bad_av(b->qpn, false);
}

/* Multicast */

static void test_mcast(void **state)
{
	uint16_t masks[32] = {htobe16(0x0006)};
	struct rig_qp *other = ib_new_qp(1, OHCA_QPT_UD), group = {.qpn = 0xffffff};

	(void)state;
	assert_int_equal(ib_mcast(OHCA_CMD_ATTACH_MCAST, b, 0), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ib_mcast(OHCA_CMD_ATTACH_MCAST, b, 0xbfff), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ib_mcast(OHCA_CMD_ATTACH_MCAST, b, LID_PERMISSIVE), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ib_mcast(OHCA_CMD_ATTACH_MCAST, b, MLID), OHCA_CMD_OK);
	assert_int_equal(ib_mcast(OHCA_CMD_ATTACH_MCAST, other, MLID + 1), OHCA_CMD_OK);
	assert_int_equal(ib_mcast(OHCA_CMD_DETACH_MCAST, b, MLID + 1), OHCA_CMD_BAD_HANDLE);
	recv_of(b, mb);
	recv_of(other, mb);
	add_grh((uint8_t[16]){0xff, 0x12, [15] = 1});
	av.ib.dlid = htole16(MLID);
	/* The switch has no such group. */
	send_to(&group);
	inproc_assert_no_cqe(b->rcq);
	assert_int_equal(ib_set(SM_MCAST_FDB, 0, to_switch, masks), MAD_OK);
	send_to(&group);
	assert_true(rig_wait_recv(b).flags & OHCA_CQE_F_GRH);
	inproc_assert_no_cqe(other->rcq);
}

#define BLOCK 32 /* LIDs in a block of the multicast forwarding table */

static void group_av(unsigned int i)
{
	add_grh((uint8_t[16]){0xff, 0x12, [14] = i >> 8, [15] = i & 0xff});
	av.ib.dlid = htole16(LID_MCAST + i);
}

static int join(unsigned int i)
{
	struct ohca_mcast_in in = {.qpn = htole32(b->qpn), .mlid = htole16(LID_MCAST + i)};

	group_av(i);
	memcpy(in.gid, av.dgid, 16);
	return drv_cmd(b->hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0);
}

/* As many groups as the switch has LIDs for, and the HCA has room for; there is no room for another one. */
static void test_many_groups(void **state)
{
	uint16_t masks[BLOCK];
	struct rig_qp group = {.qpn = 0xffffff};
	unsigned int i;

	(void)state;
	assert_int_equal(IB_SWITCH_MLIDS, HCA_MAX_MCAST);
	for (i = 0; i < BLOCK; i++)
		masks[i] = htobe16(0x0004);
	for (i = 0; i < IB_SWITCH_MLIDS / BLOCK; i++)
		assert_int_equal(ib_set(SM_MCAST_FDB, i, to_switch, masks), MAD_OK);
	assert_int_equal(ib_set(SM_MCAST_FDB, i, to_switch, masks), MAD_BAD_FIELD);
	for (i = 0; i < HCA_MAX_MCAST; i++)
		assert_int_equal(join(i), OHCA_CMD_OK);
	assert_int_equal(join(i), OHCA_CMD_NO_RESOURCE);
	for (i = 0; i < HCA_MAX_MCAST; i += 7) {
		group_av(i);
		recv_of(b, mb);
		send_to(&group);
		assert_true(rig_wait_recv(b).flags & OHCA_CQE_F_GRH);
	}
	/* No port has a group that the tables do not have. */
	group_av(HCA_MAX_MCAST);
	recv_of(b, mb);
	send_to(&group);
	inproc_assert_no_cqe(b->rcq);
}

/* Connections */

/* Connect a new pair by these paths; what a write comes to. */
static void write_by(struct ohca_av from_av, struct ohca_av to_av, uint8_t status)
{
	struct rig_qp *from = rig_qp_new(&hca[0], NULL), *to = rig_qp_new(&hca[1], NULL);

	from->attr.timeout = 8; /* 1 ms */
	from->attr.retry_cnt = 1;
	from->attr.av = from_av;
	to->attr.av = to_av;
	ib_connect(from, to);
	ib_post_write(from, rig_sge(ma, IOVA, LEN), INTO, mb->key);
	assert_int_equal(rig_wait_send(from).status, status);
	assert_int_equal(rig_qp_destroy(from), 0);
	assert_int_equal(rig_qp_destroy(to), 0);
}

static void test_paths(void **state)
{
	const struct ohca_av there = {.ib.dlid = htole16(BED_LID(1)), .port = 1};
	const struct ohca_av back = {.ib.dlid = htole16(BED_LID(0)), .port = 1};
	struct ohca_av av1, av2;

	(void)state;
	ib_port_set_lid(ib_port_of(0), BED_LID(0), 1);
	ib_port_set_lid(ib_port_of(1), BED_LID(1), 1);
	write_by(there, back, OHCA_WC_SUCCESS);
	/* Path bits of the source and of the destination; those above the LMC do not count. */
	av1 = there;
	av1.ib.path_bits = 0x7e;
	write_by(av1, back, OHCA_WC_SUCCESS);
	av1.ib.path_bits = 1;
	write_by(av1, back, OHCA_WC_RETRY_EXC_ERR);
	av2 = back;
	av2.ib.dlid = htole16(BED_LID(0) + 1);
	write_by(av1, av2, OHCA_WC_SUCCESS);
	av1.ib.dlid = htole16(BED_LID(1) + 1);
	write_by(av1, av2, OHCA_WC_RETRY_EXC_ERR);
	av2.ib.path_bits = 1;
	write_by(av1, av2, OHCA_WC_SUCCESS);
	/* A GRH on one side, and on both */
	av1 = there;
	av1.ib.flags = OHCA_AV_GRH;
	memcpy(av1.dgid, ib_port_of(1)->gids[0], 16);
	write_by(av1, back, OHCA_WC_RETRY_EXC_ERR);
	av2 = back;
	av2.ib.flags = OHCA_AV_GRH;
	memcpy(av2.dgid, ib_port_of(0)->gids[0], 16);
	write_by(av1, av2, OHCA_WC_SUCCESS);
	av2.dgid[15] ^= 1;
	write_by(av1, av2, OHCA_WC_RETRY_EXC_ERR);
	/* A LID that no port has */
	av1 = there;
	av1.ib.dlid = htole16(0x3f);
	write_by(av1, back, OHCA_WC_RETRY_EXC_ERR);
}

static void test_partitions(void **state)
{
	const struct ohca_av there = {.ib.dlid = htole16(BED_LID(1)), .port = 1};
	const struct ohca_av back = {.ib.dlid = htole16(BED_LID(0)), .port = 1};

	(void)state;
	set_pkeys(0, 0x7fff, 0);
	write_by(there, back, OHCA_WC_SUCCESS);
	set_pkeys(1, 0x7fff, 0);
	write_by(there, back, OHCA_WC_RETRY_EXC_ERR);
	assert_true(ib_port_of(1)->pkey_viols >= 2);
	set_pkeys(0, 0xffff, 0);
	write_by(there, back, OHCA_WC_SUCCESS);
}

/* QP 0 */

static struct rig_qp *new_smi(unsigned int i)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_GSI, .flags = OHCA_QP_F_PRIVILEGED};
	struct rig_qp *qp = drv_own(hca[i].drv, sizeof(*qp));
	struct ohca_create_qp_in in = rig_qp_in(&hca[i], &opts, qp);

	/* Instead of the subnet manager's QP 0 */
	assert_int_equal(smp_class.init(inproc_hca(i)), 0);
	in.type = OHCA_QPT_SMI;
	assert_int_equal(drv_create(hca[i].drv, OHCA_CMD_CREATE_QP, &in, sizeof(in)), 0);
	hca[i].next_slot++;
	assert_int_equal(try_create_qp(&hca[i], &in), OHCA_CMD_NO_RESOURCE);
	qp->attr.qkey = htole32(1);
	assert_int_equal(rig_to_init(qp), OHCA_CMD_BAD_PARAM);
	qp->attr.qkey = 0;
	assert_to_rts(qp);
	return qp;
}

static struct rig_wr smp_wr(const struct mad_packet *p, const struct ohca_sge *sge)
{
	struct rig_wr wr = wr_to(&(struct rig_qp){.qpn = 0}, sge);

	rig_mr_set(ma, IOVA, p->mad, MAD_LEN);
	av = (struct ohca_av){.ib.dlid = htole16(p->dlid), .port = 1};
	wr.qkey = 0;
	return wr;
}

/* QP 0 only needs a physical link, not an active port. */
static void test_smi(void **state)
{
	struct mad_packet p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_hca1);
	struct ohca_sge sge = rig_sge(ma, IOVA, MAD_LEN);
	struct rig_qp *smi = new_smi(0);
	struct rig_wr wr = smp_wr(&p, &sge);
	struct ohca_cqe cqe;
	struct smp smp;

	(void)state;
	recv_of(smi, ma);
	send_wr(smi, &wr);
	cqe = rig_wait_recv(smi);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 5);
	assert_int_equal(le32toh(cqe.byte_len), GRH + MAD_LEN);
	assert_int_equal(cqe.net_type, OHCA_NET_IB);
	assert_int_equal(le16toh(cqe.ib.slid), LID_PERMISSIVE);
	assert_int_equal(cqe.src_qpn, 0);
	rig_mr_get(ma, INTO + GRH, &smp, sizeof(smp));
	assert_int_equal(smp.hdr.method, MAD_GET_RESP);
	assert_int_equal(smp.hdr.tid, p.hdr.tid);
	assert_int_equal(smp.hdr.hop_ptr, 1);
	/* A packet for QP 0 without a receive request is dropped. */
	assert_int_equal(ib_port_of(0)->counters.vl15_dropped, 0);
	send_wr(smi, &wr);
	inproc_settle();
	assert_int_equal(ib_port_of(0)->counters.vl15_dropped, 1);
	/* While the link is down there is not even a packet to drop */
	port_plug(inproc_hca(0)->ports[0], false);
	recv_of(smi, ma);
	send_wr(smi, &wr);
	inproc_assert_no_cqe(smi->rcq);
}

/* A packet that is not a subnet management packet is not sent. */
static void test_smi_drops(void **state)
{
	struct mad_packet p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_hca1);
	struct ohca_sge sge = rig_sge(ma, IOVA, MAD_LEN), less = rig_sge(ma, IOVA, MAD_LEN - 4);
	struct rig_qp *smi = new_smi(0);
	struct rig_wr wr = smp_wr(&p, &sge);

	(void)state;
	recv_of(smi, ma);
	wr.dest_qpn = 1;
	send_wr(smi, &wr);
	wr.dest_qpn = 0;
	wr.qkey = 1;
	send_wr(smi, &wr);
	wr.qkey = 0;
	wr.sge = &less;
	send_wr(smi, &wr);
	inproc_assert_no_cqe(smi->rcq);
	wr.sge = &sge;
	send_wr(smi, &wr);
	rig_wait_recv(smi);
}

/* Another QP can't send to QP 0, even with its Q_Key. */
static void test_to_qp_0(void **state)
{
	struct mad_packet p = ib_lid_request(MAD_GET, SM_SM_INFO, 0, BED_LID(1));
	struct ohca_sge sge = rig_sge(ma, IOVA, MAD_LEN);
	struct rig_qp *smi = new_smi(1);
	struct rig_wr wr = smp_wr(&p, &sge);

	(void)state;
	recv_of(smi, mb);
	send_wr(a, &wr);
	inproc_assert_no_cqe(smi->rcq);
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	assert_int_equal(le16toh(rig_wait_recv(smi).ib.slid), BED_LID(0));
}

/* Rules for software that connects QPs, as an HCA with the option "strict" sees them */

/* PortInfo's numbers: 3 is 1024 bytes, 4 is 2048, 5 is 4096. */
static void connect_with_mtu(uint8_t path_mtu)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_RC};
	struct rig_qp *from = rig_qp_new(&hca[0], &opts), *to = rig_qp_new(&hca[1], &opts);

	from->attr.av = ib_av_to(1);
	to->attr.av = ib_av_to(0);
	from->attr.path_mtu = path_mtu;
	to->attr.path_mtu = path_mtu;
	ib_connect(from, to);
}

static void assert_broken(unsigned int num)
{
	assert_int_equal(inproc_hca(0)->broken_rules, num);
}

static void query_port(void)
{
	struct ohca_query_port_in in = {.port = 1};
	struct ohca_query_port_out out;

	assert_int_equal(drv_cmd(ib.drv[0], OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out,
				 sizeof(out)),
			 OHCA_CMD_OK);
}

/* S-042: the asynchronous EQ exists, but the port was not read since it was created. */
static void test_port_not_read(void **state)
{
	(void)state;
	inproc_hca(0)->strict = true;
	query_port();
	inproc_hca(0)->ports_read = 0; /* as when the EQ is created */
	connect_with_mtu(3);
	assert_broken(1);
	query_port();
	connect_with_mtu(3);
	assert_broken(1);
}

/* S-043: a path MTU beyond what the link carries */
static void test_path_mtu(void **state)
{
	(void)state;
	inproc_hca(0)->strict = true;
	query_port();
	connect_with_mtu(5);
	assert_broken(0);
	ib_port_set_mtu(ib_port_of(0), 4);
	connect_with_mtu(4);
	assert_broken(0);
	connect_with_mtu(5);
	assert_broken(1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_subnet, ib_bed_close)
#define TEST_LINKS(name) cmocka_unit_test_setup_teardown(name, open_links, ib_bed_close)

static const struct CMUnitTest tests[] = {
	TEST(test_completion), TEST(test_grh),		 TEST(test_loopback),
	TEST(test_net_type),   TEST(test_pkeys),	 TEST(test_gsi_pkeys),
	TEST(test_qkey),       TEST(test_not_active),	 TEST(test_bad_address),
	TEST(test_mcast),      TEST(test_many_groups),	 TEST(test_paths),
	TEST(test_partitions), TEST_LINKS(test_smi),	 TEST_LINKS(test_smi_drops),
	TEST(test_to_qp_0),    TEST(test_port_not_read), TEST(test_path_mtu),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
