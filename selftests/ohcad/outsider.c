// SPDX-License-Identifier: GPL-2.0
/* An uplink to a socket of the test. */

#include <sys/socket.h>
#include <sys/un.h>

#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "outsider.h"
#include "fabric/fabric.h"
#include "fabric/uplink.h"

int outsider_connect(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0 && strlen(path) < sizeof(addr.sun_path));
	strcpy(addr.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	inproc_settle();
	return fd;
}

int outsider(char *path, size_t max, const char *options)
{
	char text[256];

	snprintf(path, max, "%s/outside", server->dir);
	snprintf(text, sizeof(text), "stream=unix:%s,listen%s", path, options);
	inproc_add_uplink(inproc_fabric(0), text);
	return outsider_connect(path);
}

struct uplink *outer(void)
{
	return list_entry(inproc_fabric(0)->uplinks->list.prev, struct uplink, link);
}
