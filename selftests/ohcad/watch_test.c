// SPDX-License-Identifier: GPL-2.0
/* What people and scripts see of a running device: ohcactl top, watch, latency, and captures to its standard output. */

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "beside.h"
#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "pair.h"
#include "pcapng_file.h"

#define MAX_WORDS 8

static const char *ohcactl;
static const struct pair_layout layout = {5001, 1, 2, 2, 3};

static void make_argv(const char *argv[MAX_WORDS + 4], const char *const words[MAX_WORDS])
{
	argv[0] = ohcactl;
	argv[1] = "-s";
	argv[2] = server->control;
	memcpy(argv + 3, words, MAX_WORDS * sizeof(*words));
	argv[MAX_WORDS + 3] = NULL;
}

/* Run ohcactl; returns its exit status. */
static int run(char *out, size_t max, const char *const words[MAX_WORDS])
{
	const char *argv[MAX_WORDS + 4];
	int status;

	make_argv(argv, words);
	status = server_run(argv, out, max);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct beside start(const char *const words[MAX_WORDS])
{
	const char *argv[MAX_WORDS + 4];

	make_argv(argv, words);
	return beside_start(argv);
}

#define START(...) start((const char *[MAX_WORDS]){__VA_ARGS__})

/* One line, and exit status 2 */
static void refused(const char *text, const char *const words[MAX_WORDS])
{
	char out[4096];
	int status = run(out, sizeof(out), words);
	char *end = strchr(out, '\n');

	if (status != 2 || !strstr(out, text) || !end || end[1])
		fail_msg("status %d, no line with '%s': %s", status, text, out);
}

#define REFUSED(text, ...) refused(text, (const char *[MAX_WORDS]){__VA_ARGS__})

static void test_usage(void **state)
{
	(void)state;
	REFUSED("--interval is from 0.1 to 3600 seconds, not 0", "top", "--interval", "0");
	REFUSED("--interval is from 0.1 to 3600 seconds, not 1s", "watch", "-d", "1s");
	REFUSED("--interval is from 0.1 to 3600 seconds, not nan", "watch", "-d", "nan");
	REFUSED("--count is a number from 1 on, not -1", "top", "--count=-1");
	REFUSED("--once and --count exclude each other", "top", "--once", "-n", "3");
	REFUSED("--once and --count exclude each other", "top", "-n3", "-b", "--once");
	REFUSED("--sort is traffic, messages, retries, errors, latency or number, not size", "top",
		"--sort", "size");
	REFUSED("a value is missing: --sort", "top", "--sort");
	REFUSED("only top has the option --once", "watch", "--once");
	REFUSED("only top has the option --batch", "show", "hcas", "-b");
	REFUSED("only top and watch have the option --count", "metrics", "-n", "1");
	REFUSED("too many arguments: top", "top", "hca0", "hca1");
	REFUSED("top prints no JSON; watch does", "-j", "top");
	REFUSED("there is no HCA hca7", "top", "--once", "hca7");
	REFUSED("there is no HCA hca7", "watch", "hca7");
	REFUSED("top needs a terminal", "top");
	REFUSED("too many arguments: metrics", "metrics", "1", "2");
	REFUSED("on is no boolean", "latency", "hca0", "maybe");
	REFUSED("there is no HCA hca7", "latency", "hca7", "on");
	REFUSED("latency needs the argument on", "latency", "hca0");
	REFUSED("since is no number", "show", "log", "now");
	REFUSED("there is no such option: --frob", "top", "--frob");
}

/* Send messages until the program has ended; returns its wait status. */
static int load(struct pair *p, struct beside *beside)
{
	uint32_t seed = 0;

	while (beside_read(beside, 0))
		pair_check_message(p, OHCA_OP_SEND, &layout, ++seed);
	return beside_wait(beside);
}

/* The line of a queue pair in the last table that top has printed */
static const char *find_line(const char *out, const char *hca, uint32_t qpn, char line[256])
{
	const char *at, *found = NULL;
	char begin[32];

	snprintf(begin, sizeof(begin), "\n%-8s %6u ", hca, qpn);
	for (at = out; (at = strstr(at, begin)); at++)
		found = at + 1;
	assert_non_null(found);
	snprintf(line, 256, "%.*s", (int)strcspn(found, "\n"), found);
	return found;
}

static void test_top(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct beside top = START("top", "--batch", "-n", "2", "-d", "0.3");
	char line[256], sent[16], received[16], messages[16];

	(void)state;
	assert_int_equal(load(&p, &top), 0);
	assert_non_null(strstr(top.out, " 2 HCAs, 2 ports, 2 QPs  by traffic\nHCA "));
	assert_non_null(strstr(top.out, "\nhca0            ready     yes           1        0"));
	assert_non_null(strstr(top.out, "\nhca0/1      eth  active "));
	find_line(top.out, "hca0", p.a->qpn, line);
	assert_int_equal(sscanf(line, "%*s %*s RC RTS %15s %15s %15s", sent, received, messages),
			 3);
	assert_string_not_equal(sent, "0");
	assert_string_equal(received, "0");
	assert_string_not_equal(messages, "0");
	find_line(top.out, "hca1", p.b->qpn, line);
	assert_int_equal(sscanf(line, "%*s %*s RC RTS %15s %15s", sent, received), 2);
	assert_string_equal(sent, "0");
	assert_string_not_equal(received, "0");
	/* Not a line is longer than a screen of 80 columns is wide. */
	for (char *at = strtok(top.out, "\n"); at; at = strtok(NULL, "\n"))
		assert_true(strlen(at) <= 80);
	beside_free(&top);
	rig_close(p.rig);
}

/* Write to where there is no region; returns the completion. */
static struct ohca_cqe write_astray(struct pair *p)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, 8);
	struct rig_wr wr = rig_write(&sge, PAIR_IOVA, p->mb->key ^ 0xff);

	rig_post_send(p->a, &wr);
	return rig_wait_send(p->a);
}

