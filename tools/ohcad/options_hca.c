// SPDX-License-Identifier: GPL-2.0
/* The option --hca. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/profile.h"
#include "options_hca.h"

#define QUOTA_MAX (1U << 31) /* before the unit */

/* Six pairs of hexadecimal digits; a unicast address, and not zero. */
static enum options_result parse_mac(uint8_t mac[6], const char *text)
{
	unsigned int byte[6], i;
	int len = 0;

	if (strspn(text, "0123456789abcdefABCDEF:") != strlen(text) ||
	    sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5], &len) != 6 ||
	    len != 17 || text[len])
		return options_bad("'%s' is not a MAC address", text);
	for (i = 0; i < 6; i++)
		mac[i] = byte[i];
	if (mac[0] & 1 || !memcmp(mac, (const uint8_t[6]){0}, 6))
		return options_bad("'%s' is not the MAC address of one port", text);
	return OPTIONS_RUN;
}

/* @list of @num addresses of @size bytes, with room for one more; or NULL */
static void *one_more(void *list, unsigned int num, size_t size)
{
	return num < OWNER_MAX_TRUST ? realloc(list, (num + 1) * size) : NULL;
}

static enum options_result add_trusted(struct owner_options *owner, const char *text)
{
	uint8_t(*macs)[6] = one_more(owner->macs, owner->num_macs, sizeof(*macs));

	if (!macs)
		return options_bad("--hca: more than %u addresses", OWNER_MAX_TRUST);
	owner->macs = macs;
	return parse_mac(macs[owner->num_macs++], text);
}

/* An IP address, as a GID */
static enum options_result add_gid(struct owner_options *owner, const char *text)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	uint8_t(*gids)[16] = one_more(owner->gids, owner->num_gids, sizeof(*gids));
	uint8_t *gid;

	if (!gids)
		return options_bad("--hca: more than %u addresses", OWNER_MAX_TRUST);
	owner->gids = gids;
	gid = gids[owner->num_gids++];
	memcpy(gid, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, text, gid + sizeof(mapped)) == 1 ||
	    inet_pton(AF_INET6, text, gid) == 1)
		return OPTIONS_RUN;
	return options_bad("--hca: '%s' is not an IP address", text);
}

/* Each of a list of addresses */
static enum options_result parse_list(struct owner_options *owner, const char *text,
				      enum options_result (*add)(struct owner_options *owner,
								 const char *text))
{
	enum options_result result;
	char word[64];
	size_t len;

	do {
		len = strcspn(text, "+");
		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		result = add(owner, word);
		text += len;
	} while (*text++ && result == OPTIONS_RUN);
	return result;
}

static enum options_result parse_trust(struct owner_options *owner, const char *text)
{
	owner->trust_all = !strcmp(text, "all");
	return owner->trust_all ? OPTIONS_RUN : parse_list(owner, text, add_trusted);
}

static enum options_result parse_learn(struct owner_options *owner, const char *text)
{
	unsigned long num;
	char *end;

	errno = 0;
	num = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || num > OWNER_MAX_LEARN)
		return options_bad("--hca: learn is a number from 0 to %u, not '%s'",
				   OWNER_MAX_LEARN, text);
	owner->learn = num ? (int)num : -1;
	return OPTIONS_RUN;
}

/* A number, or with k, M or G 2^10, 2^20 or 2^30 times that */
static enum options_result parse_quota(struct quota_options *opts, enum quota_kind kind,
				       const char *text)
{
	static const char units[] = "kMG";
	const char *unit;
	uint64_t num;
	char *end;

	errno = 0;
	num = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (errno || *text < '0' || *text > '9' || num > QUOTA_MAX || (unit ? end[1] : *end))
		return options_bad("--hca: quota-%s is a number, with k, M or G or without, not "
				   "'%s'",
				   quota_descs[kind].name, text);
	opts->max[kind] = unit ? num << 10 * (unit - units + 1) : num;
	opts->given |= 1U << kind;
	return OPTIONS_RUN;
}

static enum options_result parse_switch(bool *on, const char *name, const char *text)
{
	*on = !strcmp(text, "on");
	if (!*on && strcmp(text, "off") != 0)
		return options_bad("--hca: %s is on or off, not '%s'", name, text);
	return OPTIONS_RUN;
}

static enum options_result parse_ports(struct hca_options *hca, const char *text, unsigned int max)
{
	const char *at = text;
	size_t len;

	hca->num_ports = 0;
	do {
		len = strcspn(at, "+");
		if (hca->num_ports == max)
			return options_bad("--hca: '%s' is more than %u", text, max);
		if (len == 2 && !strncmp(at, "ib", len))
			hca->links[hca->num_ports++] = OHCA_LINK_INFINIBAND;
		else if (len == 3 && !strncmp(at, "eth", len))
			hca->links[hca->num_ports++] = OHCA_LINK_ETHERNET;
		else
			return options_bad("--hca: link is eth or ib, not '%.*s'", (int)len, at);
		at += len;
	} while (*at++);
	return OPTIONS_RUN;
}

bool options_hca_has_ib(const struct hca_options *hca)
{
	return memchr(hca->links, OHCA_LINK_INFINIBAND, hca->num_ports);
}

static enum options_result parse_speed(struct hca_options *hca, const char *text)
{
	if (!ib_speed_parse(&hca->speeds, text))
		return options_bad("--hca: there is no speed '%s'; SDR, DDR, QDR, FDR, EDR, HDR, "
				   "NDR are",
				   text);
	return OPTIONS_RUN;
}

static enum options_result parse_width(struct hca_options *hca, const char *text)
{
	if (!ib_width_parse(&hca->speeds, text))
		return options_bad("--hca: width is 1, 2, 4, 8 or 12, not '%s'", text);
	return OPTIONS_RUN;
}

