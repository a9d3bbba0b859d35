#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The port's Ethernet interface, between two machines.  Settings change in the first machine only.
# vms: 2
# kernels: all - the driver has the interface
# smp: 2 - the interface has queues for each processor
# boot: netdev
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
. "$DIR/lib_netdev.sh"
ND=$(netdev)
[ -n "$ND" ] || skip_all "no netdev"
mtu=$(cat "/sys/class/net/$ND/mtu")
mac=$(cat "/sys/class/net/$ND/address")
VLAN=ohca-v7
FLOWS=64
MIB=$(long 24 3) # each way, over IPv4 and over IPv6
frames=$(mktemp)
watching=

cleanup()
{
	ip link set "$ND" mtu "$mtu"
	[ "$(cat "/sys/class/net/$ND/address")" = "$mac" ] || change_mac "$mac"
	ip link set "$ND" promisc off
	ethtool -K "$ND" tx on rx on sg on tso on gro on rx-gro-hw on
	set_rings 256 256
	set_queues "$queues"
	ethtool -X "$ND" default
	kill "$watching"
	ip link del "$VLAN"
	net_restore
	rm -f "$frames"
} > /dev/null 2>&1
trap cleanup EXIT

pings() # size, further options
{
	pings_size=$1
	shift
	ping -c 5 -i 0.02 -W 5 -M 'do' -s "$pings_size" "$@" "$OHCA_PEER"
}

pings_v6()
{
	ping -6 -c 5 -i 0.02 -W 5 -s 8000 "fd77::$((2 - RANK))"
}

pings_broadcast()
{
	ping -b -c 2 -i 0.02 -W 5 10.77.255.255
}

refuses_mtu() # MTU
{
	! ip link set "$ND" mtu "$1"
}

# Data in both directions; the two machines wait for each other there.
data_is_right() # name, MiB
{
	barrier "netdata.$1" && "$DIR/netdata" -m "${2:-$MIB}" "fd77::$((2 - RANK))"
}

# Data in both directions, with the device's large frames on or off in both machines. Checks the length of the longest
# received frame. The stack does not merge frames here.
longest() # on, off; least and greatest length
{
	ethtool -K "$ND" gro off rx-gro-hw "$1" || return 1
	"$DIR/watch_frames" "$ND" > "$frames" &
	watching=$!
	wait_for 20 grep -q watching "$frames" && data_is_right "large-$1" || return 1
	kill "$watching"
	watching=
	ethtool -K "$ND" gro on
	max=$(tail -n 1 "$frames")
	echo "longest: $max"
	[ "$max" -ge "$2" ] && [ "$max" -le "$3" ]
}

vlan_up()
{
	modprobe 8021q
	ip link add link "$ND" name "$VLAN" type vlan id 7 && ip link set "$VLAN" up &&
		ip addr add "10.97.0.$((RANK + 1))/24" dev "$VLAN" &&
		ip addr add "fd97::$((RANK + 1))/64" dev "$VLAN" nodad
}

vlan_data_is_right()
{
	barrier vlan && OHCA_PEER=10.97.0.$((2 - RANK)) "$DIR/netdata" "fd97::$((2 - RANK))"
}

# With an offload switched, in this machine or the other.
with_offload() # ethtool's words
{
	[ "$RANK" -ne 0 ] || ethtool -K "$ND" "$@" || return 1
	data_is_right "$(echo "$@" | tr ' ' -)"
}

# Entries of both rings: a power of two, or a number that is rounded up to one
set_rings() # receive, transmit
{
	ethtool -G "$ND" rx "$1" tx "$2"
}

rings_are() # receive, transmit
{
	ethtool -g "$ND" | awk -v rx="$1" -v tx="$2" '
		/^Current/ { current = 1 }
		current && $1 == "RX:" { right += $2 == rx }
		current && $1 == "TX:" { right += $2 == tx }
		END { exit right != 2 }'
}

refuses_rings()
{
	! set_rings 16 256 && ! set_rings 256 16 && ! set_rings 8192 256 && ! set_rings 256 2048 && rings_are 256 256
}

# With rings of other sizes in the first machine
with_rings() # receive, transmit; the resulting receive, transmit
{
	if [ "$RANK" -eq 0 ]; then
		set_rings "$1" "$2" && rings_are "$3" "$4" || return 1
	fi
	# With fewer entries, the frames of a busy machine may be delayed.
	data_is_right "rings-$1" 24
}

ethtool_stat() # name
{
	ethtool -S "$ND" | awk -v name="$1:" '$1 == name { print $2 }'
}

# More than the value before.  Whether data are faster than the receiver depends on the host; a burst soon is.
frames_have_waited() # value
{
	[ "$(ethtool_stat tx_waited)" -gt "$1" ] && return
	ping -q -f -l 2000 -c 2000 -s 100 "$OHCA_PEER"
	return 1
}

set_queues() # pairs
{
	ethtool -L "$ND" combined "$1"
}

queues_are() # pairs
{
	[ "$(queues_now)" = "$1" ]
}

