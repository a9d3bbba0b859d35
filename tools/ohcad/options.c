// SPDX-License-Identifier: GPL-2.0
/* The command line. */

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ohca/ohca_regs.h"
#include "options_hca.h"
#include "inject/pkt_fault.h"
#include "inject/rule_text.h"

#define DEFAULT_SPIN_US 200
#define MAX_SPIN_US 1000000
#define DEFAULT_HANG_NS 10000000000ULL
#define MIN_HANG_NS 10000000ULL
#define MAX_HCAS 64
#define MAX_UPLINKS 64

static const char usage[] =
	"Usage: ohcad --hca socket=PATH,mac=MAC[,name=NAME] [--hca ...] [OPTION]...\n"
	"\n"
	"Emulates OHCA host channel adapters on one fabric.  Each one is a PCI device on a\n"
	"vfio-user socket, for a virtual machine of its own:\n"
	"\n"
	"  qemu-system-x86_64 -machine q35,memory-backend=ram \\\n"
	"    -object memory-backend-memfd,id=ram,size=1G,share=on \\\n"
	"    -device "
	"'{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
	"\n"
	"  --hca socket=PATH    where to listen; an old socket that no process serves is replaced\n"
	"        mode=MODE      permissions of the socket (default: 0600)\n"
	"        group=GROUP    group of the socket, with mode=0660 (default: this process's)\n"
	"        mac=MAC        burnt-in MAC address, aa:bb:cc:dd:ee:ff\n"
	"        name=NAME      name in log lines (default: hca0, hca1, ...)\n"
	"        ports=LINK[+LINK]\n"
	"                       the ports: eth, Ethernet (default), or ib, InfiniBand; InfiniBand\n"
	"                       ports are cabled to a switch of their own.  MAC is that of the\n"
	"                       first port, and the second one has the next address\n"
	"        link=LINK      one port\n"
	"        speed=SPEED    InfiniBand: SDR, DDR, QDR, FDR, EDR (default), HDR or NDR, and "
	"slower\n"
	"        width=N        InfiniBand: 1, 2, 4 (default), 8 or 12 lanes, and fewer\n"
	"        node=NODE      InfiniBand: the HCA of the topology that it is\n"
	"        pace=on|off    InfiniBand: packets leave no faster than the link, and the static\n"
	"                       rates of paths, are (default: off)\n"
	"        trust=MAC[+MAC...]\n"
	"                       Ethernet: further addresses that are its own; or all: it may use\n"
	"                       those of others, too\n"
	"        gid=IP[+IP...] Ethernet: IP addresses whose GIDs are its own\n"
	"        learn=N        Ethernet: addresses that it may use besides, if nobody has them "
	"(32)\n"
	"        mirror=on|off  Ethernet: it sees frames for others, in promiscuous mode and by "
	"flow\n"
	"                       rules (default: off)\n"
	"        profile=NAME   offer only what a profile of the specification has: minimal-rc, "
	"verbs,\n"
	"                       or all (default)\n"
	"        quota-WHAT=N   what its machine may use of this process: pages (32M entries of "
	"lists),\n"
	"                       memory (256M bytes of objects), flows (8192),\n"
	"                       groups (8192) of multicast, members (64k) of these,\n"
	"                       log (100 lines at once, and one a second)\n"
	"        map            machines map device memory; this makes doorbells slower\n"
	"        strict         log the rules of the specification that the driver breaks\n"
	"  --uplink stream=ADDR[,listen]\n"
	"                       join the fabric to an Ethernet through a socket, as QEMU's\n"
	"                       '-netdev stream' does; ADDR is unix:PATH or tcp:HOST:PORT\n"
	"  --uplink dgram=ADDR,remote=ADDR\n"
	"                       the same with datagrams, as '-netdev dgram'; each ADDR, the\n"
	"                       local one and the remote one, is unix:PATH or udp:HOST:PORT\n"
	"  --uplink tap=INTERFACE\n"
	"                       the same with a tap interface of this host\n"
	"           ...,link=ib a stream or datagrams join the switches of InfiniBand of two\n"
	"                       processes, as a cable does\n"
	"           ...,mode=MODE,group=GROUP\n"
	"                       of a socket unix: that others connect or send to, as for --hca\n"
	"  --topology FILE      InfiniBand: the subnet is that of this net file, see ibsim; "
	"adapters without\n"
	"                       node= are the HCAs that are left, in the order of the file\n"
	"  --control PATH[,mode=MODE][,group=GROUP]\n"
	"                       where to take commands of ohcactl; mode and group as for --hca\n"
	"  --metrics PATH[,mode=MODE][,group=GROUP]\n"
	"                       where to answer requests of HTTP for /metrics, in the format\n"
	"                       OpenMetrics; mode and group as for --hca\n"
	"  --fault RULE         lose, delay, reorder, duplicate or corrupt packets:\n"
	"                       drop|delay=TIME|reorder[=N]|duplicate|corrupt|pkey=KEY|\n"
	"                       status=STATUS[,hca=NAME][,dir=tx|rx][,op=OP[+OP...]][,qp=N]\n"
	"                       "
	"[,dlid=N][,psn=N[-N]][,class=CLASS][,attr=ATTRIBUTE][,method=METHOD]\n"
	"                       [,p=P][,count=N][,skip=N][,seed=N]\n"
	"                       or make an adapter fail:\n"
	"                       fail-command[=STATUS]|fail-eq=EQ|fail-cq[=CQ]|fail-hca[=REASON]|\n"
	"                       unplug|link-down|slow-reset[=TIME]|cut-output=BYTES|\n"
	"                       set-output=OFFSET:VALUE|set-cqe=OFFSET:VALUE|\n"
	"                       set-eqe=OFFSET:VALUE|add-event=TYPE:NUMBER[,num=N]|\n"
	"                       link-error=KIND[,num=N][,at=hca|switch],\n"
	"                       hca=NAME[,after=TIME][,every=TIME][,for=TIME]\n"
	"                       "
	"[,on=command|doorbell|completion][,op=COMMAND][,type=TYPE[+TYPE...]]\n"
	"                       [,skip=N][,count=N][,port=N]\n"
	"                       or a node or a cable of an InfiniBand subnet:\n"
	"                       node-down|cable-down,port=N|cable-error=KIND,port=N[,num=N],\n"
	"                       node=NAME[,after=TIME][,every=TIME][,for=TIME][,count=N]\n"
	"  --capture FILE[,snaplen=BYTES][,limit=SIZE]\n"
	"                       record the packets of ports and uplinks, in the format pcapng; at\n"
	"                       most BYTES of each packet, at most SIZE (64k, 100M, 2G) in all\n"
	"  --capture-dir DIR    where ohcactl may start captures (default: in the folder of the\n"
	"                       control socket)\n"
	"  --hang TIME|off      log it if the device hangs for that long (default: 10s)\n"
	"  --restart            start again what dies, and what hangs\n"
	"  --user NAME          become that user (a name, or a number), where root starts it\n"
	"  --sandbox on|log|off refuse what it does not need (on, the default), or log it (log)\n"
	"  --spin-us N          poll for up to N microseconds after the last work before going\n"
	"                       to sleep, twice that after commands (default: 200)\n"
	"      --check          only check the command line: open nothing, exit with 0, or 2 if\n"
	"                       it is wrong\n"
	"  -v, --verbose        log the requests of machines\n"
	"  -h, --help           print this text\n"
	"      --version        print the version\n"
	"\n"
	"SIGTERM and SIGINT end it.\n";

