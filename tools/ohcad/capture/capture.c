// SPDX-License-Identifier: GPL-2.0
/*
 * Capture.  It ends by itself when the file is at its limit or takes no more: from then on nothing is
 * recorded, and a timer does the rest, as who records goes on using it.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/utsname.h>

#include "capture/capture.h"
#include "capture/capture_file.h"
#include "eth/eth.h"
#include "fabric/fabric.h"
#include "base/log.h"
#include "base/loop.h"
#include "ohca/ohca_regs.h"
#include "qp/qp.h"
#include "packet/roce.h"
#include "fabric/uplink.h"
#include "net/wire.h"

/* How old what is not in the file yet may become. */
#define FLUSH_NS 100000000ULL

/**
 * struct capture - a capture
 * @file: NULL: it has ended
 * @timer: writes what there is, or ends the capture
 * @waiting: @timer is armed
 * @serial: no other one has it
 * @num_ifs: interfaces that it knows
 */
struct capture {
	struct loop *loop;
	struct fabric *fabric;
	struct capture_file *file;
	struct capture_options opts;
	struct capture_status status;
	struct timer timer;
	bool waiting;
	uint64_t serial;
	uint32_t num_ifs;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void set_timer(struct capture *c, uint64_t ns)
{
	c->waiting = true;
	loop_timer_arm(c->loop, &c->timer, loop_now(c->loop) + ns);
}

/* Nothing is recorded any more. */
static void end(struct capture *c, enum capture_state state)
{
	c->status.state = state;
	set_timer(c, 0);
}

/* Room for a block; NULL if there is none. */
static uint8_t *reserve(struct capture *c, size_t len)
{
	uint8_t *block = capture_file_reserve(c->file, len);

	if (!block && capture_file_error(c->file))
		end(c, CAPTURE_FAILED);
	return block;
}

static void commit(struct capture *c, size_t len)
{
	capture_file_commit(c->file, len);
	c->status.bytes += len;
	if (!c->waiting)
		set_timer(c, FLUSH_NS);
}

/* The interface has a number in this capture. */
static bool know(struct capture *c, struct capture_if *at)
{
	uint8_t *block;

	if (at->serial == c->serial)
		return true;
	block = reserve(c, PCAPNG_MAX_BLOCK);
	if (!block)
		return false;
	commit(c, pcapng_interface(block, at->name, at->mac, c->opts.snaplen));
	at->serial = c->serial;
	at->index = c->num_ifs++;
	at->seen = 0;
	at->dropped = 0;
	at->gap = 0;
	return true;
}

static void drop(struct capture *c, struct capture_if *at, uint32_t num)
{
	at->seen += num;
	at->dropped += num;
	at->gap += num;
	c->status.dropped += num;
}

/* Is it to be recorded that packets pass @at? */
static bool records(struct capture *c, struct capture_if *at)
{
	return c->status.state == CAPTURE_RUNNING && know(c, at);
}

/* Where a packet of @max bytes at most goes; NULL if there is no room. */
static uint8_t *begin_packet(struct capture *c, uint32_t max)
{
	uint8_t *block = reserve(c, PCAPNG_PACKET_HEAD + max + PCAPNG_PACKET_TAIL);

	return block ? block + PCAPNG_PACKET_HEAD : NULL;
}

/* The packet of @len bytes is there, or as much of it as is recorded. */
static void end_packet(struct capture *c, struct capture_if *at, enum pcapng_dir dir, uint8_t *data,
		       uint32_t len)
{
	uint32_t snaplen = c->opts.snaplen ? c->opts.snaplen : len;
	const struct pcapng_packet packet = {
		.iface = at->index,
		.time = now(),
		.caplen = len < snaplen ? len : snaplen,
		.len = len,
		.dir = dir,
		.dropped = at->gap,
	};
	size_t size = pcapng_packet(data - PCAPNG_PACKET_HEAD, &packet);
	uint64_t rest = c->num_ifs * (uint64_t)PCAPNG_STATISTICS_LEN;

	if (c->opts.limit && c->status.bytes + size + rest > c->opts.limit) {
		drop(c, at, 1);
		end(c, CAPTURE_FULL);
		return;
	}
	commit(c, size);
	at->seen++;
	at->gap = 0;
	c->status.packets++;
}

void capture_record_frame(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			  const struct iovec *iov, unsigned int num, uint32_t len)
{
	uint32_t caplen = c->opts.snaplen && c->opts.snaplen < len ? c->opts.snaplen : len;
	uint8_t *data;

	if (!records(c, at))
		return;
	data = begin_packet(c, caplen);
	if (!data) {
		drop(c, at, 1);
		return;
	}
	iov_peek(iov, num, data, caplen);
	end_packet(c, at, dir, data, len);
}

/* All packets of a train. */
static void record(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
		   const struct roce_path *path, const struct pkt *train, uint8_t mtu_shift)
{
	struct iov_pos payload = {.iov = train->iov};
	uint32_t i, num = pkt_num_parts(train);

	for (i = 0; i < num && c->status.state == CAPTURE_RUNNING; i++) {
		struct pkt part = pkt_part(train, i, mtu_shift);
		uint8_t *data = begin_packet(c, ROCE_MAX_FRAME);

		if (!data) {
			drop(c, at, num - i);
			return;
		}
		end_packet(c, at, dir, data, roce_encode(data, path, &part, &payload));
	}
}

void capture_record_train(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			  const struct qp *src, const struct pkt *pkt)
{
	struct roce_path path;

	if (!src->hca->port->active || !records(c, at))
		return;
	if (wire_path(src, &path) && roce_atomic_is_plain(pkt))
		record(c, at, dir, &path, pkt, src->mtu_shift);
	else
		drop(c, at, 1);
}

void capture_record_datagram(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			     const struct qp *src, const struct datagram *dg)
{
	struct roce_path path;
	struct pkt pkt;

	if (!src->hca->port->active || !records(c, at))
		return;
	pkt = wire_datagram(src, dg, &path);
	record(c, at, dir, &path, &pkt, src->mtu_shift);
}

void capture_count_dropped(struct capture *c, struct capture_if *at)
{
	if (records(c, at))
		drop(c, at, 1);
}

/* Call @fn for each interface of the fabric. */
static void for_each_if(struct capture *c, void (*fn)(struct capture *c, struct capture_if *at))
{
	struct fabric *fabric = c->fabric;
	struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next)
		fn(c, &list_entry(node, struct port, link)->capture);
	if (!fabric->uplinks)
		return;
	for (node = fabric->uplinks->list.next; node != &fabric->uplinks->list; node = node->next)
		fn(c, &list_entry(node, struct uplink, link)->capture);
}

