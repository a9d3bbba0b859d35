// SPDX-License-Identifier: GPL-2.0
/* ohcactl top on a terminal, by ncurses: it is drawn anew for each sample, key, and size of the terminal. */

#include <curses.h>
#include <term.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "top.h"
#include "usage.h"

#define PAIR_GOOD 1
#define PAIR_BAD 2

/**
 * struct screen - what is on the screen
 * @sample: the last look at the device
 * @page: which part of it is shown
 * @screen: that of ncurses
 */
struct screen {
	struct sample *sample;
	struct top_page page;
	SCREEN *screen;
};

static const char help_text[] = "q quit  s order: t traffic m messages r retries e errors l "
				"latency n number";

static double now(void)
{
	return sample_clock(CLOCK_MONOTONIC);
}

static attr_t looks(enum top_style style)
{
	switch (style) {
	case TOP_TITLE:
		return A_REVERSE;
	case TOP_GOOD:
		return has_colors() ? COLOR_PAIR(PAIR_GOOD) : A_NORMAL;
	case TOP_BAD:
		return has_colors() ? COLOR_PAIR(PAIR_BAD) | A_BOLD : A_BOLD;
	default:
		return A_NORMAL;
	}
}

static bool draw(struct screen *s)
{
	struct top_line *rows;
	unsigned int i, num;

	s->page.height = LINES > 1 ? LINES - 1 : 1;
	rows = top_lines(s->sample, &s->page, &num);
	if (!rows)
		return false;
	erase();
	for (i = 0; i < num && i < s->page.height; i++) {
		attrset(looks(rows[i].style));
		if (rows[i].style == TOP_TITLE)
			mvhline(i, 0, ' ', COLS);
		mvaddnstr(i, 0, rows[i].text, COLS);
	}
	attrset(A_DIM);
	mvaddnstr(LINES - 1, 0, help_text, COLS - 1);
	attrset(A_NORMAL);
	refresh();
	free(rows);
	return true;
}

/* The key of the order after this one */
static const struct sample_key *next_key(const struct sample_key *key)
{
	return key[1].name ? key + 1 : sample_keys;
}

/* The order that begins with that letter */
static void set_order(struct screen *s, int letter)
{
	const struct sample_key *key;

	for (key = sample_keys; key->name; key++) {
		if (key->name[0] == letter)
			s->page.key = key;
	}
	s->page.first = 0;
}

/* Returns false if that was the last key. */
static bool press(struct screen *s, int key)
{
	unsigned int half = s->page.height / 2 + 1;

	switch (key) {
	case 'q':
	case 'Q':
	case 27:
		return false;
	case 's':
		s->page.key = next_key(s->page.key);
		s->page.first = 0;
		break;
	case KEY_DOWN:
		s->page.first++;
		break;
	case KEY_UP:
		s->page.first -= s->page.first > 0;
		break;
	case KEY_NPAGE:
		s->page.first += half;
		break;
	case KEY_PPAGE:
		s->page.first -= s->page.first < half ? s->page.first : half;
		break;
	case KEY_HOME:
		s->page.first = 0;
		break;
	default:
		if (key > 0 && key < 128)
			set_order(s, key);
	}
	return true;
}

/* Show the sample and obey keys, until @end.  Returns false if the user has quit, or on an error, *@status. */
static bool show_until(struct screen *s, double end, int *status)
{
	double left;
	int key;

	for (;;) {
		if (!draw(s)) {
			*status = EXIT_FAILURE;
			return false;
		}
		left = end - now();
		if (left <= 0)
			return true;
		timeout(left > 60 ? 60000 : (int)ceil(left * 1000));
		key = getch();
		/* The terminal may be gone: then there is neither a key nor a wait. */
		if (key == ERR && end - now() > 0.01 && !isatty(STDIN_FILENO))
			return false;
		if (key != ERR && !press(s, key))
			return false;
	}
}

static int run(struct screen *s, int fd, const struct top_options *opts)
{
	double next = now() + (opts->interval < 1 ? opts->interval : 1);
	int status = EXIT_SUCCESS;
	unsigned long shown = 0;
	struct sample *sample;

	/* The first rates are there after a second, even if the interval is longer. */
	while (show_until(s, next, &status)) {
		if (opts->count && shown++ == opts->count)
			break;
		next = now() + opts->interval;
		sample = sample_take(fd, opts->hca, s->sample, &status);
		sample_free(s->sample);
		s->sample = sample;
		if (!sample)
			break;
	}
	return status;
}

/* Prepare the terminal.  Returns false if it can't do that. */
static bool open_screen(struct screen *s)
{
	const char *no_color = getenv("NO_COLOR");
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return false;
	/* newterm() would end the program if the terminal were not known; it reads all that again. */
	del_curterm(cur_term);
	s->screen = newterm(NULL, stdout, stdin);
	if (!s->screen)
		return false;
	if ((!no_color || !*no_color) && has_colors()) {
		start_color();
		use_default_colors();
		init_pair(PAIR_GOOD, COLOR_GREEN, -1);
		init_pair(PAIR_BAD, COLOR_RED, -1);
	}
	cbreak();
	noecho();
	keypad(stdscr, true);
	set_escdelay(50);
	curs_set(0);
	return true;
}

int screen_run(int fd, const struct top_options *opts, struct sample *first)
{
	struct screen s = {.sample = first, .page = {.key = opts->key}};
	int status;

	if (!open_screen(&s)) {
		sample_free(first);
		return usage_bad("top needs a terminal; --once and --batch do not", "");
	}
	status = run(&s, fd, opts);
	endwin();
	delscreen(s.screen);
	if (!s.sample)
		fprintf(stderr, "ohcactl: the device does not answer any more\n");
	sample_free(s.sample);
	return status;
}
