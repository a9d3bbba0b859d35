/* SPDX-License-Identifier: GPL-2.0 */
/* Speeds and widths of InfiniBand links (specification volume 1, 14.2.5.6). */

#ifndef OHCAD_IB_SPEED_H
#define OHCAD_IB_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ib_speeds - supported, enabled or active widths and speeds: bits of PortInfo's LinkWidth, LinkSpeed and LinkSpeedExt
 */
struct ib_speeds {
	uint8_t width, speed, ext;
};

/* 4x, and all speeds up to EDR */
extern const struct ib_speeds ib_speeds_default;

/* The speed of this name, SDR to NDR, and all slower ones.  False: there is no such speed. */
bool ib_speed_parse(struct ib_speeds *speeds, const char *text);
/* The width of this number of lanes, 1, 2, 4, 8 or 12, and all smaller ones.  False: there is no such width. */
bool ib_width_parse(struct ib_speeds *speeds, const char *text);

/* The highest width and speed that both have.  False: there is none. */
bool ib_speeds_best(const struct ib_speeds *a, const struct ib_speeds *b, struct ib_speeds *best);
/* Bits of CapabilityMask2 for the supported widths and speeds */
uint16_t ib_speeds_caps(const struct ib_speeds *supported);

/* The name of the speed, and the number of lanes, of a link with @active */
const char *ib_speed_name(const struct ib_speeds *active);
unsigned int ib_width_lanes(const struct ib_speeds *active);
/* Its data rate without the overhead of the line coding, Mb/s */
uint32_t ib_speeds_rate(const struct ib_speeds *active);
/* The data rate of a static rate, as numbered by enum ib_rate, Mb/s; 0: no limit */
uint32_t ib_static_rate(uint8_t rate);

#endif
