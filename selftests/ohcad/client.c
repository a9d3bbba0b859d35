// SPDX-License-Identifier: GPL-2.0
/* A scripted vfio-user client. */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <linux/pci_regs.h>

#include "client.h"
#include "emulated.h"

#define MAX_FDS 64
#define CFG VFIO_PCI_CONFIG_REGION_INDEX

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "client: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	abort();
}

int vu_socket(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %m");
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int vu_send(int fd, const void *buf, size_t len, const int *fds, unsigned int num_fds)
{
	char control[CMSG_SPACE(sizeof(int) * MAX_FDS)] = {0};
	struct iovec iov = {(void *)buf, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;
	ssize_t n;

	if (num_fds > MAX_FDS)
		die("%u descriptors", num_fds);
	if (num_fds) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * num_fds);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * num_fds);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * num_fds);
	}
	while (iov.iov_len) {
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EPIPE || errno == ECONNRESET)
				return -EPIPE;
			die("sendmsg: %m");
		}
		iov.iov_base = (char *)iov.iov_base + n;
		iov.iov_len -= n;
		msg.msg_control = NULL;
		msg.msg_controllen = 0;
	}
	return 0;
}

int vu_recv(int fd, void *buf, size_t len)
{
	ssize_t n;

	while (len) {
		n = recv(fd, buf, len, 0);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			if (errno == ECONNRESET)
				return -EPIPE;
			die("recv: %m");
		}
		if (!n)
			return -EPIPE;
		buf = (char *)buf + n;
		len -= n;
	}
	return 0;
}

/* The header of a reply, and the descriptor with it if there is one. */
static int recv_hdr(struct vu *vu, struct vfio_user_hdr *hdr)
{
	struct iovec iov = {hdr, 1};
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *cmsg;
	ssize_t n;

	if (vu->reply_fd >= 0)
		close(vu->reply_fd);
	vu->reply_fd = -1;
	do
		n = recvmsg(vu->fd, &msg, 0);
	while (n < 0 && errno == EINTR);
	if (!n || (n < 0 && errno == ECONNRESET))
		return -EPIPE;
	if (n < 0)
		die("recvmsg: %m");
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(&vu->reply_fd, CMSG_DATA(cmsg), sizeof(int));
	return vu_recv(vu->fd, (char *)hdr + 1, sizeof(*hdr) - 1);
}

static int send_request(struct vu *vu, struct vfio_user_hdr *hdr, const void *in, size_t in_len,
			const int *fds, unsigned int num_fds)
{
	char *msg = malloc(sizeof(*hdr) + in_len);
	int err;

	if (!msg)
		die("no memory");
	hdr->id = vu->next_id++;
	hdr->size = sizeof(*hdr) + in_len;
	memcpy(msg, hdr, sizeof(*hdr));
	if (in_len)
		memcpy(msg + sizeof(*hdr), in, in_len);
	err = vu_send(vu->fd, msg, hdr->size, fds, num_fds);
	free(msg);
	return err;
}

int vu_post(struct vu *vu, uint16_t cmd, const void *in, size_t in_len, const int *fds,
	    unsigned int num_fds)
{
	struct vfio_user_hdr hdr = {.cmd = cmd, .flags = VFIO_USER_FLAG_NO_REPLY};

	return send_request(vu, &hdr, in, in_len, fds, num_fds);
}

int vu_call(struct vu *vu, uint16_t cmd, const void *in, size_t in_len, const int *fds,
	    unsigned int num_fds, void *out, size_t out_len, size_t *got)
{
	struct vfio_user_hdr req = {.cmd = cmd}, rep;
	int err;

	if (got)
		*got = 0;
	err = send_request(vu, &req, in, in_len, fds, num_fds);
	if (err)
		return err;
	err = recv_hdr(vu, &rep);
	if (err)
		return err;
	if (rep.id != req.id || rep.cmd != req.cmd ||
	    (rep.flags & VFIO_USER_FLAG_TYPE) != VFIO_USER_FLAG_REPLY || rep.size < sizeof(rep))
		die("reply id %u cmd %u size %u flags %#x to id %u cmd %u", rep.id, rep.cmd,
		    rep.size, rep.flags, req.id, req.cmd);
	if (rep.flags & VFIO_USER_FLAG_ERROR) {
		if (rep.size != sizeof(rep) || !rep.error)
			die("error reply of size %u, error %u", rep.size, rep.error);
		return -(int)rep.error;
	}
	if (rep.size - sizeof(rep) > out_len)
		die("reply to cmd %u has %zu bytes, expected at most %zu", rep.cmd,
		    rep.size - sizeof(rep), out_len);
	if (got)
		*got = rep.size - sizeof(rep);
	return vu_recv(vu->fd, out, rep.size - sizeof(rep));
}

