// SPDX-License-Identifier: GPL-2.0
/* A large packet of TCP, and the segments that come of it. */

#include <string.h>

#include "inet_sum.h"
#include "tcp_packet.h"

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

/* Sum of the pseudo header of @f with @len bytes of TCP. */
static uint32_t pseudo(const struct tcp_packet *f, uint32_t len)
{
	return sum16(f->bytes + f->ip + (f->v6 ? 8 : 12), f->v6 ? 32 : 8) + 6 + len;
}

/* The headers as they are after segmentation, but for the checksum of TCP. */
static void set_ip_len(const struct tcp_packet *f, uint8_t *bytes, uint32_t len)
{
	uint8_t *ip = bytes + f->ip;

	if (f->v6) {
		put16(ip + 4, len - f->ip - 40);
		return;
	}
	put16(ip + 2, len - f->ip);
	put16(ip + 10, 0);
	put16(ip + 10, ~fold(sum16(ip, f->tcp - f->ip)));
}

void tcp_packet_make(struct tcp_packet *f, const struct tcp_shape *s, const uint8_t *link,
		     unsigned int link_len)
{
	uint8_t *ip, *tcp;
	unsigned int i;

	f->v6 = s->v6;
	f->ip = link_len;
	f->tcp = f->ip + (s->v6 ? 40 : 20) + s->ip_more;
	f->hdr_len = f->tcp + 20 + s->options;
	f->len = f->hdr_len + s->data;
	f->mss = s->mss;
	for (i = 0; i < f->len; i++)
		f->bytes[i] = i * 7 + i / 251 + s->data;
	memcpy(f->bytes, link, link_len);

	ip = f->bytes + f->ip;
	tcp = f->bytes + f->tcp;
	if (s->v6) {
		ip[0] = 0x60;
		ip[6] = s->ip_more ? 60 : 6;
	} else {
		ip[0] = 0x40 | (20 + s->ip_more) / 4;
		put16(ip + 4, 0xfffe);
		put16(ip + 6, 0x4000);
		ip[9] = 6;
	}
	set_ip_len(f, f->bytes, f->len);
	put32(tcp + 4, 0xfffff000);
	tcp[12] = (20 + s->options) / 4 << 4;
	tcp[13] = s->tcp_flags;
	put16(tcp + 16, fold(pseudo(f, f->len - f->tcp)));
}

uint32_t tcp_packet_segment(const struct tcp_packet *f, unsigned int index, uint8_t *bytes)
{
	uint32_t off = index * f->mss, left = f->len - f->hdr_len - off;
	uint32_t data = left < f->mss ? left : f->mss, len = f->hdr_len + data;
	uint8_t *tcp = bytes + f->tcp;

	memcpy(bytes, f->bytes, f->hdr_len);
	memcpy(bytes + f->hdr_len, f->bytes + f->hdr_len + off, data);
	if (!f->v6)
		put16(bytes + f->ip + 4, get16(f->bytes + f->ip + 4) + index);
	set_ip_len(f, bytes, len);
	put32(tcp + 4, get32(f->bytes + f->tcp + 4) + off);
	if (index)
		tcp[13] &= ~TCP_CWR;
	if (left > data)
		tcp[13] &= ~(TCP_FIN | TCP_PSH);
	put16(tcp + 16, 0);
	put16(tcp + 16, ~fold(pseudo(f, len - f->tcp) + sum16(tcp, len - f->tcp)));
	return len;
}

unsigned int tcp_packet_segments(const struct tcp_packet *f)
{
	return (f->len - f->hdr_len + f->mss - 1) / f->mss;
}
