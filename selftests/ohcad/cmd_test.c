// SPDX-License-Identifier: GPL-2.0
/* The command queue, and the rules that hold for every command. */

#include <endian.h>

#include "harness.h"
#include "command.h"
#include "server.h"

static struct server *server;
static struct drv *drv;
static struct objects obj;

static int setup(void **state)
{
	(void)state;
	server = server_start(1);
	drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	objects_init(&obj, drv);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	drv_close(drv);
	return server_stop(server) ? 0 : -1;
}

#define H sizeof(struct ohca_handle)

/* Some commands only exist on a port whose link is InfiniBand. */
static bool exists(uint16_t opcode)
{
	unsigned int i;

	if (opcode == OHCA_CMD_MAD)
		return true;
	for (i = 0; i < num_commands; i++) {
		if (commands[i].opcode == opcode)
			return true;
	}
	return false;
}

static void test_unknown_opcodes(void **state)
{
	union input in = {0};
	uint8_t out[256];
	uint32_t opcode;

	(void)state;
	for (opcode = 0; opcode < 0x10000; opcode += opcode < 0x100 ? 1 : 0xff) {
		if (!exists(opcode))
			assert_int_equal(drv_cmd(drv, opcode, &in, 64, out, sizeof(out)),
					 OHCA_CMD_BAD_OPCODE);
	}
}

static int run(const struct command *c, const union input *in, size_t in_len, size_t out_len)
{
	uint8_t out[OHCA_CMD_MAX_LEN];
	int status = drv_cmd(drv, c->opcode, in, in_len, out, out_len);
	struct ohca_handle h;

	if (!status && c->destroy) {
		memcpy(&h, out, sizeof(h));
		assert_int_equal(drv_destroy(drv, c->destroy, le32toh(h.id)), OHCA_CMD_OK);
	}
	return status;
}

/* The shortest input that the command takes: that of the first version that had it. */
static size_t least_input(const struct command *c)
{
	switch (c->opcode) {
	case OHCA_CMD_MODIFY_PORT:
		return OHCA_MODIFY_PORT_IN_MIN;
	case OHCA_CMD_CREATE_MKEY:
		return OHCA_CREATE_MKEY_IN_MIN;
	case OHCA_CMD_MODIFY_MKEY:
		return OHCA_MODIFY_MKEY_IN_MIN;
	case OHCA_CMD_CREATE_QP:
		return OHCA_CREATE_QP_IN_MIN;
	case OHCA_CMD_MODIFY_QP:
		return OHCA_MODIFY_QP_IN_MIN;
	default:
		return c->in_len;
	}
}

static void test_lengths(void **state)
{
	uint64_t next = drv->next;
	unsigned int i;

	(void)state;
	for (i = 0; i < num_commands; i++) {
		const struct command *c = &commands[i];
		union input in = {0};
		size_t excess;

		c->build(&obj, &in);
		if (c->in_len) {
			assert_int_equal(run(c, &in, least_input(c) - 1, c->out_len),
					 OHCA_CMD_BAD_LEN);
			assert_int_equal(run(c, &in, 0, c->out_len), OHCA_CMD_BAD_LEN);
		}
		if (c->out_len) {
			assert_int_equal(run(c, &in, c->in_len, c->out_len - 1), OHCA_CMD_BAD_LEN);
			assert_int_equal(run(c, &in, c->in_len, 0), OHCA_CMD_BAD_LEN);
		}
		for (excess = c->in_len; excess < c->in_len + 70U; excess += 23) {
			in.bytes[excess] = 1;
			assert_int_equal(run(c, &in, c->in_len + 100, c->out_len),
					 OHCA_CMD_BAD_PARAM);
			assert_int_equal(drv->syndrome, c->in_len);
			in.bytes[excess] = 0;
		}
		/* It had no effect so far, and succeeds with zeroes appended. */
		assert_int_equal(run(c, &in, c->in_len + 100, OHCA_CMD_MAX_LEN), OHCA_CMD_OK);
		drv->next = next;
	}
}

/* Does the command look at what the input has from there on?  Attributes that the mask does not name are ignored. */
static bool looks_at(const struct command *c, size_t len)
{
	return c->opcode != OHCA_CMD_MODIFY_QP ||
	       len < offsetof(struct ohca_modify_qp_in, attr.alt_pkey_index);
}

/*
 * Software of an earlier version sends a shorter input: the missing bytes count as zero, whatever
 * an earlier input had there.
 */