static int negotiate(struct vu *vu)
{
	static const char caps[] = "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":"
				   "1048576,"
				   "\"pgsizes\":4096,\"max_dma_maps\":65535,\"write_multiple\":"
				   "true}}";
	struct {
		struct vfio_user_version version;
		char json[512];
	} msg = {.version = {VFIO_USER_MAJOR, 0}};

	strcpy(msg.json, caps);
	return vu_call(vu, VFIO_USER_VERSION, &msg, sizeof(msg.version) + sizeof(caps), NULL, 0,
		       &msg, sizeof(msg), NULL);
}

struct vu *vu_open(const char *path)
{
	struct vu *vu = calloc(1, sizeof(*vu));
	unsigned int i;

	if (!vu)
		die("no memory");
	for (i = 0; i < VU_MAX_VECTORS; i++)
		vu->irq[i] = -1;
	vu->reply_fd = -1;
	vu->fd = vu_socket(path);
	if (vu->fd < 0 || negotiate(vu)) {
		vu_close(vu);
		return NULL;
	}
	return vu;
}

void vu_close(struct vu *vu)
{
	unsigned int i;

	if (!vu)
		return;
	if (vu->fd >= 0)
		close(vu->fd);
	if (vu->reply_fd >= 0)
		close(vu->reply_fd);
	for (i = 0; i < vu->num_irqs; i++)
		close(vu->irq[i]);
	for (i = 0; i < vu->num_mems; i++) {
		munmap(vu->mems[i].va, vu->mems[i].size);
		close(vu->mems[i].fd);
	}
	free(vu);
}

int vu_get_info(struct vu *vu, struct vfio_device_info *info)
{
	uint32_t in[4] = {16}, out[4] = {0};
	int err;

	err = vu_call(vu, VFIO_USER_DEVICE_GET_INFO, in, sizeof(in), NULL, 0, out, sizeof(out),
		      NULL);
	memcpy(info, out, sizeof(out));
	return err;
}

int vu_get_region_info(struct vu *vu, unsigned int region, struct vfio_region_info *info)
{
	struct vfio_region_info in = {.argsz = sizeof(in), .index = region};

	return vu_call(vu, VFIO_USER_DEVICE_GET_REGION_INFO, &in, sizeof(in), NULL, 0, info,
		       sizeof(*info), NULL);
}

int vu_get_irq_info(struct vu *vu, unsigned int irq, struct vfio_irq_info *info)
{
	struct vfio_irq_info in = {.argsz = sizeof(in), .index = irq};

	return vu_call(vu, VFIO_USER_DEVICE_GET_IRQ_INFO, &in, sizeof(in), NULL, 0, info,
		       sizeof(*info), NULL);
}

int vu_reset(struct vu *vu)
{
	return vu_call(vu, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0, NULL, 0, NULL);
}

int vu_dma_map(struct vu *vu, uint64_t iova, uint64_t size, int fd, uint64_t offset, uint32_t flags)
{
	struct vfio_user_dma_map in = {sizeof(in), flags, offset, iova, size};

	return vu_call(vu, VFIO_USER_DMA_MAP, &in, sizeof(in), &fd, fd < 0 ? 0 : 1, NULL, 0, NULL);
}

int vu_dma_unmap(struct vu *vu, uint64_t iova, uint64_t size)
{
	struct vfio_user_dma_unmap in = {sizeof(in), 0, iova, size}, out;

	return vu_call(vu, VFIO_USER_DMA_UNMAP, &in, sizeof(in), NULL, 0, &out, sizeof(out), NULL);
}

