// SPDX-License-Identifier: GPL-2.0
/* ohcactl: shows the state of a running ohcad, and controls it. */

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dot.h"
#include "field.h"
#include "find.h"
#include "live.h"
#include "print.h"
#include "subnet.h"
#include "svg.h"
#include "talk.h"
#include "top.h"
#include "usage.h"
#include "watch.h"

#define MAX_NAME 64

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_DOT,
	FORMAT_SVG,
};

static const char usage[] = "Usage: ohcactl [OPTION]... COMMAND [VALUE | NAME=VALUE | NAME "
			    "VALUE]...\n"
			    "\n"
			    "Sends a command to the ohcad with this control socket (ohcad "
			    "--control SOCKET), and prints the result:\n"
			    "\n"
			    "  show hcas                  adapters\n"
			    "  show ports [HCA]           ports and their GIDs\n"
			    "  show qps [HCA]             queue pairs\n"
			    "  show counters [HCA]        sets of counters; 0 is a port's own\n"
			    "  show totals [HCA]          all counters of ports\n"
			    "  show latency [HCA]         latencies of queue pairs, see latency\n"
			    "  show log [NUMBER]          lines of ohcad's log after that one\n"
			    "  show quotas [HCA]          what machines use of ohcad, and may use\n"
			    "  show uplinks               connections of the fabric to networks\n"
			    "  show topology              nodes of the InfiniBand subnet\n"
			    "  show cables                its cables\n"
			    "  show routes [SL]           from each node, how many others it "
			    "reaches\n"
			    "  node NODE up|down          switch a node of it on, or off\n"
			    "  cable NODE PORT up|down    plug a cable of it in, or unplug it\n"
			    "  link HCA up|down [PORT]    plug the cables of all ports in, or that "
			    "of\n"
			    "                             one, or unplug them\n"
			    "  port HCA PORT ib|eth|auto  the type of a port: InfiniBand, "
			    "Ethernet,\n"
			    "                             or what it was made as\n"
			    "  profile HCA NAME           what it offers from the next reset on\n"
			    "  fault add RULE             add a rule for packet or HCA faults\n"
			    "  fault show                 rules, and how often they were applied\n"
			    "  fault clear [ID]           remove this rule, or all\n"
			    "  fail command HCA           make its next command fail\n"
			    "  fail eq|cq HCA QUEUE       make an event or completion queue fail\n"
			    "  fail hca HCA [REASON]      make it fail\n"
			    "  fail show|clear HCA        show these faults, or end them\n"
			    "  unplug HCA                 unplug the function\n"
			    "  plug HCA                   plug it in again\n"
			    "  top [HCA]                  HCAs, ports and queue pairs on a screen: "
			    "what "
			    "they do\n"
			    "  watch [HCA]                JSON, a line each: counters, rates and "
			    "events\n"
			    "  metrics                    all metrics in the format OpenMetrics\n"
			    "  latency HCA on|off         measure latencies of queue pairs\n"
			    "  capture start FILE         record the packets of ports and uplinks; "
			    "FILE - is the\n"
			    "                             standard output\n"
			    "  capture show               state and size of the capture\n"
			    "  capture stop               complete the file\n"
			    "  version                    version of ohcad\n"
			    "  help                       all commands, and their arguments\n"
			    "\n"
			    "  -s, --socket SOCKET        default: environment OHCACTL_SOCKET, or "
			    "the\n"
			    "                             /run/ohcad/NAME/control of the service "
			    "ohcad@NAME,\n"
			    "                             if there is just one\n"
			    "  -j, --json                 print the result as JSON\n"
			    "      --dot                  of show topology: print a graph of "
			    "nodes and cables for\n"
			    "                             graphviz\n"
			    "      --svg                  of show topology: print a picture of "
			    "it, by graphviz\n"
			    "  -b, --batch                of top: print text\n"
			    "      --once                 of top: the same, once\n"
			    "  -o, --sort KEY             of top: traffic (default), messages, "
			    "retries, errors,\n"
			    "                             latency or number\n"
			    "  -d, --interval SECONDS     of top and watch: 0.1 to 3600, default "
			    "1\n"
			    "  -n, --count N              of top and watch: how often, default "
			    "for ever\n"
			    "  -h, --help                 print this text\n"
			    "\n"
			    "Arguments are in the order that 'help' shows, with or without NAME "
			    "before "
			    "them, or NAME=VALUE.\n"
			    "Exit status: 0, 1 if the command failed, 2 for a wrong command "
			    "line.\n";

