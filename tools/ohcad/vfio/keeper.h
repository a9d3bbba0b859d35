/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keeper: a child process that holds the vfio-user clients' sockets as well.  If the device's
 * process dies, the keeper answers the clients in its place, as a function that was pulled out.  So
 * QEMU gets its answers and the machine continues to run, whatever the cause was, and also if the
 * process died in the middle of a message.
 *
 * There is one keeper for all devices of the process.  It ends with the process if that exits in
 * order, else when the last client has disconnected.
 */

#ifndef OHCAD_KEEPER_H
#define OHCAD_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"

/**
 * struct keeper_options - the keeper
 * @hang_ns: after so long, in ns, without a round of the device's loop, the device hangs; 0: nobody
 *	looks
 * @kill: end a device that hangs, with SIGKILL, and take over; else it is only logged
 * @confine: called in the keeper when it has opened all that it needs, with @arg; it ends if that
 *	fails.  Or NULL
 */
struct keeper_options {
	uint64_t hang_ns;
	bool kill;
	int (*confine)(void *arg);
	void *arg;
};

/*
 * Fork the keeper, which does not return from here.  Call it before threads are created.  Returns 0
 * or -errno.
 */
int keeper_start(const struct keeper_options *options);
/*
 * Let the keeper watch the rounds of @loop, if its options say so: it looks several times in that time,
 * and wakes a loop that sleeps.  0 or -errno
 */
int keeper_watch(struct loop *loop);
/* This process exits in order: end the keeper, if there is one. */
void keeper_stop(void);

/*
 * Let the keeper hold a client's socket, and its struct vfio_user_state in the file @state_fd.
 * Call it before the first byte is read.  Returns the client's ID; 0: there is no keeper.
 */
uint32_t keeper_hold(int fd, int state_fd);
/*
 * This process has disconnected the client (with shutdown(), because the keeper has the socket open
 * as well).
 */
void keeper_forget(uint32_t id);

#endif
