/* SPDX-License-Identifier: GPL-2.0 */
/* ohcactl top: adapters, ports, and queue pairs by what they do. */

#ifndef OHCACTL_TOP_H
#define OHCACTL_TOP_H

#include "sample.h"

/**
 * struct top_options - what is shown
 * @hca: only this adapter, or NULL
 * @interval: between two looks, in seconds
 * @count: so many times; 0: for ever
 * @batch: as text, not on a screen
 */
struct top_options {
	const char *hca;
	const struct sample_key *key;
	double interval;
	unsigned long count;
	bool batch;
};

/* How a line, or the first part of it, looks on a terminal */
enum top_style {
	TOP_PLAIN,
	TOP_TITLE, /* columns */
	TOP_GOOD,
	TOP_BAD,
};

/**
 * struct top_line - a line of text
 */
struct top_line {
	enum top_style style;
	char text[160];
};

/**
 * struct top_page - what is shown of a sample
 * @height: lines that there is room for; 0: any number
 * @first: queue pairs that are left out at the beginning; more than there are: as many as possible
 * @key: by which they are sorted
 */
struct top_page {
	unsigned int height;
	unsigned int first;
	const struct sample_key *key;
};

/* Make the lines; the caller frees them.  Sets @page->first to what is really left out.  NULL: no memory */
struct top_line *top_lines(const struct sample *sample, struct top_page *page, unsigned int *num);

/* Show what @opts say.  Returns the exit status. */
int top_run(int fd, const struct top_options *opts);

/* The same on a screen, from @first on, which is freed; screen.c */
int screen_run(int fd, const struct top_options *opts, struct sample *first);

#endif
