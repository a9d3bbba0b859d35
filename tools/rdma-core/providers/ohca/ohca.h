/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libohca: the objects of the provider and the verbs it implements.
 *
 * Verbs return what libibverbs documents for them: 0 or a positive errno, or a pointer, or NULL
 * with errno set.
 */

#ifndef OHCA_H
#define OHCA_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/driver.h>

#include "compat.h"
#include "geometry.h"
#include "lock.h"
#include "ohca_cmd.h"
#include "ohca_queue.h"
#include "ohca_regs.h"
#include "ring.h"
#include "slot.h"

#define OHCA_LEAF_SHIFT 10
#define OHCA_LEAF_SIZE (1 << OHCA_LEAF_SHIFT)
#define OHCA_ROOT_SIZE (1 << (24 - OHCA_LEAF_SHIFT))

/**
 * struct ohca_leaf - objects whose numbers differ in the low OHCA_LEAF_SHIFT bits
 */
struct ohca_leaf {
	_Atomic(void *) obj[OHCA_LEAF_SIZE];
};

/**
 * struct ohca_table - finds an object by its number of 24 bits
 * @mutex: serializes changes.  It is taken with locks of CQs held; no lock of a CQ is waited for
 *	with it, because who holds one may create objects.  The kernel may use the number of a
 *	destroyed object again before that object is removed here: then it is removed when the new
 *	one is added
 * @leaf: leaves are freed with the context only, so pollers need no lock
 */
struct ohca_table {
	pthread_mutex_t mutex;
	_Atomic(struct ohca_leaf *) leaf[OHCA_ROOT_SIZE];
};

/**
 * struct ohca_context - an open device
 * @uar: doorbell page
 * @shadow: shadow page, NULL if doorbells are written to @uar
 * @caps: OHCA_CAP_* of the device
 * @limits: of the device
 * @unlocked: the environment says that no two threads use a queue at the same time
 * @slots: slots of @shadow, under @qps.mutex
 * @qps: its QPs with queues, except for XRC targets, and its receive work queues
 * @srqs: its SRQs
 */
struct ohca_context {
	struct verbs_context vctx;
	void *uar;
	struct ohca_shadow *shadow;
	uint64_t caps;
	struct ohca_limits limits;
	bool unlocked;
	struct ohca_slots slots;
	struct ohca_table qps;
	struct ohca_table srqs;
};

/**
 * struct ohca_td - a thread domain: all its queues are used by one thread at a time
 * @refs: number of parent domains that use it, plus one
 */
struct ohca_td {
	struct ibv_td td;
	atomic_uint refs;
};

/**
 * struct ohca_pd - a protection domain or a parent domain
 * @refs: number of queues and parent domains that use it, plus one until it is unimported
 * @real: the protection domain of a parent domain, NULL in a protection domain
 * @td: the thread domain of a parent domain, or NULL
 * @alloc: parent domain: the application's allocator for queues, or NULL
 * @free: parent domain: its function that frees them
 * @alloc_context: argument of both
 */
struct ohca_pd {
	struct ibv_pd pd;
	atomic_uint refs;
	struct ohca_pd *real;
	struct ohca_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *context, void *ptr, uint64_t resource_type);
	void *alloc_context;
};

/**
 * struct ohca_ah - an address handle
 * @av: address vector for work requests
 */
struct ohca_ah {
	struct ibv_ah ah;
	struct ohca_av av;
};

/**
 * enum ohca_res_type - resource types for allocators of parent domains
 */
enum ohca_res_type {
	OHCA_RES_QP = 0,
	OHCA_RES_CQ = 1,
	OHCA_RES_SRQ = 2,
	OHCA_RES_RWQ = 3,
};

struct ohca_chunk;

/**
 * struct ohca_buf - memory of a queue: zeroed, not shared after a fork
 * @addr: first byte, aligned to a page or to @size
 * @size: bytes: whole pages, or a power of two
 * @pd: parent domain whose allocator it came from, or NULL
 * @chunk: chunk that its block is from, or NULL
 * @type: resource type
 */
struct ohca_buf {
	void *addr;
	size_t size;
	struct ohca_pd *pd;
	struct ohca_chunk *chunk;
	enum ohca_res_type type;
};

