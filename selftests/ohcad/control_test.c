// SPDX-License-Identifier: GPL-2.0
/* The control socket: lines, invalid requests, clients that connect, disconnect and do not read. */

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "client.h"
#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "rnd.h"

#define MAX_LINE 65536 /* of a request, newline included */
#define MAX_CLIENTS 16
#define MAX_RULES 256 /* number of packet rules */
#define MAX_RULE 1024 /* bytes of a rule */

static void expect_ok(int fd)
{
	struct json_object *reply = ctl_recv(fd);

	assert_non_null(reply);
	assert_true(json_object_get_boolean(ctl_field(reply, "ok")));
	json_object_put(reply);
}

static void expect_end(int fd)
{
	struct json_object *reply = ctl_recv(fd);

	if (reply)
		fail_msg("a reply: %s", json_object_to_json_string(reply));
}

static void expect_error(int fd, const char *name, const char *text)
{
	struct json_object *reply = ctl_recv(fd);

	assert_non_null(reply);
	assert_false(json_object_get_boolean(ctl_field(reply, "ok")));
	assert_string_equal(ctl_string(reply, "errno"), name);
	if (!strstr(ctl_string(reply, "error"), text))
		fail_msg("'%s' is not in: %s", text, ctl_string(reply, "error"));
	json_object_put(reply);
}

static void test_version(void **state)
{
	struct json_object *reply, *result;
	int fd = ctl_open(server);
	struct stat st;

	(void)state;
	assert_int_equal(stat(server->control, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	ctl_send(fd, "{\"cmd\":\"version\"}\n");
	reply = ctl_recv(fd);
	result = ctl_field(reply, "result");
	assert_string_equal(ctl_string(result, "program"), "ohcad");
	assert_int_equal(json_object_get_int(ctl_field(result, "pid")), server->pid);
	assert_false(json_object_object_get_ex(reply, "id", NULL));
	json_object_put(reply);
	close(fd);
}

/* Reply to fault-show: this number of rules, the last one is this. */
static void expect_faults(int fd, size_t num, const char *rule)
{
	struct json_object *reply, *faults;

	ctl_send(fd, "{\"cmd\":\"fault-show\"}\n");
	reply = ctl_recv(fd);
	faults = ctl_field(ctl_field(reply, "result"), "faults");
	assert_int_equal(json_object_array_length(faults), num);
	if (num) {
		struct json_object *last = json_object_array_get_idx(faults, num - 1);

		assert_string_equal(ctl_string(last, "rule"), rule);
		assert_int_equal(json_object_get_int(ctl_field(last, "hits")), 0);
		assert_false(json_object_get_boolean(ctl_field(last, "done")));
	}
	json_object_put(reply);
}

static void test_faults(void **state)
{
	int fd = ctl_open(server);

	(void)state;
	expect_faults(fd, 0, NULL);
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"drop,hca=hca1\"}}\n");
	expect_ok(fd);
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"corrupt,p=1%\"}}\n");
	expect_ok(fd);
	expect_faults(fd, 2, "corrupt,p=1%");
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"drop,p=2\"}}\n");
	expect_error(fd, "EINVAL", "p: '2' is not");
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"drop,hca=x\"}}\n");
	expect_error(fd, "ENODEV", "no HCA x");
	ctl_send(fd, "{\"cmd\":\"fault-add\"}\n");
	expect_error(fd, "EINVAL", "needs the argument rule");
	ctl_send(fd, "{\"cmd\":\"fault-clear\",\"args\":{\"id\":0}}\n");
	expect_error(fd, "EINVAL", "begin with 1");
	ctl_send(fd, "{\"cmd\":\"fault-clear\",\"args\":{\"id\":3}}\n");
	expect_error(fd, "ESRCH", "no fault 3");
	ctl_send(fd, "{\"cmd\":\"fault-clear\",\"args\":{\"id\":2}}\n");
	expect_ok(fd);
	expect_faults(fd, 1, "drop,hca=hca1");
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"unplug,hca=hca0\"}}\n");
	expect_ok(fd);
	expect_faults(fd, 2, "unplug,hca=hca0");
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"unplug,hca=x\"}}\n");
	expect_error(fd, "ENODEV", "no HCA x");
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"unplug\"}}\n");
	expect_error(fd, "EINVAL", "hca=NAME is missing");
	ctl_send(fd, "{\"cmd\":\"fault-clear\",\"args\":{\"id\":3}}\n");
	expect_ok(fd);
	expect_faults(fd, 1, "drop,hca=hca1");
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"unplug,hca=hca0\"}}\n");
	expect_ok(fd);
	ctl_send(fd, "{\"cmd\":\"fault-clear\"}\n");
	expect_ok(fd);
	expect_faults(fd, 0, NULL);
	close(fd);
}

