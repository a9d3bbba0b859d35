/* SPDX-License-Identifier: GPL-2.0 */
/* Captures without files, in place of the device's capture_file.c. */

#ifndef SELFTESTS_OHCAD_FUZZ_CAPTURE_END_H
#define SELFTESTS_OHCAD_FUZZ_CAPTURE_END_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_END_FULL "/dev/full"

#endif
