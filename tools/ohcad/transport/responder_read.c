// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: requests that a response answers become responder resources, and those are answered in order
 * (InfiniBand specification, 9.7.5.1 and 9.9.3).
 */

#include <endian.h>
#include <stdlib.h>

#include "fabric/fabric.h"
#include "net/link.h"
#include "qp/sched.h"
#include "qp/qp.h"
#include "transport/responder.h"

/*
 * An RDMA READ up to this length is answered at once if no other waits; a longer one when the QP is
 * scheduled.
 */
#define READ_AT_ONCE (32U << 10)

/* Number of packets of the answer to an RDMA READ */
static uint32_t read_packets(const struct qp *qp, uint32_t len)
{
	return len ? (len + (1U << qp->mtu_shift) - 1) >> qp->mtu_shift : 1;
}

/* Send the queued response, if there is one, now or later. */
static void answer(struct qp *qp, const struct resp_res *res)
{
	if (!res)
		return;
	/* Many responses to an uplink at once would fill its queue. */
	if (rc_resp(qp)->res_num == 1 && res->len <= (qp->egress ? 0 : READ_AT_ONCE) &&
	    !responder_run(qp, READ_AT_ONCE))
		return;
	/* The rest, when it is the QP's turn */
	qp_schedule(qp);
}

static void rx_read(struct qp *qp, const struct pkt *pkt)
{
	struct responder *resp = rc_resp(qp);
	struct mkey *mkey;
	uint32_t npsn;
	int err;

	if (!(qp->access & OHCA_ACCESS_REMOTE_READ) || pkt->dma_len > qp->hca->max_msg) {
		responder_refuse_invalid(qp);
		return;
	}
	err = responder_check(qp, pkt->rkey, OHCA_ACCESS_REMOTE_READ, pkt->va, pkt->dma_len, &mkey);
	if (err) {
		responder_refuse_access(qp, err);
		return;
	}
	qp_count(qp, OHCA_CNT_RX_READS, 1);
	npsn = read_packets(qp, pkt->dma_len);
	responder_advance(qp, npsn);
	resp->msn = psn_add(resp->msn, 1);
	answer(qp, responder_push(qp, pkt, npsn));
}

/*
 * Allocated for the first request of the kind; without memory the request is dropped, and will be
 * repeated.
 */
static bool has_lists(struct qp *qp)
{
	struct responder *resp = rc_resp(qp);

	if (resp->lists || !qp_charge(qp, sizeof(*resp->lists)))
		return resp->lists;
	resp->lists = calloc(1, sizeof(*resp->lists));
	if (!resp->lists)
		return false;
	resp->lists->qp = qp;
	list_init(&resp->lists->syncing);
	return true;
}

void responder_read(struct qp *qp, const struct pkt *pkt)
{
	struct responder *resp = rc_resp(qp);

	if (resp->op != RESP_NONE || resp->res_num >= qp->attr.max_dest_rd_atomic)
		responder_refuse_invalid(qp);
	else if (!has_lists(qp))
		return;
	else if (pkt->op == PKT_READ_REQ)
		rx_read(qp, pkt);
	else
		answer(qp, responder_atomic(qp, pkt));
}

/*
 * Its key may have been invalidated since the first request was answered, and the duplicate may be late: it is
 * dropped then, as a duplicate without a result is.
 */
static bool may_read_again(struct qp *qp, const struct pkt *pkt)
{
	uint32_t end = psn_add(pkt->psn, read_packets(qp, pkt->dma_len));
	struct mkey *mkey;

	return pkt->dma_len <= qp->hca->max_msg && psn_diff(end, rc_resp(qp)->epsn) <= 0 &&
	       qp->access & OHCA_ACCESS_REMOTE_READ &&
	       !responder_check(qp, pkt->rkey, OHCA_ACCESS_REMOTE_READ, pkt->va, pkt->dma_len,
				&mkey);
}

/* The acknowledgment that waited for the first response to this request waits for the second one. */
static void keep_ack(struct resp_res *res, const struct resp_res *first)
{
	res->ack = first->ack;
	res->ack_syndrome = first->ack_syndrome;
	res->ack_psn = first->ack_psn;
	res->ack_msn = first->ack_msn;
}

/* Those that are not answered leave the other responses as they are. */
void responder_read_again(struct qp *qp, const struct pkt *pkt)
{
	bool is_read = pkt->op == PKT_READ_REQ;
	struct responder *resp = rc_resp(qp);
	const struct resp_result *result = NULL;
	struct resp_res last = {.npsn = 0}, *res;
	uint32_t unsent = resp->epsn, npsn;

	if (!resp->lists)
		return;
	if (!is_read)
		result = responder_result(resp, pkt);
	if (is_read ? !may_read_again(qp, pkt) : !result)
		return;
	npsn = is_read ? read_packets(qp, pkt->dma_len) : 1;
	/* Responses from there on that are not sent yet would be sent twice. */
	while (resp->res_num) {
		res = responder_res(resp, resp->res_num - 1);
		if (!psn_after(psn_add(res->psn, res->npsn), pkt->psn))
			break;
		if (!last.npsn)
			last = *res;
		if (!res->again)
			unsent = psn_add(res->psn, res->off >> qp->mtu_shift);
		resp->res_num--;
	}
	if (resp->res_num >= qp->attr.max_dest_rd_atomic)
		return;
	res = responder_push(qp, pkt, npsn);
	res->again = is_read && !psn_after(psn_add(pkt->psn, npsn), unsent);
	if (result)
		res->result = result->value;
	/* Others that were to be sent between them come again, too. */
	if (last.npsn && psn_diff(last.psn, pkt->psn) <= 0)
		keep_ack(res, &last);
	answer(qp, res);
}

