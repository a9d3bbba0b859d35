// SPDX-License-Identifier: GPL-2.0
/* The vfio-user protocol, with the test device on a real socket. */

#include <endian.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "client.h"
#include "emulated.h"
#include "harness.h"
#include "server.h"
#include "testdev.h"

#define BAR0 VFIO_PCI_BAR0_REGION_INDEX
#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define CFG VFIO_PCI_CONFIG_REGION_INDEX
#define PAGE 4096ULL
#define RW (VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE)

static struct server *server;

static int setup(void **state)
{
	(void)state;
	server = server_start_testdev();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return server_stop(server) ? 0 : -1;
}

static int connect_client(void **state)
{
	*state = vu_open(server->sock[0]);
	return *state ? 0 : -1;
}

static int connect_enabled(void **state)
{
	if (connect_client(state))
		return -1;
	vu_enable(*state, TESTDEV_VECTORS);
	return 0;
}

/* A test that failed in the middle leaves no client connected for the next one. */
static int disconnect_client(void **state)
{
	vu_close(*state);
	return 0;
}

/* The device disconnects; it may send an error first. */
static void assert_hangs_up(int fd)
{
	char buf[256];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n > 0);
	assert_true(n == 0 || errno == ECONNRESET);
	close(fd);
}

static int raw(void)
{
	int fd = vu_socket(server->sock[0]);

	assert_true(fd >= 0);
	return fd;
}

/* Version */

static int send_version(int fd, uint16_t major, uint16_t minor, const char *json, size_t len)
{
	char msg[8192];
	struct vfio_user_hdr hdr = {.id = 7, .cmd = VFIO_USER_VERSION};
	struct vfio_user_version version = {major, minor};

	hdr.size = sizeof(hdr) + sizeof(version) + len;
	memcpy(msg, &hdr, sizeof(hdr));
	memcpy(msg + sizeof(hdr), &version, sizeof(version));
	memcpy(msg + sizeof(hdr) + sizeof(version), json, len);
	return vu_send(fd, msg, hdr.size, NULL, 0);
}

static void check_version_reply(int fd, uint16_t minor, char *json, size_t max)
{
	struct vfio_user_hdr hdr;
	struct vfio_user_version version;

	assert_int_equal(vu_recv(fd, &hdr, sizeof(hdr)), 0);
	assert_int_equal(hdr.id, 7);
	assert_int_equal(hdr.cmd, VFIO_USER_VERSION);
	assert_int_equal(hdr.flags, VFIO_USER_FLAG_REPLY);
	assert_true(hdr.size > sizeof(hdr) + sizeof(version));
	assert_int_equal(vu_recv(fd, &version, sizeof(version)), 0);
	assert_int_equal(version.major, 0);
	assert_int_equal(version.minor, minor);
	assert_true(hdr.size - sizeof(hdr) - sizeof(version) <= max);
	assert_int_equal(vu_recv(fd, json, hdr.size - sizeof(hdr) - sizeof(version)), 0);
	assert_int_equal(json[hdr.size - sizeof(hdr) - sizeof(version) - 1], 0);
}

static void test_version(void **state)
{
	static const struct {
		uint16_t minor, answer;
		const char *json, *reply;
	} good[] = {
		{0, 0, "", NULL},
		{1, 1, "{}", "{\"capabilities\":{}}"},
		{9, 1, "{\"capabilities\":{}}", "{\"capabilities\":{}}"},
		{0, 0, "{\"capabilities\":{\"max_msg_fds\":8}}",
		 "{\"capabilities\":{\"max_msg_fds\":16}}"},
		{0, 0, "{\"capabilities\":{\"twin_socket\":{\"supported\":true}}}",
		 "{\"capabilities\":{}}"},
		{0, 0, "{\"capabilities\":{\"write_multiple\":true,\"pgsizes\":4096}}",
		 "{\"capabilities\":{\"pgsizes\":4096,\"write_multiple\":true}}"},
		{0, 0, "{\"something\":[1,2,3],\"else\":null}", "{\"capabilities\":{}}"},
	};
	char json[1024];
	unsigned int i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		fd = raw();
		send_version(fd, 0, good[i].minor, good[i].json,
			     *good[i].json ? strlen(good[i].json) + 1 : 0);
		check_version_reply(fd, good[i].answer, json, sizeof(json));
		if (good[i].reply)
			assert_string_equal(json, good[i].reply);
		close(fd);
	}
}

