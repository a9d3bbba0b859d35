// SPDX-License-Identifier: GPL-2.0
/*
 * Machines of several owners: each of three HCAs in turn is the hostile one, a tenant, and the other two are the victims, each
 * as the sender and as the receiver.  Each action of the tenant is refused, and meanwhile and afterwards the messages of the
 * victims arrive as they were sent, and no event or error reports anything to them.  All of it is done with Ethernet ports, and
 * with InfiniBand ports.
 *
 * What the socket of a machine takes (descriptors, framing) is in pci_test and vfio_user_test.
 */

#include <endian.h>
#include <unistd.h>

#include "fabric/ib_port.h"
#include "fabric/port.h"
#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_assert.h"
#include "mad_request.h"
#include "packet/sm_attr.h"
#include "pair.h"
#include "qp/qp.h"
#include "rig_assert.h"
#include "rig_raw.h"
#include "rnd.h"

#define NUM_HCAS 3
#define OWN_IOVA 0x10000ULL
#define OWN_LEN 8192
#define OBJECTS 1500

static struct rig *rig;
static bool infiniband;

/**
 * struct scene - a tenant and its victims
 * @victims: their connection
 * @eth: Ethernet: QPs of the victims' frames
 * @own, @peer: a connection of the tenant with itself
 * @pdn, @cqn, @qpn: objects of the first victim, with numbers that the tenant's objects do not have
 */
struct scene {
	struct rig_hca *tenant;
	unsigned int index;
	struct pair victims;
	struct raw eth[2];
	struct rig_qp *own, *peer;
	struct rig_mr *mr;
	uint32_t pdn, cqn, qpn;
	uint32_t seed;
};

static int run(const struct scene *s, uint16_t opcode, const void *in, size_t len, uint32_t *id)
{
	struct ohca_handle out = {0};
	int status =
		drv_cmd(s->tenant->drv, opcode, in, len, id ? &out : NULL, id ? sizeof(out) : 0);

	if (id)
		*id = le32toh(out.id);
	return status;
}

static struct hca *device(const struct scene *s)
{
	return inproc_hca(s->index);
}

/* The tenant's connection is as new. */
static void connect_own(struct scene *s)
{
	rig_to_reset(s->own);
	rig_to_reset(s->peer);
	rig_connect(s->own, s->peer);
}

/* A work request of the tenant fails with this status. */
static void assert_fails(struct scene *s, const struct rig_wr *wr, uint8_t status)
{
	connect_own(s);
	rig_post_send(s->own, wr);
	assert_int_equal(rig_wait_send(s->own).status, status);
}

/* Keys of a victim: neither for what the tenant sends nor at its peer */
static void foreign_keys(struct scene *s)
{
	struct ohca_sge own = rig_sge(s->mr, OWN_IOVA, 64), theirs = own;
	struct rig_wr wr = rig_write(&theirs, OWN_IOVA, s->mr->key);
	uint32_t keys[] = {s->victims.ma->key, s->victims.mb->key};
	struct ohca_handle in = {0};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		wr = rig_write(&theirs, OWN_IOVA, s->mr->key);
		theirs.lkey = htole32(keys[i]);
		theirs.addr = htole64(PAIR_IOVA);
		assert_fails(s, &wr, OHCA_WC_LOC_PROT_ERR);
		wr = rig_write(&own, PAIR_IOVA, keys[i]);
		assert_fails(s, &wr, OHCA_WC_REM_ACCESS_ERR);
		wr.opcode = OHCA_OP_RDMA_READ;
		assert_fails(s, &wr, OHCA_WC_REM_ACCESS_ERR);
		in.id = htole32(keys[i]);
		assert_int_equal(run(s, OHCA_CMD_DESTROY_MKEY, &in, sizeof(in), NULL),
				 OHCA_CMD_BAD_HANDLE);
	}
}

/* The numbers of a victim's QPs, as a peer */
static void foreign_qps(struct scene *s)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UC},
				 ud = {.type = OHCA_QPT_UD, .ext = true};
	struct rig_qp *qp = rig_qp_new(s->tenant, &opts), *from = rig_qp_new(s->tenant, &ud);
	struct ohca_sge sge = rig_sge(s->mr, OWN_IOVA, 64);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct ohca_av av = rig_av(s->victims.a->hca);
	struct rig_wr datagram = rig_datagram(s->victims.a, &av, &sge);

	rig_address(qp, s->victims.a);
	assert_to_rts(qp);
	rig_post_send(qp, &wr);
	assert_int_equal(rig_wait_send(qp).status, OHCA_WC_SUCCESS);
	assert_to_rts(from);
	rig_post_send(from, &datagram);
	assert_int_equal(rig_wait_send(from).status, OHCA_WC_SUCCESS);
	assert_int_equal(rig_qp_destroy(qp), 0);
	assert_int_equal(rig_qp_destroy(from), 0);
}