/* The memory of an RDMA READ under way is not accessible any more: nothing after it is answered. */
static void abort_reads(struct qp *qp, uint32_t psn, int vendor_err)
{
	rc_resp(qp)->res_num = 0;
	rc_resp(qp)->epsn = psn;
	responder_refuse_access(qp, vendor_err);
}

/* Send the acknowledgment that waited for a response. */
static void send_ack(struct qp *qp, const struct resp_res *res)
{
	struct pkt ack = {
		.op = PKT_ACK,
		.syndrome = res->ack_syndrome,
		.psn = res->ack_psn,
		.npsn = 1,
		.msn = res->ack_msn,
	};

	if (res->ack)
		link_send(qp, &ack);
}

static void pop_res(struct responder *resp)
{
	resp->res_head = (resp->res_head + 1) % HCA_MAX_RD_ATOMIC;
	resp->res_num--;
}

void responder_synced(struct hca *hca)
{
	while (!list_empty(&hca->syncing)) {
		struct resp_lists *lists =
			list_entry(hca->syncing.next, struct resp_lists, syncing);

		list_del(&lists->syncing);
		qp_schedule(lists->qp);
	}
}

/* The response of a FLUSH waits until its request to write back memory, number @res->result, is done. */
static bool is_synced(struct qp *qp, const struct resp_res *res)
{
	struct resp_lists *lists = rc_resp(qp)->lists;
	enum dma_sync_state state = dma_sync_state(qp->hca->dma, res->result);

	if (state == DMA_SYNC_FAILED) {
		abort_reads(qp, res->psn, OHCA_VENDOR_ERR_DMA);
	} else if (state == DMA_SYNC_PENDING) {
		list_del(&lists->syncing);
		list_add_tail(&qp->hca->syncing, &lists->syncing);
	}
	return state == DMA_SYNC_DONE;
}

/* Send the response of a request that was executed already.  Returns -1 if it waits, or has failed after all. */
static int64_t answer_done(struct qp *qp)
{
	struct resp_res res = *responder_res(rc_resp(qp), 0);
	struct iovec iov = {.iov_base = &res.result, .iov_len = sizeof(res.result)};
	struct pkt pkt = {
		.op = PKT_READ_RESP,
		.flags = PKT_FIRST | PKT_LAST,
		.syndrome = responder_credits(qp),
		.psn = res.psn,
		.npsn = 1,
		.msn = res.msn,
	};

	if (res.op == PKT_CMP_SWAP || res.op == PKT_FETCH_ADD) {
		pkt.op = PKT_ATOMIC_RESP;
		pkt.iov = &iov;
		pkt.num = 1;
		pkt.len = sizeof(res.result);
	}
	if (res.op == PKT_FLUSH && res.result && !is_synced(qp, &res))
		return -1;
	pop_res(rc_resp(qp));
	link_send(qp, &pkt);
	send_ack(qp, &res);
	return 0;
}

/*
 * Send the next part of the oldest RDMA READ, or drop it.  Returns the bytes sent, or -1 if it was
 * refused, or waits for a page.
 */
static int64_t answer_read(struct qp *qp)
{
	struct responder *resp = rc_resp(qp);
	struct resp_res res = *responder_res(resp, 0);
	uint32_t len = sched_part(qp, res.len - res.off);
	struct iovec iov[SGE_MAX_IOV];
	struct mkey_missing missing;
	struct mkey *mkey = NULL;
	int64_t got = 0;
	int err;
	struct pkt pkt = {
		.op = PKT_READ_RESP,
		.flags = res.off ? 0 : PKT_FIRST,
		.syndrome = responder_credits(qp),
		.psn = psn_add(res.psn, res.off >> qp->mtu_shift),
		.msn = res.msn,
		.iov = iov,
	};

	err = responder_check_pd(qp, res.pdn, res.rkey, OHCA_ACCESS_REMOTE_READ, res.va + res.off,
				 len, &mkey);
	if (!err && len) {
		got = mkey_resolve(qp->hca, mkey, res.va + res.off, len, false, iov, &pkt.num,
				   SGE_MAX_IOV, &missing);
		if (got < 0)
			err = -got;
		else if (got < len)
			got &= ~((1LL << qp->mtu_shift) - 1);
	}
	if (err == MKEY_MISSING) {
		missing.len += res.len - res.off - len;
		err = qp_fault_wait(qp, FAULT_RESPONSE, &missing);
		if (!err)
			return -1;
	}
	if (err && res.again) {
		pop_res(resp);
		send_ack(qp, &res);
		return 0;
	}
	if (err) {
		abort_reads(qp, pkt.psn, err);
		return -1;
	}

	/* Positions are set first: the peer may answer the response with its next request. */
	responder_res(resp, 0)->off += got;
	if (res.off + got == res.len) {
		pkt.flags |= PKT_LAST;
		pop_res(resp);
	}
	pkt.len = got;
	pkt.npsn = read_packets(qp, got);
	link_send(qp, &pkt);
	if (pkt.flags & PKT_LAST)
		send_ack(qp, &res);
	return got;
}

bool responder_run(struct qp *qp, uint32_t budget)
{
	struct responder *resp = rc_resp(qp);
	unsigned int num;
	uint64_t sum = 0;
	int64_t sent;

	for (num = 0; resp->res_num && num < qp->hca->sched->batch && sum < budget; num++) {
		sent = responder_res(resp, 0)->op == PKT_READ_REQ ? answer_read(qp)
								  : answer_done(qp);
		if (sent < 0 || qp->state == OHCA_QPS_ERR)
			return false;
		sum += sent + 64;
	}
	if (!resp->res_num && resp->closing)
		responder_close(qp);
	return resp->res_num;
}
