// SPDX-License-Identifier: GPL-2.0
/* The tool: command line, tables, exit status. */

#include <sys/stat.h>
#include <sys/wait.h>
#include <json-c/json.h>

#include "harness.h"
#include "rig.h"

static struct server *server;
static const char *ohcactl;

/* Run ohcactl with up to five arguments on the server's socket; returns its exit status. */
static int run(char *out, size_t max, const char *const words[5])
{
	const char *argv[9] = {ohcactl, "-s", server->control};
	int status;

	memcpy(argv + 3, words, 5 * sizeof(*words));
	status = server_run(argv, out, max);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect(int status, const char *text, const char *const words[5])
{
	char out[16384];
	int got = run(out, sizeof(out), words);

	if (got != status || !strstr(out, text))
		fail_msg("status %d, and '%s' is not in: %s", got, text, out);
}

#define EXPECT(status, text, ...) expect(status, text, (const char *[5]){__VA_ARGS__})

static void test_commands(void **state)
{
	(void)state;
	EXPECT(0, "program    ohcad\n", "version");
	EXPECT(0, "\nlink hca=hca state=string [port=number]\n", "help");
	EXPECT(0, "\nshow-ports [hca=hca] [from=string]\n", "help");
	EXPECT(0, "Exit status", "--help");
	EXPECT(0, "{\"program\":\"ohcad\"", "-j", "version");
	EXPECT(0, "hca1     1  down   in ", "show", "ports", "hca1");
	EXPECT(0, "hca1     1  down   in ", "show-ports", "hca=hca1");
	EXPECT(0, "", "link", "state=down", "hca1");
	EXPECT(0, "hca1     1  down   out", "show", "ports");
	EXPECT(0, "", "link", "hca1", "state", "up");
	EXPECT(1, "the HCA has no such port", "port", "hca1", "7", "type", "eth");
	EXPECT(1, "state is neither up nor down", "link", "hca1", "state");
	EXPECT(0, "\"cable\":\"in\"", "-j", "show", "ports", "hca=hca1");
	EXPECT(0, "        tx_packets                   0\n", "show", "counters", "hca0");
}

/* Values with '=' in them */
static void test_faults(void **state)
{
	(void)state;
	EXPECT(0, "id  1", "fault", "add", "delay=5ms,op=ack,count=3");
	EXPECT(0, "id  2", "fault", "add", "rule=drop,p=1%,qp=77");
	EXPECT(0, "delay=5ms,op=ack,count=3", "fault", "show");
	EXPECT(0, "drop,p=1%,qp=77", "fault", "show");
	EXPECT(1, "p: '2' is not a number", "fault", "add", "drop,p=2");
	EXPECT(0, "", "fault", "clear", "2");
	EXPECT(1, "there is no fault 2", "fault", "clear", "id=2");
	EXPECT(0, "", "fault", "clear");
}

static void test_errors(void **state)
{
	const char *nobody[] = {ohcactl, "-s", "/nowhere/at/all", "version", NULL};
	const char *given[] = {ohcactl, "version", NULL};
	char out[4096];

	(void)state;
	EXPECT(1, "state is neither up nor down", "link", "hca0", "sideways");
	EXPECT(2, "there is no HCA hca7", "show", "ports", "hca7");
	EXPECT(2, "has no argument color", "show", "ports", "color=red");
	EXPECT(2, "link needs the argument state", "link", "hca0");
	EXPECT(2, "ohcad has no command: show", "show");
	EXPECT(2, "ohcad has no command: frobnicate", "frobnicate", "hca0");
	EXPECT(2, "too many arguments", "version", "1");
	EXPECT(2, "too many arguments", "link", "hca0", "up", "state=down");
	EXPECT(2, "no command", NULL);
	EXPECT(2, "ohcactl: there is no such option: -x; see 'ohcactl --help'\n", "-x");
	EXPECT(2, "ohcactl: there is no such option: -x; see 'ohcactl --help'\n", "-xj", "version");
	EXPECT(2, "ohcactl: there is no such option: --nox; see 'ohcactl --help'\n", "--nox");
	assert_int_equal(WEXITSTATUS(server_run(nobody, out, sizeof(out))), 1);
	assert_non_null(strstr(out, "No such file or directory"));
	setenv("OHCACTL_SOCKET", server->control, 1);
	assert_int_equal(WEXITSTATUS(server_run(given, out, sizeof(out))), 0);
	unsetenv("OHCACTL_SOCKET");
}

/* Make a service's folder, with the server's control socket. */
static void service_add(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/ohcad/%s", name);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/control");
	assert_int_equal(symlink(server->control, path), 0);
}

static void service_remove(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/ohcad/%s/control", name);
	assert_int_equal(unlink(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
}

static void expect_found(int status, const char *text)
{
	const char *argv[] = {ohcactl, "version", NULL};
	char out[4096];

	assert_int_equal(WEXITSTATUS(server_run(argv, out, sizeof(out))), status);
	if (!strstr(out, text))
		fail_msg("'%s' is not in: %s", text, out);
}

/* Without a socket, that of the only service is taken. /run is the test's own in the lab's root. */
static void test_service(void **state)
{
	(void)state;
	if (mkdir("/run/ohcad", 0700)) {
		print_message("# there is a /run/ohcad, or none can be made\n");
		skip();
	}
	expect_found(2, "no socket is given, and there is no /run/ohcad/*/control\n");
	service_add("one");
	expect_found(0, "program    ohcad\n");
	service_add("two");
	expect_found(2, "several: /run/ohcad/one/control /run/ohcad/two/control\n");
	service_remove("one");
	service_remove("two");
	assert_int_equal(rmdir("/run/ohcad"), 0);
}

/* A list that is returned in parts is printed as one. */
static void test_parts(void **state)
{
	const struct rig_qp_opts opts = {.log_size = 1, .cq_log_size = 1};
	struct rig *rig = rig_open(server);
	static char out[1 << 20];
	struct json_object *result, *list;
	unsigned int i;

	(void)state;
	for (i = 0; i < 200; i++)
		rig_qp_new(&rig->hca[i % 2], &opts);
	assert_int_equal(run(out, sizeof(out), (const char *[5]){"-j", "show", "qps"}), 0);
	result = json_tokener_parse(out);
	assert_true(json_object_object_get_ex(result, "qps", &list));
	assert_int_equal(json_object_array_length(list), 200);
	assert_int_equal(json_object_object_length(result), 1);
	json_object_put(result);
	EXPECT(0,
	       "HCA   QPN  TYPE  STATE  COUNTERS  PORT  SENT  RECEIVED  RETRIES  ERRORS\n"
	       "hca0   16  RC    RESET         0     1     0         0        0       0\n    "
	       "send_queue:\n",
	       "show", "qps");
	rig_close(rig);
}

static int start(void **state)
{
	(void)state;
	ohcactl = getenv("OHCACTL");
	if (!ohcactl)
		return -1;
	server = server_start(2);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	return server_stop(server) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_errors),	 cmocka_unit_test(test_service),
		cmocka_unit_test(test_parts),
	};

	return RUN_TESTS(tests, start, stop);
}
