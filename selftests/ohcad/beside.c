// SPDX-License-Identifier: GPL-2.0
/* A program that runs beside the test. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "beside.h"

#define STEP_MS 100

static void die(const char *what)
{
	perror(what);
	abort();
}

static void become(const char *const argv[])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

struct beside beside_start(const char *const argv[])
{
	struct beside beside = {.fd = -1};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe2");
	fflush(NULL);
	beside.pid = fork();
	if (beside.pid < 0)
		die("fork");
	if (!beside.pid) {
		dup2(ends[1], STDOUT_FILENO);
		become(argv);
	}
	close(ends[1]);
	beside.fd = ends[0];
	return beside;
}

struct beside beside_start_screen(const char *const argv[], const char *term, unsigned int lines,
				  unsigned int columns)
{
	const struct winsize size = {.ws_row = lines, .ws_col = columns};
	struct beside beside = {.fd = -1};

	fflush(NULL);
	beside.pid = forkpty(&beside.fd, NULL, NULL, &size);
	if (beside.pid < 0)
		die("forkpty");
	if (!beside.pid) {
		setenv("TERM", term, 1);
		become(argv);
	}
	return beside;
}

bool beside_read(struct beside *beside, int ms)
{
	struct pollfd pfd = {.fd = beside->fd, .events = POLLIN};
	char buf[65536];
	ssize_t n;

	if (poll(&pfd, 1, ms) <= 0)
		return true;
	n = read(beside->fd, buf, sizeof(buf));
	/* That is how the end of a terminal looks like. */
	if (n < 0 && errno != EIO)
		die("read");
	if (n <= 0)
		return false;
	beside->out = realloc(beside->out, beside->len + n + 1);
	if (!beside->out)
		die("realloc");
	memcpy(beside->out + beside->len, buf, n);
	beside->len += n;
	beside->out[beside->len] = '\0';
	return true;
}

bool beside_prints(struct beside *beside, const char *text)
{
	bool more = true;

	while (!beside->out || !strstr(beside->out, text)) {
		if (!more)
			return false;
		more = beside_read(beside, STEP_MS);
	}
	return true;
}

void beside_clear(struct beside *beside)
{
	free(beside->out);
	beside->out = NULL;
	beside->len = 0;
}

int beside_wait(struct beside *beside)
{
	int status;

	while (beside_read(beside, STEP_MS))
		;
	close(beside->fd);
	if (waitpid(beside->pid, &status, 0) != beside->pid)
		die("waitpid");
	return status;
}

void beside_free(struct beside *beside)
{
	beside_clear(beside);
}
