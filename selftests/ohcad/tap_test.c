// SPDX-License-Identifier: GPL-2.0
/*
 * Uplinks to tap interfaces, in a network namespace of the test: two fabrics, each with its
 * interface, on a bridge of the kernel that has an address.
 */

#include <endian.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "net/wire.h"
#include "base/csum.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "inproc.h"
#include "pair.h"
#include "packet/roce.h"
#include "fabric/uplink.h"

#define BRIDGE "ohcabr"
#define HOST_IP "10.9.0.1"
#define HCA_IP "10.9.0.2"
#define HOST_PORT 5000
#define HCA_PORT 6000
#define IP_OFF 14
#define UDP_OFF 34
#define DATA_OFF 42
#define DATA_LEN 1000
#define IOVA 0x10000

static struct server *server;

/* Namespace */

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

/* Run ip with these arguments; returns whether it succeeded. */
__attribute__((format(printf, 1, 2))) static bool ip(const char *fmt, ...)
{
	char line[256] = "ip ";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + 3, sizeof(line) - 3, fmt, ap);
	va_end(ap);
	return !system(line);
}

/* Enter a namespace in which the test has all rights; false if that is not allowed. */
static bool enter_namespace(void)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %u 1", getuid());
	if (unshare(CLONE_NEWNET)) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			return false;
		put("/proc/self/setgroups", "deny");
		put("/proc/self/uid_map", map);
	}
	/* The kernel must not send packets by itself. */
	put("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	put("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	return true;
}

/* The reason why the test can't run; NULL: it can. */
static const char *missing(void)
{
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return "/dev/net/tun can't be opened";
	close(fd);
	if (!enter_namespace())
		return "no network namespace";
	if (!ip("tuntap add ohcaprobe mode tap") || !ip("link del ohcaprobe"))
		return "no tap interfaces, or no ip";
	if (!ip("link add " BRIDGE " type bridge forward_delay 0 mcast_snooping 0") ||
	    !ip("link set " BRIDGE " mtu 9216 up") || !ip("addr add " HOST_IP "/24 dev " BRIDGE))
		return "no bridge";
	return NULL;
}

static bool join(unsigned int i)
{
	return ip("link set " INPROC_TAP " mtu 9216 master " BRIDGE " up", i);
}

static int start(void **state)
{
	unsigned int i;

	(void)state;
	setenv("OHCAD_WIRE", "tap", 1);
	server = server_start(2);
	for (i = 0; i < 2; i++) {
		if (!join(i))
			return -1;
	}
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unsetenv("OHCAD_WIRE");
	return server_stop(server) ? 0 : -1;
}

static struct uplink *uplink_of(unsigned int i)
{
	return list_entry(inproc_fabric(i)->uplinks->list.next, struct uplink, link);
}

static struct pair open_pair(void)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_RC, .log_size = 8};

	return pair_open(server, &opts);
}

static void check_messages(struct pair *p, uint32_t seed)
{
	static const uint32_t sizes[] = {0, 1, 1024, 5000, 70000};
	unsigned int o, s;

	for (o = 0; o < PAIR_OPS; o++) {
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			struct pair_layout l = {sizes[s], 1, 2, 2, 3};

			pair_check_message(p, pair_all_ops[o], &l, seed++);
		}
	}
}

/* Between fabrics: the kernel forwards packets unchanged. */
static void test_packets(void **state)
{
	struct pair p = open_pair();

	(void)state;
	check_messages(&p, 1);
	assert_true(uplink_of(0)->out > 0 && uplink_of(0)->in > 0);
	assert_int_equal(uplink_of(0)->dropped, 0);
	assert_int_equal(inproc_fabric(0)->wire->stats.bad_icrc, 0);
	assert_int_equal(inproc_fabric(1)->wire->stats.bad_icrc, 0);
	rig_close(p.rig);
}

/* A program that captures at the interface sees packets with valid checksums. */
static void test_sniffed(void **state)
{
	struct sockaddr_ll addr = {.sll_family = AF_PACKET, .sll_protocol = htobe16(ETH_P_ALL)};
	struct pair_layout l = {3000, 1, 2, 2, 3};
	struct pair p = open_pair();
	unsigned int packets = 0;
	uint8_t frame[PORT_MAX_FRAME];
	char name[IFNAMSIZ];
	ssize_t got;
	int fd;

	(void)state;
	snprintf(name, sizeof(name), INPROC_TAP, 0);
	addr.sll_ifindex = if_nametoindex(name);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htobe16(ETH_P_ALL));
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &l, 5);
	while ((got = recv(fd, frame, sizeof(frame), 0)) > 0) {
		struct roce_packet packet;

		if (roce_peek(&packet, frame, got) == PACKET_OTHER)
			continue;
		assert_int_equal(roce_decode(&packet), PACKET_GOOD);
		packets++;
	}
	/* Three packets of the message, and the acknowledgments. */
	assert_true(packets >= 4);
	close(fd);
	rig_close(p.rig);
}

