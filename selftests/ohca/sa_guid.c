// SPDX-License-Identifier: GPL-2.0
/*
 * sa_guid LID INDEX [GUID]: asks the subnet administrator to set entry INDEX, 1 to 7, of the GUID
 * table of the port with that LID to an alias GUID, or without a GUID to remove the entry.  GUID 0:
 * the manager chooses one.  Prints the GUID.  SM_LID is in the environment.  The exit status is 0
 * if the manager has done it.
 */

#include <endian.h>
#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umad_agent.h"

#define GUID_INFO_RECORD 0x30
#define COMP_LID 1
#define COMP_BLOCK 2
#define COMP_GUID 0x10 /* of the first one */

struct guid_info_record {
	__be16 lid;
	uint8_t block;
	uint8_t reserved[5];
	__be64 guids[8];
};

static int set(struct agent *agent, uint16_t lid, unsigned int index, bool remove, uint64_t *guid)
{
	struct guid_info_record record = {.lid = htobe16(lid)};
	struct sa_request request = {
		.lid = atoi(getenv("SM_LID") ?: "0"),
		.method = remove ? UMAD_SA_METHOD_DELETE : UMAD_METHOD_SET,
		.attr_id = GUID_INFO_RECORD,
		.comp_mask = COMP_LID | COMP_BLOCK | COMP_GUID << index,
		.record = &record,
		.len = sizeof(record),
	};
	int err;

	record.guids[index] = htobe64(*guid);
	err = agent_ask_sa(agent, &request);
	if (err == EPROTO)
		fprintf(stderr, "sa_guid: status %#x\n", request.status);
	*guid = be64toh(record.guids[index]);
	return err;
}

int main(int argc, char **argv)
{
	unsigned int index = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t guid = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
	struct agent agent;
	int err;

	if (argc < 3 || argc > 4 || index < 1 || index > 7) {
		fprintf(stderr, "usage: sa_guid LID INDEX [GUID]\n");
		return 2;
	}
	if (!agent_open(&agent, UMAD_CLASS_SUBN_ADM)) {
		perror("sa_guid");
		return 1;
	}
	err = set(&agent, atoi(argv[1]), index, argc == 3, &guid);
	if (err)
		fprintf(stderr, "sa_guid: %s\n", strerror(err));
	else
		printf("0x%016" PRIx64 "\n", guid);
	return err != 0;
}