/* Handles of a victim's objects in commands */
static void foreign_objects(struct scene *s)
{
	static const uint16_t destroy[] = {OHCA_CMD_DESTROY_QP, OHCA_CMD_DESTROY_CQ,
					   OHCA_CMD_FREE_PD};
	const uint32_t ids[] = {s->qpn, s->cqn, s->pdn};
	struct ohca_create_mkey_in mkey = {.xlt = s->mr->xlt,
					   .iova = htole64(OWN_IOVA),
					   .length = htole64(OWN_LEN),
					   .pdn = htole32(s->pdn),
					   .access = RIG_ALL_ACCESS};
	const struct rig_qp_opts opts = {.pdn = s->pdn};
	struct ohca_modify_qp_in modify = {.qpn = htole32(s->qpn),
					   .attr_mask = htole32(OHCA_QP_STATE),
					   .attr = {.state = OHCA_QPS_ERR}};
	struct ohca_create_qp_in qp_in;
	struct rig_qp qp;
	unsigned int i;
	uint32_t id;

	for (i = 0; i < ARRAY_SIZE(destroy); i++) {
		struct ohca_handle in = {.id = htole32(ids[i])};

		assert_int_equal(run(s, destroy[i], &in, sizeof(in), NULL), OHCA_CMD_BAD_HANDLE);
	}
	assert_int_equal(run(s, OHCA_CMD_CREATE_MKEY, &mkey, sizeof(mkey), &id),
			 OHCA_CMD_BAD_HANDLE);
	qp_in = rig_qp_in(s->tenant, &opts, &qp);
	assert_int_equal(run(s, OHCA_CMD_CREATE_QP, &qp_in, sizeof(qp_in), &id),
			 OHCA_CMD_BAD_HANDLE);
	qp_in.pdn = htole32(s->tenant->pdn);
	qp_in.send_cqn = htole32(s->cqn);
	assert_int_equal(run(s, OHCA_CMD_CREATE_QP, &qp_in, sizeof(qp_in), &id),
			 OHCA_CMD_BAD_HANDLE);
	assert_int_equal(run(s, OHCA_CMD_MODIFY_QP, &modify, sizeof(modify), NULL),
			 OHCA_CMD_BAD_HANDLE);
}

