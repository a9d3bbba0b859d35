// SPDX-License-Identifier: GPL-2.0
/* Which management datagrams a rule for packets is about. */

#include <endian.h>
#include <string.h>

#include "inject/mad_match.h"
#include "packet/pm_attr.h"
#include "packet/sm_attr.h"

/**
 * struct name - a name of the specification, and its number
 */
struct name {
	const char *name;
	uint16_t number;
};

static const struct name classes[] = {
	{"sm", MAD_CLASS_SM_LID}, {"sa", MAD_CLASS_SA}, {"pm", MAD_CLASS_PM},
	{"dm", MAD_CLASS_DM},	  {"cm", MAD_CLASS_CM}, {NULL, 0},
};

static const struct name methods[] = {
	{"get", MAD_GET},
	{"set", MAD_SET},
	{"get-resp", MAD_GET_RESP},
	{"send", MAD_SEND},
	{"trap", MAD_TRAP},
	{"report", MAD_REPORT},
	{"trap-repress", MAD_TRAP_REPRESS},
	{NULL, 0},
};

/* Of subnet management and performance management; several names of one number differ in the class. */
static const struct name attrs[] = {
	{"class-port-info", PM_CLASS_PORT_INFO},
	{"notice", SM_NOTICE},
	{"node-description", SM_NODE_DESC},
	{"node-info", SM_NODE_INFO},
	{"switch-info", SM_SWITCH_INFO},
	{"guid-info", SM_GUID_INFO},
	{"port-info", SM_PORT_INFO},
	{"p-key-table", SM_PKEY_TABLE},
	{"sl-to-vl-mapping-table", SM_SL2VL},
	{"vl-arbitration-table", SM_VL_ARB},
	{"linear-forwarding-table", SM_LINEAR_FDB},
	{"multicast-forwarding-table", SM_MCAST_FDB},
	{"sm-info", SM_SM_INFO},
	{"port-counters", PM_PORT_COUNTERS},
	{"port-counters-extended", PM_PORT_COUNTERS_EXT},
	{NULL, 0},
};

/* A name of the list, or a number of at most @max; -1: it is none */
static int find(const struct rule_error *error, const char *what, const struct name *names,
		const char *text, uint16_t max)
{
	const char *end;
	uint64_t val;

	for (; names->name; names++) {
		if (!strcmp(text, names->name))
			return names->number;
	}
	if (rule_get_number(text, max, &val, &end) && !*end)
		return val;
	rule_bad(error, "%s: there is no '%s'", what, text);
	return -1;
}

bool mad_match_class(const struct rule_error *error, struct mad_match *match, const char *text)
{
	match->mgmt_class = find(error, "class", classes, text, UINT8_MAX);
	return match->mgmt_class >= 0;
}

bool mad_match_attr(const struct rule_error *error, struct mad_match *match, const char *text)
{
	match->attr = find(error, "attr", attrs, text, UINT16_MAX);
	return match->attr >= 0;
}

bool mad_match_method(const struct rule_error *error, struct mad_match *match, const char *text)
{
	match->method = find(error, "method", methods, text, UINT8_MAX);
	return match->method >= 0;
}

bool mad_matches(const struct mad_match *match, const struct mad_hdr *hdr)
{
	uint8_t mgmt_class = hdr->mgmt_class;

	if (mgmt_class == MAD_CLASS_SM_DR && match->mgmt_class == MAD_CLASS_SM_LID)
		mgmt_class = MAD_CLASS_SM_LID;
	return (match->mgmt_class == MAD_ANY || match->mgmt_class == mgmt_class) &&
	       (match->attr == MAD_ANY || match->attr == be16toh(hdr->attr_id)) &&
	       (match->method == MAD_ANY || match->method == hdr->method);
}