static void test_bad_version(void **state)
{
	static const char *const bad[] = {
		"x",
		"{",
		"{\"capabilities\":7}",
		"[]",
		"7",
		"{\"capabilities\":{\"max_msg_fds\":\"many\"}}",
		"{\"capabilities\":{\"max_msg_fds\":-1}}",
		"{\"capabilities\":{\"max_data_xfer_size\":null}}",
		"{\"capabilities\":{\"write_multiple\":1}}",
		"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}}}}}",
		"{\"capabilities\":{}} trailing",
	};
	char big[4200];
	unsigned int i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		fd = raw();
		send_version(fd, 0, 0, bad[i], strlen(bad[i]) + 1);
		assert_hangs_up(fd);
	}
	fd = raw();
	send_version(fd, 1, 0, "{}", 3);
	assert_hangs_up(fd);
	fd = raw();
	send_version(fd, 0, 0, "{}", 2); /* no NUL */
	assert_hangs_up(fd);
	memset(big, ' ', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	fd = raw();
	send_version(fd, 0, 0, big, sizeof(big));
	assert_hangs_up(fd);
}

/* Invalid headers end the connection, and nothing else. */
static void test_bad_header(void **state)
{
	static const struct vfio_user_hdr bad[] = {
		{1, VFIO_USER_DEVICE_GET_INFO, 32, 0, 0}, /* before the version */
		{1, VFIO_USER_VERSION, 0, 0, 0},
		{1, VFIO_USER_VERSION, 15, 0, 0},
		{1, VFIO_USER_VERSION, 16, 0, 0},
		{1, VFIO_USER_VERSION, 19, 0, 0},
		{1, VFIO_USER_VERSION, 0xffffffff, 0, 0},
		{1, VFIO_USER_VERSION, 0x7fffffff, 0, 0},
		{1, VFIO_USER_VERSION, 32, VFIO_USER_FLAG_REPLY, 0},
		{1, VFIO_USER_VERSION, 32, 0xf, 0},
	};
	struct vu *vu;
	char msg[64];
	unsigned int i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		fd = raw();
		memset(msg, 0, sizeof(msg));
		memcpy(msg, &bad[i], sizeof(bad[i]));
		vu_send(fd, msg, sizeof(msg), NULL, 0);
		assert_hangs_up(fd);
	}
	for (i = 1; i < ARRAY_SIZE(bad); i++) {
		vu = vu_open(server->sock[0]);
		assert_non_null(vu);
		if (bad[i].size == 16 || bad[i].size == 19) {
			vu_close(vu); /* a complete message: refused, see test_commands() */
			continue;
		}
		vu_send(vu->fd, &bad[i], sizeof(bad[i]), NULL, 0);
		assert_hangs_up(dup(vu->fd));
		vu_close(vu);
	}
}

/* Unknown commands, and payloads that are too short. */
static void test_commands(void **state)
{
	static const uint16_t min_len[] = {
		[VFIO_USER_DMA_MAP] = 32,
		[VFIO_USER_DMA_UNMAP] = 24,
		[VFIO_USER_DEVICE_GET_INFO] = 16,
		[VFIO_USER_DEVICE_GET_REGION_INFO] = 32,
		[VFIO_USER_DEVICE_GET_IRQ_INFO] = 16,
		[VFIO_USER_DEVICE_SET_IRQS] = 20,
		[VFIO_USER_REGION_READ] = 16,
		[VFIO_USER_REGION_WRITE] = 16,
		[VFIO_USER_DEVICE_RESET] = 0,
		[VFIO_USER_REGION_WRITE_MULTI] = 8,
	};
	static const uint16_t unknown[] = {
		0,
		VFIO_USER_DEVICE_GET_REGION_IO_FDS,
		VFIO_USER_DMA_READ,
		VFIO_USER_DMA_WRITE,
		14,
		16,
		17,
		18,
		19,
		255,
		256,
		0xffff,
	};
	uint32_t in[16];
	struct vu *vu = *state;
	unsigned int i, len;

	memset(in, 0xff, sizeof(in));
	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		assert_int_equal(vu_call(vu, unknown[i], in, sizeof(in), NULL, 0, NULL, 0, NULL),
				 -ENOTSUP);
	for (i = 0; i < ARRAY_SIZE(min_len); i++) {
		for (len = 0; len < min_len[i]; len++)
			assert_int_equal(vu_call(vu, i, in, len, NULL, 0, NULL, 0, NULL), -EINVAL);
	}
	/* The version can't be negotiated again. */
	assert_int_equal(vu_call(vu, VFIO_USER_VERSION, "\0\0\0", 4, NULL, 0, NULL, 0, NULL),
			 -EINVAL);
	/* argsz that is too small. */
	for (i = VFIO_USER_DMA_MAP; i <= VFIO_USER_DEVICE_SET_IRQS; i++) {
		if (!min_len[i])
			continue;
		memset(in, 0, sizeof(in));
		in[0] = min_len[i] - 1;
		assert_int_equal(vu_call(vu, i, in, sizeof(in), NULL, 0, NULL, 0, NULL), -EINVAL);
	}
}

