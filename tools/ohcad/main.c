// SPDX-License-Identifier: GPL-2.0
/* ohcad: host channel adapters behind vfio-user sockets, on one fabric. */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "capture/capture.h"
#include "control/control.h"
#include "control/metrics.h"
#include "fabric/fabric.h"
#include "fabric/ib_subnet.h"
#include "fabric/ib_uplink.h"
#include "hca/adapter.h"
#include "inject/hca_rule.h"
#include "inject/node_rule.h"
#include "net/wire.h"
#include "vfio/keeper.h"
#include "vfio/mem_file.h"
#include "base/cpus.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/loop.h"
#include "fabric/uplink.h"
#include "options.h"
#include "restart.h"
#include "sandbox/sandbox.h"
#include "inject/pkt_fault.h"

/**
 * struct daemon - the process
 * @hcas: @num of them
 * @env: of @control and @metrics
 * @control: NULL: there is no control socket
 * @metrics: NULL: there is no socket for metrics
 */
struct daemon {
	struct loop *loop;
	struct fabric fabric;
	struct hca **hcas;
	unsigned int num;
	int signal_fd;
	struct control_env env;
	struct control *control;
	struct metrics_server *metrics;
};

static bool poll_hcas(void *arg)
{
	struct daemon *d = arg;
	bool work = hcas_poll(d->hcas, d->num);

	if (d->fabric.uplinks)
		work |= uplinks_poll(d->fabric.uplinks);
	return work;
}

/* If one HCA can't sleep, those that sleep already stay asleep; their doorbells wake them. */
static bool sleep_hcas(void *arg)
{
	struct daemon *d = arg;
	unsigned int i;

	for (i = 0; i < d->num; i++) {
		if (!hca_sleep(d->hcas[i]))
			return false;
	}
	return true;
}

static void on_signal(void *arg, uint32_t events)
{
	struct signalfd_siginfo info;
	struct daemon *d = arg;

	(void)events;
	if (read(d->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	log_info(NULL, "%s, exiting", strsignal(info.ssi_signo));
	loop_stop(d->loop);
}

/* SIGTERM and SIGINT end the loop. */
static int init_signals(struct daemon *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signal_fd < 0)
		return -errno;
	return loop_add_fd(d->loop, d->signal_fd, EPOLLIN, on_signal, d);
}

/*
 * Each HCA has a descriptor for every interrupt vector, and may get as many in one message before it
 * closes the old ones.  256: clients of the control socket, the sockets of HCAs, and files.
 */
static unsigned int max_files(const struct options *opts)
{
	return 256 + opts->num_hcas * (2 * HCA_MSIX_VECTORS + 16) + 4 * opts->num_uplinks;
}

static int init_uplinks(struct daemon *d, const struct options *opts)
{
	unsigned int i;
	int err;

	if (!opts->num_uplinks)
		return 0;
	err = wire_init(&d->fabric, d->loop);
	for (i = 0; i < opts->num_uplinks && !err; i++)
		err = uplink_add(d->fabric.uplinks, &opts->uplinks[i]);
	return err;
}

static int init_control(struct daemon *d, const struct options *opts)
{
	d->env = (struct control_env){d->loop, &d->fabric, d->hcas, d->num};
	if (opts->control) {
		d->control = control_new(d->loop, opts->control, &opts->control_access, &d->env);
		if (!d->control)
			return -errno;
	}
	if (!opts->metrics)
		return 0;
	d->metrics = metrics_server_new(d->loop, opts->metrics, &opts->metrics_access, &d->env);
	return d->metrics ? 0 : -errno;
}

static int init_capture(struct daemon *d, const struct options *opts)
{
	int err;

	if (!opts->capture.path)
		return 0;
	err = capture_start(&d->fabric.captures, d->loop, &opts->capture);
	if (err)
		log_error(opts->capture.path, "can't capture there: %s", strerror(-err));
	return err;
}

static int init_faults(struct daemon *d, struct options *opts)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < opts->num_faults && !err; i++) {
		err = pkt_fault_add(&d->fabric, d->loop, opts->faults[i]);
		if (!err)
			opts->faults[i] = NULL;
	}
	for (i = 0; i < opts->num_hca_faults && !err; i++) {
		err = hca_rule_add(&d->fabric, opts->hca_faults[i]);
		if (!err)
			opts->hca_faults[i] = NULL;
	}
	for (i = 0; i < opts->num_node_faults && !err; i++) {
		err = node_rule_add(&d->fabric, d->loop, opts->node_faults[i]);
		if (err == -ENOENT)
			log_error("--fault", "%s: there is no such node, or no cable at its port",
				  opts->node_faults[i]->text);
		if (!err)
			opts->node_faults[i] = NULL;
	}
	return err;
}

