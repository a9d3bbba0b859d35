// SPDX-License-Identifier: GPL-2.0
/*
 * Packets on the wire between fabrics of this program: faults, packets of foreign senders, and the
 * uplinks.
 */

#include <endian.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/wire.h"
#include "base/csum.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "outsider.h"
#include "pair.h"
#include "rig_assert.h"
#include "rig_raw.h"
#include "packet/roce.h"
#include "fabric/uplink.h"
#include "fabric/uplink_io.h"
#include "transport/rc.h"

#define IN(n) (1024 / (n)) /* a probability of 1 / @n */

/*
 * Faults of received frames: probabilities in 1024, independent of each other, and how often each
 * happened
 */
struct faults {
	unsigned int drop, dup, corrupt, swap;
};

static struct faults faults, happened;
static uint8_t held[PORT_MAX_FRAME], last[PORT_MAX_FRAME];
static size_t held_len, last_len;
static struct uplink *held_by;
static unsigned int lose_nth; /* lose the packet of this number from now on, 0: none */

/* Short packets that arrived at the uplink @at and are held back */
static struct {
	struct uplink *at;
	uint8_t frame[16][128];
	size_t len[16];
	unsigned int num;
} kept;

void __real_uplink_receive(struct uplink *uplink, const uint8_t *frame, size_t len);
void __wrap_uplink_receive(struct uplink *uplink, const uint8_t *frame, size_t len);

static bool happens(unsigned int chance, unsigned int *count)
{
	if ((unsigned int)rand() % 1024 >= chance)
		return false;
	(*count)++;
	return true;
}

static bool is_packet(const uint8_t *frame, size_t len)
{
	struct roce_packet p;

	return roce_peek(&p, frame, len) != PACKET_OTHER;
}

/* The link of the test: all frames received by an uplink pass this function. */
void __wrap_uplink_receive(struct uplink *uplink, const uint8_t *frame, size_t len)
{
	uint8_t copy[PORT_MAX_FRAME];

	if (len > sizeof(copy) || !is_packet(frame, len)) {
		__real_uplink_receive(uplink, frame, len);
		return;
	}
	memcpy(last, frame, len);
	last_len = len;
	if (uplink == kept.at) {
		assert_true(kept.num < ARRAY_SIZE(kept.len) && len <= sizeof(kept.frame[0]));
		memcpy(kept.frame[kept.num], frame, len);
		kept.len[kept.num++] = len;
		return;
	}
	if (happens(faults.drop, &happened.drop) || (lose_nth && !--lose_nth))
		return;
	if (happens(faults.corrupt, &happened.corrupt)) {
		memcpy(copy, frame, len);
		copy[46 + rand() % (len - 46)] ^= 1 << rand() % 8;
		frame = copy;
	}
	if (happens(faults.dup, &happened.dup))
		__real_uplink_receive(uplink, frame, len);
	if (!held_len && happens(faults.swap, &happened.swap)) {
		memcpy(held, frame, len);
		held_len = len;
		held_by = uplink;
		return;
	}
	__real_uplink_receive(uplink, frame, len);
	if (held_len) {
		len = held_len;
		held_len = 0;
		__real_uplink_receive(held_by, held, len);
	}
}

static void start_wire(const char *kind)
{
	setenv("OHCAD_WIRE", kind, 1);
	server = server_start(2);
	srand(1);
	memset(&happened, 0, sizeof(happened));
}

static int start(void **state)
{
	(void)state;
	start_wire("stream");
	return 0;
}

static int start_kind(void **state)
{
	start_wire(*state);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	memset(&faults, 0, sizeof(faults));
	held_len = 0;
	return server_stop(server) ? 0 : -1;
}

static struct wire_stats *stats(unsigned int i)
{
	return &inproc_fabric(i)->wire->stats;
}

static struct uplink *uplink(unsigned int i)
{
	return list_entry(inproc_fabric(i)->uplinks->list.next, struct uplink, link);
}

static void settle(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		inproc_step();
}

static struct pair open_pair(uint8_t type, uint8_t mtu)
{
	struct rig_qp_opts opts = {.type = type};
	struct pair p = pair_new(server, &opts);