struct vu_mem *vu_mem_new(struct vu *vu, uint64_t iova, uint64_t size)
{
	struct vu_mem *mem = &vu->mems[vu->num_mems];
	int err;

	if (vu->num_mems == VU_MAX_MEMS)
		die("too many pieces of memory");
	mem->iova = iova;
	mem->size = size;
	mem->fd = memfd_create("guest", MFD_CLOEXEC);
	if (mem->fd < 0 || ftruncate(mem->fd, size))
		die("memfd: %m");
	mem->va = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem->fd, 0);
	if (mem->va == MAP_FAILED)
		die("mmap: %m");
	err = vu_dma_map(vu, iova, size, mem->fd, 0,
			 VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE);
	if (err)
		die("DMA_MAP of %#lx bytes at %#lx: %s", size, iova, strerror(-err));
	vu->num_mems++;
	return mem;
}

void *vu_mem_ptr(struct vu *vu, uint64_t iova, uint64_t len)
{
	const struct vu_mem *mem;
	unsigned int i;

	for (i = 0; i < vu->num_mems; i++) {
		mem = &vu->mems[i];
		if (iova - mem->iova < mem->size && len <= mem->size - (iova - mem->iova))
			return mem->va + (iova - mem->iova);
	}
	return NULL;
}

int vu_read(struct vu *vu, unsigned int region, uint64_t off, void *buf, uint32_t len)
{
	struct vfio_user_region_rw in = {off, region, len};
	struct {
		struct vfio_user_region_rw rw;
		uint8_t data[VU_MAX_DATA];
	} *out = malloc(sizeof(*out));
	size_t got;
	int err;

	if (!out)
		die("no memory");
	err = vu_call(vu, VFIO_USER_REGION_READ, &in, sizeof(in), NULL, 0, out, sizeof(*out), &got);
	if (!err) {
		if (got != sizeof(in) + len || memcmp(&in, &out->rw, sizeof(in)))
			die("reply to a read of %u bytes has %zu", len, got);
		memcpy(buf, out->data, len);
	}
	free(out);
	return err;
}

int vu_write(struct vu *vu, unsigned int region, uint64_t off, const void *buf, uint32_t len)
{
	struct vfio_user_region_rw in = {off, region, len}, out;
	char *msg = malloc(sizeof(in) + len);
	size_t got;
	int err;

	if (!msg)
		die("no memory");
	memcpy(msg, &in, sizeof(in));
	memcpy(msg + sizeof(in), buf, len);
	err = vu_call(vu, VFIO_USER_REGION_WRITE, msg, sizeof(in) + len, NULL, 0, &out, sizeof(out),
		      &got);
	free(msg);
	if (!err && (got != sizeof(in) || memcmp(&in, &out, sizeof(in))))
		die("reply to a write of %u bytes is wrong", len);
	return err;
}

static void must_read(struct vu *vu, unsigned int region, uint64_t off, void *buf, uint32_t len)
{
	int err = vu_read(vu, region, off, buf, len);

	if (err)
		die("read of %u bytes at %#lx of region %u: %s", len, off, region, strerror(-err));
}

static void must_write(struct vu *vu, unsigned int region, uint64_t off, const void *buf,
		       uint32_t len)
{
	int err = vu_write(vu, region, off, buf, len);

	if (err)
		die("write of %u bytes at %#lx of region %u: %s", len, off, region, strerror(-err));
}

uint32_t vu_rd32(struct vu *vu, unsigned int region, uint64_t off)
{
	uint32_t val;

	must_read(vu, region, off, &val, sizeof(val));
	return le32toh(val);
}

uint64_t vu_rd64(struct vu *vu, unsigned int region, uint64_t off)
{
	uint64_t val;

	must_read(vu, region, off, &val, sizeof(val));
	return le64toh(val);
}

void vu_wr32(struct vu *vu, unsigned int region, uint64_t off, uint32_t val)
{
	val = htole32(val);
	must_write(vu, region, off, &val, sizeof(val));
}

void vu_wr64(struct vu *vu, unsigned int region, uint64_t off, uint64_t val)
{
	val = htole64(val);
	must_write(vu, region, off, &val, sizeof(val));
}

