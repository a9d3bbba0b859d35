// SPDX-License-Identifier: GPL-2.0
/* Metrics: the command, and HTTP on a socket. */

#include <inttypes.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "pair.h"

#define MAX_ANSWER (1 << 20)
#define FRESH "socket=%s/a,mac=02:00:00:00:00:11"

/* All lines, joined from the parts of the reply; the caller frees them. */
static char *get_metrics(void)
{
	char *text = calloc(1, MAX_ANSWER), args[64] = "{}";
	struct json_object *result, *lines, *next;
	size_t i, len = 0;
	bool more = true;

	assert_non_null(text);
	while (more) {
		result = ctl_call(server, "metrics", args);
		lines = ctl_field(result, "lines");
		for (i = 0; i < json_object_array_length(lines); i++)
			len += sprintf(text + len, "%s\n",
				       json_object_get_string(json_object_array_get_idx(lines, i)));
		more = json_object_object_get_ex(result, "next", &next);
		if (more)
			snprintf(args, sizeof(args), "{\"from\":\"%s\"}",
				 json_object_get_string(next));
		json_object_put(result);
	}
	return text;
}

/* The value of a sample, which is a whole line up to the last blank */
static double value_of(const char *text, const char *sample)
{
	char begin[256];
	const char *at;

	snprintf(begin, sizeof(begin), "\n%s ", sample);
	at = strstr(text, begin);
	if (!at)
		fail_msg("no sample %s", sample);
	return strtod(at + strlen(begin), NULL);
}

static void test_values(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout l = {5001, 1, 2, 2, 3};
	struct json_object *result, *values;
	char *text, sample[128];

	(void)state;
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	text = get_metrics();
	assert_true(value_of(text, "ohca_port_tx_bytes_total{hca=\"hca0\",port=\"1\"}") == l.len);
	assert_true(value_of(text, "ohca_port_tx_bytes_total{hca=\"hca1\",port=\"1\"}") == 0);
	assert_true(value_of(text, "ohca_hca_qps{hca=\"hca0\"}") == 1);
	assert_true(value_of(text, "ohca_hca_connected{hca=\"hca0\"}") == 1);
	assert_true(value_of(text, "ohca_hca_state{hca=\"hca0\",ohca_hca_state=\"ready\"}") == 1);
	assert_true(value_of(text, "ohca_hca_state{hca=\"hca0\",ohca_hca_state=\"fatal\"}") == 0);
	assert_true(value_of(text, "ohca_port_active{hca=\"hca0\",port=\"1\",link=\"ethernet\"}") ==
		    1);
	assert_null(strstr(text, "ohca_hca_send_latency_seconds_count"));
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	assert_ptr_equal(strstr(text, "# EOF\n"), text + strlen(text) - 6);
	/* Each counter of a port is there. */
	result = ctl_call(server, "show-totals", "{\"hca\":\"hca0\"}");
	values = ctl_field(json_object_array_get_idx(ctl_field(result, "totals"), 0), "values");
	json_object_object_foreach(values, key, value)
	{
		snprintf(sample, sizeof(sample), "ohca_port_%s_total{hca=\"hca0\",port=\"1\"}",
			 key);
		assert_true(value_of(text, sample) == json_object_get_double(value));
	}
	json_object_put(result);
	free(text);
	rig_close(p.rig);
}

static void test_histogram(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout l = {100, 1, 2, 1, 1};
	double last = 0, le, count, limit = 0;
	char *text, *at;
	unsigned int i;

	(void)state;
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":true}");
	for (i = 0; i < 100; i++)
		pair_check_message(&p, OHCA_OP_RDMA_WRITE, &l, i);
	text = get_metrics();
	count = value_of(text, "ohca_hca_send_latency_seconds_count{hca=\"hca0\"}");
	assert_true(count == 100);
	assert_true(value_of(text, "ohca_hca_send_latency_seconds_sum{hca=\"hca0\"}") > 0);
	assert_true(value_of(text, "ohca_hca_send_latency_seconds_bucket{hca=\"hca0\",le=\"+"
				   "Inf\"}") == count);
	for (at = text; (at = strstr(at, "_bucket{hca=\"hca0\",le=\"0.")); at++) {
		assert_int_equal(sscanf(at, "_bucket{hca=\"hca0\",le=\"%lf\"} %lf", &le, &count),
				 2);
		assert_true(le > limit && count >= last);
		limit = le;
		last = count;
	}
	assert_true(limit > 0.1);
	assert_null(strstr(text, "_bucket{hca=\"hca1\""));
	free(text);
	ctl_do(server, "latency", "{\"hca\":\"hca0\",\"on\":false}");
	rig_close(p.rig);
}