/**
 * struct ohca_cq - a completion queue
 * @ring: ring and consumer index
 * @rec: record
 * @last_qp: QP of the last completion without an SRQ, likely that of the next one
 * @last_srq: SRQ of the last completion with one
 * @cur: present completion of the extended poll interface
 * @lock: protects all of the above
 * @poller: thread that is between ibv_start_poll() and ibv_end_poll(), and so has @lock, or 0
 * @arm_next: value of the record's counter
 * @arm_solicited: value of the record's counter
 * @arm_lock: protects these two, and @rec; taken with @lock held or without it: the application may
 *	ask for an event between ibv_start_poll() and ibv_end_poll()
 * @parent: parent domain or NULL
 */
struct ohca_cq {
	struct verbs_cq vcq;
	struct ohca_lock lock;
	struct ohca_lock arm_lock;
	struct ohca_cq_ring ring;
	struct ohca_cq_rec *rec;
	struct ohca_qp *last_qp;
	struct ohca_srq *last_srq;
	const struct ohca_cqe *cur;
	_Atomic(pthread_t) poller;
	uint32_t arm_next;
	uint32_t arm_solicited;
	struct ohca_buf buf;
	struct ohca_pd *parent;
};

/**
 * enum ohca_sq_kind - additional part of entries of a send queue
 * @OHCA_SQ_PLAIN: none
 * @OHCA_SQ_XRC: the peer's SRQ
 * @OHCA_SQ_UD: an address vector
 */
enum ohca_sq_kind {
	OHCA_SQ_PLAIN,
	OHCA_SQ_XRC,
	OHCA_SQ_UD,
};

/**
 * struct ohca_wq - a send queue, receive queue or SRQ
 * @lock: protects all fields but @tail
 * @ready: the QP's state allows posting; always false if the queue does not exist
 * @kind: send queue: enum ohca_sq_kind
 * @flags: send queue: OHCA_WQE_* of every entry
 * @log_stride: log2 of the bytes of an entry
 * @mask: number of entries less one
 * @pi: producer index
 * @seen: an earlier value of @tail
 * @max_sge: scatter/gather elements of an entry
 * @max_inline: send queue: bytes of inline data of an entry
 * @ops: send queue: bit n: enum ibv_wr_opcode n is allowed
 * @send_flags: send queue: IBV_SEND_* that are allowed
 * @ring: the entries
 * @rec: record
 * @tail: index of the oldest entry in use; pollers write it, in a cache line that posters rarely
 *	read
 */
struct ohca_wq {
	struct ohca_lock lock;
	bool ready;
	uint8_t kind;
	uint8_t flags;
	uint8_t log_stride;
	uint32_t mask;
	uint32_t pi;
	uint32_t seen;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t ops;
	uint32_t send_flags;
	void *ring;
	struct ohca_wq_rec *rec;
	_Atomic(uint32_t) tail __attribute__((aligned(OHCA_LINE)));
};

/**
 * struct ohca_mw - a memory window
 * @old_rkey: its key at ibv_wr_start(), if @section
 * @section: the QP that binds it between ibv_wr_start() and ibv_wr_complete(), or NULL: no other one
 *	can bind it then, because its key depends on whether the first one posts anything
 * @next: next one of struct ohca_qp.wr_mws, if @section
 */
struct ohca_mw {
	struct ibv_mw mw;
	uint32_t old_rkey;
	_Atomic(struct ohca_qp *) section;
	struct ohca_mw *next;
};

/**
 * struct ohca_qp - a queue pair
 * @qpn: number
 * @slot: dirty bit of the send queue
 * @wr_pi: producer index between ibv_wr_start() and ibv_wr_complete(); this and the next three fields
 *	are under @sq.lock
 * @wr_err: error because of which nothing will be posted, or 0
 * @wqe: entry under construction
 * @wr_mws: windows whose keys have changed since ibv_wr_start(), or NULL
 * @cap: capacity as reported to the application
 * @buf: memory of its queues; XRC targets, QPs that spread frames, and QPs whose SRQ has tags have
 *	none
 * @pd: NULL: an XRC target
 */
struct ohca_qp {
	struct verbs_qp vqp;
	uint32_t qpn;
	unsigned int slot;
	uint32_t wr_pi;
	int wr_err;
	struct ohca_sq_wqe *wqe;
	struct ohca_mw *wr_mws;
	struct ohca_wq sq;
	struct ohca_wq rq;
	struct ohca_qp_cap cap;
	struct ohca_buf buf;
	struct ohca_pd *pd;
};

/**
 * struct ohca_tag - a place in the list of tags of an SRQ
 * @handle: of the present or last tag; bits 15:0 are the place
 * @used: the place is in use, as far as this library knows
 * @op: number of operations that the device has executed when the tag is in the list
 * @next: next free place
 */
