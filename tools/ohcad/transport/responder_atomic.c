// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: requests of one step.  Atomics and ATOMIC_WRITE are executed when they arrive, in
 * order with writes, by atomic instructions of the processor, so that they are atomic for software
 * too.  Their results are kept, and a duplicate is answered with its result (InfiniBand
 * specification, 9.4.5 and 9.7.5.1.5).
 */

#include <endian.h>

#include "qp/qp.h"
#include "transport/responder.h"

/*
 * Add each field separately: there is no carry out of the most significant bits, which are @mask.
 */
static uint64_t add_fields(uint64_t a, uint64_t b, uint64_t mask)
{
	return ((a & ~mask) + (b & ~mask)) ^ ((a ^ b) & mask);
}

/* Execute on 8 bytes of guest memory.  Returns the old value. */
static uint64_t execute(uint64_t *word, const struct pkt *pkt)
{
	const struct pkt_atomic *op = pkt->atomic;
	uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED), val, new;

	do {
		val = le64toh(old);
		if (pkt->op == PKT_FETCH_ADD)
			new = add_fields(val, op->compare_add, op->mask);
		else if (!((val ^ op->compare_add) & op->mask))
			new = (val & ~op->swap_mask) | (op->swap & op->swap_mask);
		else
			new = val;
	} while (!__atomic_compare_exchange_n(word, &old, htole64(new), false, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return old;
}

/* Find the aligned 8 bytes that the request names.  Returns NULL if it was refused or dropped. */
static uint64_t *find_word(struct qp *qp, const struct pkt *pkt, uint8_t access)
{
	struct mkey_missing missing;
	struct iovec iov[2];
	unsigned int num = 0;
	struct mkey *mkey;
	int64_t got;
	int err;

	if (!(qp->access & access) || pkt->va % sizeof(uint64_t)) {
		responder_refuse_invalid(qp);
		return NULL;
	}
	err = responder_check(qp, pkt->rkey, access, pkt->va, sizeof(uint64_t), &mkey);
	if (!err) {
		got = mkey_resolve(qp->hca, mkey, pkt->va, sizeof(uint64_t), true, iov, &num, 2,
				   &missing);
		err = got < 0 ? -got : 0;
	}
	if (err) {
		responder_no_memory(qp, err, &missing);
		return NULL;
	}
	/* Addresses of a region need not have the alignment of its memory. */
	if (num != 1 || (uintptr_t)iov->iov_base % sizeof(uint64_t)) {
		responder_refuse_invalid(qp);
		return NULL;
	}
	return iov->iov_base;
}

/* Executed: keep the result, and answer. */
static struct resp_res *done(struct qp *qp, const struct pkt *pkt, uint64_t value)
{
	struct responder *resp = rc_resp(qp);
	struct resp_result *result =
		&resp->lists->results[resp->lists->num_results++ % HCA_MAX_RD_ATOMIC];
	struct resp_res *res;

	result->psn = pkt->psn;
	result->op = pkt->op;
	result->value = value;
	responder_advance(qp, 1);
	resp->msn = psn_add(resp->msn, 1);
	res = responder_push(qp, pkt, 1);
	res->result = value;
	return res;
}

static struct resp_res *rx_atomic(struct qp *qp, const struct pkt *pkt)
{
	uint64_t *word = find_word(qp, pkt, OHCA_ACCESS_REMOTE_ATOMIC);

	if (!word)
		return NULL;
	qp_count(qp, OHCA_CNT_RX_ATOMICS, 1);
	return done(qp, pkt, execute(word, pkt));
}

static struct resp_res *rx_atomic_write(struct qp *qp, const struct pkt *pkt)
{
	struct iov_pos pos = {.iov = pkt->iov};
	uint64_t value, *word;
	struct iovec iov = {.iov_base = &value, .iov_len = sizeof(value)};

	if (pkt->len != sizeof(value) || pkt->dma_len != sizeof(value)) {
		responder_refuse_invalid(qp);
		return NULL;
	}
	word = find_word(qp, pkt, OHCA_ACCESS_REMOTE_WRITE);
	if (!word)
		return NULL;
	iov_copy(&iov, 1, &pos, false);
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	return done(qp, pkt, 0);
}

/*
 * Earlier writes are in memory already, and visible after a barrier.  They are persistent when the
 * file behind that memory is written back; the result is the number of the request for that.
 */
static struct resp_res *rx_flush(struct qp *qp, const struct pkt *pkt)
{
	const uint8_t placement = OHCA_FLUSH_GLOBAL | OHCA_FLUSH_PERSISTENT;
	struct mkey_access who = {.pdn = rc_resp(qp)->pdn, .qpn = qp->id};
	bool whole = pkt->flush & PKT_FLUSH_MR;
	uint64_t number = 0;
	struct mkey *mkey;
	int err;

	if (!(pkt->flush & placement) || pkt->flush & ~(placement | PKT_FLUSH_MR)) {
		responder_refuse_invalid(qp);
		return NULL;
	}
	if (pkt->flush & OHCA_FLUSH_GLOBAL)
		who.access |= OHCA_ACCESS_FLUSH_GLOBAL;
	if (pkt->flush & OHCA_FLUSH_PERSISTENT)
		who.access |= OHCA_ACCESS_FLUSH_PERSISTENT;
	if (whole)
		err = mkey_check_whole(qp->hca, pkt->rkey, &who);
	else
		err = mkey_check(qp->hca, pkt->rkey, &who, pkt->va, pkt->dma_len, &mkey);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (err) {
		responder_refuse_access(qp, err);
		return NULL;
	}
	/* Without a byte, no right was checked. */
	if ((whole || pkt->dma_len) && pkt->flush & OHCA_FLUSH_PERSISTENT)
		number = dma_sync_ask(qp->hca->dma, qp->hca->loop);
	return done(qp, pkt, number);
}

struct resp_res *responder_atomic(struct qp *qp, const struct pkt *pkt)
{
	if (pkt->op == PKT_ATOMIC_WRITE)
		return rx_atomic_write(qp, pkt);
	return pkt->op == PKT_FLUSH ? rx_flush(qp, pkt) : rx_atomic(qp, pkt);
}

const struct resp_result *responder_result(const struct responder *resp, const struct pkt *pkt)
{
	uint64_t i, num = resp->lists->num_results;

	if (num > HCA_MAX_RD_ATOMIC)
		num = HCA_MAX_RD_ATOMIC;
	for (i = 1; i <= num; i++) {
		const struct resp_result *result =
			&resp->lists->results[(resp->lists->num_results - i) % HCA_MAX_RD_ATOMIC];

		if (result->psn == pkt->psn && result->op == pkt->op)
			return result;
	}
	return NULL;
}