static void test_info(void **state)
{
	static const uint64_t sizes[VFIO_PCI_NUM_REGIONS] = {
		[BAR0] = TESTDEV_BAR0_SIZE,
		[BAR2] = TESTDEV_BAR2_SIZE,
		[VFIO_PCI_BAR4_REGION_INDEX] = TESTDEV_BAR4_SIZE,
		[CFG] = 4096,
	};
	struct vfio_device_info info;
	struct vfio_region_info region;
	struct vfio_irq_info irq;
	struct vu *vu = *state;
	unsigned int i;

	assert_int_equal(vu_get_info(vu, &info), 0);
	assert_int_equal(info.argsz, 16);
	assert_int_equal(info.flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	assert_int_equal(info.num_regions, VFIO_PCI_NUM_REGIONS);
	assert_int_equal(info.num_irqs, VFIO_PCI_NUM_IRQS);
	for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		assert_int_equal(vu_get_region_info(vu, i, &region), 0);
		assert_int_equal(region.argsz, sizeof(region));
		assert_int_equal(region.index, i);
		assert_int_equal(region.size, sizes[i]);
		assert_int_equal(region.cap_offset, 0);
		assert_int_equal(region.flags,
				 sizes[i] ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE
					  : 0);
	}
	assert_int_equal(vu_get_region_info(vu, VFIO_PCI_NUM_REGIONS, &region), -EINVAL);
	assert_int_equal(vu_get_region_info(vu, UINT32_MAX, &region), -EINVAL);
	for (i = 0; i < VFIO_PCI_NUM_IRQS; i++) {
		assert_int_equal(vu_get_irq_info(vu, i, &irq), 0);
		assert_int_equal(irq.index, i);
		assert_int_equal(irq.count, i == VFIO_PCI_MSIX_IRQ_INDEX  ? TESTDEV_VECTORS
					    : i == VFIO_PCI_ERR_IRQ_INDEX ? 1
									  : 0);
	}
	assert_int_equal(vu_get_irq_info(vu, VFIO_PCI_NUM_IRQS, &irq), -EINVAL);
}

/* Regions */

static void test_bounds(void **state)
{
	static const struct {
		unsigned int region;
		uint64_t off;
		uint32_t len;
	} bad[] = {
		{BAR0, TESTDEV_BAR0_SIZE, 1},
		{BAR0, TESTDEV_BAR0_SIZE - 3, 4},
		{BAR0, 0, TESTDEV_BAR0_SIZE + 1},
		{BAR0, 0, 0},
		{BAR0, UINT64_MAX, 1},
		{BAR0, UINT64_MAX - 3, 8},
		{BAR0, 1ULL << 32, 4},
		{BAR0 + 1, 0, 1},
		{VFIO_PCI_BAR5_REGION_INDEX, 0, 1},
		{VFIO_PCI_ROM_REGION_INDEX, 0, 1},
		{VFIO_PCI_VGA_REGION_INDEX, 0, 1},
		{CFG, 4096, 1},
		{CFG, 4095, 2},
		{VFIO_PCI_NUM_REGIONS, 0, 1},
		{UINT32_MAX, 0, 1},
	};
	struct vu *vu = *state;
	char buf[8192] = {0};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(vu_read(vu, bad[i].region, bad[i].off, buf, bad[i].len), -EINVAL);
		assert_int_equal(vu_write(vu, bad[i].region, bad[i].off, buf, bad[i].len), -EINVAL);
	}
}

static void test_lying_count(void **state)
{
	struct vfio_user_region_rw rw = {0, BAR2, 1000};
	struct vu *vu = *state;

	/* Fewer bytes than the count says. */
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE, &rw, sizeof(rw), NULL, 0, &rw,
				 sizeof(rw), NULL),
			 -EINVAL);
	rw.count = UINT32_MAX;
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE, &rw, sizeof(rw), NULL, 0, &rw,
				 sizeof(rw), NULL),
			 -EINVAL);
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_READ, &rw, sizeof(rw), NULL, 0, &rw,
				 sizeof(rw), NULL),
			 -EINVAL);
}

/*
 * Memory in a BAR can be written and read with any offset and length; the device only sees aligned
 * accesses.
 */
