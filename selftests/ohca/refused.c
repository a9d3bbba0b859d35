// SPDX-License-Identifier: GPL-2.0
/*
 * Wrong types, states, sizes, domains, flags and handles, for the objects whose valid use other
 * tests cover: address handles, multicast groups, SRQs, XRC, extended CQs, device memory, flows,
 * parent domains, imported objects.  Each is refused with its errno and leaves no object.
 */

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs_util.h"

#define NOBODY 0xfffff0 /* a handle or number that does not exist */

static struct vu_dev dev;
static struct ibv_cq *cq;

/* Create a QP of any type with CQs, in INIT; NULL if the type is not supported. */
static struct ibv_qp *make_qp(enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(dev.pd, &init);

	if (qp)
		EXPECT_EQ(vu_any_to_init(qp), 0);
	return qp;
}

/*
 * Whether the object could not be created.  The test is then skipped if the device does not support
 * it, and fails otherwise.
 */
static bool missing(const void *object)
{
	if (object)
		return false;
	if (errno == EOPNOTSUPP)
		tap_skip("the device has no such thing");
	else
		EXPECT(object);
	return true;
}

static void test_ah(const void *arg)
{
	struct ibv_ah_attr good = {
		.is_global = 1,
		.grh = {.dgid = dev.gid, .sgid_index = dev.gid_index, .hop_limit = 1},
		.port_num = VU_PORT,
	};
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	(void)arg;
#define AH(field, value, error)                                   \
	do {                                                      \
		attr = good;                                      \
		attr.field = value;                               \
		EXPECT_NULL(ibv_create_ah(dev.pd, &attr), error); \
	} while (0)
	AH(port_num, 0, EINVAL);
	AH(port_num, dev.attr.phys_port_cnt + 1, EINVAL);
	AH(is_global, 0, EINVAL);
	AH(grh.sgid_index, 255, EINVAL);
	ah = ibv_create_ah(dev.pd, &good);
	if (!EXPECT(ah))
		return;
	EXPECT_EQ(ibv_dealloc_pd(dev.pd), EBUSY);
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

static void test_mcast(const void *arg)
{
	union ibv_gid group = {.raw = {0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3}};
	struct ibv_qp *ud = make_qp(IBV_QPT_UD, NULL), *rc = make_qp(IBV_QPT_RC, NULL);
	union ibv_gid other = group;

	(void)arg;
	if (!EXPECT(ud) || !EXPECT(rc))
		return;
	if (!dev.attr.max_mcast_grp) {
		EXPECT_EQ(ibv_attach_mcast(ud, &group, 0), EOPNOTSUPP);
		goto out;
	}
	EXPECT_EQ(ibv_attach_mcast(rc, &group, 0), EINVAL);
	EXPECT_EQ(ibv_attach_mcast(ud, &dev.gid, 0), EINVAL);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0), EINVAL);
	EXPECT_EQ(ibv_attach_mcast(ud, &group, 0), 0);
	EXPECT_EQ(ibv_attach_mcast(ud, &group, 0), 0);
	other.raw[15]++;
	EXPECT_EQ(ibv_detach_mcast(ud, &other, 0), EINVAL);
	EXPECT_EQ(ibv_detach_mcast(rc, &group, 0), EINVAL);
	EXPECT_EQ(ibv_destroy_qp(ud), EBUSY);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0), EINVAL);
	/* Those with two LIDs are two, also on RoCE, where groups have none. */
	EXPECT_EQ(ibv_attach_mcast(ud, &group, 0xc001), 0);
	EXPECT_EQ(ibv_attach_mcast(ud, &group, 0xc002), 0);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0xc001), 0);
	EXPECT_EQ(ibv_destroy_qp(ud), EBUSY);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0xc002), 0);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0xc002), EINVAL);
out:
	EXPECT_EQ(ibv_destroy_qp(ud), 0);
	EXPECT_EQ(ibv_destroy_qp(rc), 0);
}

static struct ibv_srq *make_srq(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = max_wr, .max_sge = max_sge}};

	return ibv_create_srq(dev.pd, &init);
}

static int modify_srq(struct ibv_srq *srq, int mask, uint32_t max_wr, uint32_t limit)
{
	struct ibv_srq_attr attr = {.max_wr = max_wr, .srq_limit = limit};

	return ibv_modify_srq(srq, &attr, mask);
}

