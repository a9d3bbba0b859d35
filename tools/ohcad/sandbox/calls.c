// SPDX-License-Identifier: GPL-2.0
/*
 * The system calls that the process may use.  Another one is not executed: SIGSYS's handler writes
 * its name to the log and lets it fail with ENOSYS, which the C library knows from older kernels.
 * With SANDBOX_LOG it is executed: a thread, which has no list, is asked by the kernel.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/log.h"
#include "sandbox/calls.h"

#define NAME "sandbox"
#define MAX_CALL 1024

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Which argument of clone() has the flags */
#ifdef __s390x__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* Calls with any arguments.  Those of both processes: */
static const int common[] = {
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(madvise),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	/* descriptors */
	SCMP_SYS(close),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_pwait2),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	/* sockets of clients */
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmmsg),
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(shutdown),
	/* time, where the vDSO has none */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	/* the seed of json-c's tables, and of ours */
	SCMP_SYS(getrandom),
	/* the C library: locks, signals, the end */
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
};

/* Of the device alone */
static const int device[] = {
	/* guest memory, and the state of a client */
	SCMP_SYS(fallocate),
	SCMP_SYS(fstatfs),
	SCMP_SYS(ftruncate),
	SCMP_SYS(memfd_create),
	SCMP_SYS(msync),
	SCMP_SYS(statx),
	/* files: paths are landlock's matter */
	SCMP_SYS(lseek),
	SCMP_SYS(openat),
	SCMP_SYS(pread64),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	/* clients */
	SCMP_SYS(accept4),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	/* guards of calls that must not block */
	SCMP_SYS(timer_create),
	SCMP_SYS(timer_settime),
	/* the processor to run on */
	SCMP_SYS(getcpu),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_yield),
	/* the keeper, at the end */
	SCMP_SYS(wait4),
	/* captures: the name of the system, and the thread that writes */
	SCMP_SYS(rseq),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(uname),
};

/* What the address sanitizer needs besides, to look for leaks at the end and to print a report */
static const int sanitizer[] = {
	SCMP_SYS(clock_nanosleep), SCMP_SYS(clone),	  SCMP_SYS(fcntl),
	SCMP_SYS(getdents64),	   SCMP_SYS(getppid),	  SCMP_SYS(getrlimit),
	SCMP_SYS(ioctl),	   SCMP_SYS(lseek),	  SCMP_SYS(mmap),
	SCMP_SYS(mprotect),	   SCMP_SYS(nanosleep),	  SCMP_SYS(openat),
	SCMP_SYS(prctl),	   SCMP_SYS(prlimit64),	  SCMP_SYS(ptrace),
	SCMP_SYS(readlink),	   SCMP_SYS(sched_yield), SCMP_SYS(sigaltstack),
	SCMP_SYS(sysinfo),	   SCMP_SYS(tgkill),	  SCMP_SYS(tkill),
	SCMP_SYS(wait4),
};

/* Names by number, for a handler in which nothing may be allocated */
static const char *names[MAX_CALL];

static void find_names(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALL; i++)
		names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
}

static void free_names(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CALL; i++) {
		free((char *)names[i]);
		names[i] = NULL;
	}
}

static const char *name_of(int nr)
{
	return nr >= 0 && nr < MAX_CALL && names[nr] ? names[nr] : "of an unknown number";
}

/* Whether it is the first time: a client that has the process in its hands could fill the log. */
static bool is_new(int nr)
{
	static bool known[MAX_CALL + 1];
	unsigned int at = nr >= 0 && nr < MAX_CALL ? nr : MAX_CALL;

	return !__atomic_exchange_n(&known[at], true, __ATOMIC_RELAXED);
}

/* In front of the list: refused without a word, as the C library has another way */
static int add_quiet(scmp_filter_ctx ctx)
{
	/* The flags of clone3() are in memory, where they can't be looked at. */
	return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int add_list(scmp_filter_ctx ctx, const int *calls, unsigned int num)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < num && !err; i++) {
		/* A negative number: this processor has no such call. */
		if (calls[i] >= 0)
			err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
		if (err == -EEXIST)
			err = 0;
	}
	return err;
}

