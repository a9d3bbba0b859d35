/* SPDX-License-Identifier: GPL-2.0 */
/* What the process may do: much before it serves its first client, little afterwards. */

#ifndef OHCAD_SANDBOX_H
#define OHCAD_SANDBOX_H

#include <stdbool.h>

enum sandbox_mode {
	SANDBOX_ON,
	SANDBOX_LOG,
	SANDBOX_OFF,
};

/**
 * struct sandbox - the command line's description of the sandbox
 */
struct sandbox {
	enum sandbox_mode mode;
};

/* on, log or off; false: it is none of them */
bool sandbox_parse_mode(struct sandbox *sandbox, const char *text);

/*
 * For this process and its children, before anything is opened: no new privileges, no core dumps,
 * files that it creates are its user's alone, @max_files descriptors at most.  With SANDBOX_OFF,
 * nothing but as many descriptors as possible.  0 or -errno
 */
int sandbox_begin(const struct sandbox *sandbox, unsigned int max_files);

#endif
