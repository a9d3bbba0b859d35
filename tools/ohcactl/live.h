/* SPDX-License-Identifier: GPL-2.0 */
/* Captures that go to the standard output while they run, for Wireshark and the like. */

#ifndef OHCACTL_LIVE_H
#define OHCACTL_LIVE_H

#include <json-c/json.h>

/*
 * Have the ohcad at the other end of @fd begin a capture with these arguments, which are freed, and copy it to the standard output
 * until it ends, a signal asks for the end, or nobody reads it any more.  Then the capture is stopped.  Returns the exit status.
 */
int live_capture(int fd, struct json_object *args);

#endif
