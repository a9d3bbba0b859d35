// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas: the first HCA takes as much as it gets of something.  Then it is refused, the second one still gets all of its
 * own, and what the first one gives back it can take again.
 */

#include <endian.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "device/hca_hooks.h"
#include "eth/flow.h"
#include "eth/flow_table.h"
#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_assert.h"
#include "qp/uar.h"
#include "rig_assert.h"
#include "rig_raw.h"
#include "rig_srq.h"

#define HOG 0
#define NEIGHBOUR 1

static struct rig *rig;

static int start_with(uint32_t given, const struct quota_options *opts)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		inproc_quotas[i] = *opts;
		inproc_quotas[i].given = given;
	}
	server = server_start(2);
	rig = rig_open(server);
	return 0;
}

static int start(void **state)
{
	static const struct quota_options none;

	(void)state;
	return start_with(0, &none);
}

static int stop(void **state)
{
	(void)state;
	rig_close(rig);
	memset(inproc_quotas, 0, sizeof(inproc_quotas));
	return server_stop(server) ? 0 : -1;
}

static const struct quota *quota(unsigned int i, enum quota_kind kind)
{
	return &inproc_hca(i)->quotas[kind];
}

static int create(unsigned int i, uint16_t opcode, const void *in, size_t len, uint32_t *id)
{
	struct ohca_handle out = {0};
	int status = drv_cmd(rig->hca[i].drv, opcode, in, len, &out, sizeof(out));

	*id = le32toh(out.id);
	return status;
}

/* A reset gives back everything. */
static void assert_reset_frees(enum quota_kind kind)
{
	drv_reset(rig->hca[HOG].drv);
	while (hca_is_resetting(inproc_hca(HOG)))
		inproc_step();
	assert_int_equal(quota(HOG, kind)->used, 0);
}

#define FAST_REG_PAGES (1U << 16)

/* Memory keys for fast registration, whose lists of pages are as long as possible; returns how many there were. */
static unsigned int take_pages(unsigned int i, uint32_t *last)
{
	const struct ohca_create_mkey_in in = {.pdn = htole32(rig->hca[i].pdn),
					       .type = OHCA_MKEY_FAST_REG,
					       .max_pages = htole32(FAST_REG_PAGES)};
	unsigned int num = 0;
	uint32_t id;
	int status;

	while (!(status = create(i, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id))) {
		*last = id;
		num++;
	}
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	return num;
}

/* Also page lists of other kinds are refused then. */
static void assert_no_pages(unsigned int i)
{
	struct drv *drv = rig->hca[i].drv;
	uint64_t addr = drv_alloc(drv, 4096);
	struct ohca_create_mkey_in in = {
		.xlt = drv_xlt(drv, addr, 4096, 12),
		.iova = htole64(addr),
		.length = htole64(4096),
		.pdn = htole32(rig->hca[i].pdn),
		.access = OHCA_ACCESS_LOCAL_WRITE,
	};
	struct ohca_create_mkey_in odp_in = {.xlt = {.page_shift = 12},
					     .length = htole64(4096),
					     .pdn = in.pdn,
					     .access = OHCA_ACCESS_LOCAL_WRITE,
					     .type = OHCA_MKEY_ODP};
	struct ohca_modify_pages_in pages = {.op = OHCA_PAGES_MAP, .num = htole64(1)};
	struct ohca_create_cq_in cq_in;
	struct drv_cq cq;
	uint32_t id;

	assert_int_equal(create(i, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id),
			 OHCA_CMD_NO_RESOURCE);
	cq_in = drv_cq_in(drv, 4, rig->hca[i].comp->eqn, &cq);
	assert_int_equal(create(i, OHCA_CMD_CREATE_CQ, &cq_in, sizeof(cq_in), &id),
			 OHCA_CMD_NO_RESOURCE);
	assert_int_equal(create(i, OHCA_CMD_CREATE_MKEY, &odp_in, sizeof(odp_in), &id), 0);
	pages.key = htole32(id);
	pages.page[0] = htole64(addr | OHCA_PAGE_PRESENT);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PAGES, &pages,
				 offsetof(struct ohca_modify_pages_in, page[1]), NULL, 0),
			 OHCA_CMD_NO_RESOURCE);
}