	p.a->attr.path_mtu = mtu;
	p.b->attr.path_mtu = mtu;
	/* An ACK timeout of about 8 ms */
	p.a->attr.timeout = 11;
	p.b->attr.timeout = 11;
	rig_connect(p.a, p.b);
	return p;
}

static void check_ops(struct pair *p, const uint8_t *ops, unsigned int num, unsigned int rounds)
{
	static const uint32_t sizes[] = {0, 1, 255, 256, 257, 4096, 5001, 70000, 300001};
	unsigned int o, s, r;
	uint32_t seed = 1;

	for (r = 0; r < rounds; r++) {
		for (o = 0; o < num; o++) {
			for (s = 0; s < ARRAY_SIZE(sizes); s++) {
				struct pair_layout l = {sizes[s], 1, 2, 2, 3};

				pair_check_message(p, ops[o], &l, seed++);
			}
		}
	}
}

static void test_mtus(void **state)
{
	uint8_t mtu;

	(void)state;
	for (mtu = 1; mtu <= 5; mtu++) {
		struct pair p = open_pair(OHCA_QPT_RC, mtu);

		check_ops(&p, pair_all_ops, PAIR_OPS, 1);
		assert_true(stats(1)->received > 0);
		assert_int_equal(stats(0)->malformed + stats(1)->malformed, 0);
		assert_int_equal(stats(0)->bad_icrc + stats(1)->bad_icrc, 0);
		rig_close(p.rig);
	}
}

/* Operations with a completion at the receiver */
static void test_unreliable(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_SEND, OHCA_OP_SEND_IMM, OHCA_OP_RDMA_WRITE_IMM};
	struct pair p = open_pair(OHCA_QPT_UC, 3);

	(void)state;
	check_ops(&p, ops, ARRAY_SIZE(ops), 2);
	rig_close(p.rig);
}

static void check_faults(const struct faults *with, unsigned int rounds)
{
	struct pair p = open_pair(OHCA_QPT_RC, 3);

	faults = *with;
	check_ops(&p, pair_all_ops, PAIR_OPS, rounds);
	memset(&faults, 0, sizeof(faults));
	rig_close(p.rig);
}

static void test_drop(void **state)
{
	const struct faults with = {.drop = IN(64)};

	(void)state;
	check_faults(&with, 2);
	assert_true(happened.drop > 20);
}

static void test_dup(void **state)
{
	const struct faults with = {.dup = IN(8)};

	(void)state;
	check_faults(&with, 3);
	assert_true(happened.dup > 100);
}

static void test_swap(void **state)
{
	const struct faults with = {.swap = IN(64)};

	(void)state;
	check_faults(&with, 2);
	assert_true(happened.swap > 20);
}

static void test_corrupt(void **state)
{
	const struct faults with = {.corrupt = IN(64)};

	(void)state;
	check_faults(&with, 2);
	assert_true(happened.corrupt > 20);
	assert_true(stats(0)->bad_icrc + stats(1)->bad_icrc > 10);
}

/* One loss causes one retry, however many later packets show it. */
static void test_gap(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct pair_layout l = {1000000, 1, 2, 2, 3};
	unsigned int i;

	(void)state;
	p.a->attr.retry_cnt = 1;
	rig_connect(p.a, p.b);
	for (i = 0; i < PAIR_OPS; i++) {
		lose_nth = 20;
		pair_check_message(&p, pair_all_ops[i], &l, i);
		assert_int_equal(lose_nth, 0);
	}
	rig_close(p.rig);
}

static void post_write(struct pair *p, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, len);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p->mb->key};

	rig_post_send(p->a, &wr);
}

/* A request that is posted when the send window is full is sent when the peer has acknowledged. */
static void test_window(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	p.a->attr.timeout = 0;
	rig_connect(p.a, p.b);
	kept.at = uplink(0);
	kept.num = 0;
	post_write(&p, 4 * PKT_MAX_LEN);
	settle();
	assert_int_equal(requester_window(inproc_qp(p.a)), 0);
	post_write(&p, 8);
	settle();
	assert_false(drv_cq_poll(p.a->scq, &cqe));
	kept.at = NULL;
	for (i = 0; i < kept.num; i++)
		__real_uplink_receive(uplink(0), kept.frame[i], kept.len[i]);
	for (i = 0; i < 2; i++)
		assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
	rig_close(p.rig);
}

