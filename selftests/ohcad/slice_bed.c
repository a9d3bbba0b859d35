// SPDX-License-Identifier: GPL-2.0
/* Two HCAs, one of which has long work. */

#include <endian.h>
#include <string.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "qp/sched.h"
#include "slice_bed.h"

struct rig *slice_rig;

/* Of the other HCA */
static struct rig_qp *from, *to;

int slice_open(void **state)
{
	(void)state;
	slice_rig = rig_open(server);
	from = rig_qp_new(&slice_rig->hca[OTHER], NULL);
	to = rig_qp_new(&slice_rig->hca[OTHER], NULL);
	rig_connect(from, to);
	return 0;
}

int slice_close(void **state)
{
	(void)state;
	rig_close(slice_rig);
	return 0;
}

struct drv *slice_drv(void)
{
	return slice_rig->hca[BUSY].drv;
}

const struct quota *slice_quota(enum quota_kind kind)
{
	return &inproc_hca(BUSY)->quotas[kind];
}

void slice_round(void)
{
	struct sched *sched = inproc_hca(BUSY)->sched;

	/* Also if the rounds since then took long */
	sched->light[0].hca = inproc_hca(OTHER);
	sched->light[0].at = loop_clock();
	sched->small = inproc_qp(from);
	sched->small_peer = inproc_qp(to);
	sched->small_at = sched->light[0].at;
	inproc_assert_message(from, to);
}

unsigned int slice_part(unsigned int (*take)(void), unsigned int most)
{
	unsigned int num;

	slice_round();
	num = take();
	assert_in_range(num, 0, most);
	return num;
}

unsigned int slice_parts(unsigned int (*take)(void), unsigned int most)
{
	unsigned int num, sum = 0, idle = 0;

	while (idle < 4) {
		num = slice_part(take, most);
		sum += num;
		idle = num ? 0 : idle + 1;
	}
	return sum;
}

struct slice_command slice_begin(uint16_t opcode, const void *in, size_t len)
{
	struct slice_command command = {.out = drv_alloc(slice_drv(), sizeof(struct ohca_handle))};
	struct ohca_cmd cmd = {.opcode = htole16(opcode),
			       .in_len = htole16(len),
			       .in_addr = htole64(drv_alloc(slice_drv(), len)),
			       .out_len = htole16(sizeof(struct ohca_handle)),
			       .out_addr = htole64(command.out)};

	memcpy(drv_ptr(slice_drv(), le64toh(cmd.in_addr)), in, len);
	drv_post(slice_drv(), &cmd);
	drv_kick(slice_drv());
	return command;
}

bool slice_is_done(void)
{
	const struct ohca_cmd_cqe *cqe =
		&slice_drv()->cq[slice_drv()->ci & ((1U << DRV_LOG_CMDS) - 1)];

	return (cqe->owner & 1) == !(slice_drv()->ci >> DRV_LOG_CMDS & 1);
}

void slice_end(int status)
{
	unsigned int rounds = 0;

	/* The other HCA is known to be active. */
	slice_round();
	for (; !slice_is_done(); rounds++)
		slice_round();
	assert_int_equal(drv_wait(slice_drv()).status, status);
	print_message("# %u rounds\n", rounds);
	assert_true(rounds >= SLICE_ROUNDS);
}

uint32_t slice_id_of(const struct slice_command *command)
{
	const struct ohca_handle *out = drv_ptr(slice_drv(), command->out);

	return le32toh(out->id);
}

void slice_begin_destroy(uint16_t opcode, uint32_t id)
{
	const struct ohca_handle in = {.id = htole32(id)};

	slice_begin(opcode, &in, sizeof(in));
}

void slice_reset_in_the_middle(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		slice_round();
	assert_false(slice_is_done());
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	for (i = 0; inproc_hca(BUSY)->to_reset; i++)
		slice_round();
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, 0);
	assert_int_equal(slice_quota(QUOTA_MEMORY)->used, 0);
	assert_int_equal(slice_quota(QUOTA_MEMBERS)->used, 0);
	rig_renew_hca(slice_rig, BUSY);
}
