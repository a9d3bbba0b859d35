// SPDX-License-Identifier: GPL-2.0
/* A file that is written by a thread of its own. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture_file.h"
#include "capture/pcapng.h"

#define BUF_SIZE (4U << 20)
/* How long the event loop waits for the thread when both buffers are full. */
#define WAIT_NS 4000000
/* How often a FIFO that is full is looked at, and how many times more after the end. */
#define POLL_MS 20
#define LAST_POLLS 5

/* What a pipe takes without blocking if poll() says that it takes anything: PIPE_BUF */
#define PIPE_PART 4096

/**
 * struct capture_file - the file
 * @passed: @fd may block, and is written in small parts
 * @started: there is the thread
 * @fill: the buffer that is filled, of which @used bytes are; the event loop's
 * @late: the event loop has waited in vain: it does not wait again before the thread is done
 * @polls: how many times more a FIFO is looked at when @closing; the thread's
 * @lock: of what follows
 * @wake: there is something for the thread to do
 * @done: the thread has nothing to do
 * @drain: the buffer that the thread writes, if @drain_len is not 0
 * @closing: the event loop waits for the end
 * @quit: the thread is to end after this buffer
 * @err: 0, or the -errno after which the thread writes no more
 */
struct capture_file {
	int fd;
	bool passed;
	bool started;
	pthread_t thread;
	uint8_t *fill;
	size_t used;
	bool late;
	int polls;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	uint8_t *drain;
	size_t drain_len;
	bool closing, quit;
	int err;
};

static bool is_closing(struct capture_file *file)
{
	bool closing;

	pthread_mutex_lock(&file->lock);
	closing = file->closing;
	pthread_mutex_unlock(&file->lock);
	return closing;
}

/* A FIFO is full. */
static int wait_for_reader(struct capture_file *file)
{
	struct pollfd pfd = {.fd = file->fd, .events = POLLOUT};

	while (!poll(&pfd, 1, POLL_MS)) {
		if (is_closing(file) && !file->polls--)
			return -ETIMEDOUT;
	}
	return 0;
}

/* A regular file that could not take all of it keeps whole blocks. */
static void trim(struct capture_file *file, const uint8_t *buf, size_t len)
{
	off_t at = lseek(file->fd, 0, SEEK_CUR);

	if (at >= (off_t)len && ftruncate(file->fd, at - len + pcapng_whole(buf, len)))
		return;
}

static int write_all(struct capture_file *file, const uint8_t *buf, size_t len)
{
	size_t at = 0, part;
	int err = 0;

	while (at < len && !err) {
		ssize_t done;

		if (file->passed)
			err = wait_for_reader(file);
		if (err)
			break;
		part = file->passed && len - at > PIPE_PART ? PIPE_PART : len - at;
		done = write(file->fd, buf + at, part);
		if (done >= 0)
			at += done;
		else if (errno == EAGAIN)
			err = wait_for_reader(file);
		else if (errno != EINTR)
			err = -errno;
	}
	if (err)
		trim(file, buf, at);
	return err;
}

static void *writer(void *arg)
{
	struct capture_file *file = arg;
	int err;

	pthread_mutex_lock(&file->lock);
	while (!file->quit || file->drain_len) {
		if (!file->drain_len) {
			pthread_cond_wait(&file->wake, &file->lock);
			continue;
		}
		pthread_mutex_unlock(&file->lock);
		err = write_all(file, file->drain, file->drain_len);
		pthread_mutex_lock(&file->lock);
		file->drain_len = 0;
		if (err) {
			file->err = err;
			break;
		}
		pthread_cond_signal(&file->done);
	}
	pthread_cond_signal(&file->done);
	pthread_mutex_unlock(&file->lock);
	return NULL;
}

/*
 * It begins when there is something to write: a capture may begin before the process is in its sandbox, of which the
 * thread would be no part.
 *
 * The event loop handles signals.  SIGXFSZ and SIGPIPE of this thread become errors of write().  A
 * system call that the sandbox refuses ends the process where SIGSYS is blocked.
 */