/* The largest number of rules of the largest length: one reply has all of them. */
static void test_many_faults(void **state)
{
	static const char head[] = "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"";
	char rule[MAX_RULE + 2] = "drop,hca=hca1,p=0.";
	size_t len = strlen(rule), i;
	int fd = ctl_open(server);

	(void)state;
	memset(rule + len, '0', sizeof(rule) - len - 1);
	for (i = 0; i <= MAX_RULES; i++) {
		ctl_send(fd, head);
		ctl_send(fd, rule);
		ctl_send(fd, "\"}}\n");
		if (!i)
			expect_error(fd, "EINVAL", "at most 1024 bytes");
		else
			expect_ok(fd);
		rule[MAX_RULE] = '\0';
	}
	expect_faults(fd, MAX_RULES, rule);
	ctl_send(fd, "{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"drop\"}}\n");
	expect_error(fd, "ENOSPC", "can't add it");
	ctl_send(fd, "{\"cmd\":\"fault-clear\"}\n");
	expect_ok(fd);
	close(fd);
}

static void test_id(void **state)
{
	struct json_object *reply;
	int fd = ctl_open(server);

	(void)state;
	ctl_send(fd, "{\"id\":-7,\"cmd\":\"version\",\"args\":{}}\n"
		     "{\"id\":\"a/\\u00e4\",\"cmd\":\"frobnicate\"}\n");
	reply = ctl_recv(fd);
	assert_int_equal(json_object_get_int(ctl_field(reply, "id")), -7);
	json_object_put(reply);
	reply = ctl_recv(fd);
	assert_string_equal(ctl_string(reply, "id"), "a/\xc3\xa4");
	assert_string_equal(ctl_string(reply, "errno"), "ENOENT");
	json_object_put(reply);
	close(fd);
}

/* UTF-8 characters of each length are returned unchanged */
static void test_utf8(void **state)
{
	static const char name[] = "\\\\\xc3\xa4\xe2\x82\xac\xef\xbf\xbf\xf0\x9f\x90\x8e\xf4\x8f"
				   "\xbf\xbf";
	struct json_object *reply;
	int fd = ctl_open(server);

	(void)state;
	ctl_send(fd, "{\"id\":\"");
	ctl_send(fd, name);
	ctl_send(fd, "\",\"cmd\":\"version\"}\n");
	reply = ctl_recv(fd);
	assert_string_equal(ctl_string(reply, "id"), name + 1);
	json_object_put(reply);
	close(fd);
}

/* An error whose text is too short for the whole name: it ends with a whole character. */
static void test_cut_error(void **state)
{
	static const char head[] = "there is no command ";
	char line[1024] = "{\"cmd\":\"x";
	struct json_object *reply;
	int fd = ctl_open(server);
	const char *text;
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++)
		strcat(line, "\xe2\x82\xac");
	strcat(line, "\"}\n");
	for (i = 0; i < 4; i++) {
		/* With each further x, the text is cut at another byte of a character. */
		memmove(line + 9, line + 8, strlen(line + 8) + 1);
		line[8] = 'x';
		ctl_send(fd, line);
		reply = ctl_recv(fd);
		text = ctl_string(reply, "error");
		assert_memory_equal(text, head, strlen(head));
		text += strlen(head);
		text += strspn(text, "x");
		assert_true(strlen(text) > 200);
		assert_int_equal(strlen(text) % 3, 0);
		json_object_put(reply);
	}
	close(fd);
}

