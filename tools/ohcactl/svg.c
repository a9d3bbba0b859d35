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

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

int svg_write(const struct subnet *subnet)
{
	int fds[2], err;
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
		fprintf(stderr, "ohcactl: --svg needs the program dot, of the package graphviz; "
				"--dot does not\n");
	else if (err)
		fprintf(stderr, "ohcactl: dot: %s\n", strerror(err));
	if (err)
		return -1;
	/* If dot ends early, it says why. */
	signal(SIGPIPE, SIG_IGN);
	if (out) {
		dot_write(out, subnet);
		fclose(out);
	}
	if (!wait_for(pid))
		return out ? 0 : -1;
	fprintf(stderr, "ohcactl: dot has failed\n");
	return -1;
}