__attribute__((format(printf, 1, 2))) enum options_result options_bad(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "ohcad: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'ohcad --help'.\n");
	return OPTIONS_BAD;
}

enum options_result options_no_error(const char *option, const char *text, const char *wrong)
{
	return wrong ? options_bad("%s: '%s': %s", option, text, wrong) : OPTIONS_RUN;
}

static uint64_t mac_number(const uint8_t mac[6])
{
	uint64_t num = 0;
	unsigned int i;

	for (i = 0; i < 6; i++)
		num = num << 8 | mac[i];
	return num;
}

/* Has a port of one the address of a port of the other? */
static bool same_mac(const struct hca_options *a, const struct hca_options *b)
{
	int64_t diff = (int64_t)(mac_number(a->mac) - mac_number(b->mac));

	return diff < b->num_ports && -diff < a->num_ports;
}

static enum options_result add_hca(struct options *opts, char *text)
{
	struct hca_options *hcas, *hca;
	char name[16];
	unsigned int i;

	if (opts->num_hcas == MAX_HCAS)
		return options_bad("more than %u HCAs", MAX_HCAS);
	hcas = realloc(opts->hcas, (opts->num_hcas + 1) * sizeof(*hcas));
	if (!hcas)
		return options_bad("out of memory");
	opts->hcas = hcas;
	hca = &hcas[opts->num_hcas++];
	memset(hca, 0, sizeof(*hca));
	if (options_hca_parse(hca, text) != OPTIONS_RUN)
		return OPTIONS_BAD;
	if (!hca->name) {
		snprintf(name, sizeof(name), "hca%u", opts->num_hcas - 1);
		hca->name = strdup(name);
	}
	if (!hca->name)
		return options_bad("out of memory");
	for (i = 0; i < opts->num_hcas - 1; i++) {
		if (!strcmp(hcas[i].socket, hca->socket))
			return options_bad("two HCAs at socket %s", hca->socket);
		if (same_mac(&hcas[i], hca))
			return options_bad("two HCAs of one MAC address, %s and %s", hcas[i].name,
					   hca->name);
		if (!strcmp(hcas[i].name, hca->name))
			return options_bad("two HCAs of name %s", hca->name);
	}
	return OPTIONS_RUN;
}

