// SPDX-License-Identifier: GPL-2.0
/* Topologies of InfiniBand subnets: net files. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology.h"

#define MAX_INCLUDES 8
#define GUID_HCA 0x100000 /* GUIDs start here if the file has none; as ibsim's */
#define GUID_SWITCH 0x200000
#define ALL_WIDTHS 31
#define ALL_SPEEDS 7
#define ALL_EXT_SPEEDS 15

/**
 * struct cable - one end of a cable
 * @node, @port: the port with it
 * @to: name of the node at the other end, and @to_port: number of its port
 * @path, @line: where the file says so
 */
struct cable {
	unsigned int node;
	uint8_t port;
	char *to;
	unsigned int to_port;
	const char *path;
	unsigned int line;
};

/**
 * struct header - where the file has a node's header line
 */
struct header {
	const char *path;
	unsigned int line;
};

/**
 * struct name - of a node, sorted
 */
struct name {
	const char *name;
	unsigned int node;
};

/**
 * struct reader - what is read
 * @headers: of all nodes
 * @paths: names of files, which cables and headers refer to
 * @path, @line, @depth: where the reader is
 * @at: position in the line
 * @in_node: ports belong to the last node
 * @base, @next: by NODE_*: GUIDs
 * @guid, @system_guid, @vendor, @device: of the next node, or 0
 * @speeds: of the ports of the next nodes
 */
struct reader {
	struct topology *topology;
	struct header *headers;
	struct cable *cables;
	unsigned int num_cables;
	struct name *names;
	char **paths;
	unsigned int num_paths;
	const char *path;
	unsigned int line;
	unsigned int depth;
	char *at;
	bool in_node;
	uint64_t base[NODE_SWITCH + 1], next[NODE_SWITCH + 1];
	uint64_t guid, system_guid;
	uint32_t vendor;
	uint16_t device;
	struct ib_speeds speeds;
	char *why;
};

__attribute__((format(printf, 4, 5))) static bool fail_at(struct reader *r, const char *path,
							  unsigned int line, const char *fmt, ...)
{
	int len = snprintf(r->why, TOPOLOGY_MAX_WHY, "%s:%u: ", path, line);
	va_list ap;

	if (len < 0 || len >= TOPOLOGY_MAX_WHY)
		return false;
	va_start(ap, fmt);
	vsnprintf(r->why + len, TOPOLOGY_MAX_WHY - len, fmt, ap);
	va_end(ap);
	return false;
}

#define fail(r, ...) fail_at(r, (r)->path, (r)->line, __VA_ARGS__)

static bool no_memory(struct reader *r)
{
	return fail(r, "out of memory");
}

/* Room for one more of @num elements of an array, which grows by doubling */
static void *grow(void *array, unsigned int num, size_t size)
{
	if (num & (num - 1))
		return array;
	return realloc(array, (num ? 2 * (size_t)num : 1) * size);
}

/* Parts of a line */

