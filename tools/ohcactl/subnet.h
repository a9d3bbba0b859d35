/* SPDX-License-Identifier: GPL-2.0 */
/* An InfiniBand subnet, as the replies of ohcad describe it: nodes and cables. */

#ifndef OHCACTL_SUBNET_H
#define OHCACTL_SUBNET_H

#include <stdbool.h>
#include <stdint.h>
#include <json-c/json.h>

/**
 * struct subnet_node - an HCA or a switch
 * @hca: name of the adapter that it is; NULL: it is none
 * @machine: a machine is connected to that adapter
 * @up: it has power
 * @lid: 0: none
 * @num_cables: of it
 * @level: of a switch: cables to the next HCA; of an HCA 0, and of a switch from which none can be reached
 */
struct subnet_node {
	const char *name;
	const char *hca;
	bool is_switch;
	bool machine;
	bool up;
	unsigned int lid;
	unsigned int num_cables;
	unsigned int level;
};

/**
 * struct subnet_end - one end of a cable
 * @node: NULL: it is outside of this ohcad
 * @errors: that the port has counted
 */
struct subnet_end {
	struct subnet_node *node;
	unsigned int port;
	uint64_t errors;
};

/**
 * struct subnet_cable - a cable
 * @state: PortState: Down, Initialize, Armed, Active
 * @speed, @width: of its link: such as EDR, and a number of lanes; NULL, 0: it has none
 * @bytes: that have passed it in both directions
 */
struct subnet_cable {
	struct subnet_end end[2];
	const char *state;
	const char *speed;
	unsigned int width;
	uint64_t bytes;
};

/**
 * struct subnet - the subnet.  Its strings are those of the replies
 * @most: bytes of the cable that most have passed
 * @is_tree: no cable is between switches of the same level
 */
struct subnet {
	struct subnet_node *nodes;
	unsigned int num_nodes;
	struct subnet_cable *cables;
	unsigned int num_cables;
	uint64_t most;
	bool is_tree;
	struct json_object *replies[3];
};

/*
 * Ask the ohcad at the other end of @fd.  Returns the subnet, which the caller frees, or prints the
 * error and returns NULL.  A subnet has a node at least.
 */
struct subnet *subnet_get(int fd);
void subnet_free(struct subnet *subnet);

#endif
