// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: messages of a client to the socket of an HCA; see vfio_user_input.h. */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "fabric/fabric.h"
#include "vfio_user_input.h"
#include "hca/adapter.h"
#include "listener_end.h"
#include "target.h"
#include "vfio/vfio_user_msg.h"
#include "vfio/vfio_user_wire.h"
#include "world.h"

#define STEPS 2 /* rounds of the device after each record */
#define TRIES 50 /* attempts to send what the socket does not accept */
#define MAX_BYTES 20000

static struct fabric fabric;
static struct loop *loop;
static struct hca *hca;
static int fds[4]; /* descriptors to send, by CLIENT_FD_KIND */
static int client = -1;
static bool deaf;
static uint8_t *replies; /* VFIO_USER_MAX_PAYLOAD bytes */

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	abort();
}

/*
 * Called before the device's vfio_user_cmd.c (--wrap): copies a message to memory of exactly its
 * length, and gives replies memory of exactly the available length.  The device's connection has
 * both in one buffer.
 */

typedef int execute_fn(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev);

execute_fn __real_vfio_user_execute, __wrap_vfio_user_execute;
int __real_vfio_user_negotiate(struct vfio_user_request *req);
int __wrap_vfio_user_negotiate(struct vfio_user_request *req);

static int negotiate(struct vfio_user_request *req, const struct vfio_user_ops *ops, void *dev)
{
	(void)ops;
	(void)dev;
	return __real_vfio_user_negotiate(req);
}

static int execute_apart(execute_fn *execute, struct vfio_user_request *req,
			 const struct vfio_user_ops *ops, void *dev)
{
	uint8_t *in = malloc(req->in_len ?: 1), *to = req->out;
	int err;

	must(in, "memory");
	if (req->in_len)
		memcpy(in, req->in, req->in_len);
	req->in = in;
	req->out = replies;
	err = execute(req, ops, dev);
	if (req->out_len)
		memcpy(to, replies, req->out_len);
	req->out = to;
	free(in);
	return err;
}

int __wrap_vfio_user_execute(struct vfio_user_request *req, const struct vfio_user_ops *ops,
			     void *dev)
{
	return execute_apart(__real_vfio_user_execute, req, ops, dev);
}

int __wrap_vfio_user_negotiate(struct vfio_user_request *req)
{
	return execute_apart(negotiate, req, NULL, NULL);
}

static bool poll_hca(void *arg)
{
	struct hca *one = arg;

	return hcas_poll(&one, 1);
}

static bool sleep_hca(void *arg)
{
	return hca_sleep(arg);
}

static void stop(void)
{
	hca_free(hca);
	loop_free(loop);
	free(replies);
}

static void start(void)
{
	const struct hca_options opts = {
		.name = "hca0", .socket = "socket", .mac = {2, 0, 0, 0, 0, 1}};
	int pair[2];

	fds[0] = memfd_create("guest", MFD_CLOEXEC);
	fds[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fds[2] = memfd_create("empty", MFD_CLOEXEC);
	must(fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0, "descriptors");
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "socketpair");
	fds[3] = pair[0];
	close(pair[1]);
	replies = malloc(VFIO_USER_MAX_PAYLOAD);
	must(replies, "memory");
	fabric_init(&fabric);
	loop = loop_new();
	hca = loop ? hca_new(loop, &fabric, &opts) : NULL;
	must(hca, "HCA");
	loop_set_poller(loop, &(struct poller){poll_hca, sleep_hca, hca}, 0);
	atexit(stop);
}

/* Read the available replies, and the descriptors with them. */
static void read_replies(void)
{
	static uint8_t bytes[65536];
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {bytes, sizeof(bytes)};

	for (;;) {
		struct msghdr msg = {.msg_iov = &iov,
				     .msg_iovlen = 1,
				     .msg_control = &control,
				     .msg_controllen = sizeof(control)};
		int fd;

		if (recvmsg(client, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
			return;
		if (!CMSG_FIRSTHDR(&msg))
			continue;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
		close(fd);
	}
}

static void step(void)
{
	unsigned int i;

	for (i = 0; i < STEPS; i++)
		loop_step(loop, 0);
	if (!deaf)
		read_replies();
}

/* False: the device does not accept all of it, or has disconnected. */
static bool send_bytes(const uint8_t *bytes, size_t len, const int *send_fds, unsigned int num)
{
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int) * CLIENT_MAX_FDS)];
	} control = {.hdr = {.cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS,
			     .cmsg_len = CMSG_LEN(sizeof(int) * num)}};
	unsigned int tries = 0;

	if (num)
		memcpy(CMSG_DATA(&control.hdr), send_fds, sizeof(int) * num);
	while (len && tries++ < TRIES) {
		struct iovec iov = {(void *)bytes, len};
		struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
		ssize_t sent;

		if (num) {
			msg.msg_control = &control;
			msg.msg_controllen = CMSG_SPACE(sizeof(int) * num);
		}
		sent = sendmsg(client, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			return false;
		if (sent > 0) {
			bytes += sent;
			len -= sent;
			num = 0;
		} else {
			step();
		}
	}
	return !len;
}