struct ohca_tag {
	uint32_t handle;
	bool used;
	uint32_t op;
	uint32_t next;
};

/**
 * struct ohca_srq - a shared receive queue
 * @srqn: number
 * @ops: QP that posts operations on tags, or NULL: there are no tags
 * @tags: places, under the lock of the send queue of @ops
 * @num_tags: number of them
 * @free_tag: first free one; @num_tags: none
 * @tagged: QPs that receive from this SRQ, if it has tags
 */
struct ohca_srq {
	struct verbs_srq vsrq;
	uint32_t srqn;
	struct ohca_wq wq;
	struct ohca_buf buf;
	struct ohca_pd *pd;
	struct ohca_qp *ops;
	struct ohca_tag *tags;
	uint32_t num_tags;
	uint32_t free_tag;
	atomic_uint tagged;
};

/**
 * struct ohca_rwq - a receive work queue
 * @wq: the application's part
 * @qp: the other part, which CQs use: in the device it is a QP that only receives
 */
struct ohca_rwq {
	struct ibv_wq wq;
	struct ohca_qp qp;
};

static inline struct ohca_context *to_octx(struct ibv_context *ctx)
{
	return container_of(ctx, struct ohca_context, vctx.context);
}

static inline struct ohca_pd *to_opd(struct ibv_pd *pd)
{
	return container_of(pd, struct ohca_pd, pd);
}

static inline struct ohca_td *to_otd(struct ibv_td *td)
{
	return container_of(td, struct ohca_td, td);
}

static inline struct ohca_ah *to_oah(struct ibv_ah *ah)
{
	return container_of(ah, struct ohca_ah, ah);
}

static inline struct ohca_mw *to_omw(struct ibv_mw *mw)
{
	return container_of(mw, struct ohca_mw, mw);
}

static inline struct ohca_cq *to_ocq(struct ibv_cq *cq)
{
	return container_of(cq, struct ohca_cq, vcq.cq);
}

static inline struct ohca_cq *to_ocq_ex(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct ohca_cq, vcq.cq_ex);
}

static inline struct ohca_qp *to_oqp(struct ibv_qp *qp)
{
	return container_of(qp, struct ohca_qp, vqp.qp);
}

static inline struct ohca_srq *to_osrq(struct ibv_srq *srq)
{
	return container_of(srq, struct ohca_srq, vsrq.srq);
}

static inline struct ohca_rwq *to_orwq(struct ibv_wq *wq)
{
	return container_of(wq, struct ohca_rwq, wq);
}

/**
 * ohca_has - whether the device has all of these capabilities
 * @ctx: the context
 * @caps: OHCA_CAP_*
 */
static inline bool ohca_has(struct ibv_context *ctx, uint64_t caps)
{
	return !(caps & ~to_octx(ctx)->caps);
}

/* ah.c */

struct ibv_ah *ohca_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int ohca_destroy_ah(struct ibv_ah *ah);

/* buf.c */

/**
 * ohca_buf_alloc - allocate memory for a queue
 * @buf: result
 * @size: bytes, of which there may be more then
 * @pd: PD or parent domain of the queue, or NULL
 * @type: resource type
 *
 * Return: 0 or errno.
 */
int ohca_buf_alloc(struct ohca_buf *buf, uint64_t size, struct ohca_pd *pd,
		   enum ohca_res_type type);

/**
 * ohca_buf_free - free the memory of a queue, which the device does not use any more
 */
void ohca_buf_free(struct ohca_buf *buf);

/* table.c */

void ohca_table_init(struct ohca_table *table);
void ohca_table_free(struct ohca_table *table);

/**
 * ohca_table_add - add an object; the caller holds the table's mutex
 * @table: the table
 * @num: number of the object
 * @obj: the object
 *
 * Return: 0, ENOMEM, or EINVAL for a number that no object can have.
 */
int ohca_table_add(struct ohca_table *table, uint32_t num, void *obj);

/**
 * ohca_table_del - remove an object; the caller holds the table's mutex
 */
void ohca_table_del(struct ohca_table *table, uint32_t num);

/**
 * ohca_table_find - find the object with this number; returns NULL if there is none
 */
