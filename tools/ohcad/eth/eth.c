// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA_QPT_ETH: Ethernet frames, of the netdev or of raw packet QPs.  A send is a frame, and a
 * receive takes one.  A frame that finds no receive, or does not fit into it, is dropped as by any
 * network adapter.
 *
 * Between ports of one fabric a frame is not dropped at once.  It waits in the send queue until the
 * receiver has posted receives again.  How long it waits is a matter of the receiving queue's
 * credit: the queue earns credit with each frame that it takes, and spends it while senders wait
 * for it.  So a queue that posts no receives, or few, does not delay senders for long.
 */

#include <endian.h>
#include <errno.h>

#include "base/csum.h"
#include "base/minmax.h"
#include "qp/single.h"
#include "eth/eth.h"
#include "eth/netdev.h"
#include "fabric/fabric.h"
#include "packet/bytes.h"
#include "packet/l4.h"
#include "packet/tso.h"
#include "qp/sched.h"

/**
 * struct eth_qp - a QP of frames
 * @wait_since: time since which the current frame waits for its receiver, 0: it does not wait
 * @credit: of a queue of the netdev: how long senders may still wait for its receives, ns
 * @no_buffer_since: time since which a sender waits for its receives, 0: none does
 * @segments: of the work request that was begun, OHCA_WQE_TSO: those that were sent
 */
struct eth_qp {
	struct qp qp;
	uint32_t segments;
	uint64_t wait_since;
	uint64_t credit;
	uint64_t no_buffer_since;
};

static struct eth_qp *eth_qp(const struct qp *qp)
{
	return list_entry(qp, struct eth_qp, qp);
}

/* Of a send */
#define FRAME_FLAGS                                                                  \
	(OHCA_WQE_SIGNALED | OHCA_WQE_SOLICITED | OHCA_WQE_FENCE | OHCA_WQE_INLINE | \
	 OHCA_WQE_CSUM | OHCA_WQE_TSO)

#define SEGMENT_IOV (SGE_MAX_IOV + 1) /* pieces of a segment */

/* Are the checksums of IP and of TCP or UDP there and good? */
static bool csum_good(const struct iovec *iov, unsigned int num, size_t len)
{
	uint8_t hdr[ETH_MAX_HEADERS];
	size_t avail = iov_peek(iov, num, hdr, sizeof(hdr));
	size_t off = ETH_HDR_LEN;
	uint16_t type;
	struct l4 l4;

	if (avail < ETH_HDR_LEN + 4)
		return false;
	type = get_be16(hdr + 12);
	if (type == ETH_TYPE_VLAN) {
		type = get_be16(hdr + 16);
		off += 4;
	}
	return l4_find(&l4, type, hdr, avail, off, len) && l4_csum_good(&l4, iov, num);
}

/*
 * Credit for each receive, and the most credit (ns), which is also the longest that a frame waits.
 */
#define CREDIT_EARNED 1000000ULL
#define CREDIT_MAX 100000000ULL

/*
 * How often (ns) the sender of a waiting frame looks for receives: posting them rings no doorbell.
 */
#define WAIT_LOOK 100000ULL

/* The queue has taken a frame, or a part of one. */
static void earn_credit(struct qp *qp)
{
	if (!qp_is_netdev(qp))
		return;
	if (eth_qp(qp)->no_buffer_since)
		eth_qp(qp)->credit -= min_of(eth_qp(qp)->credit,
					     loop_now(qp->hca->loop) - eth_qp(qp)->no_buffer_since);
	eth_qp(qp)->no_buffer_since = 0;
	eth_qp(qp)->credit = min_of(eth_qp(qp)->credit + CREDIT_EARNED, CREDIT_MAX);
}

/* Has the queue too few receives, but still credit, so that a sender should wait? */
static bool lacks_buffers(struct qp *qp, uint32_t receives, uint64_t now)
{
	if (!qp || !qp_receives(qp) || !wq_exists(&qp->rq.wq) || !wq_update(&qp->rq.wq))
		return false;
	if (qp->rq.wq.pi - qp->rq.wq.done >= min_of(receives, 1U << qp->rq.wq.ring.log_size))
		return false;
	if (!eth_qp(qp)->no_buffer_since)
		eth_qp(qp)->no_buffer_since = now;
	return now - eth_qp(qp)->no_buffer_since < eth_qp(qp)->credit;
}

/* Does the current frame, which takes so many receives, have to wait for them? */
static bool has_to_wait(struct qp *qp, const struct iovec *iov, unsigned int num, uint32_t receives)
{
	struct port *port = qp->port, *to;
	uint64_t now = loop_now(qp->hca->loop);
	uint8_t dmac[6];

	iov_peek(iov, num, dmac, sizeof(dmac));
	to = port->active ? fabric_owner(qp->hca->fabric, port, dmac) : NULL;
	qp->egress = !to && qp->hca->fabric->uplinks;
	if (!to || !lacks_buffers(netdev_queue(to, iov, num), receives, now))
		return false;
	if (!eth_qp(qp)->wait_since) {
		eth_qp(qp)->wait_since = now;
		qp_count(qp, OHCA_CNT_ETH_WAITED, 1);
	}
	if (now - eth_qp(qp)->wait_since >= CREDIT_MAX)
		return false;
	qp->sq.paused |= SQ_WAIT_RECEIVER;
	loop_timer_arm(qp->hca->loop, &qp->sq.timer, now + WAIT_LOOK);
	return true;
}

