// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of libohca: geometry of queues, rings and owner bits, purging of completions, slots,
 * and the producer's side of shadow doorbells against a scripted device.
 */

#include <stdlib.h>

#include "doorbell.h"
#include "geometry.h"
#include "ring.h"
#include "slot.h"
#include "tap.h"

static const struct ohca_limits limits = {
	.max_inline = OHCA_MAX_INLINE,
	.max_send_sge = OHCA_MAX_SGE,
	.max_recv_sge = OHCA_MAX_SGE,
	.max_qp_wr = 1 << 15,
	.max_cqe = 1 << 20,
	.max_srq_wr = 1 << 14,
};

static uint32_t rng_state = 1;

static uint32_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 17;
	rng_state ^= rng_state << 5;
	return rng_state;
}

/* Geometry */

static void test_log2_up(const void *arg)
{
	uint32_t n;

	(void)arg;
	EXPECT_EQ(ohca_log2_up(0), 0);
	EXPECT_EQ(ohca_log2_up(1), 0);
	EXPECT_EQ(ohca_log2_up(2), 1);
	EXPECT_EQ(ohca_log2_up(1U << 31), 31);
	EXPECT_EQ(ohca_log2_up((1U << 31) + 1), 32);
	EXPECT_EQ(ohca_log2_up(UINT32_MAX), 32);
	for (n = 2; n < 5000; n++) {
		uint32_t up = 1U << ohca_log2_up(n);

		if (!EXPECT(up >= n && up / 2 < n))
			return;
	}
}

static void check_qp(unsigned int flags, const struct ohca_qp_cap *want)
{
	uint32_t hdr = OHCA_SQ_WQE_HDR + (flags & OHCA_GEO_EXT ? OHCA_SQ_WQE_EXT : 0);
	struct ohca_qp_cap cap = *want;
	struct ohca_qp_geometry geo;
	uint64_t sq_end, rq_end;

	if (!EXPECT_EQ(ohca_qp_geometry(&limits, flags, &cap, &geo), 0))
		return;
	/* At least the requested numbers, at most the device's limits. */
	EXPECT(cap.max_send_wr >= want->max_send_wr && cap.max_send_wr <= limits.max_qp_wr);
	EXPECT(cap.max_send_sge >= want->max_send_sge && cap.max_send_sge <= limits.max_send_sge);
	EXPECT(cap.max_inline_data >= want->max_inline_data &&
	       cap.max_inline_data <= limits.max_inline);
	/* The granted sizes fit into a stride, and the strides are valid. */
	EXPECT(geo.sq_log_stride >= 6 && geo.sq_log_stride <= 11);
	EXPECT(hdr + cap.max_send_sge * sizeof(struct ohca_sge) <= 1U << geo.sq_log_stride);
	EXPECT(hdr + cap.max_inline_data <= 1U << geo.sq_log_stride);
	sq_end = geo.sq_offset + (1ULL << (geo.sq_log_size + geo.sq_log_stride));
	EXPECT_EQ(geo.sq_offset, 0);
	EXPECT(geo.sq_rec_offset >= sq_end);
	EXPECT_EQ(geo.sq_rec_offset % 64, 0);
	EXPECT(geo.size >= geo.sq_rec_offset + sizeof(struct ohca_wq_rec));
	if (flags & OHCA_GEO_NO_RQ) {
		EXPECT(!geo.rq_offset && !geo.rq_rec_offset && !geo.rq_log_size &&
		       !geo.rq_log_stride && !cap.max_recv_wr && !cap.max_recv_sge);
		return;
	}
	EXPECT(cap.max_recv_wr >= want->max_recv_wr && cap.max_recv_wr <= limits.max_qp_wr);
	EXPECT(cap.max_recv_sge >= want->max_recv_sge && cap.max_recv_sge <= limits.max_recv_sge);
	EXPECT(geo.rq_log_stride >= 5 && geo.rq_log_stride <= 11);
	EXPECT(OHCA_RQ_WQE_HDR + cap.max_recv_sge * sizeof(struct ohca_sge) <=
	       1U << geo.rq_log_stride);
	/* Nothing overlaps, each record has a cache line of its own. */
	rq_end = geo.rq_offset + (1ULL << (geo.rq_log_size + geo.rq_log_stride));
	EXPECT(geo.rq_offset >= sq_end && geo.sq_rec_offset >= rq_end);
	EXPECT(geo.rq_rec_offset >= geo.sq_rec_offset + sizeof(struct ohca_wq_rec));
	EXPECT(geo.size >= geo.rq_rec_offset + sizeof(struct ohca_wq_rec));
	EXPECT_EQ(geo.rq_offset % 64, 0);
	EXPECT_EQ(geo.rq_offset % (1U << geo.rq_log_stride), 0);
	EXPECT_EQ(geo.rq_rec_offset % 64, 0);
}

