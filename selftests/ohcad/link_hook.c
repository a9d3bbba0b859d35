// SPDX-License-Identifier: GPL-2.0
/* A link that drops, duplicates and reorders packets. */

#include <stdlib.h>
#include <string.h>

#include "link_hook.h"

#define MAX_LATER 64

/**
 * struct later - a delayed packet, with a copy of its payload and operands
 */
struct later {
	struct hca *hca;
	uint32_t qpn;
	struct pkt pkt;
	struct iovec iov;
	struct pkt_atomic atomic;
	unsigned int rounds;
};

struct link_faults link_faults, link_happened;
void (*link_capture)(struct qp *src, const struct pkt *pkt);

static unsigned int left_to_pass;
static struct later later[MAX_LATER];
static unsigned int num_later;
static uint64_t rng;

static unsigned int chance(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (rng >> 20) & 1023;
}

static void forget(struct later *l)
{
	free(l->iov.iov_base);
	*l = later[--num_later];
}

void link_seed(uint64_t seed)
{
	while (num_later)
		forget(&later[0]);
	rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	memset(&link_happened, 0, sizeof(link_happened));
}

/* Deliver the packets whose delay is over. */
static void deliver_later(void)
{
	unsigned int i = 0;

	while (i < num_later) {
		struct later l = later[i];
		struct qp *src;

		if (later[i].rounds && later[i].rounds--) {
			i++;
			continue;
		}
		later[i] = later[--num_later];
		src = qp_get(l.hca, l.qpn);
		l.pkt.iov = &l.iov;
		l.pkt.atomic = &l.atomic;
		if (src)
			__real_link_send(src, &l.pkt);
		free(l.iov.iov_base);
	}
}

static bool send_later(struct qp *src, const struct pkt *pkt)
{
	struct later *l = &later[num_later];
	uint8_t *copy;
	unsigned int i;
	size_t at = 0;

	inproc_hook = deliver_later;
	if (num_later == MAX_LATER)
		return false;
	copy = malloc(pkt->len + 1);
	if (!copy)
		abort();
	for (i = 0; i < pkt->num; i++) {
		memcpy(copy + at, pkt->iov[i].iov_base, pkt->iov[i].iov_len);
		at += pkt->iov[i].iov_len;
	}
	l->hca = src->hca;
	l->qpn = src->id;
	l->pkt = *pkt;
	if (pkt->op == PKT_CMP_SWAP || pkt->op == PKT_FETCH_ADD)
		l->atomic = *pkt->atomic;
	l->iov.iov_base = copy;
	l->iov.iov_len = pkt->len;
	l->pkt.num = pkt->len ? 1 : 0;
	l->rounds = chance() % 16;
	num_later++;
	return true;
}

static void send_one(struct qp *src, const struct pkt *pkt)
{
	if (chance() < link_faults.drop) {
		link_happened.drop++;
		return;
	}
	if (chance() < link_faults.delay && send_later(src, pkt)) {
		link_happened.delay++;
		return;
	}
	if (chance() < link_faults.dup && send_later(src, pkt))
		link_happened.dup++;
	__real_link_send(src, pkt);
}

/* Divide a burst into packets of one MTU: see pkt.h. */
static void send_cut(struct qp *src, const struct pkt *pkt)
{
	uint32_t off = 0, i;
	uint8_t *copy = malloc(pkt->len + 1);
	struct iovec iov;
	struct pkt one;
	size_t at = 0;
	unsigned int p;

	if (!copy)
		abort();
	for (p = 0; p < pkt->num; p++) {
		memcpy(copy + at, pkt->iov[p].iov_base, pkt->iov[p].iov_len);
		at += pkt->iov[p].iov_len;
	}
	for (i = 0; i < pkt->npsn; i++, off += one.len) {
		one = pkt_part(pkt, i, src->mtu_shift);
		iov.iov_base = copy + off;
		iov.iov_len = one.len;
		one.iov = &iov;
		one.num = one.len ? 1 : 0;
		send_one(src, &one);
	}
	free(copy);
}

void __wrap_link_send(struct qp *src, const struct pkt *pkt);
bool __wrap_peer_is_busy(struct qp *src);
bool __real_peer_is_busy(struct qp *src);
bool __wrap_peer_has_fault(struct qp *src);
bool __real_peer_has_fault(struct qp *src);

void __wrap_link_send(struct qp *src, const struct pkt *pkt)
{
	if (link_capture) {
		link_capture(src, pkt);
	} else if (pkt->npsn > 1 && pkt->op != PKT_READ_REQ && chance() < link_faults.cut) {
		link_happened.cut++;
		send_cut(src, pkt);
	} else {
		send_one(src, pkt);
	}
}

static void pass_some(struct qp *src, const struct pkt *pkt)
{
	if (!left_to_pass)
		return;
	left_to_pass--;
	__real_link_send(src, pkt);
}

void link_pass(unsigned int num)
{
	left_to_pass = num;
	link_capture = pass_some;
}

bool link_tells;

bool __wrap_peer_is_busy(struct qp *src)
{
	return link_tells && __real_peer_is_busy(src);
}

bool __wrap_peer_has_fault(struct qp *src)
{
	return link_tells && __real_peer_has_fault(src);
}
