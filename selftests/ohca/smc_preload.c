// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD=smc_preload.so PROGRAM: the program's TCP sockets become SMC sockets, which fall back
 * to TCP when the other side or the network does not support SMC.
 */

#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SMCPROTO_SMC 0
#define SMCPROTO_SMC6 1
#define TYPE_MASK 0xf

int socket(int domain, int type, int protocol)
{
	bool stream = (type & TYPE_MASK) == SOCK_STREAM;
	bool tcp = protocol == IPPROTO_IP || protocol == IPPROTO_TCP;

	if (stream && tcp && (domain == AF_INET || domain == AF_INET6)) {
		protocol = domain == AF_INET ? SMCPROTO_SMC : SMCPROTO_SMC6;
		domain = AF_SMC;
	}
	return syscall(SYS_socket, domain, type, protocol);
}
