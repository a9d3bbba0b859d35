// SPDX-License-Identifier: GPL-2.0
/*
 * Initial inputs of the target "control": each command, rules of each kind, clients of each kind.
 */

#include "capture_end.h"
#include "control/control.h"
#include "control_input.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "scene.h"
#include "target.h"

#define NUM(array) (sizeof(array) / sizeof((array)[0]))

typedef void emit_fn(const char *name, const struct seed *seed);

static struct seed seed;

static void put(const char *text)
{
	seed_put(&seed, text, strlen(text));
}

static void put_event(enum control_event event, uint8_t arg)
{
	const uint8_t bytes[] = {event, arg};

	seed_put(&seed, bytes, 2);
}

/* An event without a number */
static void put_alone(enum control_event event)
{
	const uint8_t byte = event;

	seed_put(&seed, &byte, 1);
}

static void put_many(unsigned int len, uint8_t byte)
{
	put_event(CONTROL_MANY, len / CONTROL_MANY_LEN);
	seed_put(&seed, &byte, 1);
}

static void put_traffic(uint8_t kind, uint8_t opcode)
{
	put_event(CONTROL_TRAFFIC, kind);
	seed_put(&seed, &opcode, 1);
}

/* A request, with arguments in JSON or none; and its reply. */
static void put_cmd(const char *name, const char *args)
{
	put("{\"cmd\":\"");
	put(name);
	put("\"");
	if (args) {
		put(",\"args\":");
		put(args);
	}
	put("}\n");
	put_alone(CONTROL_PAUSE);
}

static void put_rule(const char *rule)
{
	put("{\"cmd\":\"fault-add\",\"args\":{\"rule\":\"");
	put(rule);
	put("\"}}\n");
	put_alone(CONTROL_PAUSE);
}

static void emit_as(emit_fn *emit, const char *name)
{
	emit(name, &seed);
	seed.len = 0;
}

static void shows(emit_fn *emit)
{
	static const char *const objects[] = {"show-ports", "show-qps", "show-counters",
					      "show-totals", "show-latency"};
	unsigned int i;

	put_cmd("help", NULL);
	put_cmd("version", "{}");
	put_cmd("show-hcas", NULL);
	put_cmd("show-uplinks", NULL);
	emit_as(emit, "shows");
	put_cmd("show-log", NULL);
	put_cmd("show-log", "{\"since\":2}");
	put_cmd("metrics", NULL);
	put_cmd("metrics", "{\"from\":\"16\"}");
	put_cmd("metrics", "{\"from\":\"4294967295\"}");
	put_cmd("latency", "{\"hca\":\"hca0\",\"on\":true}");
	put_traffic(SCENE_RC, OHCA_OP_RDMA_WRITE);
	put_cmd("show-latency", NULL);
	put_cmd("metrics", "{\"from\":\"8\"}");
	put_cmd("latency", "{\"hca\":\"hca0\",\"on\":\"off\"}");
	put_traffic(SCENE_RC, OHCA_OP_RDMA_WRITE);
	put_cmd("capture-start", "{\"file\":\"-\"}");
	emit_as(emit, "watch");
	for (i = 0; i < NUM(objects); i++) {
		put_cmd(objects[i], NULL);
		put_cmd(objects[i], "{\"hca\":\"hca0\"}");
		put_cmd(objects[i], "{\"hca\":\"hca1\",\"from\":\"0:0\"}");
		put_cmd(objects[i], "{\"from\":\"0:16\"}");
		put_cmd(objects[i], "{\"from\":\"1:4294967295\",\"hca\":\"hca1\"}");
		put_cmd(objects[i], "{\"from\":\"2:\"}");
		emit_as(emit, objects[i]);
	}
}

