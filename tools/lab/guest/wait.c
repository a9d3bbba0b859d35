// SPDX-License-Identifier: GPL-2.0
/*
 * ohca-wait [-t SECONDS] [tcp:|rdma:]PORT...: returns when programs of this machine listen on these ports: TCP sockets, or
 * identifiers of the RDMA communication manager (rdma_listen()), or with tcp: or rdma: only these.
 *
 * It replaces a sleep between the start of a server and that of its client.  It reads what the kernel says about sockets
 * and identifiers, and connects to nobody, because many servers take the first connection for their client.
 *
 * Exit status: 0; 1 if after 30 seconds, or SECONDS, nobody listens on one of them; 2 for bad arguments.
 */

#include <err.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#define FIRST_PAUSE 5 /* ms */
#define LAST_PAUSE 100
#define TCP_LISTEN 0x0a
/* States of an identifier that listens: kernels before 6.16, and later ones, in which two more states come before it. */
#define CM_LISTEN_OLD 8
#define CM_LISTEN 10
/* What a netlink socket returns at once is smaller. */
#define BUF_SIZE 65536

struct port {
	unsigned int number;
	bool tcp, rdma;
};

static bool tcp_listens_in(const char *path, unsigned int port)
{
	unsigned int local, state;
	bool found = false;
	char line[512];
	FILE *file;

	file = fopen(path, "r");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &local, &state) == 2)
			found = local == port && state == TCP_LISTEN;
	}
	fclose(file);
	return found;
}

static bool tcp_listens(unsigned int port)
{
	return tcp_listens_in("/proc/net/tcp", port) || tcp_listens_in("/proc/net/tcp6", port);
}

/* Ask for everything of that kind, of device @index or (-1) of all devices. */
static void ask(int fd, int op, int index)
{
	struct {
		struct nlmsghdr header;
		struct nlattr attr;
		uint32_t index;
	} request = {
		.header.nlmsg_len = index < 0 ? NLMSG_HDRLEN : sizeof(request),
		.header.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
		.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.attr.nla_len = NLA_HDRLEN + sizeof(uint32_t),
		.attr.nla_type = RDMA_NLDEV_ATTR_DEV_INDEX,
		.index = index,
	};

	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		err(1, "netlink");
}

/* Return the attribute of that type of those in @data, or NULL. */
static struct nlattr *attr_of(void *data, int len, int type)
{
	struct nlattr *attr = data;

	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= len) {
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		len -= NLA_ALIGN(attr->nla_len);
		attr = (void *)((char *)attr + NLA_ALIGN(attr->nla_len));
	}
	return NULL;
}

static void *attr_data(struct nlattr *attr)
{
	return (char *)attr + NLA_HDRLEN;
}

