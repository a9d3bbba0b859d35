/* SPDX-License-Identifier: GPL-2.0 */
/* Clients of the control socket, as the target "control" has them: what they are owed, and what they get. */

#ifndef SELFTESTS_OHCAD_FUZZ_SPEAKER_H
#define SELFTESTS_OHCAD_FUZZ_SPEAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPEAKER_ROOM 4096

/**
 * struct speaker - a client
 * @fd: -1: there is none
 * @extra: the device has as many as it takes already
 * @deaf: it reads nothing just now
 * @was_deaf: ... or did not for some time
 * @shut: it says no more
 * @too_long: it has sent a line that is: the last one to which there is a reply
 * @said: @said_len bytes that are about to be sent
 * @line_len: bytes of a line without its end that were sent
 * @requests: lines that were sent
 * @replies: those that came
 * @reply: the beginning of one, @reply_len bytes
 */
struct speaker {
	int fd;
	bool extra;
	bool deaf, was_deaf;
	bool shut;
	bool too_long;
	uint8_t said[SPEAKER_ROOM];
	size_t said_len;
	size_t line_len;
	size_t requests, replies;
	char *reply;
	size_t reply_len;
};

void speaker_begin(struct speaker *speaker, int fd, bool extra);
/* It hangs up. */
void speaker_end(struct speaker *speaker);
void speaker_shut(struct speaker *speaker);
/* Send what it said.  True: the device has to take some of it first. */
bool speaker_flush(struct speaker *speaker);
/* Take what replies there are. */
void speaker_listen(struct speaker *speaker);
/* Is a reply due, or that the device hangs up? */
bool speaker_waits(const struct speaker *speaker);

#endif
