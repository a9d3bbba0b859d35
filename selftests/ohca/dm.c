// SPDX-License-Identifier: GPL-2.0
/*
 * Device memory.  A program's stores to it take another path than its work requests.  So each
 * request must use the data that were stored before it, and no store may arrive when the memory has
 * another owner.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_util.h"

#define LEN 4096
#define ROUNDS 150
/* No other mapping of a device has this length. */
#define ODD_LEN (5 * 4096)

static struct vu_dev dev;
static struct vu_qp qp, peer;
static struct ibv_mr *mr;
static uint8_t *buf;

static void disconnect(void)
{
	vu_qp_destroy(&qp);
	vu_qp_destroy(&peer);
}

static bool connect_qps(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	return vu_qp_create(&dev, &qp, &opts) && vu_qp_create(&dev, &peer, &opts) &&
	       vu_connect_pair(&dev, &qp, &peer, &opts);
}

/* Load in parallel to a test, until it is stopped: a device with work polls without doorbells. */
static pthread_t beside;
static atomic_bool stop;

static bool begin_beside(void *(*loop)(void *))
{
	atomic_store(&stop, false);
	return EXPECT_EQ(pthread_create(&beside, NULL, loop, NULL), 0);
}

static void end_beside(void)
{
	void *failed;

	atomic_store(&stop, true);
	pthread_join(beside, &failed);
	EXPECT(!failed);
}

/* The UAR has work. */
static void *message_loop(void *arg)
{
	struct ibv_wc wc;
	bool ok = true;

	(void)arg;
	while (ok && !atomic_load(&stop))
		ok = !vu_post_send(&peer, IBV_WR_RDMA_WRITE, 2, IBV_SEND_SIGNALED, mr, buf + LEN, 1,
				   (uintptr_t)buf + 2 * LEN, mr->rkey) &&
		     vu_wait_wc(peer.scq, &wc, 2, IBV_WC_SUCCESS);
	return ok ? NULL : &stop;
}

/* The command queue has work. */
static void *command_loop(void *arg)
{
	struct ibv_pd *pd;
	bool ok = true;

	(void)arg;
	while (ok && !atomic_load(&stop)) {
		pd = ibv_alloc_pd(dev.ctx);
		ok = pd && !ibv_dealloc_pd(pd);
	}
	return ok ? NULL : &stop;
}

static struct ibv_dm *make_dm(size_t length)
{
	struct ibv_alloc_dm_attr attr = {.length = length};
	struct ibv_dm *dm = ibv_alloc_dm(dev.ctx, &attr);

	if (!dm && errno == EOPNOTSUPP && !dev.is_ohca)
		tap_skip("no device memory");
	else
		EXPECT(dm);
	return dm;
}

/* One request of @qp copies @len bytes from device memory (@out) or to it. */
static bool move(struct ibv_mr *dm_mr, bool out, bool remote, size_t len)
{
	enum ibv_wr_opcode op = out == remote ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	struct ibv_wc wc;
	int err;

	if (remote)
		err = vu_post_send(&qp, op, 1, IBV_SEND_SIGNALED, mr, buf, len, 0, dm_mr->rkey);
	else
		err = vu_post_send(&qp, op, 1, IBV_SEND_SIGNALED, dm_mr, NULL, len, (uintptr_t)buf,
				   mr->rkey);
	return EXPECT_EQ(err, 0) && vu_wait_wc(qp.scq, &wc, 1, IBV_WC_SUCCESS);
}

/*
 * Copy @len bytes to or from it by the processor; a request, posted at once, copies them further.
 */
static bool copy_and_move(struct ibv_dm *dm, struct ibv_mr *dm_mr, bool remote, size_t len,
			  uint64_t seed)
{
	vu_fill(buf, len, seed);
	if (!EXPECT_EQ(ibv_memcpy_to_dm(dm, 0, buf, len), 0))
		return false;
	memset(buf, 0, len);
	if (!move(dm_mr, true, remote, len) || !EXPECT_EQ(vu_check(buf, len, seed), -1))
		return false;
	vu_fill(buf, len, ~seed);
	if (!move(dm_mr, false, remote, len))
		return false;
	memset(buf, 0, len);
	return EXPECT_EQ(ibv_memcpy_from_dm(buf, dm, 0, len), 0) &&
	       EXPECT_EQ(vu_check(buf, len, ~seed), -1);
}

static void test_data(const void *arg)
{
	static const size_t lens[] = {4, 8, 64, 100, 512, LEN};
	struct ibv_dm *dm = make_dm(LEN);
	struct ibv_mr *dm_mr;
	unsigned int i;

	(void)arg;
	if (!dm)
		return;
	dm_mr = ibv_reg_dm_mr(dev.pd, dm, 0, LEN, VU_RW | IBV_ACCESS_ZERO_BASED);
	if (!EXPECT(dm_mr))
		return;
	if (connect_qps() && begin_beside(message_loop)) {
		for (i = 0; i < ROUNDS; i++) {
			if (!copy_and_move(dm, dm_mr, i % 2, lens[i / 2 % ARRAY_SIZE(lens)], i))
				break;
		}
		end_beside();
	}
	disconnect();
	EXPECT_EQ(ibv_dereg_mr(dm_mr), 0);
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

/* The mapping of the device memory of ODD_LEN bytes, which is of whole pages, or NULL. */
static void *find_mapping(void)
{
	unsigned long len = (ODD_LEN + VU_PAGE - 1) & ~(VU_PAGE - 1);
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	void *found = NULL;
	char line[512];

	if (!EXPECT(maps))
		return NULL;
	while (!found && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "/uverbs") && sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
		    end - begin == len)
			found = (void *)begin;
	}
	fclose(maps);
	EXPECT(found);
	return found;
}

/* The last store arrives before the memory is freed, so the next owner never sees it. */
static bool change_owner(void)
{
	struct ibv_dm *dm = make_dm(ODD_LEN);
	volatile uint64_t *map = dm ? find_mapping() : NULL;
	unsigned int i;

	if (!map)
		return false;
	for (i = 0; i < ODD_LEN / sizeof(*map); i++)
		map[i] = ~0ULL;
	if (!EXPECT_EQ(ibv_free_dm(dm), 0))
		return false;

	dm = make_dm(ODD_LEN);
	if (!dm)
		return false;
	memset(buf, 1, ODD_LEN);
	EXPECT_EQ(ibv_memcpy_from_dm(buf, dm, 0, ODD_LEN), 0);
	for (i = 0; i < ODD_LEN && !buf[i]; i++)
		;
	EXPECT_EQ(ibv_free_dm(dm), 0);
	return EXPECT_EQ(i, ODD_LEN);
}

static void test_next_owner(const void *arg)
{
	unsigned int i;

	(void)arg;
	if (!begin_beside(command_loop))
		return;
	for (i = 0; i < 30 && change_owner(); i++)
		;
	end_beside();
}

static const struct tap_test tests[] = {
	{"requests find what was copied before", test_data, NULL},
	{"the next owner finds zeroes", test_next_owner, NULL},
};

int main(void)
{
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, ODD_LEN);
	buf = mr->addr;
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), disconnect);
}
