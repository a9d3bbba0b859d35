// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket that show something. */

#include <stdio.h>
#include <unistd.h>

#include "control_cmd.h"
#include "hca.h"

int control_version(struct control_call *call)
{
	char interface[16];

	snprintf(interface, sizeof(interface), "%u.%u", OHCA_VERSION_MAJOR, OHCA_VERSION_MINOR);
	control_put_string(call->result, "program", "ohcad");
	control_put_string(call->result, "interface", interface);
	control_put_number(call->result, "pid", getpid());
	return 0;
}

static const char *hca_state(const struct hca *hca)
{
	if (hca->fatal)
		return "fatal";
	if (!hca->ready)
		return "reset";
	return hca->stalled ? "stalled" : "ready";
}

static void put_mac(struct json_object *obj, const char *name, const uint8_t mac[6])
{
	char text[18];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	control_put_string(obj, name, text);
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
		control_put_string(row, "state", hca_state(hca));
		put_mac(row, "mac", hca->port.perm_mac);
		control_put_bool(row, "awake", !list_empty(&hca->active_uars));
	}
	return 0;
}
