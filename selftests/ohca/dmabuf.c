// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions of dma-bufs, which udmabuf makes of a memfd.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_util.h"

#define PAGE VU_PAGE
#define LEN (64 * PAGE)

static struct vu_dev dev;
static struct vu_qp qp, peer;
static uint8_t *sink;
static struct ibv_mr *sink_mr;

/**
 * struct buf - a dma-buf
 * @fd: of the dma-buf
 * @mem: its memory
 */
struct buf {
	int fd;
	uint8_t *mem;
};

static bool reconnect(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	vu_qp_destroy(&qp);
	vu_qp_destroy(&peer);
	return vu_qp_create(&dev, &qp, &opts) && vu_qp_create(&dev, &peer, &opts) &&
	       vu_connect_pair(&dev, &qp, &peer, &opts);
}

static bool buf_create(struct buf *buf)
{
	struct udmabuf_create create = {.size = LEN};
	int dev_fd = open("/dev/udmabuf", O_RDWR);
	int mem_fd = memfd_create("dmabuf", MFD_ALLOW_SEALING);

	buf->fd = -1;
	buf->mem = MAP_FAILED;
	create.memfd = mem_fd;
	if (EXPECT(dev_fd >= 0) && EXPECT(mem_fd >= 0) && EXPECT_EQ(ftruncate(mem_fd, LEN), 0) &&
	    EXPECT_EQ(fcntl(mem_fd, F_ADD_SEALS, F_SEAL_SHRINK), 0)) {
		buf->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, mem_fd, 0);
		buf->fd = ioctl(dev_fd, UDMABUF_CREATE, &create);
	}
	close(dev_fd);
	close(mem_fd);
	return EXPECT(buf->mem != MAP_FAILED) && EXPECT(buf->fd >= 0);
}

static void buf_destroy(struct buf *buf)
{
	if (buf->fd >= 0)
		close(buf->fd);
	if (buf->mem != MAP_FAILED)
		munmap(buf->mem, LEN);
}

static bool op(enum ibv_wr_opcode opcode, struct ibv_mr *mr, uint64_t addr, size_t len)
{
	struct ibv_wc wc;

	return EXPECT_EQ(vu_post_send(&qp, opcode, 1, IBV_SEND_SIGNALED, sink_mr, sink, len, addr,
				      mr->rkey),
			 0) &&
	       vu_wait_wc(qp.scq, &wc, 1, IBV_WC_SUCCESS);
}

/* @len bytes at @off of the buffer, known to others as @iova */
static void try_region(struct buf *buf, size_t off, size_t len, uint64_t iova)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(dev.pd, off, len, iova, buf->fd, VU_RW);

	if (!EXPECT(mr))
		return;
	EXPECT_EQ(mr->length, len);
	vu_fill(buf->mem + off, len, len);
	memset(sink, 0, len);
	if (op(IBV_WR_RDMA_READ, mr, iova, len))
		EXPECT_EQ(vu_check(sink, len, len), -1);
	vu_fill(sink, len, len + 1);
	if (op(IBV_WR_RDMA_WRITE, mr, iova, len))
		EXPECT_EQ(vu_check(buf->mem + off, len, len + 1), -1);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

static void test_traffic(const void *arg)
{
	struct buf buf;

	(void)arg;
	if (buf_create(&buf) && reconnect()) {
		try_region(&buf, 0, LEN, 0);
		try_region(&buf, 0, LEN, (uintptr_t)buf.mem);
		try_region(&buf, PAGE, PAGE, 0x123456000);
		try_region(&buf, 3 * PAGE + 100, 5 * PAGE, 0x7000000000 + 100);
		try_region(&buf, LEN - 1, 1, PAGE - 1);
	}
	buf_destroy(&buf);
}

/* It exists after the program has closed it, as long as the region. */
static void test_closed(const void *arg)
{
	struct buf buf;
	struct ibv_mr *mr;

	(void)arg;
	if (buf_create(&buf) && reconnect()) {
		vu_fill(buf.mem, LEN, 7);
		mr = ibv_reg_dmabuf_mr(dev.pd, 0, LEN, 0, buf.fd, VU_RW);
		if (EXPECT(mr)) {
			buf_destroy(&buf);
			buf.fd = -1;
			buf.mem = MAP_FAILED;
			memset(sink, 0, LEN);
			if (op(IBV_WR_RDMA_READ, mr, 0, LEN))
				EXPECT_EQ(vu_check(sink, LEN, 7), -1);
			EXPECT_EQ(ibv_dereg_mr(mr), 0);
		}
	}
	buf_destroy(&buf);
}

static void test_refused(const void *arg)
{
	struct buf buf;

	(void)arg;
	if (buf_create(&buf)) {
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, 0, LEN + 1, 0, buf.fd, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, LEN, PAGE, 0, buf.fd, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, 0, 0, 0, buf.fd, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, -PAGE, PAGE, 0, buf.fd, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, 100, PAGE, 0, buf.fd, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, 0, PAGE, 0, -1, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, 0, PAGE, 0, STDOUT_FILENO, VU_RW));
		EXPECT(!ibv_reg_dmabuf_mr(dev.pd, 0, PAGE, 0, buf.fd, IBV_ACCESS_REMOTE_WRITE));
	}
	buf_destroy(&buf);
}

static const struct tap_test tests[] = {
	{"reads and writes", test_traffic, NULL},
	{"closed after registration", test_closed, NULL},
	{"refused registrations", test_refused, NULL},
};

int main(void)
{
	int status;

	if (access("/dev/udmabuf", R_OK | W_OK))
		tap_skip_all("no /dev/udmabuf");
	vu_open(&dev);
	sink = vu_alloc(LEN);
	sink_mr = ibv_reg_mr(dev.pd, sink, LEN, VU_RW);
	if (!sink_mr)
		tap_bail("ibv_reg_mr: %d", errno);
	status = tap_run(tests, ARRAY_SIZE(tests));
	tap_begin();
	vu_qp_destroy(&qp);
	vu_qp_destroy(&peer);
	EXPECT_EQ(ibv_dereg_mr(sink_mr), 0);
	vu_close(&dev);
	return tap_failed() ? TAP_FAIL : status;
}
