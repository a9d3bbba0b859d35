#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# IP over InfiniBand between two machines: datagram and connected mode, multicast, MTUs, checksums and segmentation by the
# device, partitions.  The subnet manager of the first machine is started anew with other partitions.
# vms: 2
# link: ib
# kernels: all - the kernel has IPoIB
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
. "$DIR/lib_ib.sh"
ND=$OHCA_IPOIB
CHILD=$ND.8001
SUMS=/run/watch_sums.out
MIB=$(long 24 3) # each way, over IPv4 and over IPv6

cleanup()
{
	echo 0x8001 > "/sys/class/net/$ND/delete_child"
	set_mode datagram
	[ -z "$lifespan" ] || echo "$lifespan" > "$IB_PORT/hw_counters/lifespan"
	[ -z "$watching" ] || kill "$watching"
	ethtool -K "$ND" tx on rx on tso on gro on
	echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_broadcasts
	rm -f "$IB_PARTITIONS" "$SUMS"
} > /dev/null 2>&1
trap cleanup EXIT
watching='' lifespan=''

is() # file of the interface, content
{
	echo "$1: $(cat "/sys/class/net/$ND/$1")"
	[ "$(cat "/sys/class/net/$ND/$1")" = "$2" ]
}

interface()
{
	is type 32 && is mode datagram && is mtu 4092 && is operstate up && is pkey 0xffff && [ "$(wc -c < "/sys/class/net/$ND/address")" = 60 ] &&
		grep -q "$(ib_guid | sed 's/../&:/g; s/:$//')\$" "/sys/class/net/$ND/address"
}

pings() # size, further options
{
	pings_size=$1
	shift
	reached_ping -c 5 -i 0.02 -W 5 -s "$pings_size" "$@" "$OHCA_PEER"
}

pings_v6()
{
	reached_ping -6 -c 5 -i 0.02 -W 5 -s 1500 "fd77::$((2 - RANK))"
}

# Both answer, this machine and the other one.
group_answers() # group
{
	says "from fd77|from fe80" "duplicates|DUP" -- ping -6 -c 3 -i 0.2 -W 5 "$1%$ND"
}

broadcast_answers()
{
	says "from $OHCA_PEER" -- ping -b -c 2 -i 0.2 -W 5 10.77.255.255
}

# ping ends with this machine's own answers. Those of the other one are late if it is slow.
awaited() # command...
{
	wait_for 30 "$@" || "$@"
}

# Data in both directions; the two machines wait for each other there.
data_is_right() # name
{
	barrier "$1" && "$DIR/netdata" -m "$MIB" "fd77::$((2 - RANK))"
}

# What ethtool says of each of them
offloads_are() # on, off
{
	ethtool -k "$ND" > "$SUMS"
	cat "$SUMS"
	for offload in rx-checksumming tx-checksum-ipv4 tx-tcp-segmentation; do
		grep -qE "^[[:space:]]*$offload: $1\$" "$SUMS" || { echo "no $offload $1"; return 1; }
	done
}

set_offloads() # on, off
{
	ethtool -K "$ND" tx "$1" rx "$1" tso "$1" && offloads_are "$1"
}

# Datagrams that the port has sent, and packets that the interface has sent
datagrams_sent()
{
	cat "$IB_PORT/hw_counters/tx_packets"
}

packets_sent()
{
	cat "/sys/class/net/$ND/statistics/tx_packets"
}

# Data, and who has made segments of them: the device makes many datagrams of one packet.
segments_by() # device, kernel; name
{
	datagrams=$(datagrams_sent) packets=$(packets_sent)
	data_is_right "$2" || return 1
	datagrams=$(($(datagrams_sent) - datagrams)) packets=$(($(packets_sent) - packets))
	echo "datagrams: $datagrams, packets: $packets"
	case $1 in
	device) [ $((datagrams - packets)) -gt $((100 * MIB)) ] ;;
	kernel) [ $((datagrams - packets)) -lt $((40 * MIB)) ] ;;
	esac
}

# The checksums of all that comes in, and that no packet is longer than a datagram; what the stack would join stays apart.
sums_are_good() # name
{
	ethtool -K "$ND" gro off || return 1
	"$DIR/watch_sums" "$ND" > "$SUMS" &
	watching=$!
	wait_for 20 grep -q watching "$SUMS" && data_is_right "$1"
	sums_status=$?
	kill "$watching"
	wait "$watching"
	watching=
	ethtool -K "$ND" gro on
	cat "$SUMS"
	[ "$sums_status" -eq 0 ] && grep -qE '^tcp [1-9][0-9]{2,} bad 0 longest 4092$' "$SUMS"
}

