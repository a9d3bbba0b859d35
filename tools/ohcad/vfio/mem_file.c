// SPDX-License-Identifier: GPL-2.0
/*
 * Files with guest memory.
 *
 * A file in memory (memfd, tmpfs, hugetlbfs) is known by its seals, which are no matter of the file
 * system.  Of others, statx() returns the attributes that the kernel has already, and the mount;
 * /proc/self/mountinfo has the type of its file system.  A mount of another namespace is not
 * there; then a block device shows that the file system is one of this computer.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/page.h"
#include "vfio/mem_file.h"

static bool is_local_type(const char *type)
{
	static const char *const types[] = {"bcachefs", "btrfs",   "ext2",  "ext3", "ext4",
					    "f2fs",	"overlay", "ramfs", "xfs",  "zfs"};
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(type, types[i]))
			return true;
	}
	return false;
}

/* The type of the file system in a line of mountinfo comes after " - ". */
static bool line_is_local(char *line)
{
	char *type = strstr(line, " - ");

	if (!type)
		return false;
	type += 3;
	type[strcspn(type, " ")] = '\0';
	return is_local_type(type);
}

/* The list of mounts, from its start.  It stays open; each reading has the mounts of its time. */
static FILE *open_mounts(void)
{
	static FILE *mounts;

	if (mounts)
		rewind(mounts);
	else
		mounts = fopen("/proc/self/mountinfo", "re");
	return mounts;
}

void mem_file_prepare(void)
{
	open_mounts();
}

static bool is_local(const struct statx *st)
{
	bool found = false, local = false;
	char *line = NULL;
	size_t room = 0;
	FILE *mounts;

	if (!(st->stx_mask & STATX_MNT_ID))
		return st->stx_dev_major;
	mounts = open_mounts();
	if (!mounts)
		return false;
	while (!found && getline(&line, &room, mounts) > 0) {
		found = strtoull(line, NULL, 10) == st->stx_mnt_id;
		if (found)
			local = line_is_local(line);
	}
	free(line);
	return found ? local : st->stx_dev_major;
}

/* A file in memory: this takes no time. */
static int check_in_memory(int fd, struct mem_file *file)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	file->regular = true;
	file->in_memory = true;
	file->size = st.st_size;
	if (fs.f_type == HUGETLBFS_MAGIC)
		file->page_size = fs.f_bsize;
	return 0;
}

int mem_file_check(int fd, struct mem_file *file)
{
	struct statx st;

	*file = (struct mem_file){.page_size = page_size()};
	if (fcntl(fd, F_GET_SEALS) >= 0)
		return check_in_memory(fd, file);
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		  STATX_TYPE | STATX_SIZE | STATX_MNT_ID, &st))
		return -errno;
	if (!S_ISREG(st.stx_mode))
		return 0;
	if (!is_local(&st))
		return -EPERM;
	file->regular = true;
	file->size = st.stx_size;
	return 0;
}
