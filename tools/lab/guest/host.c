// SPDX-License-Identifier: GPL-2.0
/*
 * ohca-host REQUEST [ARGUMENT...]: lets the host execute a request, and returns when it is done, with
 * its output and exit status.  REQUEST is
 *   ohcactl ARGUMENT...   run ohcactl on the ohcad with the adapters of all machines of the run; this
 *                         machine's adapter is $OHCA_HCA
 *   processor-time        print how many milliseconds of the host's processors all machines and adapters of
 *                         the run have taken so far
 *   bus-error KIND        the root port of this machine's first adapter reports an error: correctable,
 *                         nonfatal or fatal
 *   kill-device           kill ohcad with SIGKILL.  It is not started again.
 *   reset [RANK]          reset that machine, or this one: it boots again, and runs the command from
 *                         its beginning with the next $OHCA_BOOT
 *   off [RANK]            turn it off
 *   on RANK               turn it on: it boots again
 *   reboot                this machine syncs its file systems, and boots again
 *   kernel                put this machine's kernel and initial RAM disk into the files /mnt/lab/kernel and
 *                         /mnt/lab/initrd, from where "kexec -l" loads them
 *   kexec                 this machine syncs its file systems, and executes the kernel that is loaded.  The command runs
 *                         as after a reset.
 *   hibernate             this machine writes its memory to its swap space, which is on its disk ($OHCA_DISK), and
 *                         ends.  It is turned on again, and goes on where it was.  The folder that it shares with the
 *                         lab, and so this program, can't be used after that.
 *
 * Like ohca-barrier, this is a small program, and uses the folder that the machines share with the lab:
 *
 * /mnt/lab/host/RANK.PID.ask: the request, one word on each line
 * /mnt/lab/host/RANK.PID.answer: the exit status on a line, then the output
 */

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/mnt/lab/host"
#define PAUSE 5 /* ms */

/* Store the path of this process's file of that kind. */
static void set_path(char *path, const char *kind)
{
	const char *rank = getenv("OHCA_RANK");

	if (!rank)
		errx(2, "OHCA_RANK is not set");
	snprintf(path, PATH_MAX, FOLDER "/%s.%d.%s", rank, (int)getpid(), kind);
}

/* The lab reads the request when it has its name, and then it is complete. */
static void ask(char **words)
{
	char part[PATH_MAX], path[PATH_MAX];
	FILE *file;

	set_path(part, "new");
	set_path(path, "ask");
	file = fopen(part, "w");
	if (!file)
		err(1, "%s", part);
	for (; *words; words++)
		fprintf(file, "%s\n", *words);
	if (ferror(file) | fclose(file))
		err(1, "%s", part);
	if (rename(part, path))
		err(1, "%s", path);
}

/* Print the output, as an error if it is one, and return the exit status. */
static int answer(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE * 1000000};
	char path[PATH_MAX], part[4096];
	FILE *file, *out;
	size_t len;
	int status;

	set_path(path, "answer");
	while (!(file = fopen(path, "r")))
		nanosleep(&pause, NULL);
	if (fscanf(file, "%d", &status) != 1)
		errx(1, "%s: no status", path);
	fgetc(file); /* the end of that line */
	out = status ? stderr : stdout;
	while ((len = fread(part, 1, sizeof(part), file)) > 0)
		fwrite(part, 1, len, out);
	fclose(file);
	unlink(path);
	if (fflush(out))
		err(1, "output");
	return status;
}

/* Whether the file has TEXT in its first lines. */
static bool has(const char *path, const char *text)
{
	char start[4096];
	FILE *file = fopen(path, "r");
	size_t len;

	if (!file)
		return false;
	len = fread(start, 1, sizeof(start) - 1, file);
	fclose(file);
	start[len] = '\0';
	return strstr(start, text);
}

/* Write TEXT to a file of sysfs or to a port. */
static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

/* Fail if the machine can't do its part of a request, for which the lab would wait. */
static void check(const char *request)
{
	if (!strcmp(request, "kexec") && !has("/sys/kernel/kexec_loaded", "1"))
		errx(1, "no kernel is loaded");
	if (!strcmp(request, "hibernate") && !has("/proc/swaps", "/dev/"))
		errx(1, "there is no swap space");
	if (!strcmp(request, "hibernate") && !has("/sys/power/state", "disk"))
		errx(1, "this kernel has no hibernation");
}

/* The part of a request that the machine executes itself, when the host is prepared for it. */
static void leave(const char *request)
{
	if (!strcmp(request, "reboot")) {
		sync();
		reboot(RB_AUTOBOOT);
	} else if (!strcmp(request, "kexec")) {
		sync();
		reboot(RB_KEXEC);
	} else if (!strcmp(request, "hibernate")) {
		put("/sys/power/state", "disk");
		put("/dev/lab-status", "start\n");
		return;
	} else {
		return;
	}
	err(1, "%s", request);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2) {
		fprintf(stderr, "usage: ohca-host ohcactl ARGUMENT... | processor-time | "
				"bus-error KIND | kill-device | "
				"reset [RANK] | off [RANK] | on RANK | reboot | "
				"kernel | kexec | hibernate\n");
		return 2;
	}
	check(argv[1]);
	ask(argv + 1);
	status = answer();
	if (!status)
		leave(argv[1]);
	return status;
}