static void test_qp_geometry(const void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 4; i++) {
		check_qp(i, &(struct ohca_qp_cap){});
		check_qp(i, &(struct ohca_qp_cap){limits.max_qp_wr, limits.max_qp_wr, OHCA_MAX_SGE,
						  OHCA_MAX_SGE, OHCA_MAX_INLINE});
	}
	for (i = 0; i < 20000 && !tap_failed(); i++)
		check_qp(i % 4, &(struct ohca_qp_cap){
					.max_send_wr = rng() % (limits.max_qp_wr + 1),
					.max_recv_wr = rng() % (limits.max_qp_wr + 1),
					.max_send_sge = rng() % (limits.max_send_sge + 1),
					.max_recv_sge = rng() % (limits.max_recv_sge + 1),
					.max_inline_data = rng() % (limits.max_inline + 1),
				});
}

static void test_srq_geometry(const void *arg)
{
	struct ohca_srq_geometry geo;
	uint32_t wr, sge, i;
	uint8_t stride;

	(void)arg;
	for (i = 0; i < 20000 && !tap_failed(); i++) {
		uint32_t want_wr = 1 + rng() % limits.max_srq_wr, want_sge = rng() % 33;

		wr = want_wr;
		sge = want_sge;
		EXPECT_EQ(ohca_srq_geometry(&limits, &wr, &sge, &geo), 0);
		EXPECT(wr >= want_wr && wr <= limits.max_srq_wr && wr <= 1U << geo.log_size);
		EXPECT(sge >= want_sge && sge <= limits.max_recv_sge);
		EXPECT(geo.log_stride >= 5 && geo.log_stride <= 11);
		EXPECT(OHCA_RQ_WQE_HDR + sge * sizeof(struct ohca_sge) <= 1U << geo.log_stride);
		EXPECT_EQ(geo.ring_offset % (1U << geo.log_stride), 0);
		EXPECT(geo.rec_offset >= geo.ring_offset + (1U << (geo.log_size + geo.log_stride)));
		EXPECT_EQ(geo.rec_offset % 64, 0);
		EXPECT(geo.size >= geo.rec_offset + sizeof(struct ohca_wq_rec));
		/* A ring of another size keeps the stride. */
		stride = geo.log_stride;
		EXPECT_EQ(ohca_srq_geometry(&limits, &(uint32_t){1}, &sge, &geo), 0);
		EXPECT_EQ(geo.log_stride, stride);
	}
	EXPECT_EQ(ohca_srq_geometry(&limits, &(uint32_t){0}, &(uint32_t){1}, &geo), EINVAL);
	EXPECT_EQ(ohca_srq_geometry(&limits, &(uint32_t){limits.max_srq_wr + 1}, &(uint32_t){1},
				    &geo),
		  EINVAL);
	EXPECT_EQ(ohca_srq_geometry(&limits, &(uint32_t){1}, &(uint32_t){33}, &geo), EINVAL);
}

