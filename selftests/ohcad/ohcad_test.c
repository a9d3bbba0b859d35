// SPDX-License-Identifier: GPL-2.0
/* The program: command line, several HCAs, clients that connect and disconnect, signals. */

#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <linux/pci_regs.h>

#include "client.h"
#include "harness.h"
#include "ohca/ohca_regs.h"
#include "server.h"

#define REGS (VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_REGS)
#define HCA(n) "socket=/tmp/ohcad-test-" #n ",mac=02:00:00:00:00:0" #n

static const char *ohcad;

/* Run ohcad with up to six arguments; returns its exit status. */
static int run(char *out, size_t max, const char *const args[6])
{
	const char *argv[8] = {ohcad};
	int status;

	memcpy(argv + 1, args, 6 * sizeof(*args));
	status = server_run(argv, out, max);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_help(void **state)
{
	char out[8192];

	(void)state;
	assert_int_equal(run(out, sizeof(out), (const char *[6]){"--help"}), 0);
	assert_non_null(strstr(out, "Usage: ohcad --hca socket=PATH,mac=MAC"));
	assert_int_equal(run(out, sizeof(out), (const char *[6]){"-h"}), 0);
	assert_non_null(strstr(out, "--spin-us"));
	assert_int_equal(run(out, sizeof(out), (const char *[6]){"--version"}), 0);
	assert_non_null(strstr(out, "ohcad"));
}

static void test_bad_options(void **state)
{
	static const struct {
		const char *args[6];
		const char *text;
	} bad[] = {
		{{NULL}, "no --hca"},
		{{"--frobnicate"}, "frobnicate"},
		{{"--hca"}, "requires an argument"},
		{{"--hca", ""}, "socket=PATH is missing"},
		{{"--hca", "socket=/tmp/x"}, "mac=MAC is missing"},
		{{"--hca", "mac=02:00:00:00:00:01"}, "socket=PATH is missing"},
		{{"--hca", "socket=,mac=02:00:00:00:00:01"}, "socket needs a value"},
		{{"--hca", "socket,mac=02:00:00:00:00:01"}, "socket needs a value"},
		{{"--hca", "socket=/tmp/x,mac=02:00:00:00:00"}, "not a MAC address"},
		{{"--hca", "socket=/tmp/x,mac=02:00:00:00:00:01:02"}, "not a MAC address"},
		{{"--hca", "socket=/tmp/x,mac=02:00:00:00:00:0g"}, "not a MAC address"},
		{{"--hca", "socket=/tmp/x,mac=02-00-00-00-00-01"}, "not a MAC address"},
		{{"--hca", "socket=/tmp/x,mac=2:0:0:0:0:1"}, "not a MAC address"},
		{{"--hca", "socket=/tmp/x,mac="}, "mac needs a value"},
		{{"--hca", "socket=/tmp/x,mac=03:00:00:00:00:01"}, "of one port"},
		{{"--hca", "socket=/tmp/x,mac=00:00:00:00:00:00"}, "of one port"},
		{{"--hca", "socket=/tmp/x,mac=02:00:00:00:00:01,color=red"}, "color=red"},
		{{"--hca", HCA(1) ",socket=/tmp/y"}, "given twice"},
		{{"--hca", HCA(1) ",mac=02:00:00:00:00:01"}, "given twice"},
		{{"--hca", HCA(1) ",name=a,name=b"}, "given twice"},
		{{"--hca", HCA(1) ",map,map"}, "given twice"},
		{{"--hca", HCA(1) ",map=1"}, "map takes no value"},
		{{"--hca", HCA(1) ",link=ib,speed=FDR10"}, "there is no speed 'FDR10'"},
		{{"--hca", HCA(1) ",link=ib,speed="}, "speed needs a value"},
		{{"--hca", HCA(1) ",link=ib,speed=EDR,speed=EDR"}, "speed is given twice"},
		{{"--hca", HCA(1) ",speed=EDR"},
		 "speed, width, node and pace need an InfiniBand port"},
		{{"--hca", HCA(1) ",link=ib,width=3"}, "width is 1, 2, 4, 8 or 12, not '3'"},
		{{"--hca", HCA(1) ",profile=least"},
		 "profile is minimal-rc, verbs or all, not 'least'"},
		{{"--hca", HCA(1) ",link=eth,width=4"},
		 "speed, width, node and pace need an InfiniBand port"},
		{{"--hca", HCA(1) ",pace=on"},
		 "speed, width, node and pace need an InfiniBand port"},
		{{"--hca", HCA(1) ",link=ib,pace=yes"}, "pace is on or off, not 'yes'"},
		{{"--hca", HCA(1) ",trust="}, "trust needs a value"},
		{{"--hca", HCA(1) ",trust=some"}, "'some' is not a MAC address"},
		{{"--hca", HCA(1) ",trust=02:00:00:00:00:09+"}, "'' is not a MAC address"},
		{{"--hca", HCA(1) ",trust=03:00:00:00:00:09"}, "of one port"},
		{{"--hca", HCA(1) ",trust=all,trust=all"}, "trust is given twice"},
		{{"--hca", HCA(1) ",gid=10.0.0.1+host"}, "'host' is not an IP address"},
		{{"--hca", HCA(1) ",gid=10.0.0"}, "'10.0.0' is not an IP address"},
		{{"--hca", HCA(1) ",learn=1025"}, "learn is a number from 0 to 1024, not '1025'"},
		{{"--hca", HCA(1) ",learn=-1"}, "learn is a number from 0 to 1024, not '-1'"},
		{{"--hca", HCA(1) ",quota-pages=x"}, "quota-pages is a number, with k, M or G"},
		{{"--hca", HCA(1) ",quota-pages=-1"}, "quota-pages is a number"},
		{{"--hca", HCA(1) ",quota-pages=1T"}, "not '1T'"},
		{{"--hca", HCA(1) ",quota-pages=1kk"}, "not '1kk'"},
		{{"--hca", HCA(1) ",quota-pages=4294967296"}, "not '4294967296'"},
		{{"--hca", HCA(1) ",quota-pages"}, "quota-pages needs a value"},
		{{"--hca", HCA(1) ",quota-rain=1"}, "unknown or misplaced 'quota-rain=1'"},
		{{"--hca", HCA(1) ",mirror=yes"}, "mirror is on or off, not 'yes'"},
		{{"--hca", HCA(1), "--hca", HCA(1)}, "two HCAs at socket"},
		{{"--hca", HCA(1), "--hca", "socket=/tmp/y,mac=02:00:00:00:00:01"},
		 "two HCAs of one MAC address"},
		{{"--hca", HCA(1) ",name=a", "--hca", HCA(2) ",name=a"}, "two HCAs of name a"},
		{{"--hca", HCA(1) ",link=ib,node=A"}, "--hca hca0: node=A needs --topology"},
		{{"--hca", HCA(1) ",node=A"},
		 "speed, width, node and pace need an InfiniBand port"},
		{{"--hca", HCA(1) ",link=ib,node=A,width=1"}, "those of the topology"},
		{{"--hca", HCA(1), "--topology", "/no/net"},
		 "--topology /no/net: it can't be read"},
		{{"--hca", HCA(1), "surplus"}, "surplus"},
		{{"--hca", HCA(1), "--capture", "x,y"}, "--capture x,y: after the file come"},
		{{"--hca", HCA(1), "--capture", ""}, "a file is missing"},
		{{"--hca", HCA(1), "--metrics", ""}, "--metrics: a path is missing"},
		{{"--hca", HCA(1), "--metrics", "/tmp/m,color=1"},
		 "--metrics: after the path come mode=MODE and group=GROUP"},
		{{"--hca", HCA(1), "--metrics", "/tmp/m,mode=8"}, "--metrics: '8': mode is"},
		{{"--metrics=/tmp/m", "--metrics=/tmp/n"}, "--metrics is given twice"},
		{{"--hca", HCA(1), "--fault", "loss"}, "--fault loss: it begins with drop,"},
		{{"--hca", HCA(1), "--fault", "drop,op=nack"}, "op: there is no 'nack'"},
		{{"--hca", HCA(1), "--fault", "drop,hca=hca1"}, "there is no HCA 'hca1'"},
		{{"--hca", HCA(1), "--fault", "fail-hca"}, "fail-hca: hca=NAME is missing"},
		{{"--hca", HCA(1), "--fault", "unplug,hca=hca1"}, "there is no HCA 'hca1'"},
		{{"--hca", HCA(1), "--fault", "node-down,node=hca0"},
		 "--fault node-down,node=hca0: there is no InfiniBand node 'hca0'"},
		{{"--hca", HCA(1) ",link=ib", "--fault", "node-down,node=S"},
		 "there is no InfiniBand node 'S'"},
		{{"--hca", HCA(1) ",link=ib", "--fault", "cable-down,node=hca0,port=2"},
		 "node 'hca0' has no cable at port 2"},
		{{"--hca", HCA(1) ",link=ib", "--fault", "cable-error=symbol,node=switch,port=2"},
		 "node 'switch' has no cable at port 2"},
		{{"--hca", HCA(1) ",link=ib", "--uplink", "tap=ohca0,link=ib"},
		 "a tap interface carries Ethernet only"},
		{{"--hca", HCA(1), "--uplink", "stream=unix:/a,link=ib"},
		 "there is no InfiniBand port"},
		{{"--hca", HCA(1) ",mode=660x"}, "mode is the permissions in octal digits"},
		{{"--hca", HCA(1) ",mode=01777"}, "mode is the permissions in octal digits"},
		{{"--hca", HCA(1) ",mode=0077"}, "mode is the permissions in octal digits"},
		{{"--hca", HCA(1) ",group=no-such-group"}, "there is no such group"},
		{{"--hca", HCA(1), "--control", "/tmp/x,mode=0660,user=root"},
		 "after the path come mode=MODE and group=GROUP"},
		{{"--hca", HCA(1), "--control", ",mode=0660"}, "a path is missing"},
		{{"--hca", HCA(1), "--uplink", "stream=unix:/tmp/x,mode=0660"},
		 "'mode' and 'group' need a socket in the file system"},
		{{"--hca", HCA(1), "--uplink", "stream=tcp:127.0.0.1:1,listen,group=0"},
		 "'mode' and 'group' need a socket in the file system"},
		{{"--hca", HCA(1), "--sandbox", "maybe"},
		 "--sandbox is on, log or off, not 'maybe'"},
		{{"--hca", HCA(1), "--hang", "1"}, "--hang"},
		{{"--hca", HCA(1), "--hang", "1ms"}, "--hang is at least 10ms"},
		{{"--hca", HCA(1), "--user", "no-such-user"}, "there is no user 'no-such-user'"},
		{{"--hca", HCA(1), "--spin-us", "x"}, "--spin-us"},
		{{"--hca", HCA(1), "--spin-us", ""}, "--spin-us"},
		{{"--hca", HCA(1), "--spin-us", "-1"}, "--spin-us"},
		{{"--hca", HCA(1), "--spin-us", "1x"}, "--spin-us"},
		{{"--hca", HCA(1), "--spin-us", "99999999999999999999"}, "--spin-us"},
	};
	char out[4096];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(run(out, sizeof(out), bad[i].args), 2);
		if (!strstr(out, bad[i].text))
			fail_msg("'%s' is not in: %s", bad[i].text, out);
	}
}