/* A message that is lost is sent again; one that is refused is an error. */
static void test_qp(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct json_object *result, *row;
	struct ohca_cqe cqe;

	(void)state;
	ctl_do(server, "fault-add", "{\"rule\":\"drop,hca=hca0,dir=tx,count=1\"}");
	pair_check_message(&p, OHCA_OP_SEND, &layout, 1);
	ctl_do(server, "fault-clear", NULL);
	result = ctl_call(server, "show-qps", "{\"hca\":\"hca0\"}");
	row = json_object_array_get_idx(ctl_field(result, "qps"), 0);
	assert_true(ctl_number(row, "retries") >= 1);
	assert_true(ctl_number(row, "sent") > layout.len);
	assert_int_equal(ctl_number(row, "received"), 0);
	assert_int_equal(ctl_number(row, "errors"), 0);
	json_object_put(result);
	cqe = write_astray(&p);
	assert_int_equal(cqe.status, OHCA_WC_REM_ACCESS_ERR);
	result = ctl_call(server, "show-qps", "{\"hca\":\"hca0\"}");
	row = json_object_array_get_idx(ctl_field(result, "qps"), 0);
	assert_int_equal(ctl_number(row, "errors"), 1);
	assert_string_equal(ctl_string(row, "state"), "ERR");
	json_object_put(result);
	rig_close(p.rig);
}

/* The queue pair with most retries, or errors, is the first. */
static void test_sort(void **state)
{
	static const char *const keys[] = {"retries", "errors"};
	struct pair p = pair_open(server, NULL), other = pair_new_in(p.rig, NULL);
	char out[4096], line[256];
	unsigned int i;

	(void)state;
	rig_connect(other.a, other.b);
	ctl_do(server, "fault-add", "{\"rule\":\"drop,hca=hca0,dir=tx,count=1\"}");
	pair_check_message(&other, OHCA_OP_SEND, &layout, 1);
	ctl_do(server, "fault-clear", NULL);
	assert_int_equal(write_astray(&other).status, OHCA_WC_REM_ACCESS_ERR);
	for (i = 0; i < 2; i++) {
		assert_int_equal(run(out, sizeof(out),
				     (const char *[MAX_WORDS]){"top", "--once", "-d", "0.1",
							       "--sort", keys[i], "hca0"}),
				 0);
		assert_true(find_line(out, "hca0", other.a->qpn, line) <
			    find_line(out, "hca0", p.a->qpn, line));
	}
	assert_int_equal(run(out, sizeof(out),
			     (const char *[MAX_WORDS]){"top", "--once", "-d", "0.1", "--sort",
						       "number", "hca0"}),
			 0);
	assert_true(find_line(out, "hca0", other.a->qpn, line) >
		    find_line(out, "hca0", p.a->qpn, line));
	assert_null(strstr(out, "hca1"));
	rig_close(p.rig);
}

/* The next object that watch prints with this kind or event, which the caller has to put */
static struct json_object *next_object(struct beside *watch, const char *kind)
{
	struct json_object *obj = NULL, *value;
	char *end;

