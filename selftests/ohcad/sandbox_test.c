// SPDX-License-Identifier: GPL-2.0
/* The sandbox of the running device: what the kernel says of the process, and what it refuses. */

#include <sys/resource.h>
#include <sys/stat.h>

#include "client.h"
#include "harness.h"
#include "server.h"

#define HCA "socket=%s/hca,mac=02:00:00:00:00:01"

static char dir[32];

/* The rest of the line of /proc/PID/FILE that begins with @key */
static const char *proc_line(pid_t pid, const char *file, const char *key)
{
	static char line[512];
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		fclose(f);
		line[strcspn(line, "\n")] = '\0';
		return line + strlen(key) + strspn(line + strlen(key), " \t");
	}
	fclose(f);
	fail_msg("no %s in %s", key, path);
	return NULL;
}

/* A device with options of its HCA and of the process; NULL ends them */
static struct server *start(const char *hca_more, const char *const more[])
{
	static char hca[160], path[80];
	const char *argv[16] = {getenv("OHCAD"), "--hca", hca};
	unsigned int i;

	snprintf(hca, sizeof(hca), HCA "%s", dir, hca_more);
	snprintf(path, sizeof(path), "%s/hca", dir);
	for (i = 0; more[i]; i++)
		argv[3 + i] = more[i];
	return server_start_argv(argv, path);
}

static struct stat stat_of(const char *name)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	return st;
}

/* Sockets are their owner's alone, or as the options say, whatever the umask is. */
static void test_socket_access(void **state)
{
	char control[128], stream[128], dgram[160], group[32];
	const char *more[] = {"--control", control, "--uplink", stream, "--uplink", dgram, NULL};
	mode_t before = umask(0);
	struct server *server;

	(void)state;
	snprintf(control, sizeof(control), "%s/control", dir);
	snprintf(stream, sizeof(stream), "stream=unix:%s/stream,listen", dir);
	snprintf(dgram, sizeof(dgram), "dgram=unix:%s/dgram,remote=unix:%s/none", dir, dir);
	server = start("", more);
	assert_int_equal(stat_of("hca").st_mode & 07777, 0600);
	assert_int_equal(stat_of("control").st_mode & 07777, 0600);
	assert_int_equal(stat_of("stream").st_mode & 07777, 0600);
	assert_int_equal(stat_of("dgram").st_mode & 07777, 0600);
	assert_true(server_stop(server));

	/* root may name any group, others those that they are in */
	snprintf(group, sizeof(group), ",mode=0660,group=%u",
		 geteuid() ? getegid() : getegid() + 9);
	strcat(control, group);
	strcat(stream, ",mode=622");
	strcat(dgram, ",mode=0666");
	umask(077);
	server = start(group, more);
	assert_int_equal(stat_of("hca").st_mode & 07777, 0660);
	assert_int_equal(stat_of("control").st_mode & 07777, 0660);
	assert_int_equal(stat_of("hca").st_gid, geteuid() ? getegid() : getegid() + 9);
	assert_int_equal(stat_of("control").st_gid, stat_of("hca").st_gid);
	assert_int_equal(stat_of("stream").st_mode & 07777, 0622);
	assert_int_equal(stat_of("dgram").st_mode & 07777, 0666);
	assert_true(server_stop(server));
	umask(before);
}

/* Both processes can get no privileges, dump no core, and open no more files than they need. */
static void test_limits(void **state)
{
	const char *const none[] = {NULL}, *const off[] = {"--sandbox", "off", NULL};
	struct rlimit before, limit;
	struct server *server;
	pid_t pids[2];
	unsigned int i;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
	limit = before;
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_CORE, &limit), 0);
	server = start("", none);
	close(server_keeper(server, &pids[1]));
	pids[0] = server->pid;
	for (i = 0; i < 2; i++) {
		assert_string_equal(proc_line(pids[i], "status", "NoNewPrivs:"), "1");
		assert_string_equal(proc_line(pids[i], "status", "Umask:"), "0077");
		assert_int_equal(
			strncmp(proc_line(pids[i], "limits", "Max core file size"), "0 ", 2), 0);
		assert_true(atoi(proc_line(pids[i], "limits", "Max open files")) < 10000);
	}
	assert_true(server_stop(server));
	server = start("", off);
	assert_string_equal(proc_line(server->pid, "status", "NoNewPrivs:"), "0");
	assert_true(server_stop(server));
	assert_int_equal(setrlimit(RLIMIT_CORE, &before), 0);
}

/* Guest memory and device memory are left out of core dumps, also of those of a debugger. */
static void test_no_dump(void **state)
{
	const char *const none[] = {NULL};
	struct server *server = start("", none);
	unsigned int found = 0, left_out = 0;
	char line[512], path[96];
	struct vu_mem *mem;
	bool ours = false;
	struct vu *vu;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/hca", dir);
	vu = vu_open(path);
	assert_non_null(vu);
	mem = vu_mem_new(vu, 0x100000, 1 << 20);
	assert_non_null(mem);
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)server->pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "/memfd:")) {
			ours = !strstr(line, "ohca-client");
			found += ours;
		}
		if (!strncmp(line, "VmFlags:", 8)) {
			left_out += ours && strstr(line, " dd");
			ours = false;
		}
	}
	fclose(f);
	assert_int_equal(found, 2);
	assert_int_equal(left_out, 2);
	vu_close(vu);
	assert_true(server_stop(server));
}

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ohcad-sandbox.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket_access),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_no_dump),
	};

	return RUN_TESTS(tests, make_dir, remove_dir);
}
