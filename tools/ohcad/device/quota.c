// SPDX-License-Identifier: GPL-2.0
/* Quotas of an HCA. */

#include <stdlib.h>

#include "device/quota.h"

const struct quota_desc quota_descs[QUOTA_NUM] = {
	[QUOTA_PAGES] = {"pages", 32U << 20},	  [QUOTA_MEMORY] = {"memory", 256U << 20},
	[QUOTA_FLOWS] = {"flows", 8192},	  [QUOTA_GROUPS] = {"groups", 8192},
	[QUOTA_MEMBERS] = {"members", 64U << 10}, [QUOTA_LOG] = {"log", 100},
};

void quotas_init(struct quota quotas[QUOTA_NUM], const struct quota_options *opts)
{
	unsigned int i;

	for (i = 0; i < QUOTA_NUM; i++) {
		quotas[i] = (struct quota){
			.kind = i,
			.max = opts->given & 1U << i ? opts->max[i] : quota_descs[i].normal,
		};
	}
}

bool quota_charge(struct quota *quota, uint64_t num)
{
	if (num > quota->max - quota->used) {
		quota->refused++;
		return false;
	}
	quota->used += num;
	return true;
}

void quota_release(struct quota *quota, uint64_t num)
{
	quota->used -= num;
}

void *quota_calloc(struct quota *quota, uint64_t num, size_t size)
{
	void *object;

	if (!quota_charge(quota, num))
		return NULL;
	object = calloc(1, size);
	if (!object)
		quota_release(quota, num);
	return object;
}

void quota_free(struct quota *quota, uint64_t num, void *object)
{
	quota_release(quota, num);
	free(object);
}
