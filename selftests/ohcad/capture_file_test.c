// SPDX-License-Identifier: GPL-2.0
/* Captures: options, files that end early, are full or have no reader, and the order of starts. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "capture/capture.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "inproc.h"
#include "pair.h"
#include "pcapng_file.h"

static struct server *server;
static struct pair p;
static char dir[] = "/tmp/ohcad-capture.XXXXXX", path[64], fifo[64];
static uint32_t seed;

static bool no_threads;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	return no_threads ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}

static int start(void **state)
{
	(void)state;
	no_threads = false;
	server = server_start(2);
	p = pair_open(server, NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	captures_fini(&inproc_fabric(0)->captures);
	unlink(path);
	unlink(fifo);
	rig_close(p.rig);
	return server_stop(server) ? 0 : -1;
}

static int try_begin(const char *text)
{
	struct capture_options opts;
	int err;

	assert_null(capture_parse(&opts, text));
	err = capture_start(&inproc_fabric(0)->captures, inproc_hca(0)->loop, &opts);
	capture_options_free(&opts);
	return err;
}

static void begin(const char *file, const char *more)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s", file, more);
	assert_int_equal(try_begin(text), 0);
}

static struct capture_status status(void)
{
	struct capture_status now;

	assert_true(capture_show(&inproc_fabric(0)->captures, &now));
	return now;
}

static void message(uint32_t len)
{
	struct pair_layout l = {len, 1, 2, 2, 3};

	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &l, ++seed);
}

static void test_options(void **state)
{
	static const char *const bad[] = {"",
					  ",snaplen=1",
					  "x,",
					  "x,y",
					  "x,snaplen",
					  "x,snaplen=",
					  "x,snaplen=-1",
					  "x,snaplen=1k",
					  "x,limit=1",
					  "x,snaplen=262145",
					  "x,limit=1T",
					  "x,limit=99999999999G",
					  "x,limit=64kk",
					  "x,limit=1M,limit=1M"};
	struct capture_options opts;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!capture_parse(&opts, bad[i]))
			assert_string_equal(bad[i], "x,");
		capture_options_free(&opts);
	}
	assert_null(capture_parse(&opts, "/a b=c,limit=64k,snaplen=96"));
	assert_string_equal(opts.path, "/a b=c");
	assert_int_equal(opts.snaplen, 96);
	assert_int_equal(opts.limit, 65536);
	capture_options_free(&opts);
	assert_null(capture_parse(&opts, "x,limit=3G"));
	assert_true(opts.limit == 3ULL << 30 && !opts.snaplen);
	capture_options_free(&opts);
}

static void test_snaplen(void **state)
{
	struct pf *pf;
	unsigned int i, whole = 0;

	(void)state;
	begin(path, ",snaplen=99");
	message(3000);
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	pf = pf_read(path);
	assert_true(pf->num > 4);
	assert_int_equal(pf->ifs[0].snaplen, 99);
	for (i = 0; i < pf->num; i++) {
		assert_int_equal(pf->packets[i].caplen,
				 pf->packets[i].len < 99 ? pf->packets[i].len : 99);
		whole += pf->packets[i].len < 99;
	}
	assert_true(whole > 0 && whole < pf->num);
	pf_free(pf);
}

/* The capture ends by itself and writes its statistics; traffic continues. */
static void test_limit(void **state)
{
	struct pf *pf;
	unsigned int i;

	(void)state;
	begin(path, ",limit=100k");
	for (i = 0; i < 10; i++)
		message(20000);
	inproc_settle();
	assert_null(inproc_fabric(0)->captures.running);
	assert_int_equal(status().state, CAPTURE_FULL);
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), -ENOENT);
	pf = pf_read(path);
	assert_int_equal(pf->size, status().bytes);
	assert_in_range(pf->size, 97 * 1024, 100 * 1024);
	assert_int_equal(pf->num, status().packets);
	assert_int_equal(status().dropped, 1);
	assert_true(pf->ifs[0].stats && pf->ifs[1].stats);
	pf_free(pf);
}

static void test_refused(void **state)
{
	char text[96];

	(void)state;
	snprintf(text, sizeof(text), "%s/none/file", dir);
	assert_int_equal(try_begin(text), -ENOENT);
	assert_int_equal(try_begin(dir), -EISDIR);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(try_begin(fifo), -ENXIO);
	assert_false(capture_show(&inproc_fabric(0)->captures, &(struct capture_status){}));
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), -ENOENT);
	begin(path, "");
	assert_int_equal(try_begin(path), -EBUSY);
	message(1000);
	assert_int_equal(status().state, CAPTURE_RUNNING);
	assert_true(status().packets > 2);
}