static void test_pages(void **state)
{
	const uint64_t before = quota(HOG, QUOTA_PAGES)->used;
	uint32_t last = 0;
	unsigned int num;

	(void)state;
	num = take_pages(HOG, &last);
	assert_int_equal(num, (quota(HOG, QUOTA_PAGES)->max - before) / FAST_REG_PAGES);
	while (take_pages(HOG, &last))
		;
	assert_int_equal(take_pages(NEIGHBOUR, &last), num);
	assert_int_equal(quota(NEIGHBOUR, QUOTA_PAGES)->refused, 1);
}

/* A small quota, to the last page */
static int start_few_pages(void **state)
{
	const struct quota_options opts = {.max = {[QUOTA_PAGES] = 2 * FAST_REG_PAGES}};

	(void)state;
	return start_with(1U << QUOTA_PAGES, &opts);
}

static void test_last_page(void **state)
{
	struct ohca_create_mkey_in in = {.pdn = htole32(rig->hca[HOG].pdn),
					 .type = OHCA_MKEY_FAST_REG};
	const struct quota *pages = quota(HOG, QUOTA_PAGES);
	uint64_t before = pages->used;
	uint32_t last = 0, id;

	(void)state;
	assert_true(before);
	assert_int_equal(take_pages(HOG, &last), 1);
	in.max_pages = htole32(pages->max - pages->used + 1);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id),
			 OHCA_CMD_NO_RESOURCE);
	in.max_pages = htole32(pages->max - pages->used);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id), 0);
	assert_int_equal(pages->used, pages->max);
	assert_no_pages(HOG);
	assert_int_equal(drv_destroy(rig->hca[HOG].drv, OHCA_CMD_DESTROY_MKEY, last), 0);
	assert_int_equal(take_pages(HOG, &last), 1);
	rig_renew(rig);
	assert_int_equal(pages->used, before);
	assert_reset_frees(QUOTA_PAGES);
}

/* Inputs of commands that create objects, which can be used again and again */
struct inputs {
	struct ohca_create_cq_in cq;
	struct ohca_create_qp_in qp;
	struct ohca_create_srq_in srq;
	struct ohca_create_mkey_in window;
	struct ohca_alloc_counters_in counters;
	struct ohca_alloc_uar_in uar;
	struct ohca_create_ind_tbl_in table;
};

static struct inputs inputs_of(unsigned int i)
{
	struct rig_hca *hca = &rig->hca[i];
	struct inputs in = {
		.window = {.type = OHCA_MKEY_MW_2, .pdn = htole32(hca->pdn)},
		.counters = {.port = 1},
		.uar = {.shadow_addr = htole64(drv_alloc(hca->drv, OHCA_UAR_SIZE))},
	};
	const struct rig_qp_opts opts = {.log_size = 10}, wq = {.type = OHCA_QPT_RWQ};
	struct rig_srq_opts tags = {.max_tags = 256};
	struct rig_srq srq;
	struct drv_cq cq;
	struct rig_qp qp;
	unsigned int k;

	in.cq = drv_cq_in(hca->drv, 14, hca->comp->eqn, &cq);
	in.qp = rig_qp_in(hca, &opts, &qp);
	tags.cqn = drv_cq_new(hca->drv, 4, hca->comp->eqn)->cqn;
	in.srq = rig_srq_in(hca, &tags, &srq);
	in.table.log_size = HCA_LOG_MAX_IND_TBL;
	for (k = 0; k < 1U << HCA_LOG_MAX_IND_TBL; k++)
		in.table.wqn[k] = htole32(k ? le32toh(in.table.wqn[0]) : rig_qp_new(hca, &wq)->qpn);
	return in;
}

/* Objects of a kind until one is refused, and how many there were */
static unsigned int take_objects(unsigned int i, uint16_t opcode, const void *in, size_t len)
{
	unsigned int num = 0;
	uint32_t id;
	int status;

	while (!(status = create(i, opcode, in, len, &id)))
		num++;
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	return num;
}

