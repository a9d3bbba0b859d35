// SPDX-License-Identifier: GPL-2.0
/*
 * A drawing of a subnet in the language of graphviz.  A tree is drawn by "dot" with the switches of a level in a row,
 * another subnet by "neato" or "sfdp".  In a large one, idle HCAs are a line in the label of their switch, and cables have
 * labels only if something is wrong.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dot.h"

#define LARGE 150 /* nodes */
#define IDLE_STATES 3

static const char *const idle_states[IDLE_STATES] = {"Initialize", "Armed", "Active"};

/**
 * struct load - a colour for cables that at least this share of the greatest load has passed
 */
struct load {
	double share;
	const char *color;
	unsigned int width;
	const char *text;
};

static const struct load loads[] = {
	{0.7, "#08306b", 5, "at least 70 % of the busiest cable's bytes"},
	{0.3, "#2171b5", 4, "at least 30 %"},
	{0.1, "#4292c6", 3, "at least 10 %"},
	{0.01, "#6baed6", 2, "at least 1 %"},
	{0, "#9db8cc", 1, "Active: less than 1 %"},
};

#define NUM_LOADS (sizeof(loads) / sizeof(*loads))

/**
 * struct drawing - a graph that is being written
 * @idle: for each node and each of idle_states, the number of HCAs in its label; NULL: each HCA is drawn
 */
struct drawing {
	FILE *out;
	const struct subnet *subnet;
	bool large;
	unsigned int (*idle)[IDLE_STATES];
};

/* Write @text as a part of a string that is a node's ID. */
static void put_id(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
}

/* The same of a label, where graphviz also replaces entities, and pictures can't have control characters. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		if (*text == '&')
			fputs("&amp;", out);
		else
			putc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
	}
}

static void put_bytes(FILE *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double value = bytes;
	unsigned int i;

	for (i = 0; value >= 1000 && i < 4; i++)
		value /= 1000;
	fprintf(out, value < 10 && i ? "%.1f %s" : "%.0f %s", value, units[i]);
}

static bool is_down(const struct subnet_cable *cable)
{
	return !strcmp(cable->state, "Down");
}

static uint64_t errors(const struct subnet_cable *cable)
{
	return cable->end[0].errors + cable->end[1].errors;
}

static const struct load *load_of(const struct drawing *d, uint64_t bytes)
{
	const struct load *load = loads;

	while (load->share && (!d->subnet->most || bytes < load->share * d->subnet->most))
		load++;
	return load;
}

/*
 * If the cable is that of an HCA which has no adapter and no troubles, its state in idle_states; else -1.  @sw: the end at
 * the switch
 */
static int idle_state(const struct subnet_cable *cable, unsigned int *sw)
{
	const struct subnet_node *hca;
	int i;

	for (*sw = 0; *sw < 2; ++*sw) {
		if (cable->end[*sw].node && cable->end[*sw].node->is_switch)
			break;
	}
	if (*sw == 2 || errors(cable))
		return -1;
	hca = cable->end[!*sw].node;
	if (!hca || hca->is_switch || hca->hca || !hca->up || hca->num_cables != 1)
		return -1;
	for (i = IDLE_STATES - 1; i >= 0 && strcmp(cable->state, idle_states[i]); i--)
		;
	return i;
}

/* The HCA in the label of its switch that the cable is of, or NULL */
static const struct subnet_node *folded_hca(const struct drawing *d,
					    const struct subnet_cable *cable)
{
	unsigned int sw;

	return d->idle && idle_state(cable, &sw) >= 0 ? cable->end[!sw].node : NULL;
}

/* Count the HCAs that are in labels.  Without memory there are none. */
static void fold(struct drawing *d)
{
	unsigned int i, sw;
	int state;

	d->idle = calloc(d->subnet->num_nodes, sizeof(*d->idle));
	for (i = 0; d->idle && i < d->subnet->num_cables; i++) {
		const struct subnet_cable *cable = &d->subnet->cables[i];

		state = idle_state(cable, &sw);
		if (state >= 0)
			d->idle[cable->end[sw].node - d->subnet->nodes][state]++;
	}
}

/* Cells of the table that explains the drawing */
static void put_sample(const struct drawing *d, const char *attributes, const char *text)
{
	fprintf(d->out,
		"<TD WIDTH=\"18\" HEIGHT=\"8\" FIXEDSIZE=\"TRUE\" %s></TD><TD "
		"ALIGN=\"LEFT\">%s</TD>",
		attributes, text);
}

