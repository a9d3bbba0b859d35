/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test of the kernel's verbs: two connected queue pairs of one device, and common functions.
 */

#ifndef KV_H
#define KV_H

#include <linux/completion.h>
#include <linux/smp.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>

/* Without atomic writes in ib_core, no device has them, and their test is skipped. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define IB_DEVICE_ATOMIC_WRITE 0
#define IB_WR_ATOMIC_WRITE IB_WR_RDMA_WRITE
#define IB_WC_ATOMIC_WRITE IB_WC_RDMA_WRITE
#endif

#define KV_PORT 1
#define KV_BUF (64 * PAGE_SIZE)
#define KV_DEPTH 64
#define KV_INLINE 64
#define KV_QKEY 0x1234567
#define KV_TIMEOUT kv_timeout()

/**
 * struct kv_wr - a work request that is waited for
 * @cqe: for ib_core
 * @done: it has completed
 * @wc: how
 */
struct kv_wr {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/**
 * struct kv_end - a queue pair and its buffer
 * @qp: queue pair
 * @buf: KV_BUF bytes
 * @dma: the same for the device
 */
struct kv_end {
	struct ib_qp *qp;
	u8 *buf;
	u64 dma;
};

/**
 * struct kv_rig - two connected ends
 * @dev: device
 * @pd: protection domain, with keys for all memory
 * @cq: of all queues
 * @end: side 0 sends, side 1 receives
 * @poll: how the CQ is polled
 * @ah: UD: address of the port, for either side
 * @srq: side 1 receives from it, or NULL
 * @srq_limit: its limit was reached
 * @last_wqe: side 1 was notified that it takes no more from it
 * @migrated: each side was notified that it has another path
 * @atomic: an event handler was called where it may not sleep
 * @type: of the queue pairs
 * @shared: there is an SRQ
 * @pooled: the CQ is one of ib_core's pool
 * @rw_ctxs: transfers of the RDMA read/write API that a queue pair has room for
 */
struct kv_rig {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct kv_end end[2];
	enum ib_poll_context poll;
	struct ib_ah *ah;
	struct ib_srq *srq;
	struct completion srq_limit;
	struct completion last_wqe;
	struct completion migrated[2];
	bool atomic;
	enum ib_qp_type type;
	bool shared;
	bool pooled;
	u32 rw_ctxs;
};

/**
 * struct kv_test - a test
 * @name: its name
 * @fn: returns whether it passed
 * @can: whether the device has what it needs; NULL: every device has
 * @type: of the queue pairs, 0: RC
 * @shared: see struct kv_rig
 * @pooled: see struct kv_rig
 * @rw_ctxs: see struct kv_rig
 */
struct kv_test {
	const char *name;
	bool (*fn)(struct kv_rig *rig);
	bool (*can)(struct ib_device *dev);
	enum ib_qp_type type;
	bool shared;
	bool pooled;
	u32 rw_ctxs;
};

/* kv_data.c: run with each way to poll */
extern const struct kv_test kv_data_tests[];
extern const unsigned int kv_num_data_tests;

/* kv_mem.c */
extern const struct kv_test kv_mem_tests[];
extern const unsigned int kv_num_mem_tests;

/* kv_core.c */
extern const struct kv_test kv_core_tests[];
extern const unsigned int kv_num_core_tests;

/* kv_type.c */
extern const struct kv_test kv_type_tests[];
extern const unsigned int kv_num_type_tests;

/* kv_srq.c */
extern const struct kv_test kv_srq_tests[];
extern const unsigned int kv_num_srq_tests;

/* kv_path.c */
extern const struct kv_test kv_path_tests[];
extern const unsigned int kv_num_path_tests;

/* kv_large.c */
extern const struct kv_test kv_large_tests[];
extern const unsigned int kv_num_large_tests;

/* kv_free.c */
extern const struct kv_test kv_free_tests[];
extern const unsigned int kv_num_free_tests;

/* kv_napi.c */
extern const struct kv_test kv_napi_tests[];
extern const unsigned int kv_num_napi_tests;

/* kv_mad.c */

/* Send a datagram to @rig's address on a device that does not work any more. */
bool kv_mad_fails(struct kv_rig *rig);

/* kv_gone.c */

/* Create queue pairs with work requests that don't complete. */
int kv_hold(struct ib_device *dev);
/* Destroy them, and print the results; @dead: the device does not work any more. */
void kv_release(bool dead);

/* kv_main.c */
unsigned long kv_timeout(void);
__printf(1, 2) void kv_say(const char *fmt, ...);

#define KV_EXPECT(cond)                                                                        \
	({                                                                                     \
		bool _ok = (cond);                                                             \
		if (!_ok)                                                                      \
			kv_say("# %s, line %d: not so: %s\n", __FILE_NAME__, __LINE__, #cond); \
		_ok;                                                                           \
	})

/* kv_rig.c */

/* Is the port an Ethernet one? */
static inline bool kv_is_roce(struct ib_device *dev)
{
	return rdma_protocol_roce(dev, KV_PORT);
}

/* The port's own address, with a GRH */
int kv_address(struct kv_rig *rig, struct rdma_ah_attr *ah);
/* Data that depend on the seed and on each byte's place */
void kv_fill(u8 *buf, size_t len, u8 seed);
bool kv_same(const u8 *buf, size_t len, u8 seed);

/* Tests of what two processors do at once: call @fn in an interrupt of another one than this. */
void kv_interrupt_other(smp_call_func_t fn, void *arg);
/* Hold this one until @flag is set, for 300 ms at most; returns whether it is. */
bool kv_hold_until(const bool *flag);

/* Prepare a work request that is waited for. */
void kv_wr_init(struct kv_wr *wr);
/* Wait for it to complete with this status. */
bool kv_wait(struct kv_rig *rig, struct kv_wr *wr, enum ib_wc_status status);
/* A piece of a side's buffer */
struct ib_sge kv_sge(struct kv_rig *rig, int side, size_t off, size_t len);
/* Post a receive at side 1, or to its SRQ. */
int kv_recv(struct kv_rig *rig, struct kv_wr *wr, size_t off, size_t len);
/* Post any request, signaled, at a side. */
int kv_post(struct kv_rig *rig, int side, struct kv_wr *wr, struct ib_send_wr *send);
/* Post from side 0; @roff is the offset in the other side's buffer for RDMA. */
int kv_send(struct kv_rig *rig, struct kv_wr *wr, enum ib_wr_opcode op, int flags,
	    struct ib_sge *sge, int num, size_t roff);
/* The same with the address and the key that are given */
int kv_rdma(struct kv_rig *rig, struct kv_wr *wr, enum ib_wr_opcode op, struct ib_sge *sge, int num,
	    u64 raddr, u32 rkey);

/* Create the rig with the settings in @rig; destroy it. */
int kv_up(struct kv_rig *rig);
void kv_down(struct kv_rig *rig);

/* kv_table.c */

/* Change the tables of an InfiniBand port, in a client's add(). */
void kv_change_tables(struct ib_device *dev);
/* Print whether ib_core knows of it. */
void kv_check_tables(struct ib_device *dev);

#endif
