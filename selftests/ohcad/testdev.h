/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device for tests of the layers below the HCA: it copies memory, raises interrupts and counts
 * resets, accesses and changes of the memory map.  BAR 0 has its registers, BAR 2 is 64 KiB of
 * memory that allows any access, BAR 4 is MSI-X.
 */

#ifndef SELFTESTS_OHCAD_TESTDEV_H
#define SELFTESTS_OHCAD_TESTDEV_H

#define TESTDEV_VENDOR 0x1234
#define TESTDEV_DEVICE 0x7e57
#define TESTDEV_CLASS 0x020700
#define TESTDEV_REVISION 0x5a
#define TESTDEV_VECTORS 32

#define TESTDEV_BAR0_SIZE 4096
#define TESTDEV_BAR2_SIZE 65536
#define TESTDEV_BAR4_SIZE 4096

#define TESTDEV_SRC 0x00 /* 64 bits: DMA address */
#define TESTDEV_DST 0x08 /* 64 bits: DMA address */
#define TESTDEV_LEN 0x10 /* 32 bits */
#define TESTDEV_COPY 0x14 /* write: copy; read: 0: success, 1: no memory, 2: not bus master */
#define TESTDEV_RAISE 0x18 /* write: MSI-X vector */
#define TESTDEV_RESETS 0x1c /* read: resets so far */
#define TESTDEV_CHANGES 0x20 /* read: changes of the memory map so far */
#define TESTDEV_LAST_OFF 0x24 /* read: offset of the last write to BAR 2 */
#define TESTDEV_LAST_LEN 0x28 /* read: its length */
#define TESTDEV_WRITES 0x2c /* read: writes to BAR 2 so far */
#define TESTDEV_MASTERS 0x30 /* read: changes of bus mastering so far */
#define TESTDEV_MASTER 0x34 /* read: the last one: 1: it is on */

#endif
