// SPDX-License-Identifier: GPL-2.0
/*
 * ohca-ssh: what ssh lacks for a lab's machines.  It runs in the root and on the host.
 *
 * ohca-ssh connect SOCKET: connects to that Unix socket, and passes the connection to ssh, which has started this program
 * as its ProxyCommand with ProxyUseFdpass.  Exit status: 1 if there is no connection.
 *
 * ohca-ssh watch PROGRAM [ARGUMENT...]: executes PROGRAM, which is ssh, and ends it with SIGTERM when nobody reads its
 * output any more.  By itself, ssh ignores that, and reads on for as long as the command writes.
 */

#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Send @fd over standard output, which is a socket. */
static void pass(int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	if (sendmsg(STDOUT_FILENO, &msg, 0) != 1)
		err(1, "ssh");
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(addr.sun_path))
		errx(1, "%s: the path is too long for a socket", path);
	strcpy(addr.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "%s", path);
	pass(fd);
	return 0;
}

/* Wait until the process has ended, or its output has no reader; then end it. */
static void watch_output(int pidfd)
{
	/* Of the output, errors only */
	struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = STDOUT_FILENO}};

	close(STDIN_FILENO);
	close(STDERR_FILENO);
	poll(fds, 2, -1);
	if (!fds[0].revents)
		syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0);
	_exit(0);
}

static int watch(char **program)
{
	int pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	struct stat stat;
	bool piped;

	piped = !fstat(STDOUT_FILENO, &stat) && (S_ISFIFO(stat.st_mode) || S_ISSOCK(stat.st_mode));
	if (pidfd >= 0 && piped && !fork())
		watch_output(pidfd);
	close(pidfd);
	execvp(*program, program);
	err(127, "%s", *program);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "connect"))
		return connect_to(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "watch"))
		return watch(argv + 2);
	fprintf(stderr, "usage: ohca-ssh connect SOCKET | watch PROGRAM [ARGUMENT...]\n");
	return 2;
}