static void test_access(void **state)
{
	enum {
		STEPS = 2000,
		MAX = 64
	};
	uint8_t model[1024], buf[sizeof(model)];
	struct vu *vu = *state;
	uint32_t writes;
	unsigned int i, j, off, len;

	memset(model, 0, sizeof(model));
	assert_int_equal(vu_write(vu, BAR2, 0, model, sizeof(model)), 0);
	srand(3);
	for (i = 0; i < STEPS; i++) {
		off = rand() % (sizeof(model) - MAX);
		len = 1 + rand() % MAX;
		for (j = 0; j < len; j++)
			model[off + j] = rand();
		assert_int_equal(vu_write(vu, BAR2, off, model + off, len), 0);
		off = rand() % (sizeof(model) - MAX);
		len = 1 + rand() % MAX;
		assert_int_equal(vu_read(vu, BAR2, off, buf, len), 0);
		assert_memory_equal(buf, model + off, len);
	}
	/* Naturally aligned accesses reach the device as one. */
	for (len = 1; len <= 8; len *= 2) {
		writes = vu_rd32(vu, BAR0, TESTDEV_WRITES);
		assert_int_equal(vu_write(vu, BAR2, 24, model, len), 0);
		assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_WRITES), writes + 1);
		assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_LAST_OFF), 24);
		assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_LAST_LEN), len);
	}
	/* The whole BAR at once. */
	for (i = 0; i < 2; i++) {
		uint8_t *all = calloc(1, TESTDEV_BAR2_SIZE), *back = calloc(1, TESTDEV_BAR2_SIZE);

		for (j = 0; j < TESTDEV_BAR2_SIZE; j++)
			all[j] = rand();
		assert_int_equal(vu_write(vu, BAR2, 0, all, TESTDEV_BAR2_SIZE), 0);
		assert_int_equal(vu_read(vu, BAR2, 0, back, TESTDEV_BAR2_SIZE), 0);
		assert_memory_equal(all, back, TESTDEV_BAR2_SIZE);
		free(all);
		free(back);
	}
}

static void test_write_multi(void **state)
{
	struct {
		uint64_t count;
		struct vfio_user_region_write1 wr[3];
	} msg = {.count = 3};
	uint64_t done, val = htole64(0x1122334455667788);
	struct vu *vu = *state;
	uint32_t writes = vu_rd32(vu, BAR0, TESTDEV_WRITES);
	size_t got;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		msg.wr[i].rw = (struct vfio_user_region_rw){8 * i, BAR2, 1 << i};
		memcpy(msg.wr[i].data, &val, sizeof(val));
	}
	vu_wr64(vu, BAR2, 0, 0);
	vu_wr64(vu, BAR2, 8, 0);
	vu_wr64(vu, BAR2, 16, 0);
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0,
				 &done, sizeof(done), &got),
			 0);
	assert_int_equal(got, sizeof(done));
	assert_int_equal(done, 3);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_WRITES), writes + 6);
	assert_int_equal(vu_rd64(vu, BAR2, 0), 0x88);
	assert_int_equal(vu_rd64(vu, BAR2, 8), 0x7788);
	assert_int_equal(vu_rd64(vu, BAR2, 16), 0x55667788);
	/* A wrong count, one write that is too large, one outside the BAR: nothing is written. */
	msg.count = 4;
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0, NULL,
				 0, NULL),
			 -EINVAL);
	msg.count = UINT64_MAX;
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0, NULL,
				 0, NULL),
			 -EINVAL);
	msg.count = 3;
	msg.wr[2].rw.count = 9;
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0, NULL,
				 0, NULL),
			 -EINVAL);
	msg.wr[2].rw.count = 8;
	msg.wr[2].rw.offset = TESTDEV_BAR2_SIZE - 4;
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0, NULL,
				 0, NULL),
			 -EINVAL);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_WRITES), writes + 6);
}

/* More writes than QEMU sends are refused, as they would take long. */
static void test_write_multi_limit(void **state)
{
	struct {
		uint64_t count;
		struct vfio_user_region_write1 wr[257];
	} msg = {.count = 256};
	struct vu *vu = *state;
	uint32_t writes = vu_rd32(vu, BAR0, TESTDEV_WRITES);
	unsigned int i;
	uint64_t done;

	for (i = 0; i < ARRAY_SIZE(msg.wr); i++)
		msg.wr[i].rw = (struct vfio_user_region_rw){0, BAR2, 4};
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0,
				 &done, sizeof(done), NULL),
			 0);
	assert_int_equal(done, 256);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_WRITES), writes + 256);
	msg.count = 257;
	assert_int_equal(vu_call(vu, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg), NULL, 0, NULL,
				 0, NULL),
			 -EINVAL);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_WRITES), writes + 256);
}