static void link_(emit_fn *emit)
{
	put_cmd("link", "{\"hca\":\"hca0\",\"state\":\"down\"}");
	put_cmd("show-ports", NULL);
	put_traffic(SCENE_RC, OHCA_OP_RDMA_WRITE);
	put_cmd("link", "{\"hca\":\"hca0\",\"state\":\"up\"}");
	put_cmd("link", "{\"hca\":\"hca9\",\"state\":\"up\"}");
	put_cmd("link", "{\"hca\":\"hca1\",\"state\":\"sideways\"}");
	emit_as(emit, "link");
	put_cmd("port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"ib\"}");
	put_cmd("show-ports", NULL);
	put_cmd("port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"auto\"}");
	put_cmd("port", "{\"hca\":\"hca1\",\"port\":2,\"type\":\"eth\"}");
	emit_as(emit, "port");
	put_cmd("port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"ib\"}");
	emit_as(emit, "port-ib");
	put_cmd("profile", "{\"hca\":\"hca0\",\"profile\":\"minimal-rc\"}");
	put_cmd("profile", "{\"hca\":\"hca1\",\"profile\":\"none\"}");
	put_cmd("show-hcas", NULL);
	emit_as(emit, "profile");
}

/* Each rule alone, with traffic that matches it. */
static void packet_rules(emit_fn *emit)
{
	static const char *const rules[] = {
		"drop,p=1%",
		"delay=2ms,hca=hca0,op=rdma-read-request",
		"reorder=3,op=rc-request+ack,skip=1",
		"duplicate,dir=rx,qp=0x3,count=2",
		"corrupt,op=ud,count=3,seed=18446744073709551615",
		"drop,psn=0xfffff0-15,op=rc-send-first+xrc-write+atomic",
		"drop,p=0.25,op=send-only-with-immediate,dir=tx",
		"drop,op=rc,dlid=0xc001",
		"reorder=1001",
		"delay=11s",
		"drop,p=1e3,",
		"status=0x1c,class=sm,attr=port-info,method=get-resp,dir=rx",
		"pkey=0x1234,hca=hca0",
		"drop,hca=hca0,hca=hca1",
	};
	char name[32];
	unsigned int i;

	for (i = 0; i < NUM(rules); i++) {
		put_rule(rules[i]);
		put_traffic(SCENE_RC, OHCA_OP_RDMA_WRITE);
		put_traffic(SCENE_RC, OHCA_OP_RDMA_READ);
		put_traffic(SCENE_UD, OHCA_OP_SEND);
		put_cmd("fault-show", NULL);
		put_event(CONTROL_TIME, 12);
		put_cmd("fault-clear", "{\"id\":1}");
		put_cmd("fault-clear", NULL);
		snprintf(name, sizeof(name), "packet-rule-%u", i);
		emit_as(emit, name);
	}
}

static void hca_rules(emit_fn *emit)
{
	static const char *const rules[] = {
		"fail-command=2,hca=hca0,op=query-device,skip=1",
		"fail-command,hca=hca0,op=0x10,count=3",
		"fail-eq=1,hca=hca0,after=1ms,for=2s",
		"fail-cq,hca=hca0,on=completion,type=rc+ud",
		"fail-cq=1,hca=hca0,every=5ms,count=3",
		"fail-hca=2,hca=hca0,on=doorbell,type=gsi+xrc+uc,skip=2",
		"unplug,hca=hca0,for=1s,every=3s,count=2",
		"link-down,hca=hca0,on=command,op=query-port,for=300us,count=20",
		"link-down,hca=hca1",
		"link-error=symbol,hca=hca0,num=20,at=switch",
		"slow-reset=3ms,hca=hca0,skip=1,count=2",
		"cut-output=128,hca=hca0,op=query-device",
		"set-output=0:0x3,hca=hca0,op=query-port,count=2",
		"unplug",
		"unplug,hca=hca0,hca=hca1",
	};
	char name[32];
	unsigned int i;

	for (i = 0; i < NUM(rules); i++) {
		put_rule(rules[i]);
		put_traffic(SCENE_RC, OHCA_OP_RDMA_WRITE);
		put_event(CONTROL_COMMAND, OHCA_CMD_QUERY_DEVICE);
		put_event(CONTROL_COMMAND, OHCA_CMD_QUERY_PORT);
		put_event(CONTROL_TIME, 13);
		put_cmd("fault-show", NULL);
		put_event(CONTROL_TIME, 22);
		put_traffic(SCENE_UD, OHCA_OP_SEND);
		put_cmd("fault-clear", "{\"id\":\"0x1\"}");
		snprintf(name, sizeof(name), "hca-rule-%u", i);
		emit_as(emit, name);
	}
}

