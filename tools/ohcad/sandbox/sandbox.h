/* SPDX-License-Identifier: GPL-2.0 */
/* What the process may do: much before it serves its first client, little afterwards. */

#ifndef OHCAD_SANDBOX_H
#define OHCAD_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum sandbox_mode {
	SANDBOX_ON,
	SANDBOX_LOG,
	SANDBOX_OFF,
};

/* The process with the adapters, and its keeper, which needs less */
enum sandbox_process {
	SANDBOX_DEVICE,
	SANDBOX_KEEPER,
};

/* What is done with files in a folder, and below it */
enum sandbox_use {
	SANDBOX_REMOVE, /* removed */
	SANDBOX_WRITE, /* created, and written */
};

struct sandbox_dir {
	char *path;
	enum sandbox_use use;
};

/**
 * struct sandbox - what the process needs
 * @dirs: @num_dirs folders, owned
 * @ports: @num_ports TCP ports that it connects to, owned
 * @user: whom the process becomes, @uid with the group @gid; NULL: it stays what it is
 * @no_groups: the user has no other groups
 * @connects: it connects streams, again when they end
 * @tap: it attaches to tap interfaces, again when they are back
 */
struct sandbox {
	enum sandbox_mode mode;
	const char *user;
	uid_t uid;
	gid_t gid;
	bool no_groups;
	bool connects;
	bool tap;
	struct sandbox_dir *dirs;
	unsigned int num_dirs;
	uint16_t *ports;
	unsigned int num_ports;
};

/* on, log or off; false: it is none of them */
bool sandbox_parse_mode(struct sandbox *sandbox, const char *text);

/*
 * The name of a user, which stays the caller's, or a number: then the group has that number too, and
 * is the only one.  False: there is no such user
 */
bool sandbox_parse_user(struct sandbox *sandbox, const char *text);

/* Add what is needed: a folder, the folder of the file @path, or a port.  0 or -ENOMEM */
int sandbox_add_dir(struct sandbox *sandbox, const char *path, enum sandbox_use use);
int sandbox_add_dir_of(struct sandbox *sandbox, const char *path, enum sandbox_use use);
int sandbox_add_port(struct sandbox *sandbox, uint16_t port);
void sandbox_free(struct sandbox *sandbox);

/*
 * For this process and its children, before anything is opened: no new privileges, no core dumps,
 * files that it creates are its user's alone, @max_files descriptors at most.  With SANDBOX_OFF,
 * nothing but as many descriptors as possible.  0 or -errno
 */
int sandbox_begin(const struct sandbox *sandbox, unsigned int max_files);

/*
 * Become that user, with that user's groups, before anything is opened; also with SANDBOX_OFF.  Of the
 * capabilities CAP_NET_ADMIN is left, if there are tap interfaces.  0, or -errno and logs
 */
int sandbox_become(const struct sandbox *sandbox, enum sandbox_process process);

/*
 * When everything is open, before the first client is served: from now on, all threads of this
 * process can do only what @process needs.  What the kernel lacks for that is logged, once, and is
 * no error.  0, or -errno and logs
 */
int sandbox_enter(const struct sandbox *sandbox, enum sandbox_process process);

#endif
