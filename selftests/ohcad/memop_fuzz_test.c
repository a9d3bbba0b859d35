// SPDX-License-Identifier: GPL-2.0
/*
 * All operations of a reliable connection on all types of keys: valid, nearly valid and random,
 * while keys and QPs are created and destroyed.  At the end no object is referenced any more.  All
 * choices are random, from a seed (environment SEED).
 */

#include <endian.h>

#define HANG_SECONDS 1200

#include "harness.h"
#include "hcas.h"
#include "memop.h"
#include "rnd.h"

#define NUM_KEYS 24 /* keys of each HCA */
#define NUM_WQES 3000
#define MR_LEN 20000U

static int start(void **state)
{
	rnd_seed();
	return start_two_hcas(state);
}

/* @good, or a random value now and then. */
static uint64_t mostly(uint64_t good)
{
	if (rnd(100))
		return good;
	return rnd(2) ? good + rnd(16) - 8 : (uint64_t)rnd(~0U) << 32 | rnd(~0U);
}

/**
 * struct key - the state of a key as far as this program knows, which is often correct
 */
struct key {
	uint8_t type;
	uint32_t key;
	bool valid;
};

/**
 * struct scene - @mr: regions for data, one on each HCA, for local lists and registrations
 */
struct scene {
	struct pair p;
	struct rig_mr *mr[2];
	struct key keys[2][NUM_KEYS];
	unsigned int by_op[16], done[16];
};

static struct key new_key(struct scene *s, unsigned int side)
{
	struct rig_mr *mr = s->mr[side];
	struct ohca_create_mkey_in in = {.pdn = htole32(mr->hca->pdn),
					 .type = rnd(3) ? rnd(4) + 1 : OHCA_MKEY_MR};
	struct key key;

	if (in.type == OHCA_MKEY_DMA)
		in.type = OHCA_MKEY_MR;
	if (in.type == OHCA_MKEY_MR) {
		in.xlt = mr->xlt;
		in.iova = htole64(PAIR_IOVA);
		in.length = htole64(MR_LEN);
		in.access = rnd(8) ? 0xdf : OHCA_ACCESS_LOCAL_WRITE | (rnd(0xe0) & 0xde);
	} else if (in.type == OHCA_MKEY_FAST_REG) {
		in.max_pages = htole32(mr->num_pages);
	}
	key.type = in.type;
	key.valid = in.type == OHCA_MKEY_MR;
	key.key = drv_create(mr->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	return key;
}

/* One of these types (bits), valid or not if there is one and @valid is not negative. */
static struct key *any_key(struct scene *s, unsigned int side, unsigned int types, int valid)
{
	struct key *found = &s->keys[side][0];
	unsigned int i = rnd(NUM_KEYS), n;