#define MEMORY (4U << 20)

static int start_little_memory(void **state)
{
	const struct quota_options opts = {.max = {[QUOTA_MEMORY] = MEMORY}};

	(void)state;
	return start_with(1U << QUOTA_MEMORY, &opts);
}

/* Of each kind, the objects that one HCA can have are bounded by their memory, and do not count for the other one. */
static void test_memory(void **state)
{
	static const struct {
		uint16_t opcode;
		size_t at, len;
		size_t least; /* bytes that one takes */
	} kinds[] = {
#define KIND(opcode, field, least) \
	{opcode, offsetof(struct inputs, field), sizeof(((struct inputs *)0)->field), least}
		KIND(OHCA_CMD_CREATE_CQ, cq, 2048),
		KIND(OHCA_CMD_CREATE_QP, qp, 32768),
		KIND(OHCA_CMD_CREATE_SRQ, srq, 32768),
		KIND(OHCA_CMD_CREATE_MKEY, window, 192),
		KIND(OHCA_CMD_ALLOC_COUNTERS, counters, 200),
		KIND(OHCA_CMD_CREATE_IND_TBL, table, 1024),
#undef KIND
	};
	const struct quota *memory = quota(HOG, QUOTA_MEMORY);
	struct inputs in[2];
	unsigned int k, num;
	uint64_t before;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		rig_renew(rig);
		in[HOG] = inputs_of(HOG);
		in[NEIGHBOUR] = inputs_of(NEIGHBOUR);
		before = memory->used;
		num = take_objects(HOG, kinds[k].opcode, (uint8_t *)&in[HOG] + kinds[k].at,
				   kinds[k].len);
		assert_in_range(num, (MEMORY - before) / kinds[k].least / 4,
				(MEMORY - before) / kinds[k].least);
		assert_true(memory->used <= MEMORY);
		assert_int_equal(take_objects(NEIGHBOUR, kinds[k].opcode,
					      (uint8_t *)&in[NEIGHBOUR] + kinds[k].at,
					      kinds[k].len),
				 num);
	}
	assert_reset_frees(QUOTA_MEMORY);
}

/* The table of slots of a UAR is made with its first QP. */
static void test_memory_of_uars(void **state)
{
	struct inputs in = inputs_of(HOG);
	unsigned int num = 0;
	uint32_t id, qpn;
	int status;

	(void)state;
	in.qp.sq_log_size = 0;
	do {
		assert_int_equal(create(HOG, OHCA_CMD_ALLOC_UAR, &in.uar, sizeof(in.uar), &id), 0);
		in.qp.uar = htole32(id);
		status = create(HOG, OHCA_CMD_CREATE_QP, &in.qp, sizeof(in.qp), &qpn);
	} while (!status && ++num);
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	assert_in_range(num, MEMORY / (OHCA_SHADOW_SLOTS * 8) / 2,
			MEMORY / (OHCA_SHADOW_SLOTS * 8));
	assert_reset_frees(QUOTA_MEMORY);
}

#define MAX_WINDOWS (MEMORY / 192)

/* A QP of an SRQ with tags takes memory in steps.  Each of them may be the one for which there is too little. */
static void test_memory_of_tags(void **state)
{
	static uint32_t windows[MAX_WINDOWS];
	struct drv *drv = rig->hca[HOG].drv;
	const struct quota *memory = quota(HOG, QUOTA_MEMORY);
	const struct inputs in = inputs_of(HOG);
	const struct ohca_create_mkey_in *window = &in.window;
	struct ohca_create_qp_in qp = {.type = OHCA_QPT_RC, .flags = OHCA_QP_F_SRQ};
	unsigned int num = 0, steps = 0;
	uint64_t before;
	uint32_t id;

	(void)state;
	qp.pdn = htole32(rig->hca[HOG].pdn);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_SRQ, &in.srq, sizeof(in.srq), &id), 0);
	qp.srqn = htole32(id);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_QP, &qp, sizeof(qp), &id), 0);
	assert_in_range(take_objects(HOG, OHCA_CMD_CREATE_QP, &qp, sizeof(qp)), 1, MEMORY / 16384);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_QP, id), 0);
	while (!create(HOG, OHCA_CMD_CREATE_MKEY, window, sizeof(*window), &id)) {
		assert_in_range(num, 0, MAX_WINDOWS - 1);
		windows[num++] = id;
	}
	/* There is none left, and then little more each time. */
	for (before = memory->used; create(HOG, OHCA_CMD_CREATE_QP, &qp, sizeof(qp), &id);
	     before = memory->used) {
		assert_int_equal(memory->used, before);
		assert_in_range(num, 1, MAX_WINDOWS);
		assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, windows[--num]), 0);
		assert_true(memory->used < before);
		steps++;
	}
	assert_true(steps > 1);
	assert_reset_frees(QUOTA_MEMORY);
}

