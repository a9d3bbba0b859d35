/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two HCAs of two ports in the test program, each of them Ethernet or InfiniBand: they have addresses, and are active.  Failed
 * assertions are those of the test.
 */

#ifndef SELFTESTS_OHCAD_PORTS_BED_H
#define SELFTESTS_OHCAD_PORTS_BED_H

#include "rig.h"

struct port;

#define PORTS_HCAS 2
#define PORTS_NUM 2
#define PORTS_LID(hca, port) (0x10 * ((hca) + 1) + 4 * (port)) /* LMC is 0 */
#define PORTS_IOVA 0x10000ULL
#define PORTS_LEN 5000 /* of a message */

/* The HCAs as their driver sees them, and the link layers of the ports of each */
extern struct rig_hca ports_hca[PORTS_HCAS];
extern uint8_t ports_links[PORTS_NUM];

/* Start the device, with ports of these link layers, OHCA_LINK_*.  0; the teardown is ports_down(). */
int ports_up(uint8_t first, uint8_t second);
int ports_down(void **state);
/* The driver of HCA number @i, of ports with @ports_links; ports of Ethernet get their addresses. */
void ports_open(unsigned int i);
/* Ports of InfiniBand get their addresses, and the switch its tables; events of that are taken. */
void ports_settle(void);

/* The device's object of a port */
struct port *ports_port(unsigned int i, uint8_t num);
struct ohca_query_port_out ports_query(unsigned int i, uint8_t num);
uint64_t ports_counter(unsigned int i, uint8_t num, enum ohca_counter what);

/* The path from port @from to port @to of HCA number @i */
struct ohca_av ports_av(unsigned int i, uint8_t to, uint8_t from);
struct rig_qp *ports_qp(unsigned int i, uint8_t type, uint8_t num);
/* Connected QPs, of HCA 0 at port @from and of HCA number @i at port @to */
void ports_connect(struct rig_qp **a, uint8_t from, unsigned int i, struct rig_qp **b, uint8_t to);
/* An RDMA WRITE of PORTS_LEN bytes, whose every byte is checked */
void ports_write(struct rig_qp *a, struct rig_qp *b);

#endif
