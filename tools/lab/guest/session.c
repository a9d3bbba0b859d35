// SPDX-License-Identifier: GPL-2.0
/*
 * ohca-session: what the SSH server of a machine that stays starts for each session.
 *
 * The server is in a network namespace of its own, with the one interface that leads to the lab, so that the
 * machine's programs see the interfaces of its adapters only.  A session leaves that namespace.  It starts in
 * /mnt/share.  $SSH_ORIGINAL_COMMAND is the command line, for bash; without it, the session is a login shell.
 *
 * A session with a terminal is ended by the terminal's hang-up.  Without a terminal, an SSH server would let the
 * command continue when its client is gone.  Therefore the command is in a process group of its own, and this process
 * waits until the command ends, or until nobody reads its output any more.  Then it sends SIGTERM to the process group,
 * and two seconds later SIGKILL.
 *
 * Exit status: the command's, or 128 and the signal that ended it.
 */

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE 2000 /* ms */

/* Enter the network namespace of process 1. */
static void leave_namespace(void)
{
	int fd = open("/proc/1/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(126, "network namespace");
	close(fd);
}

static void run(const char *command)
{
	if (command)
		execl("/bin/bash", "bash", "-c", command, NULL);
	else
		execl("/bin/bash", "bash", "-l", NULL);
	err(126, "bash");
}

/* Wait until the process ends; returns false if the reader of the output has gone before that, or after @timeout ms. */
static bool wait_for(int pidfd, int output, int timeout)
{
	/* Of the output, errors only */
	struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = output}};

	poll(fds, 2, timeout);
	return fds[0].revents;
}

static int supervise(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), status;

	if (pidfd < 0)
		err(126, "pidfd_open");
	if (!wait_for(pidfd, STDOUT_FILENO, -1)) {
		kill(-pid, SIGTERM);
		wait_for(pidfd, -1, GRACE);
		kill(-pid, SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(126, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
	const char *command = getenv("SSH_ORIGINAL_COMMAND");
	pid_t pid;

	leave_namespace();
	if (command && !*command)
		command = NULL;
	if (chdir("/mnt/share"))
		warn("/mnt/share");
	if (isatty(STDIN_FILENO))
		run(command);
	pid = fork();
	if (pid < 0)
		err(126, "fork");
	if (!pid) {
		setpgid(0, 0);
		unsetenv("SSH_ORIGINAL_COMMAND");
		run(command);
	}
	setpgid(pid, pid);
	signal(SIGHUP, SIG_IGN);
	return supervise(pid);
}
