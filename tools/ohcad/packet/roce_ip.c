// SPDX-License-Identifier: GPL-2.0
/* Network headers of RoCEv2 packets. */

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "base/csum.h"
#include "packet/roce.h"

#define IPV4_DF 0x40

bool roce_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, 0xff};

	return !memcmp(gid, prefix, sizeof(prefix));
}

void roce_make_ipv4(uint8_t ip[ROCE_IPV4_LEN], const struct gid_entry *from,
		    const struct ohca_av *av, uint16_t udp_len)
{
	uint16_t sum;

	memset(ip, 0, ROCE_IPV4_LEN);
	ip[0] = 4 << 4 | ROCE_IPV4_LEN / 4;
	ip[1] = av->tclass;
	put_be16(ip + 2, ROCE_IPV4_LEN + udp_len);
	ip[6] = IPV4_DF;
	ip[8] = av->hop_limit;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, from->gid + 12, 4);
	memcpy(ip + 16, av->dgid + 12, 4);
	sum = ~csum_fold(csum_add(0, ip, ROCE_IPV4_LEN, false));
	memcpy(ip + 10, &sum, sizeof(sum));
}

void roce_make_ipv6(uint8_t ip[ROCE_IPV6_LEN], const struct gid_entry *from,
		    const struct ohca_av *av, uint16_t udp_len)
{
	put_be32(ip, 6U << 28 | av->tclass << 20 | le32toh(av->flow_label));
	put_be16(ip + 4, udp_len);
	ip[6] = IPPROTO_UDP;
	ip[7] = av->hop_limit;
	memcpy(ip + 8, from->gid, 16);
	memcpy(ip + 24, av->dgid, 16);
}
