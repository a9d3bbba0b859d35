// SPDX-License-Identifier: GPL-2.0
/* InfiniBand uplinks. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "fabric/fabric.h"
#include "fabric/ib_forward.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_route.h"
#include "fabric/ib_switch.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_uplink.h"
#include "fabric/uplink_io.h"
#include "packet/ib.h"

/* Datagrams may be lost, and there is no notice when the other side ends. */
#define HELLO_NS 200000000ULL
#define HELLO_UP_NS 1000000000ULL /* interval of hellos while the link is up */
#define SILENCE_NS 5000000000ULL /* without a hello for so long, the other side is gone */

#define HELLO_VERSION 2
#define HELLO_POLLING 0x01

#define HOPS_LEN \
	2 /* after each packet: number of hops that it has passed, with this one; big endian */

/**
 * struct ib_hello - the hello message; big endian
 * @magic: IB_HELLO_MAGIC
 * @version: HELLO_VERSION
 * @flags: HELLO_POLLING: the port wants a link
 * @width, @speed, @ext: enabled widths and speeds of the port, as in PortInfo
 * @rsvd: 0
 * @number: number of the sender's current training
 * @heard: @number of the last hello that the sender has received; 0: none
 */
struct ib_hello {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint8_t width;
	uint8_t speed;
	uint8_t ext;
	uint8_t rsvd[3];
	uint32_t number;
	uint32_t heard;
};

_Static_assert(sizeof(struct ib_hello) == 20, "size of struct ib_hello");

/**
 * struct ib_uplink - an InfiniBand uplink
 * @node, @ports: the node of @far
 * @far: the remote port
 * @number: number of our training
 * @heard: number of the other side's training; 0: none
 * @timer: sends hellos again on datagram uplinks
 * @last: time of the last received hello
 */
struct ib_uplink {
	struct uplink *uplink;
	struct ib_node node;
	struct ib_port *ports[2];
	struct ib_port far;
	uint32_t number, heard;
	struct timer timer;
	uint64_t last;
};

static struct ib_uplink *uplink_of(struct ib_port *far)
{
	return list_entry(far, struct ib_uplink, far);
}

static bool is_dgram(const struct ib_uplink *ib)
{
	return ib->uplink->opts.kind == UPLINK_DGRAM;
}

/* False: there is no room. */
static bool send_packet(struct ib_uplink *ib, const uint8_t *packet, uint32_t len, uint16_t hops)
{
	uint16_t be = htobe16(hops);
	const struct iovec iov[] = {{(void *)packet, len}, {&be, HOPS_LEN}};

	if (!uplink_queue(ib->uplink, iov, 2, len + HOPS_LEN)) {
		ib->uplink->dropped++;
		return false;
	}
	uplink_sent(ib->uplink, iov, 1, len);
	return true;
}

static void say_hello(struct ib_uplink *ib)
{
	const struct ib_port *near = ib->far.peer;
	struct ib_hello hello = {
		.magic = htobe32(IB_HELLO_MAGIC),
		.version = HELLO_VERSION,
		.flags = ib_link_is_wanted(near) ? HELLO_POLLING : 0,
		.width = near->enabled.width,
		.speed = near->enabled.speed,
		.ext = near->enabled.ext,
		.number = htobe32(ib->number),
		.heard = htobe32(ib->heard),
	};
	const struct iovec iov = {.iov_base = &hello, .iov_len = sizeof(hello)};

	uplink_queue(ib->uplink, &iov, 1, sizeof(hello));
}

static void hello_later(struct ib_uplink *ib)
{
	bool up = ib->far.state != IB_PORT_DOWN;

	if (is_dgram(ib))
		loop_timer_arm(ib->node.loop, &ib->timer,
			       loop_now(ib->node.loop) + (up ? HELLO_UP_NS : HELLO_NS));
}

static void take_down(struct ib_uplink *ib)
{
	ib->far.wanted = PORT_PHYS_DISABLED;
	ib_link_down(&ib->far);
}

/* There is no link until the other side has acknowledged the new number. */
static void begin_training(struct ib_uplink *ib)
{
	take_down(ib);
	if (!ib->uplink->up || !ib->far.peer)
		return;
	if (!++ib->number)
		ib->number++;
	say_hello(ib);
	hello_later(ib);
}

/* The other side has ended, or was started again. */
static void lose_peer(struct ib_uplink *ib)
{
	ib->heard = 0;
	take_down(ib);
}

