// SPDX-License-Identifier: GPL-2.0
/*
 * Uplinks: choosing the uplink for a frame, and the queue before its socket.
 *
 * Frames are copied into the queue and written at the end of the round, or when there are many.
 * When a socket accepts no more data, the queue grows.  When it is long, the QPs that send through
 * uplinks wait, but not for ever: if the other side does not read, frames without room are lost.
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/ib_uplink.h"
#include "fabric/port.h"
#include "fabric/uplink_io.h"
#include "packet/eth_hdr.h"

#define TX_SIZE (1U << 20)
#define TX_BATCH (64U << 10) /* written without waiting for the end of the round */
#define TX_HIGH (512U << 10)
#define TX_LOW (128U << 10)

#define STALL_NS 25000000ULL
#define FDB_AGE_NS 300000000000ULL

static struct fdb_entry *fdb_slot(struct uplinks *all, const uint8_t mac[6])
{
	uint64_t word = 0;

	memcpy(&word, mac, 6);
	return &all->fdb[(word * 0x9e3779b97f4a7c15ULL) >> (64 - UPLINKS_LOG_FDB)];
}

static void fdb_learn(struct uplink *uplink, const uint8_t mac[6])
{
	struct fdb_entry *entry = fdb_slot(uplink->all, mac);

	memcpy(entry->mac, mac, 6);
	entry->uplink = uplink;
	entry->time = loop_now(uplink->all->loop);
}

/* Returns NULL if the address is not known. */
static struct uplink *fdb_find(struct uplinks *all, const uint8_t mac[6])
{
	const struct fdb_entry *entry = fdb_slot(all, mac);

	if (!entry->uplink || memcmp(entry->mac, mac, 6) ||
	    loop_now(all->loop) - entry->time > FDB_AGE_NS)
		return NULL;
	return entry->uplink;
}

bool uplinks_know(const struct uplinks *all, const uint8_t mac[6])
{
	return fdb_find((struct uplinks *)all, mac);
}

static void fdb_forget(struct uplink *uplink)
{
	struct fdb_entry *fdb = uplink->all->fdb;
	unsigned int i;

	for (i = 0; i < 1U << UPLINKS_LOG_FDB; i++) {
		if (fdb[i].uplink == uplink)
			fdb[i].uplink = NULL;
	}
}

static void congestion_start(struct uplink *uplink)
{
	struct loop *loop = uplink->all->loop;

	uplink->congested = true;
	uplink->warned = false;
	uplink->all->congested++;
	loop_timer_arm(loop, &uplink->stall, loop_now(loop) + STALL_NS);
}

/* Resume all waiting senders. */
static void congestion_end(struct uplink *uplink)
{
	struct uplinks *all = uplink->all;

	if (!uplink->congested)
		return;
	uplink->congested = false;
	loop_timer_cancel(all->loop, &uplink->stall);
	if (--all->congested)
		return;
	all->ops->relieved(all->fabric);
	while (!list_empty(&all->parked)) {
		struct list *node = all->parked.next;

		list_del(node);
		all->resume(node);
	}
}

bool uplinks_park(struct uplinks *all, struct list *node, void (*resume)(struct list *node))
{
	if (!all->congested)
		return false;
	all->resume = resume;
	list_del(node);
	list_add_tail(&all->parked, node);
	return true;
}

/* After two periods, because this process itself may have been stopped for the first one. */
static void on_stall(struct timer *timer)
{
	struct uplink *uplink = list_entry(timer, struct uplink, stall);
	struct loop *loop = uplink->all->loop;

	if (!uplink->warned) {
		uplink->warned = true;
		loop_timer_arm(loop, timer, loop_now(loop) + STALL_NS);
		return;
	}
	log_debug(uplink->opts.name, "send queue is full: frames are dropped");
	uplink->stalled = true;
	congestion_end(uplink);
}

void uplink_progress(struct uplink *uplink)
{
	struct loop *loop = uplink->all->loop;

	if (uplink_queued(uplink) <= TX_LOW) {
		uplink->stalled = false;
		congestion_end(uplink);
	} else if (uplink->congested) {
		uplink->warned = false;
		loop_timer_arm(loop, &uplink->stall, loop_now(loop) + STALL_NS);
	}
}

