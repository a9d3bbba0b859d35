/* SPDX-License-Identifier: GPL-2.0 */
/* For tests in a process that qemu-user emulates: selftests/cross, which sets OHCA_EMULATED. */

#ifndef SELFTESTS_OHCAD_EMULATED_H
#define SELFTESTS_OHCAD_EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_emulated(void)
{
	return getenv("OHCA_EMULATED");
}

/* Skip the test there, and print why. */
#define skip_emulated(why)                                \
	do {                                              \
		if (is_emulated()) {                      \
			printf("# qemu-user: " why "\n"); \
			skip();                           \
		}                                         \
	} while (0)

#endif
