// SPDX-License-Identifier: GPL-2.0
/*
 * What a message costs the device: two HCAs in this program, one thread that posts a batch and
 * runs the device until it has completed.  The figures have the posting and polling of this
 * program in them.
 *
 *	bench_rc [SECONDS per line [FILE]]
 *
 * With FILE, what it costs with a capture to it: its value is that of --capture.
 */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture.h"
#include "fabric.h"
#include "inproc.h"

#define IOVA 0x10000000ULL
#define LEN (8U << 20)
#define BATCH 64

/* Time of the processor: what else runs does not count. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

struct bench {
	struct rig_qp *a, *b;
	struct rig_mr *ma, *mb;
};

static bool is_recv(uint8_t op)
{
	return op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM || op == OHCA_OP_RDMA_WRITE_IMM;
}

/* One batch; only the last work request is signaled unless @all. */
static void batch(struct bench *b, uint8_t op, uint32_t len, bool all)
{
	struct ohca_sge sge = rig_sge(b->ma, IOVA, len), into = rig_sge(b->mb, IOVA, len);
	struct rig_wr wr = {
		.opcode = op, .num_sge = 1, .sge = &sge, .raddr = IOVA, .rkey = b->mb->key};
	unsigned int i, expect = all ? BATCH : 1;
	struct ohca_cqe cqe;

	for (i = 0; i < BATCH; i++) {
		wr.flags = all || i == BATCH - 1 ? OHCA_WQE_SIGNALED : 0;
		if (is_recv(op))
			rig_post_recv(b->b, i, &into, 1);
		rig_put_send(b->a, &wr);
	}
	rig_ring(b->a);
	while (expect) {
		while (expect && drv_cq_poll(b->a->scq, &cqe)) {
			if (cqe.status)
				abort();
			expect--;
		}
		if (expect)
			inproc_step();
	}
	drv_cq_ack(b->a->scq);
	if (is_recv(op)) {
		for (i = 0; i < BATCH; i++)
			rig_wait_recv(b->b);
	}
}

static void line(struct bench *b, const char *name, uint8_t op, uint32_t len, bool all, double secs)
{
	double start, t;
	uint64_t n = 0;

	batch(b, op, len, all);
	start = now();
	do {
		batch(b, op, len, all);
		n += BATCH;
		t = now() - start;
	} while (t < secs);
	printf("%-22s %8u B %9.1f ns %8.2f Mmsg/s %9.2f GB/s\n", name, len, t / n * 1e9,
	       n / t / 1e6, n * (double)len / t / 1e9);
}

static void capture(const char *text)
{
	struct capture_options opts;

	if (capture_parse(&opts, text) ||
	    capture_start(inproc_fabric(0), inproc_hca(0)->loop, &opts))
		abort();
	capture_options_free(&opts);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {8, 64, 4096, 65536, 1 << 20};
	double secs = argc > 1 ? atof(argv[1]) : 0.5;
	struct rig_qp_opts opts = {.log_size = 8, .max_sge = 1};
	struct server *server = server_start(2);
	struct rig *rig = rig_open(server);
	struct bench b;
	unsigned int i;

	b.a = rig_qp_new(&rig->hca[0], &opts);
	b.b = rig_qp_new(&rig->hca[1], &opts);
	b.ma = rig_mr_new(&rig->hca[0], IOVA, LEN, RIG_ALL_ACCESS, 0);
	b.mb = rig_mr_new(&rig->hca[1], IOVA, LEN, RIG_ALL_ACCESS, 0);
	rig_connect(b.a, b.b);
	if (argc > 2)
		capture(argv[2]);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		line(&b, "WRITE, 1 of 64 signaled", OHCA_OP_RDMA_WRITE, sizes[i], false, secs);
		line(&b, "WRITE, all signaled", OHCA_OP_RDMA_WRITE, sizes[i], true, secs);
		line(&b, "SEND, all signaled", OHCA_OP_SEND, sizes[i], true, secs);
		line(&b, "READ, all signaled", OHCA_OP_RDMA_READ, sizes[i], true, secs);
	}
	capture_fini(inproc_fabric(0));
	rig_close(rig);
	server_stop(server);
	return 0;
}