static enum options_result add_uplink(struct options *opts, const char *text)
{
	struct uplink_options *uplinks;
	const char *wrong;

	if (opts->num_uplinks == MAX_UPLINKS)
		return options_bad("more than %u uplinks", MAX_UPLINKS);
	uplinks = realloc(opts->uplinks, (opts->num_uplinks + 1) * sizeof(*uplinks));
	if (!uplinks)
		return options_bad("out of memory");
	opts->uplinks = uplinks;
	wrong = uplink_parse(&uplinks[opts->num_uplinks++], text);
	return wrong ? options_bad("--uplink %s: %s", text, wrong) : OPTIONS_RUN;
}

static enum options_result add_packet_fault(struct options *opts, const char *text)
{
	struct pkt_rule **faults;
	char why[RULE_MAX_WHY];

	if (opts->num_faults == PKT_FAULT_MAX_RULES)
		return options_bad("more than %u faults of packets", PKT_FAULT_MAX_RULES);
	faults = realloc(opts->faults, (opts->num_faults + 1) * sizeof(*faults));
	if (!faults)
		return options_bad("out of memory");
	opts->faults = faults;
	faults[opts->num_faults] = pkt_rule_parse(text, why, sizeof(why));
	if (!faults[opts->num_faults])
		return options_bad("--fault %s: %s", text, why);
	opts->num_faults++;
	return OPTIONS_RUN;
}

static enum options_result add_node_fault(struct options *opts, const char *text)
{
	struct node_rule **faults;
	char why[RULE_MAX_WHY];

	if (opts->num_node_faults == NODE_RULE_MAX)
		return options_bad("more than %u faults of nodes", NODE_RULE_MAX);
	faults = realloc(opts->node_faults, (opts->num_node_faults + 1) * sizeof(*faults));
	if (!faults)
		return options_bad("out of memory");
	opts->node_faults = faults;
	faults[opts->num_node_faults] = node_rule_parse(text, why, sizeof(why));
	if (!faults[opts->num_node_faults])
		return options_bad("--fault %s: %s", text, why);
	opts->num_node_faults++;
	return OPTIONS_RUN;
}

static enum options_result add_fault(struct options *opts, const char *text)
{
	struct hca_rule **faults;
	char why[RULE_MAX_WHY];

	if (node_rule_is(text))
		return add_node_fault(opts, text);
	if (!hca_rule_is(text))
		return add_packet_fault(opts, text);
	faults = realloc(opts->hca_faults, (opts->num_hca_faults + 1) * sizeof(*faults));
	if (!faults)
		return options_bad("out of memory");
	opts->hca_faults = faults;
	faults[opts->num_hca_faults] = hca_rule_parse(text, why, sizeof(why));
	if (!faults[opts->num_hca_faults])
		return options_bad("--fault %s: %s", text, why);
	opts->num_hca_faults++;
	return OPTIONS_RUN;
}

/* Check that the adapter of a rule exists; @name may be NULL. */
static enum options_result check_fault(const struct options *opts, const char *text,
				       const char *name)
{
	unsigned int i;

	for (i = 0; name && i < opts->num_hcas; i++) {
		if (!strcmp(name, opts->hcas[i].name))
			return OPTIONS_RUN;
	}
	return name ? options_bad("--fault %s: there is no HCA '%s'", text, name) : OPTIONS_RUN;
}

/* An uplink of InfiniBand is a cable of the switch, which there is if there is an adapter. */
static enum options_result check_uplinks(const struct options *opts)
{
	bool infiniband = false;
	unsigned int i;

