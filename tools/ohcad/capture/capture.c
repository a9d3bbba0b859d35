// SPDX-License-Identifier: GPL-2.0
/*
 * Capture.  It ends by itself when the file is at its limit, or can't be written.  From then on
 * nothing is recorded, and a timer closes the file later, as the caller still uses the capture.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/utsname.h>

#include "base/iov.h"
#include "base/log.h"
#include "base/loop.h"
#include "capture/capture.h"
#include "capture/capture_file.h"
#include "ohca/ohca_regs.h"

/* How long a packet may wait until it is written to the file. */
#define FLUSH_NS 100000000ULL

/**
 * struct capture - a capture
 * @file: NULL: it has ended
 * @timer: writes what there is, or ends the capture
 * @waiting: @timer is armed
 * @serial: number of this capture, different from all others
 * @num_ifs: interfaces that are in the file
 */
struct capture {
	struct loop *loop;
	struct captures *captures;
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

/* Stop recording. */
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

/* What is before each packet of the interface */
static uint32_t head_len(const struct capture_if *at)
{
	return at->infiniband ? PCAPNG_ERF_LEN : 0;
}

/* Give the interface a number in this capture, if it has none. */
static bool know(struct capture *c, struct capture_if *at)
{
	uint32_t snaplen;
	uint8_t *block;

	if (at->serial == c->serial)
		return true;
	block = reserve(c, PCAPNG_MAX_BLOCK);
	if (!block)
		return false;
	snaplen = c->opts.snaplen ? c->opts.snaplen + head_len(at) : 0;
	commit(c, pcapng_interface(block, at->infiniband ? PCAPNG_ERF : PCAPNG_ETHERNET, at->name,
				   at->mac, snaplen));
	at->serial = c->serial;
	at->index = c->num_ifs++;
	at->seen = 0;
	at->dropped = 0;
	at->gap = 0;
	return true;
}

void capture_drop(struct capture *c, struct capture_if *at, uint32_t num)
{
	at->seen += num;
	at->dropped += num;
	at->gap += num;
	c->status.dropped += num;
}

bool capture_records(struct capture *c, struct capture_if *at)
{
	return c->status.state == CAPTURE_RUNNING && know(c, at);
}

uint8_t *capture_packet_begin(struct capture *c, const struct capture_if *at, uint32_t max)
{
	uint32_t head = PCAPNG_PACKET_HEAD + head_len(at);
	uint8_t *block = reserve(c, head + max + PCAPNG_PACKET_TAIL);

	return block ? block + head : NULL;
}

bool capture_packet_end(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			uint8_t *data, uint32_t len)
{
	uint32_t snaplen = c->opts.snaplen ? c->opts.snaplen : len;
	uint32_t caplen = len < snaplen ? len : snaplen, head = head_len(at);
	const struct pcapng_packet packet = {
		.iface = at->index,
		.time = now(),
		.caplen = head + caplen,
		.len = head + len,
		.dir = dir,
		.link = at->infiniband ? PCAPNG_ERF : PCAPNG_ETHERNET,
		.dropped = at->gap,
	};
	uint64_t rest = c->num_ifs * (uint64_t)PCAPNG_STATISTICS_LEN;
	size_t size;

	if (at->infiniband)
		pcapng_erf(data - head, caplen, len);
	size = pcapng_packet(data - head - PCAPNG_PACKET_HEAD, &packet);

	if (c->opts.limit && c->status.bytes + size + rest > c->opts.limit) {
		capture_drop(c, at, 1);
		end(c, CAPTURE_FULL);
		return false;
	}
	commit(c, size);
	at->seen++;
	at->gap = 0;
	c->status.packets++;
	return true;
}

void capture_record_frame(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			  const struct iovec *iov, unsigned int num, uint32_t len)
{
	uint32_t caplen;
	uint8_t *data;

	if (!capture_records(c, at))
		return;
	/* Only what is no packet can be longer. */
	if (at->infiniband && len > PCAPNG_ERF_MAX)
		len = PCAPNG_ERF_MAX;
	caplen = c->opts.snaplen && c->opts.snaplen < len ? c->opts.snaplen : len;
	data = capture_packet_begin(c, at, caplen);
	if (!data) {
		capture_drop(c, at, 1);
		return;
	}
	iov_peek(iov, num, data, caplen);
	capture_packet_end(c, at, dir, data, len);
}

void capture_count_dropped(struct capture *c, struct capture_if *at)
{
	if (capture_records(c, at))
		capture_drop(c, at, 1);
}

/* Call @fn for each interface. */
static void for_each_if(struct capture *c, void (*fn)(struct capture *c, struct capture_if *at))
{
	struct list *node;

	for (node = c->captures->ifs.next; node != &c->captures->ifs; node = node->next)
		fn(c, list_entry(node, struct capture_if, link));
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

/* It becomes captures->last. */
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
	c->captures->running = NULL;
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

/* Write the beginning of the file. */
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

int capture_start(struct captures *captures, struct loop *loop, const struct capture_options *opts)
{
	bool passed = !strcmp(opts->path, CAPTURE_PASSED);
	static uint64_t serial;
	struct capture *c;
	int err;

	if (captures->running && captures->running->status.state == CAPTURE_RUNNING)
		return -EBUSY;
	if (captures->running)
		finish(captures->running);
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->opts = *opts;
	c->opts.path = strdup(opts->path);
	if (c->opts.path && passed)
		c->file = capture_file_of(opts->fd);
	else if (c->opts.path)
		c->file = capture_file_new(c->opts.path);
	if (!c->file) {
		err = -errno;
		capture_free(c);
		return err;
	}
	c->loop = loop;
	c->captures = captures;
	c->timer.fn = on_timer;
	c->status.opts = &c->opts;
	c->serial = ++serial;
	put_head(c);
	capture_free(captures->last);
	captures->running = c;
	captures->last = c;
	return 0;
}

int capture_stop(struct captures *captures)
{
	struct capture *c = captures->running;

	if (!c)
		return -ENOENT;
	if (c->status.state == CAPTURE_RUNNING)
		c->status.state = CAPTURE_STOPPED;
	finish(c);
	return 0;
}

bool capture_show(const struct captures *captures, struct capture_status *status)
{
	if (!captures->last)
		return false;
	*status = captures->last->status;
	return true;
}

void captures_init(struct captures *captures)
{
	list_init(&captures->ifs);
	captures->running = NULL;
	captures->last = NULL;
}

void captures_fini(struct captures *captures)
{
	capture_stop(captures);
	capture_free(captures->last);
	captures->last = NULL;
}

void capture_if_add(struct captures *captures, struct capture_if *at)
{
	struct list *node = captures->ifs.next;

	while (node != &captures->ifs &&
	       (!at->mac || list_entry(node, struct capture_if, link)->mac))
		node = node->next;
	list_add_tail(node, &at->link);
}

void capture_if_del(struct capture_if *at)
{
	list_del(&at->link);
	at->serial = 0; /* if it comes back, it is another one */
}
