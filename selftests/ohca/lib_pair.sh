# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Tools between two machines: a server in the first one (or $pair_server_rank) and, when it is ready, its client in
# the other one. A script sources this file after lib.sh.

DEV=$(ibdev)
GID=${OHCA_GID_INDEX:-$(gids | grep 0000:0000:0000:0000:0000:ffff | head -n 1 | cut -d' ' -f1)}
# On InfiniBand the tools use LIDs, without a GID; scripts that set this use a GID as well.
pair_gid=
on_ib || pair_gid=1
# The number of the port, if the tools need it: see pair_use_port
pair_port=
pair_log=$(mktemp)
pair_server=
pair_number=0
pair_server_rank=0
pair_stop=

pair_cleanup()
{
	[ -z "$pair_server" ] || kill "$pair_server" 2> /dev/null
	rm -f "$pair_log"
}
trap pair_cleanup EXIT

device_has() # SRQ or XRC
{
	case $1 in
	SRQ) ibv_devinfo -v -d "$DEV" | grep -qE 'max_srq:[[:space:]]+[1-9]' ;;
	XRC) ibv_devinfo -v -d "$DEV" | grep -qE '^[[:space:]]+XRC$' ;;
	esac
}

# check_with WHAT NAME COMMAND...: a check of a function that the device may not have
check_with()
{
	with_what=$1
	shift
	if device_has "$with_what"; then
		check "$@"
	else
		skip "$1" "the device has no $with_what"
	fi
}

tcp_listening() # port
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6
}

# There is a QP of this type in user space that can send.
qp_ready() # type
{
	rdma resource show qp | grep -E "type $1 .*state RTS .*pid" > /dev/null
}

# The server is ready, or has ended.
pair_ready() # command...
{
	"$@" || ! kill -0 "$pair_server" 2> /dev/null
}

# If $pair_stop is set, the server ends when there is a file of that name.
pair_end()
{
	[ -n "$pair_stop" ] || return
	until over "$pair_server"; do
		[ ! -e "$pair_stop" ] || kill "$pair_server" 2> /dev/null
		sleep 0.2
	done
}

# run_pair READY SERVER CLIENT: command lines; the client's begins when READY succeeds. The output of this machine's
# one is in $pair_log. The other machine's may run a little longer than this one's; the next pair begins when both
# have ended.
run_pair()
{
	pair_number=$((pair_number + 1))
	if [ "$RANK" -eq "$pair_server_rank" ]; then
		sh -c "exec timeout $((120 * slow)) $2" > "$pair_log" 2>&1 &
		pair_server=$!
		# shellcheck disable=SC2086 # words
		wait_for 60 pair_ready $1
		barrier "pair.$pair_number"
		pair_end
		wait "$pair_server"
		pair_status=$?
		pair_server=
	else
		barrier "pair.$pair_number"
		sh -c "exec timeout $((120 * slow)) $3" > "$pair_log" 2>&1
		pair_status=$?
	fi
	cat "$pair_log"
	return "$pair_status"
}

# Runs a tool with the same options on both sides, and the server's name on the client's; its port is free. With
# perftest's option -R it is a port of rdma_cm.
run_tool() # command and options
{
	port=$((19000 + pair_number))
	case " $* " in
	*" -R "*) run_tool_by_cm "$@" ;;
	*) run_pair "tcp_listening $port" "$* -p $port" "$* -p $port $OHCA_PEER" ;;
	esac
}

