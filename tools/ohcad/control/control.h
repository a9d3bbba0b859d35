/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control socket: a JSON object per line each way; Documentation/control.rst describes it.
 * control.c has the socket and its clients, control_exec.c the table of commands and their
 * execution, control_cmd.c what the commands share.  The other control_*.c are the commands.
 */

#ifndef OHCAD_CONTROL_H
#define OHCAD_CONTROL_H

#include <stddef.h>

#include "base/loop.h"
#include "base/unix_listen.h"

struct control;
struct fabric;
struct hca;

#define CONTROL_MAX_LINE 65536 /* bytes of a request, newline included */
#define CONTROL_MAX_UNREAD (1U << 20) /* bytes of replies that a client may leave unread */
#define CONTROL_MAX_CLIENTS 16

/**
 * struct control_env - what commands can access
 * @hcas: @num_hcas of them
 */
struct control_env {
	struct loop *loop;
	struct fabric *fabric;
	struct hca *const *hcas;
	unsigned int num_hcas;
};

/* Listen on @path, for those that have @access; @env must stay where it is.  Returns NULL and logs on failure; errno is set. */
struct control *control_new(struct loop *loop, const char *path, const struct unix_access *access,
			    const struct control_env *env);
void control_free(struct control *control);

#endif
