// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA_QPT_ETH: the port's Ethernet frames.  A send is a frame, a receive takes one; a frame that
 * has no buffer, or does not fit into it, is dropped as by any network adapter.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include "fabric.h"
#include "log.h"
#include "qp.h"

#define ETH_HDR_LEN 14
#define ETH_TYPE_VLAN 0x8100
#define ETH_TYPE_IPV4 0x0800
#define ETH_TYPE_IPV6 0x86dd

/* Ethernet with VLAN tag, and IPv4 with all options or IPv6. */
#define ETH_MAX_HEADERS (18 + 60)

/* Frames of one run. */
#define RUN_BATCH 64

/*
 * Sum of 16-bit words as the Internet checksum has it, not folded.  @odd: the first byte is the
 * second of a word.
 */
static uint64_t csum_add(uint64_t sum, const uint8_t *data, size_t len, bool odd)
{
	uint32_t word;
	uint16_t half;

	if (odd && len) {
		sum += htons(*data++);
		len--;
	}
	for (; len >= 4; len -= 4, data += 4) {
		memcpy(&word, data, 4);
		sum += word;
	}
	if (len >= 2) {
		memcpy(&half, data, 2);
		sum += half;
		data += 2;
		len -= 2;
	}
	if (len)
		sum += htons(*data << 8);
	return sum;
}

static uint16_t csum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Sum of the bytes of @iov from @off to @end. */
static uint64_t csum_iov(uint64_t sum, const struct iovec *iov, unsigned int num, size_t off,
			 size_t end)
{
	size_t start = off;
	size_t pos = 0;
	unsigned int i;

	for (i = 0; i < num && pos < end; pos += iov[i++].iov_len) {
		size_t to = pos + iov[i].iov_len < end ? iov[i].iov_len : end - pos;

		if (off >= pos + to)
			continue;
		sum = csum_add(sum, (const uint8_t *)iov[i].iov_base + (off - pos),
			       to - (off - pos), (off - start) & 1);
		off = pos + to;
	}
	return sum;
}

/* Copy the first @len bytes; returns how many there are. */
static size_t peek(const struct iovec *iov, unsigned int num, uint8_t *buf, size_t len)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < num && sum < len; i++) {
		size_t n = iov[i].iov_len < len - sum ? iov[i].iov_len : len - sum;

		memcpy(buf + sum, iov[i].iov_base, n);
		sum += n;
	}
	return sum;
}

/**
 * struct l4 - the transport part of a frame
 * @off: its first byte
 * @end: one past its last byte
 * @sum: of the pseudo header
 */
struct l4 {
	size_t off, end;
	uint64_t sum;
	uint8_t proto;
};

static bool parse_ipv4(const uint8_t *hdr, size_t avail, size_t off, struct l4 *l4)
{
	size_t ihl = (hdr[off] & 15) * 4;
	uint16_t frag;

	if (hdr[off] >> 4 != 4 || ihl < sizeof(struct iphdr) || off + ihl > avail)
		return false;
	if (csum_fold(csum_add(0, hdr + off, ihl, false)) != 0xffff)
		return false;
	frag = hdr[off + 6] << 8 | hdr[off + 7];
	if (frag & 0x3fff)
		return false;
	l4->off = off + ihl;
	l4->end = off + (hdr[off + 2] << 8 | hdr[off + 3]);
	l4->proto = hdr[off + 9];
	l4->sum = csum_add(0, hdr + off + 12, 8, false);
	return true;
}

static bool parse_ipv6(const uint8_t *hdr, size_t avail, size_t off, struct l4 *l4)
{
	if (hdr[off] >> 4 != 6 || off + sizeof(struct ip6_hdr) > avail)
		return false;
	l4->off = off + sizeof(struct ip6_hdr);
	l4->end = l4->off + (hdr[off + 4] << 8 | hdr[off + 5]);
	l4->proto = hdr[off + 6];
	l4->sum = csum_add(0, hdr + off + 8, 32, false);
	return true;
}

