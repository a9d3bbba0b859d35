#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Several threads fence the device at the same time, for different reasons: errors of the bus, resets of the function,
# and, in the long form, a command that is not answered in time while the function is reset or removed. It is fenced
# once, and recovered. And the function is removed and found again, many times, under traffic.
# vms: 1
# kernels: newest debug - each kernel has the same code for that
# smp: 2 newest - two threads are to fence the device at the same time
# boot: fence
. "$(dirname "$0")/lib.sh"
need_device
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
. "$DIR/lib_recover.sh"
PCI=$(pcidev)

TIME_OUT=10 # OHCA_CMD_TIMEOUT_MS

holder=
victim=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	[ -z "$victim" ] || kill -KILL "$victim" 2> /dev/null
	ohcactl fail clear "$OHCA_HCA"
	ohcactl fault clear
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	port_is PORT_ACTIVE || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

fenced_once()
{
	log_has 1 'ohca.*fenced: '
}

race()
{
	mark
	holder_start 20 && pci_calls race && recovered 1 && fenced_once && holder_ended 10 && holder=
}

races() # number
{
	n=0
	while [ "$n" -lt "$1" ]; do
		race || return 1
		n=$((n + 1))
	done
}

# A program's command is never answered.  So many seconds before it has waited for too long, the function is reset or removed.
late() # seconds, command
{
	mark
	ohcactl fail command "$OHCA_HCA" || return 1
	traffic_works > /run/victim 2>&1 &
	victim=$!
	sleep "$(echo "$TIME_OUT $1" | awk '{ print $1 - $2 }')"
	"$2" || return 1
	wait "$victim" && return 1
	victim=
}

late_all() # command, command that waits for the device
{
	for before in 0.1 0.01 0.002 0 -0.002 -0.01; do
		late "$before" "$1" && "$2" && wait_for 60 port_is PORT_ACTIVE && traffic_works || return 1
	done
}

lines() # pattern
{
	dmesg | tail -n +$((log_mark + 1)) | grep -c "$1"
}

# It was fenced for both reasons at once, or for one after the other, and recovered as often.
as_often()
{
	times=$(lines 'ohca.*fenced: ')
	[ "$times" -ge 1 ] && [ "$times" -le 2 ] && [ "$(lines 'ohca.*recovered from')" -eq "$times" ]
}

recovers_from_reset()
{
	wait_for 60 as_often
}

# The time-out came first, or never.
found_again()
{
	[ "$(lines 'ohca.*fenced: ')" -le 1 ] && pci_rescan && again
}

# A process with many objects is killed.
killed()
{
	kill -KILL "$holder" && { wait "$holder" 2> /dev/null; holder=; wait_for 60 no_user_objects; }
}

# The device fails while they are destroyed.
ends_and_fails()
{
	for n in 1 2 3; do
		mark
		holder_start 100 || return 1
		fail_hca &
		killed && wait && recovered 1 && fenced_once || return 1
	done
}

# The device does not destroy one of them: with a status, or never answers.
ends_in_vain() # status, why it is fenced
{
	mark
	holder_start 20 && ohcactl fault add "fail-command$1,hca=$OHCA_HCA,op=destroy-qp,skip=5" && killed &&
		recovered 1 && fenced_once && log_has 1 "ohca.*fenced: $2" && ohcactl fault clear
}

# Pages of the kernel's objects
memory()
{
	awk '/^SUnreclaim:|^VmallocUsed:|^KernelStack:/ { kib += $2 } END { print kib }' /proc/meminfo
}

cycle()
{
	holder_start 20 && pci_remove && holder_ended 10 && holder= && pci_rescan && again
}

cycles() # number
{
	n=0
	while [ "$n" -lt "$1" ]; do
		cycle || { echo "in cycle $n"; return 1; }
		n=$((n + 1))
	done
}

# The first cycles fill caches.
nothing_grows() # number
{
	cycles 3 && sync && echo 3 > /proc/sys/vm/drop_caches
	memory_before=$(memory)
	cycles "$1" || return 1
	echo 3 > /proc/sys/vm/drop_caches
	echo "before $memory_before KiB, after $(memory) KiB, $1 cycles"
	# A leak of a page a cycle would be seen in the long form.
	[ $(($(memory) - memory_before)) -lt $((2048 + 2 * $1)) ]
}

plan 13
kernel_log_mark
check "threads fence the device at the same time" races "$(long 50 3)"
check "it works" traffic_works
long_check "a command times out, and the function is reset" late_all pci_reset recovers_from_reset
long_check "a command times out, and the function is removed" late_all pci_remove found_again
check "it works after that" traffic_works
check "a process ends, and the device fails meanwhile" ends_and_fails
check "a process ends, and the device refuses to destroy an object" ends_in_vain =10 "object of a process not destroyed"
check "a process ends, and the device does not answer" ends_in_vain "" "command time-out"
check "it works after all of that" traffic_works
check "removed and found again under traffic, many times" nothing_grows "$(long 1000 3)"
check "it works in the end" traffic_works
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