refuses_queues()
{
	! set_queues 0 && ! set_queues $((queues + 1)) && ! ethtool -L "$ND" rx 1 && queues_are "$queues"
}

# A datagram of each of so many flows to the other machine; it does not matter whether they are received.
send_flows() # command that runs it
{
	# shellcheck disable=SC2016 # for the other shell
	"$@" bash -c 'for n in $(seq "$1"); do echo flow > "/dev/udp/$0/$((20000 + n))"; done' "$OHCA_PEER" "$FLOWS" || :
}

frames_of() # rx, tx; queue
{
	ethtool_stat "queue$2_$1_packets"
}

has_moved() # rx, tx; queue; what it was; least number of frames
{
	[ "$(frames_of "$1" "$2")" -ge $(($3 + $4)) ]
}

# A processor sends on the queue of its number.
sends_by_its_queue()
{
	n=0
	while [ "$n" -lt "$queues" ]; do
		was=$(frames_of tx "$n")
		send_flows taskset -c "$n"
		wait_for 10 has_moved tx "$n" "$was" "$FLOWS" || return 1
		n=$((n + 1))
	done
}

# Both machines send flows. Checks that at least so many arrive in each queue.
flows_arrive() # barrier, least number in queue 0, in each other one
{
	n=0
	counts=
	while [ "$n" -lt "$queues" ]; do
		counts="$counts $(frames_of rx "$n")"
		n=$((n + 1))
	done
	barrier "$1" && send_flows env && barrier "$1" || return 1
	n=0
	for was in $counts; do
		least=$3
		[ "$n" -ne 0 ] || least=$2
		wait_for 10 has_moved rx "$n" "$was" "$least" || return 1
		n=$((n + 1))
	done
}

spreads() # barrier: over all queues
{
	flows_arrive "$1" $((FLOWS / queues / 4)) $((FLOWS / queues / 4))
}

# All frames go to the first queue in the first machine.
goes_to_one() # barrier
{
	[ "$RANK" -eq 0 ] || { spreads "$1"; return; }
	ethtool -X "$ND" equal 1 || return 1
	last=$((queues - 1))
	others=$(frames_of rx "$last")
	flows_arrive "$1" "$FLOWS" 0 && [ "$(frames_of rx "$last")" -eq "$others" ]
}

key_now()
{
	ethtool -x "$ND" | awk '/^RSS hash key/ { getline; print }'
}

# The old table, and a key that the user chose
other_key() # barrier
{
	key=$(key_now | sed 's/^.../5a:/')
	ethtool -X "$ND" default && ethtool -X "$ND" hkey "$key" && [ "$(key_now)" = "$key" ] && spreads "$1"
}

# With other queues in the first machine
with_queues() # pairs
{
	if [ "$RANK" -eq 0 ]; then
		set_queues "$1" && queues_are "$1" || return 1
	fi
	data_is_right "queues-$1"
}

check_queues()
{
	check "a pair of queues for each processor" queues_are "$(nproc | awk '{ print ($1 > 8 ? 8 : $1) }')"
	if [ "$queues" -eq 1 ]; then
		for name in "a processor sends by its queue" "flows are spread over the queues" "a table of one queue" \
			"the table as before, another key" "numbers of queues that are refused" \
			"TCP and UDP data with one pair of queues" "the same with all of them" \
			"flows are spread over the queues again"; do
			skip "$name" "there is one"
		done
		return
	fi
	check "a processor sends by its queue" sends_by_its_queue
	check "flows are spread over the queues" spreads queues
	check_rxfh "a table of one queue" goes_to_one queues-one
	check_rxfh "the table as before, another key" other_key queues-key
	check "numbers of queues that are refused" refuses_queues
	check "TCP and UDP data with one pair of queues" with_queues 1
	check "the same with all of them" with_queues "$queues"
	check "flows are spread over the queues again" spreads queues-all
}

queues_under_load()
{
	for n in 1 "$queues" 1 "$queues"; do
		set_queues "$n" && queues_are "$n" || return 1
	done
	wait_for 30 pings 1000
}

rings_under_load()
{
	for n in 64 1024 32 512 256; do
		set_rings "$n" "$n" || return 1
	done
	wait_for 30 pings 1000
}

driver_is()
{
	ethtool -i "$ND" | grep -q "^driver: ohca" && ethtool -i "$ND" | grep -q "^bus-info: $(pcidev)"
}

feature_is() # feature, value
{
	ethtool -k "$ND" | grep -q "^$1: $2"
}

stamps()
{
	ethtool -T "$ND" > "$frames" && grep -q software-transmit "$frames" && grep -q software-receive "$frames"
}

link_is() # yes, no
{
	ethtool "$ND" | grep -q "Link detected: $1"
}

# On a busy host, ping does not wait for the last reply.
counts() # statistic
{
	before=$(if_stat "$1")
	pings 1000 > /dev/null && wait_for 10 has_counted "$1" $((before + 5))
}

# The address changes while the interface is down.
change_mac() # address
{
	ip link set "$ND" down && ip link set "$ND" address "$1" && net_restore || return 1
	[ "$(cat "/sys/class/net/$ND/address")" = "$1" ] && pings 1000
}

