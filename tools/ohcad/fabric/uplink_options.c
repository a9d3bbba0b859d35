// SPDX-License-Identifier: GPL-2.0
/* Options of uplinks. */

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ib_uplink.h"
#include "fabric/uplink_io.h"

static const char *parse_unix(struct uplink_addr *addr, const char *path)
{
	/* One byte less, for the temporary name of a listener. */
	if (!*path || strlen(path) + 2 > sizeof(addr->un.sun_path))
		return "a path is missing, or too long";
	addr->un.sun_family = AF_UNIX;
	strcpy(addr->un.sun_path, path);
	addr->len = sizeof(addr->un);
	return NULL;
}

/* Parse HOST:PORT, where HOST may be in brackets. */
static const char *parse_inet(struct uplink_addr *addr, const char *text, int type)
{
	const struct addrinfo hints = {.ai_socktype = type, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *found;
	char host[256];
	const char *port = strrchr(text, ':'), *start = text;
	size_t len = port ? port - text : 0;

	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		start++;
		len -= 2;
	}
	if (!len || len >= sizeof(host) || !port[1])
		return "an address is HOST:PORT";
	memcpy(host, start, len);
	host[len] = '\0';
	if (getaddrinfo(host, port + 1, &hints, &found))
		return "there is no such host or port";
	memcpy(&addr->storage, found->ai_addr, found->ai_addrlen);
	addr->len = found->ai_addrlen;
	freeaddrinfo(found);
	return NULL;
}

static const char *parse_addr(struct uplink_addr *addr, const char *text, bool dgram)
{
	const char *inet = dgram ? "udp:" : "tcp:";

	if (!text || addr->len)
		return "an address is missing, or given twice";
	if (!strncmp(text, "unix:", 5))
		return parse_unix(addr, text + 5);
	if (!strncmp(text, inet, 4))
		return parse_inet(addr, text + 4, dgram ? SOCK_DGRAM : SOCK_STREAM);
	return dgram ? "a datagram address begins with unix: or udp:"
		     : "a stream's address begins with unix: or tcp:";
}

static const char *parse_ifname(char *ifname, const char *text)
{
	/* The kernel's rules, and no %: the kernel would choose a name. */
	if (!text || !*text || strlen(text) >= IFNAMSIZ || strpbrk(text, "/:% \t\n") ||
	    !strcmp(text, ".") || !strcmp(text, ".."))
		return "the name of the interface is missing or invalid";
	strcpy(ifname, text);
	return NULL;
}

/* Parse the kind, which comes first. */
static const char *parse_kind(struct uplink_options *opts, char **text)
{
	static char *const kinds[] = {
		[UPLINK_STREAM] = (char *)"stream",
		[UPLINK_DGRAM] = (char *)"dgram",
		[UPLINK_TAP] = (char *)"tap",
		NULL,
	};
	static const struct uplink_io *const ios[] = {
		[UPLINK_STREAM] = &stream_io,
		[UPLINK_DGRAM] = &dgram_io,
		[UPLINK_TAP] = &tap_io,
	};
	char *value;
	int kind = getsubopt(text, kinds, &value);

	if (kind < 0)
		return "an uplink begins with stream=, dgram= or tap=";
	opts->kind = kind;
	opts->io = ios[kind];
	if (kind == UPLINK_TAP)
		return parse_ifname(opts->ifname, value);
	return parse_addr(&opts->local, value, kind == UPLINK_DGRAM);
}

static const char *parse_link(struct uplink_options *opts, const char *text, bool again)
{
	if (!text || again)
		return "'link' is eth or ib, and given once";
	if (!strcmp(text, "ib"))
		opts->layer = &ib_uplink_layer;
	else if (strcmp(text, "eth") != 0)
		return "'link' is eth or ib";
	if (opts->layer && opts->kind == UPLINK_TAP)
		return "a tap interface carries Ethernet only";
	return NULL;
}

static const char *parse_more(struct uplink_options *opts, char *text)
{
	enum {
		LISTEN,
		REMOTE,
		LINK,
		MODE,
		GROUP
	};
	static char *const tokens[] = {
		[LISTEN] = (char *)"listen", [REMOTE] = (char *)"remote", [LINK] = (char *)"link",
		[MODE] = (char *)"mode",     [GROUP] = (char *)"group",	  NULL,
	};
	const char *wrong = NULL;
	bool have_link = false;
	char *value;

	while (*text && !wrong) {
		switch (getsubopt(&text, tokens, &value)) {
		case LISTEN:
			if (opts->kind != UPLINK_STREAM || value || opts->listen)
				wrong = "'listen' is only valid for streams, once, without a value";
			opts->listen = true;
			break;
		case REMOTE:
			wrong = opts->kind == UPLINK_DGRAM ? parse_addr(&opts->remote, value, true)
							   : "'remote' is only valid for datagrams";
			break;
		case LINK:
			wrong = parse_link(opts, value, have_link);
			have_link = true;
			break;
		case MODE:
			wrong = unix_parse_mode(&opts->access, value ?: "");
			break;
		case GROUP:
			wrong = unix_parse_group(&opts->access, value ?: "");
			break;
		default:
			wrong = "unknown option";
		}
	}
	return wrong;
}

const char *uplink_parse(struct uplink_options *opts, const char *text)
{
	char *copy = strdup(text), *at = copy;
	const char *wrong;

	memset(opts, 0, sizeof(*opts));
	opts->name = strdup(text);
	if (!copy || !opts->name) {
		free(copy);
		return "out of memory";
	}
	wrong = parse_kind(opts, &at);
	if (!wrong)
		wrong = parse_more(opts, at);
	free(copy);
	if (wrong)
		return wrong;
	if (opts->kind == UPLINK_STREAM && !opts->listen) {
		opts->remote = opts->local;
		opts->local.len = 0;
	}
	if ((opts->access.mode || opts->access.has_group) &&
	    (!opts->local.len || opts->local.sa.sa_family != AF_UNIX))
		return "'mode' and 'group' need a socket in the file system that is listened at";
	if (opts->kind == UPLINK_DGRAM &&
	    (!opts->remote.len || opts->remote.sa.sa_family != opts->local.sa.sa_family))
		return "dgram= needs remote= with an address of the same family";
	return NULL;
}

void uplink_options_free(struct uplink_options *opts)
{
	free(opts->name);
}
