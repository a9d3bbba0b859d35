// SPDX-License-Identifier: GPL-2.0
/* The processors that this process may run on, and who else wants them. */

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "cpus.h"

bool cpus_suffice(void)
{
	char text[64];
	cpu_set_t set;
	ssize_t len;
	int fd, running;

	fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0 || sched_getaffinity(0, sizeof(set), &set))
		return false;
	text[len] = 0;
	/* Three averages, then those that run or want to, us among them. */
	return sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running <= CPU_COUNT(&set);
}

void cpus_hop(void)
{
	cpu_set_t set, others;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	others = set;
	CPU_CLR(sched_getcpu(), &others);
	if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
		sched_setaffinity(0, sizeof(set), &set);
}
