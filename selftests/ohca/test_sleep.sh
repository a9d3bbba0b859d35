#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The machine sleeps: it writes its memory to its disk, is turned off and on, and goes on where it was; it is suspended to its
# memory, until its clock wakes it up; and it goes as far as each of the kernel's tests of that (/sys/power/pm_test). Programs and
# consumers in the kernel lose the device in order, and it works afterwards.
# vms: 1
# kernels: newest debug - the driver's part is tested on each kernel by test_recover; this is the kernel's part of it
# boot: own
# disk: 1G
# no-snapshot: a machine that wakes up from its disk must find the hardware that it had
. "$(dirname "$0")/lib.sh"
need_device
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
[ -w /sys/power/pm_test ] || skip_all "the kernel has no CONFIG_PM_SLEEP_DEBUG"
[ -b "${OHCA_DISK:-}" ] || skip_all "no disk"
. "$DIR/lib_recover.sh"
ND=$(netdev)

# The folders that machines share with the lab, by 9p, do not survive the sleep of its virtio device. Nothing of this
# script is there, but the disk comes first, as the lab is asked for it.
cd /

holder=
cleanup()
{
	echo none > /sys/power/pm_test
	[ -z "$holder" ] || kill -KILL "$holder"
	kverbs_unload
	swapoff "$OHCA_DISK"
} > /dev/null 2>&1
trap cleanup EXIT

looks_same()
{
	device_looks_same && port_is PORT_ACTIVE
}

# The kernel goes as far as LEVEL on its way to the state, waits for a second, and comes back. Without a level it goes all the
# way. What wakes it up is the clock, if its alarm is not over before the machine sleeps, or for the disk the lab.
sleeps() # level, state
{
	grep -w "$2" /sys/power/state && echo "$1" > /sys/power/pm_test || return 1
	case $1.$2 in
	none.disk) ohca-host hibernate ;;
	none.mem) grep '\[deep\]' /sys/power/mem_sleep && rtcwake -u -m mem -s $((5 * slow)) ;;
	*) echo "$2" > /sys/power/state ;;
	esac
}

# It has been there, and no driver failed.
slept() # level, state
{
	case $1.$2 in
	none.disk) slept_tests=0 slept_sign='Waking up from system sleep state S4' ;;
	none.mem) slept_tests=0 slept_sign='Waking up from system sleep state S3' ;;
	*) slept_tests=1 slept_sign='debug: Waiting for' ;;
	esac
	dmesg | tail -n +$((log_mark + 1)) | grep -E 'PM: |ohca'
	log_has 1 "$slept_sign" && log_has "$slept_tests" 'debug: Waiting for' && log_has 0 'ohca.*fenced' && log_has 0 'failed to \(suspend\|freeze\|resume\|thaw\|restore\)'
}

swap_on()
{
	mkswap "$OHCA_DISK" && swapon "$OHCA_DISK"
}

consumers_done()
{
	kverbs_fine && kverbs_unload
}

plan 51
kernel_log_mark
for module in suspend hibernate; do
	parameter=/sys/module/$module/parameters/pm_test_delay
	[ ! -w "$parameter" ] || echo 1 > "$parameter"
done
check "it works before" traffic_works
check "swap space" swap_on
wait_for 20 device_settled
look=$(device_looks)
for way in "none disk" "devices freeze" "devices mem" "core mem" "devices disk" "none mem"; do
	mark
	check "$way: a program with traffic" holder_start 20
	check "$way: consumers in the kernel" kverbs_load hold=live
	# shellcheck disable=SC2086 # two words
	check "$way: the machine sleeps, and wakes up" sleeps $way
	# shellcheck disable=SC2086 # two words
	check "$way: the kernel's log has it" slept $way
	check "$way: the program is notified, and ends" holder_ended 10
	holder=
	check "$way: the kernel's consumers have released the device in order, and are gone" consumers_done
	check "$way: the device is as before" wait_for 30 looks_same
	check "$way: traffic works" traffic_works
done
check "the kernel log is clean" kernel_log_clean
finish