int usage_bad(const char *what, const char *why)
{
	fprintf(stderr, "ohcactl: %s%s; see 'ohcactl --help'\n", what, why);
	return EXIT_USAGE;
}

/*
 * Find the command whose name consists of the largest number of the first words, joined by dashes.
 * @used: number of these words.  Returns NULL if there is none.
 */
static struct json_object *find_command(struct json_object *help, char **words, int num, int *used)
{
	struct json_object *list, *found = NULL, *name;
	char joined[MAX_NAME] = "";
	size_t row, len = 0;
	int i;

	if (!json_object_object_get_ex(help, "commands", &list))
		return NULL;
	for (i = 0; i < num && len + strlen(words[i]) + 2 < sizeof(joined); i++) {
		len += sprintf(joined + len, "%s%s", i ? "-" : "", words[i]);
		for (row = 0; row < json_object_array_length(list); row++) {
			struct json_object *cmd = json_object_array_get_idx(list, row);

			if (!json_object_object_get_ex(cmd, "name", &name) ||
			    strcmp(json_object_get_string(name), joined))
				continue;
			found = cmd;
			*used = i + 1;
		}
	}
	return found;
}

static const char *get_string(struct json_object *obj, const char *name)
{
	return field_string(obj, name) ?: "";
}

/*
 * Returns the argument with this name, or with NULL the next one without a value; NULL if there is
 * none.
 */
static struct json_object *find_argument(struct json_object *cmd, struct json_object *args,
					 const char *name)
{
	struct json_object *list, *arg;
	size_t row;

	if (!json_object_object_get_ex(cmd, "args", &list))
		return NULL;
	for (row = 0; row < json_object_array_length(list); row++) {
		arg = json_object_array_get_idx(list, row);
		if (name ? !strcmp(get_string(arg, "name"), name)
			 : !json_object_object_get_ex(args, get_string(arg, "name"), NULL))
			return arg;
	}
	return NULL;
}

/*
 * Whether the word begins with the name of an argument.  A word with '=' may be a value as well, if
 * the next argument is any string and no argument has that name.
 */
static bool is_named(struct json_object *cmd, struct json_object *args, const char *word, char *key)
{
	const char *end = strchr(word, '=');
	struct json_object *next = find_argument(cmd, args, NULL);

	if (!end || end - word >= MAX_NAME)
		return false;
	sprintf(key, "%.*s", (int)(end - word), word);
	return find_argument(cmd, args, key) || !next || strcmp(get_string(next, "type"), "string");
}

/*
 * Values are passed as strings; ohcad knows their types.  The name of the next argument may stand
 * before its value.  Returns NULL if there are too many, or one is given twice.
 */
static struct json_object *make_args(struct json_object *cmd, char **words, int num)
{
	struct json_object *args = json_object_new_object(), *next;
	const char *value;
	char key[MAX_NAME];
	int i;

	for (i = 0; i < num; i++) {
		if (is_named(cmd, args, words[i], key)) {
			if (json_object_object_get_ex(args, key, NULL))
				break;
			value = strchr(words[i], '=') + 1;
			json_object_object_add(args, key, json_object_new_string(value));
			continue;
		}
		next = find_argument(cmd, args, NULL);
		if (!next)
			break;
		value = get_string(next, "name");
		if (i + 1 < num && !strcmp(words[i], value))
			i++;
		json_object_object_add(args, value, json_object_new_string(words[i]));
	}
	if (i == num)
		return args;
	json_object_put(args);
	return NULL;
}

