/* SPDX-License-Identifier: GPL-2.0 */
/* Memory windows: parts of memory regions with keys and rights of their own. */

#ifndef OHCAD_WINDOW_H
#define OHCAD_WINDOW_H

#include "mem/mkey.h"

/**
 * struct mw_owner - the QP that binds a window
 * @pdn: its protection domain
 * @windows: windows of type 2B that are bound to it
 */
struct mw_owner {
	uint32_t qpn;
	uint32_t pdn;
	struct mkey **windows;
};

/**
 * struct window_bind - parameters of a bind, from the work request
 */
struct window_bind {
	uint64_t addr;
	uint64_t length;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t new_rkey;
	uint8_t access;
};

/* Bind @window.  Returns 0, or OHCA_VENDOR_ERR_* and changes nothing. */
int window_bind(struct hca *hca, const struct mw_owner *owner, const struct window_bind *bind);

/* Does nothing if the window is not bound. */
void window_unbind(struct mkey *window);

/*
 * Unbind the windows of a list of struct mw_owner, until @end (loop_clock()), some in any case.  Returns whether all are
 * unbound.
 */
bool window_unbind_all(struct mkey **windows, uint64_t end);

#endif