/* Are the checksums of IP and of TCP or UDP there and good? */
static bool csum_good(const struct iovec *iov, unsigned int num, size_t len)
{
	uint8_t hdr[ETH_MAX_HEADERS];
	size_t avail = peek(iov, num, hdr, sizeof(hdr));
	size_t off = ETH_HDR_LEN;
	uint16_t type, udp_sum = 1;
	struct l4 l4;

	if (avail < ETH_HDR_LEN + 4 + sizeof(struct iphdr))
		return false;
	type = hdr[12] << 8 | hdr[13];
	if (type == ETH_TYPE_VLAN) {
		type = hdr[16] << 8 | hdr[17];
		off += 4;
	}
	if (type == ETH_TYPE_IPV4 ? !parse_ipv4(hdr, avail, off, &l4)
				  : type != ETH_TYPE_IPV6 || !parse_ipv6(hdr, avail, off, &l4))
		return false;
	if (l4.end > len || l4.off > l4.end || (l4.proto != IPPROTO_TCP && l4.proto != IPPROTO_UDP))
		return false;
	if (l4.end - l4.off < (l4.proto == IPPROTO_TCP ? 20 : 8))
		return false;
	/* UDP without a checksum is nothing that could be vouched for. */
	if (l4.proto == IPPROTO_UDP)
		udp_sum = csum_fold(csum_iov(0, iov, num, l4.off + 6, l4.off + 8));
	l4.sum += htons(l4.proto) + (uint64_t)htonl(l4.end - l4.off);
	return udp_sum && csum_fold(csum_iov(l4.sum, iov, num, l4.off, l4.end)) == 0xffff;
}

static bool complete(struct qp *qp, struct wq *wq, struct ohca_cqe *cqe, enum ohca_wc_status status,
		     int vendor_err)
{
	cqe->qpn = htole32(qp->id);
	cqe->wqe_idx = htole32(wq->done++);
	cqe->vendor_err = htole32(vendor_err);
	cqe->status = status;
	wq->next = wq->done;
	qp->req.fetched = qp->sq.done;
	if (!qp_complete(qp, wq, cqe))
		return false;
	if (status)
		qp_error(qp);
	return !status;
}