/* What a resized queue takes, and gives back */
static void test_memory_of_resized(void **state)
{
	struct drv *drv = rig->hca[HOG].drv;
	struct drv_cq *cq = drv_cq_new(drv, 4, rig->hca[HOG].comp->eqn);
	const struct quota *memory = quota(HOG, QUOTA_MEMORY);
	struct inputs in = inputs_of(HOG);
	uint64_t before = memory->used;

	(void)state;
	assert_int_equal(drv_cq_resize(cq, 16), 0);
	assert_int_equal(memory->used, before + (1 << 16) * sizeof(struct ohca_cqe) / 4096 * 8);
	assert_int_equal(drv_cq_resize(cq, 4), 0);
	assert_int_equal(memory->used, before);
	take_objects(HOG, OHCA_CMD_CREATE_CQ, &in.cq, sizeof(in.cq));
	before = memory->used;
	assert_int_equal(drv_cq_resize(cq, 16), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(memory->used, before);
	assert_int_equal(drv_cq_resize(cq, 4), 0);
}

/* Flows to a QP of the HCA, each for another address, until one is refused */
static unsigned int take_flows(unsigned int i)
{
	struct raw to = raw_new(&rig->hca[i], OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(to.qp->qpn);
	uint32_t num = 0, id;
	int status;

	memset(in.mask.dst_ip, 0xff, 4);
	for (;; num++) {
		memcpy(in.value.dst_ip, &num, sizeof(num));
		status = create(i, OHCA_CMD_CREATE_FLOW, &in, sizeof(in), &id);
		if (status)
			break;
	}
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	return num;
}

/* The time that it takes to look for the flows of a frame, ns */
static double search_ns(void)
{
	struct iovec iov = {(void *)raw_udp, RAW_UDP_LEN};
	struct port *port = inproc_hca(HOG)->ports[0];
	struct timespec begin, end;
	double ns, least = 1e18;
	unsigned int i, k;

	for (k = 0; k < 20; k++) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		for (i = 0; i < 50; i++)
			assert_false(flow_deliver(port, &iov, 1, RAW_UDP_LEN));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		ns = (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec);
		if (ns < least)
			least = ns;
	}
	return least / 50;
}

/* Many flows: bounded, each is found, and a frame is not late for them. */
static void test_flows(void **state)
{
	const struct quota *flows = quota(HOG, QUOTA_FLOWS);
	struct raw to = raw_new(&rig->hca[HOG], OHCA_QPT_ETH, 0);
	struct raw from = raw_new(&rig->hca[NEIGHBOUR], OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(to.qp->qpn);
	double few, many;
	uint32_t last;

	(void)state;
	memset(in.mask.dst_ip, 0xff, 4);
	memset(in.value.dst_ip, 0xee, 4);
	raw_flow_new(&rig->hca[HOG], &in);
	few = search_ns();
	memcpy(in.value.dst_ip, raw_udp + RAW_AT_IP + 16, 4);
	last = raw_flow_new(&rig->hca[HOG], &in);
	assert_int_equal(take_flows(HOG), flows->max - 2);
	assert_int_equal(take_flows(NEIGHBOUR), flows->max);
	raw_post(&to);
	raw_send(&from, raw_udp, RAW_UDP_LEN);
	raw_assert_got(&to, raw_udp, RAW_UDP_LEN);
	assert_int_equal(drv_destroy(rig->hca[HOG].drv, OHCA_CMD_DESTROY_FLOW, last), 0);
	many = search_ns();
	print_message("# search: %.0f ns of 1 flow, %.0f ns of %u flows\n", few, many,
		      (unsigned int)flows->used);
	assert_true(many < 4 * few);
	raw_flow_new(&rig->hca[HOG], &in);
	raw_post(&to);
	raw_send(&from, raw_udp, RAW_UDP_LEN);
	raw_assert_got(&to, raw_udp, RAW_UDP_LEN);
	assert_reset_frees(QUOTA_FLOWS);
}

/* What would take time with each frame is bounded: different masks, and flows that all get it. */
static void test_flow_masks(void **state)
{
	struct raw to = raw_new(&rig->hca[HOG], OHCA_QPT_ETH, 0);
	struct ohca_create_flow_in in = raw_flow_in(to.qp->qpn);
	uint32_t id[FLOW_MAX_SAME], other;
	unsigned int i;

	(void)state;
	for (i = 0; i < FLOW_MAX_SAME; i++)
		id[i] = raw_flow_new(&rig->hca[HOG], &in);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_FLOW, &in, sizeof(in), &other),
			 OHCA_CMD_NO_RESOURCE);
	for (i = 1; i < FLOW_MAX_MASKS; i++) {
		in.mask.src_ip[0] = i;
		raw_flow_new(&rig->hca[HOG], &in);
	}
	in.mask.src_ip[0] = i;
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_FLOW, &in, sizeof(in), &other),
			 OHCA_CMD_NO_RESOURCE);
	in.mask.src_ip[0] = 1;
	in.priority = htole16(1);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_FLOW, &in, sizeof(in), &other),
			 OHCA_CMD_NO_RESOURCE);
	/* The last one of a mask makes room for another mask. */
	for (i = 0; i < FLOW_MAX_SAME; i++)
		assert_int_equal(drv_destroy(rig->hca[HOG].drv, OHCA_CMD_DESTROY_FLOW, id[i]), 0);
	raw_flow_new(&rig->hca[HOG], &in);
	in.qpn = htole32(raw_new(&rig->hca[NEIGHBOUR], OHCA_QPT_ETH, 0).qp->qpn);
	in.priority = htole16(2);
	raw_flow_new(&rig->hca[NEIGHBOUR], &in);
}

