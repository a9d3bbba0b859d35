// SPDX-License-Identifier: GPL-2.0
/* Captures to the standard output: ohcad writes to a pipe, whose other end is here. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/signalfd.h>

#include "field.h"
#include "live.h"
#include "talk.h"
#include "usage.h"

/* A signal asks for the end: it is read instead of ending the program. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Write all of it.  Returns 0, or the error: EPIPE if nobody reads it any more. */
static int put(const char *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(STDOUT_FILENO, buf, len);
		if (n < 0 && errno != EINTR)
			return errno;
		buf += n > 0 ? n : 0;
		len -= n > 0 ? n : 0;
	}
	return 0;
}

/* Copy what is in the pipe, unless the output has failed: *@error.  False: its end. */
static bool copy(int from, int *error)
{
	static char buf[65536];
	ssize_t len = read(from, buf, sizeof(buf));

	if (len < 0)
		return errno == EINTR;
	if (len && !*error)
		*error = put(buf, len);
	return len;
}

/* Copy until the capture is to end.  Returns whether it still runs; *@error: of the output. */
static bool copy_all(int from, int signals, int *error)
{
	struct pollfd fds[] = {
		{.fd = from, .events = POLLIN},
		{.fd = signals, .events = POLLIN},
		{.fd = STDOUT_FILENO},
	};

	while (!*error) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[1].revents)
			return true;
		if (fds[2].revents & (POLLERR | POLLHUP | POLLNVAL))
			*error = EPIPE;
		else if (fds[0].revents && !copy(from, error))
			return false;
	}
	return true;
}

/* Say how the capture has ended.  Returns the exit status. */
static int report(struct json_object *result)
{
	const char *error;

	if (!result)
		return EXIT_FAILURE;
	error = field_string(result, "error");
	fprintf(stderr, "ohcactl: capture: %llu packets, %llu dropped%s%s\n",
		(unsigned long long)field_number(result, "packets"),
		(unsigned long long)field_number(result, "dropped"), error ? ", " : "",
		error ?: "");
	json_object_put(result);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The end: ohcad writes the rest of it, and closes its end of the pipe. */
static int finish(int fd, int from, bool running, int error)
{
	int status;

	if (running) {
		if (!talk_send(fd, "capture-stop", NULL, -1))
			return EXIT_FAILURE;
		while (copy(from, &error))
			;
		status = report(talk_receive(fd, "capture-stop"));
	} else {
		status = report(talk(fd, "capture-show", NULL));
	}
	/* A reader that has gone has what it wants. */
	if (!error || error == EPIPE)
		return status;
	fprintf(stderr, "ohcactl: standard output: %s\n", strerror(error));
	return EXIT_FAILURE;
}

int live_capture(int fd, struct json_object *args)
{
	int ends[2], signals, error = 0;
	bool running;
	struct json_object *result = NULL;

	if (isatty(STDOUT_FILENO)) {
		json_object_put(args);
		return usage_bad("a capture to a terminal is not possible", "");
	}
	signals = open_signals();
	if (signals < 0 || pipe2(ends, O_CLOEXEC)) {
		fprintf(stderr, "ohcactl: %s\n", strerror(errno));
		json_object_put(args);
		return EXIT_FAILURE;
	}
	if (talk_send(fd, "capture-start", args, ends[1]))
		result = talk_receive(fd, "capture-start");
	close(ends[1]);
	if (!result)
		return talk_status();
	json_object_put(result);
	running = copy_all(ends[0], signals, &error);
	return finish(fd, ends[0], running, error);
}
