# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Tools between two machines, for demo and bench: a server in the first one and, when it listens, its client in the
# second one.

# shellcheck source=tools/lab/guest/net.sh
. /usr/lib/ohca-lab/net.sh
perf_port=18600
perf_log=/run/client.log

# perf_use NUMBER: selects that adapter of both machines for the following functions. Sets perf_ibdev, perf_netdev,
# the server perf_server, and perf_options, the arguments of every perftest. At first it is adapter 0.
perf_use() {
	local ibdevs netdevs gids links
	read -ra links <<<"$OHCA_LINKS"
	read -ra ibdevs <<<"$OHCA_IBDEVS"
	read -ra netdevs <<<"$OHCA_NETDEVS"
	read -ra gids <<<"$OHCA_GID_INDICES"
	perf_ibdev=${ibdevs[$1]} perf_netdev=${netdevs[$1]}
	perf_server=node0
	[ "$1" = 0 ] || perf_server=$(ip_of 0 "$1")
	perf_options=(-d "$perf_ibdev" -F)
	# InfiniBand ports are found by their LIDs.
	[ "${links[$1]-}" = ib ] || perf_options+=(-x "${gids[$1]}")
}

perf_use 0

[ -p /run/nap ] || mkfifo /run/nap
exec {nap}<>/run/nap

# tcp_listening PORT: whether a TCP server listens there, in this machine. It starts no process, which would delay the server.
tcp_listening() {
	local local_address state port file
	printf -v port ':%04X' "$1"
	for file in /proc/net/tcp{,6}; do
		while read -r _ local_address _ state _; do
			[[ $local_address == *"$port" && $state == 0A ]] && return
		done <"$file"
	done
	return 1
}

# cm_listening PORT: the same for the RDMA connection manager. The kernel says LISTEN before it listens: it does when the
# program waits for events, that is, all its threads sleep.
cm_listening() {
	local pid file stat
	pid=$(rdma resource show cm_id | sed -nE "/ state LISTEN .*:$1( |\$)/s/.* pid ([0-9]+) .*/\1/p" | tail -n 1)
	[ -n "$pid" ] || return 1
	for file in "/proc/$pid/task"/*/stat; do
		read -r stat <"$file" && [[ ${stat##*) } == S* ]] || return 1
	done 2>/dev/null
}

# pair READY PORT COMMAND...: runs COMMAND as a server in the first machine and, when "READY PORT" succeeds there,
# with the server's name or address in the second one. The client's output goes to stdout.
pair() {
	local ready=$1 port=$2 server status=0
	shift 2
	if [ "$OHCA_RANK" = 0 ]; then
		"$@" >/run/server.log 2>&1 &
		server=$!
		until "$ready" "$port" || ! kill -0 "$server" 2>/dev/null; do
			read -rt 0.01 -u "$nap"
		done
		ohca-barrier pair
		wait "$server" || { status=$? && cat /run/server.log; }
	else
		ohca-barrier pair
		"$@" "$perf_server" || status=$?
	fi
	return "$status"
}

# perf TOOL SIZE OPTION...: runs perftest; in the client, the array $figures gets its line for that size.
perf() {
	local tool=$1 size=$2 line
	shift 2
	perf_port=$((perf_port + 1))
	figures=()
	if ! pair tcp_listening "$perf_port" timeout 90 "$tool" "${perf_options[@]}" -p "$perf_port" \
		-s "$size" "$@" >"$perf_log" 2>&1; then
		cat "$perf_log"
		return 1
	fi
	[ "$OHCA_RANK" = 1 ] || return 0
	while read -ra line; do
		[ "${line[0]-}" != "$size" ] || figures=("${line[@]}")
	done <"$perf_log"
}
