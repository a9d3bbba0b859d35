// SPDX-License-Identifier: GPL-2.0
/*
 * The device's process is killed: the keeper answers its clients like an absent device, and the
 * keeper process lives as long as they do.
 */

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <linux/pci_regs.h>
#include <linux/sockios.h>

#include "client.h"
#include "emulated.h"
#include "harness.h"
#include "ohca/ohca_regs.h"
#include "server.h"
#include "stream.h"
#include "testdev.h"

#define NO_RESULT "a process that is killed in sendmmsg() may not know what was sent"

#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define CFG VFIO_PCI_CONFIG_REGION_INDEX
#define PAGE 4096ULL
#define RW (VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE)
#define TAKEN_OVER "the device is dead"

/* Descriptors without clients: standard input and output, the log, the dead device, epoll */
#define KEEPER_FDS 5

/**
 * struct bed - a device with a client
 * @keeper: its keeper, a pidfd
 */
struct bed {
	struct server *server;
	struct vu *vu;
	int keeper;
	pid_t keeper_pid;
};

static void bed_init(struct bed *bed, struct server *server)
{
	bed->server = server;
	bed->keeper = server_keeper(server, &bed->keeper_pid);
	bed->vu = vu_open(server->sock[0]);
	assert_non_null(bed->vu);
	vu_enable(bed->vu, 4);
}

static bool keeper_lives(const struct bed *bed)
{
	struct pollfd pfd = {.fd = bed->keeper, .events = POLLIN};

	return poll(&pfd, 1, 0) == 0;
}

static void wait_for_keeper(const struct bed *bed)
{
	struct pollfd pfd = {.fd = bed->keeper, .events = POLLIN};

	assert_int_equal(poll(&pfd, 1, -1), 1);
}

/* The client disconnects; afterwards no process is left. */
static void bed_fini(struct bed *bed)
{
	vu_close(bed->vu);
	if (!bed->server->pid)
		wait_for_keeper(bed);
	assert_true(server_stop(bed->server));
	wait_for_keeper(bed);
	close(bed->keeper);
}

static void stream_bed_init(struct bed *bed, struct stream *stream)
{
	bed_init(bed, server_start_testdev());
	stream_init(stream, bed->vu, BAR2);
}

/* All requests were answered, the last ones by the keeper. */
static void stream_bed_fini(struct bed *bed, struct stream *stream)
{
	stream_finish(stream);
	assert_true(stream->gone);
	stream_fini(stream);
	bed_fini(bed);
}

/* Stop the device with SIGSTOP. */
static void stop(const struct bed *bed)
{
	kill(bed->server->pid, SIGSTOP);
	assert_int_equal(waitid(P_PID, bed->server->pid, &(siginfo_t){0}, WSTOPPED | WNOWAIT), 0);
}

static void check_memory(struct vu *vu)
{
	struct vfio_user_dma_unmap all = {sizeof(all), VFIO_USER_DMA_UNMAP_ALL, 0, 0};
	struct vu_mem *mem = vu_mem_new(vu, 0x100000, 4 * PAGE);
	unsigned int i;

	for (i = 0; i < 100; i++) {
		assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, mem->fd, 0, RW), 0);
		assert_int_equal(vu_dma_unmap(vu, 0x200000, PAGE), 0);
	}
	assert_int_equal(vu_dma_map(vu, 0x200000, PAGE, -1, 0, RW), 0);
	assert_int_equal(vu_call(vu, VFIO_USER_DMA_UNMAP, &all, sizeof(all), NULL, 0, &all,
				 sizeof(all), NULL),
			 0);
}

static void check_interrupts(struct vu *vu)
{
	assert_int_equal(vu_set_irqs(vu, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
				     VFIO_PCI_MSIX_IRQ_INDEX, 0, 4, NULL, vu->irq, 4),
			 0);
	assert_int_equal(vu_set_irqs(vu, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
				     VFIO_PCI_MSIX_IRQ_INDEX, 0, 0, NULL, NULL, 0),
			 0);
}