static int init(struct daemon *d, struct options *opts)
{
	const struct poller poller = {poll_hcas, sleep_hcas, d};
	unsigned int i;
	int err;

	d->signal_fd = -1;
	d->loop = loop_new();
	if (!d->loop)
		return -errno;
	err = init_signals(d);
	if (err)
		return err;
	fabric_init(&d->fabric);
	err = init_uplinks(d, opts);
	if (err)
		return err;
	if (opts->topology)
		err = ib_subnet_new(&d->fabric, d->loop, opts->topology);
	if (err)
		return err;
	d->hcas = calloc(opts->num_hcas, sizeof(struct hca *));
	if (!d->hcas)
		return -ENOMEM;
	for (i = 0; i < opts->num_hcas; i++) {
		errno = 0;
		d->hcas[i] = hca_new(d->loop, &d->fabric, &opts->hcas[i]);
		if (!d->hcas[i])
			return errno ? -errno : -EINVAL;
		d->num++;
	}
	ib_uplinks_attach(&d->fabric);
	err = init_faults(d, opts);
	if (err)
		return err;
	loop_set_poller(d->loop, &poller, opts->spin_ns);
	err = keeper_watch(d->loop);
	if (err)
		return err;
	err = init_capture(d, opts);
	return err ? err : init_control(d, opts);
}

static void fini(struct daemon *d)
{
	metrics_server_free(d->metrics);
	control_free(d->control);
	captures_fini(&d->fabric.captures);
	node_rule_clear(&d->fabric, 0);
	pkt_fault_fini(&d->fabric);
	while (d->num)
		hca_free(d->hcas[--d->num]);
	free(d->hcas);
	wire_fini(&d->fabric);
	ib_subnet_free(&d->fabric);
	if (d->signal_fd >= 0)
		close(d->signal_fd);
	loop_free(d->loop);
}

/* What is needed when everything is open */
static int uplink_needs(struct sandbox *sandbox, const struct uplink_options *uplink)
{
	const struct uplink_addr *to = &uplink->remote;

	if (uplink->kind == UPLINK_TAP)
		sandbox->tap = true;
	if (uplink->local.len && uplink->local.sa.sa_family == AF_UNIX)
		return sandbox_add_dir_of(sandbox, uplink->local.un.sun_path, SANDBOX_REMOVE);
	if (uplink->kind != UPLINK_STREAM || uplink->listen)
		return 0;
	sandbox->connects = true;
	if (to->sa.sa_family == AF_INET)
		return sandbox_add_port(sandbox,
					ntohs(((const struct sockaddr_in *)&to->sa)->sin_port));
	if (to->sa.sa_family == AF_INET6)
		return sandbox_add_port(sandbox,
					ntohs(((const struct sockaddr_in6 *)&to->sa)->sin6_port));
	return 0;
}

/* What is needed when everything is open: sockets are removed at the end, captures begin on command. */
static int describe_needs(struct options *opts)
{
	struct sandbox *sandbox = &opts->sandbox;
	unsigned int i;
	int err = 0;

	for (i = 0; i < opts->num_hcas && !err; i++)
		err = sandbox_add_dir_of(sandbox, opts->hcas[i].socket, SANDBOX_REMOVE);
	for (i = 0; i < opts->num_uplinks && !err; i++)
		err = uplink_needs(sandbox, &opts->uplinks[i]);
	if (!err && opts->control)
		err = sandbox_add_dir_of(sandbox, opts->control, SANDBOX_REMOVE);
	if (!err && opts->metrics)
		err = sandbox_add_dir_of(sandbox, opts->metrics, SANDBOX_REMOVE);
	if (!err && opts->capture_dir)
		err = sandbox_add_dir(sandbox, opts->capture_dir, SANDBOX_WRITE);
	else if (!err && opts->control)
		err = sandbox_add_dir_of(sandbox, opts->control, SANDBOX_WRITE);
	return err;
}

/* Enter the sandbox, with those files open that are needed again and again. */
static int confine(const struct options *opts)
{
	mem_file_prepare();
	cpus_suffice();
	return sandbox_enter(&opts->sandbox, SANDBOX_DEVICE);
}

static int confine_keeper(void *arg)
{
	int err = sandbox_become(arg, SANDBOX_KEEPER);

	return err ? err : sandbox_enter(arg, SANDBOX_KEEPER);
}

static int start_keeper(struct options *opts)
{
	const struct keeper_options options = {
		.hang_ns = opts->hang_ns,
		.kill = opts->restart,
		.confine = confine_keeper,
		.arg = &opts->sandbox,
	};

	return keeper_start(&options);
}

int main(int argc, char **argv)
{
	struct options opts;
	struct daemon d = {0};
	int err, status;

	heap_init();
	switch (options_parse(&opts, argc, argv)) {
	case OPTIONS_RUN:
		break;
	case OPTIONS_EXIT:
		options_free(&opts);
		return 0;
	case OPTIONS_BAD:
		options_free(&opts);
		return 2;
	}
	err = describe_needs(&opts);
	if (!err)
		err = sandbox_begin(&opts.sandbox, max_files(&opts));
	if (!err && opts.restart && !restart_on_death(&status)) {
		options_free(&opts);
		return status;
	}
	if (!err)
		err = start_keeper(&opts);
	if (!err)
		err = sandbox_become(&opts.sandbox, SANDBOX_DEVICE);
	if (!err)
		err = init(&d, &opts);
	if (!err)
		err = confine(&opts);
	if (err)
		log_error(NULL, "can't start: %s", strerror(-err));
	else
		err = loop_run(d.loop);
	fini(&d);
	options_free(&opts);
	keeper_stop();
	return err ? 1 : 0;
}
