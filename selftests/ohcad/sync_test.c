// SPDX-License-Identifier: GPL-2.0
/*
 * A FLUSH to persistence of memory on a disk: the disk may take as long as it likes, and other HCAs and other QPs go on
 * meanwhile.  msync() is this program's.
 */

#include <endian.h>
#include <pthread.h>
#include <sys/mman.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "pair.h"
#include "vfio/dma_sync.h"

#define BUSY 0
#define OTHER 1
#define IOVA 0x10000ULL
#define LEN 4096
#define ROUNDS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool blocked;
static int result;
static unsigned int calls;

int __wrap_msync(void *addr, size_t length, int flags);

int __wrap_msync(void *addr, size_t length, int flags)
{
	int ret;

	(void)addr;
	(void)length;
	(void)flags;
	pthread_mutex_lock(&lock);
	calls++;
	while (blocked)
		pthread_cond_wait(&changed, &lock);
	ret = result;
	pthread_mutex_unlock(&lock);
	return ret;
}

static void set_disk(bool blocks, int returns)
{
	pthread_mutex_lock(&lock);
	blocked = blocks;
	result = returns;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static struct rig *rig;
static struct rig_qp *a, *b, *from, *to;
static struct rig_mr *mr;

/* Two QPs of an HCA whose memory is on a disk, and two of another one */
static int open_rig(void **state)
{
	const uint8_t access = RIG_ALL_ACCESS | OHCA_ACCESS_FLUSH_PERSISTENT;
	struct dma_map *dma;
	unsigned int i;

	(void)state;
	rig = rig_open(server);
	a = rig_qp_new(&rig->hca[BUSY], NULL);
	b = rig_qp_new(&rig->hca[BUSY], NULL);
	rig_connect(a, b);
	from = rig_qp_new(&rig->hca[OTHER], NULL);
	to = rig_qp_new(&rig->hca[OTHER], NULL);
	rig_connect(from, to);
	mr = rig_mr_new(&rig->hca[BUSY], IOVA, LEN, access, 0);
	dma = inproc_hca(BUSY)->dma;
	for (i = 0; i < dma->num; i++)
		dma->regions[i].on_disk = true;
	set_disk(false, 0);
	calls = 0;
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	set_disk(false, 0);
	while (dma_sync_works())
		inproc_step();
	inproc_settle();
	rig_close(rig);
	return 0;
}

static void post_flush(uint64_t id)
{
	struct ohca_sq_wqe fields = {0};
	struct rig_wr wr = {.wr_id = id,
			    .opcode = OHCA_OP_FLUSH,
			    .flags = OHCA_WQE_SIGNALED,
			    .fields = &fields};

	fields.flush.raddr = htole64(IOVA);
	fields.flush.length = htole64(LEN);
	fields.flush.rkey = htole32(mr->key);
	fields.flush.placement = OHCA_FLUSH_PERSISTENT;
	fields.flush.level = OHCA_FLUSH_RANGE;
	rig_post_send(a, &wr);
}

static void assert_done(uint64_t id, uint8_t status)
{
	struct ohca_cqe cqe = rig_wait_send(a);

	drv_cq_ack(a->scq);
	assert_int_equal(le64toh(cqe.wr_id), id);
	assert_int_equal(cqe.status, status);
}

static void test_others_go_on(void **state)
{
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	set_disk(true, 0);
	post_flush(1);
	post_flush(2);
	for (i = 0; i < ROUNDS; i++)
		inproc_assert_message(from, to);
	assert_false(drv_cq_poll(a->scq, &cqe));
	set_disk(false, 0);
	assert_done(1, OHCA_WC_SUCCESS);
	assert_done(2, OHCA_WC_SUCCESS);
	/* What was written after the first one had begun needs another one. */
	assert_in_range(calls, 1, 2 * inproc_hca(BUSY)->dma->num);
	i = calls;
	post_flush(3);
	assert_done(3, OHCA_WC_SUCCESS);
	assert_true(calls > i);
}

static void test_failure(void **state)
{
	(void)state;
	set_disk(false, -1);
	post_flush(1);
	assert_done(1, OHCA_WC_REM_OP_ERR);
}

static void test_memory_in_memory(void **state)
{
	struct dma_map *dma = inproc_hca(BUSY)->dma;
	unsigned int i;

	(void)state;
	for (i = 0; i < dma->num; i++)
		dma->regions[i].on_disk = false;
	set_disk(true, -1);
	post_flush(1);
	assert_done(1, OHCA_WC_SUCCESS);
	assert_int_equal(calls, 0);
}

/* The QP, and then the HCA, is reset while the disk works: nothing comes of it later. */
static void test_reset_in_the_middle(void **state)
{
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	set_disk(true, 0);
	post_flush(1);
	inproc_settle();
	rig_to_reset(a);
	rig_to_reset(b);
	assert_false(drv_cq_poll(a->scq, &cqe));
	rig_connect(a, b);
	post_flush(2);
	inproc_settle();
	drv_set_reg(rig->hca[BUSY].drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
	for (i = 0; i < ROUNDS; i++)
		inproc_assert_message(from, to);
	assert_true(list_empty(&inproc_hca(BUSY)->syncing));
	set_disk(false, 0);
	while (dma_sync_works())
		inproc_assert_message(from, to);
	rig_renew_hca(rig, BUSY);
}

/* Memory that is taken away stays mapped for as long as it is being written back. */
static void test_unmap_in_the_middle(void **state)
{
	struct vu *vu = rig->hca[BUSY].drv->vu;
	unsigned int i;

	(void)state;
	set_disk(true, 0);
	post_flush(1);
	inproc_settle();
	assert_true(dma_sync_works());
	assert_int_equal(vu_dma_unmap(vu, DRV_MEM, DRV_MEM_SIZE), 0);
	for (i = 0; i < ROUNDS; i++)
		inproc_assert_message(from, to);
	assert_true(dma_unmap_some(0));
	inproc_map(vu);
	set_disk(false, 0);
	while (dma_sync_works())
		inproc_assert_message(from, to);
	while (dma_unmap_some(0))
		;
}

#define SYNC_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SYNC_TEST(test_others_go_on),	     SYNC_TEST(test_failure),
		SYNC_TEST(test_memory_in_memory),    SYNC_TEST(test_reset_in_the_middle),
		SYNC_TEST(test_unmap_in_the_middle),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