static void introduce(struct capture *c, struct capture_if *at)
{
	know(c, at);
}

static void put_statistics(struct capture *c, struct capture_if *at)
{
	uint8_t *block = at->serial == c->serial ? reserve(c, PCAPNG_MAX_BLOCK) : NULL;

	if (block)
		commit(c, pcapng_statistics(block, at->index, now(), at->seen, at->dropped));
}

static void log_end(const struct capture *c)
{
	const struct capture_status *status = &c->status;

	if (status->state == CAPTURE_FAILED)
		log_error(c->opts.path, "capture ended: %s; %llu packets, %llu dropped",
			  strerror(status->error), (unsigned long long)status->packets,
			  (unsigned long long)status->dropped);
	else
		log_info(c->opts.path, "capture ended%s: %llu packets, %llu dropped, %llu bytes",
			 status->state == CAPTURE_FULL ? " at its limit" : "",
			 (unsigned long long)status->packets, (unsigned long long)status->dropped,
			 (unsigned long long)status->bytes);
}

/* It becomes the last one that ran. */
static void finish(struct capture *c)
{
	int err;

	for_each_if(c, put_statistics);
	loop_timer_cancel(c->loop, &c->timer);
	err = capture_file_free(c->file);
	c->file = NULL;
	if (err) {
		c->status.state = CAPTURE_FAILED;
		c->status.error = -err;
	}
	c->fabric->capture = NULL;
	log_end(c);
}

static void on_timer(struct timer *timer)
{
	struct capture *c = list_entry(timer, struct capture, timer);

	c->waiting = false;
	if (c->status.state == CAPTURE_RUNNING && capture_file_error(c->file))
		c->status.state = CAPTURE_FAILED;
	if (c->status.state != CAPTURE_RUNNING)
		finish(c);
	else if (capture_file_flush(c->file))
		set_timer(c, FLUSH_NS);
}

static void capture_free(struct capture *c)
{
	if (!c)
		return;
	capture_options_free(&c->opts);
	free(c);
}

/* What the file begins with. */
static void put_head(struct capture *c)
{
	char hardware[64], os[256];
	struct utsname name;

	snprintf(hardware, sizeof(hardware), "OHCA, hardware interface %u.%u", OHCA_VERSION_MAJOR,
		 OHCA_VERSION_MINOR);
	uname(&name);
	snprintf(os, sizeof(os), "%s %s", name.sysname, name.release);
	commit(c, pcapng_section(reserve(c, PCAPNG_MAX_BLOCK), hardware, os, "ohcad"));
	for_each_if(c, introduce);
}

int capture_start(struct fabric *fabric, struct loop *loop, const struct capture_options *opts)
{
	static uint64_t serial;
	struct capture *c;
	int err;

	if (fabric->capture && fabric->capture->status.state == CAPTURE_RUNNING)
		return -EBUSY;
	if (fabric->capture)
		finish(fabric->capture);
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->opts = *opts;
	c->opts.path = strdup(opts->path);
	c->file = c->opts.path ? capture_file_new(c->opts.path) : NULL;
	if (!c->file) {
		err = -errno;
		capture_free(c);
		return err;
	}
	c->loop = loop;
	c->fabric = fabric;
	c->timer.fn = on_timer;
	c->status.opts = &c->opts;
	c->serial = ++serial;
	put_head(c);
	capture_free(fabric->captured);
	fabric->capture = c;
	fabric->captured = c;
	return 0;
}

int capture_stop(struct fabric *fabric)
{
	struct capture *c = fabric->capture;

	if (!c)
		return -ENOENT;
	if (c->status.state == CAPTURE_RUNNING)
		c->status.state = CAPTURE_STOPPED;
	finish(c);
	return 0;
}

bool capture_show(const struct fabric *fabric, struct capture_status *status)
{
	if (!fabric->captured)
		return false;
	*status = fabric->captured->status;
	return true;
}

void capture_fini(struct fabric *fabric)
{
	capture_stop(fabric);
	capture_free(fabric->captured);
	fabric->captured = NULL;
}
