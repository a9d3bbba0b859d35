/* SPDX-License-Identifier: GPL-2.0 */
/* The CRC of RoCEv2 packets, worked out by itself, for what the device says to be compared with. */

#ifndef SELFTESTS_OHCAD_ICRC_H
#define SELFTESTS_OHCAD_ICRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the frame of @len bytes, the last four of which are where it belongs, with IP at @ip_off. */
uint32_t icrc_of(const uint8_t *frame, size_t len, size_t ip_off, bool ipv6);

#endif
