// SPDX-License-Identifier: GPL-2.0
/* Two connected QPs for tests packet by packet. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "proto_rig.h"

struct pair p;
struct qp *qa, *qb;
struct sent sent[PROTO_MAX_SENT];
unsigned int num_sent;

static void capture(struct qp *src, const struct pkt *pkt)
{
	struct sent *s = &sent[num_sent];

	(void)src;
	assert_true(num_sent++ < PROTO_MAX_SENT);
	s->pkt = *pkt;
	s->pkt.iov = NULL;
	if (pkt->op == PKT_ATOMIC_RESP) {
		memcpy(&s->value, pkt->iov->iov_base, sizeof(s->value));
		s->value = le64toh(s->value);
	}
}

void proto_open(const struct rig_qp_opts *opts)
{
	link_capture = NULL;
	p = pair_new(server, opts);
	p.a->attr.timeout = 0;
	p.a->attr.retry_cnt = 2;
	p.a->attr.rnr_retry = 1;
	p.a->attr.max_rd_atomic = PROTO_MAX_RD;
	p.b->attr.max_dest_rd_atomic = PROTO_MAX_RD;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	p.a->attr.sq_psn = htole32(PROTO_PSN);
	p.b->attr.rq_psn = htole32(PROTO_PSN);
	rig_connect(p.a, p.b);
	qa = inproc_qp(p.a);
	qb = inproc_qp(p.b);
	num_sent = 0;
	link_capture = capture;
}

int proto_setup(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8};

	(void)state;
	proto_open(&opts);
	return 0;
}

int proto_close(void **state)
{
	(void)state;
	link_capture = NULL;
	rig_close(p.rig);
	return 0;
}

void proto_reconnect(void)
{
	rig_to_reset(p.a);
	rig_to_reset(p.b);
	rig_connect(p.a, p.b);
	num_sent = 0;
}

struct sent take_sent(int op, int64_t psn, int64_t npsn)
{
	struct sent s;

	inproc_settle();
	assert_true(num_sent > 0);
	s = sent[0];
	memmove(sent, sent + 1, --num_sent * sizeof(sent[0]));
	assert_int_equal(s.pkt.op, op);
	if (psn >= 0)
		assert_int_equal(s.pkt.psn, psn);
	if (npsn >= 0)
		assert_int_equal(s.pkt.npsn, npsn);
	return s;
}

void take_nothing(void)
{
	inproc_settle();
	assert_int_equal(num_sent, 0);
}

struct pkt take_pkt(int op, int64_t psn, int64_t npsn)
{
	return take_sent(op, psn, npsn).pkt;
}

struct pkt take_all(int op, uint32_t psn, uint32_t npsn)
{
	struct pkt pkt;

	do {
		pkt = take_pkt(op, psn, -1);
		assert_true(pkt.npsn && pkt.npsn <= npsn);
		psn += pkt.npsn;
		npsn -= pkt.npsn;
	} while (npsn);
	return pkt;
}