static void test_qp_one_line(const void *arg)
{
	struct ohca_qp_cap cap = {.max_send_wr = 128, .max_send_sge = 1, .max_recv_sge = 1};
	struct ohca_qp_geometry geo;

	(void)arg;
	EXPECT_EQ(ohca_qp_geometry(&limits, 0, &cap, &geo), 0);
	EXPECT_EQ(geo.sq_log_stride, 6);
	EXPECT_EQ(geo.rq_log_stride, 5);
	EXPECT_EQ(cap.max_send_wr, 128);
	EXPECT_EQ(cap.max_inline_data, 16);
	EXPECT_EQ(cap.max_recv_wr, 1);
}

static void test_qp_limits(const void *arg)
{
	const struct ohca_limits huge = {
		.max_inline = OHCA_MAX_INLINE,
		.max_send_sge = OHCA_MAX_SGE,
		.max_recv_sge = OHCA_MAX_SGE,
		.max_qp_wr = UINT32_MAX,
	};
	struct ohca_qp_geometry geo;
	unsigned int i;

	(void)arg;
	for (i = 0; i < 5; i++) {
		struct ohca_qp_cap cap = {};
		const uint32_t max[] = {limits.max_qp_wr, limits.max_qp_wr, limits.max_send_sge,
					limits.max_recv_sge, limits.max_inline};

		((uint32_t *)&cap)[i] = max[i] + 1;
		EXPECT_EQ(ohca_qp_geometry(&limits, 0, &cap, &geo), EINVAL);
		((uint32_t *)&cap)[i] = UINT32_MAX;
		EXPECT_EQ(ohca_qp_geometry(&limits, 0, &cap, &geo), EINVAL);
	}
	/* A device without sensible limits must not make the offsets overflow. */
	EXPECT_EQ(ohca_qp_geometry(&huge, 0, &(struct ohca_qp_cap){.max_send_wr = UINT32_MAX},
				   &geo),
		  EINVAL);
	EXPECT_EQ(ohca_qp_geometry(&huge, 0,
				   &(struct ohca_qp_cap){.max_send_wr = 1U << 26,
							 .max_send_sge = 1,
							 .max_recv_wr = 8},
				   &geo),
		  EINVAL);
	EXPECT_EQ(ohca_qp_geometry(&huge, 0,
				   &(struct ohca_qp_cap){.max_send_wr = 1U << 25,
							 .max_recv_wr = 1U << 26,
							 .max_recv_sge = 1},
				   &geo),
		  EINVAL);
}

static void test_cq_geometry(const void *arg)
{
	struct ohca_limits huge = {.max_cqe = UINT32_MAX};
	struct ohca_cq_geometry geo;
	uint32_t cqe;

	(void)arg;
	EXPECT_EQ(ohca_cq_geometry(&limits, 0, &geo), EINVAL);
	EXPECT_EQ(ohca_cq_geometry(&limits, limits.max_cqe + 1, &geo), EINVAL);
	EXPECT_EQ(ohca_cq_geometry(&huge, UINT32_MAX, &geo), EINVAL);
	EXPECT_EQ(ohca_cq_geometry(&huge, 1U << 26, &geo), EINVAL);
	for (cqe = 1; cqe <= limits.max_cqe; cqe += 1 + rng() % 1000) {
		EXPECT_EQ(ohca_cq_geometry(&limits, cqe, &geo), 0);
		EXPECT(1U << geo.log_size >= cqe && (1U << geo.log_size) / 2 < cqe);
		EXPECT_EQ(geo.rec_offset, 64ULL << geo.log_size);
		EXPECT_EQ(geo.size, geo.rec_offset + sizeof(struct ohca_cq_rec));
		if (tap_failed())
			return;
	}
}