/* Requests without a reply are executed in order, and a refused one has no reply either. */
static void test_no_reply(void **state)
{
	struct {
		struct vfio_user_region_rw rw;
		uint32_t val;
	} wr = {{0, BAR2, 4}, 0};
	struct {
		uint64_t count;
		struct vfio_user_region_write1 wr[2];
	} multi = {2, {{{8, BAR2, 4}, {0}}, {{12, BAR2, 4}, {0}}}},
	  bad_multi = {2, {{{16, BAR2, 4}, {1}}, {{UINT64_MAX, BAR2, 4}, {1}}}};
	struct vfio_user_region_rw bad = {UINT64_MAX, BAR2, 4};
	struct vu *vu = *state;
	unsigned int i;

	vu_wr64(vu, BAR2, 16, 0);
	for (i = 1; i <= 1000; i++) {
		wr.val = htole32(i);
		wr.rw.offset = 4 * (i % 2);
		memcpy(multi.wr[i % 2].data, &wr.val, sizeof(wr.val));
		assert_int_equal(vu_post(vu, VFIO_USER_REGION_WRITE, &wr, sizeof(wr), NULL, 0), 0);
		assert_int_equal(vu_post(vu, VFIO_USER_REGION_WRITE, &bad, sizeof(bad), NULL, 0),
				 0);
		assert_int_equal(vu_post(vu, VFIO_USER_REGION_WRITE_MULTI, &multi, sizeof(multi),
					 NULL, 0),
				 0);
		assert_int_equal(vu_post(vu, VFIO_USER_REGION_WRITE_MULTI, &bad_multi,
					 sizeof(bad_multi), NULL, 0),
				 0);
		assert_int_equal(vu_post(vu, 99, NULL, 0, NULL, 0), 0);
	}
	assert_int_equal(vu_rd32(vu, BAR2, 0), 1000);
	assert_int_equal(vu_rd32(vu, BAR2, 4), 999);
	assert_int_equal(vu_rd32(vu, BAR2, 8), 1000);
	assert_int_equal(vu_rd32(vu, BAR2, 12), 999);
	assert_int_equal(vu_rd32(vu, BAR2, 16), 0);
}

/* Messages may arrive in pieces of any size. */
static void test_pieces(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_region_rw rw;
		uint32_t val;
	} msg[2] = {
		{{1, VFIO_USER_REGION_WRITE, sizeof(msg[0]) - 4, 0, 0}, {0, BAR2, 4}, htole32(42)},
		{{2, VFIO_USER_REGION_WRITE, sizeof(msg[0]) - 4, 0, 0}, {4, BAR2, 4}, htole32(43)},
	};
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_region_rw rw;
	} rep;
	struct vu *vu = *state;
	char stream[72];
	unsigned int i, n;

	/* The structure has four bytes of padding at its end. */
	assert_int_equal(sizeof(msg[0]), 40);
	memcpy(stream, &msg[0], 36);
	memcpy(stream + 36, &msg[1], 36);
	for (n = 1; n < sizeof(stream); n++) {
		for (i = 0; i < sizeof(stream); i += n)
			vu_send(vu->fd, stream + i, i + n < sizeof(stream) ? n : sizeof(stream) - i,
				NULL, 0);
		for (i = 1; i <= 2; i++) {
			assert_int_equal(vu_recv(vu->fd, &rep, sizeof(rep)), 0);
			assert_int_equal(rep.hdr.id, i);
			assert_int_equal(rep.hdr.flags, VFIO_USER_FLAG_REPLY);
		}
	}
	assert_int_equal(vu_rd32(vu, BAR2, 0), 42);
	assert_int_equal(vu_rd32(vu, BAR2, 4), 43);
}

/*
 * A client that sends requests and does not read: it gets every reply when it reads, and other
 * sockets are served meanwhile.
 */
static void test_slow_reader(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_region_rw rw;
	} req = {{0, VFIO_USER_REGION_READ, sizeof(req), 0, 0}, {0, BAR2, 65536}};
	struct vu *vu = *state;
	char *rep = malloc(sizeof(req) + 65536);
	unsigned int i, sent = 0;
	int fd;

	do {
		req.hdr.id = sent;
		if (send(vu->fd, &req, sizeof(req), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(req))
			break;
	} while (++sent < 10000);
	assert_int_equal(sent < 10000 ? errno : EAGAIN, EAGAIN);
	/* The connection is refused, so the socket is being served. */
	fd = raw();
	assert_hangs_up(fd);
	for (i = 0; i < sent; i++) {
		assert_int_equal(vu_recv(vu->fd, rep, sizeof(req) + 65536), 0);
		assert_int_equal(((struct vfio_user_hdr *)rep)->id, (uint16_t)i);
	}
	free(rep);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_COPY), 0);
}

