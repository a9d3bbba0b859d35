/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is written by a thread of its own, so that a slow disk keeps nobody waiting.  There are
 * two buffers: one is being filled, the other one is being written or is empty.  The thread touches
 * nothing else of this process.
 */

#ifndef OHCAD_CAPTURE_FILE_H
#define OHCAD_CAPTURE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct capture_file;

/*
 * Create the file, readable by its owner only, or empty it; a FIFO or a device is good, too, if
 * nobody has to be waited for.  NULL: errno says why not.
 */
struct capture_file *capture_file_new(const char *path);

/*
 * Room for @len bytes (some hundred KiB at most), aligned to four; NULL if there is none, because the
 * disk is too slow, although a short while was waited.
 */
uint8_t *capture_file_reserve(struct capture_file *file, size_t len);
/* The first @len bytes of it are used.  What is used each time is whole blocks. */
void capture_file_commit(struct capture_file *file, size_t len);
/* Have written what is there, when the thread comes to it; returns what is not on its way yet. */
size_t capture_file_flush(struct capture_file *file);
/* 0, or -errno: nothing can be written any more. */
int capture_file_error(struct capture_file *file);

/*
 * Write the rest and close; returns as capture_file_error().  It does not wait long for somebody who
 * reads a FIFO.  A file whose disk is full ends with a whole block.
 */
int capture_file_free(struct capture_file *file);

#endif
