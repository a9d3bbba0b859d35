// SPDX-License-Identifier: GPL-2.0
/* Honest HCAs, whose messages nothing disturbs. */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include "inproc.h"
#include "neighbours.h"
#include "rig.h"

#define IOVA 0x40000100ULL
#define LEN (64ULL << 10)
#define INTO (IOVA + LEN / 2)
#define MAX_ROUNDS 16 /* from a doorbell to the completion */

static struct rig *rig;
static struct rig_qp *a, *b, *from, *to; /* a reliable connection, and QPs of datagrams */
static struct rig_mr *ma, *mb;
static uint32_t num; /* messages */

__attribute__((noreturn)) static void fail(const char *what)
{
	fprintf(stderr, "neighbours: message %u: %s\n", num, what);
	abort();
}

/* The next completion of the CQ is this one. */
static struct ohca_cqe take(struct drv_cq *cq, uint64_t wr_id)
{
	struct ohca_cqe cqe;
	unsigned int i;

	for (i = 0; !drv_cq_poll(cq, &cqe); i++) {
		if (i == MAX_ROUNDS)
			fail("it is late");
		inproc_step();
	}
	drv_cq_ack(cq);
	if (cqe.status != OHCA_WC_SUCCESS)
		fail("it failed");
	if (le64toh(cqe.wr_id) != wr_id)
		fail("it is out of order");
	return cqe;
}

static void take_receive(struct drv_cq *cq, uint32_t len)
{
	if (le32toh(take(cq, num).byte_len) != len)
		fail("its length is wrong");
}

static void check(struct rig_mr *mr, uint64_t at, uint32_t len)
{
	if (!rig_mr_is(mr, at, len, num))
		fail("its data are wrong");
}

/* A message of this operation over the connection */
static void send(uint8_t opcode, uint32_t len)
{
	bool read = opcode == OHCA_OP_RDMA_READ, receives = opcode == OHCA_OP_SEND;
	struct ohca_sge sge = rig_sge(ma, read ? INTO : IOVA, len), into = rig_sge(mb, INTO, len);
	struct rig_wr wr = rig_write(&sge, read ? IOVA : INTO, mb->key);

	num++;
	wr.opcode = opcode;
	wr.wr_id = num;
	rig_mr_fill(read ? mb : ma, IOVA, len, num);
	if (receives)
		rig_post_recv(b, num, &into, 1);
	rig_post_send(a, &wr);
	if (receives)
		take_receive(b->rcq, len);
	take(a->scq, num);
	check(read ? ma : mb, INTO, len);
}

static void send_datagram(uint32_t len)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, len), into = rig_sge(mb, INTO, len + 40);
	struct ohca_av av = rig_av(&rig->hca[1]);
	struct rig_wr wr = rig_datagram(to, &av, &sge);

	num++;
	wr.wr_id = num;
	rig_mr_fill(ma, IOVA, len, num);
	rig_post_recv(to, num, &into, 1);
	rig_post_send(from, &wr);
	take_receive(to->rcq, len + 40);
	take(from->scq, num);
	check(mb, INTO + 40, len);
}

/* Nothing has happened to the HCAs. */
static void check_events(void)
{
	struct ohca_eqe eqe;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		while (drv_eq_poll(rig->hca[i].async, &eqe)) {
			if (eqe.type != OHCA_EVENT_PORT_ACTIVE && eqe.type != OHCA_EVENT_COMM_EST)
				fail("there was an event");
			drv_eq_ack(rig->hca[i].async);
		}
	}
}

void neighbours_talk(void)
{
	static const uint32_t lens[] = {1, 64, 1000, 4096, 4097, 20000};

	send(OHCA_OP_SEND, lens[num % 6]);
	send(OHCA_OP_RDMA_WRITE, lens[num / 2 % 6]);
	send(OHCA_OP_RDMA_READ, lens[num / 3 % 6]);
	send_datagram(1 + num % 1000);
	check_events();
}

void neighbours_open(const struct server *server, unsigned int first)
{
	const struct rig_qp_opts opts = {0}, ud = {.type = OHCA_QPT_UD, .ext = true};

	rig = rig_open_some(server, first, 2, false);
	a = rig_qp_new(&rig->hca[0], &opts);
	b = rig_qp_new(&rig->hca[1], &opts);
	from = rig_qp_new(&rig->hca[0], &ud);
	to = rig_qp_new(&rig->hca[1], &ud);
	ma = rig_mr_new(&rig->hca[0], IOVA, LEN, RIG_ALL_ACCESS, 0);
	mb = rig_mr_new(&rig->hca[1], IOVA, LEN, RIG_ALL_ACCESS, 0);
	rig_connect(a, b);
	rig_connect(from, to);
	neighbours_talk();
}

void neighbours_close(void)
{
	rig_close(rig);
}
