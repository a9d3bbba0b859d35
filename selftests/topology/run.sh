#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tools/topology/ohca-topology prints net files with the right numbers of nodes and cables, which ohcad and ibsim take; and what
# opensm makes of the simulated subnets.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
TOP=$(cd "$DIR/../.." && pwd)
OHCAD=${O:?}/topology/ohcad

tmp=$(mktemp -d) || bail "no temporary directory"
trap 'rm -rf "$tmp"' EXIT

build()
{
	make -s -C "$TOP/tools/ohcad" O="$O/topology"
}

topology() # arguments
{
	"$TOP/tools/topology/ohca-topology" "$@"
}

# has SWITCHES HCAS CABLES ARGUMENT...: so many has the net file; each cable has two lines.
has()
{
	want="$1 $2 $(($3 * 2))"
	shift 3
	topology "$@" > "$tmp/net" || return 1
	found="$(grep -c '^Switch' "$tmp/net") $(grep -c '^Ca' "$tmp/net") $(grep -c '^\[' "$tmp/net")"
	[ "$found" = "$want" ] || { echo "switches, HCAs, ends: $found, not $want"; return 1; }
}

# Both take it, with an adapter at its first HCA.
accepted()
{
	"$OHCAD" --check --topology "$tmp/net" --hca socket=/none,mac=02:00:00:00:00:01,link=ib,node=node0 || return 1
	# A command for its console ends it.
	echo quit | timeout 60 ibsim -s "$tmp/net" -N 40000 -S 2000 -P 100000 > "$tmp/log" 2>&1
	! grep -i "fatal\|bad\|invalid\|can't" "$tmp/log" || return 1
	grep "simulator ready" "$tmp/log"
}

kind() # switches, HCAs, cables, arguments
{
	has "$@" && accepted
}

# refused WHAT ARGUMENT...: one line that says what, and how to get help; exit status 2
refused()
{
	what=$1
	shift
	topology "$@" > "$tmp/out" 2> "$tmp/error"
	[ $? = 2 ] && [ ! -s "$tmp/out" ] && grep -F -e "$what" "$tmp/error"
}

# Whoever goes from node to node by cables finds all of them.
connected()
{
	topology "$@" | tr -d '"' | awk '
		/^(Switch|Ca)/ { at = $3; nodes[at] = 1 }
		/^\[/ { split($2, to, "["); next_to[at] = next_to[at] " " to[1]; first = first ? first : at }
		function visit(node, list, i, n) {
			delete nodes[node]
			n = split(next_to[node], list, " ")
			for (i = 1; i <= n; i++)
				if (list[i] in nodes)
					visit(list[i])
		}
		END {
			visit(first)
			for (node in nodes) {
				print node " is not connected"
				bad = 1
			}
			exit bad
		}'
}

# seeds NUMBER ARGUMENT...: torus-2QoS gets so many directions.
seeds()
{
	want=$1
	shift
	topology "$@" > "$tmp/net" && [ "$(grep -c '^# torus-2QoS: [xyz][pm]_link 0x' "$tmp/net")" = "$want" ]
}

# The commands of the guide, as they are there
guide()
{
	sed -n 's|^ *tools/topology/ohca-topology ||p' "$TOP/Documentation/tutorial.rst" > "$tmp/guide"
	[ -s "$tmp/guide" ] || return 1
	while read -r arguments; do
		# shellcheck disable=SC2086 # words
		topology $arguments > "$tmp/net" && accepted || return 1
	done < "$tmp/guide"
}

plan 21
check "ohcad is built" build
check "star" kind 1 3 3 star 3
check "line" kind 4 4 7 line 4
check "ring" kind 5 10 15 ring 5 2
check "fat tree of two levels" kind 6 8 16 fat-tree 4 2
check "fat tree of three levels" kind 20 16 48 fat-tree 4 3
check "torus of three dimensions" kind 27 27 108 torus 3 3 3
check "torus of two dimensions" kind 8 16 28 torus 4 2 1 2
check "dragonfly" kind 36 72 162 dragonfly 4 2 2
check "a fat tree of 1,000 HCAs" kind 320 1000 3048 --hcas 1000 fat-tree 16 3
check "the guide's" guide
check "a torus is connected" connected torus 4 3 2
check "a dragonfly is connected" connected dragonfly 3 1 2
check "a fat tree is connected" connected fat-tree 6 3
check "directions of a torus, both of four switches" seeds 5 torus 4 4 3
check "no kind" refused "a kind is missing"
check "unknown kind" refused "there is no kind 'mesh'" mesh 3
check "unknown option" refused "unknown option: --size" --size 3
check "too few numbers" refused "torus takes 3 to 4 numbers, not 2" torus 3 3
check "an odd radix" refused "RADIX is even, not 5" fat-tree 5 2
check "no number" refused "SWITCHES is a number from 3 to 10000, not '0x3'" ring 0x3
finish
