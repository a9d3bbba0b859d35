// SPDX-License-Identifier: GPL-2.0
/* Capture files, read back. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pcapng_file.h"

/* Numbers have the byte order of the host that wrote the file, which is this one. */
static uint16_t get16(const uint8_t *at)
{
	uint16_t val;

	memcpy(&val, at, sizeof(val));
	return val;
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t val;

	memcpy(&val, at, sizeof(val));
	return val;
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t val;

	memcpy(&val, at, sizeof(val));
	return val;
}

/**
 * struct option - an option of a block; the next one is at @next, before @end
 */
struct option {
	uint16_t code, len;
	const uint8_t *value;
	const uint8_t *next, *end;
};

/* False: there are no more options. */
static bool next_option(struct option *opt)
{
	uint16_t head[2];

	if (opt->next == opt->end)
		return false;
	assert_true(opt->end - opt->next >= 4);
	memcpy(head, opt->next, 4);
	opt->code = head[0];
	opt->len = head[1];
	opt->value = opt->next + 4;
	if (!opt->code) {
		assert_int_equal(opt->len, 0);
		assert_ptr_equal(opt->value, opt->end);
		return false;
	}
	opt->next = opt->value + (opt->len + 3) / 4 * 4;
	assert_true(opt->next <= opt->end);
	for (const uint8_t *pad = opt->value + opt->len; pad < opt->next; pad++)
		assert_int_equal(*pad, 0);
	return true;
}

static void text_of(char *text, const struct option *opt)
{
	assert_in_range(opt->len, 1, 255);
	memcpy(text, opt->value, opt->len);
	text[opt->len] = '\0';
}

static uint64_t number_of(const struct option *opt)
{
	assert_int_equal(opt->len, 8);
	return get64(opt->value);
}

static void read_section(struct pf *pf, const uint8_t *body, const uint8_t *end)
{
	struct option opt = {.next = body + 16, .end = end};

	assert_int_equal(get32(body), 0x1a2b3c4d);
	assert_int_equal(get16(body + 4), 1);
	assert_int_equal(get16(body + 6), 0);
	assert_true(get64(body + 8) == ~0ULL);
	while (next_option(&opt)) {
		switch (opt.code) {
		case 2:
			text_of(pf->hardware, &opt);
			break;
		case 3:
			text_of(pf->os, &opt);
			break;
		case 4:
			text_of(pf->program, &opt);
			break;
		default:
			fail();
		}
	}
}

static void read_interface(struct pf *pf, const uint8_t *body, const uint8_t *end)
{
	struct option opt = {.next = body + 8, .end = end};
	struct pf_if *to = &pf->ifs[pf->num_ifs++];
	bool ns = false;

	assert_true(pf->num_ifs <= PF_MAX_IFS);
	to->link = get16(body);
	assert_int_equal(get16(body + 2), 0);
	assert_true(to->link == PF_ETHERNET || to->link == PF_ERF);
	to->snaplen = get32(body + 4);
	while (next_option(&opt)) {
		switch (opt.code) {
		case 2:
			text_of(to->name, &opt);
			break;
		case 6:
			assert_int_equal(opt.len, 6);
			to->has_mac = true;
			memcpy(to->mac, opt.value, 6);
			break;
		case 9:
			assert_int_equal(opt.len, 1);
			ns = *opt.value == 9;
			break;
		default:
			fail();
		}
	}
	assert_true(ns);
	assert_true(*to->name);
}

/* The record of a packet has one ERF header of type 21, which is InfiniBand. */
static void check_erf(const struct pf_packet *p)
{
	assert_true(p->caplen > PF_ERF_LEN);
	assert_int_equal(p->data[8], 21);
	assert_int_equal(p->data[10] << 8 | p->data[11], p->caplen);
	assert_int_equal(p->data[14] << 8 | p->data[15], p->len - PF_ERF_LEN);
}

static void read_packet(struct pf *pf, const uint8_t *body, const uint8_t *end)
{
	struct pf_packet *p;
	struct option opt = {.end = end};
	bool flags = false;

	pf->packets = realloc(pf->packets, (pf->num + 1) * sizeof(*p));
	assert_non_null(pf->packets);
	p = &pf->packets[pf->num++];
	memset(p, 0, sizeof(*p));
	p->iface = get32(body);
	p->time = (uint64_t)get32(body + 4) << 32 | get32(body + 8);
	p->caplen = get32(body + 12);
	p->len = get32(body + 16);
	p->data = body + 20;
	assert_true(p->iface < pf->num_ifs);
	assert_true(p->caplen <= p->len && p->caplen <= (size_t)(end - p->data));
	pf->ifs[p->iface].packets++;
	if (pf->ifs[p->iface].link == PF_ERF)
		check_erf(p);
	/* Padding is zero. */
	for (opt.next = p->data + p->caplen; (opt.next - p->data) % 4; opt.next++)
		assert_int_equal(*opt.next, 0);
	while (next_option(&opt)) {
		if (opt.code == 2) {
			assert_int_equal(opt.len, 4);
			flags = true;
			p->dir = get32(opt.value) & 3;
			p->to = get32(opt.value) >> 2;
		} else {
			assert_int_equal(opt.code, 4);
			p->dropped = number_of(&opt);
			assert_true(p->dropped);
		}
	}
	assert_true(flags);
}

static void read_statistics(struct pf *pf, const uint8_t *body, const uint8_t *end)
{
	struct option opt = {.next = body + 12, .end = end};
	struct pf_if *of = &pf->ifs[get32(body)];

	assert_true(get32(body) < pf->num_ifs && !of->stats);
	of->stats = true;
	while (next_option(&opt)) {
		if (opt.code == 4) {
			of->seen = number_of(&opt);
		} else {
			assert_int_equal(opt.code, 5);
			of->dropped = number_of(&opt);
		}
	}
}

static void read_block(struct pf *pf, const uint8_t *block, uint32_t len)
{
	const uint8_t *body = block + 8, *end = block + len - 4;
	uint32_t type = get32(block);

	switch (type) {
	case 0x0a0d0d0a:
		assert_ptr_equal(block, pf->bytes);
		read_section(pf, body, end);
		break;
	case 1:
		read_interface(pf, body, end);
		break;
	case 5:
		read_statistics(pf, body, end);
		break;
	default:
		assert_int_equal(type, 6);
		read_packet(pf, body, end);
	}
}

struct pf *pf_read(const char *path)
{
	struct pf *pf = calloc(1, sizeof(*pf));
	FILE *f = fopen(path, "r");
	size_t at;

	assert_non_null(pf);
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	pf->size = ftell(f);
	rewind(f);
	pf->bytes = malloc(pf->size + 1);
	assert_non_null(pf->bytes);
	assert_int_equal(fread(pf->bytes, 1, pf->size, f), pf->size);
	fclose(f);
	for (at = 0; at < pf->size;) {
		uint32_t len;

		assert_true(pf->size - at >= 12);
		len = get32(pf->bytes + at + 4);
		assert_int_equal(len % 4, 0);
		assert_true(len >= 12 && len <= pf->size - at);
		assert_int_equal(get32(pf->bytes + at + len - 4), len);
		read_block(pf, pf->bytes + at, len);
		at += len;
	}
	return pf;
}

void pf_free(struct pf *pf)
{
	free(pf->packets);
	free(pf->bytes);
	free(pf);
}

unsigned int pf_find(const struct pf *pf, const char *name)
{
	unsigned int i = 0;

	while (i < pf->num_ifs && strcmp(pf->ifs[i].name, name))
		i++;
	assert_true(i < pf->num_ifs);
	return i;
}