static void test_short_inputs(void **state)
{
	uint64_t next = drv->next;
	unsigned int i, len, num = 0;

	(void)state;
	for (i = 0; i < num_commands; i++) {
		const struct command *c = &commands[i];

		for (len = least_input(c); len < c->in_len; len++, num++) {
			union input in = {0};

			c->build(&obj, &in);
			memset(in.bytes + len, 0xff, c->in_len - len);
			assert_int_equal(!run(c, &in, c->in_len, c->out_len), !looks_at(c, len));
			assert_int_equal(run(c, &in, len, c->out_len), OHCA_CMD_OK);
			drv->next = next;
		}
	}
	assert_int_equal(num, 3 * 8 + 16 + 40);
}

/* The completion reports the output length: at most the room of the buffer, 0 on error. */
static void test_output_length(void **state)
{
	struct ohca_query_port_in bad = {.port = 77}, port = {.port = 1};
	struct ohca_query_port_out out;
	struct ohca_query_device_out dev;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_PORT, &port, sizeof(port), &out, sizeof(out)),
			 0);
	assert_int_equal(drv->out_len, sizeof(out));
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_PORT, &bad, sizeof(bad), &out, sizeof(out)),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->out_len, 0);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev,
				 OHCA_QUERY_DEVICE_OUT_MIN + 4),
			 0);
	assert_int_equal(drv->out_len, OHCA_QUERY_DEVICE_OUT_MIN + 4);
	assert_int_equal(
		drv_destroy(drv, OHCA_CMD_FREE_PD, drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0)), 0);
	assert_int_equal(drv->out_len, 0);
}

/* The handle of a destroyed object is invalid, and so is one that never existed. */
static void test_unknown_handles(void **state)
{
	static const uint32_t bad[] = {0, 0xffffff, 0x1000000, 0x7fffffff, UINT32_MAX};
	uint64_t next = drv->next;
	unsigned int i, j;

	(void)state;
	for (i = 0; i < num_commands; i++) {
		const struct command *c = &commands[i];
		union input in = {0};

		if (c->in_len != H || c->out_len || !command_makes(c))
			continue;
		c->build(&obj, &in);
		in.handle.rsvd = htole32(1);
		assert_int_equal(run(c, &in, H, 0), OHCA_CMD_BAD_PARAM);
		in.handle.rsvd = 0;
		assert_int_equal(run(c, &in, H, 0), OHCA_CMD_OK);
		assert_int_equal(run(c, &in, H, 0), OHCA_CMD_BAD_HANDLE);
		for (j = 0; j < 5; j++) {
			if (!bad[j] && c->opcode == OHCA_CMD_FREE_UAR)
				continue;
			in.handle.id = htole32(bad[j]);
			assert_int_equal(run(c, &in, H, 0), OHCA_CMD_BAD_HANDLE);
		}
		drv->next = next;
	}
}

static void test_reserved_field(void **state)
{
	struct ohca_cmd cmd = {
		.opcode = htole16(OHCA_CMD_ALLOC_PD),
		.out_len = htole16(H),
		.out_addr = htole64(drv_alloc(drv, 4096)),
		.rsvd = htole64(1ULL << 63),
	};

	(void)state;
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_cmd, rsvd));
}

static void test_bad_addresses(void **state)
{
	static const uint64_t bad[] = {DRV_NOWHERE,    0,	    UINT64_MAX,
				       UINT64_MAX - 8, DRV_MEM - 4, DRV_MEM + DRV_MEM_SIZE - 4};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ohca_cmd cmd = {
			.opcode = htole16(OHCA_CMD_ALLOC_PD),
			.tag = htole16(i),
			.out_len = htole16(H),
			.out_addr = htole64(bad[i]),
		};

		assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_ADDR);
		cmd.opcode = htole16(OHCA_CMD_FREE_PD);
		cmd.in_addr = cmd.out_addr;
		cmd.in_len = cmd.out_len;
		cmd.out_len = 0;
		assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_ADDR);
	}
}

static void test_announced_too_long(void **state)
{
	struct ohca_cmd cmd = {
		.opcode = htole16(OHCA_CMD_ALLOC_PD),
		.out_len = htole16(OHCA_CMD_MAX_LEN + 1),
		.out_addr = htole64(drv_alloc(drv, 8192)),
	};

	(void)state;
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_LEN);
	cmd.in_addr = cmd.out_addr;
	cmd.in_len = htole16(0xffff);
	cmd.out_len = htole16(H);
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_LEN);
	/* Errors detected before the command runs, and after it */
	cmd.in_addr = htole64(DRV_NOWHERE);
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_LEN);
	cmd.rsvd = htole64(1);
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_PARAM);
}

