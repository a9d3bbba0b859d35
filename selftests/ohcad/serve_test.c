// SPDX-License-Identifier: GPL-2.0
/*
 * A client of the vfio-user server that could go on for ever takes a bounded part of each round of the loop.  The clock
 * stands still but for what the tests say.
 */

#include <endian.h>
#include <time.h>
#include <sys/socket.h>

#include "base/loop.h"
#include "harness.h"
#include "vfio/vfio_user_conn.h"

#define LEN 4096
#define MSGS 40

#define ROUND_US 30 /* at most, with the last thing that was begun */

static struct loop *loop;
static struct vfio_user_conn *conn;
static int client;

/* The time, and how much of it a call for the socket and a write to a region take, us */
static uint64_t now, call_us, write_us;
/* Bytes that a call moves at most */
static size_t most;
static unsigned int num_writes;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){1 + now / 1000000, now % 1000000 * 1000};
	return 0;
}

static void move_some(const struct mmsghdr *msg)
{
	struct iovec *iov = msg->msg_hdr.msg_iov;

	now += call_us;
	if (iov->iov_len > most)
		iov->iov_len = most;
}

int __real_recvmmsg(int fd, struct mmsghdr *msg, unsigned int num, int flags,
		    struct timespec *time);
int __wrap_recvmmsg(int fd, struct mmsghdr *msg, unsigned int num, int flags,
		    struct timespec *time);
int __wrap_recvmmsg(int fd, struct mmsghdr *msg, unsigned int num, int flags, struct timespec *time)
{
	move_some(msg);
	return __real_recvmmsg(fd, msg, num, flags, time);
}

int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned int num, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int num, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int num, int flags)
{
	move_some(msg);
	return __real_sendmmsg(fd, msg, num, flags);
}

/* The device: one region of memory */

static uint8_t memory[LEN];

static uint64_t region_size(void *dev, unsigned int region)
{
	(void)dev;
	return region ? 0 : sizeof(memory);
}

static int region_read(void *dev, unsigned int region, uint64_t off, void *buf, uint32_t len)
{
	(void)dev;
	(void)region;
	memcpy(buf, memory + off, len);
	return 0;
}

static int region_write(void *dev, unsigned int region, uint64_t off, const void *buf, uint32_t len)
{
	(void)dev;
	(void)region;
	memcpy(memory + off, buf, len);
	now += write_us;
	num_writes++;
	return 0;
}

static bool may_log(void *dev)
{
	(void)dev;
	return true;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void ended(void *arg)
{
	(void)arg;
	fail_msg("the connection has ended");
}

static const struct vfio_user_ops ops = {
	.connected = nothing,
	.disconnected = nothing,
	.region_size = region_size,
	.region_read = region_read,
	.region_write = region_write,
	.may_log = may_log,
};

static int setup(void **state)
{
	struct vfio_user_peer peer = {.name = "test", .ops = &ops, .ended = ended};
	int fds[2], state_fd;

	(void)state;
	loop = loop_new();
	assert_non_null(loop);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	client = fds[0];
	peer.fd = fds[1];
	peer.state = vfio_user_state_new(&state_fd);
	assert_non_null(peer.state);
	close(state_fd);
	vfio_user_set_reply(peer.state, (union vfio_user_reply){.negotiated = true});
	conn = vfio_user_conn_new(loop, &peer);
	assert_non_null(conn);
	call_us = 0;
	write_us = 0;
	num_writes = 0;
	most = SIZE_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vfio_user_conn_free(conn);
	close(client);
	loop_free(loop);
	return 0;
}

/* A write of @len bytes @byte to the region, without an answer */
static void post_write(uint32_t len, uint8_t byte)
{
	static struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_region_rw rw;
		uint8_t data[LEN];
	} msg;
	const size_t size = offsetof(typeof(msg), data) + len;

	msg.hdr = (struct vfio_user_hdr){
		.cmd = VFIO_USER_REGION_WRITE, .size = size, .flags = VFIO_USER_FLAG_NO_REPLY};
	msg.rw = (struct vfio_user_region_rw){.count = len};
	memset(msg.data, byte, len);
	assert_int_equal(send(client, &msg, size, 0), size);
}

/* A round of the loop, which does not take long.  Returns how long. */
static uint64_t step(void)
{
	uint64_t before = now;

	assert_int_equal(loop_step(loop, 0), 0);
	assert_true(now - before <= ROUND_US);
	return now - before;
}

/* Many messages that want no answer: in each round, those that there is time for */
static void test_messages(void **state)
{
	unsigned int i, rounds = 0;

	(void)state;
	write_us = 9;
	for (i = 0; i < MSGS; i++)
		post_write(8, i);
	for (; num_writes < MSGS; rounds++)
		step();
	assert_int_equal(memory[7], MSGS - 1);
	assert_true(rounds <= MSGS);
	assert_int_equal(step(), 0);
}

/* A message that comes byte by byte, and always one more: one that takes the whole round each time */
static void test_pieces_of_a_message(void **state)
{
	unsigned int rounds = 0;

	(void)state;
	call_us = 1;
	most = 1;
	post_write(LEN, 5);
	post_write(8, 6);
	for (; num_writes < 2; rounds++)
		step();
	assert_int_equal(memory[0], 6);
	assert_int_equal(memory[LEN - 1], 5);
	assert_in_range(rounds, LEN / ROUND_US, LEN / 10);
}

/* A client that reads the answer as slowly */
static void test_pieces_of_an_answer(void **state)
{
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_region_rw rw;
		uint8_t data[LEN];
	} msg = {.hdr = {.cmd = VFIO_USER_REGION_READ, .size = sizeof(msg.hdr) + sizeof(msg.rw)},
		 .rw = {.count = LEN}};
	size_t got = 0;
	ssize_t n;

	(void)state;
	assert_int_equal(send(client, &msg, msg.hdr.size, 0), msg.hdr.size);
	memset(memory, 7, sizeof(memory));
	call_us = 1;
	most = 1;
	while (got < sizeof(msg)) {
		step();
		n = recv(client, (uint8_t *)&msg + got, sizeof(msg) - got, MSG_DONTWAIT);
		assert_true(n > 0 || errno == EAGAIN);
		got += n > 0 ? n : 0;
	}
	assert_int_equal(msg.hdr.size, sizeof(msg));
	assert_int_equal(msg.hdr.flags, VFIO_USER_FLAG_REPLY);
	assert_memory_equal(msg.data, memory, LEN);
	/* It receives again. */
	post_write(8, 1);
	while (!num_writes)
		step();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces_of_a_message, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces_of_an_answer, setup, teardown),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
