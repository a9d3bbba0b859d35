// SPDX-License-Identifier: GPL-2.0
/* The device in the test program: a PCI function without a bus. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "base/heap.h"
#include "net/wire.h"
#include "fabric/fabric.h"
#include "fabric/ib_subnet.h"
#include "fabric/ib_uplink.h"
#include "fabric/topology.h"
#include "hca/adapter.h"
#include "inproc.h"
#include "subnet.h"
#include "vfio/pci.h"
#include "inject/node_rule.h"
#include "inject/pkt_fault.h"
#include "fabric/uplink.h"

/**
 * struct pci_fn - the function
 */
struct pci_fn {
	struct dma_map dma;
	const struct pci_ops *ops;
	void *dev;
	bool bus_master;
	bool absent;
};

static struct loop *loop;
static struct fabric fabrics[SERVER_MAX_HCAS];
static unsigned int num_fabrics;
static struct hca *hcas[SERVER_MAX_HCAS];
static unsigned int num_hcas;
static struct topology *topology;

struct owner_options inproc_owner[SERVER_MAX_HCAS];
struct quota_options inproc_quotas[SERVER_MAX_HCAS];
void (*inproc_hook)(void);
void (*inproc_interrupt)(struct pci_fn *fn);

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "inproc: %s\n", what);
	abort();
}

struct pci_fn *pci_fn_new(struct loop *l, const char *path, const struct pci_config *config,
			  const struct pci_ops *ops, void *dev)
{
	struct pci_fn *fn = calloc(1, sizeof(*fn));

	(void)l;
	(void)path;
	(void)config;
	if (!fn)
		return NULL;
	dma_map_init(&fn->dma);
	fn->ops = ops;
	fn->dev = dev;
	return fn;
}

void pci_fn_free(struct pci_fn *fn)
{
	dma_map_fini(&fn->dma);
	free(fn);
}

struct dma_map *pci_dma(struct pci_fn *fn)
{
	return &fn->dma;
}

bool pci_bus_master(struct pci_fn *fn)
{
	return fn->bus_master;
}

void pci_msix_raise(struct pci_fn *fn, unsigned int vector)
{
	(void)vector;
	if (inproc_interrupt)
		inproc_interrupt(fn);
}

void pci_set_present(struct pci_fn *fn, bool present)
{
	if (present == !fn->absent)
		return;
	fn->absent = !present;
	fn->bus_master = false;
	fn->ops->reset(fn->dev);
}

bool pci_present(struct pci_fn *fn)
{
	return !fn->absent;
}

const char *pci_path(const struct pci_fn *fn)
{
	(void)fn;
	return "";
}

bool pci_connected(const struct pci_fn *fn)
{
	(void)fn;
	return true;
}

static bool poll_hcas(void *arg)
{
	bool work = hcas_poll(hcas, num_hcas);
	unsigned int i;

	(void)arg;
	for (i = 0; i < num_fabrics; i++) {
		if (fabrics[i].uplinks)
			work |= uplinks_poll(fabrics[i].uplinks);
	}
	return work;
}

static bool never_sleep(void *arg)
{
	(void)arg;
	return false;
}

void inproc_poll(void)
{
	poll_hcas(NULL);
}

void inproc_step(void)
{
	if (inproc_hook)
		inproc_hook();
	loop_step(loop, 0);
	poll_hcas(NULL);
}

void inproc_settle(void)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		inproc_step();
}

int __wrap_sched_yield(void);

/* Replaces the C library's function in the scripted driver only (--wrap): it runs the device. */
int __wrap_sched_yield(void)
{
	inproc_step();
	return 0;
}

void inproc_add_uplink(struct fabric *fabric, const char *text)
{
	struct uplink_options opts;

	if (uplink_parse(&opts, text) || uplink_add(fabric->uplinks, &opts))
		die("no uplink");
	uplink_options_free(&opts);
}

