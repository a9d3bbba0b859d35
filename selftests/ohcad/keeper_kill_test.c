// SPDX-License-Identifier: GPL-2.0
/*
 * The device's process is killed at each system call and at random times, and its memory is checked
 * after each instruction: the client gets each reply once and complete, whatever the device was
 * doing.
 */

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/sockios.h>

#include "client.h"
#include "emulated.h"
#include "harness.h"
#include "ohca/ohca_regs.h"
#include "rnd.h"
#include "server.h"
#include "stream.h"
#include "testdev.h"
#include "vfio/vfio_user_state.h"

#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define LACKING 5 /* bytes missing at the end of the script */
#define RANDOM_KILLS 40
#define REQUESTS 24 /* requests in each of these */

struct bed {
	struct server *server;
	int keeper;
	struct vu *vu;
	struct stream stream;
};

static void bed_init(struct bed *bed)
{
	bed->server = server_start_testdev();
	bed->keeper = server_keeper(bed->server, NULL);
	bed->vu = vu_open(bed->server->sock[0]);
	assert_non_null(bed->vu);
	vu_enable(bed->vu, 0);
	stream_init(&bed->stream, bed->vu, BAR2);
}

static void bed_fini(struct bed *bed)
{
	struct pollfd pfd = {.fd = bed->keeper, .events = POLLIN};

	stream_fini(&bed->stream);
	vu_close(bed->vu);
	assert_true(server_stop(bed->server));
	assert_int_equal(poll(&pfd, 1, -1), 1);
	close(bed->keeper);
}

/*
 * Kill it; the device's keeper answers the remaining requests and one more like an absent device.
 */
static void finish_dead(struct bed *bed)
{
	server_kill(bed->server);
	stream_read(&bed->stream, 0, 4);
	stream_finish(&bed->stream);
	assert_true(bed->stream.gone);
	bed_fini(bed);
}

/* Attach to it, and stop it where it waits for a request. */
static void trace(const struct server *server)
{
	pid_t pid = server->pid;
	int status;

	server_wait_idle(server);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
}

/* Let it run to the next stop. */
static void go(pid_t pid, int how, int signal)
{
	int status;

	assert_int_equal(ptrace(how, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), signal);
}

/* Requests of all kinds; the last one is incomplete. */
static void send_script(struct stream *stream, uint32_t large)
{
	stream_write(stream, 0, 8, false);
	stream_write(stream, 8, 100, true);
	stream_read(stream, 4, 4);
	stream_unknown(stream, 3);
	stream_read(stream, 0, large);
	stream_write(stream, 0, 3, true);
	stream_unknown(stream, 0);
	stream_write(stream, 0, large / 16, false);
	stream_read(stream, 0, 64);
	stream_move(stream, stream->len - LACKING);
}

/* All replies have arrived except the last one. */
static bool script_done(const struct stream *stream)
{
	return stream->seen + 1 == stream->num;
}

/* Returns whether it was killed before the end of the script. */
static bool kill_after(unsigned int stops)
{
	struct bed bed;
	bool early;

	bed_init(&bed);
	trace(bed.server);
	send_script(&bed.stream, VU_MAX_DATA);
	while (stops-- && !script_done(&bed.stream)) {
		go(bed.server->pid, PTRACE_SYSCALL, SYSCALL_STOP);
		stream_receive(&bed.stream);
	}
	early = !script_done(&bed.stream);
	finish_dead(&bed);
	return early;
}

/* Before and after each call. */
static void test_system_calls(void **state)
{
	unsigned int stops = 0;

	(void)state;
	skip_emulated("no ptrace");
	while (kill_after(stops))
		stops++;
	assert_true(stops > 40);
}

/* A duplicate of the socket that the device opened last. */
static int last_socket(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), last = -1, fd;
	char path[64], name[320];
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (!stat(name, &st) && S_ISSOCK(st.st_mode) && atoi(entry->d_name) > last)
			last = atoi(entry->d_name);
	}
	closedir(dir);
	fd = syscall(SYS_pidfd_getfd, pidfd, last, 0);
	assert_true(fd >= 0);
	close(pidfd);
	return fd;
}

/* The address of the client's state in the device's memory. */
static void *find_state(pid_t pid)
{
	char path[64], line[512];
	void *state = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (!state && fgets(line, sizeof(line), f)) {
		if (strstr(line, "memfd:ohca-client"))
			state = (void *)strtoul(line, NULL, 16);
	}
	fclose(f);
	assert_non_null(state);
	return state;
}

/*
 * Check the state: @read bytes of this request have been read from the socket, and so many bytes of
 * its reply have been sent.
 */
