/* SPDX-License-Identifier: GPL-2.0 */
/* Two QPs whose regions have missing pages, and software that maps them on request. */

#ifndef SELFTESTS_OHCAD_ODP_BED_H
#define SELFTESTS_OHCAD_ODP_BED_H

#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "pair.h"
#include "rig_odp.h"

#define ODP_ACCESS (RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC)
#define ODP_PAGE_SIZE 4096ULL
#define ODP_PAGES (odp.ma->num_pages)

/* Addresses of messages at either side: both are shortly before the end of a page. */
#define ODP_SRC (PAIR_IOVA + 0x2ec0)
#define ODP_DST (PAIR_IOVA + 0x5ee0)

extern struct pair odp;

/* Setup and teardown of a test: QPs of type RC, without any retries. */
int odp_up(void **state);
int odp_down(void **state);
/* Reset and connect both QPs. */
void odp_reconnect(void);

#define ODP_OPS 8
extern const uint8_t odp_ops[ODP_OPS];

/* The operation always has 8 bytes. */
bool odp_one_word(uint8_t op);

/* The work request of @op: @len bytes between @addr at odp.a and @raddr at odp.b. */
void odp_post(uint8_t op, uint64_t addr, uint32_t len, uint64_t raddr);
/* Post a receive for odp.b. */
void odp_post_recv(uint64_t addr, uint32_t len);
/* The next completion. */
void odp_assert_send(enum ohca_wc_status status, uint32_t vendor_err);
void odp_assert_recv(enum ohca_wc_status status, uint32_t vendor_err);
void odp_assert_no_cqe(void);

/* Prepare the memory of @op between ODP_SRC and ODP_DST, and check it afterwards. */
void odp_prepare(uint8_t op, uint32_t len, uint32_t seed);
void odp_assert_done(uint8_t op, uint32_t len, uint32_t seed);
uint64_t odp_word_at(struct rig_mr *mr, uint64_t addr);

/* The number of a page. */
uint64_t odp_page_of(const struct rig_mr *mr, uint64_t addr);
/* Take the next fault, which is for @len bytes of @mr from @addr on. */
struct rig_fault odp_take_fault(struct rig_mr *mr, uint64_t addr, uint64_t len, bool write);
void odp_assert_no_fault(struct rig_hca *hca);
/* Start @op between ODP_SRC and ODP_DST, and wait for the fault for a page of @mr. */
struct rig_fault odp_miss(uint8_t op, uint32_t len, struct rig_mr *mr);

/* Map the pages of a fault, as software does. */
void odp_serve_fault(struct rig_mr *mr, const struct rig_fault *f);
/* Serve all pending faults; returns how many there were. */
unsigned int odp_serve(void);
/* The same until there are no more faults. */
unsigned int odp_serve_all(void);

/* Unmap the pages of @mr when the next response with data arrives, before it is processed. */
void odp_unmap_at_response(struct rig_mr *mr);

#endif