/* A limit need not be a power of two: numbers of entries are, and not above it. */
static void test_odd_limits(const void *arg)
{
	struct ohca_limits odd = limits;
	struct ohca_srq_geometry srq;
	struct ohca_qp_geometry qp;
	struct ohca_cq_geometry cq;
	uint32_t wr;

	(void)arg;
	odd.max_qp_wr = odd.max_cqe = odd.max_srq_wr = 5000;
	for (wr = 4096; wr <= 5000; wr += 904) {
		struct ohca_qp_cap send = {.max_send_wr = wr}, recv = {.max_recv_wr = wr};
		int want = wr > 4096 ? EINVAL : 0;
		uint32_t max_wr = wr, max_sge = 1;

		EXPECT_EQ(ohca_qp_geometry(&odd, 0, &send, &qp), want);
		EXPECT_EQ(ohca_qp_geometry(&odd, 0, &recv, &qp), want);
		EXPECT_EQ(ohca_srq_geometry(&odd, &max_wr, &max_sge, &srq), want);
		EXPECT_EQ(ohca_cq_geometry(&odd, wr, &cq), want);
	}
}

/* Rings */

static void test_ring_full(const void *arg)
{
	uint32_t tail, mask, n;

	(void)arg;
	for (mask = 0; mask < 64; mask = mask * 2 + 1)
		for (tail = UINT32_MAX - 100; tail != 100; tail++)
			for (n = 0; n <= mask + 1; n++)
				if (!EXPECT_EQ(ohca_ring_full(tail + n, tail, mask), n == mask + 1))
					return;
}

/* The device's side: write completion @idx. */
static void produce(struct ohca_cq_ring *ring, uint32_t idx, uint32_t qpn, uint64_t wr_id)
{
	struct ohca_cqe *cqe = &ring->cqe[idx & ring->mask];

	cqe->qpn = htole32(qpn);
	cqe->wr_id = htole64(wr_id);
	/* only bit 0 is the owner bit */
	cqe->owner = (~(idx >> ring->log_size) & 1) | (rng() & 0xfe);
}

static bool make_ring(struct ohca_cq_ring *ring, uint8_t log_size, uint32_t start)
{
	uint32_t i;

	*ring = (struct ohca_cq_ring){
		.cqe = calloc(1U << log_size, sizeof(struct ohca_cqe)),
		.ci = start,
		.mask = (1U << log_size) - 1,
		.log_size = log_size,
	};
	if (!EXPECT(ring->cqe))
		return false;
	/* as left behind by the pass before @start */
	if (start)
		for (i = 0; i <= ring->mask; i++)
			produce(ring, start - 1 - i, 0, 0);
	return true;
}

static void test_owner(const void *arg)
{
	static const uint32_t starts[] = {0, 1U << 31, UINT32_MAX - 31};
	struct ohca_cq_ring ring;
	struct ohca_cqe *cqe;
	uint32_t pi, i, n;
	uint8_t log;
	size_t s;

	(void)arg;
	for (s = 0; s < ARRAY_SIZE(starts); s++) {
		for (log = 0; log <= 4; log++) {
			if (!make_ring(&ring, log, starts[s]))
				return;
			pi = ring.ci;
			for (i = 0; i < 1000; i++) {
				for (n = rng() % (ring.mask + 2); pi - ring.ci < n; pi++)
					produce(&ring, pi, 1, pi);
				for (n = rng() % (ring.mask + 2); n; n--) {
					cqe = ohca_cqe_at(&ring, ring.ci);
					EXPECT_EQ(!!cqe, pi != ring.ci);
					if (!cqe)
						break;
					EXPECT_EQ(le64toh(cqe->wr_id), ring.ci);
					ring.ci++;
				}
			}
			free(ring.cqe);
		}
	}
}