static void on_timer(struct timer *timer)
{
	struct ib_uplink *ib = list_entry(timer, struct ib_uplink, timer);

	if (!ib->far.peer)
		return;
	if (ib->heard && loop_now(ib->node.loop) - ib->last > SILENCE_NS) {
		log_info(ib->uplink->opts.name, "the other side is silent");
		lose_peer(ib);
	}
	say_hello(ib);
	hello_later(ib);
}

/* Whether our port wants a link, or with which speeds, has changed. */
static void train(struct ib_port *far)
{
	begin_training(uplink_of(far));
}

static void receive_smp(struct ib_port *far, const struct mad_packet *p)
{
	uint8_t packet[IB_MAX_PACKET];

	send_packet(uplink_of(far), packet, ib_encode_mad(packet, p), p->hops);
}

static bool receive_data(struct ib_port *far, const uint8_t *packet, uint32_t len, uint16_t hops)
{
	return send_packet(uplink_of(far), packet, len, hops);
}

static void state_changed(struct ib_port *far)
{
	struct ib_uplink *ib = uplink_of(far);

	if (far->state == IB_PORT_INIT)
		log_info(ib->uplink->opts.name, "the link is up");
	else if (far->state == IB_PORT_DOWN)
		log_info(ib->uplink->opts.name, "the link is down");
}

static void attach(struct ib_uplink *ib)
{
	struct ib_switch *sw = ib->node.fabric->ib_switch;
	struct ib_port *at = sw ? ib_switch_free_port(sw) : NULL;

	if (ib->far.peer || !sw)
		return;
	if (!at) {
		log_error(ib->uplink->opts.name, "the switch has no port for it");
		return;
	}
	ib_link_connect(&ib->far, at);
	begin_training(ib);
}

void ib_uplinks_attach(struct fabric *fabric)
{
	struct uplinks *all = fabric->uplinks;
	struct list *node;

	if (!all)
		return;
	for (node = all->list.next; node != &all->list; node = node->next) {
		struct uplink *uplink = list_entry(node, struct uplink, link);

		if (uplink->ib)
			attach(uplink->ib);
	}
}

static int init(struct uplink *uplink)
{
	static const struct ib_node_ops ops = {
		.receive = receive_smp,
		.receive_data = receive_data,
		.state_changed = state_changed,
		.train = train,
	};
	struct ib_uplink *ib = calloc(1, sizeof(*ib));

	if (!ib)
		return -ENOMEM;
	if (getrandom(&ib->number, sizeof(ib->number), 0) != sizeof(ib->number)) {
		free(ib);
		return -EIO;
	}
	uplink->ib = ib;
	ib->uplink = uplink;
	ib->timer.fn = on_timer;
	ib->node.ops = &ops;
	ib->node.num_ports = 1;
	ib->node.fabric = uplink->all->fabric;
	ib->node.loop = uplink->all->loop;
	ib->node.ports = ib->ports;
	ib->ports[1] = &ib->far;
	ib_port_init(&ib->far, &ib->node, 1);
	ib->far.wanted = PORT_PHYS_DISABLED;
	attach(ib);
	return 0;
}

static void fini(struct uplink *uplink)
{
	struct ib_uplink *ib = uplink->ib;

	if (!ib)
		return;
	loop_timer_cancel(ib->node.loop, &ib->timer);
	ib_link_disconnect(&ib->far);
	ib_port_fini(&ib->far);
	free(ib);
}

const struct ib_port *ib_uplink_port(const struct ib_uplink *ib)
{
	return ib->far.peer;
}

static void connected(struct uplink *uplink)
{
	begin_training(uplink->ib);
}

static void disconnected(struct uplink *uplink)
{
	struct ib_uplink *ib = uplink->ib;

	if (!ib)
		return;
	loop_timer_cancel(ib->node.loop, &ib->timer);
	if (ib->far.peer)
		ib_wait(ib->far.peer, IB_WAIT_UPLINK, false);
	lose_peer(ib);
}

/* PortXmitWait counts while the socket accepts no more. */
static void wrote(struct uplink *uplink)
{
	struct ib_port *near = uplink->ib->far.peer;

	if (near)
		ib_wait(near, IB_WAIT_UPLINK, uplink->blocked);
}