uint32_t vu_cfg_rd(struct vu *vu, unsigned int off, unsigned int len)
{
	uint32_t val = 0;

	must_read(vu, CFG, off, &val, len);
	return le32toh(val);
}

void vu_cfg_wr(struct vu *vu, unsigned int off, unsigned int len, uint32_t val)
{
	val = htole32(val);
	must_write(vu, CFG, off, &val, len);
}

void vu_find_caps(struct vu *vu)
{
	unsigned int pos, id, hops = 0;

	vu->msix_cap = 0;
	vu->pcie_cap = 0;
	vu->pm_cap = 0;
	if (!(vu_cfg_rd(vu, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST))
		return;
	for (pos = vu_cfg_rd(vu, PCI_CAPABILITY_LIST, 1); pos; pos = vu_cfg_rd(vu, pos + 1, 1)) {
		if (pos < PCI_STD_HEADER_SIZEOF || pos & 3 || ++hops > 48)
			die("capability list at %#x", pos);
		id = vu_cfg_rd(vu, pos, 1);
		if (id == PCI_CAP_ID_MSIX)
			vu->msix_cap = pos;
		else if (id == PCI_CAP_ID_EXP)
			vu->pcie_cap = pos;
		else if (id == PCI_CAP_ID_PM)
			vu->pm_cap = pos;
	}
}

int vu_set_irqs(struct vu *vu, uint32_t flags, unsigned int irq, uint32_t start, uint32_t count,
		const uint8_t *data, const int *fds, unsigned int num_fds)
{
	char in[sizeof(struct vfio_irq_set) + VU_MAX_VECTORS];
	struct vfio_irq_set set = {sizeof(set), flags, irq, start, count};

	if (data) {
		if (count > VU_MAX_VECTORS)
			die("%u vectors", count);
		set.argsz += count;
		memcpy(in + sizeof(set), data, count);
	}
	memcpy(in, &set, sizeof(set));
	return vu_call(vu, VFIO_USER_DEVICE_SET_IRQS, in, set.argsz, fds, num_fds, NULL, 0, NULL);
}

void vu_enable(struct vu *vu, unsigned int vectors)
{
	unsigned int i;
	uint32_t val;
	int err;

	vu_find_caps(vu);
	if (!vu->msix_cap || vectors > VU_MAX_VECTORS)
		die("no MSI-X, or %u vectors", vectors);
	vu_cfg_wr(vu, PCI_COMMAND, 2,
		  vu_cfg_rd(vu, PCI_COMMAND, 2) | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	for (i = vu->num_irqs; i < vectors; i++) {
		vu->irq[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (vu->irq[i] < 0)
			die("eventfd: %m");
		vu->num_irqs++;
	}
	for (i = 0; i < vectors; i++) {
		err = vu_set_irqs(vu, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
				  VFIO_PCI_MSIX_IRQ_INDEX, i, 1, NULL, &vu->irq[i], 1);
		if (err)
			die("SET_IRQS of vector %u: %s", i, strerror(-err));
	}
	val = vu_cfg_rd(vu, vu->msix_cap + PCI_MSIX_FLAGS, 2);
	val &= ~PCI_MSIX_FLAGS_MASKALL;
	vu_cfg_wr(vu, vu->msix_cap + PCI_MSIX_FLAGS, 2, val | PCI_MSIX_FLAGS_ENABLE);
}

uint64_t vu_irq_count(struct vu *vu, unsigned int vector)
{
	uint64_t n;

	if (vector >= vu->num_irqs)
		die("vector %u has no eventfd", vector);
	/* qemu-user does not turn the numbers that the device writes into the host's byte order. */
	if (read(vu->irq[vector], &n, sizeof(n)) == sizeof(n))
		return is_emulated() ? le64toh(n) : n;
	if (errno != EAGAIN)
		die("eventfd: %m");
	return 0;
}

uint64_t vu_irq_wait(struct vu *vu, unsigned int vector)
{
	struct pollfd pfd = {.events = POLLIN};
	uint64_t n;

	while (!(n = vu_irq_count(vu, vector))) {
		pfd.fd = vu->irq[vector];
		if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
			die("poll: %m");
	}
	return n;
}
