// SPDX-License-Identifier: GPL-2.0
/*
 * The example of the specification, byte by byte: the test writes the bytes that it writes to
 * registers, memory and the wire, and compares the bytes that it reads there.
 */

#include <poll.h>
#include <time.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "harness.h"
#include "client.h"
#include "server.h"

#define TITLE "An example: from reset to the first write\n"
#define MEM 0x100000000ULL
#define MEM_SIZE 0x10000
#define VECTORS 2
#define MAX_BYTES 256
#define WAIT_MS 10000
#define KEY_LEN 4 /* bytes "kk" in a row */

/**
 * struct bytes - hexadecimal bytes of the text
 * @is_key: it is a byte of the memory key, which the device chooses
 */
struct bytes {
	unsigned int num;
	uint8_t byte[MAX_BYTES];
	bool is_key[MAX_BYTES];
};

static struct vu *vu;
static int wire = -1; /* the other end of the device's uplink */
static struct sockaddr_un device_end;
static uint8_t key[KEY_LEN];
static bool have_key;

/* The bytes of the lines from @text on; returns the position behind them. */
static const char *get_bytes(const char *text, struct bytes *b)
{
	const char *end;

	b->num = 0;
	while (!strncmp(text, "        ", 8)) {
		end = strchr(text, '\n');
		for (text += 8; text < end; text += text[2] == ' ' ? 3 : 2) {
			assert_true(b->num < MAX_BYTES);
			b->is_key[b->num] = !strncmp(text, "kk", 2);
			b->byte[b->num++] = strtoul(text, NULL, 16);
		}
		text = end + 1;
	}
	assert_true(b->num > 0);
	return text;
}

/* Replace "kk" by the key that the device chose; with @from, the key is taken from there. */
static void put_key(struct bytes *b, const uint8_t *from)
{
	unsigned int i, n = 0;

	for (i = 0; i < b->num; i++) {
		if (!b->is_key[i])
			continue;
		assert_true(n < KEY_LEN);
		if (from && !have_key)
			key[n] = from[i];
		b->byte[i] = key[n++];
	}
	have_key |= n > 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* Wait until memory holds the bytes; those of an unknown key may have any value. */
static void read_mem(uint64_t addr, struct bytes *b)
{
	const uint8_t *at = vu_mem_ptr(vu, addr, b->num);
	uint64_t end = now_ms() + WAIT_MS;
	unsigned int i;

	assert_non_null(at);
	put_key(b, at);
	do {
		for (i = 0; i < b->num && __atomic_load_n(&at[i], __ATOMIC_ACQUIRE) == b->byte[i];
		     i++)
			;
	} while (i < b->num && now_ms() < end);
	assert_memory_equal(at, b->byte, b->num);
}

static void write_mem(uint64_t addr, struct bytes *b)
{
	uint8_t *at = vu_mem_ptr(vu, addr, b->num);

	assert_non_null(at);
	put_key(b, NULL);
	memcpy(at, b->byte, b->num);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void read_frame(const struct bytes *b)
{
	struct pollfd pfd = {.fd = wire, .events = POLLIN};
	uint8_t frame[MAX_BYTES];

	assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
	assert_int_equal(recv(wire, frame, sizeof(frame), 0), b->num);
	assert_memory_equal(frame, b->byte, b->num);
}

static void write_frame(const struct bytes *b)
{
	assert_int_equal(sendto(wire, b->byte, b->num, 0, (struct sockaddr *)&device_end,
				sizeof(device_end)),
			 b->num);
}

static void do_reg(bool write, uint64_t off, uint32_t val)
{
	uint64_t end = now_ms() + WAIT_MS;

	if (write) {
		vu_wr32(vu, VFIO_PCI_BAR0_REGION_INDEX, off, val);
		return;
	}
	while (vu_rd32(vu, VFIO_PCI_BAR0_REGION_INDEX, off) != val && now_ms() < end)
		;
	assert_int_equal(vu_rd32(vu, VFIO_PCI_BAR0_REGION_INDEX, off), val);
}

/* Execute one statement; returns the position behind it. */
static const char *execute(const char *text)
{
	bool write = !strncmp(text, "    write ", 10);
	const char *line = text;
	unsigned long long a, v;
	struct bytes b;

	text = strchr(text, '\n') + 1;
	line += write ? 10 : 9;
	if (sscanf(line, "reg 0x%llx 0x%llx", &a, &v) == 2) {
		do_reg(write, a, v);
	} else if (write && sscanf(line, "uar 0x%llx 0x%llx", &a, &v) == 2) {
		vu_wr64(vu, VFIO_PCI_BAR2_REGION_INDEX, a, v);
	} else if (sscanf(line, "mem 0x%llx", &a) == 1) {
		text = get_bytes(text, &b);
		(write ? write_mem : read_mem)(a, &b);
	} else if (!strncmp(line, "frame\n", 6)) {
		text = get_bytes(text, &b);
		(write ? write_frame : read_frame)(&b);
	} else {
		fail_msg("no statement: %.60s", line);
	}
	return text;
}

static char *read_spec(void)
{
	FILE *f = fopen(SPEC, "r");
	char *text;
	long len;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	len = ftell(f);
	rewind(f);
	text = calloc(1, len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, len, f), len);
	fclose(f);
	return text;
}

static void test_example(void **state)
{
	char *spec = read_spec();
	const char *text = strstr(spec, TITLE "=");
	unsigned int num = 0;

	(void)state;
	assert_non_null(text);
	text += 2 * strlen(TITLE);
	text = strstr(text, "**Bring-up.**");
	assert_non_null(text);
	/* The next section ends it. */
	while (*text && *text != '=') {
		if (!strncmp(text, "    read ", 9) || !strncmp(text, "    write ", 10)) {
			text = execute(text);
			num++;
		} else {
			text = strchr(text, '\n') + 1;
		}
	}
	assert_true(num > 80);
	assert_true(have_key);
	free(spec);
}

static void bind_to(int fd, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_example)};
	char dir[] = "/tmp/example_test.XXXXXX";
	char hca[128], sock[64], ours[64], uplink[256];
	const char *argv[] = {getenv("OHCAD"), "--hca", hca, "--uplink", uplink, NULL};
	struct server *server;
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(sock, sizeof(sock), "%s/hca", dir);
	snprintf(ours, sizeof(ours), "%s/wire", dir);
	snprintf(hca, sizeof(hca), "socket=%s,mac=02:00:00:00:00:01", sock);
	device_end.sun_family = AF_UNIX;
	snprintf(device_end.sun_path, sizeof(device_end.sun_path), "%s/uplink", dir);
	snprintf(uplink, sizeof(uplink), "dgram=unix:%s,remote=unix:%s", device_end.sun_path, ours);
	wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bind_to(wire, ours);

	server = server_start_argv(argv, sock);
	vu = vu_open(sock);
	vu_mem_new(vu, MEM, MEM_SIZE);
	vu_enable(vu, VECTORS);
	failed = RUN_TESTS(tests, NULL, NULL);
	vu_close(vu);
	failed |= !server_stop(server);
	close(wire);
	unlink(ours);
	unlink(sock);
	unlink(device_end.sun_path);
	return rmdir(dir) || failed;
}
