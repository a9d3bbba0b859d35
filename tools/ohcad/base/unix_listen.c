// SPDX-License-Identifier: GPL-2.0
/* Listening sockets in the file system. */

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/unix_listen.h"

#define OWN_MODE 0600

const char *unix_parse_mode(struct unix_access *access, const char *text)
{
	unsigned long mode;
	char *end;

	mode = strtoul(text, &end, 8);
	if (*end || *text < '0' || *text > '7' || mode > 0777 || !(mode & 0600))
		return "mode is the permissions in octal digits, such as 0660";
	access->mode = mode;
	return NULL;
}

const char *unix_parse_group(struct unix_access *access, const char *text)
{
	const struct group *group = getgrnam(text);
	unsigned long id;
	char *end;

	id = strtoul(text, &end, 10);
	if (group)
		access->group = group->gr_gid;
	else if (!*end && *text >= '0' && *text <= '9' && id < (gid_t)-1)
		access->group = id;
	else
		return "there is no such group";
	access->has_group = true;
	return NULL;
}

int unix_set_access(const char *path, const struct unix_access *access)
{
	if (access->has_group && lchown(path, -1, access->group))
		return -errno;
	return chmod(path, access->mode ? access->mode : OWN_MODE) ? -errno : 0;
}

/* Is there nothing at @path, or only the socket of a server that has ended? */
static int check_path(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, err = 0;

	if (lstat(addr->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) || errno != ECONNREFUSED)
		err = -EADDRINUSE;
	close(fd);
	return err;
}

/* Listen under another name first: when the socket file appears it can be connected to. */
int unix_listen(const char *path, const struct unix_access *access, struct stat *st)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX}, tmp = addr;
	size_t len = strlen(path);
	int fd, err;

	if (len + 2 > sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, len);
	memcpy(tmp.sun_path, path, len);
	tmp.sun_path[len] = '~';
	err = check_path(&addr);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(tmp.sun_path);
	/* The file gets what the socket has, less the umask: nobody else opens it before its time. */
	if (fchmod(fd, OWN_MODE) || bind(fd, (struct sockaddr *)&tmp, sizeof(tmp))) {
		err = -errno;
		close(fd);
		return err;
	}
	err = unix_set_access(tmp.sun_path, access);
	if (!err && (listen(fd, 8) || stat(tmp.sun_path, st) || rename(tmp.sun_path, path)))
		err = -errno;
	if (err) {
		unlink(tmp.sun_path);
		close(fd);
		return err;
	}
	return fd;
}

/* Another server may have taken the path. */
void unix_unlink(const char *path, const struct stat *mine)
{
	struct stat st;

	if (mine->st_ino && !stat(path, &st) && st.st_ino == mine->st_ino &&
	    st.st_dev == mine->st_dev)
		unlink(path);
}