static void check_regions(struct vu *vu)
{
	uint8_t data[256], ones[sizeof(data)];
	unsigned int i;

	memset(data, 0, sizeof(data));
	memset(ones, 0xff, sizeof(ones));
	assert_int_equal(vu_write(vu, BAR2, 16, data, sizeof(data)), 0);
	assert_int_equal(vu_read(vu, BAR2, 16, data, sizeof(data)), 0);
	assert_memory_equal(data, ones, sizeof(data));
	for (i = 0; i < 1000; i++)
		assert_int_equal(vu_post(vu, 99, data, i % sizeof(data), NULL, 0), 0);
	assert_int_equal(vu_cfg_rd(vu, PCI_VENDOR_ID, 4), UINT32_MAX);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	assert_int_equal(vu_cfg_rd(vu, PCI_COMMAND, 2), 0xffff);
	/* What did not exist before still does not. */
	assert_int_equal(vu_read(vu, CFG, 4096, data, 1), -EINVAL);
	assert_int_equal(vu_read(vu, VFIO_PCI_BAR1_REGION_INDEX, 0, data, 1), -EINVAL);
	assert_int_equal(vu_call(vu, 99, data, 4, NULL, 0, NULL, 0, NULL), -ENOTSUP);
}

/* What the client can query of the device, which does not change. */
struct looks {
	struct vfio_device_info info;
	struct vfio_region_info region[VFIO_PCI_NUM_REGIONS];
	struct vfio_irq_info irq[VFIO_PCI_NUM_IRQS];
};

static void look(struct vu *vu, struct looks *looks)
{
	unsigned int i;

	memset(looks, 0, sizeof(*looks));
	assert_int_equal(vu_get_info(vu, &looks->info), 0);
	for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++)
		assert_int_equal(vu_get_region_info(vu, i, &looks->region[i]), 0);
	for (i = 0; i < VFIO_PCI_NUM_IRQS; i++)
		assert_int_equal(vu_get_irq_info(vu, i, &looks->irq[i]), 0);
}

static void test_idle(void **state)
{
	struct looks before, after;
	struct bed bed;

	(void)state;
	bed_init(&bed, server_start_testdev());
	look(bed.vu, &before);
	assert_false(server_logged(bed.server, TAKEN_OVER));
	server_kill(bed.server);
	assert_int_equal(vu_cfg_rd(bed.vu, PCI_VENDOR_ID, 2), 0xffff);
	assert_true(server_logged(bed.server, TAKEN_OVER));
	look(bed.vu, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	check_regions(bed.vu);
	check_memory(bed.vu);
	check_interrupts(bed.vu);
	assert_int_equal(vu_reset(bed.vu), 0);
	/* One for the client, and none of those that came with messages. */
	assert_int_equal(server_count_fds_of(bed.keeper_pid), KEEPER_FDS + 1);
	bed_fini(&bed);
}

/* A message of the client is only partly sent when the device dies. */
static void test_half_request(void **state)
{
	struct stream stream;
	struct bed bed;
	size_t cut;

	(void)state;
	for (cut = 1; cut < 48; cut += cut < 15 || cut > 17 ? 7 : 1) {
		stream_bed_init(&bed, &stream);
		stream_write(&stream, 0, 16, false);
		assert_int_equal(stream.len, 48);
		stream_move(&stream, cut);
		server_wait_idle(bed.server);
		server_kill(bed.server);
		stream_read(&stream, 0, 64);
		stream_bed_fini(&bed, &stream);
	}
}

/* Whole requests that the device has not read. */
static void test_unread(void **state)
{
	struct stream stream;
	struct bed bed;
	unsigned int i;

	(void)state;
	skip_emulated(NO_RESULT);
	stream_bed_init(&bed, &stream);
	stop(&bed);
	for (i = 0; i < 50; i++) {
		stream_write(&stream, 4 * i, 4, true);
		stream_write_multi(&stream, 8 * i, i % STREAM_MAX_MULTI);
		stream_write(&stream, 4 * i, 4, false);
		stream_read(&stream, 4 * i, 8);
		stream_unknown(&stream, i);
	}
	stream_move(&stream, stream.len);
	assert_int_equal(stream.seen, 0);
	server_kill(bed.server);
	stream_bed_fini(&bed, &stream);
}

/* Requests without a reply also get none from the keeper. */
static void test_posted(void **state)
{
	struct stream stream;
	struct bed bed;
	unsigned int i;

	(void)state;
	skip_emulated(NO_RESULT);
	stream_bed_init(&bed, &stream);
	for (i = 0; i < 300; i++) {
		stream_write(&stream, 0, i, true);
		stream_write_multi(&stream, 0, i % STREAM_MAX_MULTI);
	}
	stream_move(&stream, 20000);
	server_kill(bed.server);
	stream_read(&stream, 0, 4);
	stream_bed_fini(&bed, &stream);
}

/*
 * Replies are in the socket, one of them in part, and the client reads them after the device has
 * died.
 */
static void test_unread_replies(void **state)
{
	struct stream stream;
	unsigned int unread, i;
	struct bed bed;

	(void)state;
	stream_bed_init(&bed, &stream);
	for (i = 0; i < 20; i++)
		stream_read(&stream, 0, VU_MAX_DATA);
	assert_int_equal(send(bed.vu->fd, stream.out, stream.len, MSG_NOSIGNAL), stream.len);
	stream.sent = stream.len;
	server_wait_idle(bed.server);
	assert_int_equal(ioctl(bed.vu->fd, SIOCINQ, &unread), 0);
	assert_true(unread < stream.reply_bytes && unread % stream.requests[0].reply_len);
	server_kill(bed.server);
	stream_bed_fini(&bed, &stream);
}

/* A client that has sent only half of its first message. */
static void test_version(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_version version;
	} msg = {{3, VFIO_USER_VERSION, sizeof(msg), 0, 0}, {VFIO_USER_MAJOR, VFIO_USER_MINOR}};
	struct vfio_user_hdr rep;
	char payload[256];
	struct bed bed;
	int fd;

	(void)state;
	bed_init(&bed, server_start(2));
	fd = vu_socket(bed.server->sock[1]);
	assert_true(fd >= 0);
	assert_int_equal(vu_send(fd, &msg, 18, NULL, 0), 0);
	server_wait_idle(bed.server);
	server_kill(bed.server);
	assert_int_equal(vu_send(fd, (char *)&msg + 18, sizeof(msg) - 18, NULL, 0), 0);
	assert_int_equal(vu_recv(fd, &rep, sizeof(rep)), 0);
	assert_int_equal(rep.id, 3);
	assert_int_equal(rep.flags, VFIO_USER_FLAG_REPLY);
	assert_true(rep.size - sizeof(rep) <= sizeof(payload));
	assert_int_equal(vu_recv(fd, payload, rep.size - sizeof(rep)), 0);
	msg.hdr.cmd = VFIO_USER_DEVICE_RESET;
	msg.hdr.size = sizeof(msg.hdr);
	assert_int_equal(vu_send(fd, &msg, sizeof(msg.hdr), NULL, 0), 0);
	assert_int_equal(vu_recv(fd, &rep, sizeof(rep)), 0);
	assert_int_equal(rep.flags, VFIO_USER_FLAG_REPLY);
	close(fd);
	bed_fini(&bed);
}