static void test_errors(void **state)
{
	(void)state;
	assert_true(ctl_fails(server, "metrics", "{\"from\":\"x\"}", "EINVAL", "from is not what"));
	assert_true(
		ctl_fails(server, "metrics", "{\"from\":\"9999\"}", "EINVAL", "from is not what"));
	assert_true(
		ctl_fails(server, "metrics", "{\"from\":\"1x\"}", "EINVAL", "from is not what"));
}

/* HTTP */

static int dial(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

/* Everything until the end, which the caller frees */
static char *receive_all(int fd)
{
	char *text = calloc(1, MAX_ANSWER);
	size_t len = 0;
	ssize_t n;

	assert_non_null(text);
	while ((n = recv(fd, text + len, MAX_ANSWER - len - 1, 0)) > 0)
		len += n;
	return text;
}

static char *answer_to(const char *path, const char *request)
{
	int fd = dial(path);
	char *text;

	/* The answer to a part may come before the rest is sent. */
	send(fd, request, strlen(request), MSG_NOSIGNAL);
	text = receive_all(fd);
	close(fd);
	return text;
}

static void expect(const char *path, const char *request, const char *status)
{
	char *text = answer_to(path, request), begin[64];

	snprintf(begin, sizeof(begin), "HTTP/1.1 %s", status);
	if (strncmp(text, begin, strlen(begin)) != 0)
		fail_msg("'%.40s' is answered with '%.80s'", request, text);
	free(text);
}

#define GET "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"

static void check_answers(const char *path)
{
	char *text = answer_to(path, GET "\r\n"), *body = strstr(text, "\r\n\r\n");
	static char long_request[10000];
	int fd, parts[4];
	unsigned int i;

	assert_non_null(body);
	assert_int_equal(strncmp(text, "HTTP/1.1 200 OK\r\n", 17), 0);
	assert_non_null(strstr(text, "application/openmetrics-text; version=1.0.0"));
	assert_int_equal(strncmp(body + 4, "# TYPE ohca_device info\n", 24), 0);
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	expect(path, "GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK");
	expect(path, "GET / HTTP/1.1\r\n\r\n", "404 Not Found");
	expect(path, "GET /metricsx HTTP/1.1\r\n\r\n", "404 Not Found");
	expect(path, "POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed");
	expect(path, "hello\n\n", "400 Bad Request");
	expect(path, "GET metrics HTTP/1.1\r\n\r\n", "400 Bad Request");
	memset(long_request, 'x', sizeof(long_request) - 1);
	expect(path, long_request, "431 ");
	/* A request in pieces, while others ask, and one that never asks */
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i] = dial(path);
	fd = dial(path);
	assert_int_equal(send(fd, GET, strlen(GET), 0), strlen(GET));
	expect(path, GET "\r\n", "200 OK");
	assert_int_equal(send(fd, "\r\n", 2, 0), 2);
	text = receive_all(fd);
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	close(fd);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		close(parts[i]);
	expect(path, GET "\r\n", "200 OK");
}

static void test_http(void **state)
{
	char dir[] = "/tmp/ohcad-metrics.XXXXXX", hca[96], metrics[64], option[96];
	const char *argv[] = {getenv("OHCAD"), "--hca", hca, "--metrics", option, NULL};
	struct server *other;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(hca, sizeof(hca), FRESH, dir);
	snprintf(metrics, sizeof(metrics), "%s/metrics", dir);
	snprintf(option, sizeof(option), "%s,mode=0640", metrics);
	other = server_start_argv(argv, metrics);
	assert_int_equal(stat(metrics, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	check_answers(metrics);
	assert_true(server_stop(other));
	/* The sockets went with it. */
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_http),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
