/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands that have to fail, and the field of their input that they report.  Include harness.h
 * first.
 */

#ifndef SELFTESTS_OHCAD_REFUSE_H
#define SELFTESTS_OHCAD_REFUSE_H

#include "drv.h"

/* Execute a command that has to fail with @status at offset @field of its input. */
static inline void refuse(struct drv *drv, uint16_t opcode, const void *in, size_t in_len,
			  int status, unsigned int field)
{
	uint8_t out[OHCA_CMD_MAX_LEN];

	assert_int_equal(drv_cmd(drv, opcode, in, in_len, out, sizeof(out)), status);
	assert_int_equal(drv->syndrome, field);
}

/* The command fails with one field of a valid input changed; the syndrome is offset @at. */
#define REFUSE_AT(drv, opcode, type, good, field, value, status, at) \
	do {                                                         \
		type _in = good;                                     \
		_in.field = value;                                   \
		refuse(drv, opcode, &_in, sizeof(_in), status, at);  \
	} while (0)

/* The syndrome is the offset of that field. */
#define REFUSE(drv, opcode, type, good, field, value, status) \
	REFUSE_AT(drv, opcode, type, good, field, value, status, offsetof(type, field))

#endif
