/* SPDX-License-Identifier: GPL-2.0 */
/* Headers of Ethernet frames. */

#ifndef OHCAD_ETH_HDR_H
#define OHCAD_ETH_HDR_H

#define ETH_HDR_LEN 14
#define ETH_TYPE_VLAN 0x8100
#define ETH_TYPE_IPV4 0x0800
#define ETH_TYPE_IPV6 0x86dd

/* Ethernet with VLAN tag, and IPv4 with all options or IPv6. */
#define ETH_MAX_HEADERS (18 + 60)

#endif