bool eth_receive(struct qp *qp, const struct iovec *iov, unsigned int num, uint32_t len)
{
	struct iov_pos pos = {.iov = iov};
	struct ohca_cqe cqe = {};

	if (!single_take(qp, len))
		return false;
	if (csum_good(iov, num, len))
		cqe.flags |= OHCA_CQE_F_CSUM_OK;
	if (!single_place(qp, &pos, len, &cqe))
		return false;
	qp->received += len;
	earn_credit(qp);
	return true;
}

/*
 * Receive a frame that its sender did not segment, in as many receives as it takes.  Returns false
 * if there are not enough.
 */
static bool receive_large(struct qp *qp, struct tso *tso)
{
	const struct ohca_rq_wqe *wqe = qp->rq.wqe;
	struct iovec iov[SEGMENT_IOV];
	struct iov_pos pos = {.iov = iov};
	uint32_t len, left, part;

	if (!single_has_room(qp, tso->len))
		return false;
	len = tso_whole(tso, iov);
	for (left = len; left && single_take(qp, 0); left -= part) {
		struct ohca_cqe cqe = {.eth = {.mss = htole16(tso->at.mss),
					       .csum_start = htole16(tso->at.tcp),
					       .net_type = tso_net_type(tso)}};

		part = sge_len(wqe->sge, le32toh(wqe->num_sge));
		if (part < left)
			cqe.opcode = OHCA_CQE_RECV_PART;
		else
			part = left;
		if (!single_place(qp, &pos, part, &cqe))
			break;
		qp->received += part;
		earn_credit(qp);
	}
	return true;
}

/* Complete the checksum: makes a copy of the frame.  0, or OHCA_VENDOR_ERR_*. */
static int csum_complete(const struct ohca_sq_wqe *wqe, struct iovec *iov, unsigned int *num,
			 size_t len)
{
	static uint8_t frame[PORT_MAX_FRAME];
	size_t start = le16toh(wqe->eth.csum_start);
	size_t offset = le16toh(wqe->eth.csum_offset);
	uint16_t sum;

	if (start + offset + sizeof(sum) > len)
		return OHCA_VENDOR_ERR_LENGTH;
	iov_peek(iov, *num, frame, len);
	sum = ~csum_fold(csum_add(0, frame + start, len - start, false));
	/* 0 is "no checksum" in UDP, and as good as its complement elsewhere. */
	if (!sum)
		sum = 0xffff;
	memcpy(frame + start + offset, &sum, sizeof(sum));
	iov[0].iov_base = frame;
	iov[0].iov_len = len;
	*num = 1;
	return 0;
}

/* Begin to cut a frame: 0 or OHCA_VENDOR_ERR_*. */
static int start_segments(struct tso *tso, const struct ohca_sq_wqe *wqe, const struct iovec *iov,
			  unsigned int num, size_t len)
{
	const struct tso_layout at = {
		.ip = le16toh(wqe->eth.ip_start),
		.tcp = le16toh(wqe->eth.csum_start),
		.hdr_len = le16toh(wqe->eth.hdr_len),
		.mss = le16toh(wqe->eth.mss),
	};

	if (at.ip < ETH_HDR_LEN || le16toh(wqe->eth.csum_offset) != L4_TCP_CSUM ||
	    at.mss < OHCA_TSO_MIN_MSS || at.hdr_len + at.mss > PORT_MAX_FRAME)
		return OHCA_VENDOR_ERR_LENGTH;
	if (!tso_start(tso, &at, iov, num, len))
		return OHCA_VENDOR_ERR_LENGTH;
	tso_pseudo_given(tso);
	return 0;
}

/* Send the segments that were not sent yet, as many as a turn of the QP has room for. */
static void send_part(struct qp *qp, struct tso *tso)
{
	uint32_t max = qp->hca->sched->max, part;
	struct iovec segment[SEGMENT_IOV];
	struct eth_qp *eth = eth_qp(qp);
	unsigned int pieces;
	uint64_t cost;

	for (cost = 0; cost < max && (part = tso_next(tso, segment, &pieces));
	     cost += max_of(part, SCHED_MESSAGE)) {
		fabric_frame(qp->hca->fabric, qp->port, segment, pieces, part);
		eth->segments++;
	}
	if (!tso_segments(tso))
		eth->segments = 0;
}

/*
 * Send a frame in segments, or some of them, or whole if the receiver takes that.  0, OHCA_VENDOR_ERR_*, or
 * -EAGAIN: it waits.
 */