static void put_legend(const struct drawing *d)
{
	char attributes[64];
	unsigned int i;

	fputs("\tlabel=<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"3\"><TR>", d->out);
	for (i = NUM_LOADS; i-- > 0;) {
		snprintf(attributes, sizeof(attributes), "BGCOLOR=\"%s\"", loads[i].color);
		put_sample(d, attributes, loads[i].text);
	}
	fputs("</TR><TR>", d->out);
	put_sample(d, "BGCOLOR=\"#c51b1b\"", "Down; red beside blue: errors");
	put_sample(d, "BGCOLOR=\"#f08c00\"", "Initialize");
	put_sample(d, "BGCOLOR=\"#e6c700\"", "Armed");
	put_sample(d, "BGCOLOR=\"#b8e0b0\"", "HCA with a machine");
	put_sample(d, "BORDER=\"1\" COLOR=\"#999999\"", "idle HCA");
	fputs("</TR></TABLE>>\n", d->out);
}

/* The number of nodes in the row that has most */
static unsigned int widest(const struct subnet *subnet)
{
	unsigned int level, i, num = 1, most = 0;

	for (level = 1; num; level++) {
		for (i = 0, num = 0; i < subnet->num_nodes; i++)
			num += subnet->nodes[i].level == level;
		if (num > most)
			most = num;
	}
	return most;
}

static void put_graph(const struct drawing *d)
{
	fputs("graph subnet {\n\tcharset=\"UTF-8\"\n", d->out);
	if (d->subnet->is_tree)
		fprintf(d->out, "\tlayout=dot\n\tranksep=%.1f\n\tnodesep=%.2f\n",
			d->large ? 0.5 + widest(d->subnet) / 20.0 : 0.6, d->large ? 0.08 : 0.3);
	else
		fprintf(d->out, "\tlayout=%s\n\toverlap=false\n", d->large ? "sfdp" : "neato");
	/* Curves around nodes take long, and are not missed where there are many. */
	fprintf(d->out, "\tsplines=%s\n\tnslimit=2\n\tmclimit=0.5\n", d->large ? "line" : "true");
	fputs("\tlabelloc=b\n\tfontname=\"sans\"\n\tfontsize=10\n", d->out);
	put_legend(d);
	fputs("\tnode [fontname=\"sans\" fontsize=11 style=filled height=0.3 "
	      "margin=\"0.08,0.04\"]\n",
	      d->out);
	fputs("\tedge [fontname=\"sans\" fontsize=9 labelfontsize=8 labelfontcolor=\"#666666\"]\n",
	      d->out);
}

static const char *node_style(const struct subnet_node *node)
{
	if (!node->up)
		return "style=\"filled,dashed\" fillcolor=\"#fbdada\" color=\"#c51b1b\" "
		       "fontcolor=\"#c51b1b\"";
	if (node->is_switch)
		return "fillcolor=\"#e4e4e4\"";
	if (node->machine)
		return "fillcolor=\"#b8e0b0\"";
	if (node->hca)
		return "fillcolor=\"white\" color=\"#3a8a2c\"";
	return "fillcolor=\"white\" color=\"#999999\" fontcolor=\"#777777\"";
}

static void put_idle(const struct drawing *d, const struct subnet_node *node)
{
	unsigned int state, num;

	for (state = 0; d->idle && state < IDLE_STATES; state++) {
		num = d->idle[node - d->subnet->nodes][state];
		if (num)
			fprintf(d->out, "\\n%u idle%s%s", num,
				state == IDLE_STATES - 1 ? "" : "\\n",
				state == IDLE_STATES - 1 ? "" : idle_states[state]);
	}
}

static void put_node(const struct drawing *d, const struct subnet_node *node)
{
	fputs("\t\"", d->out);
	put_id(d->out, node->name);
	fputs("\" [label=\"", d->out);
	put_text(d->out, node->name);
	if (node->lid)
		fprintf(d->out, "\\nLID %u", node->lid);
	if (!node->up)
		fputs("\\ndown", d->out);
	if (node->hca && strcmp(node->hca, node->name)) {
		fputs("\\n", d->out);
		put_text(d->out, node->hca);
	}
	put_idle(d, node);
	fprintf(d->out, "\" shape=%s %s tooltip=\"", node->is_switch ? "box" : "ellipse",
		node_style(node));
	put_text(d->out, node->name);
	fprintf(d->out, ": %s\"]\n",
		node->is_switch ? "switch"
		: node->machine ? "HCA with a machine"
		: node->hca	? "HCA without a machine"
				: "idle HCA");
}

/* The nodes with that level side by side */
static bool put_row(const struct drawing *d, unsigned int level)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < d->subnet->num_nodes; i++) {
		if (d->subnet->nodes[i].level != level)
			continue;
		fputs(any ? "; \"" : "\t{rank=same; \"", d->out);
		put_id(d->out, d->subnet->nodes[i].name);
		putc('"', d->out);
		any = true;
	}
	if (any)
		fputs("}\n", d->out);
	return any;
}