	for (n = 0; n < NUM_KEYS; n++) {
		struct key *key = &s->keys[side][(i + n) % NUM_KEYS];

		if (!(types & 1U << key->type))
			continue;
		found = key;
		if (valid < 0 || key->valid == valid)
			break;
	}
	return found;
}

#define MR (1U << OHCA_MKEY_MR)
#define FAST_REG (1U << OHCA_MKEY_FAST_REG)
#define MW_1 (1U << OHCA_MKEY_MW_1)
#define MW_2 (1U << OHCA_MKEY_MW_2)
#define ANY (MR | FAST_REG | MW_1 | MW_2)

/* Mostly a key that is valid for the operation. */
static struct key *key_for(struct scene *s, unsigned int side, uint8_t op)
{
	if (!rnd(30))
		return any_key(s, side, ANY, -1);
	switch (op) {
	case OHCA_OP_SEND_INV:
		return any_key(s, side, FAST_REG | MW_2, 1);
	case OHCA_OP_LOCAL_INV:
		return any_key(s, side, rnd(2) ? FAST_REG : MW_2, 1);
	case OHCA_OP_REG_MR:
		return any_key(s, side, FAST_REG, 0);
	case OHCA_OP_BIND_MW:
		return rnd(2) ? any_key(s, side, MW_1, -1) : any_key(s, side, MW_2, 0);
	default:
		return any_key(s, side, rnd(2) ? MR : ANY, 1);
	}
}

#define BOUND_TO_NOTHING (1ULL << 32)

/* Update the keys by a completion. */
static void learn(struct scene *s, unsigned int side, const struct ohca_cqe *cqe)
{
	uint64_t wr_id = le64toh(cqe->wr_id);
	uint32_t key = wr_id;
	unsigned int i;

	if (cqe->status)
		return;
	if (cqe->flags & OHCA_CQE_F_INV)
		key = le32toh(cqe->inv_key);
	else if (cqe->flags & OHCA_CQE_F_RQ || cqe->opcode < OHCA_OP_LOCAL_INV)
		return;
	for (i = 0; i < NUM_KEYS; i++) {
		struct key *k = &s->keys[side][i];

		if ((k->key ^ key) >> 8)
			continue;
		k->key = key;
		k->valid = !(cqe->flags & OHCA_CQE_F_INV) && cqe->opcode != OHCA_OP_LOCAL_INV &&
			   !(wr_id & BOUND_TO_NOTHING);
	}
}

/* Fields and extension of an operation. */
static void random_fields(struct scene *s, unsigned int side, struct rig_wr *wr,
			  struct ohca_sq_wqe *f, struct ohca_wqe_ext *ext)
{
	const struct key *key =
		key_for(s, wr->opcode >= OHCA_OP_LOCAL_INV ? side : !side, wr->opcode);

	wr->wr_id = memop_next_key(key->key);

