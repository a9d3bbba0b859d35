/* SPDX-License-Identifier: GPL-2.0 */
/* A program that runs beside the test, with its output in a pipe or on a terminal. */

#ifndef SELFTESTS_OHCAD_BESIDE_H
#define SELFTESTS_OHCAD_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct beside - the program
 * @fd: its standard output; with a terminal, that and its input
 * @out: what it has printed, @len bytes and a NUL
 */
struct beside {
	pid_t pid;
	int fd;
	char *out;
	size_t len;
};

/* Start it with its output in a pipe; the test's errors are its errors. */
struct beside beside_start(const char *const argv[]);
/* Start it on a terminal of so many lines and columns, of this type (TERM). */
struct beside beside_start_screen(const char *const argv[], const char *term, unsigned int lines,
				  unsigned int columns);
/* Take what it has printed, after waiting for that for up to @ms.  False: its output has ended. */
bool beside_read(struct beside *beside, int ms);
/* Wait until it has printed @text, or the output ends: whether it has. */
bool beside_prints(struct beside *beside, const char *text);
/* Forget what it has printed. */
void beside_clear(struct beside *beside);
/* Read until its output ends, and wait for it; returns its wait status.  The output is there until beside_free(). */
int beside_wait(struct beside *beside);
void beside_free(struct beside *beside);

#endif