/* The memory of a region is no longer offered for mapping. */
static void test_region_memory(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_region_info info;
	} msg = {{3, VFIO_USER_DEVICE_GET_REGION_INFO, sizeof(msg), 0, 0},
		 {.argsz = 4096, .index = VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_UAR}},
	  rep;
	struct bed bed;
	size_t got;
	char info[256];

	(void)state;
	bed_init(&bed, server_start_mapping());
	assert_int_equal(vu_call(bed.vu, msg.hdr.cmd, &msg.info, sizeof(msg.info), NULL, 0, info,
				 sizeof(info), &got),
			 0);
	assert_true(got > sizeof(msg.info));
	stop(&bed);
	assert_int_equal(vu_send(bed.vu->fd, &msg, sizeof(msg), NULL, 0), 0);
	server_kill(bed.server);
	assert_int_equal(vu_recv(bed.vu->fd, &rep, sizeof(rep)), 0);
	assert_int_equal(rep.hdr.size, sizeof(rep));
	assert_int_equal(rep.info.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE);
	assert_int_equal(rep.info.size, ((struct vfio_region_info *)info)->size);
	bed_fini(&bed);
}

/* One keeper for all HCAs, until the last client has disconnected. */
static void test_two_hcas(void **state)
{
	struct vu *other;
	struct bed bed;
	pid_t device;

	(void)state;
	skip_emulated(NO_RESULT);
	bed_init(&bed, server_start(2));
	other = vu_open(bed.server->sock[1]);
	assert_non_null(other);
	vu_enable(other, 4);
	device = bed.server->pid;
	server_kill(bed.server);
	assert_int_equal(kill(device, 0), -1);
	assert_int_equal(vu_cfg_rd(other, PCI_VENDOR_ID, 2), 0xffff);
	vu_close(bed.vu);
	assert_int_equal(vu_cfg_rd(other, PCI_VENDOR_ID, 2), 0xffff);
	assert_true(keeper_lives(&bed));
	assert_int_equal(vu_socket(bed.server->sock[0]), -ECONNREFUSED);
	bed.vu = other;
	bed_fini(&bed);
}

