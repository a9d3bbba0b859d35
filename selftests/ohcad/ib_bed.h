/* SPDX-License-Identifier: GPL-2.0 */
/* HCAs with InfiniBand ports in the test program, and a subnet manager that uses their QP 0. */

#ifndef SELFTESTS_OHCAD_IB_BED_H
#define SELFTESTS_OHCAD_IB_BED_H

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_route.h"
#include "inproc.h"
#include "mad_request.h"
#include "packet/sm_attr.h"

#define BED_HCAS 3
#define BED_MAX_GOT 64
#define BED_SWITCH_LID 1
#define BED_NODE_LID 0x100
#define BED_LID(hca) (0x10 + 4 * (hca))

/**
 * struct ib_bed - all of it
 * @drv: driver of each HCA
 * @async: its EQ
 * @got: packets that came to the QP 0 of an HCA since the last ib_ask(), and of which one; not more than
 *	there is room for
 */
struct ib_bed {
	struct server *server;
	struct drv *drv[BED_HCAS];
	struct drv_eq *async[BED_HCAS];
	struct mad_packet got[BED_MAX_GOT];
	unsigned int at[BED_MAX_GOT];
	unsigned int num_got;
};

extern struct ib_bed ib;

/* The text of a net file, if the HCAs are in a topology; else NULL */
extern const char *ib_bed_topology;

int ib_bed_open(void **state);
int ib_bed_close(void **state);

struct ib_port *ib_port_of(unsigned int hca);
struct ib_switch *ib_switch_of(void);

/* A request by LID, like ib_request() by directed route */
struct mad_packet ib_lid_request(uint8_t method, uint16_t attr, uint32_t mod, uint16_t dlid);
/* The routes from HCA 0: to the switch, to another HCA. */
extern const uint8_t to_switch[], to_hca1[], to_hca2[];

/*
 * Send a packet from an HCA's QP 0.  Returns the response that it receives, or NULL.  Fails if it
 * is a response to another request.
 */
const struct smp *ib_ask(unsigned int hca, const struct mad_packet *p);
/* Get or set an attribute from HCA 0, with the data of which 64 bytes are read and written; the status, -1: no answer */
int ib_get(uint16_t attr, uint32_t mod, const uint8_t *route, void *data);
int ib_set(uint16_t attr, uint32_t mod, const uint8_t *route, void *data);

/* Configure all like a subnet manager on HCA 0: LIDs, forwarding tables, all ports active. */
void ib_bed_up(void);
/*
 * The same of a topology, and without packets: all HCAs of the bed have their LIDs, other nodes those from BED_NODE_LID on in the
 * order of the file, and each switch has the shortest ways.
 */
void ib_bed_route(void);
/* Take the next asynchronous event of an HCA and compare its type. */
void ib_expect_event(unsigned int hca, enum ohca_event type);
void ib_expect_no_event(unsigned int hca);

#endif