static void test_srq(const void *arg)
{
	struct ibv_srq *srq = make_srq(16, 2);
	struct ibv_sge sge[64] = {};
	struct ibv_recv_wr wr = {.sg_list = sge}, *bad = NULL;
	struct ibv_qp *qp;
	int i;

	(void)arg;
	if (missing(srq))
		return;
	EXPECT_NULL(make_srq(0, 1), EINVAL);
	EXPECT_NULL(make_srq(dev.attr.max_srq_wr + 1, 1), EINVAL);
	EXPECT_NULL(make_srq(1, dev.attr.max_srq_sge + 1), EINVAL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_LIMIT, 0, 17), EINVAL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 0, 0), EINVAL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, dev.attr.max_srq_wr + 1, 0), EINVAL);
	wr.num_sge = dev.attr.max_srq_sge + 1;
	if (EXPECT(wr.num_sge <= (int)ARRAY_SIZE(sge)))
		EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);
	EXPECT(bad == &wr);
	wr.num_sge = 0;
	for (i = 0; i < 16; i++)
		EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 8, 0), EINVAL);
	EXPECT_EQ(ibv_dealloc_pd(dev.pd), EBUSY);
	qp = make_qp(IBV_QPT_RC, srq);
	if (EXPECT(qp)) {
		EXPECT_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL);
		EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
		EXPECT_EQ(ibv_destroy_qp(qp), 0);
	}
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

static struct ibv_xrcd *open_xrcd(uint32_t mask, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask = mask, .fd = fd, .oflags = oflags};

	return ibv_open_xrcd(dev.ctx, &attr);
}

static struct ibv_qp *make_target(struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = xrcd ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD,
		.pd = dev.pd,
		.xrcd = xrcd,
	};

	return ibv_create_qp_ex(dev.ctx, &init);
}

/* Domains that a file names */
static void refuse_xrcds(void)
{
	const uint32_t both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	FILE *file = tmpfile();
	struct ibv_xrcd *xrcd;

	if (!EXPECT(file))
		return;
	EXPECT_NULL(open_xrcd(IBV_XRCD_INIT_ATTR_FD, -1, O_CREAT), EINVAL);
	EXPECT_NULL(open_xrcd(both, 12345, O_CREAT), EBADF);
	EXPECT_NULL(open_xrcd(both, fileno(file), 0), EAGAIN);
	xrcd = open_xrcd(both, fileno(file), O_CREAT | O_EXCL);
	if (EXPECT(xrcd)) {
		EXPECT_NULL(open_xrcd(both, fileno(file), O_CREAT | O_EXCL), EINVAL);
		EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
	}
	fclose(file);
}

static void test_xrc(const void *arg)
{
	const uint32_t both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct ibv_xrcd *xrcd = open_xrcd(both, -1, O_CREAT);
	struct ibv_srq_init_attr_ex srq_init = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = dev.pd,
		.xrcd = xrcd,
		.cq = cq,
	};
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = NOBODY,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	(void)arg;
	if (missing(xrcd))
		return;
	refuse_xrcds();
	EXPECT_NULL(make_target(NULL), EINVAL);
	EXPECT_NULL(ibv_open_qp(dev.ctx, &open_attr), EINVAL);
	srq_init.comp_mask &= ~IBV_SRQ_INIT_ATTR_CQ;
	EXPECT_NULL(ibv_create_srq_ex(dev.ctx, &srq_init), EINVAL);
	srq_init.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	srq_init.attr.max_wr = 0;
	EXPECT_NULL(ibv_create_srq_ex(dev.ctx, &srq_init), EINVAL);
	srq_init.attr.max_wr = 4;
	srq = ibv_create_srq_ex(dev.ctx, &srq_init);
	qp = make_target(xrcd);
	if (EXPECT(srq) && EXPECT(qp)) {
		EXPECT(!make_qp(IBV_QPT_RC, srq));
		EXPECT(!make_qp(IBV_QPT_XRC_SEND, srq));
		EXPECT_EQ(ibv_close_xrcd(xrcd), EBUSY);
		EXPECT_EQ(ibv_destroy_srq(srq), 0);
		EXPECT_EQ(ibv_close_xrcd(xrcd), EBUSY);
		EXPECT_EQ(ibv_destroy_qp(qp), 0);
	}
	EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
}