/* Memory */

static int map_call(struct vu *vu, uint32_t flags, uint64_t addr, uint64_t size, const int *fds,
		    unsigned int num)
{
	struct vfio_user_dma_map map = {sizeof(map), flags, 0, addr, size};

	return vu_call(vu, VFIO_USER_DMA_MAP, &map, sizeof(map), fds, num, NULL, 0, NULL);
}

static void copy(struct vu *vu, uint64_t dst, uint64_t src, uint32_t len, uint32_t result)
{
	vu_wr64(vu, BAR0, TESTDEV_SRC, src);
	vu_wr64(vu, BAR0, TESTDEV_DST, dst);
	vu_wr32(vu, BAR0, TESTDEV_LEN, len);
	vu_wr32(vu, BAR0, TESTDEV_COPY, 1);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_COPY), result);
}

static void test_dma(void **state)
{
	struct vu *vu = *state;
	struct vu_mem *a = vu_mem_new(vu, 0x100000, 16 * PAGE);
	struct vu_mem *b = vu_mem_new(vu, 1ULL << 40, 16 * PAGE);
	uint32_t changes = vu_rd32(vu, BAR0, TESTDEV_CHANGES);

	strcpy((char *)a->va + 100, "over the bus");
	copy(vu, b->iova + 5, a->iova + 100, 13, 0);
	assert_string_equal((char *)b->va + 5, "over the bus");
	copy(vu, b->iova, a->iova + 16 * PAGE - 4, 5, 1);
	copy(vu, 0x1234, a->iova, 4, 1);
	assert_int_equal(vu_dma_unmap(vu, a->iova, a->size), 0);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_CHANGES), changes + 1);
	copy(vu, b->iova, a->iova, 4, 1);
	copy(vu, b->iova + 50, b->iova + 5, 13, 0);
	assert_string_equal((char *)b->va + 50, "over the bus");
	vu_cfg_wr(vu, 4, 2, 2); /* no bus master */
	copy(vu, b->iova + 50, b->iova + 5, 13, 2);
}

static void test_dma_errors(void **state)
{
	struct vfio_user_dma_unmap unmap = {sizeof(unmap), VFIO_USER_DMA_UNMAP_ALL, 0, 0};
	struct vu *vu = *state;
	struct vu_mem *mem = vu_mem_new(vu, 0x100000, 4 * PAGE);
	int fds[2] = {mem->fd, mem->fd};

	assert_int_equal(vu_dma_map(vu, 0x100000, 4 * PAGE, mem->fd, 0, RW), -EEXIST);
	assert_int_equal(vu_dma_map(vu, 0x101000, PAGE, mem->fd, 0, RW), -EEXIST);
	assert_int_equal(vu_dma_map(vu, 0xff000, 2 * PAGE, mem->fd, 0, RW), -EEXIST);
	assert_int_equal(vu_dma_map(vu, 0x200000, 0, mem->fd, 0, RW), -EINVAL);
	assert_int_equal(vu_dma_map(vu, UINT64_MAX - 10, PAGE, mem->fd, 0, RW), -EINVAL);
	assert_int_equal(vu_dma_map(vu, 0x200000, 5 * PAGE, mem->fd, 0, RW), -EINVAL);
	assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, mem->fd, 4 * PAGE, RW), -EINVAL);
	assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, mem->fd, 0, 4), -EINVAL);
	assert_int_equal(map_call(vu, RW, 0x200000, PAGE, fds, 2), -EINVAL);
	assert_int_equal(vu_dma_unmap(vu, 0x200000, PAGE), -ENOENT);
	assert_int_equal(vu_dma_unmap(vu, 0x100000, PAGE), -ENOENT);
	assert_int_equal(vu_dma_unmap(vu, 0x100000, 0), -ENOENT);
	/* Without a descriptor: the region is known, but not accessible. */
	assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, -1, 0, RW), 0);
	copy(vu, 0x100000, 0x200000, 4, 1);
	assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, mem->fd, 0, RW), -EEXIST);
	assert_int_equal(vu_dma_unmap(vu, 0x200000, PAGE), 0);
	/* Read-only. */
	assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, mem->fd, 0, VFIO_USER_DMA_READABLE), 0);
	copy(vu, 0x100000, 0x200000, 4, 0);
	copy(vu, 0x200000, 0x100000, 4, 1);
	/* All of it. */
	unmap.size = 1;
	assert_int_equal(vu_call(vu, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0, &unmap,
				 sizeof(unmap), NULL),
			 -EINVAL);
	unmap.size = 0;
	assert_int_equal(vu_call(vu, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0, &unmap,
				 sizeof(unmap), NULL),
			 0);
	server_wait_maps(server, 0);
	copy(vu, 0x100000, 0x100000, 4, 1);
	unmap.flags = 1; /* with a dirty bitmap */
	assert_int_equal(vu_call(vu, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0, &unmap,
				 sizeof(unmap), NULL),
			 -EINVAL);
}