/* Each gets an error, and the connection stays open. */
static void test_bad_requests(void **state)
{
	static const struct {
		const char *line, *name, *text;
	} bad[] = {
		{"", "EINVAL", "no JSON object"},
		{"x", "EINVAL", "no JSON object"},
		{"{", "EINVAL", "no JSON object"},
		{"7", "EINVAL", "no JSON object"},
		{"null", "EINVAL", "no JSON object"},
		{"[]", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"version\"} {}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"version\",}", "EINVAL", "no JSON object"},
		{"{'cmd':'version'}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xff\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xc3\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xa4\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xc1\xa4\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xe0\x82\xa4\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xed\xa0\x80\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\xf4\x90\x80\x80\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\\\xc3\xa4\"}", "EINVAL", "no JSON object"},
		{"{\"cmd\":\"\\u00e\"}", "EINVAL", "no JSON object"},
		{"{\"id\":[[[[[[[[[]]]]]]]]]}", "EINVAL", "no JSON object"},
		{"{}", "EINVAL", "cmd is no string"},
		{"{\"cmd\":null}", "EINVAL", "cmd is no string"},
		{"{\"cmd\":[\"version\"]}", "EINVAL", "cmd is no string"},
		{"{\"cmd\":\"version\",\"args\":null,\"more\":1}", "EINVAL", "no more"},
		{"{\"cmd\":\"version\",\"args\":[]}", "EINVAL", "args is no object"},
		{"{\"cmd\":\"version\",\"id\":{}}", "EINVAL", "id is neither"},
		{"{\"cmd\":\"version\",\"id\":1.5}", "EINVAL", "id is neither"},
		{"{\"cmd\":\"\"}", "ENOENT", "no command"},
		{"{\"cmd\":\"Version\"}", "ENOENT", "no command Version"},
		{"{\"cmd\":\"version\",\"args\":{\"x\":1}}", "EINVAL", "has no argument x"},
	};
	int fd = ctl_open(server);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ctl_send(fd, bad[i].line);
		ctl_send(fd, "\n");
		expect_error(fd, bad[i].name, bad[i].text);
	}
	assert_int_equal(vu_send(fd, "{\"cmd\":\"version\"}\0\n", 19, NULL, 0), 0);
	expect_error(fd, "EINVAL", "no JSON object");
	ctl_send(fd, "{\"cmd\":\"version\"}\r\n");
	expect_ok(fd);
	close(fd);
}

/* Requests in several writes, and several requests in one. */
static void test_pieces(void **state)
{
	static const char request[] = "{\"cmd\":\"version\"}\n";
	char many[50 * (sizeof(request) - 1) + 1];
	int fd = ctl_open(server), other = ctl_open(server);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(request) - 1; i++) {
		assert_int_equal(vu_send(fd, request + i, 1, NULL, 0), 0);
		ctl_send(other, request);
		expect_ok(other);
	}
	expect_ok(fd);
	*many = '\0';
	for (i = 0; i < 50; i++)
		strcat(many, request);
	many[sizeof(many) - 4] = '\0';
	ctl_send(fd, many);
	for (i = 0; i < 49; i++)
		expect_ok(fd);
	ctl_send(fd, "\"}\n");
	expect_ok(fd);
	close(fd);
	close(other);
}

/*
 * The longest line, and one that is longer: the end of the longer one is not found, so the
 * connection is closed.
 */
static void test_long_line(void **state)
{
	char line[MAX_LINE + 1];
	int fd = ctl_open(server);

	(void)state;
	memset(line, ' ', sizeof(line));
	memcpy(line, "{\"cmd\":\"version\"}", 17);
	line[MAX_LINE - 1] = '\n';
	assert_int_equal(vu_send(fd, line, MAX_LINE, NULL, 0), 0);
	expect_ok(fd);
	assert_int_equal(vu_send(fd, line, MAX_LINE, NULL, 0), 0);
	expect_ok(fd);
	line[MAX_LINE - 1] = ' ';
	assert_int_equal(vu_send(fd, line, MAX_LINE, NULL, 0), 0);
	expect_error(fd, "EMSGSIZE", "too long");
	expect_end(fd);
	close(fd);
}

/* The client shuts down its sending side: all requests are answered, then the connection ends. */
static void test_half_close(void **state)
{
	int fd = ctl_open(server);
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++)
		ctl_send(fd, "{\"cmd\":\"version\"}\n");
	ctl_send(fd, "{\"cmd\":\"version\"}"); /* no line */
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	for (i = 0; i < 100; i++)
		expect_ok(fd);
	expect_end(fd);
	close(fd);
}

static void test_many_clients(void **state)
{
	int fd[MAX_CLIENTS], last, i, refused = 0;
	struct json_object *reply = NULL;

	(void)state;
	for (i = 0; i < MAX_CLIENTS; i++)
		fd[i] = ctl_open(server);
	for (i = MAX_CLIENTS - 1; i >= 0; i--)
		ctl_send(fd[i], "{\"cmd\":\"version\"}\n");
	for (i = 0; i < MAX_CLIENTS; i++)
		expect_ok(fd[i]);
	last = ctl_open(server);
	expect_end(last);
	close(last);
	close(fd[7]);
	/* The server may not have noticed yet that one has disconnected. */
	while (!reply) {
		last = ctl_open(server);
		if (!vu_send(last, "{\"cmd\":\"version\"}\n", 18, NULL, 0))
			reply = ctl_recv(last);
		close(last);
		assert_true(refused++ < 100000);
	}
	json_object_put(reply);
	for (i = 0; i < MAX_CLIENTS; i++) {
		if (i != 7)
			close(fd[i]);
	}
}

