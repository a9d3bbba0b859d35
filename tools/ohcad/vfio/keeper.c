// SPDX-License-Identifier: GPL-2.0
/*
 * The keeper.  The device's process sends it the clients through a socket.  The end of that socket
 * shows that the process is dead.  The kernel closes a process's files after the last of its
 * threads has left user mode, so from then on the state that it left in shared memory does not
 * change.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "vfio/gone.h"
#include "vfio/keeper.h"
#include "base/list.h"
#include "base/log.h"
#include "base/scm.h"
#include "vfio/vfio_user_conn.h"

#define NAME "keeper"
#define FIRST_FD (STDERR_FILENO + 1)
/* The keeper looks so often in the time after which the device hangs. */
#define LOOKS 4

enum keeper_what {
	KEEPER_HOLD, /* with two descriptors: the socket's and the state's */
	KEEPER_FORGET,
	KEEPER_BYE,
};

struct keeper_msg {
	uint32_t what;
	uint32_t id;
};

#define MAX_FDS 2

/* A message, with everything that sendmsg() and recvmsg() need */
struct packet {
	struct keeper_msg msg;
	struct iovec iov;
	union scm_control control;
	struct msghdr hdr;
};

static void packet_init(struct packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->iov = (struct iovec){&packet->msg, sizeof(packet->msg)};
	packet->hdr = (struct msghdr){.msg_iov = &packet->iov, .msg_iovlen = 1};
}

/* The side of the device's process */

/**
 * struct heart - what shows that the device's loop goes on
 * @rounds: shared: the rounds so far; NULL: nobody looks
 * @wake_fd: an eventfd that wakes the loop for a round
 */
struct heart {
	uint32_t *rounds;
	int wake_fd;
};

/* @fd: -1: there is no keeper; @last_id: ID of the last client */
static struct {
	pid_t pid;
	int fd;
	uint32_t last_id;
	struct heart heart;
} keeper = {.fd = -1, .heart = {NULL, -1}};