static void skip_space(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

/* If the line continues with this text, skip it. */
static bool take(struct reader *r, char c)
{
	skip_space(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static bool take_number(struct reader *r, uint64_t *number, int base, uint64_t max,
			const char *what)
{
	char *end;

	skip_space(r);
	errno = 0;
	if (isxdigit((unsigned char)*r->at))
		*number = strtoull(r->at, &end, base);
	else
		end = r->at;
	if (end == r->at)
		return fail(r, "expected %s, not '%.32s'", what, r->at);
	if (errno || *number > max)
		return fail(r, "expected %s of at most %#llx", what, (unsigned long long)max);
	r->at = end;
	return true;
}

/* Read a quoted string.  NULL: there is none */
static char *take_quoted(struct reader *r, const char *what)
{
	char *text, *end;

	if (!take(r, '"')) {
		fail(r, "expected %s in quotes, not '%.32s'", what, r->at);
		return NULL;
	}
	text = r->at;
	end = strchr(text, '"');
	if (!end || end == text) {
		fail(r, "expected %s in quotes", what);
		return NULL;
	}
	*end = '\0';
	r->at = end + 1;
	return text;
}

static bool take_word(struct reader *r, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(r->at, word, len) || isalnum((unsigned char)r->at[len]))
		return false;
	r->at += len;
	return true;
}

/* A port's number in brackets */
static bool take_port(struct reader *r, unsigned int max, unsigned int *port)
{
	uint64_t number;

	if (!take_number(r, &number, 10, max, "the number of a port"))
		return false;
	if (!number)
		return fail(r, "expected the number of a port from 1 on");
	if (!take(r, ']'))
		return fail(r, "expected ']' after the number of a port, not '%.32s'", r->at);
	*port = number;
	return true;
}

/* A GUID in parentheses: ibnetdiscover prints those of HCAs' ports. */
static bool take_port_guid(struct reader *r, uint64_t *guid)
{
	*guid = 0;
	if (!take(r, '('))
		return true;
	if (!take_number(r, guid, 16, UINT64_MAX, "a GUID"))
		return false;
	return take(r, ')') || fail(r, "expected ')' after a GUID, not '%.32s'", r->at);
}

/* Nodes */

static bool add_node(struct reader *r, uint8_t type, unsigned int num_ports, const char *name)
{
	struct topology *t = r->topology;
	struct topology_node *node;
	unsigned int i;
	void *array;

	if (t->num == TOPOLOGY_MAX_NODES)
		return fail(r, "more than %u nodes", TOPOLOGY_MAX_NODES);
	array = grow(t->nodes, t->num, sizeof(*t->nodes));
	if (!array)
		return no_memory(r);
	t->nodes = array;
	array = grow(r->headers, t->num, sizeof(*r->headers));
	if (!array)
		return no_memory(r);
	r->headers = array;
	r->headers[t->num] = (struct header){r->path, r->line};
	node = &t->nodes[t->num];
	*node = (struct topology_node){
		.type = type,
		.num_ports = num_ports,
		.name = strdup(name),
		.ports = calloc(num_ports, sizeof(*node->ports)),
		.guid = r->guid ?: r->next[type],
		.vendor = r->vendor,
		.device = r->device,
	};
	t->num++;
	if (!node->name || !node->ports)
		return no_memory(r);
	node->system_guid = r->system_guid ?: node->guid;
	for (i = 0; i < num_ports; i++) {
		node->ports[i].speeds = r->speeds;
		node->ports[i].guid = node->guid + i + 1;
	}
	if (!r->guid)
		r->next[type] += type == NODE_SWITCH ? 1 : num_ports + 1;
	r->guid = 0;
	r->system_guid = 0;
	r->vendor = 0;
	r->device = 0;
	r->in_node = true;
	return true;
}

/* An unquoted description ends before this text of a header line. */
static void cut_desc(char *text)
{
	static const char *const ends[] = {" enhanced port ", " base port ", " lid ", " lmc "};
	unsigned int i;
	char *end;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		end = strstr(text, ends[i]);
		if (end)
			*end = '\0';
	}
}

/* The comment of a header line is the NodeDescription; without one it is the name. */
static void take_desc(struct reader *r)
{
	struct topology_node *node = &r->topology->nodes[r->topology->num - 1];
	const char *desc = node->name;

	if (take(r, '#')) {
		skip_space(r);
		desc = r->at;
		if (*desc == '"')
			r->at[1 + strcspn(++desc, "\"")] = '\0';
		else
			cut_desc(r->at);
	}
	if (!*desc)
		desc = node->name;
	snprintf(node->desc, sizeof(node->desc), "%s", desc);
}

static bool read_node(struct reader *r, uint8_t type)
{
	uint64_t num_ports;
	char *name;

	if (!take_number(r, &num_ports, 10, TOPOLOGY_MAX_PORTS, "a number of ports"))
		return false;
	if (!num_ports)
		return fail(r, "expected a number of ports from 1 on");
	name = take_quoted(r, "the name of a node");
	if (!name || !add_node(r, type, num_ports, name))
		return false;
	skip_space(r);
	if (*r->at && *r->at != '#')
		return fail(r, "expected a comment after the name of a node, not '%.32s'", r->at);
	take_desc(r);
	return true;
}

/* Ports */

/* ibsim's numbers are bits of PortInfo's LinkWidth, LinkSpeed and LinkSpeedExt. */
static bool take_bits(struct reader *r, uint8_t *bits, unsigned int max, const char *what)
{
	uint64_t number;

	if (!take(r, '='))
		return fail(r, "expected '=' after '%s', not '%.32s'", what, r->at);
	if (!take_number(r, &number, 0, max, what))
		return false;
	*bits = number;
	return true;
}

static bool take_width(struct reader *r, uint8_t *width)
{
	if (!take_bits(r, width, ALL_WIDTHS, "bits of widths"))
		return false;
	return *width || fail(r, "expected a width");
}

static bool take_option(struct reader *r, struct ib_speeds *speeds, bool *ext)
{
	bool good;

	switch (*r->at++) {
	case 'w':
		return take_width(r, &speeds->width);
	case 's':
		good = take_bits(r, &speeds->speed, ALL_SPEEDS, "bits of speeds");
		if (good && !speeds->speed)
			speeds->speed = PORT_SPEED_QDR;
		if (!*ext)
			speeds->ext = 0;
		return good;
	case 'e':
		*ext = true;
		return take_bits(r, &speeds->ext, ALL_EXT_SPEEDS, "bits of extended speeds");
	default:
		return fail(r, "expected w=, s=, e= or a comment, not '%.32s'", r->at - 1);
	}
}

/* ibnetdiscover ends the comment of a port with the LID of the other end and what the link is, as in "lid 4 4xEDR". */
static void take_link(struct reader *r, struct ib_speeds *speeds)
{
	char *text = NULL, *next = r->at, width[8], speed[8];
	struct ib_speeds found = *speeds;

	while ((next = strstr(next, "lid ")))
		text = next++;
	if (text && sscanf(text, "lid %*u %7[0-9]x%7[A-Z]", width, speed) == 2 &&
	    ib_width_parse(&found, width) && ib_speed_parse(&found, speed))
		*speeds = found;
}

static bool take_options(struct reader *r, struct ib_speeds *speeds)
{
	bool ext = false;

	skip_space(r);
	while (*r->at && *r->at != '#') {
		if (!take_option(r, speeds, &ext))
			return false;
		skip_space(r);
	}
	if (*r->at)
		take_link(r, speeds);
	return true;
}

static bool add_cable(struct reader *r, unsigned int port, const char *to, unsigned int to_port)
{
	struct cable *cables = grow(r->cables, r->num_cables, sizeof(*cables));

	if (!cables)
		return no_memory(r);
	r->cables = cables;
	cables[r->num_cables] = (struct cable){
		.node = r->topology->num - 1,
		.port = port,
		.to = strdup(to),
		.to_port = to_port,
		.path = r->path,
		.line = r->line,
	};
	return cables[r->num_cables++].to || no_memory(r);
}

/* Some switches have other numbers on their outside, which ibnetdiscover prints too: "[ext 3]". */
static void skip_ext(struct reader *r)
{
	char *end;

	skip_space(r);
	end = strncmp(r->at, "[ext", 4) ? NULL : strchr(r->at, ']');
	if (end)
		r->at = end + 1;
}

static bool read_port(struct reader *r)
{
	struct topology_node *node = &r->topology->nodes[r->topology->num - 1];
	unsigned int num, to_port = 1;
	struct topology_port *port;
	uint64_t guid, to_guid;
	char *to;

	if (!r->in_node)
		return fail(r, "expected a node before its ports");
	if (!take_port(r, node->num_ports, &num))
		return false;
	skip_ext(r);
	if (!take_port_guid(r, &guid))
		return false;
	port = &node->ports[num - 1];
	if (port->port)
		return fail(r, "expected one cable for port %u of '%s'", num, node->name);
	if (guid && node->type == NODE_CA)
		port->guid = guid;
	to = take_quoted(r, "the name of a node");
	if (!to || (take(r, '[') && !take_port(r, TOPOLOGY_MAX_PORTS, &to_port)))
		return false;
	skip_ext(r);
	if (!take_port_guid(r, &to_guid) || !take_options(r, &port->speeds))
		return false;
	port->port = to_port;
	return add_cable(r, num, to, to_port);
}

/* Assignments */

static bool read_guids(struct reader *r, uint8_t type)
{
	bool relative = take(r, '+');
	uint64_t number;

	if (!relative && !take(r, '='))
		return fail(r, "expected '=' or '+', not '%.32s'", r->at);
	if (!take_number(r, &number, 0, UINT64_MAX, "a GUID"))
		return false;
	if (!relative)
		r->base[type] = number;
	r->next[type] = relative ? r->base[type] + number : number;
	return true;
}

static bool read_value(struct reader *r, uint64_t *value, uint64_t max, const char *what)
{
	if (!take(r, '='))
		return fail(r, "expected '=', not '%.32s'", r->at);
	return take_number(r, value, 0, max, what);
}

static bool read_ids(struct reader *r, bool *known)
{
	uint64_t value = 0;
	bool good = true;

	*known = true;
	if (take_word(r, "nodeguid")) {
		good = read_value(r, &r->guid, UINT64_MAX, "a GUID");
	} else if (take_word(r, "sysimgguid")) {
		good = read_value(r, &r->system_guid, UINT64_MAX, "a GUID");
	} else if (take_word(r, "vendid")) {
		good = read_value(r, &value, 0xffffff, "a number");
		r->vendor = value;
	} else if (take_word(r, "devid")) {
		good = read_value(r, &value, 0xffff, "a number");
		r->device = value;
	} else {
		*known = false;
	}
	return good;
}

static bool read_speeds(struct reader *r, bool *known)
{
	*known = true;
	if (take_word(r, "width"))
		return take_width(r, &r->speeds.width);
	if (take_word(r, "speed"))
		return take_bits(r, &r->speeds.speed, ALL_SPEEDS, "bits of speeds") &&
		       (r->speeds.speed || fail(r, "expected a speed"));
	if (take_word(r, "extspeed"))
		return take_bits(r, &r->speeds.ext, ALL_EXT_SPEEDS, "bits of extended speeds");
	*known = false;
	return true;
}

static bool read_file(struct reader *r, const char *path);

/* The file's name is relative to the folder of this one. */
static bool read_include(struct reader *r)
{
	const char *name = take_quoted(r, "the name of a file"), *slash = strrchr(r->path, '/');
	int folder = slash && name && *name != '/' ? slash - r->path + 1 : 0;
	char *path;
	bool good;

	if (!name)
		return false;
	if (r->depth == MAX_INCLUDES)
		return fail(r, "expected files that include each other no deeper than %u",
			    MAX_INCLUDES);
	if (asprintf(&path, "%.*s%s", folder, r->path, name) < 0)
		return no_memory(r);
	good = read_file(r, path);
	free(path);
	return good;
}

static bool read_assignment(struct reader *r)
{
	const char *line = r->at;
	bool known, good;

	if (take_word(r, "switchguid"))
		return read_guids(r, NODE_SWITCH);
	if (take_word(r, "caguid") || take_word(r, "hcaguids"))
		return read_guids(r, NODE_CA);
	if (take_word(r, "include"))
		return read_include(r);
	good = read_ids(r, &known);
	if (!known)
		good = read_speeds(r, &known);
	return known ? good
		     : fail(r,
			    "expected Switch, Hca, Ca, [PORT], include or NAME=VALUE, not '%.32s'",
			    line);
}

static bool read_line(struct reader *r)
{
	skip_space(r);
	if (*r->at == '#')
		return true;
	if (*r->at == '[') {
		r->at++;
		return read_port(r);
	}
	r->in_node = false;
	if (!*r->at)
		return true;
	if (take_word(r, "Switch"))
		return read_node(r, NODE_SWITCH);
	if (take_word(r, "Hca") || take_word(r, "Ca"))
		return read_node(r, NODE_CA);
	return read_assignment(r);
}

static const char *keep_path(struct reader *r, const char *path)
{
	char **paths = grow(r->paths, r->num_paths, sizeof(*paths));

	if (!paths)
		return NULL;
	r->paths = paths;
	paths[r->num_paths] = strdup(path);
	return paths[r->num_paths] ? paths[r->num_paths++] : NULL;
}

static bool read_lines(struct reader *r, FILE *file)
{
	char *text = NULL;
	size_t max = 0;
	bool good = true;

	while (good && getline(&text, &max, file) >= 0) {
		r->line++;
		r->at = text;
		text[strcspn(text, "\r\n")] = '\0';
		good = read_line(r);
	}
	if (good && ferror(file))
		good = fail(r, "it can't be read: %s", strerror(errno));
	free(text);
	return good;
}

static bool read_file(struct reader *r, const char *path)
{
	const char *old_path = r->path;
	unsigned int old_line = r->line;
	FILE *file = fopen(path, "re");
	bool good;

	if (!file && !old_path) {
		snprintf(r->why, TOPOLOGY_MAX_WHY, "%s: it can't be read: %s", path,
			 strerror(errno));
		return false;
	}
	if (!file)
		return fail(r, "'%s' can't be read: %s", path, strerror(errno));
	r->path = keep_path(r, path);
	r->line = 0;
	r->depth++;
	r->in_node = false;
	good = r->path && read_lines(r, file);
	fclose(file);
	if (!good)
		return false;
	r->depth--;
	r->path = old_path;
	r->line = old_line;
	r->in_node = false;
	return true;
}

/* Checks of the whole topology */

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}

