// SPDX-License-Identifier: GPL-2.0
/* Requests to management agents. */

#include <endian.h>
#include <string.h>

#include "mad_request.h"

struct mad_packet mad_request(uint8_t class, uint8_t method, uint16_t attr, uint32_t mod)
{
	static uint64_t tid;
	struct mad_packet p = {.slid = LID_PERMISSIVE, .dlid = LID_PERMISSIVE};

	memset(p.mad, 0, sizeof(p.mad));
	p.hdr.base_version = MAD_BASE_VERSION;
	p.hdr.mgmt_class = class;
	p.hdr.class_version = 1;
	p.hdr.method = method;
	p.hdr.tid = htobe64(++tid);
	p.hdr.attr_id = htobe16(attr);
	p.hdr.attr_mod = htobe32(mod);
	return p;
}

struct mad_packet ib_request(uint8_t method, uint16_t attr, uint32_t mod, const uint8_t *route)
{
	struct mad_packet p = mad_request(MAD_CLASS_SM_DR, method, attr, mod);

	while (*route)
		p.smp.initial_path[++p.hdr.hop_cnt] = *route++;
	p.hdr.hop_ptr = 1;
	p.smp.dr_slid = htobe16(LID_PERMISSIVE);
	p.smp.dr_dlid = htobe16(LID_PERMISSIVE);
	return p;
}
