// SPDX-License-Identifier: GPL-2.0
/*
 * Configures SMC by generic netlink, in place of SMC's own tools (smcr, smcd), which Debian lacks.
 *
 * smc eid NAME: add this EID to the machine (SMC-R version 2 needs a common one)
 * smc stats: number of connections of SMC-R (version 2) and their data; fallbacks to TCP, with
 * reasons
 * smc links: links of SMC-R: RDMA device, GIDs, connections
 */

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <linux/smc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_ATTR 32
#define BUF_SIZE 65536

struct table {
	const struct nlattr *attr[MAX_ATTR];
};

static int fd;
static uint8_t buf[BUF_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));

/* Send a request, with one attribute unless its data are NULL. */
static void ask(uint16_t family, uint16_t flags, uint8_t cmd, uint16_t type, const void *data,
		size_t len)
{
	struct {
		struct nlmsghdr nl;
		struct genlmsghdr genl;
		struct nlattr attr;
		uint8_t data[64];
	} msg = {
		.nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
		.nl.nlmsg_type = family,
		.nl.nlmsg_flags = NLM_F_REQUEST | flags,
		.genl.cmd = cmd,
		.genl.version = 1,
	};

	if (data) {
		msg.attr.nla_type = type;
		msg.attr.nla_len = NLA_HDRLEN + len;
		memcpy(msg.data, data, len);
		msg.nl.nlmsg_len += NLA_ALIGN(msg.attr.nla_len);
	}
	if (send(fd, &msg, msg.nl.nlmsg_len, 0) != msg.nl.nlmsg_len)
		err(1, "send");
}

static void parse(struct table *table, const void *data, size_t len)
{
	const struct nlattr *attr = data;

	memset(table, 0, sizeof(*table));
	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= len) {
		size_t step = NLA_ALIGN(attr->nla_len);

		if ((attr->nla_type & NLA_TYPE_MASK) < MAX_ATTR)
			table->attr[attr->nla_type & NLA_TYPE_MASK] = attr;
		if (step >= len)
			break;
		len -= step;
		attr = (const void *)((const uint8_t *)attr + step);
	}
}

static const void *attr_data(const struct nlattr *attr)
{
	return (const uint8_t *)attr + NLA_HDRLEN;
}

/* Returns false if there is no such attribute. */
static bool parse_nested(struct table *table, const struct nlattr *attr)
{
	if (attr)
		parse(table, attr_data(attr), attr->nla_len - NLA_HDRLEN);
	return attr;
}

static uint64_t number(const struct nlattr *attr)
{
	uint64_t value = 0;

	if (attr)
		memcpy(&value, attr_data(attr), attr->nla_len - NLA_HDRLEN);
	return value;
}

static const char *string(const struct nlattr *attr)
{
	return attr ? attr_data(attr) : "?";
}

/* Call @each for the attributes of all messages of the answer.  The error @fine is ignored. */
static void answer(void (*each)(const struct table *table), int fine)
{
	struct table table;
	ssize_t len;

	while ((len = recv(fd, buf, sizeof(buf), 0)) > 0) {
		struct nlmsghdr *nl = (void *)buf;

		for (; NLMSG_OK(nl, len); nl = NLMSG_NEXT(nl, len)) {
			const struct nlmsgerr *error = NLMSG_DATA(nl);

			if (nl->nlmsg_type == NLMSG_DONE)
				return;
			if (nl->nlmsg_type == NLMSG_ERROR) {
				if (error->error && error->error != -fine)
					errx(1, "%s", strerror(-error->error));
				return;
			}
			parse(&table, (uint8_t *)NLMSG_DATA(nl) + GENL_HDRLEN,
			      nl->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
			if (each)
				each(&table);
		}
	}
	err(1, "recv");
}

static uint16_t family;

static void take_family(const struct table *table)
{
	family = number(table->attr[CTRL_ATTR_FAMILY_ID]);
}

static void connect_to_smc(void)
{
	static const char name[] = SMC_GENL_FAMILY_NAME;

	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (fd < 0)
		err(1, "socket");
	ask(GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name, sizeof(name));
	answer(take_family, 0);
	if (!family)
		errx(1, "no SMC");
}

/* Another script may have added it. */
static void eid(const char *name)
{
	char padded[SMC_MAX_EID_LEN + 1];

	snprintf(padded, sizeof(padded), "%-*s", SMC_MAX_EID_LEN, name);
	ask(family, NLM_F_ACK, SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY, padded,
	    sizeof(padded));
	answer(NULL, EEXIST);
}

static void show_stats(const struct table *table)
{
	struct table stats, tech;

	if (!parse_nested(&stats, table->attr[SMC_GEN_STATS]) ||
	    !parse_nested(&tech, stats.attr[SMC_NLA_STATS_SMCR_TECH]))
		return;
	printf("client %" PRIu64 "\n", number(tech.attr[SMC_NLA_STATS_T_CLNT_V2_SUCC]));
	printf("server %" PRIu64 "\n", number(tech.attr[SMC_NLA_STATS_T_SRV_V2_SUCC]));
	printf("received %" PRIu64 "\n", number(tech.attr[SMC_NLA_STATS_T_RX_BYTES]));
	printf("sent %" PRIu64 "\n", number(tech.attr[SMC_NLA_STATS_T_TX_BYTES]));
}

static void show_fallback(const struct table *table)
{
	struct table fallback;

	if (!parse_nested(&fallback, table->attr[SMC_GEN_FBACK_STATS]))
		return;
	printf("tcp %" PRIu64 " reason 0x%08" PRIx64 "\n",
	       number(fallback.attr[SMC_NLA_FBACK_STATS_RSN_CNT]),
	       number(fallback.attr[SMC_NLA_FBACK_STATS_RSN_CODE]));
}

static void show_link(const struct table *table)
{
	struct table link;

	if (!parse_nested(&link, table->attr[SMC_GEN_LINK_SMCR]))
		return;
	printf("%s %s %s %" PRIu64 "\n", string(link.attr[SMC_NLA_LINK_IB_DEV]),
	       string(link.attr[SMC_NLA_LINK_GID]), string(link.attr[SMC_NLA_LINK_PEER_GID]),
	       number(link.attr[SMC_NLA_LINK_CONN_CNT]));
}

static void dump(uint8_t cmd, void (*show)(const struct table *table))
{
	ask(family, NLM_F_DUMP, cmd, 0, NULL, 0);
	answer(show, 0);
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	connect_to_smc();
	if (argc == 3 && !strcmp(command, "eid")) {
		eid(argv[2]);
	} else if (argc == 2 && !strcmp(command, "stats")) {
		dump(SMC_NETLINK_GET_STATS, show_stats);
		dump(SMC_NETLINK_GET_FBACK_STATS, show_fallback);
	} else if (argc == 2 && !strcmp(command, "links")) {
		dump(SMC_NETLINK_GET_LINK_SMCR, show_link);
	} else {
		errx(2, "usage: smc eid NAME | stats | links");
	}
	close(fd);
	return 0;
}
