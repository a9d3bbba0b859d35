// SPDX-License-Identifier: GPL-2.0
/*
 * Captures without files, in place of the device's capture_file.c.  The name of the file decides
 * the result: an absolute path can't be created, except for CAPTURE_END_FULL, which acts like a
 * full disk.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture_end.h"
#include "capture/capture_file.h"

#define BUF_SIZE (512U << 10)

/**
 * struct capture_file - data that were not written yet
 * @full: no data can be written
 */
struct capture_file {
	uint8_t *buf;
	size_t used;
	bool full;
	int err;
};

struct capture_file *capture_file_new(const char *path)
{
	struct capture_file *file;

	errno = ENOENT;
	if (!*path || (*path == '/' && strcmp(path, CAPTURE_END_FULL)))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->full = *path == '/';
	file->buf = malloc(BUF_SIZE);
	if (file->buf)
		return file;
	free(file);
	return NULL;
}

/* No descriptors come with requests here. */
struct capture_file *capture_file_of(int fd)
{
	(void)fd;
	errno = EBADF;
	return NULL;
}

uint8_t *capture_file_reserve(struct capture_file *file, size_t len)
{
	return BUF_SIZE - file->used >= len ? file->buf + file->used : NULL;
}

void capture_file_commit(struct capture_file *file, size_t len)
{
	if (len > BUF_SIZE - file->used)
		abort();
	file->used += len;
}

size_t capture_file_flush(struct capture_file *file)
{
	if (file->full && file->used)
		file->err = -ENOSPC;
	file->used = 0;
	return 0;
}

int capture_file_error(struct capture_file *file)
{
	return file->err;
}

int capture_file_free(struct capture_file *file)
{
	int err;

	capture_file_flush(file);
	err = file->err;
	free(file->buf);
	free(file);
	return err;
}
