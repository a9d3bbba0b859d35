/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Management datagrams (InfiniBand specification volume 1, chapters 13 and 14) and how they travel.  The
 * attributes of subnet management are in sm_attr.h, those of performance management in pm_attr.h.
 */

#ifndef OHCAD_MAD_H
#define OHCAD_MAD_H

#include <stdint.h>

#include <linux/types.h>

#define MAD_LEN 256

#define LID_PERMISSIVE 0xffff
#define LID_MCAST 0xc000 /* the first multicast one; 0 is none, 0xffff the permissive one */

#define MAD_BASE_VERSION 1

/* Classes */
#define MAD_CLASS_SM_LID 0x01 /* subnet management, routed by LID */
#define MAD_CLASS_SA 0x03 /* subnet administration */
#define MAD_CLASS_PM 0x04 /* performance management */
#define MAD_CLASS_DM 0x06 /* device management */
#define MAD_CLASS_CM 0x07 /* communication management */
#define MAD_CLASS_SM_DR 0x81 /* subnet management, on a directed route */

/* Methods */
#define MAD_GET 0x01
#define MAD_SET 0x02
#define MAD_SEND 0x03
#define MAD_TRAP 0x05
#define MAD_REPORT 0x06
#define MAD_TRAP_REPRESS 0x07
#define MAD_GET_RESP 0x81
#define MAD_RESPONSE 0x80 /* of each method that is one */

/* Status: host byte order */
#define MAD_OK 0x0000
#define MAD_BUSY 0x0001
#define MAD_BAD_VERSION 0x0004 /* class or version not supported */
#define MAD_BAD_METHOD 0x0008 /* method not supported */
#define MAD_BAD_ATTR 0x000c /* combination of method and attribute not supported */
#define MAD_BAD_FIELD 0x001c /* a field of the attribute, or its modifier, is invalid */
#define MAD_DIRECTION 0x8000 /* directed route: on the way back */

/**
 * struct mad_hdr - what each datagram begins with
 * @class_specific: of a directed route: the hops
 */
struct mad_hdr {
	__u8 base_version;
	__u8 mgmt_class;
	__u8 class_version;
	__u8 method;
	__be16 status;
	union {
		__be16 class_specific;
		struct {
			__u8 hop_ptr;
			__u8 hop_cnt;
		};
	};
	__be64 tid;
	__be16 attr_id;
	__be16 rsvd;
	__be32 attr_mod;
};

#define SMP_DATA_LEN 64
#define SMP_MAX_HOPS 63

/**
 * struct smp - a subnet management packet; what is from @dr_slid on but @data, of a directed route only
 */
struct smp {
	struct mad_hdr hdr;
	__be64 mkey;
	__be16 dr_slid;
	__be16 dr_dlid;
	__u8 rsvd[28];
	__u8 data[SMP_DATA_LEN];
	__u8 initial_path[SMP_MAX_HOPS + 1];
	__u8 return_path[SMP_MAX_HOPS + 1];
};

_Static_assert(sizeof(struct smp) == MAD_LEN, "size of struct smp");

/**
 * struct mad_packet - a management datagram on a link: a UD packet of one MAD without a GRH.  All in the
 *	host's byte order but for @mad
 * @slid, @dlid: LRH
 * @sl: LRH
 * @hops: that it has passed by LID: see ib.h
 * @pkey: BTH; 0: the default one
 * @dest_qpn: BTH: 0: a subnet management packet, on VL 15
 * @src_qpn: DETH
 * @qkey: DETH, of a datagram for QP 1 that has arrived
 * @mad: the datagram, as it is on the link; @hdr and @smp are views of it
 */
struct mad_packet {
	uint16_t slid;
	uint16_t dlid;
	uint8_t sl;
	uint16_t hops;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t src_qpn;
	uint32_t qkey;
	union {
		uint8_t mad[MAD_LEN] __attribute__((aligned(8)));
		struct mad_hdr hdr;
		struct smp smp;
	};
};

#endif
