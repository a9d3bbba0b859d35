/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to a subnet management agent, by attribute. */

#ifndef OHCAD_SM_CALL_H
#define OHCAD_SM_CALL_H

#include "fabric/ib_node.h"
#include "packet/sm_attr.h"

/**
 * struct sm_call - SubnGet() or SubnSet() of an attribute
 * @at: port at which the request has arrived
 * @mod: AttributeModifier
 * @mkey: M_Key of the request
 * @knows_mkey: that is the right one for @at
 * @trusted: the M_Key is not checked
 * @data: the attribute: zero before @get, which fills it; the new value for @set
 */
struct sm_call {
	struct ib_port *at;
	uint32_t mod;
	uint64_t mkey;
	bool knows_mkey;
	bool trusted;
	uint8_t *data;
};

/* Returns MAD_OK or another status. */
typedef uint16_t sm_fn(struct sm_call *call);

/**
 * struct sm_attr - an attribute
 * @get, @set: NULL: the attribute has no such method.  After @set, @get fills the response
 */
struct sm_attr {
	uint16_t id;
	sm_fn *get;
	sm_fn *set;
};

/* Port @num of the node, or NULL.  For an HCA, 0 is the port at which the request has arrived. */
struct ib_port *sm_call_port(const struct sm_call *call, unsigned int num);

/* port_info.c */
sm_fn port_info_get, port_info_set;
/* switch_sma.c */
sm_fn switch_info_get, switch_info_set;
sm_fn linear_fdb_get, linear_fdb_set;
sm_fn mcast_fdb_get, mcast_fdb_set;
/* SLtoVLMappingTable, to be read (NULL: there are no such ports) or written (NULL: no memory) */
const uint8_t *switch_sl2vl(const struct sm_call *call);
uint8_t *switch_sl2vl_room(const struct sm_call *call);

#endif
