// SPDX-License-Identifier: GPL-2.0
/*
 * watch_frames NETDEV: prints the length of each received frame that is longer than all before, as
 * the stack gets it, until it is killed.
 */

#include <arpa/inet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <linux/if_ether.h>

int main(int argc, char **argv)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)}, from;
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	ssize_t len, longest = 0;
	char byte;

	addr.sll_ifindex = if_nametoindex(argc > 1 ? argv[1] : "");
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		perror("watch_frames");
		return 1;
	}
	puts("watching");
	fflush(stdout);
	for (;;) {
		socklen_t size = sizeof(from);

		len = recvfrom(fd, &byte, 1, MSG_TRUNC, (struct sockaddr *)&from, &size);
		if (len <= longest || from.sll_pkttype == PACKET_OUTGOING)
			continue;
		longest = len;
		printf("%zd\n", longest);
		fflush(stdout);
	}
}
