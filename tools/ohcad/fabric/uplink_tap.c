// SPDX-License-Identifier: GPL-2.0
/*
 * Uplinks: tap interfaces of the host.  Frames that the host's kernel sends there arrive here, and
 * the reverse.  A frame is one read or one write; all offloads are off, so that each is as on a
 * cable.
 *
 * The descriptor of an interface that is removed is lost.  The uplink is attached again when there
 * is an interface of that name again; it does not create one that was removed.
 */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/log.h"
#include "fabric/uplink_io.h"

#define TUN_PATH "/dev/net/tun"
#define READ_BATCH 16
#define ATTACH_NS 100000000ULL
#define BLOCKED_NS 200000ULL

static void tap_retry(struct uplink *uplink, uint64_t ns)
{
	struct loop *loop = uplink->all->loop;

	loop_timer_arm(loop, &uplink->retry, loop_now(loop) + ns);
}

/* The interface was removed. */
static void tap_lost(struct uplink *uplink, const char *why)
{
	log_info(uplink->opts.name, "the interface is lost: %s", why);
	uplink_close_fd(uplink);
	uplink_down(uplink);
	tap_retry(uplink, ATTACH_NS);
}

static void tap_read(struct uplink *uplink)
{
	unsigned int i;
	ssize_t got;

	for (i = 0; i < READ_BATCH; i++) {
		got = read(uplink->fd, uplink->rx, UPLINK_RX_SIZE);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0) {
			tap_lost(uplink, got ? strerror(errno) : "end of file");
			return;
		}
		uplink_receive(uplink, uplink->rx, got);
		/* The answer to the frame has found the interface removed. */
		if (!uplink->up)
			return;
	}
}

static void on_tap(void *arg, uint32_t events)
{
	(void)events;
	tap_read(arg);
}

static void tap_write(struct uplink *uplink)
{
	uint8_t *at;
	uint32_t len;

	while (uplink_queued(uplink)) {
		at = uplink->tx + uplink->tx_start;
		memcpy(&len, at, UPLINK_LEN_SIZE);
		len = be32toh(len);
		if (write(uplink->fd, at + UPLINK_LEN_SIZE, len) < 0) {
			if (errno == EAGAIN || errno == EINTR) {
				uplink->blocked = true;
				tap_retry(uplink, BLOCKED_NS);
				return;
			}
			if (errno == EBADFD) {
				tap_lost(uplink, strerror(errno));
				return;
			}
			/* The interface is down, or refuses the frame: lost. */
			uplink->dropped++;
		}
		uplink->tx_start += UPLINK_LEN_SIZE + len;
		uplink_progress(uplink);
	}
}

/* Attach @uplink->fd to the interface.  Returns 0 or -errno. */
static int tap_attach(struct uplink *uplink)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int err;

	strcpy(ifr.ifr_name, uplink->opts.ifname);
	uplink->fd = open(TUN_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (uplink->fd < 0)
		return -errno;
	if (ioctl(uplink->fd, TUNSETIFF, &ifr) || ioctl(uplink->fd, TUNSETOFFLOAD, 0) ||
	    loop_add_fd(uplink->all->loop, uplink->fd, EPOLLIN, on_tap, uplink)) {
		err = -errno;
		close(uplink->fd);
		uplink->fd = -1;
		return err;
	}
	uplink_connected(uplink);
	return 0;
}

static void tap_on_retry(struct timer *timer)
{
	struct uplink *uplink = list_entry(timer, struct uplink, retry);

	if (uplink->fd >= 0) {
		uplink->blocked = false;
		uplink_write(uplink);
	} else if (if_nametoindex(uplink->opts.ifname) && !tap_attach(uplink)) {
		log_info(uplink->opts.name, "the interface is back");
	} else {
		tap_retry(uplink, ATTACH_NS);
	}
}

static int tap_open(struct uplink *uplink)
{
	const char *name = uplink->opts.name;
	int err = tap_attach(uplink);

	uplink->retry.fn = tap_on_retry;
	if (err == -EPERM)
		log_error(name, "needs CAP_NET_ADMIN, or an interface created for this user with "
				"'ip tuntap add'");
	else if (err == -EBUSY)
		log_error(name, "another process is attached to the interface");
	else if (err == -EINVAL)
		log_error(name, "the interface is not a tap interface, or has several queues");
	else if (err && access(TUN_PATH, R_OK | W_OK))
		log_error(name, "no access to " TUN_PATH);
	return err;
}

const struct uplink_io tap_io = {
	.open = tap_open,
	.write = tap_write,
};