	while (!obj) {
		assert_true(beside_prints(watch, "\n"));
		end = strchr(watch->out, '\n');
		*end = '\0';
		obj = json_tokener_parse(watch->out);
		assert_non_null(obj);
		watch->len -= end + 1 - watch->out;
		memmove(watch->out, end + 1, watch->len + 1);
		if (!json_object_object_get_ex(obj, "event", &value))
			json_object_object_get_ex(obj, "kind", &value);
		if (strcmp(json_object_get_string(value), kind) != 0) {
			json_object_put(obj);
			obj = NULL;
		}
	}
	return obj;
}

static void test_watch(void **state)
{
	struct beside watch = START("watch", "-d", "0.1");
	struct json_object *obj = next_object(&watch, "interval"), *row;
	struct pair p;

	(void)state;
	assert_int_equal(json_object_array_length(ctl_field(obj, "qps")), 0);
	assert_int_equal(json_object_array_length(ctl_field(obj, "hcas")), 2);
	json_object_put(obj);
	p = pair_open(server, NULL);
	obj = next_object(&watch, "hca-state");
	assert_string_equal(ctl_string(obj, "to"), "ready");
	json_object_put(obj);
	obj = next_object(&watch, "port-state");
	assert_string_equal(ctl_string(obj, "from"), "down");
	assert_string_equal(ctl_string(obj, "to"), "active");
	json_object_put(obj);
	obj = next_object(&watch, "qp-created");
	assert_string_equal(ctl_string(obj, "type"), "RC");
	json_object_put(obj);
	pair_check_message(&p, OHCA_OP_SEND, &layout, 1);
	do {
		obj = next_object(&watch, "interval");
		row = json_object_array_get_idx(ctl_field(obj, "qps"), 0);
		if (!row)
			json_object_put(obj);
	} while (!row);
	assert_int_equal(ctl_number(row, "sent"), layout.len);
	assert_true(json_object_get_double(ctl_field(ctl_field(row, "rates"), "sent")) > 0);
	row = json_object_array_get_idx(ctl_field(obj, "ports"), 0);
	assert_int_equal(ctl_number(ctl_field(row, "counters"), "tx_bytes"), layout.len);
	assert_true(json_object_get_double(ctl_field(ctl_field(row, "rates"), "tx_bytes")) > 0);
	json_object_put(obj);
	ctl_do(server, "fault-add", "{\"rule\":\"drop,p=0\"}");
	ctl_do(server, "link", "{\"hca\":\"hca1\",\"state\":\"down\"}");
	obj = next_object(&watch, "log");
	assert_true(ctl_field(obj, "time") && *ctl_string(obj, "text"));
	json_object_put(obj);
	obj = next_object(&watch, "port-state");
	assert_string_equal(ctl_string(obj, "hca"), "hca1");
	assert_string_equal(ctl_string(obj, "to"), "down");
	json_object_put(obj);
	ctl_do(server, "link", "{\"hca\":\"hca1\",\"state\":\"up\"}");
	ctl_do(server, "fault-clear", NULL);
	rig_close(p.rig);
	obj = next_object(&watch, "qp-destroyed");
	json_object_put(obj);
	kill(watch.pid, SIGTERM);
	beside_wait(&watch);
	beside_free(&watch);
}

/* Number of latencies of the first queue pair of hca0 */
static uint64_t measured(uint64_t *sum)
{
	struct json_object *result = ctl_call(server, "show-latency", "{\"hca\":\"hca0\"}");
	struct json_object *row = json_object_array_get_idx(ctl_field(result, "latency"), 0);
	struct json_object *buckets = ctl_field(row, "buckets"), *bucket, *value;
	uint64_t count = ctl_number(row, "count"), limit, before = 0;
	size_t i;

	*sum = 0;
	for (i = 0; i < json_object_array_length(buckets); i++) {
		bucket = json_object_array_get_idx(buckets, i);
		*sum += ctl_number(bucket, "count");
		if (!json_object_object_get_ex(bucket, "up_to_ns", &value))
			continue;
		limit = json_object_get_uint64(value);
		assert_int_equal(limit & (limit - 1), 0);
		assert_true(limit > before);
		before = limit;
	}
	if (count)
		assert_true(ctl_number(row, "mean_ns") > 0 &&
			    ctl_number(row, "p99_ns") >= ctl_number(row, "p50_ns"));
	json_object_put(result);
	return count;
}