	for (i = 0; i < opts->num_hcas; i++)
		infiniband |= options_hca_has_ib(&opts->hcas[i]);
	for (i = 0; i < opts->num_uplinks && !infiniband; i++) {
		if (opts->uplinks[i].layer)
			return options_bad("--uplink %s: there is no InfiniBand port",
					   opts->uplinks[i].name);
	}
	return OPTIONS_RUN;
}

/* Its InfiniBand ports: bit n for port n */
static unsigned int ib_ports(const struct hca_options *hca)
{
	unsigned int i, ports = 0;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->links[i] == OHCA_LINK_INFINIBAND)
			ports |= 2U << i;
	}
	return ports;
}

/* The adapter is that HCA, and no other one is. */
static enum options_result bind_node(struct hca_options *hca, struct topology_node *node)
{
	if (node->type != NODE_CA)
		return options_bad("--hca %s: node '%s' is a switch", hca->name, node->name);
	if (node->bound)
		return options_bad("--hca %s: node '%s' is another adapter's", hca->name,
				   node->name);
	if (!topology_fits(node, ib_ports(hca)))
		return options_bad("--hca %s: node '%s' has other ports, or a cable at one that is "
				   "not "
				   "the adapter's",
				   hca->name, node->name);
	node->bound = true;
	if (hca->node)
		return OPTIONS_RUN;
	hca->node = strdup(node->name);
	return hca->node ? OPTIONS_RUN : options_bad("out of memory");
}

static enum options_result bind_named(struct options *opts)
{
	enum options_result result = OPTIONS_RUN;
	struct topology_node *node;
	unsigned int i;

	for (i = 0; i < opts->num_hcas && result == OPTIONS_RUN; i++) {
		struct hca_options *hca = &opts->hcas[i];

		if (!hca->node)
			continue;
		if (!opts->topology)
			return options_bad("--hca %s: node=%s needs --topology", hca->name,
					   hca->node);
		node = topology_find(opts->topology, hca->node);
		if (!node)
			return options_bad("--hca %s: the topology has no node '%s'", hca->name,
					   hca->node);
		result = bind_node(hca, node);
	}
	return result;
}

/* Adapters without a name of a node get what is left. */
static enum options_result bind_adapters(struct options *opts)
{
	enum options_result result = bind_named(opts);
	struct topology_node *node;
	unsigned int i;

	for (i = 0; opts->topology && i < opts->num_hcas && result == OPTIONS_RUN; i++) {
		struct hca_options *hca = &opts->hcas[i];

		if (!options_hca_has_ib(hca) || hca->node)
			continue;
		node = topology_free_hca(opts->topology, ib_ports(hca));
		if (!node)
			return options_bad("--hca %s: the topology has no HCA for it", hca->name);
		result = bind_node(hca, node);
	}
	return result;
}

static enum options_result set_topology(struct options *opts, const char *path)
{
	char why[TOPOLOGY_MAX_WHY];

	if (opts->topology)
		return options_bad("--topology is given twice");
	opts->topology = topology_read(path, why);
	return opts->topology ? OPTIONS_RUN : options_bad("--topology %s", why);
}

/* PATH[,mode=MODE][,group=GROUP] of a socket; *@path is the caller's. */
static enum options_result set_socket(const char *option, char **path, struct unix_access *access,
				      const char *text)
{
	static char *const tokens[] = {(char *)"mode", (char *)"group", NULL};
	enum options_result result = OPTIONS_RUN;
	char *at, *value;

	if (*path)
		return options_bad("%s is given twice", option);
	*path = strdup(text);
	if (!*path)
		return options_bad("out of memory");
	at = *path + strcspn(*path, ",");
	if (*at)
		*at++ = '\0';
	if (!**path)
		return options_bad("%s: a path is missing", option);
	while (*at && result == OPTIONS_RUN) {
		switch (getsubopt(&at, tokens, &value)) {
		case 0:
			result = options_no_error(option, value ?: "",
						  unix_parse_mode(access, value ?: ""));
			break;
		case 1:
			result = options_no_error(option, value ?: "",
						  unix_parse_group(access, value ?: ""));
			break;
		default:
			return options_bad("%s: after the path come mode=MODE and group=GROUP",
					   option);
		}
	}
	return result;
}

/* The InfiniBand ports of an adapter of this name; 0: there is no such adapter */
static unsigned int ib_ports_of(const struct options *opts, const char *name)
{
	unsigned int i;

	for (i = 0; i < opts->num_hcas; i++) {
		if (!strcmp(opts->hcas[i].name, name))
			return ib_ports(&opts->hcas[i]);
	}
	return 0;
}

