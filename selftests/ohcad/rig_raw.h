/* SPDX-License-Identifier: GPL-2.0 */
/*
 * QPs that receive Ethernet frames, QPs that send them, and flows between them; for test programs.
 */

#ifndef SELFTESTS_OHCAD_RIG_RAW_H
#define SELFTESTS_OHCAD_RIG_RAW_H

#include "rig.h"

/* A UDP datagram of IPv4, from 10.0.0.1:0x1234 to 10.0.0.2:0x5001. */
#define RAW_UDP_LEN 46
#define RAW_AT_IP 14
#define RAW_AT_UDP 34

extern const uint8_t raw_udp[RAW_UDP_LEN];

/**
 * struct raw - a QP of type OHCA_QPT_ETH or OHCA_QPT_RWQ, and memory for its frames
 */
struct raw {
	struct rig_hca *hca;
	struct rig_qp *qp;
	struct rig_mr *mr;
};

/* In RTS, or in RTR if the type has no send queue. */
struct raw raw_new(struct rig_hca *hca, uint8_t type, uint8_t flags);
/* Send a frame and wait for the completion. */
void raw_send(struct raw *raw, const uint8_t *frame, uint32_t len);
/* Post a receive of RAW_ROOM bytes; there is only one at a time. */
#define RAW_ROOM 2048
void raw_post(struct raw *raw);
/* The frame has been received, or no frame. */
void raw_assert_got(struct raw *raw, const uint8_t *frame, uint32_t len);
void raw_assert_none(struct raw *raw);

/*
 * The input of a command for a flow of all frames to a QP, for tests that change it; and a created
 * flow.
 */
struct ohca_create_flow_in raw_flow_in(uint32_t qpn);
uint32_t raw_flow_new(struct rig_hca *hca, const struct ohca_create_flow_in *in);

#endif