void uplink_connected(struct uplink *uplink)
{
	uplink->up = true;
	if (uplink->opts.layer)
		uplink->opts.layer->connected(uplink);
}

void uplink_refuse(struct uplink *uplink, const char *why)
{
	uplink->dropped++;
	if (!uplink->refused)
		log_error(uplink->opts.name, "the other side is refused: %s", why);
	uplink->refused = true;
	if (uplink->opts.io->refuse)
		uplink->opts.io->refuse(uplink);
}

void uplink_down(struct uplink *uplink)
{
	uplink->up = false;
	if (uplink->opts.layer)
		uplink->opts.layer->disconnected(uplink);
	uplink->blocked = false;
	uplink->stalled = false;
	uplink->tx_start = 0;
	uplink->tx_end = 0;
	uplink->rx_start = 0;
	uplink->rx_end = 0;
	uplink->more = false;
	fdb_forget(uplink);
	congestion_end(uplink);
}

/* Whether there is room for @len bytes more */
static bool make_room(struct uplink *uplink, size_t len)
{
	if (TX_SIZE - uplink->tx_end >= len)
		return true;
	memmove(uplink->tx, uplink->tx + uplink->tx_start, uplink_queued(uplink));
	uplink->tx_end -= uplink->tx_start;
	uplink->tx_start = 0;
	return TX_SIZE - uplink->tx_end >= len;
}

bool uplink_queue(struct uplink *uplink, const struct iovec *iov, unsigned int num, uint32_t len)
{
	uint32_t be = htobe32(len);
	unsigned int i;
	uint8_t *at;

	if (!uplink->up || !make_room(uplink, UPLINK_LEN_SIZE + len))
		return false;
	at = uplink->tx + uplink->tx_end;
	memcpy(at, &be, UPLINK_LEN_SIZE);
	at += UPLINK_LEN_SIZE;
	for (i = 0; i < num; i++) {
		memcpy(at, iov[i].iov_base, iov[i].iov_len);
		at += iov[i].iov_len;
	}
	uplink->tx_end = at - uplink->tx;
	if (!uplink->blocked && uplink_queued(uplink) >= TX_BATCH)
		uplink_write(uplink);
	if (uplink_queued(uplink) > TX_HIGH && !uplink->congested && !uplink->stalled)
		congestion_start(uplink);
	return true;
}

void uplink_sent(struct uplink *uplink, const struct iovec *iov, unsigned int num, uint32_t len)
{
	uplink->out++;
	capture_frame(uplink->all->captures->running, &uplink->capture, PCAPNG_OUT, iov, num, len);
}

void uplink_send(struct uplink *uplink, const struct iovec *iov, unsigned int num, uint32_t len)
{
	if (uplink_queue(uplink, iov, num, len))
		uplink_sent(uplink, iov, num, len);
	else
		uplink->dropped++;
}

void uplinks_send(struct uplinks *all, const uint8_t dmac[6], const struct iovec *iov,
		  unsigned int num, uint32_t len)
{
	struct uplink *only = dmac[0] & 1 ? NULL : fdb_find(all, dmac);
	struct list *node;

	if (only) {
		uplink_send(only, iov, num, len);
		return;
	}
	for (node = all->list.next; node != &all->list; node = node->next) {
		struct uplink *uplink = list_entry(node, struct uplink, link);

		if (!uplink->opts.layer)
			uplink_send(uplink, iov, num, len);
	}
}

bool uplinks_poll(struct uplinks *all)
{
	struct list *node;
	bool work = false;

	for (node = all->list.next; node != &all->list; node = node->next) {
		struct uplink *uplink = list_entry(node, struct uplink, link);

		if (uplink->more) {
			uplink->opts.io->take(uplink);
			work = true;
		}
	}
	for (node = all->list.next; node != &all->list; node = node->next) {
		struct uplink *uplink = list_entry(node, struct uplink, link);

		if (uplink_queued(uplink) && !uplink->blocked)
			uplink_write(uplink);
	}
	return work;
}

