// SPDX-License-Identifier: GPL-2.0
/* The processors that this process may run on, and how busy they are. */

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cpus.h"

bool cpus_suffice(void)
{
	/* It is read often, and opening it takes most of the time. */
	static int fd = -1;
	char text[64];
	cpu_set_t set;
	ssize_t len;
	int running;

	if (fd < 0)
		fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	len = pread(fd, text, sizeof(text) - 1, 0);
	if (len <= 0 || sched_getaffinity(0, sizeof(set), &set))
		return false;
	text[len] = 0;
	/* Three load averages, then the number of runnable threads, which includes this one. */
	return sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running <= CPU_COUNT(&set);
}

/* While the thread avoids a processor: its affinity mask now, and the one before */
static cpu_set_t now, before;
static bool away;

void cpus_hop(void)
{
	cpu_set_t others;

	cpus_any();
	if (sched_getaffinity(0, sizeof(before), &before))
		return;
	others = before;
	CPU_CLR(sched_getcpu(), &others);
	if (!CPU_COUNT(&others) || sched_setaffinity(0, sizeof(others), &others))
		return;
	now = others;
	away = true;
}

void cpus_any(void)
{
	cpu_set_t set;

	if (!away)
		return;
	away = false;
	/* Another thread or process may have changed the affinity. */
	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_EQUAL(&set, &now))
		sched_setaffinity(0, sizeof(before), &before);
}