static void test_cq_ex(const void *arg)
{
	const struct ibv_cq_init_attr_ex good = {
		.cqe = 4,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_modify_cq_attr moder = {.attr_mask = ~0U};
	struct ibv_cq_init_attr_ex attr;

	(void)arg;
#define CQ(field, value, error)                                       \
	do {                                                          \
		attr = good;                                          \
		attr.field = value;                                   \
		EXPECT_NULL(ibv_create_cq_ex(dev.ctx, &attr), error); \
	} while (0)
	CQ(cqe, 0, EINVAL);
	CQ(cqe, dev.attr.max_cqe + 1, EINVAL);
	CQ(comp_vector, dev.ctx->num_comp_vectors, EINVAL);
	CQ(wc_flags, 1ULL << 40, EOPNOTSUPP);
	CQ(wc_flags, IBV_WC_EX_WITH_FLOW_TAG, EOPNOTSUPP);
	CQ(comp_mask, 1U << 31, EOPNOTSUPP);
	attr = good;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = 1U << 31;
	EXPECT_NULL(ibv_create_cq_ex(dev.ctx, &attr), EOPNOTSUPP);
	EXPECT(ibv_modify_cq(cq, &moder) == EINVAL || ibv_modify_cq(cq, &moder) == EOPNOTSUPP);
}

static struct ibv_dm *make_dm(size_t length, uint32_t log_align, uint32_t mask)
{
	struct ibv_alloc_dm_attr attr = {
		.length = length,
		.log_align_req = log_align,
		.comp_mask = mask,
	};

	return ibv_alloc_dm(dev.ctx, &attr);
}

static void test_dm(const void *arg)
{
	const unsigned int access = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE;
	struct ibv_dm *dm = make_dm(4096, 0, 0);
	struct ibv_mr *mr;
	uint8_t buf[8];

	(void)arg;
	if (missing(dm))
		return;
	EXPECT_NULL(make_dm(0, 0, 0), EINVAL);
	EXPECT_NULL(make_dm(4096, 0, 1), EINVAL);
	EXPECT_NULL(make_dm(4096, 63, 0), EINVAL);
	EXPECT_NULL(make_dm(1ULL << 40, 0, 0), ENOMEM);
	EXPECT_NULL(ibv_reg_dm_mr(dev.pd, dm, 0, 4096, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	EXPECT_NULL(ibv_reg_dm_mr(dev.pd, dm, 0, 4096, IBV_ACCESS_ZERO_BASED | 1 << 30), EINVAL);
	EXPECT_NULL(ibv_reg_dm_mr(dev.pd, dm, 0, 4096,
				  IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE),
		    EINVAL);
	EXPECT_NULL(ibv_reg_dm_mr(dev.pd, dm, 1, 4096, access), EINVAL);
	EXPECT_NULL(ibv_reg_dm_mr(dev.pd, dm, 0, 4097, access), EINVAL);
	EXPECT_NULL(ibv_reg_dm_mr(dev.pd, dm, ~0ULL, 2, access), EINVAL);
	EXPECT_EQ(ibv_memcpy_to_dm(dm, 4096, buf, 8), EFAULT);
	EXPECT_EQ(ibv_memcpy_from_dm(buf, dm, 4092, 8), EFAULT);
	EXPECT_EQ(ibv_memcpy_to_dm(dm, 1, buf, 8), EINVAL);
	EXPECT_EQ(ibv_memcpy_from_dm(buf, dm, 0, 7), EINVAL);
	mr = ibv_reg_dm_mr(dev.pd, dm, 0, 4096, access);
	if (EXPECT(mr)) {
		EXPECT_EQ(ibv_free_dm(dm), EBUSY);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

/**
 * struct rule - a flow with a specification
 * @none: one of no type
 */
struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_eth none;
};

_Static_assert(offsetof(struct rule, eth) == sizeof(struct ibv_flow_attr), "one follows the other");

static void test_flow(const void *arg)
{
	struct ibv_qp *raw = make_qp(IBV_QPT_RAW_PACKET, NULL), *rc;
	struct rule good = {
		.attr = {.size = offsetof(struct rule, none), .num_of_specs = 1, .port = VU_PORT},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(good.eth)},
	};
	struct ibv_flow *flow;
	struct rule rule;

	(void)arg;
	if (missing(raw))
		return;
	rc = make_qp(IBV_QPT_RC, NULL);
	if (!EXPECT(rc))
		return;
#define FLOW(field, value, error)                                     \
	do {                                                          \
		rule = good;                                          \
		rule.field = value;                                   \
		EXPECT_NULL(ibv_create_flow(raw, &rule.attr), error); \
	} while (0)
	FLOW(attr.port, 0, EINVAL);
	FLOW(attr.port, dev.attr.phys_port_cnt + 1, EINVAL);
	FLOW(attr.type, IBV_FLOW_ATTR_SNIFFER, EOPNOTSUPP);
	FLOW(attr.flags, IBV_FLOW_ATTR_FLAGS_DONT_TRAP, EOPNOTSUPP);
	FLOW(attr.num_of_specs, 2, EINVAL);
	FLOW(eth.type, IBV_FLOW_SPEC_ACTION_DROP, EOPNOTSUPP);
	EXPECT_NULL(ibv_create_flow(rc, &good.attr), EINVAL);
	flow = ibv_create_flow(raw, &good.attr);
	if (EXPECT(flow)) {
		EXPECT_EQ(ibv_destroy_qp(raw), EBUSY);
		EXPECT_EQ(ibv_destroy_flow(flow), 0);
	}
	EXPECT_EQ(ibv_destroy_qp(raw), 0);
	EXPECT_EQ(ibv_destroy_qp(rc), 0);
}

static void test_parent_domain(const void *arg)
{
	struct ibv_td_init_attr td_attr = {.comp_mask = 1};
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_pd *parent;
	struct ibv_td *td;

	(void)arg;
	EXPECT_NULL(ibv_alloc_td(dev.ctx, &td_attr), EOPNOTSUPP);
	td_attr.comp_mask = 0;
	td = ibv_alloc_td(dev.ctx, &td_attr);
	if (missing(td))
		return;
	EXPECT_NULL(ibv_alloc_parent_domain(dev.ctx, &attr), EINVAL);
	attr.pd = dev.pd;
	attr.td = td;
	attr.comp_mask = 1U << 31;
	EXPECT_NULL(ibv_alloc_parent_domain(dev.ctx, &attr), EOPNOTSUPP);
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	EXPECT_NULL(ibv_alloc_parent_domain(dev.ctx, &attr), EINVAL);
	attr.comp_mask = 0;
	parent = ibv_alloc_parent_domain(dev.ctx, &attr);
	if (EXPECT(parent)) {
		EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
		EXPECT_EQ(ibv_dealloc_pd(dev.pd), EBUSY);
		attr.pd = parent;
		EXPECT_NULL(ibv_alloc_parent_domain(dev.ctx, &attr), EINVAL);
		EXPECT_EQ(ibv_dealloc_pd(parent), 0);
	}
	EXPECT_EQ(ibv_dealloc_td(td), 0);
}

static void test_import(const void *arg)
{
	int null = open("/dev/null", O_RDWR);

	(void)arg;
	EXPECT(!ibv_import_device(-1));
	EXPECT(!ibv_import_device(null));
	close(null);
	EXPECT_NULL(ibv_import_mr(dev.pd, NOBODY), ENOENT);
	EXPECT_NULL(ibv_import_dm(dev.ctx, NOBODY), ENOENT);
}

/* Verbs that the device does not support */
static void test_unsupported(const void *arg)
{
	struct ibv_counters_init_attr counters = {};
	struct ibv_qp_rate_limit_attr rate = {.rate_limit = 1};
	struct ibv_qp *qp = make_qp(IBV_QPT_RC, NULL);

	(void)arg;
	if (!EXPECT(qp))
		return;
	EXPECT_NULL(ibv_create_counters(dev.ctx, &counters), EOPNOTSUPP);
	EXPECT_EQ(ibv_modify_qp_rate_limit(qp, &rate), EOPNOTSUPP);
	EXPECT_NULL(ibv_alloc_null_mr(dev.pd), EOPNOTSUPP);
	EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

static const struct tap_test tests[] = {
	{"address handles", test_ah, NULL},
	{"multicast groups", test_mcast, NULL},
	{"shared receive queues", test_srq, NULL},
	{"XRC", test_xrc, NULL},
	{"extended CQs", test_cq_ex, NULL},
	{"device memory", test_dm, NULL},
	{"flows", test_flow, NULL},
	{"parent and thread domains", test_parent_domain, NULL},
	{"imported objects", test_import, NULL},
	{"what the device has not", test_unsupported, NULL},
};

static void cleanup(void)
{
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

int main(void)
{
	vu_open(&dev);
	cq = ibv_create_cq(dev.ctx, 16, NULL, NULL, 0);
	if (!cq)
		tap_bail("ibv_create_cq: %s", strerror(errno));
	return vu_main(&dev, NULL, tests, ARRAY_SIZE(tests), cleanup);
}
