/* SPDX-License-Identifier: GPL-2.0 */
/* Inputs of the target "vfio_user": actions of a client of an HCA's socket. */

#ifndef SELFTESTS_OHCAD_FUZZ_VFIO_USER_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_VFIO_USER_INPUT_H

#include <linux/types.h>

enum client_kind {
	CLIENT_MESSAGE, /* the bytes are a payload */
	CLIENT_HALVES, /* the same in two parts; the device runs after the first one */
	CLIENT_BYTES, /* the bytes as they are */
	CLIENT_DEAF, /* stop reading replies, or read again */
	CLIENT_HANG_UP, /* disconnect and connect again; an odd command: no version */
	CLIENT_MEM, /* change shared memory: 4 bytes are an offset */
	CLIENT_SHRINK, /* truncate shared memory */
	CLIENT_TIME, /* let time pass */
	CLIENT_KINDS,
};

/* With the kind: the message wants no reply. */
#define CLIENT_NO_REPLY 0x80

#define CLIENT_MAX_FDS 20 /* some more than the maximum */

/* With @fds: what the descriptors are */
#define CLIENT_FD_MEM 0x00
#define CLIENT_FD_EVENT 0x40
#define CLIENT_FD_EMPTY 0x80 /* memory without a byte */
#define CLIENT_FD_SOCKET 0xc0
#define CLIENT_FD_KIND 0xc0

/**
 * struct client_record - one action
 * @kind: enum client_kind
 * @fds: number of descriptors with the message, and their kind
 * @cmd: enum vfio_user_cmd
 * @len: bytes that follow
 */
struct client_record {
	__u8 kind;
	__u8 fds;
	__u8 cmd;
	__u8 rsvd;
	__le16 len;
} __attribute__((packed));

#define CLIENT_MEM_SIZE (64U << 12)

#endif
