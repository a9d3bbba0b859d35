// SPDX-License-Identifier: GPL-2.0
/* Functions for the tests of on-demand paging. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "odp_util.h"

struct vu_dev dev;
uint8_t *src, *dst;
struct ibv_mr *src_mr, *dst_mr;

void odp_open(void)
{
	struct ibv_device_attr_ex attr;

	vu_open(&dev);
	if (ibv_query_device_ex(dev.ctx, NULL, &attr) ||
	    !(attr.odp_caps.general_caps & IBV_ODP_SUPPORT))
		tap_skip_all("no on-demand paging");
	src = vu_alloc(LEN);
	dst = vu_alloc(LEN);
	src_mr = ibv_reg_mr(dev.pd, src, LEN, ODP);
	dst_mr = ibv_reg_mr(dev.pd, dst, LEN, ODP);
	if (!src_mr || !dst_mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
}

static void (*more_cleanup)(void);

static void clean_up(void)
{
	if (more_cleanup)
		more_cleanup();
	EXPECT_EQ(ibv_dereg_mr(src_mr), 0);
}

int odp_main(const struct tap_test *tests, unsigned int num, void (*cleanup)(void))
{
	more_cleanup = cleanup;
	return vu_main(&dev, dst_mr, tests, num, clean_up);
}

void drop(uint8_t *mem, size_t len)
{
	EXPECT_EQ(madvise(mem, len, MADV_DONTNEED), 0);
}

bool all_zero(const uint8_t *mem, size_t len)
{
	return !mem[0] && !memcmp(mem, mem + 1, len - 1);
}

bool odp_op(struct vu_qp *q, enum ibv_wr_opcode opcode, struct ibv_mr *lmr, void *local, size_t len,
	    struct ibv_mr *rmr, void *remote, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return EXPECT_EQ(vu_post_send(q, opcode, 1, IBV_SEND_SIGNALED, lmr, local, len,
				      (uintptr_t)remote, rmr->rkey),
			 0) &&
	       vu_wait_wc(q->scq, &wc, 1, status);
}

uint64_t pagemap(const uint8_t *mem)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (!EXPECT(fd >= 0))
		return 0;
	EXPECT_EQ(pread(fd, &entry, 8, (uintptr_t)mem / PAGE * 8), 8);
	close(fd);
	return entry;
}
