/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owners of MAC addresses and GIDs: the security of a fabric's Ethernet ports.  An HCA owns the addresses that are
 * configured for it, and addresses that it was the first to use, up to a limit.  Other HCAs may not use them.
 */

#ifndef OHCAD_OWNER_H
#define OHCAD_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "base/list.h"
#include "fabric/port.h"

struct fabric;

#define OWNER_LEARN 32 /* addresses that an HCA may learn by default */
#define OWNER_MAX_LEARN 1024
#define OWNER_MAX_TRUST 256 /* addresses that one is configured with, of each kind */

/**
 * struct owner_options - options of an HCA on the command line
 * @macs: @num_macs MAC addresses of the HCA, besides those of its ports
 * @gids: @num_gids GIDs of the HCA, besides those derived from MAC addresses
 * @learn: greatest number of learned MAC addresses; 0: OWNER_LEARN, -1: none
 * @trust_all: the HCA may use all addresses, including those of others
 * @mirror: promiscuous mode and flows of its ports receive unicast frames for others
 */
struct owner_options {
	uint8_t (*macs)[6];
	unsigned int num_macs;
	uint8_t (*gids)[16];
	unsigned int num_gids;
	int learn;
	bool trust_all;
	bool mirror;
};

#define OWNER_LOG_MACS 8

#define OWNER_LOG_ANSWERS 6

/**
 * struct owner_answer - a cached answer of owner_of_gid(), valid while @gen equals fabric->gen
 */
struct owner_answer {
	uint64_t gen;
	const struct hca *hca;
	uint8_t gid[16];
	uint16_t vlan;
};

/**
 * struct owners - the addresses of a fabric
 * @macs: struct owned_mac.in_table, hashed with @seed
 * @gids: struct owned_gid.in_table
 * @answers: recent ones, hashed by GID
 */
struct owners {
	struct list macs[1 << OWNER_LOG_MACS];
	struct list gids;
	struct owner_answer answers[1 << OWNER_LOG_ANSWERS];
	uint64_t seed;
};

/**
 * struct owned_mac - a MAC address of an HCA
 * @by_owner: in owner.configured, .held or .idle
 * @at: the port that used it last; NULL: none
 * @uses: number of GIDs with it, plus 1 if it is port.mac
 * @seen: time of the last use; ignored while it is configured or @uses is not 0
 */
struct owned_mac {
	struct list in_table, by_owner;
	struct owner *owner;
	struct port *at;
	uint64_t seen;
	unsigned int uses;
	bool configured;
	uint8_t mac[6];
};

/**
 * struct owner - addresses of an HCA: hca->owner
 * @configured, @held, @idle: its MAC addresses: configured; learned and in use by the port or a GID; seen in frames
 *	only, the one that was not seen for the longest time first
 * @num_learned: of @held and @idle, at most @max_learned
 */
struct owner {
	struct hca *hca;
	struct list configured, held, idle;
	unsigned int num_learned, max_learned;
	bool trust_all, mirror;
};

void owners_init(struct owners *owners);

/* Create hca->owner.  The HCA has its ports, and belongs to the fabric.  Returns 0 or -ENOMEM. */
int owner_new(struct hca *hca, const struct owner_options *opts);
void owner_free(struct hca *hca);
/* Reset: drop all learned addresses. */
void owner_reset(struct hca *hca);

/*
 * Claim a MAC address for the port or one of its GIDs, until owner_release().  Returns 0, -EBUSY if it belongs to another
 * HCA or was seen at an uplink, -ENOSPC if the HCA has learned too many, or -ENOMEM.
 */
int owner_hold(struct port *port, const uint8_t mac[6]);
void owner_release(struct port *port, const uint8_t mac[6]);

/* May the port have this GID?  False: it belongs to another HCA. */
bool owner_may_have_gid(const struct port *port, const uint8_t gid[16]);
/*
 * The HCA that @gid in @vlan belongs to: by configuration, or as one of its ports has it, active or not; else NULL.  If
 * several have it, one of them.
 */
const struct hca *owner_of_gid(struct fabric *fabric, const uint8_t gid[16], uint16_t vlan);

/* May the port send a frame from this address, not port->mac?  True: the address is learned; false: the frame is counted. */
bool owner_admits_other(struct port *port, const uint8_t smac[6]);

/* May the port send a frame from this address? */
static inline bool owner_admits(struct port *port, const uint8_t smac[6])
{
	return !memcmp(smac, port->mac, 6) || owner_admits_other(port, smac);
}

/*
 * Does a frame from @src to an uplink carry a RoCE packet with a source GID of another HCA?  Software has built it then, and it
 * is counted.
 */
bool owner_is_forged(struct port *src, const struct iovec *iov, unsigned int num);

/* Does the address belong to an HCA of this process? */
bool owner_knows(const struct fabric *fabric, const uint8_t mac[6]);

/*
 * Does a frame to this address, neither a group nor port->mac, come to the port, as a switch sends it?  That is one that
 * the port's HCA has, and one that nobody is known to have.
 */
bool owner_hears(const struct port *port, const uint8_t dmac[6]);

/* Count a refused address of a port, and log at most one of them per minute. */
void owner_refuse(struct port *port, uint64_t *count, const char *what, const uint8_t mac[6]);

#endif