static int attach(unsigned int i, const struct rig_qp *qp, uint32_t group)
{
	struct ohca_mcast_in in = {.gid = {0xff, 0x12}, .qpn = htole32(qp->qpn)};

	memcpy(in.gid + 12, &group, sizeof(group));
	return drv_cmd(rig->hca[i].drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0);
}

static struct rig_qp *datagram_qp(unsigned int i)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .ext = true};

	return rig_qp_new(&rig->hca[i], &opts);
}

/* Memberships of a QP in groups from @first on, until one is refused */
static unsigned int take_groups(unsigned int i, const struct rig_qp *qp, uint32_t first)
{
	unsigned int num = 0;
	int status;

	while (!(status = attach(i, qp, first + num)))
		num++;
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	return num;
}

static int start_few_groups(void **state)
{
	const struct quota_options opts = {.max = {[QUOTA_GROUPS] = 100, [QUOTA_MEMBERS] = 150}};

	(void)state;
	return start_with(1U << QUOTA_GROUPS | 1U << QUOTA_MEMBERS, &opts);
}

static void test_mcast(void **state)
{
	const struct quota *groups = quota(HOG, QUOTA_GROUPS), *members = quota(HOG, QUOTA_MEMBERS);
	struct rig_qp *a = datagram_qp(HOG), *b = datagram_qp(HOG), *other = datagram_qp(NEIGHBOUR);

	(void)state;
	assert_int_equal(take_groups(HOG, a, 0), 100);
	assert_int_equal(take_groups(HOG, b, 0), 50);
	assert_int_equal(groups->used, 100);
	assert_int_equal(members->used, 150);
	assert_int_equal(take_groups(NEIGHBOUR, other, 0), 100);
	assert_int_equal(rig_qp_destroy(a), 0);
	assert_int_equal(groups->used, 50);
	assert_int_equal(members->used, 50);
	assert_int_equal(take_groups(HOG, b, 50), 50);
	assert_int_equal(groups->used, 100);
	assert_reset_frees(QUOTA_GROUPS);
	assert_reset_frees(QUOTA_MEMBERS);
}

