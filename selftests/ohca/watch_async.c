// SPDX-License-Identifier: GPL-2.0
/* watch_async: prints the device's asynchronous events, one line each, until it is killed. */

#include <stdio.h>

#include "verbs_util.h"

int main(void)
{
	struct ibv_context *ctx = vu_open_context();
	struct ibv_async_event event;

	if (!ctx)
		return 1;
	puts("watching");
	fflush(stdout);
	while (!ibv_get_async_event(ctx, &event)) {
		printf("%s\n", ibv_event_type_str(event.event_type));
		fflush(stdout);
		ibv_ack_async_event(&event);
	}
	return 1;
}
