/* SPDX-License-Identifier: GPL-2.0 */
/* Listening sockets in the file system. */

#ifndef OHCAD_UNIX_LISTEN_H
#define OHCAD_UNIX_LISTEN_H

#include <sys/stat.h>

/*
 * Listen at @path, in place of a socket that no process serves any more.  When the file appears it
 * can be connected to.  The file has the permissions of @mode that the umask leaves.  Returns a
 * descriptor, or -errno; @st identifies the file for unix_unlink().
 */
int unix_listen(const char *path, mode_t mode, struct stat *st);
/* Remove the file, if it is still that one. */
void unix_unlink(const char *path, const struct stat *st);

#endif
