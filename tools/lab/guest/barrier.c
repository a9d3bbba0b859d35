// SPDX-License-Identifier: GPL-2.0
/*
 * ohca-barrier NAME: returns when every machine of the run has called it with this NAME.
 *
 * A NAME may be used again: the second call of one machine waits for the second calls of the
 * others.  The machines use the folder that they share with the lab, and no network.  So the calls
 * of a machine before a reboot are counted as well:
 *
 * /mnt/lab/barrier/NAME/CALL/RANK: that machine has called it so often before
 * /run/ohca-barrier/NAME: how often this machine has called it
 *
 * This is a small program, linked statically, because it is called thousands of times in emulated
 * machines.  A machine that waits must not take processors from the others, so the longer it has
 * waited, and the longer a check takes, the less often it checks.
 *
 * Environment: OHCA_RANK, OHCA_VMS.  Exit status: 0, 1 if a file can't be used, 2 for bad
 * arguments.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SHARED "/mnt/lab/barrier"
#define COUNTS "/run/ohca-barrier"
#define FIRST_PAUSE 5 /* ms */
/* The last pause is so many times as long as a check, within these bounds. */
#define PAUSE_CHECKS 20
#define LAST_PAUSE_MIN 100 /* ms */
#define LAST_PAUSE_MAX 1000

/* Store in @path; a path that is too long is truncated, and then no such file exists. */
#define set_path(path, ...) snprintf(path, sizeof(path), __VA_ARGS__)

static void make_dir(const char *path)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		err(1, "%s", path);
}

static bool is_there(const char *name, unsigned int call, unsigned int rank)
{
	char path[PATH_MAX];

	set_path(path, SHARED "/%s/%u/%u", name, call, rank);
	return !access(path, F_OK);
}

/* Returns how often this machine has called it before, and counts this call. */
static unsigned int count_call(const char *name, unsigned int rank)
{
	char path[PATH_MAX];
	unsigned int call = 0;
	FILE *file;

	make_dir(COUNTS);
	set_path(path, COUNTS "/%s", name);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%u", &call) != 1)
			errx(1, "%s: no number", path);
		fclose(file);
	} else {
		while (is_there(name, call, rank))
			call++;
	}
	file = fopen(path, "w");
	if (!file || fprintf(file, "%u\n", call + 1) < 0 || fclose(file))
		err(1, "%s", path);
	return call;
}

/* Says that this machine is here; returns the folder of all machines that are. */
static int say_here(const char *name, unsigned int call, unsigned int rank)
{
	char path[PATH_MAX];
	int dir, fd;

	set_path(path, SHARED "/%s", name);
	make_dir(path);
	set_path(path, SHARED "/%s/%u", name, call);
	make_dir(path);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		err(1, "%s", path);
	set_path(path, "%u", rank);
	fd = openat(dir, path, O_WRONLY | O_CREAT, 0666);
	if (fd < 0 || close(fd))
		err(1, SHARED "/%s/%u/%u", name, call, rank);
	return dir;
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Returns the pause after one of this length, in ms, if a check took that long. */
static unsigned int next_pause(unsigned int pause, long long check)
{
	long long last = check * PAUSE_CHECKS;

	if (last < LAST_PAUSE_MIN)
		last = LAST_PAUSE_MIN;
	if (last > LAST_PAUSE_MAX)
		last = LAST_PAUSE_MAX;
	pause = pause * 9 / 8 + 1;
	return pause < last ? pause : last;
}

/* The machines of the folder @dir; each look at a file is a request to the host. */
static void wait_for_all(int dir, unsigned int machines)
{
	unsigned int rank = 0, pause = FIRST_PAUSE;
	struct timespec ts;
	long long begin;
	char name[16];

	while (true) {
		begin = now_ms();
		for (; rank < machines; rank++) {
			set_path(name, "%u", rank);
			if (faccessat(dir, name, F_OK, 0))
				break;
		}
		if (rank == machines)
			return;
		ts.tv_sec = pause / 1000;
		ts.tv_nsec = pause % 1000 * 1000000L;
		pause = next_pause(pause, now_ms() - begin);
		nanosleep(&ts, NULL);
	}
}

/* Returns a number from the environment. */
static unsigned int number(const char *name)
{
	const char *text = getenv(name);

	if (!text || *text < '0' || *text > '9')
		errx(2, "%s is not set", name);
	return strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	unsigned int rank, machines, call;
	char *name;
	char *at;

	if (argc != 2 || !*argv[1]) {
		fprintf(stderr, "usage: ohca-barrier NAME\n");
		return 2;
	}
	name = argv[1];
	for (at = name; *at; at++)
		if (*at == '/')
			*at = '_';
	rank = number("OHCA_RANK");
	machines = number("OHCA_VMS");
	call = count_call(name, rank);
	wait_for_all(say_here(name, call, rank), machines);
	return 0;
}
