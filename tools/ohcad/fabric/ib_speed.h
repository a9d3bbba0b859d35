/* SPDX-License-Identifier: GPL-2.0 */
/* Speeds and widths of InfiniBand links (specification volume 1, 14.2.5.6). */

#ifndef OHCAD_IB_SPEED_H
#define OHCAD_IB_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ib_speeds - what a link may be, or is: bits of PortInfo's LinkWidth, LinkSpeed and LinkSpeedExt
 */
struct ib_speeds {
	uint8_t width, speed, ext;
};

/* 4x EDR and all below */
extern const struct ib_speeds ib_speeds_default;

/* The speed of this name, SDR to NDR, and all slower ones.  False: there is no such speed. */
bool ib_speed_parse(struct ib_speeds *speeds, const char *text);
/* The width of this number of lanes, 1, 2, 4, 8 or 12, and all smaller ones.  False: there is no such width. */
bool ib_width_parse(struct ib_speeds *speeds, const char *text);

/* The fastest that both have.  False: there is nothing. */
bool ib_speeds_best(const struct ib_speeds *a, const struct ib_speeds *b, struct ib_speeds *best);
/* CapabilityMask2's bits for what a link may be */
uint16_t ib_speeds_caps(const struct ib_speeds *supported);

/* Of a link that is @active: the speed's name, and the number of lanes */
const char *ib_speed_name(const struct ib_speeds *active);
unsigned int ib_width_lanes(const struct ib_speeds *active);
/* And its data rate: without what the encoding of the bits takes; Mb/s */
uint32_t ib_speeds_rate(const struct ib_speeds *active);
/* The same of a static rate, in the numbers of enum ib_rate; 0: no limit */
uint32_t ib_static_rate(uint8_t rate);

#endif
