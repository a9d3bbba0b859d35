/* SPDX-License-Identifier: GPL-2.0 */
/* The command line. */

#ifndef OHCAD_OPTIONS_H
#define OHCAD_OPTIONS_H

#include <stdint.h>

#include "base/unix_listen.h"
#include "capture/capture.h"
#include "hca/adapter.h"
#include "inject/hca_rule.h"
#include "inject/node_rule.h"
#include "inject/pkt_rule.h"
#include "fabric/topology.h"
#include "fabric/uplink.h"
#include "sandbox/sandbox.h"

/**
 * struct options - contents of the command line
 * @hcas: in the order given; strings belong to the options
 * @uplinks: @num_uplinks of them, in the order given; their strings belong to the options, too
 * @topology: of the subnet, or NULL
 * @control: path of the control socket, or NULL; owned
 * @control_access: who may connect there
 * @metrics: path of the socket for metrics, or NULL; owned
 * @metrics_access: who may connect there
 * @faults: rules for packets, @num_faults of them; an entry is NULL when the caller has taken the
 *	rule
 * @hca_faults: the same for adapters
 * @node_faults: the same for InfiniBand nodes
 * @capture: its path is NULL if there is no capture
 * @capture_dir: where captures may be that begin on command; NULL: where the control socket is
 * @hang_ns: a device whose loop does nothing for so long hangs; 0: nobody looks
 * @restart: a device that dies, or hangs, is started again
 * @sandbox: what the process may do
 * @spin_ns: how long to poll after the last work
 */
struct options {
	struct hca_options *hcas;
	unsigned int num_hcas;
	struct uplink_options *uplinks;
	unsigned int num_uplinks;
	struct topology *topology;
	char *control;
	struct unix_access control_access;
	char *metrics;
	struct unix_access metrics_access;
	struct pkt_rule **faults;
	unsigned int num_faults;
	struct hca_rule **hca_faults;
	unsigned int num_hca_faults;
	struct node_rule **node_faults;
	unsigned int num_node_faults;
	struct capture_options capture;
	const char *capture_dir;
	uint64_t hang_ns;
	bool restart;
	struct sandbox sandbox;
	uint64_t spin_ns;
};

enum options_result {
	OPTIONS_RUN,
	OPTIONS_EXIT, /* nothing more to do: help, version, or a check that found no error */
	OPTIONS_BAD, /* an error was printed */
};

/* Sets log_verbose too.  Call options_free() whatever the result is. */
enum options_result options_parse(struct options *opts, int argc, char **argv);
void options_free(struct options *opts);

#endif