static int start_thread(struct capture_file *file)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&file->thread, NULL, writer, file);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	file->started = !err;
	return -err;
}

static void destroy(struct capture_file *file)
{
	pthread_cond_destroy(&file->wake);
	pthread_cond_destroy(&file->done);
	pthread_mutex_destroy(&file->lock);
	if (file->fd >= 0)
		close(file->fd);
	free(file->fill);
	free(file->drain);
	free(file);
}

static struct capture_file *create(void)
{
	struct capture_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	pthread_mutex_init(&file->lock, NULL);
	pthread_cond_init(&file->wake, NULL);
	pthread_cond_init(&file->done, NULL);
	file->polls = LAST_POLLS;
	file->fill = malloc(BUF_SIZE);
	file->drain = malloc(BUF_SIZE);
	file->fd = -1;
	return file;
}

/* Is all there?  @err: of opening it */
static struct capture_file *check(struct capture_file *file, int err)
{
	if (!err && (!file->fill || !file->drain))
		err = ENOMEM;
	if (!err)
		return file;
	if (file->passed)
		file->fd = -1; /* still the caller's */
	destroy(file);
	errno = err;
	return NULL;
}

struct capture_file *capture_file_new(const char *path)
{
	struct capture_file *file = create();

	if (!file)
		return NULL;
	file->fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
	return check(file, file->fd < 0 ? errno : 0);
}

struct capture_file *capture_file_of(int fd)
{
	struct capture_file *file = create();

	if (!file)
		return NULL;
	file->fd = fd;
	file->passed = true;
	return check(file, 0);
}

/* Hand @fill over to the thread; false: it still writes the last buffer, or can't write.  With the lock held. */
static bool hand_over(struct capture_file *file)
{
	uint8_t *buf = file->fill;

	if (file->drain_len || file->err)
		return false;
	if (!file->started)
		file->err = start_thread(file);
	if (file->err)
		return false;
	file->fill = file->drain;
	file->drain = buf;
	file->drain_len = file->used;
	file->used = 0;
	file->late = false;
	pthread_cond_signal(&file->wake);
	return true;
}

/* With the lock held. */
static void wait_until_done(struct capture_file *file)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += WAIT_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (file->drain_len && !file->err) {
		if (pthread_cond_clockwait(&file->done, &file->lock, CLOCK_MONOTONIC, &end))
			break;
	}
}

uint8_t *capture_file_reserve(struct capture_file *file, size_t len)
{
	bool room = BUF_SIZE - file->used >= len;

	if (!room) {
		pthread_mutex_lock(&file->lock);
		if (file->drain_len && !file->late) {
			wait_until_done(file);
			file->late = true;
		}
		room = hand_over(file);
		pthread_mutex_unlock(&file->lock);
	}
	return room ? file->fill + file->used : NULL;
}

void capture_file_commit(struct capture_file *file, size_t len)
{
	file->used += len;
}

size_t capture_file_flush(struct capture_file *file)
{
	pthread_mutex_lock(&file->lock);
	if (file->used)
		hand_over(file);
	pthread_mutex_unlock(&file->lock);
	return file->used;
}

int capture_file_error(struct capture_file *file)
{
	int err;

	pthread_mutex_lock(&file->lock);
	err = file->err;
	pthread_mutex_unlock(&file->lock);
	return err;
}

int capture_file_free(struct capture_file *file)
{
	int err;

	pthread_mutex_lock(&file->lock);
	file->closing = true;
	while (file->used && !hand_over(file) && !file->err)
		pthread_cond_wait(&file->done, &file->lock);
	file->quit = true;
	pthread_cond_signal(&file->wake);
	pthread_mutex_unlock(&file->lock);
	if (file->started)
		pthread_join(file->thread, NULL);
	err = file->err;
	destroy(file);
	return err;
}
