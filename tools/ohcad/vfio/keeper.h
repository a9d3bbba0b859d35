/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keeper: a second process that holds the vfio-user clients' sockets too.  If the device's
 * process dies it goes on for it, as a device that was pulled out: whatever the process died of,
 * and in the middle of what message, QEMU gets its answers, and the machine goes on.
 *
 * There is one for all devices of the process.  It ends with the process if that ends orderly, else
 * when the last client has hung up.
 */

#ifndef OHCAD_KEEPER_H
#define OHCAD_KEEPER_H

#include <stdint.h>

/*
 * Make the keeper, which is a child of this process and returns from nowhere; before there are
 * threads.  Returns 0 or -errno.
 */
int keeper_start(void);
/* This process ends orderly, and so does the keeper, if there is one. */
void keeper_stop(void);

/*
 * Have it hold a client's socket, and its struct vfio_user_state in the file @state_fd; before the
 * first byte is read.  Returns what it is known by; 0: there is no keeper (any more).
 */
uint32_t keeper_hold(int fd, int state_fd);
/* This process has hung up (with shutdown(), as the keeper has the socket open). */
void keeper_forget(uint32_t id);

#endif