static void put_nodes(const struct drawing *d)
{
	unsigned int i, level = 1;
	bool *hidden = calloc(d->subnet->num_nodes, sizeof(*hidden));

	for (i = 0; hidden && i < d->subnet->num_cables; i++) {
		const struct subnet_node *hca = folded_hca(d, &d->subnet->cables[i]);

		if (hca)
			hidden[hca - d->subnet->nodes] = true;
	}
	for (i = 0; i < d->subnet->num_nodes; i++) {
		if (!hidden || !hidden[i])
			put_node(d, &d->subnet->nodes[i]);
	}
	free(hidden);
	while (d->subnet->is_tree && put_row(d, level))
		level++;
}

static void put_color(const struct drawing *d, const struct subnet_cable *cable)
{
	const struct load *load = load_of(d, cable->bytes);

	if (is_down(cable))
		fputs("color=\"#c51b1b\" style=dashed", d->out);
	else if (strcmp(cable->state, "Active"))
		fprintf(d->out, "color=\"%s\"",
			strcmp(cable->state, "Armed") ? "#f08c00" : "#e6c700");
	else
		fprintf(d->out, "color=\"%s%s\" penwidth=%u", load->color,
			errors(cable) ? ":#c51b1b" : "", load->width);
}

static void put_end(const struct drawing *d, const struct subnet_end *end,
		    const struct subnet_end *other)
{
	putc('"', d->out);
	put_id(d->out, end->node ? end->node->name : other->node->name);
	if (!end->node)
		fprintf(d->out, "\\nuplink %u", other->port);
	putc('"', d->out);
}

static void put_end_label(const struct drawing *d, const char *name, const struct subnet_end *end)
{
	if (end->errors)
		fprintf(d->out, " %s=\"%u: %" PRIu64 " error%s\"", name, end->port, end->errors,
			end->errors == 1 ? "" : "s");
	else if (!d->large && end->node)
		fprintf(d->out, " %s=\"%u\"", name, end->port);
}

static void put_end_text(const struct drawing *d, const struct subnet_end *end)
{
	if (end->node)
		put_text(d->out, end->node->name);
	else
		fputs("uplink", d->out);
	if (end->node)
		fprintf(d->out, " port %u", end->port);
}

/* All that is known about it, in one line */
static void put_tooltip(const struct drawing *d, const struct subnet_cable *cable,
			const struct subnet_end *upper, const struct subnet_end *lower)
{
	fputs(" tooltip=\"", d->out);
	put_end_text(d, upper);
	fputs(" - ", d->out);
	put_end_text(d, lower);
	fprintf(d->out, ": %s", cable->state);
	if (cable->speed)
		fprintf(d->out, ", %ux %s", cable->width, cable->speed);
	fputs(", ", d->out);
	put_bytes(d->out, cable->bytes);
	fprintf(d->out, ", errors: %" PRIu64 "\"", errors(cable));
}

static void put_label(const struct drawing *d, const struct subnet_cable *cable)
{
	fputs(" label=\"", d->out);
	if (strcmp(cable->state, "Active"))
		fprintf(d->out, "%s%s", cable->state, cable->speed ? "\\n" : "");
	if (cable->speed)
		fprintf(d->out, "%ux %s", cable->width, cable->speed);
	if (cable->bytes && !is_down(cable)) {
		fputs("\\n", d->out);
		put_bytes(d->out, cable->bytes);
	}
	putc('"', d->out);
}

static void put_cable(const struct drawing *d, const struct subnet_cable *cable)
{
	const struct subnet_end *upper = &cable->end[0], *lower = &cable->end[1];

	if (upper->node && lower->node && upper->node->level < lower->node->level) {
		upper = lower;
		lower = &cable->end[0];
	}
	putc('\t', d->out);
	put_end(d, upper, lower);
	fputs(" -- ", d->out);
	put_end(d, lower, upper);
	fputs(" [", d->out);
	put_color(d, cable);
	if (!d->large)
		put_label(d, cable);
	put_end_label(d, "taillabel", upper);
	put_end_label(d, "headlabel", lower);
	if (errors(cable))
		fputs(" labelfontcolor=\"#c51b1b\"", d->out);
	put_tooltip(d, cable, upper, lower);
	fputs("]\n", d->out);
}

/* Where a cable leads out of this ohcad */
static void put_uplink(const struct drawing *d, const struct subnet_cable *cable)
{
	putc('\t', d->out);
	put_end(d, &cable->end[1], &cable->end[0]);
	fputs(" [label=\"uplink\" shape=cds fillcolor=\"white\"]\n", d->out);
}

void dot_write(FILE *out, const struct subnet *subnet)
{
	struct drawing d = {.out = out, .subnet = subnet, .large = subnet->num_nodes > LARGE};
	unsigned int i;

	if (d.large)
		fold(&d);
	put_graph(&d);
	put_nodes(&d);
	for (i = 0; i < subnet->num_cables; i++) {
		if (!subnet->cables[i].end[1].node)
			put_uplink(&d, &subnet->cables[i]);
		if (!folded_hca(&d, &subnet->cables[i]))
			put_cable(&d, &subnet->cables[i]);
	}
	fputs("}\n", out);
	free(d.idle);
}
