/* SPDX-License-Identifier: GPL-2.0 */
/* Clients of the control socket, for the target "control": expected and received replies. */

#ifndef SELFTESTS_OHCAD_FUZZ_SPEAKER_H
#define SELFTESTS_OHCAD_FUZZ_SPEAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPEAKER_ROOM 4096

/**
 * struct speaker - a client
 * @fd: -1: not connected
 * @extra: the device already has the maximum number of clients
 * @deaf: it does not read now
 * @was_deaf: ... or did not for some time
 * @shut: its sending side is shut down
 * @too_long: it has sent a line that is too long: the last one that gets a reply
 * @said: @said_len bytes to be sent
 * @line_len: bytes that were sent of an unfinished line
 * @requests: lines that were sent
 * @replies: replies that arrived
 * @reply: the beginning of a reply, @reply_len bytes
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
/* Disconnect the client. */
void speaker_end(struct speaker *speaker);
void speaker_shut(struct speaker *speaker);
/* Send the pending bytes.  True: the device has to read first. */
bool speaker_flush(struct speaker *speaker);
/* Read the available replies. */
void speaker_listen(struct speaker *speaker);
/* Is a reply expected, or that the device disconnects? */
bool speaker_waits(const struct speaker *speaker);

#endif