static void failures(emit_fn *emit)
{
	unsigned int i;

	put_cmd("fail-command", "{\"hca\":\"hca0\"}");
	put_cmd("fail-command", "{\"hca\":\"hca0\",\"count\":\"2\",\"opcode\":1,\"status\":3}");
	put_cmd("fail-command", "{\"hca\":\"hca0\",\"status\":0}");
	put_event(CONTROL_COMMAND, OHCA_CMD_QUERY_DEVICE);
	put_event(CONTROL_COMMAND, OHCA_CMD_QUERY_PORT);
	put_cmd("fail-show", "{\"hca\":\"hca0\"}");
	put_cmd("fail-clear", "{\"hca\":\"hca0\"}");
	for (i = 0; i < 17; i++)
		put_cmd("fail-command", "{\"hca\":\"hca1\",\"opcode\":65535,\"status\":255}");
	put_cmd("fail-show", "{\"hca\":\"hca1\"}");
	emit_as(emit, "fail-command");
	put_cmd("fail-eq", "{\"hca\":\"hca0\",\"eq\":1,\"overrun\":\"on\"}");
	put_cmd("fail-cq", "{\"hca\":\"hca0\",\"cq\":1}");
	put_traffic(SCENE_RC, OHCA_OP_SEND);
	put_cmd("fail-show", "{\"hca\":\"hca0\"}");
	put_cmd("fail-eq", "{\"hca\":\"hca0\",\"eq\":1,\"overrun\":false}");
	put_cmd("fail-eq", "{\"hca\":\"hca0\",\"eq\":4294967296}");
	emit_as(emit, "fail-queues");
	put_cmd("fail-hca", "{\"hca\":\"hca0\",\"reason\":3}");
	put_cmd("fail-hca", "{\"hca\":\"hca0\"}");
	put_cmd("show-hcas", NULL);
	put_cmd("unplug", "{\"hca\":\"hca0\"}");
	put_cmd("show-qps", NULL);
	put_cmd("plug", "{\"hca\":\"hca0\"}");
	put_cmd("show-hcas", NULL);
	emit_as(emit, "fail-hca");
}

static void captures(emit_fn *emit)
{
	put_cmd("capture-show", NULL);
	put_cmd("capture-start", "{\"file\":\"a.pcapng\",\"snaplen\":128}");
	put_traffic(SCENE_RC, OHCA_OP_RDMA_WRITE);
	put_traffic(SCENE_UD, OHCA_OP_SEND);
	put_traffic(SCENE_ETH, OHCA_OP_SEND);
	put_cmd("capture-start", "{\"file\":\"b.pcapng\"}");
	put_cmd("capture-show", NULL);
	put_event(CONTROL_TIME, 20);
	put_cmd("capture-stop", NULL);
	put_cmd("capture-stop", NULL);
	emit_as(emit, "capture");
	put_cmd("capture-start", "{\"file\":\"" CAPTURE_END_FULL "\",\"limit\":65536}");
	put_traffic(SCENE_RC_SRQ, OHCA_OP_SEND);
	put_event(CONTROL_TIME, 20);
	put_cmd("capture-show", NULL);
	put_cmd("capture-start", "{\"file\":\"/a/b\"}");
	put_cmd("capture-start", "{\"file\":\"\",\"limit\":1}");
	emit_as(emit, "capture-full");
}

