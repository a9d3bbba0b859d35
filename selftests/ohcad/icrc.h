/* SPDX-License-Identifier: GPL-2.0 */
/* A second implementation of the CRC of RoCEv2 packets, to compare the device's CRC with. */

#ifndef SELFTESTS_OHCAD_ICRC_H
#define SELFTESTS_OHCAD_ICRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of a frame of @len bytes with IP at @ip_off; the last four bytes are the place of the
 * CRC.
 */
uint32_t icrc_of(const uint8_t *frame, size_t len, size_t ip_off, bool ipv6);

#endif