#define IB(n) HCA(n) ",link=ib"

/* Check an adapter of the net file with a rule for faults; returns the exit status. */
static int check_net(const char *path, const char *rule)
{
	const char *argv[] = {ohcad, "--check", "--topology", path, "--hca",
			      IB(1), "--fault", rule,	      NULL};
	char out[4096];
	int status = server_run(argv, out, sizeof(out));

	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Which HCA of a topology an adapter is, and which nodes faults are of */
static void test_topology_options(void **state)
{
	static const char text[] = "Switch 8 \"S\"\n[1] \"A\"\n[2] \"B\"\n[3] \"C\"\n[4] \"C\"[2]\n"
				   "Ca 1 \"A\"\n[1] \"S\"[1]\nCa 2 \"B\"\n[1] \"S\"[2]\n"
				   "Ca 2 \"C\"\n[1] \"S\"[3]\n[2] \"S\"[4]\n";
	static const struct {
		const char *args[6];
		const char *text;
	} bad[] = {
		{{"--hca", IB(1) ",node=D"}, "--hca hca0: the topology has no node 'D'"},
		{{"--hca", IB(1) ",node=S"}, "--hca hca0: node 'S' is a switch"},
		{{"--hca", IB(1) ",node=A", "--hca", IB(2) ",node=A"},
		 "--hca hca1: node 'A' is another adapter's"},
		{{"--hca", IB(1) ",node=C"},
		 "node 'C' has other ports, or a cable at one that is not the adapter's"},
		{{"--hca", IB(1), "--fault", "node-down,node=hca0"},
		 "--fault node-down,node=hca0: there is no InfiniBand node 'hca0'"},
		{{"--hca", IB(1), "--fault", "cable-down,node=S,port=5"},
		 "--fault cable-down,node=S,port=5: node 'S' has no cable at port 5"},
		{{"--hca", IB(1), "--fault", "cable-down,node=B,port=3"},
		 "node 'B' has no cable at port 3"},
	};
	static const char *const faults[] = {
		"node-down,node=A",
		"node-down,node=S",
		"cable-down,node=C,port=2",
		"cable-error=symbol,node=S,port=4",
	};
	char path[] = "/tmp/ohcad-net.XXXXXX", out[4096];
	const char *args[6] = {"--check", "--topology", path};
	int fd = mkstemp(path);
	unsigned int i, j;

	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (j = 0; j < 4 && bad[i].args[j]; j++)
			;
		memcpy(args, bad[i].args, sizeof(args));
		args[j] = "--topology";
		args[j + 1] = path;
		assert_int_equal(run(out, sizeof(out), args), 2);
		if (!strstr(out, bad[i].text))
			fail_msg("'%s' is not in: %s", bad[i].text, out);
	}
	assert_int_equal(run(out, sizeof(out),
			     (const char *[6]){"--check", "--topology", path, "--hca", IB(1)}),
			 0);
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		assert_int_equal(check_net(path, faults[i]), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(
		run(out, sizeof(out), (const char *[6]){"--topology", path, "--hca", IB(1)}), 2);
	assert_non_null(strstr(out, ": expected a node"));
	close(fd);
	unlink(path);
}

/* --check reports whether the command line is valid, and opens nothing that it names. */
static void test_check(void **state)
{
	static const char *const good[][6] = {
		{"--check", "--hca", HCA(1), "--fault", "drop,p=0.1"},
		{"--hca", "socket=/no/such/folder,mac=02:00:00:00:00:01", "--check", "--fault",
		 "unplug,hca=hca0,after=1s"},
		{"--hca", HCA(1), "--capture", "/no/such/folder,snaplen=64", "--check"},
		{"--hca", HCA(1), "--uplink", "tap=nosuchtap", "--check"},
		{"--hca", HCA(1) ",trust=02:00:00:00:00:02+02:00:00:00:00:07,gid=10.0.0.1+fd77::1",
		 "--check"},
		{"--hca", HCA(1) ",trust=all,learn=0,mirror=on", "--check"},
		{"--hca", HCA(1) ",quota-pages=0", "--hca", HCA(2) ",quota-pages=2G", "--check"},
		{"--hca", HCA(1) ",link=ib", "--uplink", "stream=unix:/no/uplink,link=ib",
		 "--check"},
		{"--hca", HCA(1), "--control", "/tmp/ohcad-test-control", "--check"},
		{"--hca", HCA(1), "--metrics", "/tmp/ohcad-test-control,mode=0666", "--check"},
		{"--hca", HCA(1) ",ports=eth+ib", "--fault", "cable-down,node=hca0,port=2",
		 "--check"},
		{"--hca", HCA(1) ",link=ib", "--fault", "cable-down,node=switch,port=1", "--check"},
	};
	char out[4096];
	struct stat st;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(run(out, sizeof(out), good[i]), 0);
		assert_string_equal(out, "");
	}
	assert_int_equal(stat("/tmp/ohcad-test-1", &st), -1);
	assert_int_equal(stat("/tmp/ohcad-test-control", &st), -1);
	assert_int_equal(run(out, sizeof(out),
			     (const char *[6]){"--check", "--hca", HCA(1), "--fault", "loss"}),
			 2);
	assert_non_null(strstr(out, "--fault loss: it begins with drop,"));
	assert_int_equal(run(out, sizeof(out), (const char *[6]){"--check"}), 2);
	assert_non_null(strstr(out, "no --hca"));
}