/* Print a line for each command, with the names and types of its arguments. */
static void print_help(struct json_object *help)
{
	struct json_object *list, *args, *value;
	size_t row, i;

	json_object_object_get_ex(help, "commands", &list);
	for (row = 0; row < json_object_array_length(list); row++) {
		struct json_object *cmd = json_object_array_get_idx(list, row);

		json_object_object_get_ex(cmd, "name", &value);
		printf("%s", json_object_get_string(value));
		json_object_object_get_ex(cmd, "args", &args);
		for (i = 0; i < json_object_array_length(args); i++) {
			struct json_object *arg = json_object_array_get_idx(args, i);
			bool required;

			json_object_object_get_ex(arg, "required", &value);
			required = json_object_get_boolean(value);
			json_object_object_get_ex(arg, "name", &value);
			printf(required ? " %s=" : " [%s=", json_object_get_string(value));
			json_object_object_get_ex(arg, "type", &value);
			printf(required ? "%s" : "%s]", json_object_get_string(value));
		}
		printf("\n");
	}
}

static void print_result(struct json_object *result, const char *cmd, enum format format)
{
	if (format == FORMAT_JSON)
		puts(json_object_to_json_string_ext(
			result, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	else if (!strcmp(cmd, "help"))
		print_help(result);
	else
		print_object(result, 0);
	json_object_put(result);
}

/* Print a picture of the subnet; returns the exit status. */
static int draw(int fd, enum format format)
{
	struct subnet *subnet = subnet_get(fd);
	int err = 0;

	if (!subnet)
		return EXIT_FAILURE;
	if (format == FORMAT_SVG)
		err = svg_write(subnet);
	else
		dot_write(stdout, subnet);
	subnet_free(subnet);
	return err || fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Are the words "show topology" and no more? */
static bool is_drawn(char **words, int num)
{
	return (num == 1 && !strcmp(words[0], "show-topology")) ||
	       (num == 2 && !strcmp(words[0], "show") && !strcmp(words[1], "topology"));
}

/* Is it a capture to the standard output? */
static bool is_live(const char *name, struct json_object *args)
{
	return !strcmp(name, "capture-start") && !strcmp(get_string(args, "file"), "-");
}

/* Execute a command of ohcad; returns the exit status. */
static int run(int fd, char **words, int num, enum format format)
{
	struct json_object *help = talk(fd, "help", NULL), *cmd, *args, *result = NULL;
	int status = EXIT_FAILURE, used;
	const char *name;

	if (!help)
		return EXIT_FAILURE;
	cmd = find_command(help, words, num, &used);
	args = cmd ? make_args(cmd, words + used, num - used) : NULL;
	name = cmd ? get_string(cmd, "name") : "";
	if (!args) {
		status = usage_bad(cmd ? "too many arguments: " : "ohcad has no command: ",
				   words[0]);
	} else if (is_live(name, args)) {
		status = live_capture(fd, args);
	} else {
		result = talk_all(fd, name, args);
		status = talk_status();
	}
	if (result) {
		print_result(result, name, format);
		status = fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	json_object_put(help);
	return status;
}

/**
 * struct command_line - the options
 * @top: of top and watch
 * @of_top, @of_watch: one that is for top alone, or for top and watch, was given: its name
 */
struct command_line {
	const char *path;
	enum format format;
	struct top_options top;
	const char *of_top;
	const char *of_watch;
};

static const char shorts[] = ":s:jhbd:n:o:";
static const char once_or_count[] = "--once and --count exclude each other";

/*
 * An option that there is not.  Of a short one, which may stand among others in a word,
 * getopt_long() has the letter; else it is the whole @word.
 */
static int bad_option(const char *word)
{
	const char letter[] = {'-', (char)optopt, '\0'};
	bool is_short = optopt && optopt < 256 && !strchr(shorts, optopt);

	return usage_bad("there is no such option: ", is_short ? letter : word);
}

/* Options; returns 0, or the exit status with *@ends. */
static int parse(struct command_line *line, int argc, char **argv, bool *ends)
{
	enum {
		ONCE = 256,
		DOT,
		SVG,
	};
	static const struct option longs[] = {
		{"socket", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"dot", no_argument, NULL, DOT},
		{"svg", no_argument, NULL, SVG},
		{"batch", no_argument, NULL, 'b'},
		{"once", no_argument, NULL, ONCE},
		{"interval", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'n'},
		{"sort", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	enum format format;
	int count_by = 0; /* ONCE or 'n' */
	char *end;
	int c;

	opterr = 0;
	*ends = true;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (c) {
		case 's':
			line->path = optarg;
			break;
		case 'j':
		case DOT:
		case SVG:
			format = c == DOT ? FORMAT_DOT : c == SVG ? FORMAT_SVG : FORMAT_JSON;
			if (line->format != FORMAT_TEXT && line->format != format)
				return usage_bad("--json, --dot and --svg exclude each other", "");
			line->format = format;
			break;
		case ONCE:
			if (count_by == 'n')
				return usage_bad(once_or_count, "");
			count_by = ONCE;
			line->top.count = 1;
			line->top.batch = true;
			line->of_top = "--once";
			break;
		case 'b':
			line->top.batch = true;
			line->of_top = "--batch";
			break;
		case 'd':
			line->of_watch = "--interval";
			line->top.interval = strtod(optarg, &end);
			if (*end || !(line->top.interval >= 0.1 && line->top.interval <= 3600))
				return usage_bad("--interval is from 0.1 to 3600 seconds, not ",
						 optarg);
			break;
		case 'n':
			if (count_by == ONCE)
				return usage_bad(once_or_count, "");
			count_by = 'n';
			line->of_watch = "--count";
			line->top.count = strtoul(optarg, &end, 10);
			if (*end || *optarg < '1' || *optarg > '9')
				return usage_bad("--count is a number from 1 on, not ", optarg);
			break;
		case 'o':
			line->of_top = "--sort";
			line->top.key = sample_key(optarg);
			if (!line->top.key)
				return usage_bad("--sort is traffic, messages, retries, errors, "
						 "latency or number, not ",
						 optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case ':':
			return usage_bad("a value is missing: ", argv[optind - 1]);
		default:
			return bad_option(argv[optind - 1]);
		}
	}
	*ends = false;
	return 0;
}

/* Check the options against the words; returns 0 or the exit status. */
static int check(struct command_line *line, char **words, int num)
{
	bool top = num && !strcmp(words[0], "top");
	bool watch = num && !strcmp(words[0], "watch");

	if (!num)
		return usage_bad("no command", "");
	if (line->format >= FORMAT_DOT && !is_drawn(words, num))
		return usage_bad("--dot and --svg are for show topology", "");
	if (line->of_top && !top)
		return usage_bad("only top has the option ", line->of_top);
	if (line->of_watch && !top && !watch)
		return usage_bad("only top and watch have the option ", line->of_watch);
	if ((top || watch) && num > 2)
		return usage_bad("too many arguments: ", words[0]);
	if (top && line->format == FORMAT_JSON)
		return usage_bad("top prints no JSON; watch does", "");
	if (top || watch)
		line->top.hca = num > 1 ? words[1] : NULL;
	return 0;
}

static int execute(int fd, const struct command_line *line, char **words, int num)
{
	if (!strcmp(words[0], "top"))
		return top_run(fd, &line->top);
	if (!strcmp(words[0], "watch"))
		return watch_run(fd, &line->top);
	return line->format >= FORMAT_DOT ? draw(fd, line->format)
					  : run(fd, words, num, line->format);
}

int main(int argc, char **argv)
{
	struct command_line line = {
		.path = getenv("OHCACTL_SOCKET"),
		.top = {.key = sample_keys, .interval = 1},
	};
	char *service = NULL;
	int fd, status;
	bool ends;

	status = parse(&line, argc, argv, &ends);
	if (!ends)
		status = check(&line, argv + optind, argc - optind);
	if (ends || status)
		return status;
	if (!line.path)
		line.path = service = find_socket();
	if (!line.path)
		return EXIT_USAGE;
	fd = talk_open(line.path);
	free(service);
	if (fd < 0)
		return EXIT_FAILURE;
	status = execute(fd, &line, argv + optind, argc - optind);
	close(fd);
	return status;
}