static void assert_measured(uint64_t num)
{
	uint64_t sum;

	assert_int_equal(measured(&sum), num);
	assert_int_equal(sum, num);
}

static void test_latency(void **state)
{
	struct pair p = pair_open(server, NULL);
	unsigned int i;

	(void)state;
	pair_check_message(&p, OHCA_OP_SEND, &layout, 1);
	assert_measured(0);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":\"on\"}");
	for (i = 0; i < 1000; i++)
		pair_check_message(&p, i & 1 ? OHCA_OP_RDMA_READ : OHCA_OP_SEND, &layout, i);
	assert_measured(1000);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":false}");
	pair_check_message(&p, OHCA_OP_SEND, &layout, 2);
	assert_measured(1000);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":true}");
	assert_measured(0);
	pair_check_message(&p, OHCA_OP_SEND, &layout, 3);
	assert_measured(1);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":false}");
	rig_close(p.rig);
}

/* A message that waits for its time is in the bucket of that time. */
static void test_late(void **state)
{
	const struct pair_layout one_packet = {100, 1, 2, 2, 3};
	struct pair p = pair_open(server, NULL);
	struct json_object *result, *row, *buckets;

	(void)state;
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":true}");
	ctl_do(server, "fault-add", "{\"rule\":\"delay=30ms,hca=hca0,dir=tx,count=1\"}");
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &one_packet, 1);
	ctl_do(server, "fault-clear", NULL);
	result = ctl_call(server, "show-latency", "{\"hca\":\"hca0\"}");
	row = json_object_array_get_idx(ctl_field(result, "latency"), 0);
	/* The time of the loop, from which the delay counts, may be a little older. */
	assert_true(ctl_number(row, "mean_ns") >= 29000000);
	buckets = ctl_field(row, "buckets");
	assert_int_equal(json_object_array_length(buckets), 1);
	row = json_object_array_get_idx(buckets, 0);
	assert_true(ctl_number(row, "up_to_ns") >= 1 << 25);
	json_object_put(result);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":false}");
	rig_close(p.rig);
}

/* Of datagrams, too */
static void test_latency_ud(void **state)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD};
	struct rig *rig = rig_open(server);
	struct rig_qp *a = rig_qp_new(&rig->hca[0], &opts), *b = rig_qp_new(&rig->hca[1], &opts);
	struct rig_mr *mr = rig_mr_new(&rig->hca[0], PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, 64);
	struct rig_wr wr;

	(void)state;
	rig_connect(a, b);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":true}");
	wr = rig_datagram(b, &a->attr.av, &sge);
	rig_post_send(a, &wr);
	assert_int_equal(rig_wait_send(a).status, OHCA_WC_SUCCESS);
	assert_measured(1);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":false}");
	rig_close(rig);
}

static void write_file(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* Wait for a capture in that state. */
static void wait_capture(const char *state)
{
	struct json_object *result;
	bool good = false;

	while (!good) {
		result = ctl_call(server, "capture-show", NULL);
		good = !strcmp(ctl_string(result, "state"), state);
		json_object_put(result);
	}
}

static void test_capture(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct beside capture = START("capture", "start", "-");
	char path[96];
	struct pf *pf;

	(void)state;
	wait_capture("running");
	pair_check_message(&p, OHCA_OP_RDMA_READ, &layout, 1);
	/* What has passed is there while the capture goes on: a reader sees it live. */
	while (capture.len < 10000)
		assert_true(beside_read(&capture, 100));
	pair_check_message(&p, OHCA_OP_RDMA_READ, &layout, 2);
	kill(capture.pid, SIGINT);
	assert_int_equal(beside_wait(&capture), 0);
	snprintf(path, sizeof(path), "%s/file", server->dir);
	write_file(path, capture.out, capture.len);
	pf = pf_read(path);
	assert_int_equal(pf->num, 24);
	assert_true(pf->ifs[0].stats);
	pf_free(pf);
	unlink(path);
	beside_free(&capture);
	wait_capture("stopped");
	rig_close(p.rig);
}

/* It ends with its reader, and at its limit. */
static void test_capture_ends(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout large = {100000, 1, 2, 2, 3};
	struct beside capture = START("capture", "start", "-");
	int status;

	(void)state;
	wait_capture("running");
	close(capture.fd);
	wait_capture("stopped");
	assert_int_equal(waitpid(capture.pid, &status, 0), capture.pid);
	assert_int_equal(status, 0);
	capture = START("capture", "start", "-", "limit=65536");
	wait_capture("running");
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &large, 1);
	assert_int_equal(beside_wait(&capture), 0);
	assert_true(capture.len <= 65536);
	beside_free(&capture);
	wait_capture("full");
	assert_true(ctl_fails(server, "capture-start", "{\"file\":\"-\"}", "EBADF",
			      "no descriptor came with the request"));
	rig_close(p.rig);
}

