// SPDX-License-Identifier: GPL-2.0
/* What ohcactl top shows, as lines of text of at most 80 columns. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "top.h"

#define CELL 12

/**
 * struct text - lines that are being made, with room for @room
 */
struct text {
	struct top_line *lines;
	unsigned int num, room;
};

__attribute__((format(printf, 3, 4))) static void add(struct text *text, enum top_style style,
						      const char *fmt, ...)
{
	struct top_line *line;
	va_list ap;

	if (!text->lines || text->num == text->room)
		return;
	line = &text->lines[text->num++];
	line->style = style;
	va_start(ap, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	va_end(ap);
}

/* A number in up to five characters, with a unit: "999", "1.2k", "34.5M" */
static const char *human(char cell[CELL], double value)
{
	static const char units[] = " kMGTPE";
	unsigned int i = 0;

	while (value >= 999.5 && units[i + 1]) {
		value /= 1000;
		i++;
	}
	if (!i)
		snprintf(cell, CELL, value && value < 9.95 ? "%.1f" : "%.0f", value);
	else
		snprintf(cell, CELL, value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[i]);
	return cell;
}

/* Nanoseconds, likewise */
static const char *duration(char cell[CELL], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int i = 0;

	while (ns >= 999.5 && i < 3) {
		ns /= 1000;
		i++;
	}
	snprintf(cell, CELL, i && ns < 9.95 ? "%.1f%s" : "%.0f%s", ns, units[i]);
	return cell;
}

static void add_head(struct text *text, const struct sample *sample, const struct sample_key *key)
{
	time_t seconds = sample->time;
	struct tm tm;
	char now[16];

	localtime_r(&seconds, &tm);
	strftime(now, sizeof(now), "%H:%M:%S", &tm);
	add(text, TOP_PLAIN,
	    "ohcad %" PRIu64 ", interface %s  %s  %u HCAs, %u ports, %u QPs  by %s", sample->pid,
	    sample->interface, now, sample->num_hcas, sample->num_ports, sample->num_qps,
	    key->name);
}

static void add_hca(struct text *text, const struct sample_hca *hca)
{
	bool bad = hca->in_error || hca->broken_rules || !strcmp(hca->state, "fatal");

	add(text, bad ? TOP_BAD : TOP_PLAIN, "%-15.15s %-9s %-7s %7u %8u %12" PRIu64 "  %s",
	    hca->name, hca->state, hca->connected ? "yes" : "no", hca->qps, hca->in_error,
	    hca->broken_rules, hca->latency ? "measured" : "-");
}

static void add_port(struct text *text, const struct sample_port *port)
{
	bool bad = port->rate[PORT_ERRORS] || port->rate[PORT_RETRIES] || port->rate[PORT_DROPS];
	enum top_style style = bad ? TOP_BAD : strcmp(port->state, "active") ? TOP_PLAIN : TOP_GOOD;
	char cell[PORT_VALUES][CELL], name[32];
	unsigned int i;

	for (i = 0; i < PORT_VALUES; i++)
		human(cell[i], port->rate[i]);
	snprintf(name, sizeof(name), "%.20s/%u", port->name, port->number);
	add(text, style, "%-11s %-4s %-6s %8s %8s %7s %7s %7s %6s %6s", name,
	    strcmp(port->link, "infiniband") ? "eth" : "ib", port->state, cell[PORT_TX_BYTES],
	    cell[PORT_RX_BYTES], cell[PORT_TX_PACKETS], cell[PORT_RX_PACKETS], cell[PORT_RETRIES],
	    cell[PORT_ERRORS], cell[PORT_DROPS]);
}

static void add_qp(struct text *text, const struct sample_qp *qp)
{
	bool bad = !strcmp(qp->state, "ERR") || !strcmp(qp->state, "SQE") || qp->rate[QP_ERRORS] ||
		   qp->rate[QP_RETRIES];
	char cell[QP_VALUES][CELL], mean[CELL] = "-", p99[CELL] = "-";
	unsigned int i;

	for (i = 0; i < QP_MESSAGES + 1; i++)
		human(cell[i], qp->rate[i]);
	for (; i < QP_VALUES; i++)
		human(cell[i], qp->value[i]);
	if (qp->measured) {
		duration(mean, qp->mean);
		duration(p99, qp->p99);
	}
	add(text, bad ? TOP_BAD : TOP_PLAIN,
	    "%-8.8s %6" PRIu32 " %-7s %-5s %6s %6s %6s %7s %6s %5s %5s", qp->name, qp->number,
	    qp->type, qp->state, cell[QP_SENT], cell[QP_RECEIVED], cell[QP_MESSAGES],
	    cell[QP_RETRIES], cell[QP_ERRORS], mean, p99);
}

/* How many of @num rows are shown where there is room for @room; a last line says how many are not. */
static unsigned int rows(unsigned int num, unsigned int room)
{
	return num <= room ? num : room ? room - 1 : 0;
}

static void add_rest(struct text *text, unsigned int num, unsigned int shown, const char *what)
{
	if (shown < num)
		add(text, TOP_PLAIN, "... %u more %s", num - shown, what);
}

/* Adapters and ports have a third of the lines each at most, queue pairs what is left. */
struct top_line *top_lines(const struct sample *sample, struct top_page *page, unsigned int *num)
{
	const struct sample_qp **qps = sample_sort(sample, page->key);
	unsigned int all = sample->num_hcas + sample->num_ports + sample->num_qps + 12;
	unsigned int third = page->height ? page->height / 3 - 1 : UINT32_MAX, shown, i, room;
	struct text text = {calloc(all, sizeof(struct top_line)), 0, all};

	add_head(&text, sample, page->key);
	add(&text, TOP_TITLE,
	    "HCA             STATE     MACHINE     QPS IN ERROR BROKEN RULES  LATENCY");
	shown = rows(sample->num_hcas, third);
	for (i = 0; i < shown; i++)
		add_hca(&text, &sample->hcas[i]);
	add_rest(&text, sample->num_hcas, shown, "HCAs");
	add(&text, TOP_TITLE,
	    "PORT        LINK STATE    TX B/s   RX B/s  TX p/s  RX p/s RETRY/s  ERR/s DROP/s");
	shown = rows(sample->num_ports, third);
	for (i = 0; i < shown; i++)
		add_port(&text, &sample->ports[i]);
	add_rest(&text, sample->num_ports, shown, "ports");
	add(&text, TOP_TITLE,
	    "HCA         QPN TYPE    STATE TX B/s RX B/s  MSG/s RETRIES ERRORS  MEAN   P99");
	room = !page->height ? UINT32_MAX : page->height > text.num ? page->height - text.num : 0;
	if (page->first > sample->num_qps || sample->num_qps - page->first < room)
		page->first = sample->num_qps > room ? sample->num_qps - room : 0;
	for (i = page->first; qps && i < sample->num_qps && i - page->first < room; i++)
		add_qp(&text, qps[i]);
	*num = text.num;
	free(qps);
	return qps ? text.lines : NULL;
}

static bool print_page(const struct sample *sample, const struct top_options *opts)
{
	struct top_page page = {.key = opts->key};
	unsigned int i, num;
	struct top_line *lines = top_lines(sample, &page, &num);

	for (i = 0; lines && i < num; i++)
		puts(lines[i].text);
	free(lines);
	return lines && !fflush(stdout) && !ferror(stdout);
}

static int batch(int fd, const struct top_options *opts, struct sample *sample)
{
	int status = EXIT_SUCCESS;
	struct sample *before;
	unsigned long i;

	for (i = 0; !status && (!opts->count || i < opts->count); i++) {
		before = sample;
		sample = sample_next(fd, opts->hca, opts->interval, before, &status);
		sample_free(before);
		if (!sample)
			break;
		if (i)
			putchar('\n');
		if (!print_page(sample, opts))
			status = EXIT_FAILURE;
	}
	sample_free(sample);
	return status;
}

int top_run(int fd, const struct top_options *opts)
{
	int status;
	struct sample *sample = sample_take(fd, opts->hca, NULL, &status);

	if (!sample)
		return status;
	return opts->batch ? batch(fd, opts, sample) : screen_run(fd, opts, sample);
}