static void check_state(const struct stream *stream, const struct vfio_user_state *state,
			size_t read)
{
	const struct stream_request *request = stream->requests;
	const struct stream_request *end = request + stream->num_requests;
	size_t rx = vfio_user_moved(&state->rx), tx = vfio_user_moved(&state->tx);

	while (request < end && request->start + (state->reply.len ? request->len : rx) < read)
		request++;
	assert_true(request < end);
	if (state->reply.len) {
		assert_int_equal(request->start + request->len, read);
		assert_int_equal(state->reply.len, request->reply_len);
		assert_int_equal(request->reply + tx, stream->received);
	} else {
		assert_int_equal(request->start + rx, read);
		assert_true(rx <= request->len);
		assert_int_equal(request->reply, stream->received);
	}
	assert_true(state->reply.negotiated);
}

static void test_instructions(void **arg)
{
	struct vfio_user_state state;
	struct iovec here = {&state, offsetof(struct vfio_user_state, hdr)}, there = here;
	unsigned int steps = 0, unread;
	struct bed bed;
	pid_t pid;
	int fd;

	(void)arg;
	skip_emulated("no ptrace");
	bed_init(&bed);
	pid = bed.server->pid;
	trace(bed.server);
	fd = last_socket(pid);
	there.iov_base = find_state(pid);
	send_script(&bed.stream, 64);
	for (; !script_done(&bed.stream); steps++) {
		go(pid, PTRACE_SINGLESTEP, SIGTRAP);
		stream_receive(&bed.stream);
		assert_int_equal(process_vm_readv(pid, &here, 1, &there, 1, 0), here.iov_len);
		assert_int_equal(ioctl(fd, SIOCINQ, &unread), 0);
		check_state(&bed.stream, &state, bed.stream.sent - unread);
	}
	assert_true(steps > 1000);
	close(fd);
	finish_dead(&bed);
}

/* A reply with a descriptor was built but not sent: the keeper creates another descriptor. */
static void test_descriptor(void **state)
{
	struct vfio_region_info in = {.argsz = 4096,
				      .index = VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_UAR};
	struct vfio_user_hdr hdr = {1, VFIO_USER_DEVICE_GET_REGION_INFO, sizeof(hdr) + sizeof(in),
				    0, 0};
	struct __ptrace_syscall_info info;
	struct server *server;
	struct vu *vu;

	(void)state;
	skip_emulated("no ptrace");
	server = server_start(1);
	vu = vu_open(server->sock[0]);
	assert_non_null(vu);
	trace(server);
	assert_int_equal(vu_send(vu->fd, &hdr, sizeof(hdr), NULL, 0), 0);
	assert_int_equal(vu_send(vu->fd, &in, sizeof(in), NULL, 0), 0);
	do {
		go(server->pid, PTRACE_SYSCALL, SYSCALL_STOP);
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, server->pid, sizeof(info), &info) > 0);
	} while (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_sendmmsg);
	server_kill(server);
	assert_int_equal(vu_recv(vu->fd, &hdr, sizeof(hdr)), 0);
	assert_int_equal(hdr.size, sizeof(hdr) + sizeof(in));
	assert_int_equal(vu_recv(vu->fd, &in, sizeof(in)), 0);
	assert_int_equal(in.argsz, sizeof(in));
	assert_int_equal(in.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE);
	vu_close(vu);
	assert_true(server_stop(server));
}

static void random_request(struct stream *stream)
{
	uint32_t len = rnd(4) ? 1 + rnd(64) : 1 + rnd(VU_MAX_DATA / 2);

	switch (rnd(6)) {
	case 0:
		stream_unknown(stream, rnd(100));
		break;
	case 1:
	case 2:
		stream_write(stream, rnd(VU_MAX_DATA / 2), len, rnd(2));
		break;
	default:
		stream_read(stream, rnd(VU_MAX_DATA / 2), len);
	}
}

/* Meanwhile the client sends requests in pieces of any size, and reads replies at any time. */
static void test_any_time(void **state)
{
	struct pollfd pfd = {.events = POLLIN | POLLOUT};
	unsigned int i, j;
	struct bed bed;
	size_t death;

	(void)state;
	skip_emulated("a process that is killed in sendmmsg() may not know what was sent");
	for (i = 0; i < RANDOM_KILLS; i++) {
		bed_init(&bed);
		for (j = 0; j < REQUESTS; j++)
			random_request(&bed.stream);
		death = rnd(bed.stream.len);
		pfd.fd = bed.vu->fd;
		while (bed.stream.sent < death) {
			stream_move(&bed.stream, 1 + rnd(rnd(2) ? 40 : 4000));
			assert_int_equal(poll(&pfd, 1, -1), 1);
		}
		finish_dead(&bed);
	}
}

static int setup(void **state)
{
	(void)state;
	rnd_seed();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_any_time),
	};

	return RUN_TESTS(tests, setup, NULL);
}
