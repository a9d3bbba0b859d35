# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# SMC-R between two machines: the first one is an HTTP server, the second one has its clients, preloaded with SMC's
# sockets. A script sources this file after lib.sh.

WEB=/run/web
SIZE=8388608
SUM=/mnt/share/smc.sum # which both machines see
PRELOAD=$DIR/smc_preload.so
GET='import sys, urllib.request; urllib.request.urlretrieve(sys.argv[1], sys.argv[2])'
server=
traffic=

# The module can be unloaded, or at least has released the device. Linux may lose a socket that is closed while its
# link is terminated: it holds the module for ever (seen with 6.12), but neither a link nor a queue pair.
smc_unload()
{
	wait_for 30 modprobe -r smc && return
	lsmod | grep -w smc
	unlinked && kernel_qps 0
}

smc_cleanup()
{
	[ -z "$traffic" ] || kill -KILL "$traffic"
	[ -z "$server" ] || smc_serve_end
} > /dev/null 2>&1

# Each machine reaches the other one by a gateway, which is the other one's second address. SMC-R version 2 needs it
# here: for a direct neighbour, Linux uses the MAC address that version 1 has sent, and that needs GIDs of RoCEv1.
routed()
{
	ip addr replace "10.90.0.$((RANK + 1))/24" dev "$(netdev)" &&
		ip route replace "$OHCA_PEER/32" via "10.90.0.$((2 - RANK))" src "$OHCA_IP"
}

smc() # command of the program
{
	"$DIR/smc" "$@"
}

smc_serve()
{
	mkdir -p "$WEB" && head -c "$SIZE" /dev/urandom > "$WEB/file" && sha256sum < "$WEB/file" > "$SUM" &&
		truncate -s 64G "$WEB/large" || return 1
	LD_PRELOAD=$PRELOAD python3 -m http.server --bind 0.0.0.0 --directory "$WEB" 8000 > /run/web.log 2>&1 &
	server=$!
	wait_for 30 listening 8000
}

smc_serve_end()
{
	kill "$server"
	wait "$server"
	server=
	rm -r "$WEB"
}

listening() # port
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") [0-9A-F:]* 0A" /proc/net/tcp
}

fetch()
{
	LD_PRELOAD=$PRELOAD timeout $((120 * slow)) python3 -c "$GET" "http://$OHCA_PEER:8000/file" /run/fetched &&
		[ "$(sha256sum < /run/fetched)" = "$(cat "$SUM")" ]
}

# Connections that used SMC-R as a client or a server, or bytes that they received or sent
smc_count() # client, server, received or sent
{
	smc stats | sed -n "s/^$1 //p"
}

# A file is transferred by SMC-R. That may take several tries. A connection falls back to TCP if its peer has not
# confirmed a new link after two seconds (SMC_LLC_WAIT_TIME), which is short on a busy machine. It is reset by a peer
# that has not yet noticed that the old link is lost.
smc_fetch()
{
	wait_for 60 smc_fetched && return
	smc stats
	smc links
	fetch
	return 1
}

smc_fetched()
{
	connected_before=$(smc_count client)
	fetch && [ "$(smc_count client)" -gt "$connected_before" ]
}

# So many connections used SMC-R. Others fell back to TCP only as a link was not confirmed in time, which is
# SMC_CLC_DECL_TIMEOUT_CL, or SMC_CLC_DECL_PEERDECL for the peer.
connections() # client or server, number
{
	smc stats
	[ "$(smc_count "$1")" -eq "$2" ] && ! smc stats | grep "^tcp" | grep -v "reason 0x0\(201\|500\)0000$"
}

carried() # sent or received, number of bytes
{
	[ "$(smc_count "$1")" -ge "$2" ]
}

linked()
{
	smc links | grep "^$(ibdev) "
}

# A peer that disappeared is noticed when tests of the link are not answered.
unlinked()
{
	[ -z "$(smc links)" ]
}

# Connections that fell back to TCP
became_tcp()
{
	smc stats | awk '$1 == "tcp" { sum += $2 } END { print sum + 0 }'
}

# SMC-R carries the traffic, or it fell back to TCP.
traffic_decided()
{
	carried received $((received + 1048576)) || [ "$(became_tcp)" -gt "$tcp_before" ]
}

# A file whose transfer takes minutes. Like any connection, this one falls back to TCP if the peer was too slow to
# confirm a new link (SMC_LLC_WAIT_TIME); then another one is tried.
traffic_start()
{
	for n in 1 2 3 4 5; do
		received=$(smc_count received)
		tcp_before=$(became_tcp)
		LD_PRELOAD=$PRELOAD python3 -c "$GET" "http://$OHCA_PEER:8000/large" /dev/null > /run/traffic.log 2>&1 &
		traffic=$!
		wait_for 30 traffic_decided
		carried received $((received + 1048576)) && return
		[ "$(became_tcp)" -gt "$tcp_before" ] || return 1
		kill "$traffic"
		wait "$traffic"
		traffic=
	done
	smc stats
	return 1
}

traffic_ended()
{
	if ! wait_for 60 over "$traffic"; then
		cat "/proc/$traffic/stack" /run/traffic.log
		return 1
	fi
	wait "$traffic"
	traffic_status=$?
	traffic=
	cat /run/traffic.log
	[ "$traffic_status" -ne 0 ]
}
