// SPDX-License-Identifier: GPL-2.0
/*
 * A device for tests of the layers below the HCA: testdev SOCKET.  SIGUSR1 removes it, SIGUSR2
 * brings it back.
 */

#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "vfio/keeper.h"
#include "base/log.h"
#include "base/loop.h"
#include "vfio/pci.h"
#include "testdev.h"

struct testdev {
	struct loop *loop;
	struct pci_fn *fn;
	int signal_fd;
	uint64_t src, dst;
	uint32_t len, result;
	uint32_t resets, changes;
	uint32_t last_off, last_len, writes;
	uint32_t masters;
	bool master;
	uint8_t mem[TESTDEV_BAR2_SIZE];
};

static uint64_t bar_read(void *dev, unsigned int bar, uint64_t off, unsigned int len)
{
	const struct testdev *t = dev;
	uint64_t val = 0;

	if (off % len || (bar != 0 && bar != 2))
		abort();
	if (bar == 2) {
		memcpy(&val, t->mem + off, len);
		return le64toh(val);
	}
	switch (off) {
	case TESTDEV_SRC:
		return t->src;
	case TESTDEV_DST:
		return t->dst;
	case TESTDEV_LEN:
		return t->len;
	case TESTDEV_COPY:
		return t->result;
	case TESTDEV_RESETS:
		return t->resets;
	case TESTDEV_CHANGES:
		return t->changes;
	case TESTDEV_LAST_OFF:
		return t->last_off;
	case TESTDEV_LAST_LEN:
		return t->last_len;
	case TESTDEV_WRITES:
		return t->writes;
	case TESTDEV_MASTERS:
		return t->masters;
	case TESTDEV_MASTER:
		return t->master;
	default:
		return 0;
	}
}

static uint32_t copy(struct testdev *t)
{
	struct dma_map *map = pci_dma(t->fn);
	void *src, *dst;

	if (!pci_bus_master(t->fn))
		return 2;
	src = dma_ptr(map, t->src, t->len, false);
	dst = dma_ptr(map, t->dst, t->len, true);
	if (!src || !dst)
		return 1;
	memmove(dst, src, t->len);
	return 0;
}

static void bar_write(void *dev, unsigned int bar, uint64_t off, unsigned int len, uint64_t val)
{
	struct testdev *t = dev;

	if (off % len || (bar != 0 && bar != 2))
		abort();
	if (bar == 2) {
		val = htole64(val);
		memcpy(t->mem + off, &val, len);
		t->last_off = off;
		t->last_len = len;
		t->writes++;
		return;
	}
	switch (off) {
	case TESTDEV_SRC:
		t->src = val;
		break;
	case TESTDEV_DST:
		t->dst = val;
		break;
	case TESTDEV_LEN:
		t->len = val;
		break;
	case TESTDEV_COPY:
		t->result = copy(t);
		break;
	case TESTDEV_RAISE:
		pci_msix_raise(t->fn, val);
		break;
	}
}

static void reset(void *dev)
{
	struct testdev *t = dev;

	t->src = 0;
	t->dst = 0;
	t->len = 0;
	t->result = 0;
	t->resets++;
}

static void bus_master(void *dev, bool on)
{
	struct testdev *t = dev;

	t->master = on;
	t->masters++;
}

static void dma_changed(void *dev)
{
	struct testdev *t = dev;

	t->changes++;
}

static void on_signal(void *arg, uint32_t events)
{
	struct signalfd_siginfo info;
	struct testdev *t = arg;

	(void)events;
	if (read(t->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGTERM)
		loop_stop(t->loop);
	else
		pci_set_present(t->fn, info.ssi_signo == SIGUSR2);
}

static int serve(struct testdev *t, const char *path)
{
	static const struct pci_config config = {
		.vendor = TESTDEV_VENDOR,
		.device = TESTDEV_DEVICE,
		.subvendor = TESTDEV_VENDOR,
		.subdevice = 1,
		.revision = TESTDEV_REVISION,
		.class_code = TESTDEV_CLASS,
		.bar_size = {TESTDEV_BAR0_SIZE, 0, TESTDEV_BAR2_SIZE, 0, TESTDEV_BAR4_SIZE},
		.msix_bar = 4,
		.msix_vectors = TESTDEV_VECTORS,
	};
	static const struct pci_ops ops = {bar_read,   bar_write,   reset,
					   bus_master, dma_changed, NULL};
	sigset_t set;
	int err = 1;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	t->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (t->signal_fd < 0 || loop_add_fd(t->loop, t->signal_fd, EPOLLIN, on_signal, t))
		return 1;
	t->fn = pci_fn_new(t->loop, path, &config, &ops, t);
	if (t->fn)
		err = loop_run(t->loop) != 0;
	pci_fn_free(t->fn);
	close(t->signal_fd);
	return err;
}

int main(int argc, char **argv)
{
	struct testdev *t = calloc(1, sizeof(*t));
	int err = 1;

	if (argc != 2 || !t || keeper_start(&(struct keeper_options){0}))
		return 2;
	t->loop = loop_new();
	if (t->loop)
		err = serve(t, argv[1]);
	loop_free(t->loop);
	free(t);
	keeper_stop();
	return err;
}
