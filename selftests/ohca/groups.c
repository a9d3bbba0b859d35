// SPDX-License-Identifier: GPL-2.0
/*
 * Many multicast groups between two machines, by UDP.
 *
 * usage: groups take ADDRESS NUM
 *        groups give ADDRESS NUM
 *
 * ADDRESS is this machine's own, of the interface to be used.  take joins NUM groups and waits for
 * a datagram from each; then it notifies the sender, and both end with status 0.  give sends to each
 * group, again and again, until it is notified.
 */

#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST 0xef4d0000 /* 239.77.0.0 */
#define MAX_GROUPS 4096
#define PORT 7700
#define PER_SOCKET 20 /* default of igmp_max_memberships */
#define ROUND_MS 200

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

static struct sockaddr_in group(unsigned int i)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(PORT),
				    .sin_addr.s_addr = htonl(FIRST + i)};
}

static void join(struct in_addr own, unsigned int num)
{
	struct ip_mreq mreq = {.imr_interface = own};
	unsigned int i;
	int fd = -1;

	/* The sockets stay open, and with them the memberships. */
	for (i = 0; i < num; i++) {
		if (i % PER_SOCKET == 0)
			fd = udp_socket();
		mreq.imr_multiaddr = group(i).sin_addr;
		if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &mreq, sizeof(mreq)))
			die("IP_ADD_MEMBERSHIP");
	}
}

/* The number of the group that the next datagram was sent to; its sender in @from */
static unsigned int next_datagram(int fd, struct sockaddr_in *from)
{
	char byte, control[256];
	struct iovec iov = {&byte, sizeof(byte)};
	struct msghdr msg = {.msg_name = from,
			     .msg_namelen = sizeof(*from),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct in_pktinfo info = {0};
	struct cmsghdr *cmsg;

	if (recvmsg(fd, &msg, 0) < 0)
		die("recvmsg");
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_PKTINFO)
			memcpy(&info, CMSG_DATA(cmsg), sizeof(info));
	}
	return ntohl(info.ipi_addr.s_addr) - FIRST;
}

static int take(struct in_addr own, unsigned int num)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)}, from;
	static bool got[MAX_GROUPS];
	int fd = udp_socket(), on = 1;
	unsigned int left = num, i;

	if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&any, sizeof(any)))
		die("bind");
	join(own, num);
	while (left) {
		i = next_datagram(fd, &from);
		if (i >= num || got[i])
			continue;
		got[i] = true;
		left--;
	}
	printf("datagrams of %u groups\n", num);
	return sendto(fd, "", 1, 0, (struct sockaddr *)&from, sizeof(from)) != 1;
}

static int give(struct in_addr own, unsigned int num)
{
	struct sockaddr_in to;
	int fd = udp_socket();
	struct pollfd notified = {fd, POLLIN, 0};
	unsigned int i, rounds = 0;

	if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &own, sizeof(own)))
		die("IP_MULTICAST_IF");
	do {
		for (i = 0; i < num; i++) {
			to = group(i);
			if (sendto(fd, "", 1, 0, (struct sockaddr *)&to, sizeof(to)) != 1)
				die("sendto");
		}
		rounds++;
	} while (poll(&notified, 1, ROUND_MS) == 0);
	printf("%u rounds\n", rounds);
	return 0;
}

int main(int argc, char **argv)
{
	struct in_addr own;
	unsigned int num;

	if (argc != 4 || !inet_aton(argv[2], &own) || (num = atoi(argv[3])) < 1 ||
	    num > MAX_GROUPS || (strcmp(argv[1], "take") && strcmp(argv[1], "give"))) {
		fprintf(stderr, "usage: groups take|give ADDRESS NUM\n");
		return 2;
	}
	return strcmp(argv[1], "take") ? give(own, num) : take(own, num);
}