/* The kernel's own packets */

/**
 * struct host - an HCA's Ethernet QP, and a socket of the kernel that communicates with it
 * @mac: the bridge's
 */
struct host {
	struct rig *rig;
	struct rig_qp *qp;
	struct rig_mr *mr;
	uint8_t mac[6];
	int fd;
};

static struct sockaddr_in address(const char *text, uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htobe16(port)};

	inet_pton(AF_INET, text, &addr.sin_addr);
	return addr;
}

static struct host host_open(void)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_ETH, .flags = OHCA_QP_F_PRIVILEGED};
	struct sockaddr_in addr = address(HOST_IP, HOST_PORT);
	struct ifreq ifr = {.ifr_name = BRIDGE};
	struct host h = {.rig = rig_open(server)};
	const uint8_t *mac = h.rig->hca[0].mac;

	h.qp = rig_qp_new(&h.rig->hca[0], &opts);
	h.mr = rig_mr_new(&h.rig->hca[0], IOVA, 65536, OHCA_ACCESS_LOCAL_WRITE, 0);
	assert_int_equal(rig_modify(h.qp, OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT), 0);
	assert_int_equal(rig_modify(h.qp, OHCA_QPS_RTR, OHCA_QP_STATE), 0);
	assert_int_equal(rig_modify(h.qp, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	assert_true(ip("neigh replace " HCA_IP " lladdr %02x:%02x:%02x:%02x:%02x:%02x dev " BRIDGE,
		       mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]));
	h.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(h.fd >= 0);
	assert_int_equal(bind(h.fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(ioctl(h.fd, SIOCGIFHWADDR, &ifr), 0);
	memcpy(h.mac, ifr.ifr_hwaddr.sa_data, 6);
	return h;
}

static void host_close(struct host *h)
{
	close(h->fd);
	rig_close(h->rig);
}

static void fill(uint8_t *data, uint32_t seed)
{
	unsigned int i;

	for (i = 0; i < DATA_LEN; i++)
		data[i] = seed + i * 7 + (i >> 8);
}

static void put16(uint8_t *at, uint16_t val)
{
	at[0] = val >> 8;
	at[1] = val;
}

/* Headers of a datagram of DATA_LEN bytes from the HCA to the host, without the UDP checksum. */
static void make_headers(const struct host *h, uint8_t *frame)
{
	struct sockaddr_in src = address(HCA_IP, 0), dst = address(HOST_IP, 0);
	uint16_t sum;

	memset(frame, 0, DATA_OFF);
	memcpy(frame, h->mac, 6);
	memcpy(frame + 6, h->rig->hca[0].mac, 6);
	put16(frame + 12, ETH_P_IP);
	frame[IP_OFF] = 0x45;
	put16(frame + IP_OFF + 2, DATA_OFF - IP_OFF + DATA_LEN);
	frame[IP_OFF + 8] = 64;
	frame[IP_OFF + 9] = IPPROTO_UDP;
	memcpy(frame + IP_OFF + 12, &src.sin_addr, 4);
	memcpy(frame + IP_OFF + 16, &dst.sin_addr, 4);
	sum = ~csum_fold(csum_add(0, frame + IP_OFF, 20, false));
	memcpy(frame + IP_OFF + 10, &sum, sizeof(sum));
	put16(frame + UDP_OFF, HCA_PORT);
	put16(frame + UDP_OFF + 2, HOST_PORT);
	put16(frame + UDP_OFF + 4, DATA_OFF - UDP_OFF + DATA_LEN);
}

static void test_host_to_hca(void **state)
{
	struct sockaddr_in to = address(HCA_IP, HCA_PORT), from = address(HOST_IP, 0);
	uint8_t data[DATA_LEN], frame[DATA_OFF + DATA_LEN];
	struct host h = host_open();
	struct ohca_sge sge = rig_sge(h.mr, IOVA, 4096);
	struct ohca_cqe cqe;

	(void)state;
	fill(data, 1);
	rig_post_recv(h.qp, 0, &sge, 1);
	inproc_settle();
	assert_int_equal(sendto(h.fd, data, DATA_LEN, 0, (struct sockaddr *)&to, sizeof(to)),
			 DATA_LEN);
	cqe = rig_wait_recv(h.qp);
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), sizeof(frame));
	/* The uplink completed the checksums. */
	assert_true(cqe.flags & OHCA_CQE_F_CSUM_OK);
	rig_mr_get(h.mr, IOVA, frame, sizeof(frame));
	assert_memory_equal(frame, h.rig->hca[0].mac, 6);
	assert_memory_equal(frame + 6, h.mac, 6);
	assert_memory_equal(frame + IP_OFF + 12, &from.sin_addr, 4);
	assert_memory_equal(frame + IP_OFF + 16, &to.sin_addr, 4);
	assert_int_equal(frame[UDP_OFF + 2] << 8 | frame[UDP_OFF + 3], HCA_PORT);
	assert_memory_equal(frame + DATA_OFF, data, DATA_LEN);
	host_close(&h);
}

