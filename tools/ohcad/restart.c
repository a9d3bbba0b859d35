// SPDX-License-Identifier: GPL-2.0
/*
 * The parent of a process that is started again when it dies.  Its clients are its keeper's then; new
 * ones connect to the next process.
 */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/loop.h"
#include "restart.h"

#define NAME "restart"
/* A process that lives shorter is started again later, after twice as long each time. */
#define SHORT_NS 1000000000ULL
#define FIRST_DELAY_NS 50000000ULL
#define LAST_DELAY_NS 10000000000ULL

/* The next signal of @set, 0 after @wait_ns */
static int next_signal(const sigset_t *set, uint64_t wait_ns)
{
	const struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
	int sig;

	do {
		sig = wait_ns ? sigtimedwait(set, NULL, &wait) : sigwaitinfo(set, NULL);
	} while (sig < 0 && errno == EINTR);
	return sig < 0 ? 0 : sig;
}

/* Wait until @pid has ended; returns its status.  *@asked: it was asked to end. */
static int wait_for(pid_t pid, const sigset_t *set, bool *asked)
{
	int sig, status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		sig = next_signal(set, 0);
		if (sig == SIGTERM || sig == SIGINT) {
			kill(pid, sig);
			*asked = true;
		}
	}
	return status;
}

/* The pause before the next process.  False: the end has come meanwhile. */
static bool pause_for(const sigset_t *set, uint64_t ns)
{
	uint64_t end = loop_clock() + ns, now;
	int sig;

	for (now = loop_clock(); now < end; now = loop_clock()) {
		sig = next_signal(set, end - now);
		if (sig == SIGTERM || sig == SIGINT)
			return false;
	}
	return true;
}

static void begin_child(pid_t parent, const sigset_t *before)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, before, NULL);
	if (getppid() != parent)
		_exit(1);
}

bool restart_on_death(int *status)
{
	uint64_t began, delay = FIRST_DELAY_NS;
	pid_t pid, parent = getpid();
	sigset_t set, before;
	bool asked = false;
	int how;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (;;) {
		began = loop_clock();
		pid = fork();
		if (!pid) {
			begin_child(parent, &before);
			return true;
		}
		*status = 1;
		if (pid < 0) {
			log_error(NAME, "fork: %s", strerror(errno));
			return false;
		}
		how = wait_for(pid, &set, &asked);
		*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
		if (WIFEXITED(how) || asked)
			return false;
		if (loop_clock() - began >= SHORT_NS)
			delay = FIRST_DELAY_NS;
		log_error(NAME, "the device was ended by: %s; it is started again",
			  strsignal(WTERMSIG(how)));
		if (!pause_for(&set, delay))
			return false;
		delay = 2 * delay < LAST_DELAY_NS ? 2 * delay : LAST_DELAY_NS;
	}
}