/* Address of the uplink from fabric @i to fabric @j */
static void wire_address(char *text, size_t max, const char *kind, const struct server *server,
			 unsigned int i, unsigned int j)
{
	bool inet = !strcmp(kind, "tcp") || !strcmp(kind, "udp");
	unsigned int port = 10000 + getpid() % 200 * 100 + i * SERVER_MAX_HCAS + j;

	if (inet)
		snprintf(text, max, "%s:127.0.0.1:%u", kind, port);
	else
		snprintf(text, max, "unix:%s/%u-%u", server->dir, i, j);
}

/* The same with one tap interface for each; the test has to bridge them. */
static void open_taps(void)
{
	char text[32];
	unsigned int i;

	for (i = 0; i < num_fabrics; i++) {
		if (wire_init(&fabrics[i], loop))
			die("no memory");
		snprintf(text, sizeof(text), "tap=" INPROC_TAP, i);
		inproc_add_uplink(&fabrics[i], text);
	}
}

/* A fabric for each HCA, and an uplink from each to each; frames take no second one.  @link: option of the uplinks */
static void join_fabrics(struct server *server, const char *link)
{
	const char *kind = getenv("OHCAD_WIRE");
	bool dgram = !strcmp(kind, "dgram") || !strcmp(kind, "udp");
	unsigned int i, j;
	char a[96], b[96], text[256];

	if (!strcmp(kind, "tap")) {
		open_taps();
		return;
	}

	strcpy(server->dir, "/tmp/ohcad-wire.XXXXXX");
	if (!mkdtemp(server->dir))
		die("no directory");
	for (i = 0; i < num_fabrics; i++) {
		if (wire_init(&fabrics[i], loop))
			die("no memory");
		for (j = 0; j < i; j++) {
			wire_address(a, sizeof(a), kind, server, j, i);
			wire_address(b, sizeof(b), kind, server, i, j);
			if (dgram)
				snprintf(text, sizeof(text), "dgram=%s,remote=%s%s", a, b, link);
			else
				snprintf(text, sizeof(text), "stream=%s,listen%s", a, link);
			inproc_add_uplink(&fabrics[j], text);
			if (dgram)
				snprintf(text, sizeof(text), "dgram=%s,remote=%s%s", b, a, link);
			else
				snprintf(text, sizeof(text), "stream=%s%s", a, link);
			inproc_add_uplink(&fabrics[i], text);
		}
	}
	/* All are connected. */
	for (i = 0; i < 10; i++)
		loop_step(loop, 0);
}

/* The cables of InfiniBand; links come up by messages. */
static void join_switches(void)
{
	unsigned int i;

	for (i = 0; i < num_fabrics; i++)
		ib_uplinks_attach(&fabrics[i]);
	inproc_settle();
}

struct fabric *inproc_fabric(unsigned int i)
{
	return &fabrics[i];
}

/* The rule from the environment, in each fabric */
static void add_fault(const char *text)
{
	unsigned int i;
	char why[RULE_MAX_WHY];

	for (i = 0; i < num_fabrics; i++) {
		struct pkt_rule *rule = pkt_rule_parse(text, why, sizeof(why));

		if (!rule || pkt_fault_add(&fabrics[i], loop, rule))
			die("no rule");
	}
}

/* Adapter number @i is the next HCA of the topology. */
static const char *bind_node(void)
{
	struct topology_node *node = topology_free_hca(topology, 2);

	if (!node)
		die("the topology has no HCA left");
	node->bound = true;
	return node->name;
}

static void open_topology(const char *nodes[SERVER_MAX_HCAS], unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		nodes[i] = bind_node();
	if (ib_subnet_new(&fabrics[0], loop, topology))
		die("no memory");
}

static const uint8_t ethernet = OHCA_LINK_ETHERNET;

