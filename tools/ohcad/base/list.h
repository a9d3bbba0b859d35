/* SPDX-License-Identifier: GPL-2.0 */
/* Doubly linked lists through nodes embedded in their objects. */

#ifndef OHCAD_LIST_H
#define OHCAD_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define list_entry(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))

/* A head, or a node that is in no list. */
static inline void list_init(struct list *node)
{
	node->next = node;
	node->prev = node;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/* Move all nodes of a list to the end of another one. */
static inline void list_move_all(struct list *head, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	list_init(from);
}

/* A node that is in no list stays as it is. */
static inline void list_del(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

#endif
