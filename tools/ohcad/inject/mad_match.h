/* SPDX-License-Identifier: GPL-2.0 */
/* Which management datagrams a rule for packets is about: their class, attribute and method. */

#ifndef OHCAD_MAD_MATCH_H
#define OHCAD_MAD_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/rule_text.h"
#include "packet/mad.h"

/**
 * struct mad_match - what they have
 * @given: at least one of the others matters: the rule is about management datagrams only
 * @has_class, @has_attr, @has_method: which of the others matter
 * @mgmt_class: MAD_CLASS_SM_LID: directed routes too
 */
struct mad_match {
	bool given;
	bool has_class, has_attr, has_method;
	uint8_t mgmt_class;
	uint8_t method;
	uint16_t attr;
};

/* The values of class=, attr= and method=: a name or a number.  False: there is no such name. */
bool mad_match_class(const struct rule_error *error, struct mad_match *match, const char *text);
bool mad_match_attr(const struct rule_error *error, struct mad_match *match, const char *text);
bool mad_match_method(const struct rule_error *error, struct mad_match *match, const char *text);

/* Is it about this datagram? */
bool mad_matches(const struct mad_match *match, const struct mad_hdr *hdr);

#endif
