/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: tracepoints of commands, events, and changes of state.  Numbers are those of the
 * hardware interface.
 */

#undef TRACE_SYSTEM
#define TRACE_SYSTEM ohca

#if !defined(_OHCA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _OHCA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "ohca.h"
#include "ohca_compat.h"

/* clang-format off */

/* A command was posted. */
TRACE_EVENT(ohca_cmd_post,
	    TP_PROTO(const struct ohca_dev *dev, u16 opcode, u16 tag),
	    TP_ARGS(dev, opcode, tag),
	    TP_STRUCT__entry(__string(name, pci_name(dev->pdev))
			     __field(u16, opcode)
			     __field(u16, tag)
	    ),
	    TP_fast_assign(OHCA_COMPAT_ASSIGN_STR(name, pci_name(dev->pdev));
			   __entry->opcode = opcode;
			   __entry->tag = tag;
	    ),
	    TP_printk("%s: command 0x%02x tag %u", __get_str(name), __entry->opcode, __entry->tag)
);

/* A command has ended; a negative status is an errno. */
TRACE_EVENT(ohca_cmd_done,
	    TP_PROTO(const struct ohca_dev *dev, u16 opcode, u16 tag, int status,
		     u32 syndrome),
	    TP_ARGS(dev, opcode, tag, status, syndrome),
	    TP_STRUCT__entry(__string(name, pci_name(dev->pdev))
			     __field(u16, opcode)
			     __field(u16, tag)
			     __field(int, status)
			     __field(u32, syndrome)
	    ),
	    TP_fast_assign(OHCA_COMPAT_ASSIGN_STR(name, pci_name(dev->pdev));
			   __entry->opcode = opcode;
			   __entry->tag = tag;
			   __entry->status = status;
			   __entry->syndrome = syndrome;
	    ),
	    TP_printk("%s: command 0x%02x tag %u status %d syndrome 0x%x", __get_str(name),
		      __entry->opcode, __entry->tag, __entry->status, __entry->syndrome)
);

/* An event was taken. */
TRACE_EVENT(ohca_event,
	    TP_PROTO(const struct ohca_dev *dev, u8 type, u32 id),
	    TP_ARGS(dev, type, id),
	    TP_STRUCT__entry(__string(name, pci_name(dev->pdev))
			     __field(u8, type)
			     __field(u32, id)
	    ),
	    TP_fast_assign(OHCA_COMPAT_ASSIGN_STR(name, pci_name(dev->pdev));
			   __entry->type = type;
			   __entry->id = id;
	    ),
	    TP_printk("%s: event 0x%02x id 0x%x", __get_str(name), __entry->type, __entry->id)
);

/* Software moved a QP to another state. */
TRACE_EVENT(ohca_qp_state,
	    TP_PROTO(const struct ohca_dev *dev, u32 qpn, int from, int to),
	    TP_ARGS(dev, qpn, from, to),
	    TP_STRUCT__entry(__string(name, pci_name(dev->pdev))
			     __field(u32, qpn)
			     __field(int, from)
			     __field(int, to)
	    ),
	    TP_fast_assign(OHCA_COMPAT_ASSIGN_STR(name, pci_name(dev->pdev));
			   __entry->qpn = qpn;
			   __entry->from = from;
			   __entry->to = to;
	    ),
	    TP_printk("%s: QP %u from %d to %d", __get_str(name), __entry->qpn, __entry->from,
		      __entry->to)
);

/* The link came up or went down. */
TRACE_EVENT(ohca_link,
	    TP_PROTO(const struct ohca_dev *dev, u8 port, bool up),
	    TP_ARGS(dev, port, up),
	    TP_STRUCT__entry(__string(name, pci_name(dev->pdev))
			     __field(u8, port)
			     __field(bool, up)
	    ),
	    TP_fast_assign(OHCA_COMPAT_ASSIGN_STR(name, pci_name(dev->pdev));
			   __entry->port = port;
			   __entry->up = up;
	    ),
	    TP_printk("%s: port %u link %s", __get_str(name), __entry->port,
		      __entry->up ? "up" : "down")
);

/* The device was fenced. */
TRACE_EVENT(ohca_fence,
	    TP_PROTO(const struct ohca_dev *dev, const char *reason, u32 status),
	    TP_ARGS(dev, reason, status),
	    TP_STRUCT__entry(__string(name, pci_name(dev->pdev))
			     __string(reason, reason)
			     __field(u32, status)
	    ),
	    TP_fast_assign(OHCA_COMPAT_ASSIGN_STR(name, pci_name(dev->pdev));
			   OHCA_COMPAT_ASSIGN_STR(reason, reason);
			   __entry->status = status;
	    ),
	    TP_printk("%s: %s, status 0x%x", __get_str(name), __get_str(reason), __entry->status)
);

/* clang-format on */

#endif /* _OHCA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