static void test_hca_to_host(void **state)
{
	struct sockaddr_in from = {0}, hca = address(HCA_IP, HCA_PORT);
	uint8_t frame[DATA_OFF + DATA_LEN], got[DATA_LEN + 1];
	socklen_t len = sizeof(from);
	struct host h = host_open();
	struct ohca_sge sge = rig_sge(h.mr, IOVA, sizeof(frame));
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	ssize_t num;

	(void)state;
	make_headers(&h, frame);
	fill(frame + DATA_OFF, 2);
	rig_mr_set(h.mr, IOVA, frame, sizeof(frame));
	rig_post_send(h.qp, &wr);
	assert_int_equal(rig_wait_send(h.qp).status, OHCA_WC_SUCCESS);
	while ((num = recvfrom(h.fd, got, sizeof(got), 0, (struct sockaddr *)&from, &len)) < 0 &&
	       errno == EAGAIN)
		inproc_step();
	assert_int_equal(num, DATA_LEN);
	assert_memory_equal(got, frame + DATA_OFF, DATA_LEN);
	assert_int_equal(from.sin_addr.s_addr, hca.sin_addr.s_addr);
	assert_int_equal(from.sin_port, hca.sin_port);
	host_close(&h);
}

/* The interface */

/*
 * The kernel refuses frames while the interface is down: they are lost, and the transport sends
 * them again.
 */
static void test_down(void **state)
{
	struct pair_layout l = {64, 1, 2, 2, 3};
	struct pair p = open_pair();
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};

	(void)state;
	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	assert_true(ip("link set " INPROC_TAP " down", 0));
	rig_post_send(p.a, &wr);
	while (!uplink_of(0)->dropped)
		inproc_step();
	assert_true(uplink_of(0)->up);
	assert_true(ip("link set " INPROC_TAP " up", 0));
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
	check_messages(&p, 2);
	rig_close(p.rig);
}

/* The interface is deleted, and created again by another process. */
static void test_vanish(void **state)
{
	struct pair p = open_pair();

	(void)state;
	check_messages(&p, 1);
	assert_true(ip("link del " INPROC_TAP, 1));
	while (uplink_of(1)->up)
		inproc_step();
	assert_int_equal(uplink_of(1)->fd, -1);
	assert_true(ip("tuntap add " INPROC_TAP " mode tap", 1));
	assert_true(join(1));
	while (!uplink_of(1)->up)
		inproc_step();
	check_messages(&p, 100);
	rig_close(p.rig);
	assert_true(ip("link del " INPROC_TAP, 1));
}

static int try_uplink(const char *text)
{
	struct uplink_options opts;
	int err;

	assert_null(uplink_parse(&opts, text));
	err = uplink_add(inproc_fabric(1)->uplinks, &opts);
	uplink_options_free(&opts);
	return err;
}

/* A user without the right to create interfaces gets an error message. */
static void expect_not_allowed(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(setuid(65534) ? 2 : try_uplink("tap=ohcanew") != -EPERM);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	/* In a user namespace there may be no other user. */
	assert_true(!WEXITSTATUS(status) || WEXITSTATUS(status) == 2);
}

static void test_refused(void **state)
{
	(void)state;
	expect_not_allowed();
	/* Fabric 0 is attached to it. */
	assert_int_equal(try_uplink("tap=ohcatap0"), -EBUSY);
	assert_int_equal(try_uplink("tap=lo"), -EINVAL);
	assert_int_equal(try_uplink("tap=" BRIDGE), -EINVAL);
	assert_true(ip("tuntap add ohcatun mode tun"));
	assert_int_equal(try_uplink("tap=ohcatun"), -EINVAL);
	assert_true(ip("link del ohcatun"));
	assert_ptr_equal(uplink_of(1)->link.next, &inproc_fabric(1)->uplinks->list);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(test_packets),	TEST(test_sniffed), TEST(test_host_to_hca),
		TEST(test_hca_to_host), TEST(test_down),    TEST(test_vanish),
		TEST(test_refused),
	};
	const char *why = missing();

	if (why) {
		printf("TAP version 13\n1..0 # SKIP %s\n", why);
		return 0;
	}
	return RUN_TESTS(tests, NULL, NULL);
}
