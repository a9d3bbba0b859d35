// SPDX-License-Identifier: GPL-2.0
/* MSI-X: table, pending bits, eventfds. */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "base/guard.h"
#include "base/le.h"
#include "base/log.h"
#include "vfio/msix.h"

#define VECTOR_CTRL (PCI_MSIX_ENTRY_VECTOR_CTRL / 4)

int msix_init(struct msix *msix, unsigned int vectors)
{
	unsigned int i;

	memset(msix, 0, sizeof(*msix));
	msix->vectors = calloc(vectors, sizeof(*msix->vectors));
	if (!msix->vectors)
		return -ENOMEM;
	msix->num = vectors;
	for (i = 0; i < vectors; i++)
		msix->vectors[i].fd = -1;
	msix_reset(msix);
	return 0;
}

void msix_fini(struct msix *msix)
{
	if (!msix->vectors)
		return;
	msix_disconnect(msix);
	free(msix->vectors);
	msix->vectors = NULL;
}

void msix_reset(struct msix *msix)
{
	struct msix_vector *v;
	unsigned int i;

	for (i = 0; i < msix->num; i++) {
		v = &msix->vectors[i];
		memset(v->entry, 0, sizeof(v->entry));
		v->entry[VECTOR_CTRL] = htole32(PCI_MSIX_ENTRY_CTRL_MASKBIT);
		v->masked = false;
		v->pending = false;
	}
	msix->enabled = false;
	msix->open = false;
}

static void set_fd(struct msix_vector *v, int fd)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = fd;
	if (fd < 0)
		v->pending = false;
}

static void close_fds(struct msix *msix)
{
	unsigned int i;

	for (i = 0; i < msix->num; i++)
		set_fd(&msix->vectors[i], -1);
}

void msix_disconnect(struct msix *msix)
{
	close_fds(msix);
	msix_reset(msix);
}

/* The client has made a descriptor block this process: it gets no further interrupts. */
static __attribute__((cold)) void refuse(struct msix *msix)
{
	log_error(NULL, "an eventfd for interrupts blocks: its client gets no more interrupts");
	close_fds(msix);
	msix->refused = true;
}

/*
 * A write to an eventfd whose counter is full fails, but then the reader is notified already.  It
 * does not block, as check_fd() has seen to; but the client can undo that at any time.
 */
static void signal_fd(struct msix *msix, const struct msix_vector *v)
{
	const uint64_t one = 1;
	bool blocked;

	if (v->fd < 0)
		return;
	guard_begin();
	blocked = write(v->fd, &one, sizeof(one)) < 0 && errno == EINTR;
	guard_end();
	if (blocked)
		refuse(msix);
}

static void send_pending(struct msix *msix, struct msix_vector *v)
{
	if (!v->pending || v->masked || !msix->enabled || !msix->open)
		return;
	v->pending = false;
	signal_fd(msix, v);
}

void msix_gate(struct msix *msix, bool enabled, bool open)
{
	unsigned int i;

	if (msix->enabled == enabled && msix->open == open)
		return;
	msix->enabled = enabled;
	msix->open = open;
	for (i = 0; i < msix->num; i++) {
		if (!enabled)
			msix->vectors[i].pending = false;
		send_pending(msix, &msix->vectors[i]);
	}
}

void msix_raise(struct msix *msix, unsigned int vector)
{
	struct msix_vector *v;

	if (vector >= msix->num || !msix->enabled)
		return;
	v = &msix->vectors[vector];
	if (v->fd < 0)
		return;
	v->pending = true;
	send_pending(msix, v);
}

/* Requests of the client */

/*
 * A write must not block this process, so the descriptor has to be an eventfd; it is made
 * non-blocking.
 */
static int check_fd(int fd)
{
	char path[32], link[32];
	ssize_t len;
	int flags;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return -errno;
	link[len] = '\0';
	if (strcmp(link, "anon_inode:[eventfd]"))
		return -EINVAL;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return 0;
}

static int set_fds(struct msix *msix, struct vfio_user_irqs *irqs)
{
	uint32_t i;
	int err;

	if (msix->refused && irqs->fds)
		return -EPERM;
	for (i = 0; irqs->fds && i < irqs->count; i++) {
		err = check_fd(irqs->fds[i]);
		if (err)
			return err;
	}
	for (i = 0; i < irqs->count; i++) {
		set_fd(&msix->vectors[irqs->start + i], irqs->fds ? irqs->fds[i] : -1);
		if (irqs->fds)
			irqs->fds[i] = -1;
	}
	return 0;
}

static void disable_all(struct msix *msix)
{
	unsigned int i;

	close_fds(msix);
	for (i = 0; i < msix->num; i++)
		msix->vectors[i].masked = false;
}

int msix_set_irqs(struct msix *msix, struct vfio_user_irqs *irqs)
{
	struct msix_vector *v;
	uint32_t i;

	if (irqs->data == VFIO_IRQ_SET_DATA_EVENTFD)
		return irqs->action == VFIO_IRQ_SET_ACTION_TRIGGER ? set_fds(msix, irqs) : -ENOTSUP;
	if (!irqs->count) {
		disable_all(msix);
		return 0;
	}
	for (i = 0; i < irqs->count; i++) {
		v = &msix->vectors[irqs->start + i];
		if (irqs->bools && !irqs->bools[i])
			continue;
		if (irqs->action == VFIO_IRQ_SET_ACTION_TRIGGER) {
			signal_fd(msix, v);
		} else {
			v->masked = irqs->action == VFIO_IRQ_SET_ACTION_MASK;
			send_pending(msix, v);
		}
	}
	return 0;
}

/* Table and pending bit array */

uint64_t msix_table_read(const struct msix *msix, uint64_t off, unsigned int len)
{
	const struct msix_vector *v;

	if (off / PCI_MSIX_ENTRY_SIZE >= msix->num)
		return 0;
	v = &msix->vectors[off / PCI_MSIX_ENTRY_SIZE];
	return le_load((const char *)v->entry + off % PCI_MSIX_ENTRY_SIZE, len);
}

void msix_table_write(struct msix *msix, uint64_t off, unsigned int len, uint64_t val)
{
	unsigned int in_entry = off % PCI_MSIX_ENTRY_SIZE;
	struct msix_vector *v;

	if (off / PCI_MSIX_ENTRY_SIZE >= msix->num)
		return;
	v = &msix->vectors[off / PCI_MSIX_ENTRY_SIZE];
	le_store((char *)v->entry + in_entry, len, val);
	v->entry[0] &= htole32(~3U);
	v->entry[VECTOR_CTRL] &= htole32(PCI_MSIX_ENTRY_CTRL_MASKBIT);
	if (in_entry + len <= PCI_MSIX_ENTRY_VECTOR_CTRL)
		return;
	v->masked = v->entry[VECTOR_CTRL];
	send_pending(msix, v);
}

uint64_t msix_pba_read(const struct msix *msix, uint64_t off, unsigned int len)
{
	uint64_t val = 0;
	unsigned int i;

	for (i = 0; i < 8 * len && 8 * off + i < msix->num; i++)
		val |= (uint64_t)msix->vectors[8 * off + i].pending << i;
	return val;
}
