// SPDX-License-Identifier: GPL-2.0
/* ohcactl: shows the state of a running ohcad, and controls it. */

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dot.h"
#include "print.h"
#include "subnet.h"
#include "svg.h"
#include "talk.h"

#define EXIT_USAGE 2
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
			    "  fault add RULE             add a rule for packet or HCA faults\n"
			    "  fault show                 rules, and how often they were applied\n"
			    "  fault clear [ID]           remove this rule, or all\n"
			    "  capture start FILE         record the packets of ports and uplinks\n"
			    "  capture show               state and size of the capture\n"
			    "  capture stop               complete the file\n"
			    "  version                    version of ohcad\n"
			    "  help                       all commands, and their arguments\n"
			    "\n"
			    "  -s, --socket SOCKET        default: environment OHCACTL_SOCKET\n"
			    "  -j, --json                 print the result as JSON\n"
			    "      --dot                  of show topology: print a graph of "
			    "nodes and cables for\n"
			    "                             graphviz\n"
			    "      --svg                  of show topology: print a picture of "
			    "it, by graphviz\n"
			    "  -h, --help                 print this text\n"
			    "\n"
			    "Arguments are in the order that 'help' shows, with or without NAME "
			    "before "
			    "them, or NAME=VALUE.\n"
			    "Exit status: 0, 1 if the command failed, 2 for a wrong command "
			    "line.\n";

static int bad(const char *what, const char *why)
{
	fprintf(stderr, "ohcactl: %s%s\nTry 'ohcactl --help'.\n", what, why);
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
	struct json_object *value;

	return json_object_object_get_ex(obj, name, &value) ? json_object_get_string(value) : "";
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
 * before its value.  Returns NULL if there are too many.
 */
static struct json_object *make_args(struct json_object *cmd, char **words, int num)
{
	struct json_object *args = json_object_new_object(), *next;
	const char *value;
	char key[MAX_NAME];
	int i;

	for (i = 0; i < num; i++) {
		if (is_named(cmd, args, words[i], key)) {
			value = strchr(words[i], '=') + 1;
			json_object_object_add(args, key, json_object_new_string(value));
			continue;
		}
		next = find_argument(cmd, args, NULL);
		if (!next) {
			json_object_put(args);
			return NULL;
		}
		value = get_string(next, "name");
		if (i + 1 < num && !strcmp(words[i], value))
			i++;
		json_object_object_add(args, value, json_object_new_string(words[i]));
	}
	return args;
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

static int run(int fd, char **words, int num, enum format format)
{
	struct json_object *help = talk(fd, "help", NULL), *cmd, *args, *name = NULL,
			   *result = NULL;
	int status = EXIT_FAILURE, used;

	if (!help)
		return EXIT_FAILURE;
	cmd = find_command(help, words, num, &used);
	args = cmd ? make_args(cmd, words + used, num - used) : NULL;
	if (!args) {
		status = bad(cmd ? "too many arguments: " : "ohcad has no command: ", words[0]);
	} else {
		json_object_object_get_ex(cmd, "name", &name);
		result = talk_all(fd, json_object_get_string(name), args);
	}
	if (result) {
		print_result(result, json_object_get_string(name), format);
		status = fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	json_object_put(help);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"socket", required_argument, NULL, 's'}, {"json", no_argument, NULL, 'j'},
		{"dot", no_argument, NULL, 'd'},	  {"svg", no_argument, NULL, 'g'},
		{"help", no_argument, NULL, 'h'},	  {NULL, 0, NULL, 0},
	};
	const char *path = getenv("OHCACTL_SOCKET");
	enum format format = FORMAT_TEXT;
	int c, fd, status;

	while ((c = getopt_long(argc, argv, "s:jh", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			path = optarg;
			break;
		case 'j':
			format = FORMAT_JSON;
			break;
		case 'd':
			format = FORMAT_DOT;
			break;
		case 'g':
			format = FORMAT_SVG;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try 'ohcactl --help'.\n");
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return bad("no command", "");
	if (format >= FORMAT_DOT && !is_drawn(argv + optind, argc - optind))
		return bad("--dot and --svg are for show topology", "");
	if (!path)
		return bad("no socket is given", "");
	fd = talk_open(path);
	if (fd < 0)
		return EXIT_FAILURE;
	status = format >= FORMAT_DOT ? draw(fd, format)
				      : run(fd, argv + optind, argc - optind, format);
	close(fd);
	return status;
}
