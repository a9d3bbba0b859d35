// SPDX-License-Identifier: GPL-2.0
/*
 * The files that the process may use, and the ports that it may connect to: landlock.  A file that is
 * open already is not affected.  Kernels know different versions of landlock; what one does not
 * know is not restricted.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/landlock.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "sandbox/paths.h"

#define NAME "sandbox"

/* What older headers lack */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
#define CONNECT_TCP (1ULL << 1)
#define ALL_NET 3ULL /* bind too */
#define RULE_NET_PORT 2
#define SCOPE_ABSTRACT_SOCKET 1ULL
#define SCOPE_SIGNAL 2ULL

/* struct landlock_ruleset_attr and struct landlock_net_port_attr of new headers */
struct ruleset {
	uint64_t fs, net, scoped;
};

struct port_rule {
	uint64_t allowed, port;
};

static long version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* All that the kernel can refuse */
static struct ruleset all_of(long abi, enum sandbox_process process)
{
	struct ruleset all = {.fs = LANDLOCK_ACCESS_FS_REFER - 1};

	if (abi >= 2)
		all.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		all.fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi >= 4)
		all.net = ALL_NET;
	if (abi >= 5)
		all.fs |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	if (abi >= 6)
		all.scoped = SCOPE_ABSTRACT_SOCKET;
	/* The keeper ends a device that hangs. */
	if (abi >= 6 && process == SANDBOX_DEVICE)
		all.scoped |= SCOPE_SIGNAL;
	return all;
}

static int add_path(int ruleset, const char *path, uint64_t allowed)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = allowed};
	int err = 0;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return -errno;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		err = -errno;
	close(rule.parent_fd);
	return err;
}

static int add_dirs(int ruleset, const struct sandbox *sandbox, const struct ruleset *all)
{
	static const uint64_t rights[] = {
		[SANDBOX_REMOVE] = LANDLOCK_ACCESS_FS_REMOVE_FILE,
		[SANDBOX_WRITE] = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
				  LANDLOCK_ACCESS_FS_TRUNCATE,
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < sandbox->num_dirs && !err; i++)
		err = add_path(ruleset, sandbox->dirs[i].path,
			       rights[sandbox->dirs[i].use] & all->fs);
	return err;
}

static int add_ports(int ruleset, const struct sandbox *sandbox, const struct ruleset *all)
{
	unsigned int i;

	for (i = 0; i < sandbox->num_ports && all->net; i++) {
		const struct port_rule rule = {CONNECT_TCP, sandbox->ports[i]};

		if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0))
			return -errno;
	}
	return 0;
}

static int add_device(int ruleset, const struct sandbox *sandbox, const struct ruleset *all)
{
	const uint64_t tun = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			     LANDLOCK_ACCESS_FS_IOCTL_DEV;
	int err = add_dirs(ruleset, sandbox, all);

	if (!err)
		err = add_ports(ruleset, sandbox, all);
	if (!err && sandbox->tap)
		err = add_path(ruleset, "/dev/net/tun", tun & all->fs);
	return err;
}

static int restrict_paths(const struct sandbox *sandbox, enum sandbox_process process, long abi)
{
	const struct ruleset all = all_of(abi, process);
	int fd = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (process == SANDBOX_DEVICE)
		err = add_device(fd, sandbox, &all);
#ifdef __SANITIZE_ADDRESS__
	/* It reads /proc, and what its reports name. */
	if (!err)
		err = add_path(fd, "/", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
#endif
	if (!err && syscall(SYS_landlock_restrict_self, fd, 0))
		err = -errno;
	close(fd);
	return err;
}

int sandbox_paths(const struct sandbox *sandbox, enum sandbox_process process)
{
	long abi = version();
	int err;

	if (abi < 1) {
		/* Once: the keeper is in the same kernel. */
		if (process == SANDBOX_DEVICE)
			log_info(NAME, "this kernel has no landlock: paths are not restricted");
		return 0;
	}
	err = restrict_paths(sandbox, process, abi);
	if (err)
		log_error(NAME, "the list of files: %s", strerror(-err));
	return err;
}

static int add_dir(struct sandbox *sandbox, char *path, enum sandbox_use use)
{
	struct sandbox_dir *dirs;

	dirs = path ? realloc(sandbox->dirs, (sandbox->num_dirs + 1) * sizeof(*dirs)) : NULL;
	if (!dirs) {
		free(path);
		return -ENOMEM;
	}
	sandbox->dirs = dirs;
	dirs[sandbox->num_dirs++] = (struct sandbox_dir){path, use};
	return 0;
}

int sandbox_add_dir(struct sandbox *sandbox, const char *path, enum sandbox_use use)
{
	return add_dir(sandbox, strdup(path), use);
}

int sandbox_add_dir_of(struct sandbox *sandbox, const char *path, enum sandbox_use use)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return sandbox_add_dir(sandbox, ".", use);
	return add_dir(sandbox, slash == path ? strdup("/") : strndup(path, slash - path), use);
}

int sandbox_add_port(struct sandbox *sandbox, uint16_t port)
{
	uint16_t *ports = realloc(sandbox->ports, (sandbox->num_ports + 1) * sizeof(*ports));

	if (!ports)
		return -ENOMEM;
	sandbox->ports = ports;
	ports[sandbox->num_ports++] = port;
	return 0;
}

void sandbox_free(struct sandbox *sandbox)
{
	while (sandbox->num_dirs)
		free(sandbox->dirs[--sandbox->num_dirs].path);
	free(sandbox->dirs);
	free(sandbox->ports);
}
