// SPDX-License-Identifier: GPL-2.0
/* An HCA: functions that its objects call. */

#include "base/log.h"
#include "device/hca.h"

#define LOG_PERIOD_NS 1000000000ULL

bool hca_has_link(const struct hca *hca, uint8_t link)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->links[i] == link)
			return true;
	}
	return false;
}

bool hca_may_log(struct hca *hca)
{
	struct quota *lines = &hca->quotas[QUOTA_LOG];
	uint64_t now = loop_now(hca->loop);
	uint64_t more = (now - hca->log_time) / LOG_PERIOD_NS;

	if (more) {
		hca->log_time = now;
		quota_release(lines, more < lines->used ? more : lines->used);
	}
	if (!quota_charge(lines, 1))
		return false;
	if (lines->used == lines->max)
		log_info(hca->name, "more of this is not logged for a while");
	return true;
}

void hca_fatal(struct hca *hca, enum ohca_fatal why)
{
	static const char *const names[] = {
		[OHCA_FATAL_NONE] = "none",
		[OHCA_FATAL_CONFIG] = "enabled with a bad configuration",
		[OHCA_FATAL_CMDQ] = "command queue",
		[OHCA_FATAL_EQ] = "event queue not accessible",
		[OHCA_FATAL_INTERNAL] = "internal",
		[OHCA_FATAL_VERSION] = "software does not follow version 2 of the interface",
	};

	_Static_assert(OHCA_VERSION_MAJOR == 2, "the text above says so");

	if (hca->fatal)
		return;
	if (hca_may_log(hca))
		log_error(hca->name, "fatal error: %s", names[why]);
	hca->fatal = true;
	hca->ops->fatal(hca, why);
}