static bool fail_node(struct reader *r, unsigned int node, const char *what)
{
	return fail_at(r, r->headers[node].path, r->headers[node].line, "%s '%s'", what,
		       r->topology->nodes[node].name);
}

static bool sort_names(struct reader *r)
{
	const struct topology *t = r->topology;
	unsigned int i;

	r->names = calloc(t->num, sizeof(*r->names));
	if (!r->names)
		return no_memory(r);
	for (i = 0; i < t->num; i++)
		r->names[i] = (struct name){t->nodes[i].name, i};
	qsort(r->names, t->num, sizeof(*r->names), compare_names);
	for (i = 1; i < t->num; i++) {
		unsigned int a = r->names[i - 1].node, b = r->names[i].node;

		if (!compare_names(&r->names[i - 1], &r->names[i]))
			return fail_node(r, a > b ? a : b, "expected one node of name");
	}
	return true;
}

/**
 * struct guid - of a node or a port
 */
struct guid {
	uint64_t guid;
	unsigned int node;
};

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = ((const struct guid *)a)->guid, y = ((const struct guid *)b)->guid;

	return x < y ? -1 : x > y;
}

static bool differ(struct reader *r, struct guid *guids, unsigned int num, const char *what)
{
	unsigned int i;

	qsort(guids, num, sizeof(*guids), compare_guids);
	for (i = 1; i < num; i++) {
		unsigned int a = guids[i - 1].node, b = guids[i].node;

		if (guids[i - 1].guid == guids[i].guid)
			return fail_node(r, a > b ? a : b, what);
	}
	return true;
}

