// SPDX-License-Identifier: GPL-2.0
/*
 * send_gso NETDEV SIZE: sends one frame with 40000 bytes of TCP data, which the interface or the
 * stack has to send in segments with SIZE bytes of data, however long they become.  It is for nobody.
 */

#include <arpa/inet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netpacket/packet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define DATA 40000

struct frame {
	struct virtio_net_hdr vnet;
	struct ether_header eth;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t data[DATA];
} __attribute__((packed));

/* The headers; the pseudo header is not in the checksum, as no one compares it. */
static void fill(struct frame *frame, const void *mac, uint16_t size)
{
	frame->vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	frame->vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	frame->vnet.hdr_len = offsetof(struct frame, data) - sizeof(frame->vnet);
	frame->vnet.gso_size = size;
	frame->vnet.csum_start = offsetof(struct frame, tcp) - sizeof(frame->vnet);
	frame->vnet.csum_offset = offsetof(struct tcphdr, check);

	/* A locally administered address that no machine has */
	memcpy(frame->eth.ether_dhost, "\x02\x00\x5e\x00\x53\xff", ETH_ALEN);
	memcpy(frame->eth.ether_shost, mac, ETH_ALEN);
	frame->eth.ether_type = htons(ETHERTYPE_IP);

	frame->ip.version = 4;
	frame->ip.ihl = sizeof(frame->ip) / 4;
	frame->ip.tot_len = htons(sizeof(*frame) - offsetof(struct frame, ip));
	frame->ip.ttl = 64;
	frame->ip.protocol = IPPROTO_TCP;
	frame->ip.saddr = htonl(0xc0000201); /* 192.0.2.1, for examples */
	frame->ip.daddr = htonl(0xc0000202);

	frame->tcp.source = htons(9);
	frame->tcp.dest = htons(9);
	frame->tcp.doff = sizeof(frame->tcp) / 4;
	frame->tcp.ack = 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);
	static struct frame frame;
	struct ifreq ifr = {0};

	if (argc != 3) {
		fprintf(stderr, "usage: send_gso NETDEV SIZE\n");
		return 2;
	}
	strncpy(ifr.ifr_name, argv[1], sizeof(ifr.ifr_name) - 1);
	addr.sll_ifindex = if_nametoindex(argv[1]);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &ifr) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		perror("send_gso: socket");
		return 1;
	}
	fill(&frame, ifr.ifr_hwaddr.sa_data, atoi(argv[2]));
	if (send(fd, &frame, sizeof(frame), 0) != sizeof(frame)) {
		perror("send_gso: send");
		return 1;
	}
	return 0;
}
