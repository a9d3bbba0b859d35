// SPDX-License-Identifier: GPL-2.0
/* A device that hangs is noticed; one that dies or hangs is started again, where that is asked for. */

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/pci_regs.h>

#include "client.h"
#include "harness.h"
#include "ohca/ohca_regs.h"
#include "server.h"

#define LOOKS 8 /* of the keeper, in twice the time after which a device hangs */
#define HANGS "keeper: the device hangs: it has done nothing for "

static char dir[32], sock[64], hca[128];

static struct server *start(const char *hang, const char *more)
{
	const char *const argv[] = {getenv("OHCAD"), "--hca", hca, "--hang", hang, more, NULL};

	return server_start_argv(argv, sock);
}

static void wait_for_log(const struct server *server, const char *text)
{
	while (!server_logged(server, text))
		sched_yield();
}

static unsigned long switches(pid_t pid)
{
	char path[64], line[128];
	unsigned long num = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %lu", &num);
	fclose(f);
	return num;
}

/* Has it waited for a processor for so long that it seemed to hang? */
static bool was_starved(pid_t pid)
{
	unsigned long long waited = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%*u %llu", &waited) != 1)
			waited = 0;
		fclose(f);
	}
	return waited > 50000000;
}

/* The child of @pid that is the device; the keeper is the device's */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	if (fscanf(f, "%d", &child) != 1)
		child = 0;
	fclose(f);
	return child;
}

static pid_t wait_for_child(pid_t pid, pid_t other)
{
	pid_t child;

	do {
		child = child_of(pid);
		sched_yield();
	} while (!child || child == other);
	return child;
}

/* The keeper wakes a device that sleeps, and believes it.  One that stops is logged, and goes on. */
static void test_hang(void **state)
{
	struct server *server = start("100ms", NULL);
	struct vu *vu = vu_open(sock);
	unsigned long began;

	(void)state;
	assert_non_null(vu);
	/* Each round of a device without work ends with a sleep. */
	for (began = switches(server->pid); switches(server->pid) < began + LOOKS;)
		sched_yield();
	assert_true(!server_logged(server, "hangs") || was_starved(server->pid));
	kill(server->pid, SIGSTOP);
	wait_for_log(server, HANGS "100 ms\n");
	kill(server->pid, SIGCONT);
	wait_for_log(server, "keeper: the device goes on");
	assert_int_equal(vu_cfg_rd(vu, PCI_VENDOR_ID, 2), OHCA_PCI_VENDOR_ID);
	vu_close(vu);
	assert_true(server_stop(server));
}

/* The old client has no device any more, a new one has. */
static void check_replaced(struct vu *old)
{
	struct vu *vu;

	assert_int_equal(vu_cfg_rd(old, PCI_VENDOR_ID, 4), UINT32_MAX);
	vu_close(old);
	do {
		vu = vu_open(sock);
		sched_yield();
	} while (!vu);
	assert_int_equal(vu_cfg_rd(vu, PCI_VENDOR_ID, 2), OHCA_PCI_VENDOR_ID);
	vu_close(vu);
}

static void test_restart(void **state)
{
	struct server *server;
	pid_t first, second;
	struct vu *vu;

	(void)state;
	skip_emulated("a process that is killed in sendmmsg() may not know what was sent");
	server = start("2s", "--restart");
	first = wait_for_child(server->pid, 0);
	vu = vu_open(sock);
	assert_non_null(vu);
	kill(first, SIGKILL);
	second = wait_for_child(server->pid, first);
	wait_for_log(server, "restart: the device was ended by: Killed; it is started again");
	check_replaced(vu);

	vu = vu_open(sock);
	assert_non_null(vu);
	kill(second, SIGSTOP);
	wait_for_log(server, HANGS "2000 ms, and is ended");
	wait_for_child(server->pid, second);
	check_replaced(vu);
	/* SIGTERM is passed on, and nothing is started again. */
	assert_true(server_stop(server));
	assert_int_equal(access(sock, F_OK), -1);
}

/* One that can't start ends with its status. */
static void test_no_start(void **state)
{
	const char *const argv[] = {getenv("OHCAD"), "--restart", "--hca",
				    "socket=/nowhere/at/all,mac=02:00:00:00:00:01", NULL};
	char out[4096];
	int status = server_run(argv, out, sizeof(out));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(out, "No such file or directory"));
}

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ohcad-restart.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(sock, sizeof(sock), "%s/hca", dir);
	snprintf(hca, sizeof(hca), "socket=%s,mac=02:00:00:00:00:01", sock);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_no_start),
	};

	return RUN_TESTS(tests, make_dir, remove_dir);
}