/* Lines of the log that contain @text */
static unsigned int count_lines(FILE *log, const char *text)
{
	unsigned int num = 0;
	char line[256];

	rewind(log);
	while (fgets(line, sizeof(line), log))
		num += !!strstr(line, text);
	return num;
}

/* A machine that fails and resets its adapter all the time; then the other one does so once. */
static void test_log(void **state)
{
	const struct quota *lines = quota(HOG, QUOTA_LOG);
	int standard = dup(STDERR_FILENO);
	FILE *log = tmpfile();
	unsigned int i;

	(void)state;
	assert_non_null(log);
	assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
	for (i = 0; i < 1000; i++) {
		drv_reset(rig->hca[HOG].drv);
		drv_enable(rig->hca[HOG].drv, 1ULL << 40);
	}
	drv_reset(rig->hca[NEIGHBOUR].drv);
	dup2(standard, STDERR_FILENO);
	close(standard);
	/* Some are given back while this goes on. */
	assert_in_range(count_lines(log, "hca0"), lines->max / 2, 2 * lines->max);
	assert_int_equal(count_lines(log, "hca0: more of this is not logged"), 1);
	assert_int_equal(count_lines(log, "hca1: reset"), 1);
	assert_true(lines->refused > 1000);
	fclose(log);
}

#define STORM_QPS 2000
#define STORM_UARS 400

static unsigned int rung[HCA_FIRST_QPN + STORM_QPS + 64], rings;

static void count_doorbell(struct hca *hca, uint32_t qpn)
{
	(void)hca;
	rings++;
	rung[qpn]++;
}

static int pass_command(struct hca *hca, uint16_t opcode)
{
	(void)hca;
	(void)opcode;
	return 0;
}

static uint16_t pass_output(struct hca *hca, uint16_t opcode, uint8_t *out, uint16_t len)
{
	(void)hca;
	(void)opcode;
	(void)out;
	return len;
}

static const struct hca_hooks storm_hooks = {
	.doorbell = count_doorbell, .command = pass_command, .output = pass_output};

/* QPs without work, seven of them in each slot of a UAR; returns the number of the last one */
static uint32_t make_idle_qps(unsigned int i)
{
	struct rig_hca *hca = &rig->hca[i];
	const struct rig_qp_opts opts = {.log_size = 1};
	struct ohca_create_qp_in in;
	struct rig_qp qp;
	unsigned int k;
	uint32_t qpn;

	in = rig_qp_in(hca, &opts, &qp);
	for (k = 0; k < STORM_QPS; k++) {
		in.slot = htole16(k / 7 * 15);
		assert_int_equal(create(i, OHCA_CMD_CREATE_QP, &in, sizeof(in), &qpn), 0);
	}
	return qpn;
}

/* A round of the storm, which must not take long */
static void storm_round(void)
{
	rings = 0;
	inproc_poll();
	assert_true(rings <= UAR_DOORBELLS);
}

/*
 * One machine rings all of its doorbells all the time, without any work.  What that takes of a round is bounded, the other
 * machine's messages are sent in the round in which they are posted, and none of the doorbells is lost.
 */
