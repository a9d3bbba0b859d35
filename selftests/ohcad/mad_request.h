/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to management agents, each with its own transaction ID. */

#ifndef SELFTESTS_OHCAD_MAD_REQUEST_H
#define SELFTESTS_OHCAD_MAD_REQUEST_H

#include "packet/mad.h"

/* From and to the permissive LID, without data */
struct mad_packet mad_request(uint8_t class, uint8_t method, uint16_t attr, uint32_t mod);
/* From an HCA by the ports of a directed route, as the kernel sends it; port 0 ends the route */
struct mad_packet ib_request(uint8_t method, uint16_t attr, uint32_t mod, const uint8_t *route);

#endif
