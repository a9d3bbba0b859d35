// SPDX-License-Identifier: GPL-2.0

#include <string.h>
#include <unistd.h>

#include "base/scm.h"

size_t scm_put(union scm_control *control, const int *fds, unsigned int num)
{
	memset(control, 0, sizeof(*control));
	control->hdr.cmsg_level = SOL_SOCKET;
	control->hdr.cmsg_type = SCM_RIGHTS;
	control->hdr.cmsg_len = CMSG_LEN(sizeof(int) * num);
	memcpy(CMSG_DATA(&control->hdr), fds, sizeof(int) * num);
	return CMSG_SPACE(sizeof(int) * num);
}

unsigned int scm_take(struct msghdr *msg, int *fds, unsigned int max)
{
	unsigned int i, num, taken = 0, lost = 0;
	struct cmsghdr *cmsg;
	int fd;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		num = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < num; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
			if (taken < max) {
				fds[taken++] = fd;
			} else {
				close(fd);
				lost++;
			}
		}
	}
	if (!lost && msg->msg_flags & MSG_CTRUNC)
		lost = 1;
	return lost ? max + lost : taken;
}