static inline void *ohca_table_find(struct ohca_table *table, uint32_t num)
{
	struct ohca_leaf *leaf;

	if (num >> 24)
		return NULL;
	leaf = atomic_load_explicit(&table->leaf[num >> OHCA_LEAF_SHIFT], memory_order_acquire);
	if (!leaf)
		return NULL;
	return atomic_load_explicit(&leaf->obj[num & (OHCA_LEAF_SIZE - 1)], memory_order_acquire);
}

/* blocks.c */

/**
 * ohca_block_size - size of a block for a queue of @size bytes: a power of two up to half a page, or
 * whole pages
 */
size_t ohca_block_size(uint64_t size);

/**
 * ohca_block_alloc - allocate a block of a chunk that queues share; its contents are undefined
 * @size: bytes, from ohca_block_size(), 64 pages at most
 * @from: result: the chunk
 *
 * Return: the block, aligned to its size or to a page, or NULL.
 */
void *ohca_block_alloc(size_t size, struct ohca_chunk **from);

/**
 * ohca_block_free - free a block
 * @addr: the block
 * @size: its size
 * @from: the chunk
 */
void ohca_block_free(void *addr, size_t size, struct ohca_chunk *from);

/* pd.c */

struct ibv_pd *ohca_alloc_pd(struct ibv_context *ctx);
int ohca_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *ohca_import_pd(struct ibv_context *ctx, uint32_t handle);
void ohca_unimport_pd(struct ibv_pd *pd);
struct ibv_td *ohca_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr);
int ohca_dealloc_td(struct ibv_td *td);
struct ibv_pd *ohca_alloc_parent_domain(struct ibv_context *ctx,
					struct ibv_parent_domain_init_attr *attr);

/**
 * ohca_pd_get - take a reference for an object that uses this PD
 */
void ohca_pd_get(struct ohca_pd *pd);

/**
 * ohca_pd_put - release the reference of an object that used this PD; frees an unimported PD
 */
void ohca_pd_put(struct ohca_pd *pd);

/* flow.c */

struct ibv_flow *ohca_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);
int ohca_destroy_flow(struct ibv_flow *flow);

/* dm.c */

struct ibv_dm *ohca_alloc_dm(struct ibv_context *ctx, struct ibv_alloc_dm_attr *attr);
int ohca_free_dm(struct ibv_dm *dm);
struct ibv_dm *ohca_import_dm(struct ibv_context *ctx, uint32_t handle);
void ohca_unimport_dm(struct ibv_dm *dm);
struct ibv_mr *ohca_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			      unsigned int access);

/* verbs.c */

int ohca_query_device(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
		      struct ibv_device_attr_ex *attr, size_t attr_size);
int ohca_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr);
int ohca_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values);

/* mr.c */

struct ibv_mr *ohca_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			   int access);
struct ibv_mr *ohca_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				  int fd, int access);
int ohca_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  int access);
int ohca_dereg_mr(struct verbs_mr *vmr);
int ohca_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		   struct ibv_sge *sg_list, uint32_t num_sge);
struct ibv_mr *ohca_import_mr(struct ibv_pd *pd, uint32_t handle);
void ohca_unimport_mr(struct ibv_mr *mr);

/* mw.c */

struct ibv_mw *ohca_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int ohca_dealloc_mw(struct ibv_mw *mw);
int ohca_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* cq.c */

struct ibv_cq *ohca_create_cq(struct ibv_context *ctx, int cqe, struct ibv_comp_channel *channel,
			      int comp_vector);
struct ibv_cq_ex *ohca_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr);
int ohca_destroy_cq(struct ibv_cq *cq);
int ohca_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int ohca_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/**
 * ohca_resize_cq - resize a CQ for at least @cqe completions
 */
int ohca_resize_cq(struct ibv_cq *cq, int cqe);
int ohca_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/**
 * ohca_cq_take - take the next completion
 * @cq: the CQ, locked
 *
 * Frees the entries of the work queue.
 *
 * Return: the entry, valid until the record is written; NULL if there is none.
 */
const struct ohca_cqe *ohca_cq_take(struct ohca_cq *cq);

/**
 * ohca_cqe_opcode - opcode of a completion for libibverbs
 */
enum ibv_wc_opcode ohca_cqe_opcode(const struct ohca_cqe *cqe);

/**
 * ohca_cqe_tm_flags - flags of tag matching for libibverbs
 */
