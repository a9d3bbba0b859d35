// SPDX-License-Identifier: GPL-2.0
/*
 * One-sided storage: a target registers its blocks and sends their addresses, and an initiator
 * reads and writes them at random.  Meanwhile, the target's process is stopped: it uses no
 * processor and takes no completion, and no data are lost.  The target is a process of its own on
 * side 1 of one machine or, with -2, of two machines.
 */

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs_util.h"

#define BLOCK 4096
#define BLOCKS 1024
#define SIZE ((size_t)BLOCK * BLOCKS)
#define DEPTH 32
#define ROUNDS 64

static struct sess sess;

/**
 * struct target - process of the target, in side 1
 * @fd: socket to it
 */
static struct target {
	pid_t pid;
	int fd;
} target = {.fd = -1};

/* State of side 0: the expected blocks, and a buffer for each request under way. */
static struct vu_dev dev;
static struct vu_qp qp;
static struct ibv_mr *mr;
static uint8_t *buf;
static uint64_t version[BLOCKS]; /* seed of what was written last */

static bool put(int fd, const void *p, size_t len)
{
	return EXPECT_EQ(send(fd, p, len, MSG_NOSIGNAL), len);
}

static bool get(int fd, void *p, size_t len)
{
	return EXPECT_EQ(recv(fd, p, len, MSG_WAITALL), len);
}

static void cleanup(void)
{
	vu_qp_destroy(&qp);
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = NULL;
	if (dev.ctx)
		vu_close(&dev);
	memset(&dev, 0, sizeof(dev));
	if (target.pid) {
		kill(target.pid, SIGKILL);
		waitpid(target.pid, NULL, 0);
	}
	if (target.fd >= 0)
		close(target.fd);
	target = (struct target){.fd = -1};
}

/*
 * The target: all blocks hold 0 at first.  It connects and then waits for the expected contents of
 * each block.  It answers with the number of blocks that differ.
 */
static void target_run(int fd)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_addr mine = {}, theirs;
	uint32_t i, bad = 0;
	struct ibv_wc wc;

	vu_open(&dev);
	buf = vu_alloc(SIZE);
	mr = ibv_reg_mr(dev.pd, buf, SIZE, VU_RW);
	if (!EXPECT(mr) || !vu_qp_create(&dev, &qp, &opts))
		return;
	vu_qp_addr(&dev, &qp, &mine);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!put(fd, &mine, sizeof(mine)) || !get(fd, &theirs, sizeof(theirs)) ||
	    !vu_connect(&dev, &qp, &theirs, &opts) || !put(fd, &bad, sizeof(bad)))
		return;
	if (!get(fd, version, sizeof(version)))
		return;
	for (i = 0; i < BLOCKS; i++)
		if (version[i] ? vu_check(buf + i * BLOCK, BLOCK, version[i]) != -1
			       : buf[i * BLOCK] != 0)
			bad++;
	bad += ibv_poll_cq(qp.rcq, 1, &wc) != 0; /* the target took no part in the transfers */
	cleanup();
	put(fd, &bad, sizeof(bad));
}

static bool target_start(void)
{
	int fd[2];

	if (!EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0))
		return false;
	fflush(stdout);
	target.pid = fork();
	if (!target.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tap_mute();
		target.fd = -1;
		close(fd[0]);
		target_run(fd[1]);
		_exit(0);
	}
	close(fd[1]);
	target.fd = fd[0];
	return EXPECT(target.pid > 0);
}

/* State and processor time (in user space and kernel) of a process. */
static bool proc_stat(pid_t pid, char *state, unsigned long *ticks)
{
	unsigned long user, system;
	char path[32], line[1024];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!EXPECT(f))
		return false;
	ok = fgets(line, sizeof(line), f) &&
	     sscanf(strrchr(line, ')') + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		    state, &user, &system) == 3;
	fclose(f);
	*ticks = user + system;
	return EXPECT(ok);
}