static void requests(emit_fn *emit)
{
	static const char *const lines[] = {
		"",
		"{}",
		"[]",
		"{\"id\":-7,\"cmd\":\"version\"} \t\r",
		"{\"id\":\"a/\\u00e4\",\"cmd\":\"frobnicate\"}",
		"{\"id\":[],\"cmd\":\"version\"}",
		"{\"cmd\":\"version\",\"args\":[1]}",
		"{\"cmd\":\"version\",\"color\":\"red\"}",
		"{\"cmd\":\"show-hcas\",\"args\":{\"color\":\"red\"}}",
		"{\"cmd\":\"link\"}",
		"{\"cmd\":\"\\u0000\",\"cmd\":\"fail-hca\"}",
		"{\"cmd\":\"fault-clear\",\"args\":{\"id\":-1}}",
		"{\"cmd\":\"fault-clear\",\"args\":{\"id\":1.5}}",
		"{\"cmd\":\"fault-clear\",\"args\":{\"id\":null}}",
		"{\"id\":18446744073709551616,\"cmd\":{\"a\":[[[[[[[[0]]]]]]]]}}",
		"{\"cmd\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8e\xff\"}",
		"{\"cmd\":\"version\",\"id\":\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\"}",
	};
	unsigned int i;

	for (i = 0; i < NUM(lines); i++) {
		put(lines[i]);
		put("\n");
	}
	put("{\"cmd\":\"");
	for (i = 0; i < 100; i++)
		put("\xe2\x82\xac");
	put("\"}\n");
	emit_as(emit, "requests");
	put("{\"cmd\":");
	put_alone(CONTROL_PAUSE);
	put("\"version\"}\n{\"cmd\":\"ver");
	put_alone(CONTROL_PAUSE);
	put("sion\"");
	put_event(CONTROL_AS_IS, 0);
	put("}\n{\"cmd\":\"help\"}\n\n");
	emit_as(emit, "pieces");
}

/* More clients than the maximum, one of which shuts down its sending side. */
static void clients(emit_fn *emit)
{
	unsigned int i;

	put("{\"cmd\":\"show-qps\"}\n{\"cmd\":\"show-counters\"}\n{\"cmd\":\"help\"}\n{\"cmd\":");
	put_alone(CONTROL_SHUT);
	for (i = 0; i < CONTROL_CLIENTS; i++) {
		put_event(CONTROL_CLIENT, i);
		put("{\"cmd\":\"version\"}\n{\"cmd\":\"help\"}\n");
	}
	put_event(CONTROL_CLIENT, 3);
	put("{\"cmd\":\"help\"}\n{\"cmd\":\"help\"}\n");
	put_alone(CONTROL_HANG_UP);
	emit_as(emit, "clients");
}

static void long_lines(emit_fn *emit)
{
	put("{\"cmd\":\"");
	put_many(CONTROL_MAX_LINE / 2, 'x');
	put("\"}\n{\"cmd\":\"show-hcas\",\"args\":{\"");
	put_many(1024, 'y');
	put("\":0}}\n{\"cmd\":\"");
	put_many(CONTROL_MAX_LINE, 'z');
	put("\"}\n");
	emit_as(emit, "long-lines");
}

/* A client with many replies that does not read them, and reads later. */
static void deaf(emit_fn *emit)
{
	unsigned int i;

	put_alone(CONTROL_DEAF);
	for (i = 0; i < 64; i++)
		put_cmd("help", NULL);
	put_alone(CONTROL_DEAF);
	put_cmd("version", NULL);
	emit_as(emit, "deaf");
	put_alone(CONTROL_DEAF);
	for (i = 0; i < 400; i++)
		put_cmd("help", NULL);
	emit_as(emit, "deafer");
}

void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed))
{
	shows(emit);
	link_(emit);
	packet_rules(emit);
	hca_rules(emit);
	failures(emit);
	captures(emit);
	requests(emit);
	clients(emit);
	long_lines(emit);
	deaf(emit);
}
