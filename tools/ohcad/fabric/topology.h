/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Topologies of InfiniBand subnets: net files in the format of ibsim, which ibnetdiscover prints too.  Routers, modules, aliases
 * and commands of ibsim's files are not supported.
 */

#ifndef OHCAD_TOPOLOGY_H
#define OHCAD_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/ib_speed.h"
#include "packet/sm_attr.h"

#define TOPOLOGY_MAX_PORTS 254 /* ports of a node */
#define TOPOLOGY_MAX_NODES 40000 /* each has a LID */
#define TOPOLOGY_MAX_WHY 512

/**
 * struct topology_port - a port of a node
 * @node, @port: the other end of its cable: index of the node, and number of its port, 0: there is no cable
 * @speeds: what its link may be
 * @guid: PortGUID, of an HCA
 */
struct topology_port {
	unsigned int node;
	uint8_t port;
	struct ib_speeds speeds;
	uint64_t guid;
};

/**
 * struct topology_node - a node
 * @type: NODE_CA or NODE_SWITCH
 * @bound: HCA: an adapter is bound to it
 * @desc: NodeDescription
 * @vendor, @device: VendorID and DeviceID; 0: the file has none
 * @ports: @num_ports, the first one is port 1
 */
struct topology_node {
	uint8_t type;
	uint8_t num_ports;
	bool bound;
	char *name;
	char desc[NODE_DESC_LEN];
	uint64_t guid, system_guid;
	uint32_t vendor;
	uint16_t device;
	struct topology_port *ports;
};

/**
 * struct topology - nodes, in the order of the file
 */
struct topology {
	struct topology_node *nodes;
	unsigned int num;
};

/* Read a file.  NULL: it can't be read, or is invalid; @why says where, and what was expected. */
struct topology *topology_read(const char *path, char why[TOPOLOGY_MAX_WHY]);
void topology_free(struct topology *topology);

/* The node of this name, or NULL */
struct topology_node *topology_find(const struct topology *topology, const char *name);
/*
 * Can an adapter with these InfiniBand ports (bit n: port n) be bound to the HCA?  The HCA must have all of them, and
 * no cables at other ports.
 */
bool topology_fits(const struct topology_node *node, unsigned int ports);
/* The first unbound HCA with a cable that an adapter with these ports can be bound to; or NULL */
struct topology_node *topology_free_hca(const struct topology *topology, unsigned int ports);

#endif
