/* SPDX-License-Identifier: GPL-2.0 */
/* The Toeplitz hash of receive-side scaling. */

#ifndef OHCAD_TOEPLITZ_H
#define OHCAD_TOEPLITZ_H

#include <stddef.h>
#include <stdint.h>

#include "ohca/ohca_cmd.h"

#define TOEPLITZ_MAX_LEN (OHCA_RSS_KEY_LEN - 4) /* two IPv6 addresses, two ports */

/* Hash of @len bytes, at most TOEPLITZ_MAX_LEN. */
uint32_t toeplitz(const uint8_t key[OHCA_RSS_KEY_LEN], const uint8_t *data, size_t len);

#endif