/* HCAs with these ports, of link layers OHCA_LINK_*; those from number @first_ib on have one InfiniBand port. */
static struct server *start(unsigned int num, unsigned int first_ib, const uint8_t *links,
			    uint8_t num_ports)
{
	const char *nodes[SERVER_MAX_HCAS] = {0};
	const struct poller poller = {poll_hcas, never_sleep, NULL};
	struct server *server = calloc(1, sizeof(*server));
	struct hca_options opts = {0};
	char name[16];

	heap_init();
	if (!server)
		die("no memory");
	loop = loop_new();
	num_fabrics = getenv("OHCAD_WIRE") ? num : 1;
	for (num_hcas = 0; num_hcas < num_fabrics; num_hcas++)
		fabric_init(&fabrics[num_hcas]);
	if (topology)
		open_topology(nodes, num);
	if (num_fabrics > 1)
		join_fabrics(server, first_ib < num ? ",link=ib" : "");
	opts.mac[0] = 2;
	opts.num_ports = num_ports;
	memcpy(opts.links, links, num_ports);
	for (num_hcas = 0; num_hcas < num; num_hcas++) {
		snprintf(name, sizeof(name), "hca%u", num_hcas);
		snprintf(server->sock[num_hcas], sizeof(server->sock[0]), "%u", num_hcas);
		opts.name = name;
		opts.socket = name;
		opts.node = nodes[num_hcas];
		opts.owner = inproc_owner[num_hcas];
		opts.quotas = inproc_quotas[num_hcas];
		opts.mac[5] = num_hcas * num_ports + 1;
		if (num_hcas >= first_ib)
			opts.links[0] = OHCA_LINK_INFINIBAND;
		hcas[num_hcas] = hca_new(loop, &fabrics[num_fabrics > 1 ? num_hcas : 0], &opts);
		if (!hcas[num_hcas])
			die("no HCA");
	}
	server->num_hcas = num;
	if (getenv("OHCAD_FAULT"))
		add_fault(getenv("OHCAD_FAULT"));
	loop_set_poller(loop, &poller, 0);
	if (first_ib < num && num_fabrics > 1)
		join_switches();
	return server;
}

struct server *server_start(unsigned int num)
{
	return start(num, subnet_used() ? 0 : num, &ethernet, 1);
}

struct server *inproc_start_ib(unsigned int num)
{
	return start(num, 0, &ethernet, 1);
}

struct server *inproc_start_both(unsigned int eth, unsigned int ib)
{
	return start(eth + ib, eth, &ethernet, 1);
}

struct server *inproc_start_ports(unsigned int num, const uint8_t *links, uint8_t num_ports)
{
	return start(num, num, links, num_ports);
}

struct server *inproc_start_topology(unsigned int num, const char *text)
{
	char path[] = "/tmp/ohcad-net.XXXXXX", why[TOPOLOGY_MAX_WHY];
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("no net file");
	close(fd);
	topology = topology_read(path, why);
	unlink(path);
	if (!topology)
		die(why);
	return start(num, 0, &ethernet, 1);
}

bool server_stop(struct server *server)
{
	unsigned int i;

	for (i = 0; i < num_fabrics; i++) {
		node_rule_clear(&fabrics[i], 0);
		pkt_fault_fini(&fabrics[i]);
	}
	while (num_hcas)
		hca_free(hcas[--num_hcas]);
	ib_subnet_free(&fabrics[0]);
	topology_free(topology);
	topology = NULL;
	while (num_fabrics)
		wire_fini(&fabrics[--num_fabrics]);
	if (*server->dir)
		rmdir(server->dir);
	loop_free(loop);
	loop = NULL;
	free(server);
	return true;
}

struct hca *inproc_hca(unsigned int i)
{
	return hcas[i];
}

struct qp *inproc_qp(const struct rig_qp *qp)
{
	unsigned int i;

	for (i = 0; i < num_hcas; i++) {
		if (hcas[i]->mac[5] == qp->hca->mac[5])
			return qp_get(hcas[i], qp->qpn);
	}
	return NULL;
}

void inproc_renew(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < num_hcas; i++)
		hcas[i]->qps.next = HCA_FIRST_QPN;
	rig_renew(rig);
}