/*
 * A command that fails does not write its output; one that succeeds writes no more than its result.
 */
static void test_output(void **state)
{
	struct ohca_cmd cmd = {
		.opcode = htole16(OHCA_CMD_QUERY_PORT),
		.in_len = htole16(8),
		.out_len = htole16(OHCA_CMD_MAX_LEN),
		.in_addr = htole64(drv_alloc(drv, 4096)),
		.out_addr = htole64(drv_alloc(drv, 4096)),
	};
	struct ohca_query_port_in *in = drv_ptr(drv, le64toh(cmd.in_addr));
	uint8_t *out = drv_ptr(drv, le64toh(cmd.out_addr));
	unsigned int i;

	(void)state;
	memset(out, 0xee, 4096);
	in->port = 2;
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_BAD_PARAM);
	for (i = 0; i < 4096; i++)
		assert_int_equal(out[i], 0xee);
	in->port = 1;
	assert_int_equal(drv_raw(drv, &cmd), OHCA_CMD_OK);
	assert_int_equal(out[0], OHCA_LINK_ETHERNET);
	for (i = sizeof(struct ohca_query_port_out); i < 4096; i++)
		assert_int_equal(out[i], 0xee);
}

/* A full command ring, many times, with tags that are used again. */
static void test_full_ring(void **state)
{
	unsigned int round, i, size = 1 << DRV_LOG_CMDS;
	uint8_t seen[1 << DRV_LOG_CMDS];

	(void)state;
	for (round = 0; round < 50; round++) {
		memset(seen, 0, sizeof(seen));
		for (i = 0; i < size; i++) {
			struct ohca_cmd cmd = {
				.opcode = htole16(0xeeee),
				.tag = htole16(0xab00 + i),
			};

			drv_post(drv, &cmd);
		}
		drv_kick(drv);
		for (i = 0; i < size; i++) {
			struct ohca_cmd_cqe cqe = drv_wait(drv);
			unsigned int n = le16toh(cqe.tag) - 0xab00;

			assert_int_equal(cqe.status, OHCA_CMD_BAD_OPCODE);
			assert_true(n < size && !seen[n]);
			seen[n] = 1;
		}
	}
}

/* Commands on one object take effect in the order in which they were posted. */
static void test_order(void **state)
{
	uint64_t in_addr = drv_alloc(drv, 4096), out_addr = drv_alloc(drv, 4096);
	struct ohca_query_port_out *out = drv_ptr(drv, out_addr);
	struct ohca_modify_port_in *in = drv_ptr(drv, in_addr);
	unsigned int round, i, num = (1 << DRV_LOG_CMDS) - 1;

	(void)state;
	for (i = 0; i < 2; i++)
		in[i] = (struct ohca_modify_port_in){
			.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1, .admin_up = i};
	*(struct ohca_query_port_in *)&in[2] = (struct ohca_query_port_in){.port = 1};
	for (round = 0; round < 20; round++) {
		for (i = 0; i < num; i++) {
			struct ohca_cmd cmd = {
				.opcode = htole16(OHCA_CMD_MODIFY_PORT),
				.tag = htole16(i),
				.in_len = htole16(sizeof(*in)),
				.in_addr = htole64(in_addr + (i + round) % 2 * sizeof(*in)),
			};

			drv_post(drv, &cmd);
		}
		drv_post(drv, &(struct ohca_cmd){
				      .opcode = htole16(OHCA_CMD_QUERY_PORT),
				      .tag = htole16(num),
				      .in_len = htole16(sizeof(struct ohca_query_port_in)),
				      .out_len = htole16(sizeof(*out)),
				      .in_addr = htole64(in_addr + 2 * sizeof(*in)),
				      .out_addr = htole64(out_addr),
			      });
		drv_kick(drv);
		for (i = 0; i <= num; i++)
			assert_int_equal(drv_wait(drv).status, OHCA_CMD_OK);
		assert_int_equal(out->phys_state == 3, (num - 1 + round) % 2 == 0);
	}
}