static void test_dma_churn(void **state)
{
	struct vu *vu = *state;
	struct vu_mem *mem = vu_mem_new(vu, 0x100000, 64 * PAGE);
	unsigned int fds = server_count_fds(server), i;

	for (i = 0; i < 2000; i++) {
		assert_int_equal(vu_dma_map(vu, 0x10000000 + i % 7 * PAGE, PAGE,
					    i % 3 ? mem->fd : -1, i % 64 * PAGE, RW),
				 0);
		assert_int_equal(vu_dma_unmap(vu, 0x10000000 + i % 7 * PAGE, PAGE), 0);
	}
	assert_int_equal(server_count_fds(server), fds);
	server_wait_maps(server, 1);
}

/* The client truncates memory that it has shared. */
static void test_truncated_memory(void **state)
{
	struct vu *vu = *state;
	struct vu_mem *a = vu_mem_new(vu, 0x100000, 16 * PAGE);
	struct vu_mem *b = vu_mem_new(vu, 0x200000, 16 * PAGE);

	if (BYTE_ORDER == BIG_ENDIAN)
		skip_emulated("a SIGBUS has the wrong address");
	memset(b->va, 0xff, 16 * PAGE);
	assert_int_equal(ftruncate(a->fd, PAGE), 0);
	copy(vu, b->iova, a->iova, 16 * PAGE, 0);
	assert_int_equal(b->va[0], 0);
	assert_int_equal(b->va[16 * PAGE - 1], 0);
	copy(vu, a->iova, b->iova, 16 * PAGE, 0);
	assert_true(server_logged(server, "guest memory vanished"));
}

/* Descriptors */

static void test_fds(void **state)
{
	struct vfio_user_dma_map map = {sizeof(map), RW, 0, 0x300000, PAGE};
	struct vu *vu = *state;
	struct vu_mem *mem = vu_mem_new(vu, 0x100000, PAGE);
	unsigned int before = server_count_fds(server), i;
	int fds[40];

	skip_emulated("the descriptors that a message has too many of stay open");
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = mem->fd;
	/* Descriptors with messages that have none, and more than a message may have. */
	for (i = 0; i < 50; i++) {
		assert_int_equal(
			vu_call(vu, VFIO_USER_DEVICE_RESET, NULL, 0, fds, 16, NULL, 0, NULL), 0);
		assert_int_equal(vu_call(vu, 77, NULL, 0, fds, 16, NULL, 0, NULL), -ENOTSUP);
		assert_int_equal(vu_call(vu, VFIO_USER_DEVICE_RESET, NULL, 0, fds, 40, NULL, 0,
					 NULL),
				 -EINVAL);
		assert_int_equal(vu_call(vu, VFIO_USER_DMA_MAP, &map, sizeof(map), fds, 17, NULL, 0,
					 NULL),
				 -EINVAL);
		assert_int_equal(vu_post(vu, 77, NULL, 0, fds, 3), 0);
	}
	assert_int_equal(vu_get_info(vu, &(struct vfio_device_info){0}), 0);
	assert_int_equal(server_count_fds(server), before);
}

/* Descriptors belong to the message that they came with, even if messages are pipelined. */
static void test_fds_of_message(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_dma_map map;
	} msg = {{1, VFIO_USER_DMA_MAP, sizeof(msg), 0, 0}, {sizeof(msg.map), RW, 0, 0, PAGE}};
	struct vfio_user_hdr rep;
	struct vu *vu = *state;
	struct vu_mem *mem = vu_mem_new(vu, 0x100000, 2 * PAGE);
	unsigned int i;

	memset(mem->va, 0x77, PAGE);
	for (i = 0; i < 8; i++) {
		msg.hdr.id = i;
		msg.map.addr = 0x1000000 + i * PAGE;
		vu_send(vu->fd, &msg, sizeof(msg), &mem->fd, i % 2);
	}
	for (i = 0; i < 8; i++) {
		assert_int_equal(vu_recv(vu->fd, &rep, sizeof(rep)), 0);
		assert_int_equal(rep.flags, VFIO_USER_FLAG_REPLY);
	}
	for (i = 0; i < 8; i++)
		copy(vu, 0x100000 + PAGE, 0x1000000 + i * PAGE, 4, i % 2 ? 0 : 1);
}