/* Send a message with @num descriptors to the keeper.  Returns 0 or -errno. */
static int send_msg(enum keeper_what what, uint32_t id, const int *fds, unsigned int num)
{
	struct packet packet;
	int err = 0;

	if (keeper.fd < 0)
		return -ENOTCONN;
	packet_init(&packet);
	packet.msg = (struct keeper_msg){what, id};
	if (num) {
		packet.hdr.msg_control = &packet.control;
		packet.hdr.msg_controllen = scm_put(&packet.control, fds, num);
	}
	if (sendmsg(keeper.fd, &packet.hdr, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		err = -errno;
		log_error(NAME, "can't be notified: %s", strerror(-err));
	}
	if (err == -EPIPE || err == -ECONNRESET) {
		close(keeper.fd);
		keeper.fd = -1;
	}
	return err;
}

uint32_t keeper_hold(int fd, int state_fd)
{
	const int fds[] = {fd, state_fd};

	if (!++keeper.last_id)
		keeper.last_id++;
	return send_msg(KEEPER_HOLD, keeper.last_id, fds, MAX_FDS) ? 0 : keeper.last_id;
}

void keeper_forget(uint32_t id)
{
	if (id)
		send_msg(KEEPER_FORGET, id, NULL, 0);
}

static void on_wake(void *arg, uint32_t events)
{
	uint64_t num;

	(void)arg;
	(void)events;
	/* The round is the answer. */
	if (read(keeper.heart.wake_fd, &num, sizeof(num)) < 0)
		return;
}

int keeper_watch(struct loop *device_loop)
{
	if (!keeper.heart.rounds)
		return 0;
	loop_count_rounds(device_loop, keeper.heart.rounds);
	return loop_add_fd(device_loop, keeper.heart.wake_fd, EPOLLIN, on_wake, NULL);
}

static int heart_init(struct heart *heart)
{
	void *page = mmap(NULL, sizeof(*heart->rounds), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	heart->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (heart->wake_fd < 0) {
		munmap(page, sizeof(*heart->rounds));
		return -errno;
	}
	heart->rounds = page;
	return 0;
}

static void heart_fini(struct heart *heart)
{
	if (heart->rounds)
		munmap(heart->rounds, sizeof(*heart->rounds));
	if (heart->wake_fd >= 0)
		close(heart->wake_fd);
	*heart = (struct heart){NULL, -1};
}

void keeper_stop(void)
{
	heart_fini(&keeper.heart);
	if (!keeper.pid)
		return;
	send_msg(KEEPER_BYE, 0, NULL, 0);
	if (keeper.fd >= 0)
		close(keeper.fd);
	keeper.fd = -1;
	while (waitpid(keeper.pid, NULL, 0) < 0 && errno == EINTR)
		;
	keeper.pid = 0;
}

/* The side of the keeper's process */

/**
 * struct kept - a client
 * @state_fd: its struct vfio_user_state, -1 when @conn serves it
 */
struct kept {
	struct list node;
	uint32_t id;
	int fd;
	int state_fd;
	struct vfio_user_conn *conn;
};

static struct list clients = {&clients, &clients};
static struct loop *loop;

static void forget(struct kept *kept)
{
	list_del(&kept->node);
	if (kept->fd >= 0)
		close(kept->fd);
	if (kept->state_fd >= 0)
		close(kept->state_fd);
	vfio_user_conn_free(kept->conn);
	free(kept);
}

static void hold(uint32_t id, const int fds[MAX_FDS])
{
	struct kept *kept = calloc(1, sizeof(*kept));

	if (!kept) {
		log_error(NAME, "no memory for another client");
		close(fds[0]);
		close(fds[1]);
		return;
	}
	kept->id = id;
	kept->fd = fds[0];
	kept->state_fd = fds[1];
	list_add_tail(&clients, &kept->node);
}

static void forget_id(uint32_t id)
{
	struct list *node;

	for (node = clients.next; node != &clients; node = node->next) {
		struct kept *kept = list_entry(node, struct kept, node);

		if (kept->id == id) {
			forget(kept);
			return;
		}
	}
}

/* Take the descriptors of a message.  Returns false, and closes them, unless there are MAX_FDS. */
static bool take_fds(struct packet *packet, int fds[MAX_FDS])
{
	unsigned int i, num = scm_take(&packet->hdr, fds, MAX_FDS);

	if (num == MAX_FDS)
		return true;
	for (i = 0; i < num && i < MAX_FDS; i++)
		close(fds[i]);
	return false;
}

/**
 * struct watch - the device's loop is watched
 * @options: what is done when it hangs
 * @device_fd: a pidfd of the device
 * @rounds: what the last look has found
 * @silent: looks in a row that have found the same; before each but the first, the loop was woken
 */
static struct {
	struct keeper_options options;
	struct heart heart;
	int device_fd;
	uint32_t rounds;
	unsigned int silent;
} watch = {.device_fd = -1};

static void hangs(void)
{
	log_error(NAME, "the device hangs: it has done nothing for %u ms%s",
		  (unsigned int)(watch.options.hang_ns / 1000000),
		  watch.options.kill ? ", and is ended" : "");
	if (watch.options.kill && syscall(SYS_pidfd_send_signal, watch.device_fd, SIGKILL, NULL, 0))
		log_error(NAME, "can't end it: %s", strerror(errno));
}

/* A look at the device, which has not done anything that the keeper would know of */
static void look(void)
{
	const uint64_t one = 1;
	uint32_t rounds = __atomic_load_n(watch.heart.rounds, __ATOMIC_RELAXED);

	if (rounds != watch.rounds) {
		if (watch.silent > LOOKS)
			log_info(NAME, "the device goes on");
		watch.rounds = rounds;
		watch.silent = 0;
		return;
	}
	if (watch.silent <= LOOKS && ++watch.silent > LOOKS)
		hangs();
	/* It may be asleep.  That the counter is full is as good. */
	if (write(watch.heart.wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* Wait until there is a message. */
static void wait_for_message(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	int ms;

	if (!watch.options.hang_ns)
		return;
	ms = watch.options.hang_ns / LOOKS / 1000000;
	while (!poll(&pfd, 1, ms ? ms : 1))
		look();
}

/* Receive messages until the device's process has ended.  Returns true if it announced its end. */
static bool listen_to_device(int fd)
{
	struct packet packet;
	int fds[MAX_FDS];
	ssize_t n;

	for (;;) {
		packet_init(&packet);
		packet.hdr.msg_control = &packet.control;
		packet.hdr.msg_controllen = sizeof(packet.control);
		wait_for_message(fd);
		n = recvmsg(fd, &packet.hdr, MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		switch (packet.msg.what) {
		case KEEPER_HOLD:
			if (take_fds(&packet, fds))
				hold(packet.msg.id, fds);
			else
				log_error(NAME, "a client came without its descriptors");
			break;
		case KEEPER_FORGET:
			forget_id(packet.msg.id);
			break;
		case KEEPER_BYE:
			return true;
		}
	}
}

static void on_ended(void *arg)
{
	forget(arg);
	if (list_empty(&clients))
		loop_stop(loop);
}

/* Continue to serve a client from the state that the device's process left. */
static int serve(struct kept *kept)
{
	struct vfio_user_state *state = vfio_user_state_inherit(kept->state_fd);
	struct vfio_user_peer peer = {NAME, kept->fd, state, &gone_ops, state, on_ended, kept};

	if (!state)
		return -errno;
	kept->conn = vfio_user_conn_new(loop, &peer);
	if (!kept->conn) {
		vfio_user_state_free(state);
		return -ENOMEM;
	}
	close(kept->state_fd);
	kept->state_fd = -1;
	kept->fd = -1;
	return 0;
}

static void serve_all(void)
{
	struct list *node, *next;
	unsigned int num = 0;
	int err;

	loop = loop_new();
	if (!loop) {
		log_error(NAME, "can't take over from the device: %s", strerror(errno));
		return;
	}
	for (node = clients.next; node != &clients; node = next) {
		struct kept *kept = list_entry(node, struct kept, node);

		next = node->next;
		err = serve(kept);
		if (!err) {
			num++;
			continue;
		}
		log_error(NAME, "can't take over a client: %s", strerror(-err));
		forget(kept);
	}
	log_error(NAME, "the device is dead; %u clients see it as pulled out from now on", num);
	if (num)
		loop_run(loop);
}

/*
 * Close all descriptors of the device's process, except for @num ones @fds, which get the numbers from
 * FIRST_FD on.  Returns false if that fails.
 */
static bool close_all_but(int *fds, int num)
{
	int null, i;

	/* Out of the way of the new numbers first */
	for (i = 0; i < num; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FD + num);
		if (fds[i] < 0)
			return false;
	}
	for (i = 0; i < num; i++) {
		if (dup2(fds[i], FIRST_FD + i) < 0)
			return false;
		fds[i] = FIRST_FD + i;
	}
	close_range(FIRST_FD + num, ~0U, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0) {
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
	} else {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	return !chdir("/");
}

/*
 * A signal to the whole process group, from a terminal or a service manager, is meant for the
 * device's process.  If that ends, the keeper notices it by the socket.
 */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	unsigned int i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

__attribute__((noreturn)) static void keep(const int fds[2], const struct keeper_options *options,
					   int device_fd)
{
	int kept[] = {fds[1], keeper.heart.wake_fd, device_fd};

	prctl(PR_SET_NAME, "ohcad-keeper");
	close(fds[0]);
	watch.options = *options;
	watch.heart = keeper.heart;
	if (!close_all_but(kept, options->hang_ns ? 3 : 1))
		_exit(1);
	watch.heart.wake_fd = kept[1];
	watch.device_fd = kept[2];
	if (options->confine && options->confine(options->arg))
		_exit(1);
	if (!listen_to_device(kept[0]) && !list_empty(&clients))
		serve_all();
	_exit(0);
}

/*
 * What the keeper needs to watch the device.  The pidfd is opened here, because the device may be
 * dead when the keeper runs for the first time.
 */
static int watch_init(const struct keeper_options *options, int *device_fd)
{
	int err;

	*device_fd = -1;
	if (!options->hang_ns)
		return 0;
	err = heart_init(&keeper.heart);
	if (err)
		return err;
	*device_fd = syscall(SYS_pidfd_open, getpid(), 0);
	return *device_fd < 0 ? -errno : 0;
}

int keeper_start(const struct keeper_options *options)
{
	int fds[2], device_fd, err;
	sigset_t all, before;
	pid_t pid;

	err = watch_init(options, &device_fd);
	if (err)
		return err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		err = -errno;
		goto out;
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	err = -errno;
	if (!pid)
		ignore_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!pid)
		keep(fds, options, device_fd);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		goto out;
	}
	keeper.pid = pid;
	keeper.fd = fds[0];
	err = 0;
out:
	if (device_fd >= 0)
		close(device_fd);
	return err;
}