bool eth_receive(struct qp *qp, const struct iovec *iov, unsigned int num, uint32_t len)
{
	const struct ohca_rq_wqe *wqe = &qp->resp.rqe;
	struct wq *rq = &qp->rq;
	struct wq_span span = {.sge = wqe->sge, .len = len, .write = true};
	struct ohca_cqe cqe = {
		.byte_len = htole32(len), .opcode = OHCA_CQE_RECV, .flags = OHCA_CQE_F_RQ};
	struct iov_pos pos = {.iov = iov};
	struct iovec dst[WQ_MAX_IOV];
	unsigned int dst_num;
	int64_t got;

	if (qp->state < OHCA_QPS_RTR || qp->state > OHCA_QPS_SQD || !qp->hca->ready ||
	    qp->hca->stalled)
		return false;
	if ((rq->done == rq->pi && !wq_update(rq)) ||
	    (rq->done != rq->pi && !wq_load_recv(qp, rq->done))) {
		qp_fatal(qp);
		return false;
	}
	if (rq->done == rq->pi)
		return false;

	span.num_sge = le32toh(wqe->num_sge);
	cqe.wr_id = wqe->wr_id;
	if (span.num_sge > rq->max_sge) {
		complete(qp, rq, &cqe, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
		return false;
	}
	if (wq_sgl_len(wqe->sge, span.num_sge) < len)
		return false;
	if (csum_good(iov, num, len))
		cqe.flags |= OHCA_CQE_F_CSUM_OK;
	while (span.len) {
		got = wq_resolve_span(qp, &span, dst, &dst_num);
		if (got < 0) {
			complete(qp, rq, &cqe, OHCA_WC_LOC_PROT_ERR, -got);
			return false;
		}
		span.off += got;
		span.len -= got;
		iov_copy(dst, dst_num, &pos, false);
	}
	return complete(qp, rq, &cqe, OHCA_WC_SUCCESS, 0);
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
	peek(iov, *num, frame, len);
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

/* Check a send work request and find its frame: OHCA_WC_SUCCESS or what is wrong. */
static enum ohca_wc_status get_frame(struct qp *qp, struct iovec *iov, unsigned int *num,
				     uint32_t *frame_len, int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = &qp->req.wqe;
	uint32_t count = le16toh(wqe->num_sge);
	bool is_inline = wqe->flags & OHCA_WQE_INLINE;
	uint64_t len = is_inline ? count
				 : wq_sgl_len(wqe->sge, count <= qp->sq.max_sge ? count : 0);
	struct wq_span span = {.sge = wqe->sge, .num_sge = count, .len = len};
	int64_t got;

	*vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE;
	if (wqe->opcode != OHCA_OP_SEND ||
	    wqe->flags & ~(OHCA_WQE_SIGNALED | OHCA_WQE_SOLICITED | OHCA_WQE_FENCE |
			   OHCA_WQE_INLINE | OHCA_WQE_CSUM))
		return OHCA_WC_LOC_QP_OP_ERR;
	*vendor_err = OHCA_VENDOR_ERR_WQE_SGE;
	if (count > (is_inline ? qp->sq.max_inline : qp->sq.max_sge))
		return OHCA_WC_LOC_QP_OP_ERR;
	*vendor_err = OHCA_VENDOR_ERR_LENGTH;
	if (len < ETH_HDR_LEN || len > PORT_MAX_FRAME)
		return OHCA_WC_LOC_LEN_ERR;
	*frame_len = len;

	if (is_inline) {
		iov[0].iov_base = qp->req.wqe_bytes + OHCA_SQ_WQE_HDR;
		iov[0].iov_len = len;
		*num = 1;
	} else {
		got = wq_resolve_span(qp, &span, iov, num);
		if (got < (int64_t)len) {
			*vendor_err = got < 0 ? -got : OHCA_VENDOR_ERR_WQE_SGE;
			return OHCA_WC_LOC_PROT_ERR;
		}
	}
	*vendor_err = 0;
	if (wqe->flags & OHCA_WQE_CSUM)
		*vendor_err = csum_complete(wqe, iov, num, len);
	return *vendor_err ? OHCA_WC_LOC_QP_OP_ERR : OHCA_WC_SUCCESS;
}

/* Send one frame; returns its length, or -1 if there is none. */
static int64_t send_frame(struct qp *qp)
{
	const struct ohca_sq_wqe *wqe = &qp->req.wqe;
	struct wq *sq = &qp->sq;
	struct iovec iov[WQ_MAX_IOV];
	enum ohca_wc_status status;
	struct ohca_cqe cqe = {};
	unsigned int num = 0;
	uint32_t len = 0;
	int vendor_err;
	bool signaled;

	if (qp->state != OHCA_QPS_RTS || sq->done == sq->pi)
		return -1;
	if (!wq_load_send(qp, sq->done)) {
		qp_fatal(qp);
		return -1;
	}
	signaled = wqe->flags & OHCA_WQE_SIGNALED || qp->flags & OHCA_QP_F_SIGNAL_ALL;
	cqe.wr_id = wqe->wr_id;
	cqe.opcode = wqe->opcode;
	status = get_frame(qp, iov, &num, &len, &vendor_err);
	if (!status)
		fabric_frame(qp->hca->fabric, &qp->hca->port, iov, num, len);

	if (status || signaled) {
		if (!complete(qp, sq, &cqe, status, vendor_err))
			return -1;
	} else {
		sq->next = ++sq->done;
		qp->req.fetched = sq->done;
	}
	return len;
}

bool eth_run(struct qp *qp, uint32_t budget)
{
	unsigned int num;
	uint32_t sum = 0;
	int64_t sent;

	if (qp->state == OHCA_QPS_RTS) {
		if (!wq_update(&qp->sq)) {
			qp_fatal(qp);
			return true;
		}
		for (num = 0; num < RUN_BATCH && sum < budget; num++) {
			sent = send_frame(qp);
			if (sent < 0)
				break;
			sum += sent;
		}
	}
	requester_check_drained(qp);
	return qp->state == OHCA_QPS_ERR || (qp->state == OHCA_QPS_RTS && qp->sq.done != qp->sq.pi);
}