/* GUIDs of nodes differ, and so do those of ports; that of a node may be that of its port. */
static bool check_guids(struct reader *r)
{
	const struct topology *t = r->topology;
	unsigned int num = 0, i, j;
	struct guid *guids;
	bool good;

	for (i = 0; i < t->num; i++)
		num += t->nodes[i].num_ports;
	guids = calloc(num, sizeof(*guids));
	if (!guids)
		return no_memory(r);
	for (i = 0; i < t->num; i++)
		guids[i] = (struct guid){t->nodes[i].guid, i};
	good = differ(r, guids, t->num, "expected another GUID for");
	for (num = 0, i = 0; i < t->num; i++) {
		for (j = 0; t->nodes[i].type == NODE_CA && j < t->nodes[i].num_ports; j++)
			guids[num++] = (struct guid){t->nodes[i].ports[j].guid, i};
	}
	good = good && differ(r, guids, num, "expected other GUIDs for the ports of");
	free(guids);
	return good;
}

static bool fail_back(struct reader *r, const struct cable *c)
{
	return fail_at(r, c->path, c->line,
		       "expected that port %u of '%s' leads to port %u of '%s'", c->to_port, c->to,
		       c->port, r->topology->nodes[c->node].name);
}

/* The other end says the same, and there is a speed for both. */
static bool check_cable(struct reader *r, const struct cable *c)
{
	const struct name key = {c->to, 0}, *found;
	struct topology *t = r->topology;
	struct topology_port *port = &t->nodes[c->node].ports[c->port - 1], *other;
	struct ib_speeds best;

	found = bsearch(&key, r->names, t->num, sizeof(key), compare_names);
	if (!found)
		return fail_at(r, c->path, c->line, "expected a node '%s'", c->to);
	if (c->to_port > t->nodes[found->node].num_ports)
		return fail_at(r, c->path, c->line, "expected a port of '%s' up to %u", c->to,
			       t->nodes[found->node].num_ports);
	port->node = found->node;
	other = &t->nodes[found->node].ports[c->to_port - 1];
	if (other->port != c->port || port == other)
		return fail_back(r, c);
	if (!ib_speeds_best(&port->speeds, &other->speeds, &best))
		return fail_at(r, c->path, c->line, "expected a width and a speed of both ends");
	return true;
}