static void test_doorbells(void **state)
{
	struct ohca_shadow *shadow = rig->hca[HOG].drv->shadow;
	struct hca *hog = inproc_hca(HOG);
	const struct rig_qp_opts opts = {0};
	struct rig_qp *a = rig_qp_new(&rig->hca[NEIGHBOUR], &opts);
	struct rig_qp *b = rig_qp_new(&rig->hca[NEIGHBOUR], &opts);
	struct rig_mr *mr = rig_mr_new(&rig->hca[NEIGHBOUR], 0, 8192, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, 0, 64);
	struct rig_wr wr = rig_write(&sge, 4096, mr->key);
	struct ohca_cqe cqe;
	unsigned int i, k;
	uint32_t last;

	(void)state;
	rig_connect(a, b);
	last = make_idle_qps(HOG);
	memset(rung, 0, sizeof(rung));
	hog->hooks = &storm_hooks;
	for (i = 0; i < 200; i++) {
		drv_ring_all(shadow);
		rig_mr_fill(mr, 0, 64, i);
		rig_post_send(a, &wr);
		storm_round();
		assert_true(drv_cq_poll(a->scq, &cqe));
		assert_cqe(cqe, 0, 0, wr.wr_id);
		drv_cq_ack(a->scq);
		assert_true(rig_mr_is(mr, 4096, 64, i));
	}
	/* QPs that are destroyed while it is their turn */
	for (k = last; k > last - 300; k--)
		assert_int_equal(drv_destroy(rig->hca[HOG].drv, OHCA_CMD_DESTROY_QP, k), 0);
	/* After one more doorbell each of the others has its turn. */
	for (i = 0; i < 100; i++)
		storm_round();
	memset(rung, 0, sizeof(rung));
	drv_ring_all(shadow);
	for (i = 0; i < 100; i++)
		storm_round();
	for (k = last - 300; k > last - STORM_QPS; k--)
		assert_int_equal(rung[k], 1);
	hog->hooks = NULL;
}

/* Many UARs that are awake: a round looks at some, and each has its turn. */
static void test_many_uars(void **state)
{
	struct rig_hca *hca = &rig->hca[HOG];
	struct ohca_alloc_uar_in uar_in;
	struct ohca_shadow *shadow[STORM_UARS];
	uint32_t id[STORM_UARS];
	struct hca *hog = inproc_hca(HOG);
	const struct rig_qp_opts opts = {.log_size = 1};
	struct ohca_create_qp_in in;
	struct rig_qp qp;
	unsigned int i, k;
	uint32_t qpn[STORM_UARS];

	(void)state;
	in = rig_qp_in(hca, &opts, &qp);
	in.slot = htole16(5);
	for (i = 0; i < STORM_UARS; i++) {
		uint64_t addr = drv_alloc(hca->drv, OHCA_UAR_SIZE);

		uar_in = (struct ohca_alloc_uar_in){.shadow_addr = htole64(addr)};
		shadow[i] = drv_ptr(hca->drv, addr);
		assert_int_equal(create(HOG, OHCA_CMD_ALLOC_UAR, &uar_in, sizeof(uar_in), &id[i]),
				 0);
		in.uar = htole32(id[i]);
		assert_int_equal(create(HOG, OHCA_CMD_CREATE_QP, &in, sizeof(in), &qpn[i]), 0);
	}
	memset(rung, 0, sizeof(rung));
	hog->hooks = &storm_hooks;
	for (i = 0; i < STORM_UARS; i++)
		drv_ring(hca->drv, id[i], shadow[i], 5);
	for (k = 0; k < 60; k++)
		storm_round();
	for (i = 0; i < STORM_UARS; i++)
		assert_int_equal(rung[qpn[i]], 1);
	hog->hooks = NULL;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pages),
		TEST(test_flows),
		TEST(test_flow_masks),
		TEST(test_log),
		TEST(test_doorbells),
		TEST(test_many_uars),
		cmocka_unit_test_setup_teardown(test_mcast, start_few_groups, stop),
		cmocka_unit_test_setup_teardown(test_last_page, start_few_pages, stop),
		cmocka_unit_test_setup_teardown(test_memory, start_little_memory, stop),
		cmocka_unit_test_setup_teardown(test_memory_of_uars, start_little_memory, stop),
		cmocka_unit_test_setup_teardown(test_memory_of_tags, start_little_memory, stop),
		cmocka_unit_test_setup_teardown(test_memory_of_resized, start_little_memory, stop),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