	switch (wr->opcode) {
	case OHCA_OP_SEND_INV:
	case OHCA_OP_LOCAL_INV:
		wr->inv_key = mostly(key->key);
		wr->wr_id = key->key;
		break;
	case OHCA_OP_BIND_MW:
		f->bind.addr = htole64(mostly(PAIR_IOVA + rnd(MR_LEN / 2)));
		if (key->type == OHCA_MKEY_MW_2 || rnd(8))
			f->bind.length = htole64(mostly(1 + rnd(MR_LEN / 2)));
		if (!f->bind.length)
			wr->wr_id |= BOUND_TO_NOTHING;
		f->bind.lkey = htole32(mostly(any_key(s, side, MR | FAST_REG, 1)->key));
		f->bind.rkey = htole32(mostly(key->key));
		f->bind.new_rkey = htole32(mostly(memop_next_key(key->key)));
		f->bind.access = rnd(20) ? rnd(0x30) & 0x2e : rnd(256);
		break;
	case OHCA_OP_REG_MR:
		*wr = memop_reg_wr(s->mr[side], mostly(PAIR_IOVA), mostly(memop_next_key(key->key)),
				   rnd(20) ? 0xdf : rnd(256), f, ext);
		wr->wr_id = memop_next_key(key->key);
		f->reg.length = htole64(mostly(MR_LEN));
		if (!rnd(50))
			ext->xlt.npages = htole32(rnd(10));
		if (!rnd(50))
			ext->xlt.addr = htole64(DRV_NOWHERE);
		break;
	case OHCA_OP_FLUSH:
		f->flush.raddr = htole64(mostly(PAIR_IOVA));
		f->flush.length = htole64(mostly(rnd(MR_LEN)));
		f->flush.rkey = htole32(mostly(key->key));
		f->flush.placement = rnd(50) ? OHCA_FLUSH_GLOBAL : rnd(256);
		f->flush.level = rnd(50) ? rnd(2) : rnd(256);
		break;
	default:
		f->rdma.raddr = htole64(mostly(PAIR_IOVA + rnd(MR_LEN / 8 / 2) * 8));
		f->rdma.rkey = htole32(mostly(key->key));
		f->rdma.compare_add = htole64(rnd(4));
		f->rdma.swap = htole64(rnd(~0U));
		ext->mask.compare = htole64(mostly(~0ULL));
		ext->mask.swap = htole64(mostly(~0ULL));
	}
}

static void random_send(struct scene *s, unsigned int side)
{
	struct rig_qp *qp = side ? s->p.b : s->p.a;
	uint8_t op = rnd(500) ? 1 + rnd(15) : rnd(256);
	bool eight = op >= OHCA_OP_CMP_SWAP && op <= OHCA_OP_ATOMIC_WRITE;
	bool none = op >= OHCA_OP_FLUSH && op <= OHCA_OP_REG_MR;
	uint32_t len = eight ? 8 : rnd(8) ? rnd(2000) : rnd(MR_LEN);
	struct ohca_sge sge = rig_sge(s->mr[side], PAIR_IOVA, len);
	struct rig_wr wr = {.opcode = op};
	struct ohca_wqe_ext ext = {0};
	struct ohca_sq_wqe f = {0};

	if (!rnd(4))
		sge.lkey = htole32(mostly(any_key(s, side, MR | FAST_REG, 1)->key));
	if (!rnd(300))
		sge.length = htole32(rnd(~0U));
	random_fields(s, side, &wr, &f, &ext);
	wr.flags = rnd(300) ? OHCA_WQE_SIGNALED | (rnd(8) & (none ? 5 : 7))
			    : rnd(256) & ~OHCA_WQE_INLINE;
	wr.num_sge = none && rnd(100) ? 0 : 1;
	wr.sge = &sge;
	wr.fields = &f;
	if (op == OHCA_OP_MASKED_CMP_SWAP || op == OHCA_OP_MASKED_FETCH_ADD ||
	    op == OHCA_OP_REG_MR || !rnd(500))
		wr.ext = &ext;
	if (op < 16)
		s->by_op[op]++;
	rig_put_send(qp, &wr);
}

static void random_recv(struct scene *s, unsigned int side)
{
	struct rig_qp *qp = side ? s->p.b : s->p.a;
	struct ohca_sge sge = rig_sge(s->mr[side], PAIR_IOVA, MR_LEN);

	rig_post_recv(qp, qp->rq_pi, &sge, 1);
}

/* A command on a key; a region with windows stays as it is. */
static void random_command(struct scene *s)
{
	unsigned int side = rnd(2);
	struct key *key = any_key(s, side, ANY, -1);
	struct drv *drv = s->mr[side]->hca->drv;
	struct ohca_modify_mkey_in modify = {.key = htole32(key->key),
					     .attr_mask = htole32(OHCA_MKEY_ATTR_ACCESS),
					     .attr.access = 0xdf};
	int status;

	if (rnd(2)) {
		drv_cmd(drv, OHCA_CMD_MODIFY_MKEY, &modify, sizeof(modify), NULL, 0);
		return;
	}
	status = drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key->key);
	if (!status)
		*key = new_key(s, side);
	else
		assert_int_equal(status, OHCA_CMD_BUSY);
}

static void drain(struct scene *s, unsigned int side, struct drv_cq *cq)
{
	struct ohca_cqe cqe;

	while (drv_cq_poll(cq, &cqe)) {
		assert_int_equal(le32toh(cqe.qpn), side ? s->p.b->qpn : s->p.a->qpn);
		learn(s, side, &cqe);
	}
	drv_cq_ack(cq);
}

/* Take completions up to the mark: in order, and flushed after the first error. */
static void wait_mark(struct scene *s)
{
	bool failed = false, any = false;
	struct ohca_cqe cqe;
	uint32_t last = 0;

	do {
		cqe = rig_wait_send(s->p.a);
		assert_true(!any || le32toh(cqe.wqe_idx) > last);
		last = le32toh(cqe.wqe_idx);
		any = true;
		if (failed)
			assert_int_equal(cqe.status, OHCA_WC_WR_FLUSH_ERR);
		if (!cqe.status && cqe.opcode < 16)
			s->done[cqe.opcode]++;
		failed = cqe.status;
		learn(s, 0, &cqe);
		drain(s, 1, s->p.b->scq);
		drain(s, 1, s->p.b->rcq);
		drain(s, 0, s->p.a->rcq);
	} while (last != s->p.a->sq_pi - 1);
}

