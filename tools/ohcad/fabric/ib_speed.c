// SPDX-License-Identifier: GPL-2.0
/* Speeds and widths of InfiniBand links. */

#include <stdio.h>
#include <string.h>

#include "fabric/ib_speed.h"
#include "packet/sm_attr.h"

#define NUM(array) (sizeof(array) / sizeof((array)[0]))

/**
 * struct speed - a speed
 * @speed, @ext: its bit of LinkSpeed or of LinkSpeedExt
 * @rate: data of a lane, Mb/s
 */
static const struct speed {
	const char *name;
	uint8_t speed, ext;
	uint32_t rate;
} speeds[] = {
	{"SDR", PORT_SPEED_SDR, 0, 2000},	{"DDR", PORT_SPEED_DDR, 0, 4000},
	{"QDR", PORT_SPEED_QDR, 0, 8000},	{"FDR", 0, PORT_SPEED_EXT_FDR, 13636},
	{"EDR", 0, PORT_SPEED_EXT_EDR, 25000},	{"HDR", 0, PORT_SPEED_EXT_HDR, 50000},
	{"NDR", 0, PORT_SPEED_EXT_NDR, 100000},
};

/* The bits are not in the order of the numbers of lanes. */
static const struct width {
	uint8_t bit;
	uint8_t lanes;
} widths[] = {
	{PORT_WIDTH_1X, 1}, {PORT_WIDTH_2X, 2},	  {PORT_WIDTH_4X, 4},
	{PORT_WIDTH_8X, 8}, {PORT_WIDTH_12X, 12},
};

const struct ib_speeds ib_speeds_default = {
	.width = PORT_WIDTH_1X | PORT_WIDTH_2X | PORT_WIDTH_4X,
	.speed = PORT_SPEED_SDR | PORT_SPEED_DDR | PORT_SPEED_QDR,
	.ext = PORT_SPEED_EXT_FDR | PORT_SPEED_EXT_EDR,
};

bool ib_speed_parse(struct ib_speeds *to, const char *text)
{
	unsigned int i;

	to->speed = 0;
	to->ext = 0;
	for (i = 0; i < NUM(speeds); i++) {
		to->speed |= speeds[i].speed;
		to->ext |= speeds[i].ext;
		if (!strcmp(text, speeds[i].name))
			return true;
	}
	return false;
}

bool ib_width_parse(struct ib_speeds *to, const char *text)
{
	unsigned int i;
	char name[4];

	to->width = 0;
	for (i = 0; i < NUM(widths); i++) {
		to->width |= widths[i].bit;
		snprintf(name, sizeof(name), "%u", widths[i].lanes);
		if (!strcmp(text, name))
			return true;
	}
	return false;
}

static uint8_t highest(uint8_t bits)
{
	return bits ? 1 << (31 - __builtin_clz(bits)) : 0;
}

static uint8_t widest(uint8_t bits)
{
	unsigned int i = NUM(widths);

	while (i--) {
		if (bits & widths[i].bit)
			return widths[i].bit;
	}
	return 0;
}

bool ib_speeds_best(const struct ib_speeds *a, const struct ib_speeds *b, struct ib_speeds *best)
{
	best->width = widest(a->width & b->width);
	best->speed = highest(a->speed & b->speed);
	best->ext = highest(a->ext & b->ext);
	return best->width && (best->speed || best->ext);
}

uint16_t ib_speeds_caps(const struct ib_speeds *supported)
{
	return (supported->width & PORT_WIDTH_2X ? PORT_CAP2_WIDTH_2X : 0) |
	       (supported->ext & PORT_SPEED_EXT_HDR ? PORT_CAP2_HDR : 0) |
	       (supported->ext & PORT_SPEED_EXT_NDR ? PORT_CAP2_NDR : 0);
}

static const struct speed *speed_of(const struct ib_speeds *active)
{
	unsigned int i = NUM(speeds) - 1;

	while (i && !(active->speed & speeds[i].speed) && !(active->ext & speeds[i].ext))
		i--;
	return &speeds[i];
}

const char *ib_speed_name(const struct ib_speeds *active)
{
	return speed_of(active)->name;
}

unsigned int ib_width_lanes(const struct ib_speeds *active)
{
	unsigned int i = NUM(widths) - 1;

	while (i && active->width != widths[i].bit)
		i--;
	return widths[i].lanes;
}

uint32_t ib_speeds_rate(const struct ib_speeds *active)
{
	return speed_of(active)->rate * ib_width_lanes(active);
}

uint32_t ib_static_rate(uint8_t rate)
{
	static const uint32_t rates[] = {
		[2] = 2000,    [3] = 8000,    [4] = 24000,    [5] = 4000,     [6] = 16000,
		[7] = 32000,   [8] = 48000,   [9] = 64000,    [10] = 96000,   [11] = 13636,
		[12] = 54544,  [13] = 109088, [14] = 163632,  [15] = 25000,   [16] = 100000,
		[17] = 200000, [18] = 300000, [19] = 27272,   [20] = 50000,   [21] = 400000,
		[22] = 600000, [23] = 800000, [24] = 1200000, [25] = 1600000,
	};

	return rate < NUM(rates) ? rates[rate] : 0;
}
