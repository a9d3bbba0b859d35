// SPDX-License-Identifier: GPL-2.0
/* First inputs of the target "ib_packets": a link that comes up, and packets of all kinds. */

#include <endian.h>

#include "fabric/ib_port.h"
#include "ib_packets_input.h"
#include "mad_request.h"
#include "packet/ib.h"
#include "packet/pm_attr.h"
#include "packet/sm_attr.h"
#include "rig.h"
#include "target.h"

static struct seed seed;

static void put(uint8_t kind, uint8_t qp, const void *bytes, size_t len)
{
	const struct ib_packets_record rec = {.kind = kind, .qp = qp, .len = htole16(len)};

	seed_put(&seed, &rec, sizeof(rec));
	if (bytes)
		seed_put(&seed, bytes, len);
}

/* What is after the magic number: the other side polls, in its training 1, and has heard our number. */
static void put_hello(uint8_t flags)
{
	const uint8_t hello[16] = {2, flags, 3, 7, 3, [11] = 1};
	const struct ib_packets_record rec = {.kind = IB_PACKETS_HELLO};

	seed_put(&seed, &rec, sizeof(rec));
	seed_put(&seed, hello, sizeof(hello));
}

static void put_send(uint8_t qp, uint8_t opcode, uint16_t len)
{
	const struct ib_packets_record rec = {
		.kind = IB_PACKETS_SEND, .qp = qp, .psn = opcode, .len = htole16(len)};

	seed_put(&seed, &rec, sizeof(rec));
}

static void begin(void)
{
	seed.len = 0;
	put_hello(1);
	put(IB_PACKETS_PORT, IB_PORT_ARMED, NULL, 0);
	put(IB_PACKETS_PORT, IB_PORT_ACTIVE, NULL, 0);
}

static void put_packet(uint8_t service, uint8_t qp, uint8_t op, uint8_t flags, uint32_t len,
		       bool mcast)
{
	static const uint8_t sgid[16] = {0xfe, 0x80, [15] = 1};
	static const struct pkt_atomic atomic = {
		.compare_add = 1, .swap = 2, .mask = ~0ULL, .swap_mask = ~0ULL};
	static uint8_t data[PKT_MAX_MTU], packet[IB_MAX_PACKET];
	const struct ohca_av av = {
		.dgid = {0xff, 0x12},
		.ib.dlid = htole16(mcast ? IB_PACKETS_MLID : IB_PACKETS_LID),
	};
	const struct ib_path path = {
		.av = &av,
		.sgid = mcast ? sgid : NULL,
		.slid = IB_PACKETS_PEER_LID,
		.bth = {.service = service,
			.pkey = PKEY_DEFAULT,
			.dest_qpn = QPN_MCAST,
			.qkey = qp == IB_PACKETS_GSI ? QKEY_GSI : RIG_QKEY,
			.src_qpn = IB_PACKETS_PEER_QPN},
	};
	struct iovec iov = {data, len};
	struct iov_pos payload = {.iov = &iov};
	const struct pkt pkt = {
		.op = op,
		.flags = flags | PKT_ACK_REQ,
		.npsn = 1,
		.atomic = &atomic,
		.va = 0x7f0000000100ULL,
		.dma_len = len,
		.syndrome = AETH_ACK_NO_CREDITS,
		.iov = &iov,
		.num = 1,
		.len = len,
	};
	uint32_t size = ib_encode(packet, &path, &pkt, &payload);

	put(IB_PACKETS_PACKET | (mcast ? 0 : IB_PACKETS_TO_QP | IB_PACKETS_IN_ORDER), qp, packet,
	    size);
}

#define ONLY (PKT_FIRST | PKT_LAST)

/* Every operation, to a connected QP that has sent something too */
static void connected(uint8_t service, uint8_t qp,
		      void (*emit)(const char *name, const struct seed *seed))
{
	static const uint8_t flags[] = {ONLY, ONLY | PKT_IMM, PKT_FIRST, 0, PKT_LAST};
	char name[32];
	unsigned int op, i;

	for (op = PKT_SEND; op <= PKT_ACK; op++) {
		if (service == BTH_UC && op > PKT_WRITE)
			break;
		begin();
		put_send(qp, op == PKT_READ_RESP ? OHCA_OP_RDMA_READ : OHCA_OP_SEND, 2600);
		for (i = 0; i < (op <= PKT_WRITE || op == PKT_READ_RESP ? 5 : 1); i++) {
			if (op == PKT_READ_RESP && flags[i] & PKT_IMM)
				continue;
			put_packet(service, qp, op, flags[i], 1024, false);
		}
		snprintf(name, sizeof(name), "%s-op%u", service == BTH_UC ? "uc" : "rc", op);
		emit(name, &seed);
	}
}

static void datagrams(void (*emit)(const char *name, const struct seed *seed))
{
	begin();
	put_packet(BTH_UD, IB_PACKETS_UD, PKT_SEND, ONLY, 100, false);
	put_packet(BTH_UD, IB_PACKETS_UD, PKT_SEND, ONLY | PKT_IMM, 100, false);
	put_packet(BTH_UD, IB_PACKETS_GSI, PKT_SEND, ONLY, MAD_LEN, false);
	put_packet(BTH_UD, IB_PACKETS_UD, PKT_SEND, ONLY, 100, true);
	emit("ud", &seed);
}

static void put_mad(struct mad_packet *p, uint16_t dlid, uint32_t qpn)
{
	uint8_t packet[IB_MAX_PACKET];

	p->slid = IB_PACKETS_PEER_LID;
	p->dlid = dlid;
	p->src_qpn = qpn;
	p->dest_qpn = qpn;
	put(IB_PACKETS_PACKET, 0, packet, ib_encode_mad(packet, p));
}

/* The agents of the switch and of the HCA, and the wrong lane */
static void management(void (*emit)(const char *name, const struct seed *seed))
{
	static const uint8_t to_switch[] = {2, 0}, to_hca[] = {2, 1, 0};
	struct mad_packet p;

	begin();
	p = ib_request(MAD_GET, SM_NODE_INFO, 0, to_switch);
	p.hdr.hop_ptr = 1;
	put_mad(&p, LID_PERMISSIVE, QPN_SMI);
	p = ib_request(MAD_GET, SM_PORT_INFO, 0, to_hca);
	p.hdr.hop_ptr = 1;
	put_mad(&p, LID_PERMISSIVE, QPN_SMI);
	p = mad_request(MAD_CLASS_SM_LID, MAD_GET, SM_SWITCH_INFO, 0);
	put_mad(&p, IB_PACKETS_SWITCH_LID, QPN_SMI);
	p = mad_request(MAD_CLASS_PM, MAD_GET, PM_PORT_COUNTERS, 0);
	put_mad(&p, IB_PACKETS_SWITCH_LID, QPN_GSI);
	emit("mads", &seed);
}

/* The link comes and goes. */
static void links(void (*emit)(const char *name, const struct seed *seed))
{
	begin();
	put_hello(0);
	put_hello(1);
	put(IB_PACKETS_PORT, 1, NULL, 0);
	put_hello(1);
	put(IB_PACKETS_PORT, 0, NULL, 0);
	put_hello(1);
	put(IB_PACKETS_TIME, 0, NULL, 10000);
	emit("links", &seed);
}

void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed))
{
	connected(BTH_RC, IB_PACKETS_RC, emit);
	connected(BTH_UC, IB_PACKETS_UC, emit);
	datagrams(emit);
	management(emit);
	links(emit);
}