/* One capture after the other; the second one has nothing of the first one. */
static void test_again(void **state)
{
	struct pf *pf;
	struct stat st;

	(void)state;
	begin(path, "");
	message(100000);
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	message(1000);
	begin(path, "");
	message(0);
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	pf = pf_read(path);
	assert_int_equal(pf->num, 4);
	assert_int_equal(pf->ifs[0].seen, 2);
	pf_free(pf);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Recorded packets are written to the file soon, not only at the end. */
static void test_flush(void **state)
{
	struct stat st = {};
	struct pf *pf;

	(void)state;
	begin(path, "");
	message(1000);
	while (st.st_size < (off_t)status().bytes) {
		inproc_step();
		assert_int_equal(stat(path, &st), 0);
	}
	pf = pf_read(path);
	assert_int_equal(pf->num, status().packets);
	pf_free(pf);
}

/* A full disk ends the capture, and nothing else. */
static void test_full(void **state)
{
	(void)state;
	begin("/dev/full", "");
	while (inproc_fabric(0)->captures.running)
		message(20000);
	assert_int_equal(status().state, CAPTURE_FAILED);
	assert_int_equal(status().error, ENOSPC);
	message(100000);
	begin("/dev/full", "");
	message(1000);
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	assert_int_equal(status().state, CAPTURE_FAILED);
}

/* A file whose size is limited holds only whole blocks. */
static void test_cut(void **state)
{
	const struct rlimit limit = {100001, 100001};
	struct pf *pf;
	pid_t pid;
	int how;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		begin(path, "");
		setrlimit(RLIMIT_FSIZE, &limit);
		message(1000000);
		capture_stop(&inproc_fabric(0)->captures);
		_exit(status().state == CAPTURE_FAILED && status().error == EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &how, 0), pid);
	assert_int_equal(how, 0);
	pf = pf_read(path);
	assert_in_range(pf->size, 90000, 100001);
	pf_free(pf);
}

/* Without a reader packets are dropped, no traffic waits, and the capture can be ended. */
static void test_stuck(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	begin(fifo, "");
	while (!status().dropped)
		message(1000000);
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	assert_int_equal(status().state, CAPTURE_FAILED);
	assert_int_equal(status().error, ETIMEDOUT);
	close(fd);
}

/* There is no thread when the first part is to be written, at the end. */
static void test_no_thread(void **state)
{
	(void)state;
	begin(path, "");
	message(64);
	no_threads = true;
	alarm(60); /* in which a test ends that waits for the thread */
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	alarm(0);
	assert_int_equal(status().state, CAPTURE_FAILED);
	assert_int_equal(status().error, EAGAIN);
}

/* A reader comes late: the number of dropped packets is reported. */
static void test_late(void **state)
{
	uint64_t gaps[2] = {};
	struct pf *pf;
	unsigned int i;
	pid_t pid;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK);
	begin(fifo, "");
	while (!status().dropped)
		message(1000000);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		execl("/bin/sh", "sh", "-c", "cat \"$0\" > \"$1\"", fifo, path, NULL);
		_exit(1);
	}
	/* Until one more packet is in the file for each interface and direction */
	for (i = 0; i < 2; i++) {
		uint64_t before = status().packets;

		while (status().packets == before)
			message(1000);
	}
	assert_int_equal(capture_stop(&inproc_fabric(0)->captures), 0);
	close(fd);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(status().state, CAPTURE_STOPPED);
	pf = pf_read(path);
	assert_int_equal(pf->num, status().packets);
	for (i = 0; i < pf->num; i++)
		gaps[pf->packets[i].iface] += pf->packets[i].dropped;
	for (i = 0; i < 2; i++) {
		assert_true(gaps[i] > 0);
		assert_int_equal(gaps[i], pf->ifs[i].dropped);
		assert_int_equal(pf->ifs[i].seen, pf->ifs[i].packets + gaps[i]);
	}
	assert_int_equal(gaps[0] + gaps[1], status().dropped);
	pf_free(pf);
}

/* The reader of a FIFO closes it. */
static void test_gone(void **state)
{
	int fd;

	(void)state;
	assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK);
	begin(fifo, "");
	close(fd);
	while (inproc_fabric(0)->captures.running)
		message(1000);
	assert_int_equal(status().error, EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test_setup_teardown(test_snaplen, start, stop),
		cmocka_unit_test_setup_teardown(test_limit, start, stop),
		cmocka_unit_test_setup_teardown(test_refused, start, stop),
		cmocka_unit_test_setup_teardown(test_again, start, stop),
		cmocka_unit_test_setup_teardown(test_flush, start, stop),
		cmocka_unit_test_setup_teardown(test_full, start, stop),
		cmocka_unit_test_setup_teardown(test_cut, start, stop),
		cmocka_unit_test_setup_teardown(test_stuck, start, stop),
		cmocka_unit_test_setup_teardown(test_no_thread, start, stop),
		cmocka_unit_test_setup_teardown(test_late, start, stop),
		cmocka_unit_test_setup_teardown(test_gone, start, stop),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	failed = RUN_TESTS(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
