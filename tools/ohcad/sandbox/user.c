// SPDX-License-Identifier: GPL-2.0
/* The user and the capabilities of the process. */

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "sandbox/user.h"

#define NAME "sandbox"
#define NET_ADMIN (1ULL << CAP_NET_ADMIN)

bool sandbox_parse_user(struct sandbox *sandbox, const char *text)
{
	const struct passwd *user = getpwnam(text);
	unsigned long id;
	char *end;

	sandbox->user = text;
	if (!user) {
		id = strtoul(text, &end, 10);
		sandbox->uid = sandbox->gid = id;
		sandbox->no_groups = true;
		return !*end && *text >= '0' && *text <= '9' && id < (uid_t)-1;
	}
	sandbox->uid = user->pw_uid;
	sandbox->gid = user->pw_gid;
	return true;
}

static int get_caps(uint64_t *permitted)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	*permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return 0;
}

static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	const struct __user_cap_data_struct data[2] = {
		{.effective = caps, .permitted = caps},
		{.effective = caps >> 32, .permitted = caps >> 32},
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Only tap interfaces need any: to make one, or to attach to one that is not this user's. */
static int keep_caps(const struct sandbox *sandbox, enum sandbox_process process)
{
	uint64_t had = 0;
	int err = get_caps(&had);

	if (err)
		return err;
	return set_caps(process == SANDBOX_DEVICE && sandbox->tap ? had & NET_ADMIN : 0);
}

/* What a program could get.  Without CAP_SETPCAP there is no way, and no need: none gets privileges. */
static void drop_bounds(void)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			break;
	}
}

int sandbox_become(const struct sandbox *sandbox, enum sandbox_process process)
{
	int err = 0, death = 0;

	if (sandbox->mode != SANDBOX_OFF)
		drop_bounds();
	if (!sandbox->user || (getuid() == sandbox->uid && geteuid() == sandbox->uid))
		return 0;
	/* The kernel forgets the signal of the parent's death then. */
	prctl(PR_GET_PDEATHSIG, &death);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ||
	    (sandbox->no_groups ? setgroups(0, NULL) : initgroups(sandbox->user, sandbox->gid)) ||
	    setresgid(sandbox->gid, sandbox->gid, sandbox->gid) ||
	    setresuid(sandbox->uid, sandbox->uid, sandbox->uid) ||
	    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, death))
		err = -errno;
	if (!err)
		err = keep_caps(sandbox, process);
	if (err)
		log_error(NAME, "can't become user %s: %s", sandbox->user, strerror(-err));
	return err;
}

int sandbox_drop_caps(const struct sandbox *sandbox, enum sandbox_process process)
{
	int err;

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	err = keep_caps(sandbox, process);
	if (err)
		log_error(NAME, "can't drop capabilities: %s", strerror(-err));
	return err;
}
