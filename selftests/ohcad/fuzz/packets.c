// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: frames received from an uplink; see packets_input.h. */

#include <endian.h>

#include "base/csum.h"
#include "fabric/fabric.h"
#include "inproc.h"
#include "net/wire.h"
#include "packet/roce.h"
#include "packets_input.h"
#include "records.h"
#include "rig_odp.h"
#include "scene.h"
#include "target.h"
#include "uplink_end.h"
#include "world.h"

#define ETH_IPV4 0x0800
#define ETH_IPV6 0x86dd
#define ETH_VLAN 0x8100
#define MAX_FRAME 9300 /* a little more than the device accepts */

static struct server *server;
static struct rig *rig;
static struct scene scene;

static void stop(void)
{
	rig_close(rig);
	server_stop(server);
}

/* Done once: a fabric with an uplink. */
static void start(void)
{
	struct fabric *fabric;

	server = server_start(1);
	fabric = inproc_fabric(0);
	if (wire_init(fabric, inproc_hca(0)->loop))
		abort();
	inproc_add_uplink(fabric, "stream=unix:/nowhere");
	rig = rig_open(server);
	atexit(stop);
}

static struct uplink *the_uplink(void)
{
	return list_entry(inproc_fabric(0)->uplinks->list.next, struct uplink, link);
}

/* The PSN that the QP expects of such a packet. */
static uint32_t expected_psn(const struct rig_qp *rig_qp, uint8_t opcode)
{
	const struct qp *qp = inproc_qp(rig_qp);
	const struct bth_op *op = bth_op(opcode >> 5, opcode);

	if (!qp || !qp_is(qp, QPT_CONNECTED))
		return 0;
	return op && pkt_is_response(op->op) ? rc_req(qp)->una : rc_resp(qp)->epsn;
}

static void put_transport(uint8_t *bth, const struct packets_record *rec)
{
	const struct rig_qp *qp = scene.qp[rec->qp % SCENE_NUM_QPS];

	if (rec->kind & PACKETS_TO_QP) {
		put_be16(bth + 2, PKEY_DEFAULT);
		put_be32(bth + 4, qp->qpn);
	}
	if (rec->kind & PACKETS_IN_ORDER) {
		uint32_t psn = (expected_psn(qp, bth[0]) + rec->psn) & 0xffffff;

		put_be32(bth + 8, (uint32_t)bth[8] << 24 | psn);
	}
}

/* @avail: available bytes from the network header on, which has @ip_len bytes */
static void fix_packet(uint8_t *ip, size_t avail, size_t ip_len, const struct packets_record *rec)
{
	const struct rig_qp *qp = scene.qp[rec->qp % SCENE_NUM_QPS];
	const uint8_t *from = qp->attr.av.dgid;
	uint8_t *udp = ip + ip_len;
	uint32_t crc;

	if (avail < ip_len + ROCE_UDP_LEN + BTH_LEN + ICRC_LEN)
		return;
	if (rec->kind & PACKETS_TO_QP && ip_len == ROCE_IPV4_LEN) {
		memcpy(ip + 12, from + 12, 4);
		memcpy(ip + 16, scene.hca->gid + 12, 4);
	} else if (rec->kind & PACKETS_TO_QP) {
		memcpy(ip + 8, from, 16);
		memcpy(ip + 24, from, 16);
		ip[39] = 1;
	}
	put_transport(udp + ROCE_UDP_LEN, rec);
	put_be16(udp + 4, avail - ip_len);
	if (ip_len == ROCE_IPV4_LEN) {
		put_be16(ip + 2, avail);
		put_be16(ip + 10, 0);
		put_be16(ip + 10, ~csum_fold(csum_add(0, ip, ip_len, false)));
	} else {
		put_be16(ip + 4, avail - ip_len);
	}
	crc = htole32(roce_icrc(ip, ip_len, avail - ICRC_LEN));
	memcpy(ip + avail - ICRC_LEN, &crc, sizeof(crc));
}

static void fix_frame(uint8_t *frame, size_t len, const struct packets_record *rec)
{
	size_t off = 14;
	uint16_t type;

	if (len < 18)
		return;
	if (rec->kind & PACKETS_TO_QP) {
		memcpy(frame, scene.hca->mac, 6);
		memcpy(frame + 6, scene.hca->mac, 6);
		frame[11] = PACKETS_PEER + 1;
	}
	type = get_be16(frame + 12);
	if (type == ETH_VLAN) {
		type = get_be16(frame + 16);
		off += 4;
	}
	if (type == ETH_IPV4)
		fix_packet(frame + off, len - off, ROCE_IPV4_LEN, rec);
	else if (type == ETH_IPV6)
		fix_packet(frame + off, len - off, ROCE_IPV6_LEN, rec);
}

/* The frame is in memory of exactly its length, so that a read beyond it is detected. */
static void receive(struct input *in, const struct packets_record *rec)
{
	size_t given = le16toh(rec->len), len;
	const uint8_t *bytes;
	uint8_t *frame;

	if (given > MAX_FRAME)
		given = MAX_FRAME;
	bytes = input_bytes(in, &given);
	len = given + rec->more * PACKETS_MORE;
	frame = calloc(1, len ?: 1);
	if (!frame)
		abort();
	if (given)
		memcpy(frame, bytes, given);
	if (!(rec->kind & PACKETS_RAW))
		fix_frame(frame, len, rec);
	uplink_receive(the_uplink(), frame, len);
	free(frame);
}

static void change_pages(const struct packets_record *rec)
{
	uint32_t len = le16toh(rec->len);
	uint64_t first = len % scene.odp->num_pages;
	uint64_t num = 1 + rec->more % (scene.odp->num_pages - first);

	if (rec->psn & 1)
		rig_odp_unmap(scene.odp, first, num);
	else if (rec->psn & 2)
		rig_odp_fail(scene.odp, first, num);
	else
		rig_odp_map(scene.odp, first, num, !(rec->psn & 4));
}

static void happen(struct input *in, const void *record)
{
	const struct packets_record *rec = record;
	unsigned int qp = rec->qp % SCENE_NUM_QPS;
	uint32_t len = le16toh(rec->len);

	switch (rec->kind % PACKETS_KINDS) {
	case PACKETS_SEND:
		scene_send(&scene, qp, rec->psn, len + rec->more * PACKETS_MORE);
		break;
	case PACKETS_RECV:
		scene_recv(&scene, qp, len);
		break;
	case PACKETS_TIME:
		world_sleep((uint64_t)len << (rec->more % 24));
		break;
	case PACKETS_PAGES:
		change_pages(rec);
		break;
	case PACKETS_RECONNECT:
		scene_reconnect(&scene, qp, PACKETS_PEER);
		break;
	default:
		receive(in, rec);
	}
}

static void drain(void)
{
	scene_drain(&scene);
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct packets_record rec;

	if (!rig)
		start();
	world_begin();
	inproc_renew(rig);
	scene_new(&scene, &rig->hca[0], PACKETS_PEER);
	records_run(&in, &rec, sizeof(rec), happen, drain);
	return 0;
}
