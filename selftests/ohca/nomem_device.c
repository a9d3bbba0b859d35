// SPDX-License-Identifier: GPL-2.0
/*
 * nomem_device FUNCTION: the network interface, devlink's reload and the binding of the driver when
 * the kernel can't allocate memory: what fails can be repeated, and works then.  FUNCTION is the
 * address of the PCI function.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/devlink.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nomem.h"
#include "tap.h"

#define DRIVER "/sys/bus/pci/drivers/ohca/"

static const char *function;
static char netdev[IFNAMSIZ];
static int inet, genl;
static uint16_t devlink_family;
static uint32_t seq; /* of the last netlink message */

/* The network interface */

static int request_netdev(unsigned long cmd, struct ifreq *req)
{
	strcpy(req->ifr_name, netdev);
	return ioctl(inet, cmd, req) ? errno : 0;
}

static int set_up(bool up)
{
	struct ifreq req = {};
	int err = request_netdev(SIOCGIFFLAGS, &req);

	if (err)
		return err;
	if (up)
		req.ifr_flags |= IFF_UP;
	else
		req.ifr_flags &= ~IFF_UP;
	return request_netdev(SIOCSIFFLAGS, &req);
}

static int act_down(void)
{
	return set_up(false);
}

static int act_up(void)
{
	return set_up(true);
}

static int ethtool(void *cmd)
{
	struct ifreq req = {.ifr_data = cmd};

	return request_netdev(SIOCETHTOOL, &req);
}

static int set_rings(unsigned int entries)
{
	struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};
	int err = ethtool(&rings);

	if (err)
		return err;
	rings.cmd = ETHTOOL_SRINGPARAM;
	rings.rx_pending = rings.tx_pending = entries;
	return ethtool(&rings);
}

static int act_rings(void)
{
	return set_rings(64);
}

static int undo_rings(void)
{
	return set_rings(256);
}

static bool is_up(void)
{
	struct ifreq req = {};

	return !request_netdev(SIOCGIFFLAGS, &req) && (req.ifr_flags & IFF_UP);
}

/* devlink */

static void put(struct nlmsghdr *msg, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)((char *)msg + NLMSG_ALIGN(msg->nlmsg_len));

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg->nlmsg_len = NLMSG_ALIGN(msg->nlmsg_len) + NLA_ALIGN(attr->nla_len);
}

static struct nlmsghdr *message(char *buf, int family, int cmd)
{
	struct nlmsghdr *msg = (void *)buf;
	struct genlmsghdr *head = NLMSG_DATA(msg);

	*msg = (struct nlmsghdr){
		.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.nlmsg_seq = ++seq,
	};
	*head = (struct genlmsghdr){.cmd = cmd, .version = 1};
	return msg;
}

/*
 * Send a request; returns an errno.  @family gets that of an answer.  If there was no memory to
 * receive an answer, it comes before that of the next request.
 */
static int request(struct nlmsghdr *msg, uint16_t *family)
{
	char buf[8192] __attribute__((aligned(8)));
	struct nlmsghdr *answer;
	ssize_t len;

	if (send(genl, msg, msg->nlmsg_len, 0) < 0)
		return errno;
	for (;;) {
		len = recv(genl, buf, sizeof(buf), 0);
		if (len < 0)
			return errno;
		for (answer = (void *)buf; NLMSG_OK(answer, len);
		     answer = NLMSG_NEXT(answer, len)) {
			struct nlattr *attr;

			if (answer->nlmsg_seq != msg->nlmsg_seq)
				continue;
			if (answer->nlmsg_type == NLMSG_ERROR)
				return -((struct nlmsgerr *)NLMSG_DATA(answer))->error;
			for (attr = (void *)((char *)NLMSG_DATA(answer) + GENL_HDRLEN);
			     family && (char *)attr < (char *)answer + answer->nlmsg_len;
			     attr = (void *)((char *)attr + NLA_ALIGN(attr->nla_len)))
				if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
					memcpy(family, (char *)attr + NLA_HDRLEN, sizeof(*family));
		}
	}
}

static void open_devlink(void)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *msg = message(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

	genl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	put(msg, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME, sizeof(DEVLINK_GENL_NAME));
	if (genl < 0 || bind(genl, (void *)&addr, sizeof(addr)) || request(msg, &devlink_family))
		tap_bail("no devlink");
}