/* The keeper ignores clients that were disconnected before, and needs no work for that. */
static void test_forgotten(void **state)
{
	struct vfio_user_hdr bad = {1, VFIO_USER_DEVICE_RESET, 1, 0, 0};
	struct bed bed;
	unsigned int i;

	(void)state;
	bed_init(&bed, server_start_testdev());
	kill(bed.keeper_pid, SIGSTOP);
	for (i = 0; i < 20; i++) {
		if (i % 2) {
			vu_send(bed.vu->fd, &bad, sizeof(bad), NULL, 0);
			assert_int_equal(vu_recv(bed.vu->fd, &bad, 1), -EPIPE);
		}
		vu_close(bed.vu);
		bed.vu = vu_open(bed.server->sock[0]);
		assert_non_null(bed.vu);
		assert_null(vu_open(bed.server->sock[0]));
	}
	kill(bed.keeper_pid, SIGCONT);
	server_kill(bed.server);
	assert_int_equal(vu_cfg_rd(bed.vu, PCI_VENDOR_ID, 2), 0xffff);
	assert_int_equal(server_count_fds_of(bed.keeper_pid), KEEPER_FDS + 1);
	bed_fini(&bed);
}

/* When the device ends normally, or dies without clients, the keeper ends too. */
static void test_end(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, server_start(1));
	kill(bed.server->pid, SIGTERM);
	assert_int_equal(waitid(P_PID, bed.server->pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(vu_get_info(bed.vu, &(struct vfio_device_info){0}), -EPIPE);
	assert_false(server_logged(bed.server, TAKEN_OVER));
	bed_fini(&bed);

	bed_init(&bed, server_start(1));
	vu_close(bed.vu);
	bed.vu = NULL;
	server_kill(bed.server);
	wait_for_keeper(&bed);
	bed_fini(&bed);
}

/* Signals to the whole process group do not end the keeper early. */
static void test_signals(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct bed bed;
	unsigned int i;

	(void)state;
	skip_emulated(NO_RESULT);
	bed_init(&bed, server_start(1));
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		kill(bed.keeper_pid, signals[i]);
	server_kill(bed.server);
	assert_int_equal(vu_cfg_rd(bed.vu, PCI_VENDOR_ID, 2), 0xffff);
	bed_fini(&bed);
}

/* The device is dead before the keeper runs for the first time. */
static void test_late(void **state)
{
	struct bed bed;

	(void)state;
	skip_emulated("there is no ptrace()");
	bed_init(&bed, server_start_held_keeper());
	server_kill(bed.server);
	server_release_keeper(bed.server);
	assert_int_equal(vu_cfg_rd(bed.vu, PCI_VENDOR_ID, 2), 0xffff);
	bed_fini(&bed);
}

/* The device works on without the keeper. */
static void test_no_keeper(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed, server_start(1));
	kill(bed.keeper_pid, SIGKILL);
	wait_for_keeper(&bed);
	assert_int_equal(vu_cfg_rd(bed.vu, PCI_VENDOR_ID, 2), OHCA_PCI_VENDOR_ID);
	vu_close(bed.vu);
	bed.vu = vu_open(bed.server->sock[0]);
	assert_non_null(bed.vu);
	assert_int_equal(vu_cfg_rd(bed.vu, PCI_VENDOR_ID, 2), OHCA_PCI_VENDOR_ID);
	assert_true(server_logged(bed.server, "keeper: can't be notified"));
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),	       cmocka_unit_test(test_half_request),
		cmocka_unit_test(test_unread),	       cmocka_unit_test(test_posted),
		cmocka_unit_test(test_unread_replies), cmocka_unit_test(test_version),
		cmocka_unit_test(test_region_memory),  cmocka_unit_test(test_two_hcas),
		cmocka_unit_test(test_forgotten),      cmocka_unit_test(test_end),
		cmocka_unit_test(test_signals),	       cmocka_unit_test(test_late),
		cmocka_unit_test(test_no_keeper),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
