/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "control": what clients send to the control socket, as it is.  Bytes of the
 * values below are not sent: something else happens there.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_CONTROL_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_CONTROL_INPUT_H

enum control_event {
	CONTROL_PAUSE, /* the device looks at what it has got so far */
	CONTROL_AS_IS, /* the next byte is sent, whatever it is */
	CONTROL_CLIENT, /* from here on the client of that number speaks; it may be new */
	CONTROL_DEAF, /* it reads no replies, or does again */
	CONTROL_SHUT, /* it says no more */
	CONTROL_HANG_UP, /* ... and does not listen either */
	CONTROL_MANY, /* a number and a byte: so many times CONTROL_MANY_LEN of them */
	CONTROL_TRAFFIC, /* enum scene_qp and enum ohca_wqe_op: a send of the machine */
	CONTROL_COMMAND, /* enum ohca_cmd_op: one of the machine, without input */
	CONTROL_TAB, /* sent */
	CONTROL_NEWLINE, /* sent */
	CONTROL_TIME, /* a number: 2^n us go by */
	CONTROL_EVENTS,
};

#define CONTROL_CLIENTS 18 /* some more than there may be */
#define CONTROL_MANY_LEN 512

#endif
