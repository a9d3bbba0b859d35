// SPDX-License-Identifier: GPL-2.0
/* The device under test as a child process. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "server.h"
#include "subnet.h"

#define MAX_ARGS (2 * SERVER_MAX_HCAS + 4)

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "server: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	abort();
}

static const char *program(const char *variable)
{
	const char *path = getenv(variable);

	if (!path)
		die("set %s to the path of the program", variable);
	return path;
}

/* @traced: it stops when it has become the program. */
static pid_t spawn(const char *const argv[], const char *log, bool traced)
{
	pid_t pid, parent = getpid();
	int fd;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (pid)
		return pid;
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(126);
	close(fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	if (traced)
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execv(argv[0], (char *const *)argv);
	fprintf(stderr, "%s: %m\n", argv[0]);
	_exit(127);
}

static void show_log(const char *path)
{
	char buf[4096];
	size_t n;
	FILE *f = fopen(path, "r");

	if (!f)
		return;
	fprintf(stderr, "# log of the device:\n");
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		fwrite(buf, 1, n, stderr);
	fclose(f);
}

static void remove_dir(struct server *server)
{
	unsigned int i;

	for (i = 0; i < server->num_hcas; i++)
		unlink(server->sock[i]);
	if (*server->control)
		unlink(server->control);
	unlink(server->log);
	if (rmdir(server->dir))
		fprintf(stderr, "# %s: %m\n", server->dir);
}

static struct server *server_new(unsigned int num_hcas)
{
	struct server *server = calloc(1, sizeof(*server));
	unsigned int i;

	if (!server || num_hcas > SERVER_MAX_HCAS)
		die("%u HCAs", num_hcas);
	strcpy(server->dir, "/tmp/ohcad-test.XXXXXX");
	if (!mkdtemp(server->dir))
		die("%s: %m", server->dir);
	snprintf(server->log, sizeof(server->log), "%s/log", server->dir);
	server->num_hcas = num_hcas;
	for (i = 0; i < num_hcas; i++)
		snprintf(server->sock[i], sizeof(server->sock[i]), "%s/hca%u", server->dir, i);
	return server;
}

static bool can_connect(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		die("socket: %m");
	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	ok = !connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	close(fd);
	return ok;
}

static bool all_listen(const struct server *server)
{
	struct stat st;
	unsigned int i;

	if (*server->control && stat(server->control, &st))
		return false;
	for (i = 0; i < server->num_hcas; i++) {
		if (stat(server->sock[i], &st))
			return false;
	}
	return true;
}

/* Let a device that was started as traced go on, but not its first child process, the keeper. */
static void hold_keeper(struct server *server)
{
	unsigned long child;
	int status;

	if (waitpid(server->pid, &status, 0) != server->pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, server->pid, NULL, PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_CONT, server->pid, NULL, NULL))
		die("the device is not traced: %m");
	if (waitpid(server->pid, &status, 0) != server->pid ||
	    status >> 8 != (SIGTRAP | PTRACE_EVENT_FORK << 8) ||
	    ptrace(PTRACE_GETEVENTMSG, server->pid, NULL, &child))
		die("the device does not fork: status %#x", status);
	server->held_keeper = child;
	if (waitpid(server->held_keeper, &status, __WALL) != server->held_keeper ||
	    ptrace(PTRACE_DETACH, server->pid, NULL, NULL))
		die("the keeper does not stop: %m");
}

void server_release_keeper(struct server *server)
{
	if (ptrace(PTRACE_DETACH, server->held_keeper, NULL, NULL))
		die("the keeper is not traced: %m");
	server->held_keeper = 0;
}

/*
 * Wait until the sockets, or the one at @path, exist.  A socket file appears when the socket
 * accepts connections.
 */
static void start(struct server *server, const char *const argv[], const char *path, bool hold)
{
	char dir[sizeof(server->dir) + 128];
	struct pollfd pfd[2];
	char buf[4096];

	snprintf(dir, sizeof(dir), "%s", path ? path : server->dir);
	if (path)
		*strrchr(dir, '/') = '\0';
	pfd[0].fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	pfd[0].events = POLLIN;
	if (pfd[0].fd < 0 || inotify_add_watch(pfd[0].fd, dir, IN_CREATE | IN_MOVED_TO) < 0)
		die("inotify: %m");
	server->pid = spawn(argv, server->log, hold);
	if (hold)
		hold_keeper(server);
	pfd[1].fd = syscall(SYS_pidfd_open, server->pid, 0);
	pfd[1].events = POLLIN;
	if (pfd[1].fd < 0)
		die("pidfd_open: %m");
	while (path ? !can_connect(path) : !all_listen(server)) {
		if (poll(pfd, 2, -1) < 0 && errno != EINTR)
			die("poll: %m");
		if (pfd[1].revents) {
			show_log(server->log);
			die("%s ended early", argv[0]);
		}
		while (read(pfd[0].fd, buf, sizeof(buf)) > 0)
			;
	}
	close(pfd[0].fd);
	close(pfd[1].fd);
}

/* @more: options of each HCA; @hold: the keeper */
static struct server *start_hcas(unsigned int num_hcas, const char *more, bool hold)
{
	struct server *server = server_new(num_hcas);
	char opts[SERVER_MAX_HCAS][160];
	const char *argv[MAX_ARGS];
	unsigned int i, n = 0;