/* The number of cables of the one switch that there is without a topology: those of ports and of uplinks */
static unsigned int switch_cables(const struct options *opts)
{
	unsigned int i, num = 0;

	for (i = 0; i < opts->num_hcas; i++)
		num += __builtin_popcount(ib_ports(&opts->hcas[i]));
	for (i = 0; num && i < opts->num_uplinks; i++)
		num += !!opts->uplinks[i].layer;
	return num;
}

/* Has the node of a topology a cable at that port?  An uplink may have any port of a switch that is left. */
static bool has_cable(const struct options *opts, const struct topology_node *node,
		      unsigned int port)
{
	unsigned int i;

	if (port > node->num_ports || node->ports[port - 1].port)
		return port <= node->num_ports;
	for (i = 0; node->type == NODE_SWITCH && i < opts->num_uplinks; i++) {
		if (opts->uplinks[i].layer)
			return true;
	}
	return false;
}

/* Check that the node of a rule exists, and the cable at its port. */
static enum options_result check_node_fault(const struct options *opts,
					    const struct node_rule *rule)
{
	const struct topology_node *node;
	unsigned int ports, cables;
	bool found, cable;

	if (opts->topology) {
		node = topology_find(opts->topology, rule->name);
		found = node;
		cable = !rule->port || (node && has_cable(opts, node, rule->port));
	} else {
		ports = ib_ports_of(opts, rule->name);
		cables = !strcmp(rule->name, "switch") ? switch_cables(opts) : 0;
		found = ports || cables;
		cable = !rule->port || rule->port <= cables ||
			(rule->port < 32 && ports & 1U << rule->port);
	}
	if (!found)
		return options_bad("--fault %s: there is no InfiniBand node '%s'", rule->text,
				   rule->name);
	return cable ? OPTIONS_RUN
		     : options_bad("--fault %s: node '%s' has no cable at port %u", rule->text,
				   rule->name, rule->port);
}

static enum options_result check_faults(const struct options *opts)
{
	enum options_result result = OPTIONS_RUN;
	unsigned int i;

	for (i = 0; i < opts->num_node_faults && result == OPTIONS_RUN; i++)
		result = check_node_fault(opts, opts->node_faults[i]);
	for (i = 0; i < opts->num_faults && result == OPTIONS_RUN; i++)
		result = check_fault(opts, opts->faults[i]->text, opts->faults[i]->hca);
	for (i = 0; i < opts->num_hca_faults && result == OPTIONS_RUN; i++)
		result = check_fault(opts, opts->hca_faults[i]->text, opts->hca_faults[i]->name);
	return result;
}

static enum options_result set_capture(struct options *opts, const char *text)
{
	const char *wrong;

	if (opts->capture.path)
		return options_bad("--capture is given twice");
	wrong = capture_parse(&opts->capture, text);
	return wrong ? options_bad("--capture %s: %s", text, wrong) : OPTIONS_RUN;
}

static enum options_result parse_spin(struct options *opts, const char *text)
{
	unsigned long us;
	char *end;

	errno = 0;
	us = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || us > MAX_SPIN_US)
		return options_bad("--spin-us: '%s' is not a number from 0 to %u", text,
				   MAX_SPIN_US);
	opts->spin_ns = us * 1000;
	return OPTIONS_RUN;
}

static enum options_result parse_hang(struct options *opts, const char *text)
{
	char why[RULE_MAX_WHY];
	const struct rule_error error = {why, sizeof(why)};

	opts->hang_ns = 0;
	if (!strcmp(text, "off"))
		return OPTIONS_RUN;
	if (!rule_time(&error, "--hang", text, RULE_MAX_TIME_S, &opts->hang_ns))
		return options_bad("%s", why);
	return opts->hang_ns >= MIN_HANG_NS ? OPTIONS_RUN : options_bad("--hang is at least 10ms");
}

static enum options_result parse_sandbox(struct options *opts, const char *text)
{
	if (!sandbox_parse_mode(&opts->sandbox, text))
		return options_bad("--sandbox is on, log or off, not '%s'", text);
	return OPTIONS_RUN;
}

enum {
	CAPTURE = 256,
	CAPTURE_DIR,
	CHECK,
	HCA,
	FAULT,
	HANG,
	METRICS,
	RESTART,
	SANDBOX,
	SPIN,
	CONTROL,
	TOPOLOGY,
	UPLINK,
	USER,
	VERSION
};