/* One interrupt for each request for an event, none without. */
static void test_interrupt(void **state)
{
	struct ohca_cmd cmd = {.opcode = htole16(0xeeee)};
	unsigned int i;

	(void)state;
	vu_irq_count(drv->vu, 0);
	for (i = 0; i < 20; i++) {
		drv_raw(drv, &cmd);
		drv_reg(drv, OHCA_REG_STATUS);
		assert_int_equal(vu_irq_count(drv->vu, 0), 0);
		drv->rec->arm = htole32(le32toh(drv->rec->arm) + 1 + i);
		drv_raw(drv, &cmd);
		assert_int_equal(vu_irq_wait(drv->vu, 0), 1);
	}
}

static void test_query_device(void **state)
{
	static const uint8_t guid[8] = {0, 0, 0, 0xff, 0xfe, 0, 0, 1};
	struct ohca_query_device_out out;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	assert_memory_equal(&out.node_guid, guid, 8);
	assert_int_equal(out.num_ports, 1);
	assert_int_equal(le64toh(out.page_size_cap) & 0xfff, 0);
	assert_true(le64toh(out.page_size_cap) >> 12 & 1);
	assert_int_equal(le32toh(out.max_uar), 4096);
	assert_true(le32toh(out.max_msg_size) >= 1U << 30);
	assert_true(le16toh(out.max_send_sge) >= 16 && le16toh(out.max_recv_sge) >= 16);
	/* There is neither IP over InfiniBand nor path migration on Ethernet. */
	assert_int_equal(
		le64toh(out.caps) & (OHCA_CAP_UD_CSUM | OHCA_CAP_UD_LSO | OHCA_CAP_PATH_MIG), 0);
}

/* The profiles Verbs, Net and Emulated of the specification */
static void test_profiles(void **state)
{
	const uint64_t caps = OHCA_CAP_UD | OHCA_CAP_SRQ | OHCA_CAP_ATOMIC | OHCA_CAP_MEM_MGT |
			      OHCA_CAP_MODIFY_MKEY | OHCA_CAP_CQ_RESIZE | OHCA_CAP_COUNTERS;
	struct ohca_query_port_in port_in = {.port = 1};
	struct ohca_query_port_out port;
	struct ohca_query_device_out dev;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev)), 0);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_PORT, &port_in, sizeof(port_in), &port,
				 sizeof(port)),
			 0);
	assert_int_equal(drv_reg(drv, OHCA_REG_CAPS_LO) & DRV_ALL_FEATS, DRV_ALL_FEATS);
	assert_int_equal(le64toh(dev.caps) & caps, caps);
	assert_true(le32toh(dev.max_uar) >= 2 && le32toh(dev.max_eq) >= 2);
	assert_true(le32toh(dev.max_pd) >= 64 && le32toh(dev.max_cq) >= 64);
	assert_true(le32toh(dev.max_qp) >= 64 && le32toh(dev.max_mkey) >= 1024);
	assert_true(le32toh(dev.max_cqe) >= 4096 && le32toh(dev.max_qp_wr) >= 512);
	assert_true(le16toh(dev.max_send_sge) >= 4 && le16toh(dev.max_recv_sge) >= 4);
	assert_true(dev.max_rd_atomic >= 16 && le32toh(dev.max_msg_size) >= 1U << 30);
	assert_true(le32toh(dev.max_srq) >= 16 && le32toh(dev.max_srq_wr) >= 512);
	assert_true(le32toh(dev.max_fast_reg) >= 256);
	assert_true(le16toh(port.gid_tbl_len) >= 16);
}

/* Software of an earlier version has room for less output, and gets only that. */
static void test_query_device_earlier(void **state)
{
	struct ohca_query_device_out out, whole;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &whole, sizeof(whole)), 0);
	memcpy(&out, &whole, sizeof(out));
	memset(&out, 0, OHCA_QUERY_DEVICE_OUT_MIN);
	assert_int_equal(
		drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, OHCA_QUERY_DEVICE_OUT_MIN), 0);
	assert_memory_equal(&out, &whole, sizeof(out));
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out,
				 OHCA_QUERY_DEVICE_OUT_MIN - 1),
			 OHCA_CMD_BAD_LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_opcodes), cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_short_inputs),	cmocka_unit_test(test_output_length),
		cmocka_unit_test(test_unknown_handles), cmocka_unit_test(test_reserved_field),
		cmocka_unit_test(test_bad_addresses),	cmocka_unit_test(test_announced_too_long),
		cmocka_unit_test(test_output),		cmocka_unit_test(test_full_ring),
		cmocka_unit_test(test_order),		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_query_device),	cmocka_unit_test(test_query_device_earlier),
		cmocka_unit_test(test_profiles),
	};

	return RUN_TESTS(tests, setup, teardown);
}