/* Resolve the names of cables when all nodes are known. */
static bool check_back(struct reader *r, const struct cable *c)
{
	const struct topology *t = r->topology;
	const struct topology_port *port = &t->nodes[c->node].ports[c->port - 1];

	return t->nodes[port->node].ports[port->port - 1].node == c->node || fail_back(r, c);
}

static bool check(struct reader *r)
{
	unsigned int i;

	if (!r->topology->num) {
		snprintf(r->why, TOPOLOGY_MAX_WHY, "%s: expected a node", r->paths[0]);
		return false;
	}
	if (!sort_names(r) || !check_guids(r))
		return false;
	for (i = 0; i < r->num_cables; i++) {
		if (!check_cable(r, &r->cables[i]))
			return false;
	}
	for (i = 0; i < r->num_cables; i++) {
		if (!check_back(r, &r->cables[i]))
			return false;
	}
	return true;
}

static void reader_fini(struct reader *r)
{
	while (r->num_cables)
		free(r->cables[--r->num_cables].to);
	free(r->cables);
	while (r->num_paths)
		free(r->paths[--r->num_paths]);
	free(r->paths);
	free(r->headers);
	free(r->names);
}

struct topology *topology_read(const char *path, char why[TOPOLOGY_MAX_WHY])
{
	struct reader r = {
		.topology = calloc(1, sizeof(*r.topology)),
		.base = {[NODE_CA] = GUID_HCA, [NODE_SWITCH] = GUID_SWITCH},
		.next = {[NODE_CA] = GUID_HCA, [NODE_SWITCH] = GUID_SWITCH},
		.speeds = ib_speeds_default,
		.why = why,
	};
	bool good;