static struct ohca_cqe fetch_add(struct pair *p, struct rig_mr *mr, uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, 8);
	struct ohca_sq_wqe fields = {.rdma = {.raddr = htole64(PAIR_IOVA),
					      .rkey = htole32(mr->key),
					      .compare_add = htole64(1)}};
	struct rig_wr wr = {.wr_id = wr_id,
			    .opcode = OHCA_OP_FETCH_ADD,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields};

	rig_post_send(p->a, &wr);
	return rig_wait_send(p->a);
}

/* An atomic that is repeated, or whose response is lost, is executed once. */
static void test_atomics(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct rig_mr *mr = rig_mr_new(&p.rig->hca[1], PAIR_IOVA - PAIR_IOVA % 8, 4096,
				       OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_REMOTE_ATOMIC, 0);
	uint64_t zero = 0, got, i;

	(void)state;
	p.a->attr.timeout = 11;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
	rig_mr_set(mr, PAIR_IOVA, &zero, 8);
	faults = (struct faults){.drop = IN(16), .dup = IN(16), .swap = IN(16)};
	for (i = 0; i < 300; i++) {
		assert_int_equal(fetch_add(&p, mr, i).status, OHCA_WC_SUCCESS);
		rig_mr_get(p.ma, PAIR_IOVA, &got, 8);
		assert_int_equal(le64toh(got), i);
	}
	memset(&faults, 0, sizeof(faults));
	settle();
	rig_mr_get(mr, PAIR_IOVA, &got, 8);
	assert_int_equal(le64toh(got), 300);
	assert_true(happened.drop > 10 && happened.dup > 10);
	rig_close(p.rig);
}

/*
 * Send the last packet again with other bytes and the right CRC.  Its PSN has been received before.
 */
static void again_with(unsigned int to, size_t at, const void *bytes, size_t len)
{
	uint8_t frame[PORT_MAX_FRAME];
	uint32_t crc;
	uint16_t sum;

	memcpy(frame, last, last_len);
	memcpy(frame + at, bytes, len);
	frame[14 + 10] = 0;
	frame[14 + 11] = 0;
	sum = ~csum_fold(csum_add(0, frame + 14, 20, false));
	memcpy(frame + 14 + 10, &sum, 2);
	crc = htole32(roce_icrc(frame + 14, 20, last_len - 14 - 4));
	memcpy(frame + last_len - 4, &crc, 4);
	__real_uplink_receive(uplink(to), frame, last_len);
}

/* None of them reaches the QP. */
static void test_strangers(void **state)
{
	static const uint8_t other_ip[4] = {10, 9, 9, 9}, limited[2] = {0x7f, 0xff},
			     other_pkey[2] = {0x80, 0x01}, no_qp[4] = {0, 0xff, 0xff, 0xf0},
			     uc_opcode[1] = {BTH_UC << 5 | BTH_OP_SEND_ONLY},
			     cnp[1] = {BTH_CONTROL << 5 | BTH_OP_CNP}, bad_opcode[1] = {0x1f},
			     ce[1] = {0x03}, ip_len[2] = {0xff, 0xff};
	struct pair p = open_pair(OHCA_QPT_UC, 3);
	struct pair_layout l = {100, 1, 2, 2, 3};
	struct rig_mr *mr = p.mb;
	struct ohca_sge into = rig_sge(mr, PAIR_IOVA, 1000);
	struct ohca_cqe cqe;

	(void)state;
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	rig_post_recv(p.b, 1, &into, 1);
	again_with(1, 14 + 12, other_ip, 4);
	assert_int_equal(stats(1)->not_peer, 1);
	again_with(1, 42 + 2, other_pkey, 2);
	assert_int_equal(stats(1)->not_peer, 2);
	again_with(1, 42 + 4, no_qp, 4);
	assert_int_equal(stats(1)->no_qp, 1);
	again_with(1, 42, (const uint8_t[1]){BTH_OP_SEND_ONLY}, 1);
	assert_int_equal(stats(1)->no_qp, 2);
	again_with(1, 42, bad_opcode, 1);
	assert_int_equal(stats(1)->malformed, 1);
	again_with(1, 14 + 2, ip_len, 2);
	assert_int_equal(stats(1)->malformed, 2);
	again_with(1, 42, cnp, 1);
	assert_int_equal(stats(1)->cnps, 1);
	assert_int_equal(rig_counter(p.b->hca, OHCA_CNT_RX_CNPS), 1);
	settle();
	assert_false(drv_cq_poll(p.b->rcq, &cqe));
	/*
	 * A limited member may send to a full one, and a congestion mark does not matter to the QP.
	 */
	again_with(1, 42 + 2, limited, 2);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	rig_post_recv(p.b, 1, &into, 1);
	again_with(1, 15, ce, 1);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	assert_int_equal(stats(1)->marked, 1);
	assert_int_equal(rig_counter(p.b->hca, OHCA_CNT_RX_MARKED), 1);
	again_with(1, 42, uc_opcode, 1);
	rig_close(p.rig);
}