	argv[n++] = program("OHCAD");
	for (i = 0; i < num_hcas; i++) {
		snprintf(opts[i], sizeof(opts[i]), "socket=%s,mac=02:00:00:00:00:%02x%s",
			 server->sock[i], i + 1, more);
		argv[n++] = "--hca";
		argv[n++] = opts[i];
	}
	snprintf(server->control, sizeof(server->control), "%s/control", server->dir);
	argv[n++] = "--control";
	argv[n++] = server->control;
	argv[n] = NULL;
	start(server, argv, NULL, hold);
	return server;
}

struct server *server_start(unsigned int num_hcas)
{
	return start_hcas(num_hcas, subnet_used() ? ",link=ib" : getenv("OHCAD_HCA") ?: "", false);
}

struct server *server_start_mapping(void)
{
	return start_hcas(1, ",map", false);
}

struct server *server_start_strict(void)
{
	return start_hcas(1, ",strict", false);
}

struct server *server_start_held_keeper(void)
{
	return start_hcas(1, "", true);
}

/* The net file for ohcad, which reads it when it starts */
static void write_net(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file))
		die("%s: %m", path);
}

struct server *server_start_topology(const char *text, const char *const hcas[])
{
	char opts[SERVER_MAX_HCAS][160], net[80];
	const char *argv[MAX_ARGS + 2];
	unsigned int num, n = 0, i;
	struct server *server;

	for (num = 0; hcas[num]; num++)
		;
	server = server_new(num);
	snprintf(server->control, sizeof(server->control), "%s/control", server->dir);
	argv[n++] = program("OHCAD");
	argv[n++] = "--control";
	argv[n++] = server->control;
	snprintf(net, sizeof(net), "%s/net", server->dir);
	if (text) {
		write_net(net, text);
		argv[n++] = "--topology";
		argv[n++] = net;
	}
	for (i = 0; i < num; i++) {
		snprintf(opts[i], sizeof(opts[i]), "socket=%s,%s", server->sock[i], hcas[i]);
		argv[n++] = "--hca";
		argv[n++] = opts[i];
	}
	argv[n] = NULL;
	start(server, argv, NULL, false);
	unlink(net);
	return server;
}

struct server *server_start_argv(const char *const argv[], const char *path)
{
	struct server *server = server_new(0);

	start(server, argv, path, false);
	return server;
}

struct server *server_start_testdev(void)
{
	struct server *server = server_new(1);
	const char *argv[] = {program("TESTDEV"), server->sock[0], NULL};

	start(server, argv, NULL, false);
	return server;
}

int server_run(const char *const argv[], char *out, size_t max)
{
	char log[] = "/tmp/ohcad-test.XXXXXX";
	int fd, status;
	ssize_t n;
	pid_t pid;

	fd = mkstemp(log);
	if (fd < 0)
		die("%s: %m", log);
	pid = spawn(argv, log, false);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid: %m");
	n = read(fd, out, max - 1);
	out[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(log);
	return status;
}

bool server_stop(struct server *server)
{
	int status = 0;
	bool ok;

	if (!server->pid)
		goto dead;
	kill(server->pid, SIGTERM);
	if (waitpid(server->pid, &status, 0) != server->pid)
		die("waitpid: %m");
dead:
	ok = WIFEXITED(status) && !WEXITSTATUS(status) && !server_logged(server, ": the call ");
	if (!ok) {
		show_log(server->log);
		fprintf(stderr,
			"# the device ended with status %#x, or has used a system call that is not "
			"in its list\n",
			status);
	}
	remove_dir(server);
	free(server);
	return ok;
}

void server_kill(struct server *server)
{
	kill(server->pid, SIGKILL);
	if (waitpid(server->pid, NULL, 0) != server->pid)
		die("waitpid: %m");
	server->pid = 0;
}

int server_keeper(const struct server *server, pid_t *pid)
{
	char path[64];
	int child, fd;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)server->pid,
		 (int)server->pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &child) != 1)
		die("no keeper in %s", path);
	fclose(f);
	fd = syscall(SYS_pidfd_open, child, 0);
	if (fd < 0)
		die("pidfd_open: %m");
	if (pid)
		*pid = child;
	return fd;
}

static char process_state(pid_t pid)
{
	char path[64], text[512], *end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		die("%s: %m", path);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	if (!end)
		die("%s: %s", path, text);
	return end[2];
}

void server_wait_idle(const struct server *server)
{
	while (process_state(server->pid) != 'S')
		sched_yield();
}

unsigned int server_count_fds(const struct server *server)
{
	return server_count_fds_of(server->pid);
}

unsigned int server_count_fds_of(pid_t pid)
{
	struct dirent *entry;
	unsigned int n = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		die("%s: %m", path);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

unsigned int server_count_maps(const struct server *server)
{
	char path[64], line[512];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)server->pid);
	f = fopen(path, "r");
	if (!f)
		die("%s: %m", path);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:") && !strstr(line, "memfd:ohca-");
	fclose(f);
	return n;
}

void server_wait_maps(const struct server *server, unsigned int num)
{
	while (server_count_maps(server) != num)
		sched_yield();
}

bool server_logged(const struct server *server, const char *text)
{
	char line[512];
	bool found = false;
	FILE *f = fopen(server->log, "r");

	if (!f)
		die("%s: %m", server->log);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	fclose(f);
	return found;
}
