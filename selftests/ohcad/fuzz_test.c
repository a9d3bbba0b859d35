// SPDX-License-Identifier: GPL-2.0
/*
 * Mostly random messages on the socket of a device with a second HCA that is used normally.  The
 * device may refuse messages and disconnect.  It must not crash, leak, or disturb the other HCA.
 *
 * fuzz_test [SEED [MESSAGES]]
 */

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "client.h"
#include "emulated.h"
#include "harness.h"
#include "ohca/ohca_regs.h"
#include "server.h"

#define REGS (VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_REGS)
#define MAX_PAYLOAD 5000
#define PAGE 4096

static unsigned long seed = 1, messages = 20000;
static uint64_t rng;

/* xorshift64*: the same everywhere. */
static uint32_t rnd(uint32_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return below ? ((rng * 0x2545f4914f6cdd1dULL) >> 32) % below : 0;
}

static uint64_t interesting(void)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		3,
		4,
		7,
		8,
		15,
		16,
		31,
		32,
		64,
		255,
		256,
		4095,
		4096,
		4097,
		65535,
		65536,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x100000000,
		1ULL << 47,
		INT64_MAX,
		1ULL << 63,
		UINT64_MAX - 4095,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	switch (rnd(4)) {
	case 0:
		return (uint64_t)rnd(0) << 32 | rnd(UINT32_MAX);
	case 1:
		return rnd(64) * PAGE;
	default:
		return values[rnd(ARRAY_SIZE(values))] + rnd(3) - 1;
	}
}

/* Descriptors to send: memory, an eventfd, invalid kinds. */
struct things {
	int fds[4];
};

static void things_init(struct things *t)
{
	t->fds[0] = memfd_create("fuzz", MFD_CLOEXEC);
	t->fds[1] = eventfd(0, EFD_CLOEXEC);
	t->fds[2] = STDIN_FILENO;
	t->fds[3] = memfd_create("empty", MFD_CLOEXEC);
	assert_int_equal(ftruncate(t->fds[0], 64 * PAGE), 0);
}

static void things_fini(struct things *t)
{
	close(t->fds[0]);
	close(t->fds[1]);
	close(t->fds[3]);
}

/* A payload of the right form for @cmd, mostly with invalid values. */
static uint32_t make_payload(uint16_t cmd, uint8_t *buf)
{
	struct vfio_user_dma_map map = {sizeof(map), rnd(4), rnd(8) * PAGE, interesting(),
					(1 + rnd(8)) * PAGE};
	struct vfio_user_dma_unmap unmap = {sizeof(unmap), rnd(8) ? 0 : rnd(4), interesting(),
					    (1 + rnd(8)) * PAGE};
	struct vfio_user_region_rw rw = {rnd(2) ? rnd(PAGE) : interesting(), rnd(10), 1 + rnd(64)};
	struct vfio_irq_set set = {sizeof(set), 1 << rnd(3) | 8 << rnd(3), rnd(6), rnd(34), rnd(6)};
	uint32_t argsz = 8 + rnd(40), i, len;
	uint64_t count = rnd(20);

	for (i = 0; i < MAX_PAYLOAD; i += 4) {
		uint32_t word = rnd(3) ? rnd(UINT32_MAX) : (uint32_t)interesting();

		memcpy(buf + i, &word, 4);
	}
	switch (cmd) {
	case VFIO_USER_DMA_MAP:
		memcpy(buf, &map, sizeof(map));
		len = sizeof(map);
		break;
	case VFIO_USER_DMA_UNMAP:
		memcpy(buf, &unmap, sizeof(unmap));
		len = sizeof(unmap);
		break;
	case VFIO_USER_DEVICE_SET_IRQS:
		len = sizeof(set) + rnd(2) * rnd(40);
		set.argsz = len;
		memcpy(buf, &set, sizeof(set));
		break;
	case VFIO_USER_REGION_READ:
	case VFIO_USER_REGION_WRITE:
		memcpy(buf, &rw, sizeof(rw));
		len = sizeof(rw) + (cmd == VFIO_USER_REGION_WRITE ? rw.count : 0);
		break;
	case VFIO_USER_REGION_WRITE_MULTI:
		memcpy(buf, &count, sizeof(count));
		for (i = 0; i < count; i++) {
			rw.region = rnd(10);
			rw.offset = rnd(PAGE);
			rw.count = rnd(10);
			memcpy(buf + 8 + 24 * i, &rw, sizeof(rw));
		}
		len = 8 + 24 * count;
		break;
	default:
		memcpy(buf, &argsz, sizeof(argsz));
		i = rnd(10);
		memcpy(buf + 8, &i, sizeof(i));
		len = 8 + rnd(40);
	}
	return rnd(10) ? len : rnd(MAX_PAYLOAD);
}