static void send_version(void)
{
	static const char caps[] = "{\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true}"
				   "}";
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_version version;
		char caps[sizeof(caps)];
	} __attribute__((packed)) msg = {
		.hdr = {.cmd = VFIO_USER_VERSION, .size = sizeof(msg)},
		.version = {VFIO_USER_MAJOR, VFIO_USER_MINOR},
	};

	memcpy(msg.caps, caps, sizeof(caps));
	send_bytes((const uint8_t *)&msg, sizeof(msg), NULL, 0);
	step();
}

static void connect_client(bool negotiate)
{
	int pair[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), "socketpai"
											"r");
	client = pair[0];
	deaf = false;
	listener_end_accept(pair[1]);
	if (negotiate)
		send_version();
}

/* Disconnect, and let the device notice. */
static void hang_up(void)
{
	close(client);
	client = -1;
	deaf = true;
	step();
	step();
}

static void send_message(const struct client_record *rec, const uint8_t *bytes, size_t len,
			 const int *send_fds, unsigned int num)
{
	struct vfio_user_hdr hdr = {
		.cmd = rec->cmd,
		.size = sizeof(hdr) + len,
		.flags = rec->kind & CLIENT_NO_REPLY ? VFIO_USER_FLAG_NO_REPLY : 0,
	};
	bool halves = (rec->kind & ~CLIENT_NO_REPLY) % CLIENT_KINDS == CLIENT_HALVES;
	uint8_t msg[sizeof(hdr) + MAX_BYTES];
	size_t first = halves ? (sizeof(hdr) + len) / 2 : 0;

	memcpy(msg, &hdr, sizeof(hdr));
	memcpy(msg + sizeof(hdr), bytes, len);
	if (first && send_bytes(msg, first, send_fds, num)) {
		step();
		num = 0;
	}
	send_bytes(msg + first, sizeof(hdr) + len - first, send_fds, num);
}

static void change_mem(const uint8_t *bytes, size_t len)
{
	uint32_t off;

	if (len <= sizeof(off))
		return;
	memcpy(&off, bytes, sizeof(off));
	off = le32toh(off) % CLIENT_MEM_SIZE;
	len -= sizeof(off);
	if (len > CLIENT_MEM_SIZE - off)
		len = CLIENT_MEM_SIZE - off;
	must(pwrite(fds[0], bytes + sizeof(off), len, off) == (ssize_t)len, "shared memory");
}

static void happen(struct input *in, const struct client_record *rec)
{
	unsigned int num = (rec->fds & ~CLIENT_FD_KIND) % CLIENT_MAX_FDS, i;
	size_t len = le16toh(rec->len);
	int send_fds[CLIENT_MAX_FDS];
	const uint8_t *bytes;

	if (len > MAX_BYTES)
		len = MAX_BYTES;
	bytes = input_bytes(in, &len);
	for (i = 0; i < num; i++)
		send_fds[i] = fds[(rec->fds & CLIENT_FD_KIND) / CLIENT_FD_EVENT];
	switch ((rec->kind & ~CLIENT_NO_REPLY) % CLIENT_KINDS) {
	case CLIENT_BYTES:
		send_bytes(bytes, len, send_fds, num);
		break;
	case CLIENT_DEAF:
		deaf = !deaf;
		break;
	case CLIENT_HANG_UP:
		hang_up();
		connect_client(!(rec->cmd & 1));
		break;
	case CLIENT_MEM:
		change_mem(bytes, len);
		break;
	case CLIENT_SHRINK:
		must(!ftruncate(fds[0], len % CLIENT_MEM_SIZE), "ftruncate");
		break;
	case CLIENT_TIME:
		world_sleep((uint64_t)rec->len << (rec->cmd % 24));
		break;
	default:
		send_message(rec, bytes, len, send_fds, num);
	}
}

/* The lowest free descriptor: it is another one than before if a descriptor was left open. */
static int lowest_fd(void)
{
	int fd = dup(fds[1]);

	must(fd >= 0, "dup");
	close(fd);
	return fd;
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct client_record rec;
	uint64_t events;
	int lowest;

	if (!hca)
		start();
	lowest = lowest_fd();
	world_begin();
	must(!ftruncate(fds[0], 0) && !ftruncate(fds[0], CLIENT_MEM_SIZE), "ftruncate");
	connect_client(true);
	while (input_get(&in, &rec, sizeof(rec))) {
		happen(&in, &rec);
		step();
	}
	hang_up();
	/* Interrupts that were raised; the next input must not find them. */
	if (read(fds[1], &events, sizeof(events)) < 0)
		must(errno == EAGAIN, "eventfd");
	errno = 0;
	must(lowest_fd() == lowest, "descriptors are left");
	must(!hca->dma->num, "memory is left");
	return 0;
}