static int send_segments(struct qp *qp, const struct iovec *iov, unsigned int num, size_t len)
{
	struct port *to = NULL;
	struct qp *receiver;
	struct tso tso;
	int err;

	err = start_segments(&tso, qp->sq.wqe, iov, num, len);
	if (err)
		return err;
	tso_skip(&tso, eth_qp(qp)->segments);
	if (!eth_qp(qp)->segments)
		to = fabric_only(qp->hca->fabric, qp->port, tso.hdr);
	receiver = to && to->large_rx ? netdev_queue(to, iov, num) : NULL;
	if (receiver && receive_large(receiver, &tso))
		return 0;
	if (has_to_wait(qp, iov, num, tso_segments(&tso)))
		return -EAGAIN;
	send_part(qp, &tso);
	return 0;
}

/* Send a frame as it is.  0, OHCA_VENDOR_ERR_*, or -EAGAIN: it waits. */
static int send_whole(struct qp *qp, struct iovec *iov, unsigned int num, size_t len)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	int err;

	if (has_to_wait(qp, iov, num, 1))
		return -EAGAIN;
	if (wqe->flags & OHCA_WQE_CSUM) {
		err = csum_complete(wqe, iov, &num, len);
		if (err)
			return err;
	}
	fabric_frame(qp->hca->fabric, qp->port, iov, num, len);
	return 0;
}

/* A switch drops frames from addresses of others without notice. */
static bool is_admitted(struct qp *qp, const struct iovec *iov, unsigned int num)
{
	uint8_t macs[12];

	iov_peek(iov, num, macs, sizeof(macs));
	if (owner_admits(qp->port, macs + 6))
		return true;
	qp_count(qp, OHCA_CNT_ETH_REFUSED, 1);
	return false;
}

/* A frame that has begun does not go on. */
static void eth_stop(struct qp *qp)
{
	eth_qp(qp)->segments = 0;
}

/* Of a large frame, perhaps a part */
static enum ohca_wc_status send_frame(struct qp *qp, uint32_t *len, int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	bool tso = wqe->flags & OHCA_WQE_TSO;
	struct iovec iov[SGE_MAX_IOV];
	enum ohca_wc_status status;
	unsigned int num;

	if (wqe->opcode != OHCA_OP_SEND || wqe->flags & ~FRAME_FLAGS ||
	    (tso && (!(wqe->flags & OHCA_WQE_CSUM) || !(hca_caps(qp->hca) & OHCA_CAP_TSO)))) {
		*vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	status = single_gather(qp, ETH_HDR_LEN, tso ? TSO_MAX_LEN : PORT_MAX_FRAME, iov, &num, len,
			       vendor_err);
	if (status)
		return status;
	if (!is_admitted(qp, iov, num)) {
		eth_stop(qp);
		return OHCA_WC_SUCCESS;
	}
	*vendor_err = tso ? send_segments(qp, iov, num, *len) : send_whole(qp, iov, num, *len);
	if (*vendor_err != -EAGAIN)
		eth_qp(qp)->wait_since = 0;
	if (!*vendor_err && !eth_qp(qp)->segments)
		qp->sent += *len;
	return *vendor_err ? OHCA_WC_LOC_QP_OP_ERR : OHCA_WC_SUCCESS;
}

static enum ohca_wc_status eth_send(struct qp *qp, struct ohca_cqe *cqe, uint32_t *len,
				    int *vendor_err)
{
	enum ohca_wc_status status = send_frame(qp, len, vendor_err);

	(void)cqe;
	if (qp->sq.paused)
		return status;
	if (status)
		eth_stop(qp);
	qp->sq.fetched = qp->sq.wq.done + (eth_qp(qp)->segments > 0);
	return status;
}

static bool eth_run(struct qp *qp, uint32_t budget)
{
	return single_run(qp, budget, eth_send);
}

/* The QP no longer gets the frames of the netdev. */
static void leave_port(struct qp *qp)
{
	struct netdev *netdev = qp->port->netdev;

	if (netdev->qp == qp)
		netdev->qp = NULL;
}

static void eth_reset(struct qp *qp)
{
	leave_port(qp);
	eth_stop(qp);
	eth_qp(qp)->wait_since = 0;
	eth_qp(qp)->credit = 0;
	eth_qp(qp)->no_buffer_since = 0;
}

static void eth_enter_state(struct qp *qp, enum ohca_qp_state from)
{
	(void)from;
	if (qp->state == OHCA_QPS_RTR && qp_is_netdev(qp))
		qp->port->netdev->qp = qp;
	else if (qp->state == OHCA_QPS_ERR)
		leave_port(qp);
}

static const struct qp_ops eth_ops = {
	.reset = eth_reset,
	.stop_send = eth_stop,
	.enter_state = eth_enter_state,
	.run = eth_run,
};

const struct qp_type eth_type = {
	.ops = &eth_ops,
	.size = sizeof(struct eth_qp),
	.type = OHCA_QPT_ETH,
	.feat = OHCA_FEAT_ETH,
	.user_cap = OHCA_CAP_RAW,
	.flags = QP_F_ALL,
	.send = true,
	.recv = true,
};