/* Clients */

static void test_second_client(void **state)
{
	struct vu *vu = *state;
	struct pollfd pfd;

	pfd.fd = raw();
	assert_hangs_up(pfd.fd);
	assert_null(vu_open(server->sock[0]));
	assert_int_equal(vu_get_info(vu, &(struct vfio_device_info){0}), 0);
	assert_true(server_logged(server, "second client refused"));
}

static void test_reconnect(void **state)
{
	unsigned int fds, resets, i;
	struct vu *vu;

	(void)state;
	vu = vu_open(server->sock[0]);
	vu_enable(vu, 0);
	resets = vu_rd32(vu, BAR0, TESTDEV_RESETS);
	fds = server_count_fds(server);
	vu_close(vu);
	for (i = 1; i <= 100; i++) {
		vu = vu_open(server->sock[0]);
		assert_non_null(vu);
		/* The configuration of the last client is gone. */
		assert_int_equal(vu_cfg_rd(vu, 4, 2), 0);
		assert_int_equal(server_count_fds(server), fds);
		server_wait_maps(server, 0);
		vu_enable(vu, TESTDEV_VECTORS);
		vu_mem_new(vu, 0x100000, 16 * PAGE);
		vu_mem_new(vu, 0x200000, 16 * PAGE);
		assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), resets + i);
		server_wait_maps(server, 2);
		copy(vu, 0x100000, 0x200000, 4, 0);
		vu_close(vu);
	}
}

/* Clients that disconnect after every byte of a message, with descriptors in transit. */
static void test_vanish(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_dma_map map;
	} msg = {{1, VFIO_USER_DMA_MAP, sizeof(msg), 0, 0},
		 {sizeof(msg.map), RW, 0, 0x400000, PAGE}};
	unsigned int fds, i;
	struct vu_mem *mem;
	struct vu *vu;

	(void)state;
	vu = vu_open(server->sock[0]);
	fds = server_count_fds(server);
	vu_close(vu);
	for (i = 1; i <= sizeof(msg); i++) {
		vu = vu_open(server->sock[0]);
		assert_non_null(vu);
		assert_int_equal(server_count_fds(server), fds);
		mem = vu_mem_new(vu, 0x100000, PAGE);
		vu_send(vu->fd, &msg, i, &mem->fd, 1);
		vu_close(vu);
	}
	/* Before the version, too. */
	for (i = 0; i < 20; i++) {
		int fd = raw();

		vu_send(fd, &msg, i, NULL, 0);
		close(fd);
	}
	vu = vu_open(server->sock[0]);
	assert_non_null(vu);
	assert_int_equal(server_count_fds(server), fds);
	vu_close(vu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_bad_version),
		cmocka_unit_test(test_bad_header),
		cmocka_unit_test_setup_teardown(test_commands, connect_client, disconnect_client),
		cmocka_unit_test_setup_teardown(test_info, connect_client, disconnect_client),
		cmocka_unit_test_setup_teardown(test_bounds, connect_enabled, disconnect_client),
		cmocka_unit_test_setup_teardown(test_lying_count, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_access, connect_enabled, disconnect_client),
		cmocka_unit_test_setup_teardown(test_write_multi, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_write_multi_limit, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_no_reply, connect_enabled, disconnect_client),
		cmocka_unit_test_setup_teardown(test_pieces, connect_enabled, disconnect_client),
		cmocka_unit_test_setup_teardown(test_slow_reader, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_dma, connect_enabled, disconnect_client),
		cmocka_unit_test_setup_teardown(test_dma_errors, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_dma_churn, connect_enabled, disconnect_client),
		cmocka_unit_test_setup_teardown(test_truncated_memory, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_fds, connect_client, disconnect_client),
		cmocka_unit_test_setup_teardown(test_fds_of_message, connect_enabled,
						disconnect_client),
		cmocka_unit_test_setup_teardown(test_second_client, connect_client,
						disconnect_client),
		cmocka_unit_test(test_reconnect),
		cmocka_unit_test(test_vanish),
	};

	return RUN_TESTS(tests, setup, teardown);
}