static void purge_once(uint32_t start, uint8_t log)
{
	uint32_t pi, idx, count, kept = 0;
	struct ohca_cq_ring ring;
	uint64_t want[64];

	if (!make_ring(&ring, log, start))
		return;
	count = rng() % (ring.mask + 2);
	for (pi = start; pi != start + count; pi++) {
		uint32_t qpn = 5 + rng() % 3;

		produce(&ring, pi, qpn, pi * 3ULL);
		if (qpn != 6)
			want[kept++] = pi * 3ULL;
	}
	ohca_ring_purge(&ring, 6, OHCA_NO_SRQ);
	EXPECT_EQ(pi - ring.ci, kept);
	for (idx = 0; idx < kept; idx++) {
		struct ohca_cqe *cqe = ohca_cqe_at(&ring, ring.ci + idx);

		if (EXPECT(cqe))
			EXPECT_EQ(le64toh(cqe->wr_id), want[idx]);
	}
	/* The device continues where it was. */
	if (kept <= ring.mask) {
		EXPECT(!ohca_cqe_at(&ring, pi));
		produce(&ring, pi, 6, 4711);
		EXPECT(ohca_cqe_at(&ring, pi));
	}
	free(ring.cqe);
}

static void test_purge(const void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 20000 && !tap_failed(); i++)
		purge_once(i % 4 ? rng() : UINT32_MAX - rng() % 16, rng() % 7);
}

static void test_purge_srq(const void *arg)
{
	struct ohca_cq_ring ring;
	uint32_t i;

	(void)arg;
	if (!make_ring(&ring, 3, 0))
		return;
	/* The same number as QP and as SRQ, and a stale number where there is no SRQ. */
	for (i = 0; i < 6; i++) {
		produce(&ring, i, i % 2 ? 5 : 6, i);
		ring.cqe[i].srqn = htole32(i < 3 ? 5 : 7);
		ring.cqe[i].flags = i == 2 ? 0 : OHCA_CQE_F_SRQ;
	}
	ohca_ring_purge(&ring, OHCA_ANY_QP, 5);
	EXPECT_EQ(ring.ci, 2);
	for (i = 2; i < 6; i++)
		EXPECT_EQ(le64toh(ring.cqe[i].wr_id), i);
	free(ring.cqe);
}

/* The same number as that of an earlier QP, whose completions belong to an SRQ of its own. */
static void test_purge_number_again(const void *arg)
{
	struct ohca_cq_ring ring;
	uint32_t i;

	(void)arg;
	if (!make_ring(&ring, 3, 0))
		return;
	for (i = 0; i < 6; i++) {
		produce(&ring, i, 5, i);
		ring.cqe[i].srqn = htole32(i % 2 ? 7 : 8);
		ring.cqe[i].flags = i < 2 ? 0 : OHCA_CQE_F_SRQ;
	}
	ohca_ring_purge(&ring, 5, 7);
	EXPECT_EQ(ring.ci, 4);
	EXPECT_EQ(le64toh(ring.cqe[4].wr_id), 2);
	EXPECT_EQ(le64toh(ring.cqe[5].wr_id), 4);
	free(ring.cqe);
}

/* Slots */

static void test_slots(const void *arg)
{
	static struct ohca_slots slots;
	unsigned int i, slot;

	(void)arg;
	/* All are used once before any is used twice. */
	for (i = 0; i < 3 * OHCA_SHADOW_DIRECT_SLOTS; i++) {
		slot = ohca_slot_get(&slots);
		if (!EXPECT(slot < OHCA_SHADOW_DIRECT_SLOTS) ||
		    !EXPECT_EQ(slots.users[slot], 1 + i / OHCA_SHADOW_DIRECT_SLOTS))
			return;
	}
	/* When all slots are in use, one that was freed is next. */
	ohca_slot_put(&slots, 77);
	EXPECT_EQ(ohca_slot_get(&slots), 77);
	for (i = 0; i < 3 * OHCA_SHADOW_DIRECT_SLOTS; i++)
		ohca_slot_put(&slots, i % OHCA_SHADOW_DIRECT_SLOTS);
	for (i = 0; i < OHCA_SHADOW_DIRECT_SLOTS; i++)
		EXPECT_EQ(slots.users[i], 0);
	/* Slots that are allocated one after the other are neighbours. */
	slot = ohca_slot_get(&slots);
	EXPECT_EQ(ohca_slot_get(&slots), (slot + 1) % OHCA_SHADOW_DIRECT_SLOTS);
}

