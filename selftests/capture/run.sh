#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks with tshark the packets of every opcode that the device makes: none is malformed, each ends with a CRC
# (tshark does not verify it; the tests that make the files do), and each has the name of its opcode. Then it checks a
# file of "ohcad --capture", with everything that tshark shows of it, and one whose packets are cut. Runs in the lab's
# root; "ohca-lab setup capture" installs tshark there.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
cd "$DIR/../.." || exit 1
command -v tshark > /dev/null || skip_all "no tshark"
out=${O:?}/ohcad
file=$(mktemp)
trap 'rm -f "$file" "$file".*' EXIT
make -s -C selftests/ohcad O="$out" "$out/roce_test" "$out/capture_test" "$out/smi_test" \
	"$out/ipoib_test" > "$file.make" 2>&1 || { cat "$file.make"; exit 1; }
ROCE_CAPTURE=$file "$out/roce_test" > "$file.tap" 2>&1 || { cat "$file.tap"; exit 1; }
CAPTURE_FILE=$file.pcapng CAPTURE_CUT_FILE=$file.cut.pcapng "$out/capture_test" > "$file.tap" 2>&1 || { cat "$file.tap"; exit 1; }
CAPTURE_FILE=$file.ib.pcapng "$out/smi_test" > "$file.tap" 2>&1 || { cat "$file.tap"; exit 1; }
CAPTURE_FILE=$file.ipoib.pcapng "$out/ipoib_test" > "$file.tap" 2>&1 || { cat "$file.tap"; exit 1; }

of=$file
fields() # filter, field...
{
	fields_filter=$1
	shift
	# tshark can't know a protocol of the payload.
	# shellcheck disable=SC2046 # words
	tshark -n -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE \
		--disable-protocol rpcordma --disable-protocol infiniband.eoib -r "$of" -Y "$fields_filter" -T fields $(printf -- '-e %s ' "$@") 2> /dev/null
}

is() # expected, filter, field...
{
	is_expected=$1
	shift
	is_found=$(fields "$@" | sort -u)
	[ "$is_found" = "$is_expected" ] || { echo "found: $is_found"; echo "expected: $is_expected"; return 1; }
}

count_is() # number, filter
{
	is_found=$(fields "$2" frame.number | wc -l)
	[ "$is_found" -eq "$1" ] || { echo "$is_found packets of $1"; return 1; }
}

opcodes_are() # number
{
	is_found=$(fields infiniband infiniband.bth.opcode | sort -u | wc -l)
	[ "$is_found" -eq "$1" ] || { echo "$is_found opcodes of $1"; return 1; }
}

# Prints the list of packets, with the script for cut packets. Runs as nobody, because tshark runs no scripts as root.
list()
{
	cp tools/ohcad/capture/capture.lua "$file.lua"
	chmod 644 "$file.lua" "$of"
	HOME=/tmp setpriv --reuid 65534 --regid 65534 --clear-groups tshark -n -X "lua_script:$file.lua" \
		--disable-protocol rpcordma --disable-protocol infiniband.eoib -r "$of"
}

list_is() # number, pattern
{
	is_found=$(list 2> /dev/null | grep -c -e "$2")
	[ "$is_found" -eq "$1" ] || { list | head -n 5; echo "$is_found lines with $2"; return 1; }
}

tab=$(printf '\t')
plan 37
# 63 opcodes, three lengths, IPv4 and IPv6; tshark knows those of RC, UC and UD, but none of XRC.
check "each packet is one of InfiniBand" count_is 378 "infiniband && udp.dstport == 4791"
check "each but those of XRC has a CRC" count_is 234 "infiniband.invariant.crc"
check "half of them in a VLAN" count_is 189 "vlan.id == 100 && vlan.priority == 5 && ipv6"
check "none is malformed" count_is 0 "_ws.malformed"
check "the checksums of IPv4 are right" count_is 0 "ip.checksum.status == Bad"
check "destination" is 0x123456 "infiniband.bth.opcode < 0x60" infiniband.bth.destqp
check "partition" is 65535 "infiniband" infiniband.bth.p_key
check "padding" is "1082${tab}0
1106${tab}0
138${tab}3
162${tab}3
58${tab}0
82${tab}0" "infiniband.bth.opcode == 0" frame.len infiniband.bth.padcnt
check "RETH" is "0x0123456789abcdef${tab}0xdeadbeef${tab}2147483649" "infiniband.reth" \
	infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen
check "AtomicETH, compare and swap" is "11072869122414935808${tab}1234605616436508552" "infiniband.bth.opcode == 0x13" \
	infiniband.atomiceth.swapdt infiniband.atomiceth.cmpdt
check "AtomicETH, fetch and add" is 1234605616436508552 "infiniband.bth.opcode == 0x14" infiniband.atomiceth.swapdt
check "AETH" is "97${tab}11259375" "infiniband.aeth" infiniband.aeth.syndrome infiniband.aeth.msn
check "DETH" is "0x0000000080010000${tab}0x00777777" "infiniband.deth" infiniband.deth.q_key infiniband.deth.srcqp
check "immediate data" is "cafe0001,cafe0001" "infiniband.immdt" infiniband.immdt
check "IETH" is "13579bdf,13579bdf" "infiniband.ieth" infiniband.ieth

# 79 packets of the 63 opcodes, of bursts of one and three packets
of=$file.pcapng
check "capture: each packet is one of InfiniBand" count_is 79 "infiniband && udp.dstport == 4791"
check "capture: each but those of XRC has a CRC" count_is 49 "infiniband.invariant.crc"
check "capture: every opcode" opcodes_are 63
check "capture: none is malformed" count_is 0 "_ws.malformed || _ws.expert.severity == error"
check "capture: the checksums of IPv4 are right" count_is 79 "ip.checksum.status == Good"
check "capture: interface, direction" is "hca0${tab}0x00000002${tab}1" frame frame.interface_name \
	frame.packet_flags_direction frame.packet_flags_reception_type
check "capture: packets of a burst" is "6${tab}16777214
7${tab}16777215
8${tab}0
9${tab}0" "infiniband.bth.opcode >= 6 && infiniband.bth.opcode <= 9" infiniband.bth.opcode infiniband.bth.psn

# The packets of RC again, at most 96 bytes of each
of=$file.cut.pcapng
packets=$(fields frame frame.number | wc -l)
cut=$(fields "frame.cap_len < frame.len" frame.number | wc -l)
check "cut: headers are dissected" count_is "$packets" "infiniband.bth.opcode && frame.cap_len <= 96"
check "cut: none is malformed" count_is 0 "_ws.malformed || _ws.expert.severity == error"
check "cut: none is called malformed" list_is 0 Malformed
check "cut: each one that is cut is called that" list_is "$cut" "RC .* QP=0x.* \[Packet size limited during capture\]"
check "cut: those that are not have their name" list_is $((packets - cut)) "RC .* QP=0x[0-9a-f]* *\$"

# A subnet manager's packets at the ports of three HCAs
of=$file.ib.pcapng
check "InfiniBand: none is malformed" count_is 0 "_ws.malformed || _ws.expert.severity == error"
check "InfiniBand: each packet is a management datagram" count_is 0 "!infiniband.mad"
check "InfiniBand: virtual lane, queue pair" is "0x0f${tab}0x000000" "infiniband" infiniband.lrh.vl infiniband.bth.destqp
check "InfiniBand: node description" is "0x01
0x81" "infiniband.mad.attributeid == 0x10" infiniband.mad.method
check "InfiniBand: the names of requests" list_is 4 "Subn[A-Za-z]*(NodeDescription)"

# Segments of TCP by the device, 11 of IPv4 and 7 of IPv6, a packet of each TCP and UDP: each at both ports
of=$file.ipoib.pcapng
check "IPoIB: none is malformed" count_is 0 "_ws.malformed"
check "IPoIB: checksums of IPv4" count_is 24 "ip.checksum.status == Good"
check "IPoIB: checksums of TCP" count_is 38 "tcp.checksum.status == Good"
check "IPoIB: checksum of UDP" count_is 2 "udp.checksum.status == Good"
check "IPoIB: lengths of segments" is "132
2044" "ip && tcp" ip.len
finish