static void hear(struct ib_uplink *ib, const struct ib_hello *hello)
{
	bool heard = be32toh(hello->heard) == ib->number;
	struct ib_port *far = &ib->far;

	ib->last = loop_now(ib->node.loop);
	ib->uplink->refused = false;
	far->enabled = (struct ib_speeds){hello->width, hello->speed, hello->ext};
	if (be32toh(hello->number) != ib->heard) {
		lose_peer(ib);
		ib->heard = be32toh(hello->number);
		say_hello(ib);
	} else if (!heard) {
		say_hello(ib);
	}
	if (heard && hello->flags & HELLO_POLLING) {
		far->wanted = PORT_PHYS_POLLING;
		ib_link_train(far);
	} else {
		take_down(ib);
	}
}

static void take_hello(struct ib_uplink *ib, const uint8_t *bytes, size_t len)
{
	struct uplink *uplink = ib->uplink;
	struct ib_hello hello;

	if (len < sizeof(hello)) {
		uplink->dropped++;
		return;
	}
	memcpy(&hello, bytes, sizeof(hello));
	if (hello.version != HELLO_VERSION)
		uplink_refuse(uplink, "its hello is of another version");
	else if (!hello.number)
		uplink->dropped++;
	else
		hear(ib, &hello);
}

/* A packet on VL 15 */
static bool take_smp(struct ib_uplink *ib, struct ib_packet *p)
{
	struct mad_packet mad;

	if (!ib_decode_mad(&mad, p, QPN_SMI))
		return false;
	ib->uplink->in++;
	ib_link_send(&ib->far, &mad);
	return true;
}

/* Does the switch forward the LID to a port without an uplink? */
static bool is_from_here(const struct ib_port *near, uint16_t slid)
{
	const struct ib_port *out = ib_switch_lookup(near->node->sw, slid);

	return out && (!out->num || (out->peer && !out->peer->node->ops->receive_data));
}

/* Ports carry data packets from ARMED on. */
static void take_data(struct ib_uplink *ib, const struct ib_packet *p)
{
	struct ib_port *near = ib->far.peer;

	if (near->state < IB_PORT_ARMED) {
		ib->uplink->dropped++;
		return;
	}
	if (is_from_here(near, p->slid)) {
		ib->uplink->dropped++;
		ib->uplink->from_here++;
		near->counters.rcv_constraint++;
		return;
	}
	ib->uplink->in++;
	ib_count_packet(&near->counters.rcv, p->len, p->dlid);
	ib_forward(near, p);
}

/* Receive a data packet.  False: it is invalid. */
static bool take_packet(struct ib_uplink *ib, struct ib_packet *p)
{
	if (!p->dlid)
		return false;
	if (p->vl == VL_SUBNET_MANAGEMENT)
		return take_smp(ib, p);
	if (!ib_has_vl(ib->far.peer, p->vl))
		return false;
	take_data(ib, p);
	return true;
}

/* Receive a packet with its number of hops.  False: it is invalid. */
static bool peek(struct ib_packet *p, const uint8_t *bytes, size_t len)
{
	if (len < HOPS_LEN || ib_peek(p, bytes, len - HOPS_LEN) != PACKET_GOOD ||
	    !ib_vcrc_is_good(p))
		return false;
	p->hops = get_be16(bytes + p->len);
	return true;
}

/* Captures have invalid packets too. */
static void record(struct uplink *uplink, const uint8_t *bytes, size_t len)
{
	const struct iovec iov = {(void *)bytes, len < HOPS_LEN ? len : len - HOPS_LEN};

	capture_frame(uplink->all->captures->running, &uplink->capture, PCAPNG_IN, &iov, 1,
		      iov.iov_len);
}

static void receive(struct uplink *uplink, const uint8_t *bytes, size_t len)
{
	struct ib_uplink *ib = uplink->ib;
	struct ib_port *near = ib->far.peer;
	struct ib_packet p;
	bool good;

	if (ib_uplink_is_hello(bytes, len)) {
		if (near)
			take_hello(ib, bytes, len);
		return;
	}
	if (!near) {
		uplink->dropped++;
		return;
	}
	good = peek(&p, bytes, len);
	if (!good && !ib->heard) {
		uplink_refuse(uplink, "it is not InfiniBand");
		return;
	}
	if (near->state == IB_PORT_DOWN) {
		uplink->dropped++;
		return;
	}
	record(uplink, bytes, len);
	if (!good || !take_packet(ib, &p)) {
		uplink->dropped++;
		near->counters.rcv_errors++;
	}
}

const struct uplink_layer ib_uplink_layer = {
	.init = init,
	.free = fini,
	.connected = connected,
	.disconnected = disconnected,
	.receive = receive,
	.wrote = wrote,
};
