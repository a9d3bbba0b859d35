// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: bytes sent by clients of the control socket; see control_input.h.  Each request has
 * to have one reply, which is a JSON object in UTF-8, and no client is disconnected without a
 * reason.
 */

#include <endian.h>
#include <errno.h>
#include <unistd.h>
#include <sys/socket.h>
#include <json-c/json.h>

#include "control/control.h"
#include "control_input.h"
#include "device/profile.h"
#include "net/wire.h"
#include "fabric/fabric.h"
#include "inject/hca_fault.h"
#include "inject/hca_rule.h"
#include "inject/node_rule.h"
#include "inproc.h"
#include "listener_end.h"
#include "inject/pkt_fault.h"
#include "scene.h"
#include "speaker.h"
#include "target.h"
#include "fabric/uplink.h"
#include "world.h"

#define NUM_HCAS 2 /* the second one has no objects */
#define MAX_STEPS 64 /* steps to wait for a reply */
#define TRIES 50 /* attempts to send what the socket does not accept */

static struct server *server;
static struct rig *rig;
static struct scene scene;
static struct hca *hcas[NUM_HCAS];
static struct control_env env;
static struct control *control;
static struct speaker speakers[CONTROL_CLIENTS];
static unsigned int speaking;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "control: %s\n", what);
	abort();
}

static void stop(void)
{
	rig_close(rig);
	server_stop(server);
}

/* Done once: two HCAs on a fabric with an uplink. */
static void start(void)
{
	struct fabric *fabric;
	unsigned int i;

	server = server_start(NUM_HCAS);
	fabric = inproc_fabric(0);
	must(!wire_init(fabric, inproc_hca(0)->loop), "no memory");
	inproc_add_uplink(fabric, "stream=unix:/nowhere");
	rig = rig_open(server);
	for (i = 0; i < NUM_HCAS; i++)
		hcas[i] = inproc_hca(i);
	env = (struct control_env){hcas[0]->loop, fabric, hcas, NUM_HCAS};
	atexit(stop);
}

static void step(void)
{
	unsigned int i;

	inproc_step();
	for (i = 0; i < CONTROL_CLIENTS; i++)
		speaker_listen(&speakers[i]);
	scene_drain(&scene);
}

static void connect_client(struct speaker *speaker)
{
	unsigned int i, others = 0;
	int pair[2], err;

	for (i = 0; i < CONTROL_CLIENTS; i++)
		others += speakers[i].fd >= 0;
	err = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
	must(!err, "no socketpair");
	speaker_begin(speaker, pair[0], others >= CONTROL_MAX_CLIENTS);
	listener_end_accept(pair[1]);
}

/* Send all pending bytes before the next event. */
static void flush(struct speaker *speaker)
{
	unsigned int tries = 0;

	while (speaker_flush(speaker) && tries++ < TRIES)
		step();
	speaker->said_len = 0;
}

static void say(struct speaker *speaker, uint8_t byte)
{
	if (speaker->said_len == SPEAKER_ROOM)
		flush(speaker);
	speaker->said[speaker->said_len++] = byte;
}

static void command(uint8_t opcode)
{
	struct drv *drv = scene.hca->drv;
	struct ohca_cmd cmd = {.opcode = htole16(opcode), .tag = htole16(drv->pi)};

	drv_post(drv, &cmd);
	if (drv->shadow)
		drv_kick(drv);
}

static void happen(struct input *in, uint8_t event)
{
	struct speaker *speaker = &speakers[speaking];
	uint8_t arg[2];
	unsigned int i;

	flush(speaker);
	switch (event) {
	case CONTROL_CLIENT:
		input_get(in, arg, 1);
		speaking = *arg % CONTROL_CLIENTS;
		if (speakers[speaking].fd < 0)
			connect_client(&speakers[speaking]);
		break;
	case CONTROL_DEAF:
		speaker->deaf = !speaker->deaf;
		speaker->was_deaf = true;
		break;
	case CONTROL_SHUT:
		speaker_shut(speaker);
		break;
	case CONTROL_HANG_UP:
		speaker_end(speaker);
		break;
	case CONTROL_MANY:
		input_get(in, arg, 2);
		for (i = 0; i < *arg * (unsigned int)CONTROL_MANY_LEN; i++)
			say(speaker, arg[1]);
		break;
	case CONTROL_TRAFFIC:
		input_get(in, arg, 2);
		scene_send(&scene, arg[0] % SCENE_NUM_QPS, arg[1], arg[0] * 32);
		break;
	case CONTROL_COMMAND:
		input_get(in, arg, 1);
		command(*arg);
		break;
	case CONTROL_TIME:
		input_get(in, arg, 1);
		world_sleep(1000ULL << (*arg % 40));
		break;
	}
	step();
}

/* The device's state at the beginning of each input */
static void begin(void)
{
	unsigned int i;

	world_begin();
	for (i = 0; i < NUM_HCAS; i++)
		inproc_set_bus_master(hcas[i], true);
	inproc_renew(rig);
	scene_new(&scene, &rig->hca[0], 0);
	control = control_new(env.loop, "control", &(struct unix_access){0}, &env);
	must(control, "no control socket");
	for (i = 0; i < CONTROL_CLIENTS; i++)
		speakers[i].fd = -1;
	speaking = 0;
	connect_client(&speakers[0]);
}

/* What requests have set, also for the time after the next reset */
static void restore(struct hca *hca)
{
	hca_fault_clear(hca);
	port_plug(hca->ports[0], true);
	memcpy(hca->next_links, hca->made_links, sizeof(hca->next_links));
	hca->next_profile = hca_profile_all;
}

/* All requests are answered, and no client is left. */
static void end(void)
{
	unsigned int i, left;

	for (i = 0; i < CONTROL_CLIENTS; i++) {
		size_t had = speakers[i].replies;

		for (left = MAX_STEPS; left && speaker_waits(&speakers[i]); left--) {
			step();
			if (speakers[i].replies != had)
				left = MAX_STEPS;
			had = speakers[i].replies;
		}
		must(left, "a reply is missing");
	}
	control_free(control);
	for (i = 0; i < CONTROL_CLIENTS; i++)
		speaker_end(&speakers[i]);
	captures_fini(&env.fabric->captures);
	hca_rule_clear(env.fabric, 0);
	node_rule_clear(env.fabric, 0);
	pkt_fault_fini(env.fabric);
	for (i = 0; i < NUM_HCAS; i++)
		restore(hcas[i]);
}

/* The lowest free descriptor: it is another one than before if a descriptor was left open. */
static int lowest_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t byte;
	int lowest;

	if (!rig)
		start();
	lowest = lowest_fd();
	begin();
	while (input_get(&in, &byte, 1)) {
		if (byte == CONTROL_AS_IS)
			input_get(&in, &byte, 1);
		else if (byte < CONTROL_EVENTS && byte != CONTROL_TAB && byte != CONTROL_NEWLINE) {
			happen(&in, byte);
			continue;
		}
		say(&speakers[speaking], byte);
	}
	flush(&speakers[speaking]);
	end();
	must(lowest_fd() == lowest, "descriptors are left");
	return 0;
}
