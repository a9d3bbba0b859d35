/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "control": bytes sent to the control socket.  Bytes with the values below
 * are not sent: they are events.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_CONTROL_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_CONTROL_INPUT_H

enum control_event {
	CONTROL_PAUSE, /* run the device with the bytes sent so far */
	CONTROL_AS_IS, /* send the next byte as it is */
	CONTROL_CLIENT, /* from here on bytes are from the client of that number; it may be new */
	CONTROL_DEAF, /* the client stops reading replies, or reads again */
	CONTROL_SHUT, /* shut down the client's sending side */
	CONTROL_HANG_UP, /* ... and close its connection */
	CONTROL_MANY, /* a number and a byte: send CONTROL_MANY_LEN of that byte so many times */
	CONTROL_TRAFFIC, /* enum scene_qp and enum ohca_wqe_op: a send of the guest */
	CONTROL_COMMAND, /* enum ohca_cmd_op: a command of the guest, without input */
	CONTROL_TAB, /* sent */
	CONTROL_NEWLINE, /* sent */
	CONTROL_TIME, /* a number: let 2^n us pass */
	CONTROL_EVENTS,
};

#define CONTROL_CLIENTS 18 /* some more than the maximum */
#define CONTROL_MANY_LEN 512

#endif