	if (!r.topology) {
		snprintf(why, TOPOLOGY_MAX_WHY, "%s: out of memory", path);
		return NULL;
	}
	good = read_file(&r, path) && check(&r);
	reader_fini(&r);
	if (good)
		return r.topology;
	topology_free(r.topology);
	return NULL;
}

void topology_free(struct topology *topology)
{
	unsigned int i;

	if (!topology)
		return;
	for (i = 0; i < topology->num; i++) {
		free(topology->nodes[i].name);
		free(topology->nodes[i].ports);
	}
	free(topology->nodes);
	free(topology);
}

struct topology_node *topology_find(const struct topology *topology, const char *name)
{
	unsigned int i;

	for (i = 0; i < topology->num; i++) {
		if (!strcmp(topology->nodes[i].name, name))
			return &topology->nodes[i];
	}
	return NULL;
}

bool topology_fits(const struct topology_node *node, unsigned int ports)
{
	unsigned int i;

	for (i = 1; i <= node->num_ports; i++) {
		if (node->ports[i - 1].port && !(ports >> i & 1))
			return false;
	}
	return !(ports >> 1 >> node->num_ports);
}

/* Has it a cable? */
static bool is_plugged(const struct topology_node *node)
{
	unsigned int i;

	for (i = 0; i < node->num_ports && !node->ports[i].port; i++)
		;
	return i < node->num_ports;
}

struct topology_node *topology_free_hca(const struct topology *topology, unsigned int ports)
{
	unsigned int i;

	for (i = 0; i < topology->num; i++) {
		struct topology_node *node = &topology->nodes[i];

		if (node->type == NODE_CA && !node->bound && is_plugged(node) &&
		    topology_fits(node, ports))
			return node;
	}
	return NULL;
}