/* @call, if its argument @arg is @value */
static int add_equal(scmp_filter_ctx ctx, int call, unsigned int arg, uint64_t value)
{
	const struct scmp_arg_cmp cmp = {arg, SCMP_CMP_EQ, value, 0};

	return seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1, &cmp);
}

/* @call, if the bits @mask of its argument @arg are @value */
static int add_masked(scmp_filter_ctx ctx, int call, unsigned int arg, uint64_t mask,
		      uint64_t value)
{
	const struct scmp_arg_cmp cmp = {arg, SCMP_CMP_MASKED_EQ, mask, value};

	return seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1, &cmp);
}

/* No memory with code, no signal to another process */
static int add_common(scmp_filter_ctx ctx)
{
	int err = add_list(ctx, common, sizeof(common) / sizeof(common[0]));

	if (!err && SANITIZED)
		return add_list(ctx, sanitizer, sizeof(sanitizer) / sizeof(sanitizer[0]));
	if (!err)
		err = add_masked(ctx, SCMP_SYS(mmap), 2, PROT_EXEC, 0);
	if (!err)
		err = add_masked(ctx, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	if (!err)
		err = add_equal(ctx, SCMP_SYS(tgkill), 0, getpid());
	if (!err)
		err = add_equal(ctx, SCMP_SYS(prctl), 0, PR_SET_TIMERSLACK);
	return err;
}

/* A socket of @domain, for a stream or for datagrams */
static int add_socket(scmp_filter_ctx ctx, int domain, int type)
{
	const struct scmp_arg_cmp cmp[] = {
		{0, SCMP_CMP_EQ, domain, 0},
		{1, SCMP_CMP_MASKED_EQ, ~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK), type},
	};

	return seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2, cmp);
}

static int add_connects(scmp_filter_ctx ctx)
{
	int err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(connect), 0);

	if (!err)
		err = add_socket(ctx, AF_UNIX, SOCK_STREAM);
	if (!err)
		err = add_socket(ctx, AF_INET, SOCK_STREAM);
	if (!err)
		err = add_socket(ctx, AF_INET6, SOCK_STREAM);
	return err;
}

static int add_tap(scmp_filter_ctx ctx)
{
	static const unsigned int requests[] = {SIOCGIFINDEX, TUNSETIFF, TUNSETOFFLOAD};
	/* For the index of an interface */
	int err = add_socket(ctx, AF_UNIX, SOCK_DGRAM);
	unsigned int i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]) && !err && !SANITIZED; i++)
		err = add_equal(ctx, SCMP_SYS(ioctl), 1, requests[i]);
	return err;
}

/* No other programs, and no other processes */
static int add_device(scmp_filter_ctx ctx, const struct sandbox *sandbox)
{
	static const int commands[] = {F_GETFL, F_SETFL, F_GET_SEALS};
	int err = add_list(ctx, device, sizeof(device) / sizeof(device[0]));
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]) && !err && !SANITIZED; i++)
		err = add_equal(ctx, SCMP_SYS(fcntl), 1, commands[i]);
	if (!err && !SANITIZED)
		err = add_masked(ctx, SCMP_SYS(clone), CLONE_FLAGS, CLONE_THREAD, CLONE_THREAD);
	if (!err && sandbox->connects)
		err = add_connects(ctx);
	if (!err && sandbox->tap)
		err = add_tap(ctx);
	return err;
}

/* It ends a device that hangs. */
static int add_keeper(scmp_filter_ctx ctx)
{
	return add_equal(ctx, SCMP_SYS(pidfd_send_signal), 1, SIGKILL);
}

/* SANDBOX_ON */

