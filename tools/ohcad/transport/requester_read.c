// SPDX-License-Identifier: GPL-2.0
/*
 * Requester, sending half, of requests that a response answers: RDMA READ, atomics, ATOMIC_WRITE
 * and FLUSH.
 */

#include <endian.h>

#include "qp/srq.h"
#include "net/link.h"
#include "transport/requester.h"

/*
 * Returns -1 if a page for the response is missing: the request waits for it.  All else about the
 * local list is checked when the response comes: if the request is refused, that counts.
 */
static int check_place(struct qp *qp, const struct sq_entry *entry, uint32_t off)
{
	struct mkey_missing missing;
	struct sge_span span = {
		.sge = sq_wqe_sgl(qp->sq.wqe),
		.num_sge = entry->num_sge,
		.off = off,
		.len = entry->len - off,
		.write = true,
		.missing = &missing,
		.rights = srq_rights(requester_srq(qp), qp),
	};
	int err = sge_check_span(qp->hca, &span);

	return err == MKEY_MISSING ? requester_no_memory(qp, err, &missing) : 0;
}

static int make_read(struct qp *qp, const struct sq_entry *entry, struct pkt *pkt)
{
	uint32_t off = entry->got << qp->mtu_shift;

	pkt->op = PKT_READ_REQ;
	pkt->va += off;
	pkt->dma_len = entry->len - off;
	return check_place(qp, entry, off);
}

static int make_atomic(struct qp *qp, const struct sq_entry *entry, struct pkt *pkt,
		       struct pkt_atomic *atomic)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	bool swap = op_in(entry->opcode, OPS(OHCA_OP_CMP_SWAP) | OPS(OHCA_OP_MASKED_CMP_SWAP));

	pkt->op = swap ? PKT_CMP_SWAP : PKT_FETCH_ADD;
	pkt->atomic = atomic;
	atomic->compare_add = le64toh(wqe->rdma.compare_add);
	atomic->swap = le64toh(wqe->rdma.swap);
	atomic->mask = swap ? ~0ULL : 0;
	atomic->swap_mask = ~0ULL;
	if (wqe->flags & OHCA_WQE_EXT) {
		atomic->mask = le64toh(sq_wqe_ext(wqe)->mask.compare);
		atomic->swap_mask = le64toh(sq_wqe_ext(wqe)->mask.swap);
		if (!link_has_opcode(qp, pkt))
			return requester_fail(qp, OHCA_WC_LOC_QP_OP_ERR,
					      OHCA_VENDOR_ERR_WQE_OPCODE);
	}
	return check_place(qp, entry, 0);
}

static int make_atomic_write(struct qp *qp, const struct sq_entry *entry, struct pkt *pkt,
			     struct iovec *iov)
{
	pkt->op = PKT_ATOMIC_WRITE;
	pkt->dma_len = entry->len;
	pkt->iov = iov;
	pkt->len = entry->len;
	return requester_gather(qp, 0, entry->len, iov, &pkt->num) < 0 ? -1 : 0;
}

static int make_flush(struct qp *qp, struct pkt *pkt)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint64_t length = le64toh(wqe->flush.length);
	uint8_t placement = wqe->flush.placement;

	if (!placement || placement & ~(OHCA_FLUSH_GLOBAL | OHCA_FLUSH_PERSISTENT) ||
	    wqe->flush.level > OHCA_FLUSH_MR)
		return requester_fail(qp, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	if (length > UINT32_MAX)
		return requester_fail(qp, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	pkt->op = PKT_FLUSH;
	pkt->va = le64toh(wqe->flush.raddr);
	pkt->rkey = le32toh(wqe->flush.rkey);
	pkt->dma_len = length;
	pkt->flush = placement | (wqe->flush.level ? PKT_FLUSH_MR : 0);
	return 0;
}

int64_t requester_send_read(struct qp *qp, const struct sq_entry *entry)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	struct iovec iov[SGE_MAX_IOV];
	struct pkt_atomic atomic;
	struct pkt pkt = {
		.flags = PKT_FIRST | PKT_LAST | PKT_ACK_REQ,
		.psn = psn_add(entry->psn, entry->got),
		.npsn = entry->npsn - entry->got,
		.va = le64toh(wqe->rdma.raddr),
		.rkey = le32toh(wqe->rdma.rkey),
		.srqn = le32toh(wqe->rdma.srqn),
	};
	int err;

	switch (entry->opcode) {
	case OHCA_OP_RDMA_READ:
		err = make_read(qp, entry, &pkt);
		break;
	case OHCA_OP_ATOMIC_WRITE:
		err = make_atomic_write(qp, entry, &pkt, iov);
		break;
	case OHCA_OP_FLUSH:
		err = make_flush(qp, &pkt);
		break;
	default:
		err = make_atomic(qp, entry, &pkt, &atomic);
	}
	if (err)
		return -1;
	rc_req(qp)->reads++;
	requester_advance(qp, entry, 1);
	link_send(qp, &pkt);
	/* A longer response is scheduled by the peer. */
	return entry->len <= PKT_MAX_LEN ? entry->len : 0;
}
