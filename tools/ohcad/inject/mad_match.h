/* SPDX-License-Identifier: GPL-2.0 */
/* Which management datagrams a rule for packets is about: their class, attribute and method. */

#ifndef OHCAD_MAD_MATCH_H
#define OHCAD_MAD_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/rule_text.h"
#include "packet/mad.h"

#define MAD_ANY (-1)

/**
 * struct mad_match - what they have, or MAD_ANY
 * @mgmt_class: MAD_CLASS_SM_LID: directed routes too
 */
struct mad_match {
	int32_t mgmt_class;
	int32_t method;
	int32_t attr;
};

/* Is the rule about management datagrams only? */
static inline bool mad_match_given(const struct mad_match *match)
{
	return match->mgmt_class != MAD_ANY || match->method != MAD_ANY || match->attr != MAD_ANY;
}

/* The values of class=, attr= and method=: a name or a number.  False: there is no such name. */
bool mad_match_class(const struct rule_error *error, struct mad_match *match, const char *text);
bool mad_match_attr(const struct rule_error *error, struct mad_match *match, const char *text);
bool mad_match_method(const struct rule_error *error, struct mad_match *match, const char *text);

/* Is it about this datagram? */
bool mad_matches(const struct mad_match *match, const struct mad_hdr *hdr);

#endif
