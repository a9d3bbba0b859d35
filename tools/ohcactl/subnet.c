// SPDX-License-Identifier: GPL-2.0
/* An InfiniBand subnet, as the replies of ohcad describe it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "subnet.h"
#include "talk.h"

#define BYTES_OF_DATA 4 /* the unit of PortXmitData */

enum reply {
	NODES,
	CABLES,
	HCAS
};

static bool is_value(const char *string, const char *value)
{
	return string && !strcmp(string, value);
}

/* Is a machine connected to the adapter? */
static bool has_machine(struct json_object *reply, const char *hca)
{
	struct json_object *rows, *row;
	unsigned int num = field_rows(reply, "hcas", &rows), i;

	for (i = 0; hca && i < num; i++) {
		row = json_object_array_get_idx(rows, i);
		if (is_value(field_string(row, "name"), hca))
			return field_bool(row, "connected");
	}
	return false;
}

static void take_nodes(struct subnet *subnet)
{
	struct json_object *rows = NULL, *row;
	unsigned int i;

	subnet->num_nodes = field_rows(subnet->replies[NODES], "nodes", &rows);
	subnet->nodes = calloc(subnet->num_nodes + 1, sizeof(*subnet->nodes));
	for (i = 0; subnet->nodes && i < subnet->num_nodes; i++) {
		struct subnet_node *node = &subnet->nodes[i];

		row = json_object_array_get_idx(rows, i);
		node->name = field_string(row, "node") ?: "";
		node->hca = field_string(row, "hca");
		node->is_switch = is_value(field_string(row, "type"), "switch");
		node->machine = has_machine(subnet->replies[HCAS], node->hca);
		node->up = is_value(field_string(row, "state"), "up");
		node->lid = field_number(row, "lid");
	}
}

static struct subnet_node *find_node(const struct subnet *subnet, const char *name)
{
	unsigned int i;

	for (i = 0; name && i < subnet->num_nodes; i++) {
		if (!strcmp(subnet->nodes[i].name, name))
			return &subnet->nodes[i];
	}
	return NULL;
}

static void take_end(struct subnet *subnet, struct subnet_end *end, struct json_object *row,
		     const char *const fields[3])
{
	/* Of an uplink there is no such field: a node may have the name "uplink". */
	if (json_object_object_get_ex(row, fields[2], NULL))
		end->node = find_node(subnet, field_string(row, fields[0]));
	end->port = field_number(row, fields[1]);
	end->errors = field_number(row, fields[2]);
	if (end->node)
		end->node->num_cables++;
}

static void take_cables(struct subnet *subnet)
{
	static const char *const from[3] = {"node", "port", "errors"}, *const to[3] = {"to",
										       "to_port",
										       "to_errors"};
	struct json_object *rows = NULL, *row;
	unsigned int i;

	subnet->num_cables = field_rows(subnet->replies[CABLES], "cables", &rows);
	subnet->cables = calloc(subnet->num_cables + 1, sizeof(*subnet->cables));
	for (i = 0; subnet->cables && i < subnet->num_cables; i++) {
		struct subnet_cable *cable = &subnet->cables[i];

		row = json_object_array_get_idx(rows, i);
		take_end(subnet, &cable->end[0], row, from);
		take_end(subnet, &cable->end[1], row, to);
		cable->state = field_string(row, "port_state") ?: "";
		cable->speed = field_string(row, "speed");
		cable->width = field_number(row, "width");
		cable->bytes = BYTES_OF_DATA *
			       (field_number(row, "xmit_data") + field_number(row, "rcv_data"));
		if (cable->bytes > subnet->most)
			subnet->most = cable->bytes;
	}
}

/* Give switches without a level the level @level, if a node of the level below is at the other end of a cable. */
static bool find_level(struct subnet *subnet, unsigned int level)
{
	bool found = false;
	unsigned int i, e;

	for (i = 0; i < subnet->num_cables; i++) {
		for (e = 0; e < 2; e++) {
			struct subnet_node *at = subnet->cables[i].end[e].node;
			const struct subnet_node *below = subnet->cables[i].end[!e].node;

			if (!at || !below || !at->is_switch || at->level)
				continue;
			if (below->level != level - 1 || (level == 1 && below->is_switch))
				continue;
			at->level = level;
			found = true;
		}
	}
	return found;
}

static bool is_tree(const struct subnet *subnet)
{
	unsigned int i;

	for (i = 0; i < subnet->num_cables; i++) {
		const struct subnet_node *a = subnet->cables[i].end[0].node,
					 *b = subnet->cables[i].end[1].node;

		if (a && b && a->level == b->level)
			return false;
	}
	return true;
}

struct subnet *subnet_get(int fd)
{
	static const char *const commands[] = {"show-topology", "show-cables", "show-hcas"};
	struct subnet *subnet = calloc(1, sizeof(*subnet));
	unsigned int i, level = 1;

	if (!subnet)
		return NULL;
	for (i = 0; i < 3; i++) {
		subnet->replies[i] = talk_all(fd, commands[i], json_object_new_object());
		if (!subnet->replies[i]) {
			subnet_free(subnet);
			return NULL;
		}
	}
	take_nodes(subnet);
	take_cables(subnet);
	if (!subnet->num_nodes || !subnet->nodes || !subnet->cables) {
		fprintf(stderr, "ohcactl: %s\n",
			subnet->num_nodes ? "no memory" : "there is no InfiniBand node");
		subnet_free(subnet);
		return NULL;
	}
	while (find_level(subnet, level))
		level++;
	subnet->is_tree = is_tree(subnet);
	return subnet;
}

void subnet_free(struct subnet *subnet)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		json_object_put(subnet->replies[i]);
	free(subnet->nodes);
	free(subnet->cables);
	free(subnet);
}
