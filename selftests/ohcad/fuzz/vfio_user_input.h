/* SPDX-License-Identifier: GPL-2.0 */
/* Inputs of the target "vfio_user": what a client does to the socket of an HCA. */

#ifndef SELFTESTS_OHCAD_FUZZ_VFIO_USER_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_VFIO_USER_INPUT_H

#include <linux/types.h>

enum client_kind {
	CLIENT_MESSAGE, /* the bytes are a payload */
	CLIENT_HALVES, /* the same, and the device looks between two parts of it */
	CLIENT_BYTES, /* the bytes as they are */
	CLIENT_DEAF, /* replies are not read, or are again */
	CLIENT_HANG_UP, /* ... and connect again; an odd command: without a version */
	CLIENT_MEM, /* shared memory changes: 4 bytes are an offset */
	CLIENT_SHRINK, /* shared memory loses its end */
	CLIENT_TIME, /* time goes by */
	CLIENT_KINDS,
};

/* With the kind: the message wants no reply. */
#define CLIENT_NO_REPLY 0x80

#define CLIENT_MAX_FDS 20 /* some more than there may be */

/* With @fds: what the descriptors are */
#define CLIENT_FD_MEM 0x00
#define CLIENT_FD_EVENT 0x40
#define CLIENT_FD_EMPTY 0x80 /* memory without a byte */
#define CLIENT_FD_SOCKET 0xc0
#define CLIENT_FD_KIND 0xc0

/**
 * struct client_record - what happens
 * @kind: enum client_kind
 * @fds: number of descriptors that go with it, and their kind
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
