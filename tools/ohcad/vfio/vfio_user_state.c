// SPDX-License-Identifier: GPL-2.0
/* The state of a vfio-user connection, in memory that outlives the process. */

#include <errno.h>
#include <unistd.h>
#include <sys/mman.h>

#include "vfio/vfio_user_state.h"

static struct vfio_user_state *map(int fd)
{
	struct vfio_user_state *state =
		mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return state == MAP_FAILED ? NULL : state;
}

struct vfio_user_state *vfio_user_state_new(int *fd)
{
	struct vfio_user_state *state = NULL;

	*fd = memfd_create("ohca-client", MFD_CLOEXEC);
	if (*fd < 0)
		return NULL;
	if (!ftruncate(*fd, sizeof(*state)))
		state = map(*fd);
	if (!state)
		close(*fd);
	return state;
}

/*
 * Check that nothing in the state leads to an access beyond the buffers: the dead process may have
 * written anything here.
 */
static bool possible(const struct vfio_user_state *state)
{
	uint32_t got = vfio_user_moved(&state->rx);

	if (got > VFIO_USER_HDR + sizeof(state->in))
		return false;
	if (!state->reply.len)
		return got <= VFIO_USER_HDR || got <= state->hdr.size;
	return state->reply.len >= VFIO_USER_HDR && state->reply.len <= sizeof(state->out) &&
	       vfio_user_moved(&state->tx) <= state->reply.len;
}

struct vfio_user_state *vfio_user_state_inherit(int fd)
{
	struct vfio_user_state *state = map(fd);

	if (!state)
		return NULL;
	if (!possible(state)) {
		vfio_user_state_free(state);
		errno = EINVAL;
		return NULL;
	}
	if (state->reply.with_fd && !vfio_user_moved(&state->tx))
		state->reply.len = 0;
	return state;
}

void vfio_user_state_free(struct vfio_user_state *state)
{
	if (state)
		munmap(state, sizeof(*state));
}

uint32_t vfio_user_moved(const struct vfio_user_transfer *transfer)
{
	return transfer->before + transfer->last;
}

void vfio_user_begin(struct vfio_user_transfer *transfer)
{
	__atomic_store_n(&transfer->word, 0, __ATOMIC_RELEASE);
}

static void prepare(struct vfio_user_transfer *transfer, struct iovec *iov, void *control,
		    size_t control_len)
{
	struct vfio_user_transfer next = {.before = vfio_user_moved(transfer)};

	transfer->msg = (struct msghdr){
		.msg_iov = iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = control_len,
	};
	__atomic_store_n(&transfer->word, next.word, __ATOMIC_RELEASE);
}

static ssize_t result(const struct vfio_user_transfer *transfer, int ret)
{
	if (ret < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return transfer->last ? (ssize_t)transfer->last : -EPIPE;
}

ssize_t vfio_user_recv(struct vfio_user_transfer *transfer, int fd, void *buf, size_t len,
		       void *control, size_t control_len)
{
	struct iovec iov = {buf, len};

	prepare(transfer, &iov, control, control_len);
	return result(transfer, recvmmsg(fd, (struct mmsghdr *)transfer, 1,
					 MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL));
}

ssize_t vfio_user_send(struct vfio_user_transfer *transfer, int fd, const void *buf, size_t len,
		       void *control, size_t control_len)
{
	struct iovec iov = {(void *)buf, len};

	prepare(transfer, &iov, control, control_len);
	return result(transfer,
		      sendmmsg(fd, (struct mmsghdr *)transfer, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void vfio_user_set_reply(struct vfio_user_state *state, union vfio_user_reply reply)
{
	__atomic_store_n(&state->reply.word, reply.word, __ATOMIC_RELEASE);
}
