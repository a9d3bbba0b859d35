// SPDX-License-Identifier: GPL-2.0
/* Uplinks without sockets. */

#include <endian.h>
#include <string.h>

#include "uplink_end.h"

void (*uplink_end)(struct uplink *from, const uint8_t *frame, size_t len);

static int open_end(struct uplink *uplink)
{
	uplink_connected(uplink);
	return 0;
}

static void write_end(struct uplink *uplink)
{
	while (uplink_queued(uplink)) {
		const uint8_t *at = uplink->tx + uplink->tx_start;
		uint32_t len;

		memcpy(&len, at, UPLINK_LEN_SIZE);
		len = be32toh(len);
		if (uplink_end)
			uplink_end(uplink, at + UPLINK_LEN_SIZE, len);
		uplink->tx_start += UPLINK_LEN_SIZE + len;
	}
	uplink_progress(uplink);
}

const struct uplink_io stream_io = {.open = open_end, .write = write_end};
const struct uplink_io dgram_io = {.open = open_end, .write = write_end};
const struct uplink_io tap_io = {.open = open_end, .write = write_end};