/* Addresses of a victim: in frames, as the port's, and as a GID */
static void forged_addresses(struct scene *s)
{
	static const uint8_t free_gid[16] = {[10] = 0xff, 0xff, 10, 6, 6, 6};
	const struct rig_hca *victim = s->victims.a->hca;
	struct ohca_modify_port_in port = {.attr_mask = htole32(OHCA_PORT_ATTR_MAC), .port = 1};
	struct ohca_set_gid_in gid = {.port = 1,
				      .type = OHCA_GID_ROCE_V2,
				      .index = htole16(1),
				      .vlan = htole16(OHCA_VLAN_NONE)};
	struct raw raw = raw_new(s->tenant, OHCA_QPT_ETH, 0);
	uint64_t refused = device(s)->ports[0]->refused.frames;
	uint8_t frame[RAW_UDP_LEN];

	memcpy(frame, raw_udp, RAW_UDP_LEN);
	memcpy(frame, s->victims.b->hca->mac, 6);
	memcpy(frame + 6, victim->mac, 6);
	raw_send(&raw, frame, RAW_UDP_LEN);
	raw_assert_none(&s->eth[1]);
	assert_int_equal(device(s)->ports[0]->refused.frames, refused + 1);
	memcpy(port.mac, victim->mac, 6);
	assert_int_equal(run(s, OHCA_CMD_MODIFY_PORT, &port, sizeof(port), NULL), OHCA_CMD_BUSY);
	memcpy(gid.gid, free_gid, 16);
	memcpy(gid.mac, victim->mac, 6);
	assert_int_equal(run(s, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL), OHCA_CMD_BUSY);
	memcpy(gid.mac, s->tenant->mac, 6);
	memset(gid.gid, 0, 16);
	memcpy(gid.gid, "\xfe\x80", 2);
	memcpy(gid.gid + 8, victim->mac, 3);
	gid.gid[8] ^= 2;
	memcpy(gid.gid + 11, "\xff\xfe", 2);
	memcpy(gid.gid + 13, victim->mac + 3, 3);
	assert_int_equal(run(s, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(raw.qp), 0);
}

/* A flow of all frames, and promiscuous mode: frames between the victims are not heard. */
static void eavesdropping(struct scene *s)
{
	struct raw raw = raw_new(s->tenant, OHCA_QPT_ETH, 0);
	struct raw netdev = raw_new(s->tenant, OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	struct ohca_create_flow_in in = raw_flow_in(raw.qp->qpn);
	struct ohca_modify_port_in port = {
		.attr_mask = htole32(OHCA_PORT_ATTR_PROMISC), .port = 1, .promisc = 1};
	uint32_t flow = raw_flow_new(s->tenant, &in);
	uint8_t frame[RAW_UDP_LEN];

	assert_int_equal(run(s, OHCA_CMD_MODIFY_PORT, &port, sizeof(port), NULL), 0);
	raw_post(&raw);
	raw_post(&netdev);
	memcpy(frame, raw_udp, RAW_UDP_LEN);
	memcpy(frame, s->victims.b->hca->mac, 6);
	memcpy(frame + 6, s->victims.a->hca->mac, 6);
	raw_send(&s->eth[0], frame, RAW_UDP_LEN);
	raw_assert_got(&s->eth[1], frame, RAW_UDP_LEN);
	raw_post(&s->eth[1]);
	raw_assert_none(&raw);
	raw_assert_none(&netdev);
	assert_int_equal(drv_destroy(s->tenant->drv, OHCA_CMD_DESTROY_FLOW, flow), 0);
	assert_int_equal(rig_qp_destroy(raw.qp), 0);
	assert_int_equal(rig_qp_destroy(netdev.qp), 0);
}

/*
 * InfiniBand: the LID of a victim, which the switch knows at another port, and the GUID of one.  The tenant's QP is
 * connected to a victim's QP as its peer is.
 */
static void forged_lid(struct scene *s)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UC};
	struct rig_qp *qp = rig_qp_new(s->tenant, &opts);
	struct ohca_sge sge = rig_sge(s->mr, OWN_IOVA, 64);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct port *port = device(s)->ports[0];
	uint64_t refused = port->refused.lids;

	ib_port_set_lid(port->ib, s->victims.a->hca->lid, 0);
	rig_address(qp, s->victims.b);
	assert_to_rts(qp);
	rig_post_send(qp, &wr);
	inproc_settle();
	assert_true(port->refused.lids > refused);
	ib_port_set_lid(port->ib, s->tenant->lid, 0);
	assert_int_equal(rig_qp_destroy(qp), 0);
}

static void forged_guid(struct scene *s)
{
	struct ohca_mad_in in = {.port = 1};
	struct mad_packet p;
	struct ohca_mad_out out;

	p = mad_request(MAD_CLASS_SM_LID, MAD_SET, SM_GUID_INFO, 0);
	memcpy(p.smp.data + 8, s->victims.a->hca->gid + 8, 8);
	memcpy(in.mad, &p.smp, sizeof(p.smp));
	assert_int_equal(drv_cmd(s->tenant->drv, OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)),
			 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	memcpy(&p.smp, out.mad, sizeof(p.smp));
	assert_int_not_equal(be16toh(p.smp.hdr.status), 0);
}

/* A datagram between the victims is not heard by a QP of the tenant that has its number and its Q_Key. */
static void overhearing(struct scene *s)
{
	const struct rig_qp_opts ud = {.type = OHCA_QPT_UD, .ext = true};
	struct rig_qp *from = rig_qp_new(s->victims.a->hca, &ud);
	struct rig_qp *to = rig_qp_new(s->victims.b->hca, &ud);
	struct rig_qp *ear = rig_qp_new(s->tenant, &ud);
	struct ohca_sge sge = rig_sge(s->victims.ma, PAIR_IOVA, 64);
	struct ohca_sge into = rig_sge(s->victims.mb, PAIR_IOVA, 200);
	struct ohca_sge own = rig_sge(s->mr, OWN_IOVA, 200);
	struct ohca_av av = rig_av(to->hca);
	struct rig_wr wr = rig_datagram(to, &av, &sge);
	struct ohca_cqe cqe;

	assert_to_rts(from);
	assert_to_rts(to);
	assert_to_rts(ear);
	rig_post_recv(ear, 0, &own, 1);
	rig_post_recv(to, 0, &into, 1);
	rig_post_send(from, &wr);
	assert_int_equal(rig_wait_send(from).status, OHCA_WC_SUCCESS);
	assert_int_equal(rig_wait_recv(to).status, OHCA_WC_SUCCESS);
	assert_false(drv_cq_poll(ear->rcq, &cqe));
	assert_int_equal(rig_qp_destroy(from), 0);
	assert_int_equal(rig_qp_destroy(to), 0);
	assert_int_equal(rig_qp_destroy(ear), 0);
}

