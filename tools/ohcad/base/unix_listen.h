/* SPDX-License-Identifier: GPL-2.0 */
/* Listening sockets in the file system. */

#ifndef OHCAD_UNIX_LISTEN_H
#define OHCAD_UNIX_LISTEN_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * struct unix_access - who may connect to a socket in the file system
 * @mode: the file's permissions, whatever the umask is; 0: its owner's alone, 0600
 * @has_group: the file belongs to @group, of which this process has to be a member, or to have
 *	CAP_CHOWN
 */
struct unix_access {
	mode_t mode;
	bool has_group;
	gid_t group;
};

/*
 * Parse the permissions, in octal digits, or the name or number of a group.  Return NULL, or what
 * is wrong.
 */
const char *unix_parse_mode(struct unix_access *access, const char *text);
const char *unix_parse_group(struct unix_access *access, const char *text);

/* Give the socket file at @path its permissions and its group.  0 or -errno */
int unix_set_access(const char *path, const struct unix_access *access);

/*
 * Listen at @path, in place of a socket that no process serves any more.  When the file appears it
 * can be connected to, and has its permissions.  Returns a descriptor, or -errno; @st identifies
 * the file for unix_unlink().
 */
int unix_listen(const char *path, const struct unix_access *access, struct stat *st);
/* Remove the file, if it is still that one. */
void unix_unlink(const char *path, const struct stat *st);

#endif