/* The stream is disconnected again and again during transfers. */
static void test_reconnect(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 3);
	unsigned int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct pair_layout l = {300000, 1, 2, 2, 3};

		assert_true(uplink(i % 2)->fd >= 0);
		shutdown(uplink(i % 2)->fd, SHUT_RDWR);
		pair_check_message(&p, pair_all_ops[i % PAIR_OPS], &l, i);
	}
	rig_close(p.rig);
}

static void put_frame(int fd, const uint8_t smac[6], const uint8_t dmac[6])
{
	uint8_t buf[4 + 64] = {0, 0, 0, 64};

	memcpy(buf + 4, dmac, 6);
	memcpy(buf + 10, smac, 6);
	buf[16] = 0x88;
	buf[17] = 0xb5;
	/* In two parts, as a stream may deliver it */
	assert_int_equal(write(fd, buf, 7), 7);
	settle();
	assert_int_equal(write(fd, buf + 7, sizeof(buf) - 7), sizeof(buf) - 7);
	settle();
}

static void test_framing(void **state)
{
	static const uint8_t them[6] = {2, 9, 9, 9, 9, 9}, us[6] = {2, 0, 0, 0, 0, 1};
	struct rig *rig = rig_open(server);
	char path[128], byte;
	int fd = outsider(path, sizeof(path), "");

	(void)state;
	put_frame(fd, them, us);
	assert_int_equal(outer()->in, 1);
	/* Our own address as the source: a loop */
	put_frame(fd, us, them);
	assert_int_equal(outer()->in, 1);
	assert_int_equal(outer()->dropped, 1);
	/* Invalid frame length: the connection is closed, and a new one is possible. */
	assert_int_equal(write(fd, "GET / HTTP/1.1\r\n", 16), 16);
	settle();
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	fd = outsider_connect(path);
	put_frame(fd, them, us);
	assert_int_equal(outer()->in, 2);
	close(fd);
	rig_close(rig);
}

#define LONG_BURST (5 * UPLINK_TURN + 1)

/* Many frames at a time: a turn of them in each round, and all of them though the stream has ended. */
static void test_turns(void **state)
{
	static uint8_t burst[LONG_BURST][4 + 64];
	struct rig *rig = rig_open(server);
	unsigned int i, rounds = 0;
	char path[128];
	int fd = outsider(path, sizeof(path), "");
	uint64_t before;

	(void)state;
	settle();
	for (i = 0; i < LONG_BURST; i++) {
		burst[i][3] = 64;
		memcpy(burst[i] + 4,
		       (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 9, 9, 9, 9, 9, 0x88, 0xb5}, 14);
	}
	assert_int_equal(write(fd, burst, sizeof(burst)), sizeof(burst));
	close(fd);
	/* A round of the loop, in which it is read, and another one */
	inproc_step();
	assert_true(outer()->in > 0 && outer()->in <= 2 * UPLINK_TURN);
	do {
		before = outer()->in;
		inproc_poll();
		assert_true(outer()->in - before <= UPLINK_TURN);
	} while (outer()->in < LONG_BURST && ++rounds < LONG_BURST);
	assert_int_equal(outer()->in, LONG_BURST);
	assert_true(outer()->up);
	settle();
	assert_false(outer()->up);
	rig_close(rig);
}