static enum options_result parse_profile(struct hca_options *hca, const char *text)
{
	hca->profile = hca_profile_find(text);
	return hca->profile
		       ? OPTIONS_RUN
		       : options_bad("--hca: profile is minimal-rc, verbs or all, not '%s'", text);
}

static enum options_result parse_text(const char **to, const char *text)
{
	*to = strdup(text);
	return *to ? OPTIONS_RUN : options_bad("out of memory");
}

void options_hca_free(const struct hca_options *hca)
{
	free((char *)hca->name);
	free((char *)hca->socket);
	free((char *)hca->node);
	free(hca->owner.macs);
	free(hca->owner.gids);
}

enum hca_field {
	SOCKET,
	MAC,
	NAME,
	LINK,
	PORTS,
	SPEED,
	WIDTH,
	NODE,
	PACE,
	TRUST,
	GID,
	LEARN,
	MIRROR,
	PROFILE,
	MODE,
	GROUP,
	QUOTA,
	MAP = QUOTA + QUOTA_NUM,
	STRICT,
};

/* The value of a suboption, into strings of our own */
static enum options_result parse_field(struct hca_options *hca, enum hca_field field,
				       const char *value)
{
	if (field >= QUOTA && field < MAP)
		return parse_quota(&hca->quotas, field - QUOTA, value);
	switch (field) {
	case SOCKET:
		return parse_text(&hca->socket, value);
	case MAC:
		return parse_mac(hca->mac, value);
	case NAME:
		return parse_text(&hca->name, value);
	case LINK:
		return parse_ports(hca, value, 1);
	case PORTS:
		return parse_ports(hca, value, HCA_MAX_PORTS);
	case SPEED:
		return parse_speed(hca, value);
	case WIDTH:
		return parse_width(hca, value);
	case NODE:
		return parse_text(&hca->node, value);
	case PACE:
		return parse_switch(&hca->pace, "pace", value);
	case TRUST:
		return parse_trust(&hca->owner, value);
	case GID:
		return parse_list(&hca->owner, value, add_gid);
	case LEARN:
		return parse_learn(&hca->owner, value);
	case MIRROR:
		return parse_switch(&hca->owner.mirror, "mirror", value);
	case PROFILE:
		return parse_profile(hca, value);
	case MODE:
		return options_no_error("--hca", value, unix_parse_mode(&hca->access, value));
	case GROUP:
		return options_no_error("--hca", value, unix_parse_group(&hca->access, value));
	case MAP:
		hca->map = true;
		return OPTIONS_RUN;
	default:
		hca->strict = true;
		return OPTIONS_RUN;
	}
}

/* Do the suboptions that are @given go with each other? */
static enum options_result check_fields(const struct hca_options *hca, unsigned int given)
{
	if (!hca->socket)
		return options_bad("--hca: socket=PATH is missing");
	if (!(given & 1U << MAC))
		return options_bad("--hca: mac=MAC is missing");
	if (given & 1U << LINK && given & 1U << PORTS)
		return options_bad("--hca: link and ports exclude each other");
	if (!options_hca_has_ib(hca) &&
	    given & (1U << SPEED | 1U << WIDTH | 1U << NODE | 1U << PACE))
		return options_bad("--hca: speed, width, node and pace need an InfiniBand port");
	if (hca->node && given & (1U << SPEED | 1U << WIDTH))
		return options_bad("--hca: with node=, speed and width are those of the topology");
	return OPTIONS_RUN;
}

enum options_result options_hca_parse(struct hca_options *hca, char *text)
{
	static char *const tokens[] = {
		[SOCKET] = (char *)"socket",
		[MAC] = (char *)"mac",
		[NAME] = (char *)"name",
		[LINK] = (char *)"link",
		[PORTS] = (char *)"ports",
		[SPEED] = (char *)"speed",
		[WIDTH] = (char *)"width",
		[NODE] = (char *)"node",
		[PACE] = (char *)"pace",
		[TRUST] = (char *)"trust",
		[GID] = (char *)"gid",
		[LEARN] = (char *)"learn",
		[MIRROR] = (char *)"mirror",
		[PROFILE] = (char *)"profile",
		[MODE] = (char *)"mode",
		[GROUP] = (char *)"group",
		[QUOTA + QUOTA_PAGES] = (char *)"quota-pages",
		[QUOTA + QUOTA_MEMORY] = (char *)"quota-memory",
		[QUOTA + QUOTA_FLOWS] = (char *)"quota-flows",
		[QUOTA + QUOTA_GROUPS] = (char *)"quota-groups",
		[QUOTA + QUOTA_MEMBERS] = (char *)"quota-members",
		[QUOTA + QUOTA_LOG] = (char *)"quota-log",
		[MAP] = (char *)"map",
		[STRICT] = (char *)"strict",
		NULL,
	};
	unsigned int given = 0;
	char *value, *word;
	int token;

	hca->num_ports = 1;
	hca->links[0] = OHCA_LINK_ETHERNET;
	hca->speeds = ib_speeds_default;
	while (*text) {
		word = text;
		token = getsubopt(&text, tokens, &value);
		if (token < 0)
			return options_bad("--hca: unknown or misplaced '%s'", word);
		if (token >= MAP && value)
			return options_bad("--hca: %s takes no value", tokens[token]);
		if (token < MAP && (!value || !*value))
			return options_bad("--hca: %s needs a value", tokens[token]);
		if (given & 1U << token)
			return options_bad("--hca: %s is given twice", tokens[token]);
		given |= 1U << token;
		if (parse_field(hca, token, value) != OPTIONS_RUN)
			return OPTIONS_BAD;
	}
	return check_fields(hca, given);
}
