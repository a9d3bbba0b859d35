#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All commands of Documentation/firstqp.rst in machines, as they are there, with programs that its compiler commands have built.  The
# one with a capture is in selftests/lab.
# vms: 2
# link: eth ib
# kernels: newest - the programs are the documents' of verbs, whose parts other scripts test on each kernel
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
. "$DIR/lib_document.sh"
# shellcheck source=/dev/null
. "$DIR/lib_firstqp.sh" # made of the document: see tutorial.awk

work=$(mktemp -d)
PCI=$(pcidev)

cleanup()
{
	rm -rf "$work"
	[ "$RANK" -ne 0 ] || ohca-host ohcactl fault clear
	[ -e "$PCI_BUS/devices/$PCI" ] || comes_back
}
trap cleanup EXIT

# The document's other commands: compilers', which selftests/ohca/Makefile has called, those of the capture, and tests.
no_other_commands()
{
	[ "${firstqp_commands:?}" -eq 18 ] || { echo "$firstqp_commands commands"; return 1; }
	echo "${firstqp_others:?}" | grep -vx -e "" -e "tools/lab/ohca-lab exec --share first -- gcc -Wall -o [a-z]* [a-z]*\.c.*" \
		-e "tools/lab/ohca-lab setup capture" -e "tools/lab/ohca-lab exec --share first -- tshark .*" && return 1
	set -- "$DIR"/examples/*.c
	[ "$#" -eq "$(echo "$firstqp_others" | grep -c gcc)" ] || { echo "programs: $*"; return 1; }
	sed -n 's,.*/opt/ohca/run_tests\.sh ,,p' "$DIR/lib_firstqp.sh" > "$work/tests"
	[ -s "$work/tests" ] || return 1
	while read -r test; do
		[ -x "$DIR/$test" ] || { echo "no $test"; return 1; }
	done < "$work/tests"
}

# step NUMBER OPTIONS STATUS NAME PATTERN...: a command of the document, which has these options besides --share, and ends with that
# status.  What it prints has a line for each pattern; 0:PATTERN and 1:PATTERN are for one of the machines.
step()
{
	step_number=$1 step_options=$2 step_status=$3 step_name=$4
	shift 4
	barrier "firstqp.$step_number"
	step_fault=${step_options#*--fault }
	[ "$step_fault" != "$step_options" ] || step_fault=
	[ -z "$step_fault" ] || [ "$RANK" -ne 0 ] || ohca-host ohcactl fault add "$step_fault" || bail "no fault $step_fault"
	barrier "firstqp.ready"
	check "$step_name" step_prints "$@"
	barrier "firstqp.done"
	[ -z "$step_fault" ] || [ "$RANK" -ne 0 ] || ohca-host ohcactl fault clear
}

step_prints()
{
	eval "step_real=\$firstqp_options_$step_number"
	# shellcheck disable=SC2154 # set above
	step_real=$(echo "$step_real" | sed 's/ *--share first *//; s/--fault/ &/')
	[ "$step_real" = "$step_options" ] || { echo "its options are: $step_real"; return 1; }
	case $step_options in
	*"--vms 2"*) ;;
	*) [ "$RANK" -eq 0 ] || return 0 ;; # one machine
	esac
	(cd "$DIR/examples" && "firstqp_$step_number") > "$work/out" 2>&1
	step_got=$?
	cat "$work/out"
	[ "$step_got" -eq "$step_status" ] || { echo "exit status $step_got"; return 1; }
	has_lines "$work/out" "$@"
}

# The removed function is found again.
comes_back()
{
	[ "$RANK" -eq 0 ] || return 0
	pci_rescan && again
}

on_infiniband()
{
	plan 5
	check "no other commands are in the document" no_other_commands
	step 17 "--vms 2 --link ib" 0 "a message on InfiniBand" "LID [1-9][0-9]*: connected" "0:29 bytes: Hello from the other machine"
	step 18 "--vms 2 --link ib" 0 "a group on InfiniBand" "MULTICAST_JOIN, status 0" "group ff12:.*:102, .* LID 0xc00" "0:64 bytes .*: Hello to all"
}

on_ethernet()
{
	plan 17
	check "no other commands are in the document" no_other_commands
	step 1 "" 0 "the objects" "^device +ohca_0" "^MR +4096 bytes" "^CQ +16" "^QP +number [0-9]+, state 0" "pd 2 cq 2 qp 2 .*mr 1"
	step 2 "--vms 2" 0 "a message" "QP [0-9]+, LID 0: connected" "1:request 2 .*: status 0" "0:29 bytes: Hello from the other machine"
	step 4 "--vms 2 --fault drop,op=send,count=2" 0 "packets are lost" "1:request 2 after [0-9]{6,} us: status 0" "0:29 bytes: Hello"
	step 5 "--vms 2 --fault drop,op=send" 1 "all packets are lost" "1:status 12, transport retry counter" "0:no completion in 5 seconds"
	step 6 "--vms 2" 0 "read and write" "1:read: what the server has written" "1:request 0 .*status 0" "0:^0 completions, buffer: the client was here"
	step 7 "--vms 2" 0 "a wrong key" "1:status 10, remote access error" "0:^0 completions, buffer: what the server has written"
	step 8 "--vms 2" 0 "atomics" "1:fetch and add 3: it was 27" "1:swap: it was 30" "0:the counter is 1000"
	step 9 "--vms 2 --fault duplicate,op=fetch-add" 0 "atomics come twice" "1:it was 30" "0:the counter is 1000" "0:duplicate_request [1-9][0-9]"
	step 10 "--vms 2" 0 "events of a connection" "1:ADDR_RESOLVED, status 0" "1:ROUTE_RESOLVED" "0:CONNECT_REQUEST" \
		"ESTABLISHED" "0:message: Hello by rdma_cm" "DISCONNECTED" "TIMEWAIT_EXIT"
	step 11 "--vms 2" 0 "the server refuses" "0:CONNECT_REQUEST" "1:REJECTED, status 28"
	step 12 "--vms 2" 0 "there is no server" "1:REJECTED, status 8" "1:ADDR_ERROR, status -110"
	step 13 "" 0 "the device is removed" "DEVICE_REMOVAL, status 0"
	check "it comes back" comes_back
	step 16 "--vms 2" 0 "a group" "MULTICAST_JOIN, status 0" "group ::ffff:239.77.1.2, QP 0xffffff, LID 0x0" "0:64 bytes .*: Hello to all"
}

kernel_log_mark
if on_ib; then on_infiniband; else on_ethernet; fi
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