void uplink_receive(struct uplink *uplink, const uint8_t *frame, size_t len)
{
	struct uplinks *all = uplink->all;
	struct capture *capture = all->captures->running;
	const struct iovec iov = {.iov_base = (void *)frame, .iov_len = len};

	if (uplink->opts.layer) {
		uplink->opts.layer->receive(uplink, frame, len);
		return;
	}
	if (ib_uplink_is_hello(frame, len)) {
		uplink_refuse(uplink, "it is InfiniBand, not Ethernet");
		return;
	}
	uplink->refused = false;
	if (len > PORT_MAX_FRAME || len < ETH_HDR_LEN) {
		uplink->dropped++;
		capture_dropped(capture, &uplink->capture);
		return;
	}
	capture_frame(capture, &uplink->capture, PCAPNG_IN, &iov, 1, len);
	/* A frame of this process that the other side has sent back */
	if (all->ops->is_local(all->fabric, frame + 6)) {
		uplink->dropped++;
		uplink->from_here++;
		return;
	}
	uplink->in++;
	if (!(frame[6] & 1))
		fdb_learn(uplink, frame + 6);
	all->ops->receive(all->fabric, frame, len);
}

struct uplinks *uplinks_new(struct fabric *fabric, const struct uplinks_ops *ops, struct loop *loop,
			    struct captures *captures)
{
	struct uplinks *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->loop = loop;
	all->fabric = fabric;
	all->ops = ops;
	all->captures = captures;
	list_init(&all->list);
	list_init(&all->parked);
	return all;
}

void uplink_write(struct uplink *uplink)
{
	uplink->opts.io->write(uplink);
	if (!uplink_queued(uplink)) {
		uplink->tx_start = 0;
		uplink->tx_end = 0;
	}
	if (uplink->opts.layer)
		uplink->opts.layer->wrote(uplink);
}

void uplink_close_fd(struct uplink *uplink)
{
	if (uplink->fd < 0)
		return;
	loop_del_fd(uplink->all->loop, uplink->fd);
	close(uplink->fd);
	uplink->fd = -1;
}

static void uplink_free(struct uplink *uplink)
{
	uplink_close_fd(uplink);
	uplink_down(uplink);
	loop_timer_cancel(uplink->all->loop, &uplink->retry);
	if (uplink->opts.io->close)
		uplink->opts.io->close(uplink);
	list_del(&uplink->link);
	capture_if_del(&uplink->capture);
	if (uplink->opts.layer)
		uplink->opts.layer->free(uplink);
	log_info(uplink->opts.name, "%s: %llu received, %llu sent, %llu dropped",
		 uplink->opts.layer ? "packets" : "frames", (unsigned long long)uplink->in,
		 (unsigned long long)uplink->out, (unsigned long long)uplink->dropped);
	free(uplink->opts.name);
	free(uplink->tx);
	free(uplink->rx);
	free(uplink);
}

void uplinks_free(struct uplinks *all)
{
	while (!list_empty(&all->list))
		uplink_free(list_entry(all->list.next, struct uplink, link));
	free(all);
}

int uplink_add(struct uplinks *all, const struct uplink_options *opts)
{
	struct uplink *uplink = calloc(1, sizeof(*uplink));
	int err = -ENOMEM;

	if (!uplink)
		return err;
	uplink->all = all;
	uplink->opts = *opts;
	uplink->fd = -1;
	uplink->listen_fd = -1;
	uplink->stall.fn = on_stall;
	uplink->opts.name = strdup(opts->name);
	uplink->capture.name = uplink->opts.name;
	uplink->capture.infiniband = opts->layer;
	uplink->tx = malloc(TX_SIZE);
	uplink->rx = malloc(UPLINK_RX_SIZE);
	list_add_tail(&all->list, &uplink->link);
	capture_if_add(all->captures, &uplink->capture);
	if (uplink->opts.name && uplink->tx && uplink->rx)
		err = opts->layer ? opts->layer->init(uplink) : 0;
	if (!err)
		err = opts->io->open(uplink);
	if (err) {
		log_error(opts->name, "can't open the uplink: %s", strerror(-err));
		uplink_free(uplink);
	}
	return err;
}