static struct hca *hca_of(struct vu *vu)
{
	return hcas[vu->fd];
}

struct vu *vu_open(const char *path)
{
	struct vu *vu = calloc(1, sizeof(*vu));

	if (!vu)
		die("no memory");
	vu->fd = atoi(path);
	return vu;
}

void vu_enable(struct vu *vu, unsigned int vectors)
{
	(void)vectors;
	inproc_set_bus_master(hca_of(vu), true);
}

/* What the device unmaps in parts; not while memory is being written back. */
static void unmap_now(void)
{
	while (!dma_sync_works() && dma_unmap_some(UINT64_MAX))
		;
}

void vu_close(struct vu *vu)
{
	struct pci_fn *fn = hca_of(vu)->fn;

	fn->ops->reset(fn->dev);
	fn->bus_master = false;
	dma_map_clear(&fn->dma);
	unmap_now();
	while (vu->num_mems--) {
		munmap(vu->mems[vu->num_mems].va, vu->mems[vu->num_mems].size);
		close(vu->mems[vu->num_mems].fd);
	}
	free(vu);
}

struct vu_mem *vu_mem_new(struct vu *vu, uint64_t iova, uint64_t size)
{
	struct vu_mem *mem = &vu->mems[vu->num_mems++];
	struct pci_fn *fn = hca_of(vu)->fn;

	mem->iova = iova;
	mem->size = size;
	mem->fd = memfd_create("guest", MFD_CLOEXEC);
	if (mem->fd < 0 || ftruncate(mem->fd, size))
		die("no memfd");
	mem->va = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem->fd, 0);
	if (mem->va == MAP_FAILED || dma_map_add(&fn->dma, iova, size, mem->fd, 0, true, true))
		die("no mapping");
	return mem;
}

void inproc_map(struct vu *vu)
{
	const struct vu_mem *mem = &vu->mems[0];

	/* It may be there. */
	dma_map_add(&hca_of(vu)->fn->dma, mem->iova, mem->size, mem->fd, 0, true, true);
}

void inproc_set_bus_master(struct hca *hca, bool on)
{
	struct pci_fn *fn = hca->fn;

	if (fn->bus_master == on)
		return;
	fn->bus_master = on;
	fn->ops->bus_master(fn->dev, on);
}

int vu_dma_unmap(struct vu *vu, uint64_t iova, uint64_t size)
{
	int err = dma_map_del(&hca_of(vu)->fn->dma, iova, size);

	unmap_now();
	return err;
}

void *vu_mem_ptr(struct vu *vu, uint64_t iova, uint64_t len)
{
	unsigned int i;

	for (i = 0; i < vu->num_mems; i++) {
		const struct vu_mem *mem = &vu->mems[i];

		if (iova - mem->iova < mem->size && len <= mem->size - (iova - mem->iova))
			return mem->va + (iova - mem->iova);
	}
	return NULL;
}

uint32_t vu_rd32(struct vu *vu, unsigned int region, uint64_t off)
{
	struct pci_fn *fn = hca_of(vu)->fn;

	if (fn->absent)
		return UINT32_MAX;
	return fn->ops->bar_read(fn->dev, region - VFIO_PCI_BAR0_REGION_INDEX, off, 4);
}

static void bar_write(struct vu *vu, unsigned int region, uint64_t off, unsigned int len,
		      uint64_t val)
{
	struct pci_fn *fn = hca_of(vu)->fn;

	if (!fn->absent)
		fn->ops->bar_write(fn->dev, region - VFIO_PCI_BAR0_REGION_INDEX, off, len, val);
}

void vu_wr32(struct vu *vu, unsigned int region, uint64_t off, uint32_t val)
{
	bar_write(vu, region, off, 4, val);
}

void vu_wr64(struct vu *vu, unsigned int region, uint64_t off, uint64_t val)
{
	bar_write(vu, region, off, 8, val);
}