static void expect_failure(const char *path, const char *text)
{
	char opts[512], out[4096];

	snprintf(opts, sizeof(opts), "socket=%s,mac=02:00:00:00:00:01", path);
	assert_int_equal(run(out, sizeof(out), (const char *[6]){"--hca", opts}), 1);
	if (!strstr(out, text))
		fail_msg("'%s' is not in: %s", text, out);
}

static void test_bad_sockets(void **state)
{
	struct server *server = server_start(1);
	char path[256];
	struct stat st;
	FILE *f;

	(void)state;
	expect_failure("/nowhere/at/all", "No such file or directory");
	/* Another process serves it. */
	expect_failure(server->sock[0], "Address already in use");
	assert_int_equal(stat(server->sock[0], &st), 0);
	/* A file that is not a socket is left as it is. */
	snprintf(path, sizeof(path), "%s/file", server->dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	expect_failure(path, "File exists");
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(path);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[120] = '\0';
	expect_failure(path, "File name too long");
	assert_true(server_stop(server));
}

/* The socket of a server that was killed is replaced; a server that ends removes its sockets. */
static void test_old_socket(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/ohcad-test.XXXXXX", opts[256], log[512];
	const char *argv[] = {ohcad, "--hca", opts, NULL};
	struct server *server;
	struct stat st;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", dir);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	assert_int_equal(stat(addr.sun_path, &st), 0);
	snprintf(opts, sizeof(opts), "socket=%s,mac=02:00:00:00:00:01,name=first", addr.sun_path);
	server = server_start_argv(argv, addr.sun_path);
	vu_close(vu_open(addr.sun_path));
	snprintf(log, sizeof(log), "%s: listening", addr.sun_path);
	assert_true(server_logged(server, log));
	assert_true(server_stop(server));
	assert_int_equal(stat(addr.sun_path, &st), -1);
	assert_int_equal(rmdir(dir), 0);
}

static void test_identity(void **state)
{
	struct server *server = server_start(1);
	struct vu *vu = vu_open(server->sock[0]);
	struct vfio_region_info info;

	(void)state;
	assert_non_null(vu);
	assert_int_equal(vu_cfg_rd(vu, PCI_VENDOR_ID, 2), OHCA_PCI_VENDOR_ID);
	assert_int_equal(vu_cfg_rd(vu, PCI_DEVICE_ID, 2), OHCA_PCI_DEVICE_ID);
	assert_int_equal(vu_cfg_rd(vu, PCI_CLASS_REVISION, 4),
			 OHCA_PCI_CLASS << 8 | OHCA_PCI_REVISION);
	assert_int_equal(vu_cfg_rd(vu, PCI_SUBSYSTEM_VENDOR_ID, 2), OHCA_PCI_VENDOR_ID);
	assert_int_equal(vu_cfg_rd(vu, PCI_SUBSYSTEM_ID, 2), OHCA_PCI_SUBSYSTEM_ID);
	assert_int_equal(vu_get_region_info(vu, REGS, &info), 0);
	assert_int_equal(info.size, OHCA_BAR_REGS_SIZE);
	vu_find_caps(vu);
	assert_int_not_equal(vu->msix_cap, 0);
	assert_int_equal(vu_cfg_rd(vu, vu->msix_cap + PCI_MSIX_TABLE, 4), OHCA_BAR_MSIX);
	vu_enable(vu, 1);
	assert_int_equal(vu_rd32(vu, REGS, OHCA_REG_MAGIC), OHCA_MAGIC);
	vu_close(vu);
	assert_true(server_stop(server));
}

/*
 * A client that stops in the middle of a message does not prevent another HCA's client from being
 * served.
 */
static void test_stuck_client(void **state)
{
	struct server *server = server_start(2);
	struct vu *stuck = vu_open(server->sock[0]), *vu = vu_open(server->sock[1]);
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_region_rw rw;
	} req = {{0, VFIO_USER_REGION_READ, sizeof(req), 0, 0},
		 {0, VFIO_PCI_CONFIG_REGION_INDEX, 4096}};
	unsigned int i;

	(void)state;
	assert_non_null(stuck);
	assert_non_null(vu);
	while (send(stuck->fd, &req, sizeof(req), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(req))
		;
	vu_enable(vu, 4);
	for (i = 0; i < 1000; i++)
		assert_int_equal(vu_rd32(vu, REGS, OHCA_REG_MAGIC), OHCA_MAGIC);
	vu_close(vu);
	/* It is still connected when the device ends. */
	assert_true(server_stop(server));
	vu_close(stuck);
}

static void test_reconnect(void **state)
{
	struct server *server = server_start(2);
	struct vu *other = vu_open(server->sock[1]), *vu;
	unsigned int fds = 0, i;

	(void)state;
	assert_non_null(other);
	vu_enable(other, 32);
	for (i = 0; i < 100; i++) {
		vu = vu_open(server->sock[0]);
		assert_non_null(vu);
		if (!i)
			fds = server_count_fds(server);
		assert_int_equal(server_count_fds(server), fds);
		vu_enable(vu, 32);
		vu_mem_new(vu, 0, 1 << 20);
		vu_mem_new(vu, 1ULL << 32, 1 << 20);
		assert_int_equal(vu_rd32(vu, REGS, OHCA_REG_MAGIC), OHCA_MAGIC);
		assert_int_equal(vu_rd32(vu, REGS, OHCA_REG_STATUS), 0);
		server_wait_maps(server, 2);
		vu_close(vu);
	}
	assert_int_equal(vu_rd32(other, REGS, OHCA_REG_MAGIC), OHCA_MAGIC);
	vu_close(other);
	vu = vu_open(server->sock[0]);
	server_wait_maps(server, 0);
	vu_close(vu);
	assert_true(server_stop(server));
}

/* A client process that is killed in the middle of a message. */
static void test_killed_client(void **state)
{
	struct server *server = server_start(1);
	struct vfio_user_hdr hdr = {1, VFIO_USER_REGION_WRITE, 4096, 0, 0};
	unsigned int fds, i;
	int ready[2];
	struct vu *vu;
	pid_t pid;
	char c;

	(void)state;
	vu = vu_open(server->sock[0]);
	fds = server_count_fds(server);
	vu_close(vu);
	for (i = 0; i < 10; i++) {
		assert_int_equal(pipe(ready), 0);
		fflush(NULL);
		pid = fork();
		if (!pid) {
			close(ready[0]);
			vu = vu_open(server->sock[0]);
			vu_enable(vu, 8);
			vu_mem_new(vu, 0, 1 << 20);
			vu_send(vu->fd, &hdr, sizeof(hdr), vu->irq, 8);
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		close(ready[1]);
		assert_int_equal(read(ready[0], &c, 1), 1);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		close(ready[0]);
	}
	vu = vu_open(server->sock[0]);
	assert_non_null(vu);
	assert_int_equal(server_count_fds(server), fds);
	server_wait_maps(server, 0);
	vu_close(vu);
	assert_true(server_stop(server));
}

static void test_signals(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT};
	struct server *server;
	struct vu *vu[3];
	unsigned int i, j;
	struct stat st;
	int status;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		server = server_start(3);
		for (j = 0; j < 3; j++) {
			vu[j] = vu_open(server->sock[j]);
			assert_non_null(vu[j]);
			vu_enable(vu[j], 32);
			vu_mem_new(vu[j], 0, 1 << 20);
		}
		kill(server->pid, signals[i]);
		assert_int_equal(waitid(P_PID, server->pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
		for (j = 0; j < 3; j++) {
			assert_int_equal(vu_get_info(vu[j], &(struct vfio_device_info){0}), -EPIPE);
			assert_int_equal(stat(server->sock[j], &st), -1);
			vu_close(vu[j]);
		}
		status = server_stop(server);
		assert_true(status);
	}
}

/* An idle process sleeps. */
static void test_idle(void **state)
{
	struct server *server = server_start(2);

	(void)state;
	server_wait_idle(server);
	assert_true(server_stop(server));
}

static int setup(void **state)
{
	(void)state;
	ohcad = getenv("OHCAD");
	return ohcad ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_topology_options),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_bad_sockets),
		cmocka_unit_test(test_old_socket),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_stuck_client),
		cmocka_unit_test(test_reconnect),
		cmocka_unit_test(test_killed_client),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_idle),
	};

	return RUN_TESTS(tests, setup, NULL);
}