/* A client that does not read is disconnected, and does not delay others. */
static void test_slow_client(void **state)
{
	int fd = ctl_open(server), slow, sent = 0;
	unsigned int fds;

	(void)state;
	ctl_send(fd, "{\"cmd\":\"version\"}\n");
	expect_ok(fd);
	fds = server_count_fds(server);
	slow = ctl_open(server);
	while (!vu_send(slow, "{\"cmd\":\"help\"}\n", 15, NULL, 0)) {
		assert_true(sent++ < 1000000);
		if (sent % 100)
			continue;
		ctl_send(fd, "{\"cmd\":\"version\"}\n");
		expect_ok(fd);
	}
	assert_int_equal(server_count_fds(server), fds);
	close(slow);
	close(fd);
}

/* Clients that disconnect in the middle of a request or reply leave nothing behind. */
static void test_gone(void **state)
{
	int fd = ctl_open(server), other, i, tries = 0;
	unsigned int fds;

	(void)state;
	ctl_send(fd, "{\"cmd\":\"version\"}\n");
	expect_ok(fd);
	fds = server_count_fds(server);
	for (i = 0; i < 200; i++) {
		other = vu_socket(server->control);
		assert_true(other >= 0);
		vu_send(other, "{\"cmd\":\"help\"}\n{\"cmd\":\"help\"}\n{\"cmd\":", 37 - i % 30,
			NULL, 0);
		close(other);
	}
	do {
		ctl_send(fd, "{\"cmd\":\"version\"}\n");
		expect_ok(fd);
		assert_true(tries++ < 100000);
	} while (server_count_fds(server) != fds);
	close(fd);
}

/* Each line is answered, whatever it contains. */
static void test_garbage(void **state)
{
	static const char *const words[] = {
		"{",	    "}",	"[",	       "]",	 ":",	",",	    "\"cmd\"",
		"\"args\"", "\"help\"", "\"version\"", "\"id\"", "1e9", "-1",	    "null",
		"\"hca0\"", "\"hca\"",	"\\",	       "\"",	 " ",	"\xf0\x9f", "\"show-hcas\"",
		"true",	    "\t"};
	int fd = ctl_open(server);
	unsigned int i, n;

	(void)state;
	rnd_seed();
	for (i = 0; i < 5000; i++) {
		struct json_object *reply;

		for (n = rnd(12); n; n--)
			ctl_send(fd, words[rnd(ARRAY_SIZE(words))]);
		ctl_send(fd, "\n");
		reply = ctl_recv(fd);
		assert_non_null(reply);
		ctl_field(reply, "ok");
		json_object_put(reply);
	}
	close(fd);
}

/*
 * The path is a file, or a socket that another process serves; two devices can't have the same
 * path.
 */
static void test_bad_path(void **state)
{
	char opts[256], out[4096];
	const char *argv[] = {getenv("OHCAD"), "--hca", opts, "--control", server->log, NULL};
	int status;

	(void)state;
	snprintf(opts, sizeof(opts), "socket=%s/more,mac=02:00:00:00:00:09", server->dir);
	status = server_run(argv, out, sizeof(out));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_non_null(strstr(out, "File exists"));
	argv[4] = server->control;
	status = server_run(argv, out, sizeof(out));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_non_null(strstr(out, "Address already in use"));
}

/* Clients are connected when the device ends; the socket is removed. */
static void test_end(void **state)
{
	struct server *other = server_start(1);
	int fd = vu_socket(other->control);
	char path[sizeof(other->control)];
	struct stat st;

	(void)state;
	strcpy(path, other->control);
	assert_true(fd >= 0);
	assert_int_equal(vu_send(fd, "{\"cmd\":\"help\"}\n{", 16, NULL, 0), 0);
	expect_ok(fd);
	assert_int_equal(kill(other->pid, SIGTERM), 0);
	expect_end(fd);
	close(fd);
	assert_int_equal(waitid(P_PID, other->pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(stat(path, &st), -1);
	assert_true(server_stop(other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),	     cmocka_unit_test(test_faults),
		cmocka_unit_test(test_many_faults),  cmocka_unit_test(test_id),
		cmocka_unit_test(test_utf8),	     cmocka_unit_test(test_cut_error),
		cmocka_unit_test(test_bad_requests), cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_long_line),    cmocka_unit_test(test_half_close),
		cmocka_unit_test(test_many_clients), cmocka_unit_test(test_slow_client),
		cmocka_unit_test(test_gone),	     cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_bad_path),     cmocka_unit_test(test_end),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
