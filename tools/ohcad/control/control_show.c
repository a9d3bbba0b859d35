// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket that show something. */

#include <stdio.h>
#include <unistd.h>

#include "control/control_cmd.h"
#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "fabric/ib_uplink.h"
#include "device/hca.h"
#include "device/profile.h"
#include "fabric/uplink.h"
#include "net/wire.h"

int control_version(struct control_call *call)
{
	char interface[16];

	snprintf(interface, sizeof(interface), "%u.%u", OHCA_VERSION_MAJOR, OHCA_VERSION_MINOR);
	control_put_string(call->result, "program", "ohcad");
	control_put_string(call->result, "interface", interface);
	control_put_number(call->result, "pid", getpid());
	return 0;
}

enum hca_state {
	RESET,
	READY,
	FATAL,
	STALLED,
	RESETTING,
};

const char *const control_hca_states[] = {
	[RESET] = "reset",     [READY] = "ready",	  [FATAL] = "fatal",
	[STALLED] = "stalled", [RESETTING] = "resetting", NULL,
};

const char *control_hca_state(const struct hca *hca)
{
	enum hca_state state = READY;

	if (hca_is_resetting(hca))
		state = RESETTING;
	else if (hca->fatal)
		state = FATAL;
	else if (!hca->ready)
		state = RESET;
	else if (hca->stalled)
		state = STALLED;
	return control_hca_states[state];
}

int control_show_hcas(struct control_call *call)
{
	struct json_object *hcas = control_put_array(call->result, "hcas");
	unsigned int i;

	for (i = 0; i < call->env->num_hcas; i++) {
		const struct hca *hca = call->env->hcas[i];
		struct json_object *row = control_put_row(hcas);

		control_put_string(row, "name", hca->name);
		control_put_string(row, "socket", pci_path(hca->fn));
		control_put_bool(row, "connected", pci_connected(hca->fn));
		control_put_string(row, "state", control_hca_state(hca));
		control_put_mac(row, "mac", hca->mac);
		control_put_string(row, "profile", hca->profile->name);
		control_put_number(row, "broken_rules", hca->broken_rules);
		control_put_bool(row, "awake", !list_empty(&hca->active_uars));
		control_put_bool(row, "latency", hca->measures);
	}
	return 0;
}

static void put_wire_stats(struct json_object *obj, const struct wire_stats *stats)
{
	control_put_number(obj, "sent", stats->sent);
	control_put_number(obj, "received", stats->received);
	control_put_number(obj, "malformed", stats->malformed);
	control_put_number(obj, "bad_icrc", stats->bad_icrc);
	control_put_number(obj, "no_qp", stats->no_qp);
	control_put_number(obj, "not_peer", stats->not_peer);
	control_put_number(obj, "from_here", stats->from_here);
	control_put_number(obj, "marked", stats->marked);
	control_put_number(obj, "cnps", stats->cnps);
}

/* Of InfiniBand: the port of the switch that it is a cable of */
static void put_cable(struct json_object *row, const struct uplink *uplink)
{
	const struct ib_port *ib = uplink->ib ? ib_uplink_port(uplink->ib) : NULL;

	control_put_string(row, "link", uplink->ib ? "infiniband" : "ethernet");
	if (!ib)
		return;
	control_put_number(row, "switch_port", ib->num);
	control_put_string(row, "port_state", control_ib_state(ib));
}

int control_show_uplinks(struct control_call *call)
{
	struct json_object *rows = control_put_array(call->result, "uplinks");
	const struct uplinks *uplinks = call->env->fabric->uplinks;
	struct json_object *wire;
	const struct list *node;

	if (!uplinks)
		return 0;
	for (node = uplinks->list.next; node != &uplinks->list; node = node->next) {
		const struct uplink *uplink = list_entry(node, struct uplink, link);
		struct json_object *row = control_put_row(rows);

		control_put_string(row, "name", uplink->opts.name);
		control_put_bool(row, "up", uplink->up);
		put_cable(row, uplink);
		control_put_bool(row, "congested", uplink->congested);
		control_put_number(row, "queued_bytes", uplink->tx_end - uplink->tx_start);
		control_put_number(row, "in", uplink->in);
		control_put_number(row, "out", uplink->out);
		control_put_number(row, "dropped", uplink->dropped);
		control_put_number(row, "from_here", uplink->from_here);
	}
	wire = json_object_new_object();
	json_object_object_add(call->result, "packets", wire);
	put_wire_stats(wire, &call->env->fabric->wire->stats);
	return 0;
}
