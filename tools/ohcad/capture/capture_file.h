/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is written by a thread of its own, so that a slow disk does not block the device.  There
 * are two buffers: one is being filled, the other one is being written or is empty.  The thread
 * touches nothing else of this process.
 */

#ifndef OHCAD_CAPTURE_FILE_H
#define OHCAD_CAPTURE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct capture_file;

/*
 * Create the file, readable by its owner only, or empty it.  It may be a FIFO or a device that can
 * be opened without waiting.  NULL: errno is set.
 */
struct capture_file *capture_file_new(const char *path);

/* The same of a descriptor, which is the file's from then on unless this fails; it may block. */
struct capture_file *capture_file_of(int fd);

/*
 * Returns room for @len bytes (some hundred KiB at most), aligned to four.  If there is none, it
 * waits for a short while; NULL: the disk is too slow.
 */
uint8_t *capture_file_reserve(struct capture_file *file, size_t len);
/* The first @len bytes of that were filled, with whole blocks. */
void capture_file_commit(struct capture_file *file, size_t len);
/*
 * Hand the filled bytes over to the thread if it is free; returns how many could not be handed
 * over.
 */
size_t capture_file_flush(struct capture_file *file);
/* Returns 0, or -errno if the file can't be written any more. */
int capture_file_error(struct capture_file *file);

/*
 * Write the rest and close; returns as capture_file_error().  It does not wait long for the reader
 * of a FIFO.  If the disk is full, the file ends with a whole block.
 */
int capture_file_free(struct capture_file *file);

#endif