/* Its output can't be written: that is no success. */
static void test_capture_lost(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout large = {100000, 1, 2, 2, 3};
	struct beside capture;
	char command[256];
	int status;

	(void)state;
	snprintf(command, sizeof(command), "exec %s -s %s capture start - 2>&1 >/dev/full", ohcactl,
		 server->control);
	capture = beside_start((const char *[]){"/bin/sh", "-c", command, NULL});
	wait_capture("running");
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &large, 1);
	status = beside_wait(&capture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(capture.out, "ohcactl: standard output: No space left on device"));
	beside_free(&capture);
	wait_capture("stopped");
	rig_close(p.rig);
}

static struct beside start_screen(const char *term, const char *const words[MAX_WORDS])
{
	const char *argv[MAX_WORDS + 4];

	make_argv(argv, words);
	return beside_start_screen(argv, term, 24, 80);
}

#define START_SCREEN(term, ...) start_screen(term, (const char *[MAX_WORDS]){__VA_ARGS__})

/* It ends with a key, and after a number of looks.  Only without NO_COLOR, the active port is green. */
static void test_screen(void **state)
{
	static const char green[] = "\033[32m";
	struct pair p = pair_open(server, NULL);
	struct beside top = START_SCREEN("xterm", "top", "-d", "0.1");

	(void)state;
	assert_true(beside_prints(&top, "q quit"));
	assert_non_null(strstr(top.out, "by traffic"));
	assert_non_null(strstr(top.out, green));
	assert_int_equal(write(top.fd, "q", 1), 1);
	assert_int_equal(beside_wait(&top), 0);
	beside_free(&top);
	setenv("NO_COLOR", "1", 1);
	top = START_SCREEN("xterm", "top", "-d", "0.1", "-n", "3");
	unsetenv("NO_COLOR");
	assert_int_equal(beside_wait(&top), 0);
	assert_non_null(strstr(top.out, "by traffic"));
	assert_null(strstr(top.out, green));
	beside_free(&top);
	rig_close(p.rig);
}

/* Another size of the terminal, again and again, also while it waits for an answer */
static void test_screen_resized(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct beside top = START_SCREEN("xterm", "top", "-d", "0.1");
	struct winsize size = {.ws_row = 24};
	unsigned int i;

	(void)state;
	assert_true(beside_prints(&top, "q quit"));
	for (i = 0; i < 500; i++) {
		size.ws_col = 80 + i % 2;
		assert_int_equal(ioctl(top.fd, TIOCSWINSZ, &size), 0);
		assert_true(beside_read(&top, 1));
	}
	assert_int_equal(write(top.fd, "q", 1), 1);
	assert_int_equal(beside_wait(&top), 0);
	beside_free(&top);
	rig_close(p.rig);
}

static void test_no_screen(void **state)
{
	struct beside top;
	int status;

	(void)state;
	/* ncurses keeps what it has allocated for a terminal that it does not know. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	top = START_SCREEN("no-such-terminal", "top");
	unsetenv("ASAN_OPTIONS");
	status = beside_wait(&top);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 2)
		fail_msg("status %#x: %s", status, top.out);
	assert_non_null(strstr(top.out, "top needs a terminal; --once and --batch do not"));
	beside_free(&top);
}

/* The device dies: the screen is left, and a line says why. */
static void test_screen_gone(void **state)
{
	struct server *all = server;
	struct beside top;

	(void)state;
	server = server_start(1);
	top = START_SCREEN("xterm", "top", "-d", "0.1");
	assert_true(beside_prints(&top, "by traffic"));
	server_kill(server);
	assert_int_equal(WEXITSTATUS(beside_wait(&top)), 1);
	assert_non_null(strstr(top.out, "the device does not answer any more"));
	beside_free(&top);
	assert_true(server_stop(server));
	server = all;
}

static int begin(void **state)
{
	ohcactl = getenv("OHCACTL");
	return ohcactl ? start_two_hcas(state) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_qp),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_latency_ud),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_ends),
		cmocka_unit_test(test_capture_lost),
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_screen_resized),
		cmocka_unit_test(test_no_screen),
		cmocka_unit_test(test_screen_gone),
	};

	return RUN_TESTS(tests, begin, stop_hcas);
}
