// SPDX-License-Identifier: GPL-2.0
/*
 * watch_sums NETDEV: checks the checksums of the packets of TCP over IPv4 that come in, as the stack
 * gets them, until it is terminated.  Then it prints "tcp PACKETS bad PACKETS longest BYTES".
 */

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/if_ether.h>

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

/* The sum of big endian words, with its carries */
static uint16_t sum(uint32_t sum, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Is it a whole packet of TCP?  The length of its IP header, or 0 */
static size_t tcp_offset(const uint8_t *ip, size_t len)
{
	size_t ihl = (ip[0] & 15) * 4;

	if (len < 40 || ip[0] >> 4 != 4 || ip[9] != IPPROTO_TCP ||
	    (size_t)(ip[2] << 8 | ip[3]) > len)
		return 0;
	return ihl;
}

static int is_good(const uint8_t *ip, size_t ihl)
{
	size_t tcp_len = (ip[2] << 8 | ip[3]) - ihl;

	return sum(0, ip, ihl) == 0xffff &&
	       sum(sum(IPPROTO_TCP + tcp_len, ip + 12, 8), ip + ihl, tcp_len) == 0xffff;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)}, from;
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP)), room = 16 << 20;
	struct sigaction act = {.sa_handler = end};
	size_t num = 0, bad = 0, longest = 0, ihl;
	static uint8_t ip[1 << 16];

	addr.sll_ifindex = if_nametoindex(argc > 1 ? argv[1] : "");
	if (fd < 0 || sigaction(SIGTERM, &act, NULL) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		perror("watch_sums");
		return 1;
	}
	puts("watching");
	fflush(stdout);
	while (!ended) {
		socklen_t size = sizeof(from);
		ssize_t len = recvfrom(fd, ip, sizeof(ip), 0, (struct sockaddr *)&from, &size);

		if (len < 0 && errno != EINTR) {
			perror("watch_sums");
			return 1;
		}
		ihl = len > 0 && from.sll_pkttype != PACKET_OUTGOING ? tcp_offset(ip, len) : 0;
		if (!ihl)
			continue;
		num++;
		bad += !is_good(ip, ihl);
		longest = (size_t)len > longest ? (size_t)len : longest;
	}
	printf("tcp %zu bad %zu longest %zu\n", num, bad, longest);
	return 0;
}