static int attr_len(struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

/* The port of the address in this attribute; 0 if there is none. */
static unsigned int attr_port(struct nlattr *attr)
{
	struct sockaddr_in addr;

	if (!attr || attr_len(attr) < (int)sizeof(addr))
		return 0;
	/* The port is at the same place for IPv6. */
	memcpy(&addr, attr_data(attr), sizeof(addr));
	return ntohs(addr.sin_port);
}

/*
 * Whether the identifier with these attributes listens on @port.  One that is bound to an address has
 * a destination with port 0.
 */
static bool cm_id_listens(void *data, int len, unsigned int port)
{
	struct nlattr *state = attr_of(data, len, RDMA_NLDEV_ATTR_RES_STATE);
	uint8_t number;

	if (!state || attr_port(attr_of(data, len, RDMA_NLDEV_ATTR_RES_DST_ADDR)))
		return false;
	number = *(uint8_t *)attr_data(state);
	return (number == CM_LISTEN || number == CM_LISTEN_OLD) &&
	       attr_port(attr_of(data, len, RDMA_NLDEV_ATTR_RES_SRC_ADDR)) == port;
}

/* Whether an identifier of this part of an answer does. */
static bool cm_ids_listen(void *data, int len, unsigned int port)
{
	struct nlattr *list = attr_of(data, len, RDMA_NLDEV_ATTR_RES_CM_ID), *entry;
	int left;

	if (!list)
		return false;
	entry = attr_data(list);
	for (left = attr_len(list); left >= NLA_HDRLEN && entry->nla_len >= NLA_HDRLEN;) {
		if (cm_id_listens(attr_data(entry), attr_len(entry), port))
			return true;
		left -= NLA_ALIGN(entry->nla_len);
		entry = (void *)((char *)entry + NLA_ALIGN(entry->nla_len));
	}
	return false;
}

/* Handles the attributes of a part of an answer. */
typedef void part_fn(void *data, int len, void *arg);

/* Read an answer. */
static void answer(int fd, part_fn *part, void *arg)
{
	static char buf[BUF_SIZE];
	struct nlmsghdr *msg;
	ssize_t got;

	while (true) {
		got = recv(fd, buf, sizeof(buf), 0);
		if (got < 0)
			err(1, "netlink");
		for (msg = (void *)buf; NLMSG_OK(msg, got); msg = NLMSG_NEXT(msg, got)) {
			if (msg->nlmsg_type == NLMSG_DONE || msg->nlmsg_type == NLMSG_ERROR)
				return;
			part(NLMSG_DATA(msg), msg->nlmsg_len - NLMSG_HDRLEN, arg);
		}
	}
}

struct search {
	unsigned int port;
	bool found;
};

static void look_for(void *data, int len, void *arg)
{
	struct search *search = arg;

	search->found |= cm_ids_listen(data, len, search->port);
}

struct devices {
	uint32_t index[64];
	unsigned int n;
};

static void add_device(void *data, int len, void *arg)
{
	struct nlattr *index = attr_of(data, len, RDMA_NLDEV_ATTR_DEV_INDEX);
	struct devices *devices = arg;

	if (index && devices->n < 64)
		memcpy(&devices->index[devices->n++], attr_data(index), sizeof(uint32_t));
}

static bool rdma_listens(unsigned int port)
{
	struct search search = {port, false};
	struct devices devices = {.n = 0};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	unsigned int i;

	if (fd < 0)
		return false; /* a machine without RDMA */
	ask(fd, RDMA_NLDEV_CMD_GET, -1);
	answer(fd, add_device, &devices);
	for (i = 0; i < devices.n && !search.found; i++) {
		ask(fd, RDMA_NLDEV_CMD_RES_CM_ID_GET, devices.index[i]);
		answer(fd, look_for, &search);
	}
	close(fd);
	return search.found;
}

static bool listens(const struct port *port)
{
	if (port->tcp && tcp_listens(port->number))
		return true;
	return port->rdma && rdma_listens(port->number);
}

/* Returns the milliseconds since some moment. */
static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void usage(void)
{
	fprintf(stderr, "usage: ohca-wait [-t SECONDS] [tcp:|rdma:]PORT...\n");
	exit(2);
}

static unsigned int number(const char *text, unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > max)
		usage();
	return value;
}

static struct port port_of(const char *text)
{
	struct port port = {.tcp = true, .rdma = true};

	if (!strncmp(text, "tcp:", 4)) {
		port.rdma = false;
		text += 4;
	} else if (!strncmp(text, "rdma:", 5)) {
		port.tcp = false;
		text += 5;
	}
	port.number = number(text, 65535);
	return port;
}

int main(int argc, char **argv)
{
	unsigned int seconds = 30, pause = FIRST_PAUSE;
	struct timespec ts = {0};
	struct port port;
	long end;
	int opt, i;

	while ((opt = getopt(argc, argv, "t:")) != -1) {
		if (opt != 't')
			usage();
		seconds = number(optarg, 86400);
	}
	if (optind == argc)
		usage();
	for (i = optind; i < argc; i++)
		port_of(argv[i]);
	end = now() + seconds * 1000L;
	for (i = optind; i < argc; i++) {
		port = port_of(argv[i]);
		while (!listens(&port)) {
			if (now() >= end)
				errx(1, "nobody listens on port %s after %u s", argv[i], seconds);
			ts.tv_nsec = pause * 1000000L;
			nanosleep(&ts, NULL);
			pause = pause * 9 / 8 + 1;
			if (pause > LAST_PAUSE)
				pause = LAST_PAUSE;
		}
	}
	return 0;
}