static const struct option longs[] = {
	{"capture", required_argument, NULL, CAPTURE},
	{"capture-dir", required_argument, NULL, CAPTURE_DIR},
	{"check", no_argument, NULL, CHECK},
	{"hca", required_argument, NULL, HCA},
	{"control", required_argument, NULL, CONTROL},
	{"fault", required_argument, NULL, FAULT},
	{"hang", required_argument, NULL, HANG},
	{"metrics", required_argument, NULL, METRICS},
	{"restart", no_argument, NULL, RESTART},
	{"sandbox", required_argument, NULL, SANDBOX},
	{"spin-us", required_argument, NULL, SPIN},
	{"topology", required_argument, NULL, TOPOLOGY},
	{"uplink", required_argument, NULL, UPLINK},
	{"user", required_argument, NULL, USER},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, VERSION},
	{NULL, 0, NULL, 0},
};

enum options_result options_parse(struct options *opts, int argc, char **argv)
{
	enum options_result result = OPTIONS_RUN;
	bool check = false;
	int c;

	memset(opts, 0, sizeof(*opts));
	opts->spin_ns = DEFAULT_SPIN_US * 1000;
	opts->hang_ns = DEFAULT_HANG_NS;
	while (result == OPTIONS_RUN && (c = getopt_long(argc, argv, "vh", longs, NULL)) != -1) {
		switch (c) {
		case CAPTURE:
			result = set_capture(opts, optarg);
			break;
		case CAPTURE_DIR:
			opts->capture_dir = optarg;
			break;
		case CHECK:
			check = true;
			break;
		case HCA:
			result = add_hca(opts, optarg);
			break;
		case UPLINK:
			result = add_uplink(opts, optarg);
			break;
		case TOPOLOGY:
			result = set_topology(opts, optarg);
			break;
		case CONTROL:
			result = set_socket("--control", &opts->control, &opts->control_access,
					    optarg);
			break;
		case METRICS:
			result = set_socket("--metrics", &opts->metrics, &opts->metrics_access,
					    optarg);
			break;
		case FAULT:
			result = add_fault(opts, optarg);
			break;
		case HANG:
			result = parse_hang(opts, optarg);
			break;
		case RESTART:
			opts->restart = true;
			break;
		case SANDBOX:
			result = parse_sandbox(opts, optarg);
			break;
		case SPIN:
			result = parse_spin(opts, optarg);
			break;
		case USER:
			if (!sandbox_parse_user(&opts->sandbox, optarg))
				result = options_bad("--user: there is no user '%s'", optarg);
			break;
		case 'v':
			log_verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return OPTIONS_EXIT;
		case VERSION:
			printf("ohcad, hardware interface %u.%u\n", OHCA_VERSION_MAJOR,
			       OHCA_VERSION_MINOR);
			return OPTIONS_EXIT;
		default:
			fprintf(stderr, "Try 'ohcad --help'.\n");
			return OPTIONS_BAD;
		}
	}
	if (result != OPTIONS_RUN)
		return result;
	if (optind < argc)
		return options_bad("unexpected argument '%s'", argv[optind]);
	if (!opts->num_hcas)
		return options_bad("no --hca is given");
	result = check_faults(opts);
	if (result == OPTIONS_RUN)
		result = check_uplinks(opts);
	if (result == OPTIONS_RUN)
		result = bind_adapters(opts);
	return result == OPTIONS_RUN && check ? OPTIONS_EXIT : result;
}

void options_free(struct options *opts)
{
	unsigned int i;

	for (i = 0; i < opts->num_hcas; i++)
		options_hca_free(&opts->hcas[i]);
	free(opts->hcas);
	for (i = 0; i < opts->num_uplinks; i++)
		uplink_options_free(&opts->uplinks[i]);
	free(opts->uplinks);
	for (i = 0; i < opts->num_faults; i++)
		pkt_rule_free(opts->faults[i]);
	free(opts->faults);
	for (i = 0; i < opts->num_hca_faults; i++)
		hca_rule_free(opts->hca_faults[i]);
	free(opts->hca_faults);
	for (i = 0; i < opts->num_node_faults; i++)
		node_rule_free(opts->node_faults[i]);
	free(opts->node_faults);
	free(opts->control);
	free(opts->metrics);
	sandbox_free(&opts->sandbox);
	topology_free(opts->topology);
	capture_options_free(&opts->capture);
}