/* A datagram to an address is sent to the uplink where that address was seen, and to no other. */
static void test_learning(void **state)
{
	static const uint8_t them[6] = {2, 9, 9, 9, 9, 9}, us[6] = {2, 0, 0, 0, 0, 1};
	struct pair p = open_pair(OHCA_QPT_UD, 3);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100);
	struct ohca_av av = {.dgid = {[10] = 0xff, [11] = 0xff, 10, 7, 7, 7}, .port = 1};
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .av = &av,
			    .dest_qpn = 17,
			    .qkey = RIG_QKEY};
	char path[128];
	int fd = outsider(path, sizeof(path), "");
	uint8_t buf[4096];
	uint64_t out, inner;

	(void)state;
	memcpy(av.dmac, them, 6);
	out = outer()->out;
	inner = uplink(0)->out;
	rig_post_send(p.a, &wr);
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
	settle();
	assert_int_equal(outer()->out, out + 1);
	assert_int_equal(uplink(0)->out, inner + 1);
	put_frame(fd, them, us);
	rig_post_send(p.a, &wr);
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
	settle();
	assert_int_equal(outer()->out, out + 2);
	assert_int_equal(uplink(0)->out, inner + 1);
	/* Both arrived there, complete. */
	assert_int_equal(read(fd, buf, sizeof(buf)), 2 * (4 + 14 + 20 + 8 + 12 + 8 + 100 + 4));
	assert_memory_equal(buf + 4, them, 6);
	close(fd);
	rig_close(p.rig);
}

/* A peer that does not read delays others only for a short time. */
static void test_stalled(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 3);
	struct pair_layout l = {300000, 1, 2, 2, 3};
	char path[128];
	int fd = outsider(path, sizeof(path), "");
	unsigned int i;

	(void)state;
	for (i = 0; i < 20; i++) {
		/* The location of the other fabric is unknown again. */
		memset(inproc_fabric(0)->uplinks->fdb, 0, sizeof(inproc_fabric(0)->uplinks->fdb));
		pair_check_message(&p, OHCA_OP_RDMA_WRITE, &l, i);
	}
	assert_true(outer()->dropped > 0);
	assert_int_equal(inproc_fabric(0)->uplinks->congested, 0);
	close(fd);
	settle();
	pair_check_message(&p, OHCA_OP_SEND, &l, 99);
	rig_close(p.rig);
}

#define FRAMES 500
#define FRAME_LEN 9000
#define FRAMES_AHEAD 32