peer_mac()
{
	ip neigh show "$OHCA_PEER" dev "$ND" | sed 's/.*lladdr \([^ ]*\).*/\1/'
}

# The interface can't have the other machine's address, and an interface on it that has sends nothing.
neighbour_is_safe()
{
	refused=$(ethtool_stat tx_refused)
	peer=$(peer_mac)
	ip link set "$ND" down && ! ip link set "$ND" address "$peer" && net_restore && pings 1000 || return 1
	ip link add link "$ND" name ohcafake address "$peer" type vlan id 94 && ip link set ohcafake up &&
		ip addr add 10.94.0.1/24 dev ohcafake || return 1
	ping -c 1 -W 1 10.94.0.2
	ip link del ohcafake
	[ "$(ethtool_stat tx_refused)" -gt "$refused" ] && pings 1000
}

# Down and up again and again, while the other machine sends as fast as it can.
down_and_up()
{
	n=0
	while [ "$n" -lt 10 ]; do
		ip link set "$ND" down && ip link set "$ND" up || return 1
		n=$((n + 1))
	done
	net_restore && wait_for 30 pings 1000
}

flood_until() # barrier, for which the other machine waits
{
	ping -f -q -s 1400 "$OHCA_PEER" > /dev/null 2>&1 &
	flood=$!
	barrier "$1"
	kill "$flood"
	wait "$flood" 2> /dev/null
	wait_for 30 pings 1000
}

plan 60
queues=$(queues_now)
kernel_log_mark
echo 0 > /proc/sys/net/ipv4/icmp_echo_ignore_broadcasts
barrier netdev
check "ethtool: driver and bus" driver_is
check "ethtool: link is up" link_is yes
for feature in scatter-gather tx-checksumming rx-checksumming tcp-segmentation-offload rx-gro-hw; do
	check "ethtool: $feature" feature_is "$feature" on
done
check "ethtool: software time stamps" stamps
check "ping, small" pings 56
check "ping, empty" pings 0
check "ping, 8000 bytes" pings 8000
check "ping, largest packet" pings $((mtu - 28))
check "ping, IPv6" pings_v6
check "ping, broadcast" pings_broadcast
check "frames sent are counted" counts tx_packets
check "frames received are counted" counts rx_packets
check "TCP and UDP data" data_is_right plain
check "the same without checksums on transmit" with_offload tx off
check "the same without checksums on receive" with_offload tx on rx off
check "the same without scatter/gather" with_offload rx on sg off
check "the same with all of them again" with_offload sg on
check "the same without segmentation" with_offload tso off
check "the same with segmentation again" with_offload tso on
check "large frames come in segments" longest off "$mtu" $((mtu + 18))
check "large frames come as they are" longest on $((mtu + 19)) 65600
check "ethtool: ring sizes" rings_are 256 256
if [ "$RANK" -eq 0 ]; then
	check "sizes that are refused" refuses_rings
else
	skip "sizes that are refused" "the first machine's"
fi
barrier rings
waited=$(ethtool_stat tx_waited)
check "TCP and UDP data with small rings" with_rings 32 32 32 32
if [ "$RANK" -eq 1 ]; then
	check "frames have waited for the receiver" wait_for 30 frames_have_waited "$waited"
else
	skip "frames have waited for the receiver" "the second machine's"
fi
barrier waited
check "the same with large rings" with_rings 2000 1024 2048 1024
check "the same with rings as before" with_rings 256 256 256 256
check_queues
check "MTU too large is refused" refuses_mtu 65000
check "MTU too small is refused" refuses_mtu 60

barrier mtu
check "MTU 1500" ip link set "$ND" mtu 1500
barrier mtu
check "ping, 1472 bytes" pings 1472
check "TCP and UDP data with MTU 1500" data_is_right mtu1500
check "VLAN" vlan_up
check "TCP and UDP data in it" vlan_data_is_right
barrier mtu
check "MTU as before" ip link set "$ND" mtu "$mtu"
barrier mtu
check "ping, 8000 bytes" pings 8000
barrier mac

if [ "$RANK" -eq 0 ]; then
	check "another MAC address" change_mac 02:00:00:00:77:01
	check "the old MAC address" change_mac "$mac"
	check "the other machine's MAC address is refused" neighbour_is_safe
	check "promiscuous" ip link set "$ND" promisc on
	check "ping, promiscuous" pings 1000
	check "not promiscuous" ip link set "$ND" promisc off
	check "rings of other sizes under load" rings_under_load
	check "other numbers of queues under load" queues_under_load
	check "down and up under load" down_and_up
	barrier flood
else
	for name in "another MAC address" "the old MAC address" "the other machine's MAC address is refused" "promiscuous" "ping, promiscuous" "not promiscuous" \
		"rings of other sizes under load" "other numbers of queues under load"; do
		skip "$name" "the first machine's"
	done
	check "load on a link that goes down and up" flood_until flood
fi
barrier end
check "TCP and UDP data" data_is_right end
check "the kernel log is clean" kernel_log_clean
finish