/* Doorbells, against a scripted device */

static void test_ring_awake(const void *arg)
{
	static struct ohca_shadow shadow;
	struct ohca_wq_rec rec = {};
	unsigned int slot;

	(void)arg;
	for (slot = 0; slot < OHCA_SHADOW_DIRECT_SLOTS; slot++) {
		EXPECT(!ohca_shadow_ring(&shadow, slot, &rec, slot + 1));
		EXPECT_EQ(le32toh(rec.pi), slot + 1);
		/* exactly its bit, and the same bit again if the device has not polled */
		EXPECT_EQ(le64toh(shadow.direct[slot / 64]), 1ULL << (slot % 64));
		EXPECT(!ohca_shadow_ring(&shadow, slot, &rec, slot + 2));
		EXPECT_EQ(le64toh(shadow.direct[slot / 64]), 1ULL << (slot % 64));
		shadow.direct[slot / 64] = 0;
	}
	EXPECT_EQ(shadow.summary, 0);
	EXPECT_EQ(shadow.asleep, 0);
}

static void test_ring_asleep(const void *arg)
{
	static struct ohca_shadow shadow;
	struct ohca_wq_rec a = {}, b = {};

	(void)arg;
	shadow.asleep = htole32(1);
	EXPECT(ohca_shadow_ring(&shadow, 3, &a, 1));
	/* Only the device clears it: a producer that rings before that wakes the device too. */
	EXPECT(ohca_shadow_ring(&shadow, 200, &b, 1));
	EXPECT_EQ(le64toh(shadow.direct[0]), 1ULL << 3);
	EXPECT_EQ(le64toh(shadow.direct[3]), 1ULL << 8);
	shadow.asleep = 0;
	EXPECT(!ohca_shadow_ring(&shadow, 3, &a, 2));
	/* any value but zero */
	shadow.asleep = htole32(0x80000000);
	EXPECT(ohca_shadow_ring(&shadow, 3, &a, 3));
}

static void test_sq_db(const void *arg)
{
	(void)arg;
	EXPECT_EQ(ohca_sq_db(0x123456, 0x89abcdef), 0x0012345689abcdefULL);
	EXPECT_EQ(ohca_sq_db(0xffffff, UINT32_MAX), 0x00ffffffffffffffULL);
	EXPECT_EQ(ohca_sq_db(0xff000001, 0), 0x0000000100000000ULL);
}

static const struct tap_test tests[] = {
	{"log2, rounded up", test_log2_up, NULL},
	{"QP geometry: everything fits, nothing overlaps", test_qp_geometry, NULL},
	{"SRQ geometry", test_srq_geometry, NULL},
	{"QP geometry: one cache line for one element", test_qp_one_line, NULL},
	{"QP geometry: limits and overflow", test_qp_limits, NULL},
	{"CQ geometry", test_cq_geometry, NULL},
	{"geometry: limits that are not powers of two", test_odd_limits, NULL},
	{"ring: full, across the wrap of the index", test_ring_full, NULL},
	{"ring: owner bit, across the wrap of the index", test_owner, NULL},
	{"ring: purge keeps the others in order", test_purge, NULL},
	{"ring: purge of an SRQ", test_purge_srq, NULL},
	{"ring: purge of a QP whose number is used again", test_purge_number_again, NULL},
	{"slots: spread and reused", test_slots, NULL},
	{"doorbell: awake device, no trap", test_ring_awake, NULL},
	{"doorbell: sleeping device is woken", test_ring_asleep, NULL},
	{"doorbell: register value", test_sq_db, NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