/* Frames wait for a peer that reads more slowly than they are sent: none is lost. */
static void test_frames_wait(void **state)
{
	static const uint8_t them[6] = {2, 9, 9, 9, 9, 9}, us[6] = {2, 0, 0, 0, 0, 1};
	static uint8_t buf[FRAME_LEN];
	struct rig *rig = rig_open(server);
	struct raw eth = raw_new(&rig->hca[0], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	struct rig_mr *mr =
		rig_mr_new(&rig->hca[0], PAIR_IOVA, FRAME_LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, FRAME_LEN);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	unsigned int sent = 0, done = 0;
	struct ohca_cqe cqe;
	size_t got = 0;
	char path[128];
	int fd = outsider(path, sizeof(path), "");

	(void)state;
	put_frame(fd, them, us);
	rig_mr_set(mr, PAIR_IOVA, them, 6);
	rig_mr_set(mr, PAIR_IOVA + 6, us, 6);
	while (got < FRAMES * (4 + FRAME_LEN)) {
		ssize_t n = 0;

		for (; sent < FRAMES && sent - done < FRAMES_AHEAD; sent++)
			rig_post_send(eth.qp, &wr);
		inproc_step();
		if (drv_cq_poll(eth.qp->scq, &cqe)) {
			drv_cq_ack(eth.qp->scq);
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			done++;
		} else {
			n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		}
		got += n > 0 ? n : 0;
		assert_int_equal(outer()->dropped, 0);
	}
	assert_int_equal(done, FRAMES);
	close(fd);
	rig_close(rig);
}

/* A connection to this port of the host, or a socket that is bound to it; @port is set if it is 0. */
static int tcp_socket(int (*begin)(int, const struct sockaddr *, socklen_t), uint16_t *port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons(*port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(addr);

	assert_true(fd >= 0);
	assert_int_equal(begin(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	if (!*port) {
		assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
		*port = ntohs(addr.sin_port);
	}
	return fd;
}

#define GONE_S 60

/* A host is turned off: its connection does not end by a packet.  The listener takes another one later. */
static void test_gone(void **state)
{
	struct timespec start, now;
	uint16_t port = 0;
	int fd, one = 1;
	char text[64];

	(void)state;
	close(tcp_socket(bind, &port));
	snprintf(text, sizeof(text), "stream=tcp:127.0.0.1:%u,listen", port);
	inproc_add_uplink(inproc_fabric(0), text);
	fd = tcp_socket(connect, &port);
	inproc_settle();
	assert_true(outer()->up);
	/* Closing such a socket sends nothing. */
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &one, sizeof(one))) {
		close(fd);
		skip();
	}
	close(fd);
	inproc_settle();
	assert_true(outer()->up);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		inproc_step();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (outer()->up && now.tv_sec - start.tv_sec < GONE_S);
	assert_false(outer()->up);
	fd = tcp_socket(connect, &port);
	inproc_settle();
	assert_true(outer()->up);
	close(fd);
}

/* The other kinds of sockets */
static void test_kind(void **state)
{
	struct pair p = open_pair(OHCA_QPT_RC, 5);

	(void)state;
	check_ops(&p, pair_all_ops, PAIR_OPS, 1);
	rig_close(p.rig);
}

static void test_options(void **state)
{
	static const char *const good[] = {
		"stream=unix:/a",
		"stream=unix:/a,listen",
		"stream=tcp:127.0.0.1:1234",
		"stream=tcp:[::1]:1234,listen",
		"dgram=unix:/a,remote=unix:/b",
		"dgram=udp:127.0.0.1:1,remote=udp:127.0.0.1:2",
		"stream=unix:/a,link=ib",
		"stream=unix:/a,link=eth,listen",
		"dgram=unix:/a,remote=unix:/b,link=ib",
		"tap=ohca0",
		"tap=ohca0,link=eth",
		"tap=fifteen-letters",
	};
	static const char *const bad[] = {
		"",
		"stream",
		"stream=",
		"stream=/a",
		"stream=unix:",
		"stream=udp:127.0.0.1:1",
		"stream=unix:/a,listen=1",
		"stream=unix:/a,remote=unix:/b",
		"stream=unix:/a,speed=1",
		"stream=tcp:127.0.0.1",
		"stream=tcp::1",
		"dgram=unix:/a",
		"dgram=unix:/a,listen",
		"dgram=unix:/a,remote=udp:127.0.0.1:1",
		"dgram=tcp:127.0.0.1:1,remote=unix:/b",
		"dgram=unix:/a,remote=unix:/b,remote=unix:/c",
		"listen,stream=unix:/a",
		"tap",
		"tap=",
		"tap=a/b",
		"tap=a b",
		"tap=..",
		"tap=ohca%d",
		"tap=sixteen--letters",
		"tap=ohca0,listen",
		"tap=ohca0,link=ib",
		"stream=unix:/a,link",
		"stream=unix:/a,link=",
		"stream=unix:/a,link=IB",
		"stream=unix:/a,link=ib,link=ib",
		"tap=ohca0,remote=unix:/b",
		"stream=tcp:127.0.0.1:http-no-such",
	};
	struct uplink_options opts;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_null(uplink_parse(&opts, good[i]));
		uplink_options_free(&opts);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_non_null(uplink_parse(&opts, bad[i]));
		uplink_options_free(&opts);
	}
}

#define WIRED(test) cmocka_unit_test_setup_teardown(test, start, stop)
#define KIND(kind) \
	cmocka_unit_test_prestate_setup_teardown(test_kind, start_kind, stop, (void *)(kind))

int main(void)
{
	const struct CMUnitTest tests[] = {
		WIRED(test_mtus),
		WIRED(test_unreliable),
		WIRED(test_drop),
		WIRED(test_dup),
		WIRED(test_swap),
		WIRED(test_corrupt),
		WIRED(test_gap),
		WIRED(test_window),
		WIRED(test_atomics),
		WIRED(test_strangers),
		WIRED(test_reconnect),
		WIRED(test_framing),
		WIRED(test_turns),
		WIRED(test_learning),
		WIRED(test_stalled),
		WIRED(test_frames_wait),
		WIRED(test_gone),
		KIND("dgram"),
		KIND("tcp"),
		KIND("udp"),
		cmocka_unit_test(test_options),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