static inline unsigned int ohca_cqe_tm_flags(const struct ohca_cqe *cqe)
{
	static_assert(OHCA_CQE_F_TAG_SYNC >> 3 == IBV_WC_TM_SYNC_REQ &&
			      (OHCA_CQE_TAG_MATCH & 3) << 5 == IBV_WC_TM_MATCH &&
			      (OHCA_CQE_TAG_DATA & 3) << 5 == IBV_WC_TM_DATA_VALID &&
			      !(OHCA_CQE_RECV_UNEXPECTED & 3),
		      "flags");
	return (cqe->flags & OHCA_CQE_F_TAG_SYNC) >> 3 |
	       (cqe->opcode >= OHCA_CQE_RECV_UNEXPECTED ? (cqe->opcode & 3) << 5 : 0);
}

/**
 * ohca_cqe_wc_flags - all flags for libibverbs
 */
static inline unsigned int ohca_cqe_wc_flags(const struct ohca_cqe *cqe)
{
	static_assert((int)OHCA_CQE_F_IMM == IBV_WC_WITH_IMM && OHCA_CQE_F_GRH >> 4 == IBV_WC_GRH &&
			      OHCA_CQE_F_INV >> 2 == IBV_WC_WITH_INV &&
			      OHCA_CQE_F_CSUM_OK >> 1 == IBV_WC_IP_CSUM_OK,
		      "flags");
	return (cqe->flags & OHCA_CQE_F_IMM) | (cqe->flags & OHCA_CQE_F_GRH) >> 4 |
	       (cqe->flags & OHCA_CQE_F_INV) >> 2 | (cqe->flags & OHCA_CQE_F_CSUM_OK) >> 1 |
	       ohca_cqe_tm_flags(cqe);
}

/**
 * ohca_cqe_is_ib - whether the completion is for a datagram of an InfiniBand port
 */
static inline bool ohca_cqe_is_ib(const struct ohca_cqe *cqe)
{
	return cqe->opcode == OHCA_CQE_RECV && cqe->net_type == OHCA_NET_IB;
}

/**
 * ohca_cq_lock - lock a CQ to remove completions
 * @cq: the CQ, or NULL: nothing is locked then, nor if this thread is between ibv_start_poll() and
 *	ibv_end_poll() of it
 */
void ohca_cq_lock(struct ohca_cq *cq);
bool ohca_cq_trylock(struct ohca_cq *cq);
void ohca_cq_unlock(struct ohca_cq *cq);

/**
 * ohca_cqs_lock - lock the CQs of a QP, of which there may be one or none, as ohca_cq_lock().  The
 *	lock of one is not waited for with that of the other.
 */
void ohca_cqs_lock(struct ohca_qp *qp);
bool ohca_cqs_trylock(struct ohca_qp *qp);
void ohca_cqs_unlock(struct ohca_qp *qp);

/**
 * ohca_cqs_purge - remove the completions of a QP that writes no more
 * @qp: the QP, its CQs locked
 */
void ohca_cqs_purge(struct ohca_qp *qp);

/**
 * ohca_cq_purge_srq - remove the completions of an XRC SRQ that writes no more
 * @cq: its CQ, locked
 * @srq: the SRQ
 */
void ohca_cq_purge_srq(struct ohca_cq *cq, struct ohca_srq *srq);

/* cq_ex.c */

/**
 * ohca_cq_fill_ops - set the extended poll interface
 * @cq: the CQ
 * @wc_flags: fields that the application will read, all of them supported
 */
void ohca_cq_fill_ops(struct ohca_cq *cq, uint64_t wc_flags);

#define OHCA_CQ_WC_FLAGS                                                        \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | \
	 IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |      \
	 IBV_WC_EX_WITH_DLID_PATH_BITS | IBV_WC_EX_WITH_CVLAN)

/* qp.c */

struct ibv_qp *ohca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *ohca_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);

/**
 * ohca_create_tm_qp - create a QP for operations on the tags of an SRQ, in RTS
 * @srq: the SRQ
 * @cq: its CQ
 * @max_ops: number of operations that may be outstanding; on return the actual one
 *
 * Return: the QP, or NULL and errno.
 */
struct ibv_qp *ohca_create_tm_qp(struct ibv_srq *srq, struct ibv_cq *cq, uint32_t *max_ops);
struct ibv_qp *ohca_open_qp(struct ibv_context *ctx, struct ibv_qp_open_attr *attr);
int ohca_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int ohca_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
int ohca_destroy_qp(struct ibv_qp *qp);

/**
 * ohca_qp_insert - add a new QP, or work queue, to the context's table, whose mutex the caller
 *	holds; others may have it meanwhile
 * @ctx: the context
 * @qp: the QP
 *
 * Return: as ohca_table_add().
 */
