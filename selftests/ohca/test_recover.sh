#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The device fails, or is absent for a while, and the driver recovers it by itself: programs get events and end,
# consumers in the kernel release it, the netdev keeps its name, state and addresses, the GIDs are the same, nothing
# is left behind, and traffic works.
# vms: 1
# kernels: all - the driver recovers
# smp: 2 newest - the driver is called by several processors at once
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
. "$DIR/lib_recover.sh"
PCI=$(pcidev)
ND=$(netdev)
DEV=$(ibdev)

holder=
comer=
cleanup()
{
	watcher_stop
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	[ -z "$comer" ] || kill -KILL "$comer" 2> /dev/null
	kverbs_unload
	ohcactl fail clear "$OHCA_HCA"
	ohcactl fault clear
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	ip addr del 192.0.2.77/24 dev "$ND"
	port_is PORT_ACTIVE || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# And the device's own ports
looks()
{
	device_looks
	ohcactl show ports "$OHCA_HCA" | sed -n 's/^'"$OHCA_HCA"' *//p'
}

looks_same()
{
	[ "$(looks)" = "$look" ]
}

same()
{
	wait_for 20 looks_same && return
	echo "$look" > /run/look
	looks | diff /run/look -
}

# The device works again, after so many recoveries since the mark, and is as it was before.
as_before() # times
{
	recovered "$1" && same
}

health() # pattern
{
	devlink health show "pci/$PCI" reporter fatal | grep -q "$1" || { devlink health show; return 1; }
}

health_is() # state, recoveries
{
	wait_for 20 health "state $1.*recover $2 " || health "state $1.*recover $2 "
}

no_recover()
{
	! recover
}

traffic_fails()
{
	! traffic_works
}

# A command is never answered: its caller gets an error.
time_out()
{
	ohcactl fail command "$OHCA_HCA" && traffic_fails
}

# Resets of the device take long: so many of them, so long; without a time they do not end.
slow_resets() # number, time
{
	ohcactl fault clear
	ohcactl fault add "slow-reset${2:+=$2},hca=$OHCA_HCA,count=$1"
}

# So many resets were slow, and then ended.
were_slow() # number
{
	ohcactl -j fault show | grep -q "\"hits\":$1,\"done\":true" || { ohcactl fault show; return 1; }
}

# A reset that does not end is reported once.
stuck_once()
{
	log_has 1 'ohca.*reset failed: -ETIMEDOUT'
}

not_stuck()
{
	log_has 0 'ohca.*reset failed'
}

# Recovery by the user fails, with the reason.
recover_times_out()
{
	! recover 2> /run/recover || return 1
	cat /run/recover
	grep -q "device does not come up" /run/recover && grep -qi "timed out" /run/recover
}

# The same automatically, until the driver gives up.
gives_up()
{
	mark
	slow_resets 1 && fail_hca && wait_for 180 log_has 1 'ohca.*recovery failed after 12 attempts: -ETIMEDOUT' &&
		stuck_once
}

gave_up_recovers()
{
	ohcactl fault clear
	recover && as_before 1
}

# A reset of the function by the user begins it anew.
gave_up_reset()
{
	gives_up || return 1
	ohcactl fault clear
	mark
	pci_reset && as_before 1
}

suspend_fenced()
{
	auto_recover false
	fail_hca && fenced && pci_calls suspend
	suspend_result=$?
	auto_recover true
	return "$suspend_result"
}

not_fenced()
{
	log_has 0 'ohca.*fenced' && wait_for 20 port_is PORT_ACTIVE && same
}

load_slowly()
{
	rmmod ohca && slow_resets 1 1500ms && reload && were_slow 1 && not_stuck
}

# There is no device; the driver can be unloaded.
load_in_vain()
{
	mark
	modprobe ohca && ! test_device && stuck_once &&
		log_has 1 'ohca.*probe.*failed with error -110' && rmmod ohca
}

unload_stuck()
{
	mark
	slow_resets 1 && rmmod ohca && stuck_once
}

load_again()
{
	ohcactl fault clear
	reload
}

# The driver is unloaded while recovery is under way, a little later each time.
unload_meanwhile()
{
	for n in 0 0.02 0.1 0.3; do
		mark
		fail_hca && fenced && sleep "$n" && rmmod ohca && reload || return 1
	done
}

# The same with the function being removed.
remove_meanwhile()
{
	mark
	fail_hca && fenced && pci_remove && pci_rescan && again
}

# Commands of programs and of the kernel are under way when it fails.
comer_start()
{
	while :; do
		traffic_works
		ethtool -S "$ND"
		rdma resource show
		cat "/sys/class/infiniband/$DEV/ports/1/hw_counters/tx_packets"
	done > /dev/null 2>&1 &
	comer=$!
}

many_times()
{
	n=1
	mark
	while [ "$n" -le 3 ]; do
		fail_hca && wait_for 30 log_has "$n" 'recovered from' || return 1
		n=$((n + 1))
	done
	as_before 3
}

comer_ends()
{
	kill -KILL "$comer"
	wait "$comer" 2> /dev/null
	comer=
	wait_for 30 no_user_objects
}

# A reload waits while the device is recovered: it is healthy after both, and recovered after the next failure, too.
reload_meanwhile()
{
	for meanwhile in 1 2 3; do
		fail_hca && wait_for 30 devlink dev reload "pci/$PCI" action driver_reinit &&
			wait_for 30 health "state healthy" || return 1
	done
	net_restore
}

plan 93
kernel_log_mark
ip link set "$ND" down
ip link set "$ND" address 02:0c:a0:00:77:01
ip link set "$ND" up
ip addr add 192.0.2.77/24 dev "$ND"
ip link set "$ND" promisc on mtu 4000
wait_for 20 port_is PORT_ACTIVE
check "it works before" traffic_works
wait_for 20 device_settled
look=$(looks)
diag "$look"

mark
check "fatal error: a program with traffic" holder_start 40
check "fatal error: a program that only listens" watcher_start
check "fatal error: consumers in the kernel" kverbs_load hold=dead
check "fatal error" fail_hca
check "fatal error: the device is as before" as_before 1
check "fatal error: the program is notified, its calls fail, it ends" holder_ended 10
holder=
check "fatal error: the listener is notified" notified "local catastrophic error" 1
watcher_stop
check "fatal error: the kernel's consumers got all their requests back" kverbs_fine
check "fatal error: and are gone" kverbs_unload
check "fatal error: traffic works" traffic_works
check "fatal error: nothing is left" wait_for 30 no_user_objects
check "fatal error: devlink counts it" health_is healthy 1

mark
check "a command is not answered" time_out
check "time-out: the device is as before" as_before 1
check "time-out: traffic works" traffic_works

mark
check "away: a program with traffic" holder_start 40
check "away" is_away
check "away: devlink shows it" health_is error 2
check "away: a new program gets an error" traffic_fails
check "away: recovery by hand fails" no_recover
check "away: the netdev can be taken down" ip link set "$ND" down
check "away: and up again, later" sh -c "! ip link set '$ND' up"
check "it is back" plug
check "back: recovery" wait_for 30 log_has 1 'recovered from'
check "back: the netdev can be taken up" ip link set "$ND" up
check "back: the device is as before" as_before 1
check "back: the program was notified, and ended" holder_ended 10
holder=
check "back: traffic works" traffic_works

mark
check "away for a moment" unplug
check "and back" plug
check "moment: the device is as before" as_before 1

mark
check "function reset" pci_reset
check "function reset: the device is as before" as_before 1

mark
slow_resets 2 1500ms
check "slow resets: fatal error" fail_hca
check "slow resets: the device is as before" as_before 1
check "slow resets: the driver has waited for both" were_slow 2
check "slow resets: they are no errors" not_stuck

mark
slow_resets 3 1500ms
check "slow function reset" pci_reset
check "slow function reset: the device is as before" as_before 1
check "slow function reset: the driver has waited for all" were_slow 3
check "slow function reset: no error" not_stuck

mark
slow_resets 1
auto_recover false
check "endless reset: a program with traffic" holder_start 40
check "endless reset: fatal error" fail_hca
check "endless reset: it is fenced" fenced
check "endless reset: the program is notified, and ends" holder_ended 10
holder=
check "endless reset: recovery times out" recover_times_out
check "endless reset: it is reported once" stuck_once
check "endless reset: it ends" ohcactl fault clear
check "endless reset: the device is as before" as_before 1
check "endless reset: no other report" stuck_once
check "endless reset: traffic works" traffic_works
auto_recover true
if [ "${OHCA_LONG:-}" = 1 ]; then
	check "endless reset: the driver gives up" gives_up
	check "endless reset: the user can have it recovered" gave_up_recovers
	check "endless reset: so does a reset of the function" gave_up_reset
else
	skip "endless reset: the driver gives up" "not in the long form"
	skip "endless reset: the user can have it recovered" "not in the long form"
	skip "endless reset: so does a reset of the function" "not in the long form"
fi

mark
auto_recover false
check "by hand: fatal error" fail_hca
check "by hand: it is fenced" fenced
check "by hand: a new program gets an error" traffic_fails
check "by hand: it is recovered" recover
check "by hand: the device is as before" as_before 1
auto_recover true

comer_start
check "again and again" many_times
check "again and again: nothing is left" comer_ends

check "reload: a program with traffic" holder_start 40
check "reload" devlink dev reload "pci/$PCI" action driver_reinit
check "reload: the program is notified, and ends" holder_ended 10
holder=
check "reload: the device is there, with a new network interface" net_restore
check "reload: traffic works" traffic_works
check "reload: also while it is recovered" reload_meanwhile

mark
wait_for 20 device_settled
look=$(looks) # of the new network interface
check "suspend: a program with traffic" holder_start 40
check "suspend: consumers in the kernel" kverbs_load hold=live
check "suspend and resume" pci_calls suspend
check "suspend: the program is notified, and ends" holder_ended 10
holder=
check "suspend: the kernel's consumers have released the device in order" kverbs_fine
check "suspend: and are gone" kverbs_unload
check "suspend: the device is as before" not_fenced
check "suspend: traffic works" traffic_works
check "suspend and resume of a fenced device" suspend_fenced
check "suspend: it is as before" same
for error in nonfatal frozen; do
	mark
	check "bus error, $error" pci_calls "$error"
	check "bus error, $error: the device is as before" as_before 1
done
mark
check "bus error, permanent, and it works all the same" pci_calls permanent
check "bus error, permanent: the device is as before" as_before 1
check "bus error: traffic works" traffic_works

check "the driver is unloaded meanwhile" unload_meanwhile
check "the function is removed meanwhile" remove_meanwhile
mark
check "the driver is loaded, and the reset is slow" load_slowly
check "the driver is unloaded, and the reset does not end" unload_stuck
check "the driver is loaded, and the reset does not end" load_in_vain
check "it is loaded when the reset has ended" load_again
check "traffic works" traffic_works
check "the kernel log is clean" kernel_log_clean
finish
