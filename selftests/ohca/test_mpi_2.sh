#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An MPI program of two processes, one in each machine: Open MPI over UCX over RC, and nothing else. All data are compared.
# vms: 2
# link: eth long ib - the library takes longer than what differs
# kernels: newest - a library over an unchanged ABI
# boot: stacks
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v mpirun > /dev/null && [ -x "$DIR/mpi_traffic" ] || skip_all "no Open MPI"
. "$DIR/lib_pair.sh"
. "$DIR/lib_stacks.sh"
ucx_environment
export UCX_TLS=rc_v,self

# The other machine waits for mpirun's command.
pair_server_rank=1
mpi() # arguments of the program
{
	mpi_forward=$(env | sed -n 's/^\(UCX_[A-Z_]*\)=.*/-x \1/p' | xargs)
	run_pair "tcp_listening 4711" "$DIR/mpi_agent.sh -l" "mpirun --allow-run-as-root --prtemca plm_ssh_agent \
		$DIR/mpi_agent.sh --host node0:1,node1:1 -n 2 --mca pml ucx --mca osc ucx $mpi_forward $DIR/mpi_traffic $1" ||
		return 1
	[ "$RANK" -ne 0 ] || { grep -q "^$1 of 2 processes: all as it should be" "$pair_log" && ucx_took rc_verbs; }
}

# The number of bytes is that of the data, in both directions.
plan 5
kernel_log_mark
check "messages in a ring" carried $((2 * 11184800)) mpi ring
check "a reduction over all" carried $((2 * 9586976)) mpi allreduce
check "memory that others write, read and add to" carried $((4 * 2396744)) mpi window
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