static void send_random(int fd, const struct things *things)
{
	uint8_t msg[sizeof(struct vfio_user_hdr) + MAX_PAYLOAD + 4];
	struct vfio_user_hdr hdr = {
		.id = rnd(65536),
		.cmd = rnd(20) ? 1 + rnd(16) : rnd(65536),
		.flags = rnd(20) ? rnd(2) * VFIO_USER_FLAG_NO_REPLY : rnd(64),
		.error = rnd(8) ? 0 : rnd(200),
	};
	uint32_t len = make_payload(hdr.cmd, msg + sizeof(hdr));
	int fds[20];
	unsigned int num = rnd(3) ? rnd(2) : rnd(20), i;

	hdr.size = rnd(200) ? sizeof(hdr) + len : (uint32_t)interesting();
	memcpy(msg, &hdr, sizeof(hdr));
	if (!rnd(50))
		msg[rnd(sizeof(hdr) + len)] ^= 1 << rnd(8);
	for (i = 0; i < num; i++)
		fds[i] = things->fds[rnd(10) ? (hdr.cmd == VFIO_USER_DMA_MAP ? 0 : 1) : rnd(4)];
	vu_send(fd, msg, rnd(100) ? sizeof(hdr) + len : rnd(sizeof(hdr) + len), fds, num);
}

/*
 * Read the available replies, so that the device does not wait for the test; false when it
 * disconnected.
 */
static bool drain(int fd)
{
	char buf[8192];
	ssize_t n;

	for (;;) {
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN;
		if (!n)
			return false;
	}
}

/* Wait until another message can be sent, or the end; both sides never wait for each other. */
static bool wait_writable(int fd)
{
	struct pollfd pfd = {fd, POLLIN | POLLOUT, 0};

	for (;;) {
		if (!drain(fd))
			return false;
		if (poll(&pfd, 1, -1) < 0)
			return false;
		if (pfd.revents & (POLLHUP | POLLERR))
			return false;
		if (pfd.revents & POLLOUT)
			return true;
	}
}

static void check_other(struct vu *vu)
{
	assert_int_equal(vu_rd32(vu, REGS, OHCA_REG_MAGIC), OHCA_MAGIC);
	assert_int_equal(vu_rd32(vu, REGS, OHCA_REG_STATUS), 0);
}

static void test_fuzz(void **state)
{
	struct server *server = server_start(2);
	struct vu *other = vu_open(server->sock[1]), *vu;
	unsigned int fds, connections = 0;
	struct things things;
	unsigned long i;
	int fd = -1;

	(void)state;
	rng = seed * 0x9e3779b97f4a7c15ULL | 1;
	print_message("# seed %lu, %lu messages\n", seed, messages);
	assert_non_null(other);
	vu_enable(other, 8);
	vu_mem_new(other, 0, 1 << 20);
	vu = vu_open(server->sock[0]);
	fds = server_count_fds(server);
	vu_close(vu);
	things_init(&things);
	for (i = 0; i < messages; i++) {
		if (fd >= 0 && (!wait_writable(fd) || !rnd(500))) {
			close(fd);
			fd = -1;
		}
		if (fd < 0) {
			connections++;
			vu = vu_open(server->sock[0]);
			assert_non_null(vu);
			if (rnd(4))
				vu_enable(vu, 0);
			fd = dup(vu->fd);
			vu_close(vu);
		}
		send_random(fd, &things);
		if (i % 500 == 0)
			check_other(other);
	}
	close(fd);
	things_fini(&things);
	/* The state of all earlier clients is gone when the next one connects. */
	vu = vu_open(server->sock[0]);
	assert_non_null(vu);
	/* In qemu-user, descriptors that a message has too many of stay open. */
	if (!is_emulated())
		assert_int_equal(server_count_fds(server), fds);
	server_wait_maps(server, 1);
	vu_close(vu);
	check_other(other);
	vu_close(other);
	print_message("# %u connections\n", connections);
	assert_true(server_stop(server));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fuzz),
	};

	if (argc > 1)
		seed = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		messages = strtoul(argv[2], NULL, 0);
	return RUN_TESTS(tests, NULL, NULL);
}