static struct nlmsghdr *devlink(char *buf, int cmd)
{
	struct nlmsghdr *msg = message(buf, devlink_family, cmd);

	put(msg, DEVLINK_ATTR_BUS_NAME, "pci", sizeof("pci"));
	put(msg, DEVLINK_ATTR_DEV_NAME, function, strlen(function) + 1);
	return msg;
}

static int act_reload(void)
{
	char buf[256] __attribute__((aligned(8)));

	return request(devlink(buf, DEVLINK_CMD_RELOAD), NULL);
}

static struct nlmsghdr *reporter(char *buf, int cmd)
{
	struct nlmsghdr *msg = devlink(buf, cmd);

	put(msg, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fatal", sizeof("fatal"));
	return msg;
}

/* Whether a device that failed is recovered by itself, which the driver does not do too often. */
static int auto_recover(uint8_t on)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *msg = reporter(buf, DEVLINK_CMD_HEALTH_REPORTER_SET);

	put(msg, DEVLINK_ATTR_HEALTH_REPORTER_AUTO_RECOVER, &on, sizeof(on));
	return request(msg, NULL);
}

static int recover(void)
{
	char buf[256] __attribute__((aligned(8)));

	return request(reporter(buf, DEVLINK_CMD_HEALTH_REPORTER_RECOVER), NULL);
}

/* The driver */

static int write_function(const char *file)
{
	int fd = open(file, O_WRONLY), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, function, strlen(function)) < 0)
		err = errno;
	close(fd);
	return err;
}

static int act_unbind(void)
{
	return write_function(DRIVER "unbind");
}

static int act_bind(void)
{
	return write_function(DRIVER "bind");
}

/* Its name may be another one after it was created again; false if there is none yet. */
static bool find_netdev(void)
{
	char path[128];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/net", function);
	dir = opendir(path);
	if (!dir)
		return false;
	netdev[0] = 0;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			snprintf(netdev, sizeof(netdev), "%.15s", entry->d_name);
	closedir(dir);
	return netdev[0];
}

static bool has_rdma(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/infiniband", function);
	return !access(path, F_OK);
}

static bool works(void)
{
	return find_netdev() && has_rdma();
}

/* After a failed reload, the device has failed, which is reported a little later. */
static bool recovers(void)
{
	time_t end = time(NULL) + 20 * tap_slow();

	while (!works() && !recover() && time(NULL) < end)
		usleep(10000);
	return works() && !set_up(true);
}

/* Not bound, or bound with an RDMA device and a network interface */
static bool bound_or_not(void)
{
	char path[128];

	snprintf(path, sizeof(path), DRIVER "%s", function);
	return access(path, F_OK) ? !find_netdev() && !has_rdma() : works();
}

static const struct nomem_op op_rings = {act_rings, undo_rings, is_up};
static const struct nomem_op op_up = {act_up, act_down, NULL};
static const struct nomem_op op_reload = {act_reload, NULL, recovers};
static const struct nomem_op op_bind = {act_bind, act_unbind, bound_or_not};

static void test_up(const void *arg)
{
	(void)arg;
	EXPECT_EQ(act_down(), 0);
	nomem_run(&op_up);
	EXPECT_EQ(act_up(), 0);
}

static void test_reload(const void *arg)
{
	(void)arg;
	EXPECT_EQ(auto_recover(false), 0);
	nomem_run(&op_reload);
	EXPECT_EQ(auto_recover(true), 0);
}

static void test_bind(const void *arg)
{
	(void)arg;
	EXPECT_EQ(act_unbind(), 0);
	nomem_run(&op_bind);
	EXPECT_EQ(act_bind(), 0);
}

static const struct tap_test tests[] = {
	{"rings of other sizes", nomem_run, &op_rings},
	{"an interface that is brought up", test_up, NULL},
	{"a reload", test_reload, NULL},
	{"a function that is bound", test_bind, NULL},
};

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: nomem_device FUNCTION\n");
		return 2;
	}
	function = argv[1];
	nomem_init();
	inet = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	open_devlink();
	if (inet < 0 || !recovers())
		tap_bail("no network interface");
	return tap_run(tests, ARRAY_SIZE(tests));
}