/* The target's connection, then the initiator's work while the target is stopped. */
static void side_of_target(void)
{
	unsigned long before, after;
	struct vu_addr addr, theirs;
	uint32_t bad = 1;
	int status;
	char state;

	if (!target_start() || !get(target.fd, &addr, sizeof(addr)) ||
	    !sess_xchg(&sess, &addr, &theirs, sizeof(addr)) ||
	    !put(target.fd, &theirs, sizeof(theirs)) || !get(target.fd, &bad, sizeof(bad)))
		return;
	if (!EXPECT_EQ(kill(target.pid, SIGSTOP), 0) ||
	    !EXPECT_EQ(waitpid(target.pid, &status, WUNTRACED), target.pid) ||
	    !EXPECT(WIFSTOPPED(status)) || !proc_stat(target.pid, &state, &before))
		return;
	EXPECT_EQ(state, 'T');
	/* the work is done in the other machine's process only */
	if (!sess_sync(&sess) || !sess_xchg(&sess, version, version, sizeof(version)) ||
	    !proc_stat(target.pid, &state, &after))
		return;
	EXPECT_EQ(state, 'T');
	EXPECT_EQ(after, before);
	kill(target.pid, SIGCONT);
	if (put(target.fd, version, sizeof(version)) && get(target.fd, &bad, sizeof(bad)))
		EXPECT_EQ(bad, 0);
	sess_sync(&sess);
}

/* Choose different blocks, so that the order of a round's requests does not matter. */
static void pick(uint32_t *blocks, uint64_t *rnd)
{
	uint32_t i, j;

	for (i = 0; i < DEPTH; i++)
		do {
			blocks[i] = vu_rand(rnd) % BLOCKS;
			for (j = 0; j < i && blocks[j] != blocks[i]; j++)
				;
		} while (j < i);
}

static bool round_trip(const struct vu_addr *to, uint32_t round, uint64_t *rnd)
{
	uint32_t blocks[DEPTH], i;
	bool write[DEPTH];
	struct ibv_wc wc;

	pick(blocks, rnd);
	for (i = 0; i < DEPTH; i++) {
		uint8_t *slot = buf + i * BLOCK;

		write[i] = vu_rand(rnd) & 1;
		if (write[i]) {
			version[blocks[i]] = (uint64_t)(round + 1) << 32 | (blocks[i] + 1);
			vu_fill(slot, BLOCK, version[blocks[i]]);
		} else {
			memset(slot, 0xff, BLOCK);
		}
		if (!EXPECT_EQ(vu_post_send(&qp, write[i] ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, i,
					    IBV_SEND_SIGNALED, mr, slot, BLOCK,
					    to->va + (uint64_t)blocks[i] * BLOCK, to->rkey),
			       0))
			return false;
	}
	for (i = 0; i < DEPTH; i++)
		if (!vu_wait_wc(qp.scq, &wc, i, IBV_WC_SUCCESS))
			return false;
	for (i = 0; i < DEPTH; i++)
		if (!write[i] && version[blocks[i]] &&
		    !EXPECT_EQ(vu_check(buf + i * BLOCK, BLOCK, version[blocks[i]]), -1))
			return false;
	return true;
}

/* All of the blocks, as large as they are together. */
static bool read_all(const struct vu_addr *to)
{
	struct ibv_wc wc;
	uint32_t i;

	if (!EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, 1, IBV_SEND_SIGNALED, mr, buf, SIZE,
				    to->va, to->rkey),
		       0) ||
	    !vu_wait_wc(qp.scq, &wc, 1, IBV_WC_SUCCESS))
		return false;
	for (i = 0; i < BLOCKS; i++)
		if (!(version[i] ? EXPECT_EQ(vu_check(buf + i * BLOCK, BLOCK, version[i]), -1)
				 : EXPECT_EQ(buf[i * BLOCK], 0)))
			return false;
	return true;
}

static void side_of_initiator(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	uint64_t rnd = sess.test, ignored[BLOCKS];
	struct vu_addr mine = {}, theirs;
	uint32_t i;

	vu_open(&dev);
	mr = ibv_reg_mr(dev.pd, buf, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!EXPECT(mr) || !vu_qp_create(&dev, &qp, &opts))
		return;
	vu_qp_addr(&dev, &qp, &mine);
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)) ||
	    !vu_connect(&dev, &qp, &theirs, &opts) || !sess_sync(&sess))
		return;
	for (i = 0; i < ROUNDS; i++)
		if (!round_trip(&theirs, i, &rnd))
			return;
	if (read_all(&theirs) && sess_xchg(&sess, version, ignored, sizeof(version)))
		sess_sync(&sess);
}

static void test_storage(const void *arg)
{
	(void)arg;
	memset(version, 0, sizeof(version));
	if (sess.side)
		side_of_target();
	else
		side_of_initiator();
}

static const struct tap_test tests[] = {
	{"blocks of a stopped process are read and written", test_storage, NULL},
	{"the same with a target that was started anew", test_storage, NULL},
};

int main(int argc, char **argv)
{
	int status;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	if (!sess.side)
		buf = vu_alloc(SIZE);
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	if (!sess.side)
		vu_free(buf, SIZE);
	return status;
}
