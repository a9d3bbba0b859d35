// SPDX-License-Identifier: GPL-2.0
/* A drawing of a subnet as SVG, which the program dot of graphviz makes. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "dot.h"
#include "svg.h"

extern char **environ;

#define EXIT_NO_PROGRAM 127 /* posix_spawn() may report so that there is no such program */

/* Start dot with its input at @fd; returns 0 or the error. */
static int start(pid_t *pid, int fd)
{
	char *argv[] = {"dot", "-Tsvg", NULL};
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	if (!err)
		err = posix_spawnp(pid, "dot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* Returns the process's exit status, or -1. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int no_dot(void)
{
	fprintf(stderr, "ohcactl: --svg needs the program dot, of the package graphviz; --dot does "
			"not\n");
	return -1;
}

int svg_write(const struct subnet *subnet)
{
	int fds[2], err, status;
	FILE *out;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		fprintf(stderr, "ohcactl: pipe: %s\n", strerror(errno));
		return -1;
	}
	err = start(&pid, fds[0]);
	close(fds[0]);
	out = err ? NULL : fdopen(fds[1], "w");
	if (!out)
		close(fds[1]);
	if (err == ENOENT)
		return no_dot();
	if (err) {
		fprintf(stderr, "ohcactl: dot: %s\n", strerror(err));
		return -1;
	}
	/* If dot ends early, it says why. */
	signal(SIGPIPE, SIG_IGN);
	if (out) {
		dot_write(out, subnet);
		fclose(out);
	}
	status = wait_for(pid);
	if (!status)
		return out ? 0 : -1;
	if (status == EXIT_NO_PROGRAM)
		return no_dot();
	fprintf(stderr, "ohcactl: dot has failed\n");
	return -1;
}