/* Work requests of random bytes: they fail, and stop no QP but the tenant's own. */
static void bad_work_requests(struct scene *s)
{
	struct ohca_cqe cqe;
	unsigned int i, k;

	for (i = 0; i < 300; i++) {
		uint8_t *entry;

		connect_own(s);
		entry = rig_sq_entry(s->own, s->own->sq_pi++);
		for (k = 0; k < 1U << s->own->sq_log_stride; k++)
			entry[k] = rnd(256);
		entry[0] = rnd(20);
		rig_ring(s->own);
		inproc_settle();
		while (drv_cq_poll(s->own->scq, &cqe))
			drv_cq_ack(s->own->scq);
	}
}

/* As many flows as there may be */
static void exhaust_flows(struct scene *s)
{
	struct raw raw = raw_new(s->tenant, OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in flow = raw_flow_in(raw.qp->qpn);
	uint32_t id, n = 0;
	int status;

	memset(flow.mask.dst_ip, 0xff, 4);
	do {
		memcpy(flow.value.dst_ip, &n, sizeof(n));
		status = run(s, OHCA_CMD_CREATE_FLOW, &flow, sizeof(flow), &id);
	} while (!status && ++n);
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	assert_true(device(s)->quotas[QUOTA_FLOWS].refused);
}

/* Everything that there are quotas for */
static void exhaustion(struct scene *s)
{
	const struct ohca_create_mkey_in pages = {.pdn = htole32(s->tenant->pdn),
						  .type = OHCA_MKEY_FAST_REG,
						  .max_pages = htole32(1 << 16)};
	const struct rig_qp_opts ud = {.type = OHCA_QPT_UD, .ext = true}, deep = {.log_size = 12};
	struct ohca_mcast_in group = {.gid = {0xff, 0x12},
				      .qpn = htole32(rig_qp_new(s->tenant, &ud)->qpn)};
	struct ohca_create_qp_in qp_in;
	struct rig_qp qp;
	uint32_t id, n = 0;
	int status;

	if (infiniband)
		group.mlid = htole16(0xc000);
	else
		exhaust_flows(s);
	do {
		memcpy(group.gid + 12, &n, sizeof(n));
		status = run(s, OHCA_CMD_ATTACH_MCAST, &group, sizeof(group), NULL);
	} while (!status && ++n);
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	qp_in = rig_qp_in(s->tenant, &deep, &qp);
	do
		status = run(s, OHCA_CMD_CREATE_QP, &qp_in, sizeof(qp_in), &id);
	while (!status);
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	do
		status = run(s, OHCA_CMD_CREATE_MKEY, &pages, sizeof(pages), &id);
	while (!status);
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	assert_true(device(s)->quotas[QUOTA_MEMORY].refused);
	assert_true(device(s)->quotas[QUOTA_GROUPS].refused);
}

/* All doorbells at once, over and over: see quota_test for what that takes. */
static void storm(struct scene *s)
{
	drv_ring_all(s->tenant->drv->shadow);
}

/* A command queue whose index jumps: the HCA is fatal, for its own machine. */
static void bad_command_queue(struct scene *s)
{
	drv_set_reg(s->tenant->drv, OHCA_REG_CMDQ_DB, 0x1000000);
	assert_true(device(s)->fatal);
}

/* A reset of itself that has much to free: it has begun, and goes on beside the victims' messages. */
static void long_reset(struct scene *s)
{
	const struct rig_qp_opts opts = {.log_size = 1};
	struct ohca_create_qp_in in;
	struct rig_qp qp;
	unsigned int i;
	uint32_t id;

	in = rig_qp_in(s->tenant, &opts, &qp);
	for (i = 0; i < OBJECTS; i++)
		assert_int_equal(run(s, OHCA_CMD_CREATE_QP, &in, sizeof(in), &id), 0);
	drv_set_reg(s->tenant->drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
}

/* The file of its memory ends: the device reads zeroes there, or fails accesses of this HCA. */
static void truncation(struct scene *s)
{
	struct vu_mem *mem = &s->tenant->drv->vu->mems[0];
	struct ohca_sge sge = rig_sge(s->mr, OWN_IOVA, OWN_LEN);
	struct rig_wr wr = rig_write(&sge, OWN_IOVA, s->mr->key);

	connect_own(s);
	rig_post_send(s->own, &wr);
	assert_int_equal(ftruncate(mem->fd, 0), 0);
	inproc_settle();
	assert_int_equal(ftruncate(mem->fd, mem->size), 0);
	assert_int_equal(vu_dma_unmap(s->tenant->drv->vu, mem->iova, mem->size), 0);
	inproc_map(s->tenant->drv->vu);
}

/* Messages of all kinds between the victims, in both directions, and nothing that shows them others */
static void assert_undisturbed(struct scene *s)
{
	static const struct pair_layout layouts[] = {{100, 1, 2, 2, 3}, {40000, 3, 1, 4, 2}};
	struct pair back = {s->victims.rig, s->victims.b, s->victims.a, s->victims.mb,
			    s->victims.ma};
	unsigned int i, k;

	for (i = 0; i < PAIR_OPS; i++) {
		for (k = 0; k < ARRAY_SIZE(layouts); k++) {
			pair_check_message(&s->victims, pair_all_ops[i], &layouts[k], s->seed++);
			pair_check_message(&back, pair_all_ops[i], &layouts[k], s->seed++);
		}
	}
	for (i = 0; i < 2 && !infiniband; i++)
		raw_assert_none(&s->eth[i]);
	for (i = 0; i < 2; i++) {
		struct rig_qp *qp = i ? s->victims.b : s->victims.a;
		struct hca *hca = inproc_qp(qp)->hca;

		assert_int_equal(inproc_qp(qp)->state, OHCA_QPS_RTS);
		inproc_assert_no_event(qp->hca);
		assert_true(hca->ready && !hca->fatal);
		assert_int_equal(rig_counter(qp->hca, OHCA_CNT_RESP_ACCESS_ERRORS), 0);
		assert_int_equal(rig_counter(qp->hca, OHCA_CNT_DUPLICATES), 0);
		assert_int_equal(rig_counter(qp->hca, OHCA_CNT_TIMEOUTS), 0);
	}
}

#define ETHERNET 0x1
#define INFINIBAND 0x2
#define BOTH (ETHERNET | INFINIBAND)

static const struct {
	const char *name;
	void (*act)(struct scene *s);
	uint8_t links; /* where it is possible */
	bool renews; /* the tenant's HCA needs a reset afterwards */
} actions[] = {
	{"foreign keys", foreign_keys, BOTH, false},
	{"foreign queue pairs", foreign_qps, BOTH, false},
	{"foreign objects", foreign_objects, BOTH, false},
	{"forged addresses", forged_addresses, ETHERNET, false},
	{"forged LID", forged_lid, INFINIBAND, false},
	{"forged GUID", forged_guid, INFINIBAND, false},
	{"eavesdropping", eavesdropping, ETHERNET, false},
	{"overhearing", overhearing, BOTH, false},
	{"bad work requests", bad_work_requests, BOTH, false},
	{"storm of doorbells", storm, BOTH, false},
	{"exhaustion of quotas", exhaustion, BOTH, true},
	{"bad command queue", bad_command_queue, BOTH, true},
	{"long reset", long_reset, BOTH, true},
	{"truncated memory", truncation, BOTH, true},
};

static void own_objects(struct scene *s)
{
	const struct rig_qp_opts opts = {0};

	s->own = rig_qp_new(s->tenant, &opts);
	s->peer = rig_qp_new(s->tenant, &opts);
	s->mr = rig_mr_new(s->tenant, OWN_IOVA, OWN_LEN, RIG_ALL_ACCESS, 0);
}

/* After a reset, with a connection and memory again */
static void renew(struct scene *s)
{
	while (hca_is_resetting(device(s)))
		inproc_step();
	rig_renew_hca(rig, s->index);
	if (infiniband)
		rig_set_up_subnet(rig);
	own_objects(s);
}

/* Objects of a victim whose numbers are beyond those of the tenant */
static void foreign_numbers(struct scene *s)
{
	const struct rig_qp_opts opts = {.log_size = 1, .cq_log_size = 4};
	struct rig_hca *victim = s->victims.a->hca;
	unsigned int i;

	for (i = 0; i < 40; i++) {
		s->pdn = drv_create(victim->drv, OHCA_CMD_ALLOC_PD, NULL, 0);
		s->qpn = rig_qp_new(victim, &opts)->qpn;
		s->cqn = drv_cq_new(victim->drv, 4, victim->comp->eqn)->cqn;
	}
}

/* Take the events of the time in which the ports became active. */
static void take_events(struct rig_hca *hca)
{
	struct ohca_eqe eqe;

	inproc_settle();
	while (drv_eq_poll(hca->async, &eqe))
		drv_eq_ack(hca->async);
}

static struct scene scene_of(unsigned int tenant)
{
	const struct rig_qp_opts opts = {.max_sge = 4};
	struct scene s = {.tenant = &rig->hca[tenant], .index = tenant, .seed = 1};
	struct rig_hca *a = &rig->hca[(tenant + 1) % NUM_HCAS],
		       *b = &rig->hca[(tenant + 2) % NUM_HCAS];
	unsigned int i;

	s.victims = (struct pair){
		.rig = rig,
		.a = rig_qp_new(a, &opts),
		.b = rig_qp_new(b, &opts),
		.ma = rig_mr_new(a, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0),
		.mb = rig_mr_new(b, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0),
	};
	rig_connect(s.victims.a, s.victims.b);
	for (i = 0; i < 2 && !infiniband; i++) {
		s.eth[i] = raw_new(i ? b : a, OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
		raw_post(&s.eth[i]);
	}
	own_objects(&s);
	foreign_numbers(&s);
	take_events(a);
	take_events(b);
	return s;
}

static void start(void)
{
	static const struct quota_options small = {
		.given = 1U << QUOTA_PAGES | 1U << QUOTA_MEMORY | 1U << QUOTA_FLOWS |
			 1U << QUOTA_GROUPS,
		.max = {[QUOTA_PAGES] = 1 << 20,
			[QUOTA_MEMORY] = 8 << 20,
			[QUOTA_FLOWS] = 200,
			[QUOTA_GROUPS] = 200},
	};
	unsigned int i;

	for (i = 0; i < NUM_HCAS; i++)
		inproc_quotas[i] = small;
	server = infiniband ? inproc_start_ib(NUM_HCAS) : server_start(NUM_HCAS);
	rig = rig_open_some(server, 0, NUM_HCAS, infiniband);
}

static void stop(void)
{
	rig_close(rig);
	memset(inproc_quotas, 0, sizeof(inproc_quotas));
	assert_true(server_stop(server));
}

static void check_tenant(unsigned int tenant)
{
	struct scene s;
	unsigned int i;

	if (BYTE_ORDER == BIG_ENDIAN)
		skip_emulated("a SIGBUS has the wrong address");
	/* Not in a fixture: the test framework would take the device's SIGBUS from it. */
	start();
	s = scene_of(tenant);
	rnd_seed();
	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (!(actions[i].links & (infiniband ? INFINIBAND : ETHERNET)))
			continue;
		print_message("# hca%u%s: %s\n", tenant, infiniband ? ", InfiniBand" : "",
			      actions[i].name);
		assert_undisturbed(&s);
		actions[i].act(&s);
		assert_undisturbed(&s);
		if (actions[i].renews)
			renew(&s);
	}
	assert_undisturbed(&s);
	stop();
}

static void test_first(void **state)
{
	(void)state;
	check_tenant(0);
}

static void test_second(void **state)
{
	(void)state;
	check_tenant(1);
}

static void test_third(void **state)
{
	(void)state;
	check_tenant(2);
}

static void check_infiniband(unsigned int tenant)
{
	infiniband = true;
	check_tenant(tenant);
	infiniband = false;
}

static void test_first_infiniband(void **state)
{
	(void)state;
	check_infiniband(0);
}

static void test_second_infiniband(void **state)
{
	(void)state;
	check_infiniband(1);
}

static void test_third_infiniband(void **state)
{
	(void)state;
	check_infiniband(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_second),
		cmocka_unit_test(test_third),
		cmocka_unit_test(test_first_infiniband),
		cmocka_unit_test(test_second_infiniband),
		cmocka_unit_test(test_third_infiniband),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
