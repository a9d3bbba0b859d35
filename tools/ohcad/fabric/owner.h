/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose the MAC addresses and GIDs of a fabric are: the security of its Ethernet ports.  An HCA has addresses that it was
 * configured with, and further ones that it has used first, up to a limit.  Nobody else may use them.
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
 * struct owner_options - the command line's part of an HCA
 * @macs: @num_macs MAC addresses that are its own, besides those of its ports
 * @gids: @num_gids GIDs that are its own, besides those that are made of MAC addresses
 * @learn: MAC addresses that it may learn; 0: OWNER_LEARN, -1: none
 * @trust_all: it may use all addresses, also those of others
 * @mirror: its ports see what is for others, in promiscuous mode and by flows
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
 * struct owner_answer - an answer of owner_of_gid(), good while @gen is the fabric's
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
 * @at: the port at which it was seen last; NULL: at none
 * @uses: port.mac and GIDs that have it
 * @seen: when it was used last; of no matter while it is configured or has @uses
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
 * struct owner - an HCA as an owner of addresses: hca->owner
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

/* The HCA has its ports, and is in the fabric, as an owner.  Returns 0 or -ENOMEM, and then it is none. */
int owner_new(struct hca *hca, const struct owner_options *opts);
void owner_free(struct hca *hca);
/* The HCA is reset: it has only the addresses that it is configured with. */
void owner_reset(struct hca *hca);

/*
 * The port uses the MAC address from now on, as its own or of a GID, until owner_release().  Returns 0, -EBUSY if it is
 * another HCA's or one behind an uplink, -ENOSPC if the HCA has learned too many, or -ENOMEM.
 */
int owner_hold(struct port *port, const uint8_t mac[6]);
void owner_release(struct port *port, const uint8_t mac[6]);

/* May the port have this GID: does it not belong to another HCA? */
bool owner_may_have_gid(const struct port *port, const uint8_t gid[16]);
/*
 * The HCA that @gid in @vlan belongs to: by configuration, or as one of its ports has it, active or not; else NULL.  If
 * several have it, one of them.
 */
const struct hca *owner_of_gid(struct fabric *fabric, const uint8_t gid[16], uint16_t vlan);

/* May a frame from this address, not port->mac, leave the port?  The address is learned, or the frame counted. */
bool owner_admits_other(struct port *port, const uint8_t smac[6]);

/* The same for any address */
static inline bool owner_admits(struct port *port, const uint8_t smac[6])
{
	return !memcmp(smac, port->mac, 6) || owner_admits_other(port, smac);
}

/*
 * The frame that leaves the process from @src is a RoCE packet whose source GID is another HCA's: it has come from
 * software.  It is counted.
 */
bool owner_is_forged(struct port *src, const struct iovec *iov, unsigned int num);

/* Is the address one of this process? */
bool owner_knows(const struct fabric *fabric, const uint8_t mac[6]);

/*
 * Does a frame to this address, neither a group nor port->mac, come to the port, as a switch sends it?  That is one that
 * the port's HCA has, and one that nobody is known to have.
 */
bool owner_hears(const struct port *port, const uint8_t dmac[6]);

/* Count an address that was refused to a port, and log the first for a while. */
void owner_refuse(struct port *port, uint64_t *count, const char *what, const uint8_t mac[6]);

#endif
