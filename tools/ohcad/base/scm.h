/* SPDX-License-Identifier: GPL-2.0 */
/* Descriptors that go with a message through a Unix socket (SCM_RIGHTS in unix(7)). */

#ifndef OHCAD_SCM_H
#define OHCAD_SCM_H

#include <stddef.h>
#include <sys/socket.h>

#define SCM_MAX_FDS 16 /* with one message */

/* Room for them, as msg_control points to it. */
union scm_control {
	struct cmsghdr hdr;
	char space[CMSG_SPACE(sizeof(int) * SCM_MAX_FDS)];
};

/**
 * scm_put() - make descriptors ready to be sent
 * @control: is to stay until sendmsg(2) has been called
 * @fds: stay the caller's
 * @num: 1 to SCM_MAX_FDS
 *
 * Return: the message's msg_controllen.
 */
size_t scm_put(union scm_control *control, const int *fds, unsigned int num);

/**
 * scm_take() - take the descriptors that came with a message
 * @msg: as recvmsg(2) left it
 * @fds: the caller's from now on
 * @max: as many fit there; the others are closed
 *
 * Return: how many were sent, as far as is known: more than @max if some are lost.
 */
unsigned int scm_take(struct msghdr *msg, int *fds, unsigned int max);

#endif