# It takes effect for new paths at once; the connection itself comes with the first packet.
set_mode() # datagram, connected
{
	echo "$1" > "/sys/class/net/$ND/mode" && [ "$(cat "/sys/class/net/$ND/mode")" = "$1" ] || return 1
	[ "$1" != connected ] || ip link set "$ND" mtu 65520
}

connected_has_none()
{
	ethtool -k "$ND" > "$SUMS"
	cat "$SUMS"
	grep -q "tx-checksum-ipv4: off" "$SUMS" && grep -q "tx-tcp-segmentation: off" "$SUMS"
}

child_up()
{
	echo 0x8001 > "/sys/class/net/$ND/create_child" && ip link set "$CHILD" up &&
		ip addr replace "10.87.0.$((RANK + 1))/24" dev "$CHILD" && wait_for 30 child_joined
}

child_joined()
{
	[ "$(cat "/sys/class/net/$CHILD/operstate")" = up ]
}

child_pings()
{
	reached_ping -c 5 -i 0.02 -W 5 -s 1000 -I "$CHILD" "10.87.0.$((2 - RANK))"
}

child_goes()
{
	echo 0x8001 > "/sys/class/net/$ND/delete_child" && wait_for 10 child_is_gone
}

# Linux removes it in a work queue.
child_is_gone()
{
	[ ! -e "/sys/class/net/$CHILD" ]
}

kernel_log_mark
lifespan=$(cat "$IB_PORT/hw_counters/lifespan")
echo 0 > "$IB_PORT/hw_counters/lifespan" # each look is at the device itself
echo 0 > /proc/sys/net/ipv4/icmp_echo_ignore_broadcasts
plan 36
barrier ipoib
check "the interface" interface
check "ping" pings 56
check "ping with the largest packet" pings 4064 -M 'do'
check "ping with fragments" pings 8000
check "ping over IPv6" pings_v6
check "multicast" awaited group_answers ff02::1
check "broadcast" awaited broadcast_answers
check "the device has checksums and segmentation" offloads_are on
check "programs see the checksum offload" says UD_IP_CSUM -- ibv_devinfo -v -d "$IB_DEV"
check "data in datagram mode, in segments by the device" segments_by device ipoib.datagram
check "checksums of segments by the device" sums_are_good ipoib.sums
check "offloads off" set_offloads off
check "data in segments by the kernel" segments_by kernel ipoib.off
check "checksums by the kernel" sums_are_good ipoib.off.sums
check "offloads of one machine on" set_offloads "$([ "$RANK" -eq 0 ] && echo on || echo off)"
check "data between unlike machines" segments_by "$([ "$RANK" -eq 0 ] && echo device || echo kernel)" ipoib.unlike
check "offloads on" set_offloads on
check "data in segments by the device again" segments_by device ipoib.on
barrier ipoib.connected
check "connected mode" set_mode connected
barrier ipoib.connected.on
check "connected: ping" pings 56
check "connected: ping with the largest packet" pings 65492 -M 'do'
check "connected: multicast" awaited group_answers ff02::1
check "connected: data" data_is_right ipoib.connected.data
check "connected: no offloads" connected_has_none
check "connected: queue pairs are there" says "type RC" -- rdma resource show qp
barrier ipoib.back
check "datagram mode again" set_mode datagram
barrier ipoib.datagram.on
check "datagram: ping" pings 56
barrier ipoib.partitions
first_check "opensm with two partitions" manager_with_partitions 'ohca=0x0001, ipoib : ALL=full;'
check "both keys in the port's table" wait_for 30 has_key 0x8001
barrier ipoib.keys
check "child interface of a partition" child_up
barrier ipoib.child
check "child: ping" child_pings
barrier ipoib.child.end
check "child: removed" child_goes
barrier ipoib.manager
first_check "opensm without partitions" manager_restart
check "its key is gone" wait_for 30 has_no_key 0x8001
barrier ipoib.keys.gone
check "ping again" pings 56
check "the kernel log is clean" kernel_log_clean
finish
