// SPDX-License-Identifier: GPL-2.0
/*
 * xdp_drop NETDEV native|generic: drops all frames that the interface receives by an XDP program,
 * in this mode, until it is killed.  Prints "dropping" when it does.  Exit status: 1, with the error, if
 * it can't; 4 if the kernel has no XDP.
 */

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* r0 = XDP_DROP; exit */
static int load(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_EXIT},
	};
	static const char license[] = "GPL";
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.insns = (uintptr_t)insns,
		.license = (uintptr_t)license,
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

int main(int argc, char **argv)
{
	union bpf_attr attr = {0};
	int prog, err;

	if (argc != 3 || (strcmp(argv[2], "native") && strcmp(argv[2], "generic"))) {
		fprintf(stderr, "usage: xdp_drop NETDEV native|generic\n");
		return 2;
	}
	prog = load();
	if (prog < 0) {
		err = errno; /* perror() may change it */
		perror("xdp_drop: program");
		return err == ENOSYS ? 4 : 1;
	}
	attr.link_create.prog_fd = prog;
	attr.link_create.target_ifindex = if_nametoindex(argv[1]);
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_SKB_MODE;
	if (!strcmp(argv[2], "native"))
		attr.link_create.flags = XDP_FLAGS_DRV_MODE;
	if (bpf(BPF_LINK_CREATE, &attr) < 0) {
		perror("xdp_drop: interface");
		return 1;
	}
	puts("dropping");
	fflush(stdout);
	pause();
	return 0;
}