static void set_result(void *context, long result)
{
	mcontext_t *regs = &((ucontext_t *)context)->uc_mcontext;

#if defined(__x86_64__)
	regs->gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	regs->regs[0] = result;
#elif defined(__s390x__)
	regs->gregs[2] = result;
#else
#error "where is the result of a system call?"
#endif
}

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	static const char begin[] = "ohcad: " NAME ": the call ", end[] = " is refused\n";
	const char *name = name_of(info->si_syscall);
	char line[128];
	size_t len;

	(void)sig;
	set_result(context, -ENOSYS);
	if (!is_new(info->si_syscall))
		return;
	memcpy(line, begin, sizeof(begin) - 1);
	len = sizeof(begin) - 1;
	memcpy(line + len, name, strnlen(name, 64));
	len += strnlen(name, 64);
	memcpy(line + len, end, sizeof(end) - 1);
	len += sizeof(end) - 1;
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}

static int handle_sigsys(void)
{
	struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	if (sigaction(SIGSYS, &action, NULL) || sigprocmask(SIG_UNBLOCK, &set, NULL))
		return -errno;
	return 0;
}

/* SANDBOX_LOG */

/* What the thread gets: @fd is -1 until the list is in force. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t set;
	int fd;
} notify = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, -1};

static void *notify_thread(void *arg)
{
	struct seccomp_notif_resp *answer;
	struct seccomp_notif *call;

	pthread_mutex_lock(&notify.lock);
	while (notify.fd < 0)
		pthread_cond_wait(&notify.set, &notify.lock);
	pthread_mutex_unlock(&notify.lock);
	if (seccomp_notify_alloc(&call, &answer))
		abort();
	for (;;) {
		memset(call, 0, sizeof(*call));
		if (seccomp_notify_receive(notify.fd, call))
			continue;
		if (is_new(call->data.nr))
			log_info(NAME, "the call %s is not in the list", name_of(call->data.nr));
		memset(answer, 0, sizeof(*answer));
		answer->id = call->id;
		answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		seccomp_notify_respond(notify.fd, answer);
	}
	return arg;
}

static int start_notify(void)
{
	sigset_t all, old;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, notify_thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_detach(thread);
	return -err;
}

static void notify_on(int fd)
{
	pthread_mutex_lock(&notify.lock);
	notify.fd = fd;
	pthread_cond_signal(&notify.set);
	pthread_mutex_unlock(&notify.lock);
}

static int set_attributes(scmp_filter_ctx ctx, bool log)
{
	int err;

	/* All threads, but the one that is asked */
	err = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, !log);
	/* Older kernels would else turn off speculation, at a great cost in speed. */
	if (!err)
		err = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_SSB, 1);
	/* A binary tree; no failure if this library has none */
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return err;
}

static int load(const struct sandbox *sandbox, enum sandbox_process process)
{
	bool log = sandbox->mode == SANDBOX_LOG;
	scmp_filter_ctx ctx = seccomp_init(log ? SCMP_ACT_NOTIFY : SCMP_ACT_TRAP);
	int err;

	if (!ctx)
		return log ? -EOPNOTSUPP : -ENOMEM;
	err = set_attributes(ctx, log);
	if (!err)
		err = add_quiet(ctx);
	if (!err)
		err = add_common(ctx);
	if (!err)
		err = process == SANDBOX_DEVICE ? add_device(ctx, sandbox) : add_keeper(ctx);
	if (!err)
		err = log ? start_notify() : handle_sigsys();
	if (!err)
		err = seccomp_load(ctx);
	if (!err && log)
		notify_on(seccomp_notify_fd(ctx));
	/* It closes the descriptor that the thread uses. */
	if (err || !log)
		seccomp_release(ctx);
	return err;
}

/* Does the kernel have lists? */
static bool exists(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

int sandbox_calls(const struct sandbox *sandbox, enum sandbox_process process)
{
	int err;

	if (!exists()) {
		log_info(NAME, "this kernel has no seccomp: system calls are not restricted");
		return 0;
	}
	find_names();
	err = load(sandbox, process);
	if (!err)
		return 0;
	free_names();
	log_error(NAME, "the list of system calls: %s", strerror(-err));
	return err;
}