int ohca_qp_insert(struct ohca_context *ctx, struct ohca_qp *qp);

/**
 * ohca_qp_replace - remove what is left of an earlier QP with the number of a new one that is not in
 *	the context's table
 * @ctx: the context
 * @qp: the new QP
 */
void ohca_qp_replace(struct ohca_context *ctx, struct ohca_qp *qp);

/**
 * ohca_qp_remove - remove a QP, or work queue, that the kernel has destroyed from the context's
 *	table, and its completions from its CQs
 * @ctx: the context
 * @qp: the QP; nothing is left to do if another one has got its number meanwhile
 */
void ohca_qp_remove(struct ohca_context *ctx, struct ohca_qp *qp);

/**
 * ohca_alloc_qp - allocate a QP, zeroed
 *
 * Return: the QP, or NULL with errno set.
 */
struct ohca_qp *ohca_alloc_qp(void);

/* rss.c */

/**
 * ohca_create_rss - create a QP that spreads frames over an indirection table
 */
struct ibv_qp *ohca_create_rss(struct ohca_context *ctx, struct ibv_qp_init_attr_ex *attr);
struct ibv_wq *ohca_create_wq(struct ibv_context *ctx, struct ibv_wq_init_attr *attr);
int ohca_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int ohca_destroy_wq(struct ibv_wq *wq);
struct ibv_rwq_ind_table *ohca_create_rwq_ind_table(struct ibv_context *ctx,
						    struct ibv_rwq_ind_table_init_attr *attr);
int ohca_destroy_rwq_ind_table(struct ibv_rwq_ind_table *tbl);

/* post.c */

int ohca_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int ohca_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int ohca_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/**
 * ohca_srq_sync - query the entries taken for QPs that do not complete them any more
 */
void ohca_srq_sync(struct ohca_srq *srq);
int ohca_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* srq.c */

struct ibv_srq *ohca_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *ohca_create_srq_ex(struct ibv_context *ctx, struct ibv_srq_init_attr_ex *attr);
int ohca_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int ohca_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int ohca_destroy_srq(struct ibv_srq *srq);
int ohca_get_srq_num(struct ibv_srq *srq, uint32_t *srqn);

/**
 * ohca_srq_taken - free the entries that the device has taken
 * @srq: the SRQ
 * @taken: number of entries taken, free-running; may be older than the last one
 */
static inline void ohca_srq_taken(struct ohca_srq *srq, uint32_t taken)
{
	uint32_t tail = atomic_load_explicit(&srq->wq.tail, memory_order_relaxed);

	/* Pollers of other CQs may do the same at the same time. */
	while ((int32_t)(taken - tail) > 0 &&
	       !atomic_compare_exchange_weak_explicit(&srq->wq.tail, &tail, taken,
						      memory_order_release, memory_order_relaxed))
		;
}

/* tm.c */

/**
 * ohca_tm_init - initialize the tags of an SRQ
 * @srq: the SRQ, of a type that has them
 * @attr: its attributes; on return with the actual limits
 *
 * Return: 0 or errno.
 */
int ohca_tm_init(struct ohca_srq *srq, struct ibv_srq_init_attr_ex *attr);

/**
 * ohca_tm_fini - remove the tags of an SRQ, if it has any
 *
 * Return: 0, or EBUSY if QPs receive from the SRQ.
 */
int ohca_tm_fini(struct ohca_srq *srq);

int ohca_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr);

/* wr.c */

/**
 * ohca_send_ops_flags - IBV_QP_EX_WITH_* for a mask of enum ibv_wr_opcode
 */
uint64_t ohca_send_ops_flags(uint32_t ops);

/**
 * ohca_qp_fill_ops - set the extended interface of a send queue
 * @qp: the QP
 * @flags: operations that the application will use, all of them supported: IBV_QP_EX_WITH_*
 */
void ohca_qp_fill_ops(struct ohca_qp *qp, uint64_t flags);

/* xrcd.c */

struct ibv_xrcd *ohca_open_xrcd(struct ibv_context *ctx, struct ibv_xrcd_init_attr *attr);
int ohca_close_xrcd(struct ibv_xrcd *xrcd);

/**
 * ohca_errno - leave an error in errno as well, as programs expect it of verbs that return it
 * @err: 0 or an error
 *
 * Return: @err
 */
static inline int ohca_errno(int err)
{
	if (err)
		errno = err;
	return err;
}

#endif /* OHCA_H */