/* Windows of type 2B are destroyed with the connection. */
static void reconnect(struct scene *s)
{
	unsigned int side, i;

	memop_reconnect(&s->p);
	for (side = 0; side < 2; side++) {
		for (i = 0; i < NUM_KEYS; i++) {
			struct key *key = &s->keys[side][i];

			if (key->type == OHCA_MKEY_MW_2)
				key->valid = false;
		}
	}
}

static void destroy_all(struct scene *s)
{
	unsigned int side, i, pass;

	assert_int_equal(rig_qp_destroy(s->p.a), 0);
	assert_int_equal(rig_qp_destroy(s->p.b), 0);
	for (side = 0; side < 2; side++) {
		struct rig_hca *hca = s->mr[side]->hca;

		/* Windows, then regions. */
		for (pass = 0; pass < 2; pass++) {
			for (i = 0; i < NUM_KEYS; i++) {
				const struct key *key = &s->keys[side][i];

				if (pass == (key->type < OHCA_MKEY_MW_1))
					assert_int_equal(drv_destroy(hca->drv,
								     OHCA_CMD_DESTROY_MKEY,
								     key->key),
							 0);
			}
		}
		assert_int_equal(rig_mr_destroy(s->mr[side]), 0);
	}
	assert_int_equal(rig_mr_destroy(s->p.ma), 0);
	assert_int_equal(rig_mr_destroy(s->p.mb), 0);
	for (side = 0; side < 2; side++) {
		struct rig_hca *hca = s->mr[side]->hca;

		assert_int_equal(drv_destroy(hca->drv, OHCA_CMD_FREE_PD, hca->pdn), 0);
	}
}

static void open_scene(struct scene *s)
{
	struct rig_qp_opts opts = {.flags = OHCA_QP_F_PRIVILEGED, .ext = true};
	unsigned int side, i;

	memset(s, 0, sizeof(*s));
	s->p = pair_new(server, &opts);
	s->p.a->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	s->p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	s->p.a->attr.rnr_retry = 1;
	s->p.b->attr.rnr_retry = 1;
	/* 4 ms: often a peer in the error state does not answer any more. */
	s->p.a->attr.timeout = 10;
	s->p.b->attr.timeout = 10;
	s->mr[0] = rig_mr_new(s->p.a->hca, PAIR_IOVA, MR_LEN, RIG_ALL_ACCESS, 0);
	s->mr[1] = rig_mr_new(s->p.b->hca, PAIR_IOVA, MR_LEN, RIG_ALL_ACCESS, 0);
	for (side = 0; side < 2; side++) {
		for (i = 0; i < NUM_KEYS; i++)
			s->keys[side][i] = new_key(s, side);
	}
	rig_connect(s->p.a, s->p.b);
}

static void test_all(void **state)
{
	unsigned int done = 0, side, i, n;
	struct scene s;

	(void)state;
	open_scene(&s);
	while (done < NUM_WQES) {
		n = 1 + rnd(6);
		for (i = 0; i < n; i++) {
			for (side = 0; side < 2; side++) {
				random_send(&s, side);
				random_recv(&s, side);
			}
		}
		if (!rnd(20))
			((uint8_t *)rig_sq_entry(s.p.a, s.p.a->sq_pi - 1))[rnd(80)] ^= 1 << rnd(8);
		rig_ring(s.p.b);
		/* The last one always completes. */
		rig_put_send(s.p.a, &(struct rig_wr){.opcode = OHCA_OP_RDMA_WRITE,
						     .flags = OHCA_WQE_SIGNALED});
		rig_ring(s.p.a);
		for (i = rnd(4); i; i--)
			random_command(&s);
		wait_mark(&s);
		done += n;
		if (rig_query(s.p.a).state == OHCA_QPS_ERR ||
		    rig_query(s.p.b).state == OHCA_QPS_ERR || s.p.b->sq_pi > 50)
			reconnect(&s);
	}
	for (i = 1; i < 16; i++) {
		print_message("# operation %2u: %4u posted, %4u completions of success\n", i,
			      s.by_op[i], s.done[i]);
		assert_true(s.done[i] > 0);
	}
	destroy_all(&s);
	rig_close(s.p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	return RUN_TESTS(tests, start, stop_hcas);
}
