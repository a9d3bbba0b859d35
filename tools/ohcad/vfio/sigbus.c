// SPDX-License-Identifier: GPL-2.0
/*
 * SIGBUS in shared memory.  The signal is synchronous: it is raised by an access to guest memory,
 * in the only thread, so never while the list is being changed.
 */

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>

#include "vfio/sigbus.h"

/**
 * struct range - a mapping
 * @block: bytes that the next SIGBUS replaces: a page, then twice as much each time, so that few
 *	mappings replace a large one, whatever the order of accesses
 */
struct range {
	uintptr_t va;
	size_t size;
	size_t block;
};

static struct range *ranges;
static unsigned int num_ranges, max_ranges;
static struct sigaction old_action;

static struct range *find(uintptr_t addr)
{
	unsigned int i;

	for (i = 0; i < num_ranges; i++) {
		if (addr - ranges[i].va < ranges[i].size)
			return &ranges[i];
	}
	return NULL;
}

/* Replace the block of @range around @addr by zeroes.  Returns false if there is no memory for it. */
static bool replace(struct range *range, uintptr_t addr)
{
	size_t off = (addr - range->va) / range->block * range->block;
	size_t len = range->block < range->size - off ? range->block : range->size - off;

	if (mmap((void *)(range->va + off), len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	if (range->block < range->size)
		range->block *= 2;
	return true;
}

static void handler(int sig, siginfo_t *info, void *context)
{
	static const char text[] = "ohcad: guest memory vanished under a DMA region, using zeroes "
				   "instead\n";
	static bool logged;
	struct range *range = find((uintptr_t)info->si_addr);
	int err = errno;

	(void)context;
	if (range && replace(range, (uintptr_t)info->si_addr)) {
		if (!logged && write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
			logged = true;
		errno = err;
		return;
	}
	/* The address is in no range.  The access is repeated, with the old handler. */
	sigaction(sig, &old_action, NULL);
	errno = err;
}

/* The handler is installed while there are ranges. */
static int install(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, &old_action) ? -errno : 0;
}

int sigbus_add(void *va, size_t size, size_t page_size)
{
	struct range *more;
	int err;

	if (num_ranges == max_ranges) {
		more = realloc(ranges, (2 * max_ranges + 16) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		ranges = more;
		max_ranges = 2 * max_ranges + 16;
	}
	if (!num_ranges) {
		err = install();
		if (err)
			return err;
	}
	ranges[num_ranges++] = (struct range){(uintptr_t)va, size, page_size};
	return 0;
}

void sigbus_del(const void *va)
{
	unsigned int i;

	for (i = 0; i < num_ranges; i++) {
		if (ranges[i].va == (uintptr_t)va)
			break;
	}
	if (i == num_ranges)
		return;
	ranges[i] = ranges[--num_ranges];
	if (num_ranges)
		return;
	sigaction(SIGBUS, &old_action, NULL);
	free(ranges);
	ranges = NULL;
	max_ranges = 0;
}
