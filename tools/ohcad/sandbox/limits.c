// SPDX-License-Identifier: GPL-2.0
/* The sandbox from the start on: limits of resources, and no new privileges. */

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "sandbox/sandbox.h"

bool sandbox_parse_mode(struct sandbox *sandbox, const char *text)
{
	static const char *const modes[] = {
		[SANDBOX_ON] = "on", [SANDBOX_LOG] = "log", [SANDBOX_OFF] = "off"};
	unsigned int i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(text, modes[i]) != 0)
			continue;
		sandbox->mode = i;
		return true;
	}
	return false;
}

/* As many descriptors as possible, @max at most */
static int limit_files(rlim_t max)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	if (limit.rlim_max > max)
		limit.rlim_max = max;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

int sandbox_begin(const struct sandbox *sandbox, unsigned int max_files)
{
	static const struct rlimit none = {0, 0};
	int err;

	if (sandbox->mode == SANDBOX_OFF)
		return limit_files(RLIM_INFINITY);
	err = limit_files(max_files);
	if (err)
		return err;
	umask(077);
	/* A core dump has memory of guests, also where that is not mapped from their files. */
	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}