# With -R, perftest's server listens a second time, after they have talked, when the client connects already, which waits for
# nothing. If the client was the faster one, both run once more.
run_tool_by_cm()
{
	for by_cm in 1 2 3 4 5; do
		port=$((19000 + pair_number))
		by_cm_rejected=/mnt/share/${0##*/}.rejected.$port # which both machines see
		[ "$RANK" -ne "$pair_server_rank" ] || rm -f "$by_cm_rejected"
		pair_stop=$by_cm_rejected
		run_pair "cm_listening $port" "$* -p $port" "$* -p $port $OHCA_PEER"
		by_cm_status=$?
		pair_stop=
		if [ "$RANK" -ne "$pair_server_rank" ] && grep -q "RDMA_CM_EVENT_REJECTED; error: 8" "$pair_log"; then
			: > "$by_cm_rejected"
		fi
		barrier "pair.$pair_number.end"
		[ -e "$by_cm_rejected" ] || return "$by_cm_status"
		diag "attempt $by_cm: the server did not listen yet"
	done
	return 1
}

# perftest has printed a line of results: size, iterations of all queue pairs, figures. Some servers print none.
reports() # size
{
	[ "$RANK" -eq "$pair_server_rank" ] || grep -Eq "^ *$1 +[0-9]+ +[0-9.]+ +[0-9.]+" "$pair_log"
}

# pair_use_port NUMBER: what follows is between these ports of the two adapters: options of tools, and addresses.
pair_use_port()
{
	pair_port=$1
	ND=$(nth "$1" "$OHCA_NETDEVS")
	GID=$(nth "$1" "$OHCA_GID_INDICES")
	pair_gid=
	[ "$(nth "$1" "$OHCA_LINKS")" = ib ] || pair_gid=1
	OHCA_IP=$(my_ip 4)
	OHCA_PEER=${OHCA_IP%.*}.$(((RANK ^ 1) + 1))
	export OHCA_PORT="$1" OHCA_IP OHCA_PEER
}

# nth NUMBER WORDS
nth()
{
	echo "$2" | cut -d' ' -f"$1"
}

# gid_option OPTION: prints it with the index of the GID, if the tools use GIDs
gid_option()
{
	[ -z "$pair_gid" ] || echo "$1 $GID"
}

perf_timeout= # of acknowledgments, as perftest takes it
perf() # tool, size, iterations, further options
{
	perf_tool=$1 perf_size=$2 perf_iterations=$3
	shift 3
	# shellcheck disable=SC2046 # words
	run_tool "$perf_tool" -d "$DEV" ${pair_port:+-i "$pair_port"} ${perf_timeout:+-u "$perf_timeout"} $(gid_option -x) -F \
		-s "$perf_size" -n "$perf_iterations" "$@" || return 1
	reports "$perf_size" || { echo "no results for $perf_size bytes"; return 1; }
}

# libibverbs' examples
pingpong_timeout= # of acknowledgments, as for perftest; the programs have no option for it
pingpong() # kind, options
{
	pingpong_kind=$1
	shift
	# shellcheck disable=SC2046 # words
	run_tool ${pingpong_timeout:+env "LD_PRELOAD=$DIR/ack_timeout.so" "ACK_TIMEOUT=$pingpong_timeout"} \
		"ibv_${pingpong_kind}_pingpong" -d "$DEV" ${pair_port:+-i "$pair_port"} $(gid_option -g) "$@" || return 1
	grep -qE "iters in|^success" "$pair_log"
}

# librdmacm's tools
# The interface whose addresses the tools use
ND=$(netdev)

# This machine's address of that family; the address of one of the two machines; and the server's
my_ip() # 4 or 6
{
	ip -"$1" -o addr show dev "$ND" scope global | sed -n 's|.*inet6* \([^/]*\)/.*|\1|p' | head -n 1
}

node_ip() # 4 or 6, rank
{
	if [ "$RANK" -eq "$2" ]; then
		my_ip "$1"
	elif [ "$1" -eq 4 ]; then
		getent ahostsv4 "$OHCA_PEER" | head -n 1 | cut -d' ' -f1
	else
		my_ip 6 | sed "s/:[0-9a-f]*\$/:$(printf %x $(($2 + 1)))/"
	fi
}

server_ip() # 4 or 6
{
	node_ip "$1" "$pair_server_rank"
}

# tool PORT NAME SERVER-OPTIONS CLIENT-OPTIONS: the server's name is added to the client's options
tool()
{
	run_pair "cm_listening $1" "$2 $3" "$2 $4"
}

echoes() # 4 or 6, further options
{
	family=$1
	shift
	tool 7174 rping "-s -a $(server_ip "$family") -C 20 -V $*" "-c -a $(server_ip "$family") -C 20 -V $*"
	rping_was_done "$?" "$pair_log"
}

complete() # 4 or 6, port, tool, options
{
	family=$1 port=$2 name=$3
	shift 3
	tool "$port" "$name" "-b $(server_ip "$family") $*" "-s $(server_ip "$family") $*" || return 1
	grep -q "return status 0" "$pair_log"
}

# No connection of user space is left.
no_connections()
{
	! rdma resource show cm_id | grep ' pid '
}

# The receiver is ready before the sender's first message, so all messages are received.
multicast() # group
{
	run_pair "qp_ready UD" "mckey -b $(my_ip 4) -m $1 -C 10" "mckey -b $(my_ip 4) -m $1 -s -C 10" || return 1
	grep -q "data transfers complete" "$pair_log"
}
