# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What joins the machines of a run: one ohcad for those with an adapter, or several with uplinks (--ohcads), an Ethernet of QEMU's own
# for those with soft-RoCE, and an uplink of ohcad between them, if there are machines of the one kind
# only and of the other kind only. All use sockets in $RUN only. Runs inside the root.

# mac_of KIND RANK: prints a MAC address. KIND is 0x41 and the adapter's number in its machine, 0x52 for soft-RoCE, or 0x53 for the
# interface that SSH uses.
mac_of() {
	printf '52:4f:48:43:%02x:%02x' "$1" "$2"
}

# hca_socket RANK NUMBER: prints the socket of that adapter of that machine.
hca_socket() {
	echo "$RUN/hca$1.$2.sock"
}

# hca_option RANK NUMBER: prints ohcad's option for that adapter. Its name is hcaRANK, that of a further adapter of
# the same machine hcaRANK.NUMBER. A second port has the MAC address that follows.
hca_option() {
	local name=hca$1 link=${opt_links[$2]} rank=$(($1 + 10#$opt_first)) speed=''
	[ "$2" = 0 ] || name+=.$2
	[[ $link != *ib* ]] || speed=${opt_speed:+,speed=$opt_speed}${opt_width:+,width=$opt_width}${opt_pace:+,pace=$opt_pace}
	[[ $link != *+* ]] || rank=$((2 * rank))
	[[ $link != *ib* ]] || speed+=$(hca_node "$1" "$2")
	[[ $opt_hcas = 1 || $link != *eth* ]] || speed+=$(hca_trust "$1" "$2")
	echo "socket=$(hca_socket "$1" "$2"),mac=$(mac_of $((0x41 + $2)) "$rank"),name=$name,ports=$link$speed,strict"
}

# hca_trust RANK NUMBER: prints the suboption for the addresses of the machine's other adapters, which a bond of several has.
hca_trust() {
	local i link macs='' rank=$(($1 + 10#$opt_first))
	for (( i = 0; i < opt_hcas; i++ )); do
		[ "$i" != "$2" ] || continue
		link=${opt_links[$i]}
		if [[ $link = *+* ]]; then
			macs+=+$(mac_of $((0x41 + i)) $((2 * rank)))+$(mac_of $((0x41 + i)) $((2 * rank + 1)))
		else
			macs+=+$(mac_of $((0x41 + i)) "$rank")
		fi
	done
	echo ",trust=${macs#+}"
}

# hca_node RANK NUMBER: prints the suboption for its node of the topology: nodeRANK, or nodeRANK.NUMBER, if there is one. Without,
# ohcad takes the next HCA that is left.
hca_node() {
	local name=node$1
	[ "$2" = 0 ] || name+=.$2
	[ -z "$opt_topology" ] || ! grep -qE "^[[:space:]]*(Hca|Ca)[[:space:]]+[0-9]+[[:space:]]*\"$name\"" "$(topology_file)" ||
		echo ",node=$name"
}

# topology_file: prints the path of the net file inside the root, see enter.sh.
topology_file() {
	echo "$RUN_TOPOLOGY/${opt_topology##*/}"
}

# hca_list: prints RANK and NUMBER of each adapter of the run, one on each line.
hca_list() {
	local rank number
	for rank in "${!opt_devices[@]}"; do
		options_has "$rank" ohca || continue
		for ((number = 0; number < opt_hcas; number++)); do
			echo "$rank $number"
		done
	done
}

# hca_device RANK NUMBER: prints that adapter as a device of QEMU, in JSON. QEMU takes an adapter from its machine if ohcad does not
# reply in time, by default within 5 s. On a busy host ohcad may get no processor for that long: the time is a minute here.
hca_device() {
	printf '{"driver":"vfio-user-pci","bus":"port%d","socket":{"type":"unix","path":"%s"},"x-msg-timeout":60000}' \
		"$2" "$(hca_socket "$1" "$2")"
}

# net_args RANK: sets the arrays net_args, to the QEMU arguments of machine RANK's networks, and net_devices, to its
# network devices as JSON.
net_args() {
	local i=0
	net_args=() net_devices=()
	if options_has "$1" ohca; then
		for (( ; i < opt_hcas; i++)); do
			net_devices+=("$(hca_device "$1" "$i")")
		done
	fi
	if options_has "$1" rxe; then
		net_ethernet "$1"
		net_devices+=("$(printf '{"driver":"virtio-net-pci","bus":"port%d","netdev":"net","mac":"%s"}' \
			"$i" "$(mac_of 0x52 $(($1 + 10#$opt_first)))")")
	fi
}

# net_joined: whether the machines with an adapter and those with soft-RoCE are on one Ethernet.
net_joined() {
	options_only ohca && options_only rxe
}

# The Ethernet is a hub in the first machine's QEMU, with a socket for each other machine and one for
# the uplink of those with an adapter; two need no hub.
net_ethernet() {
	local i first='' members=() uplink="server=off,addr.type=unix,addr.path=$RUN/uplink.sock,reconnect-ms=50"
	for ((i = 0; i < opt_vms; i++)); do
		! options_has "$i" rxe || members+=("$i")
	done
	first=${members[0]}
	if [ "$1" != "$first" ]; then
		net_args+=(-netdev "stream,id=net,server=off,addr.type=unix,addr.path=$RUN/net$1.sock,reconnect-ms=50")
	elif [ ${#members[@]} = 1 ] && net_joined; then
		net_args+=(-netdev "stream,id=net,$uplink")
	elif [ ${#members[@]} = 2 ] && ! net_joined; then
		net_args+=(-netdev "stream,id=net,server=on,addr.type=unix,addr.path=$RUN/net${members[1]}.sock")
	else
		net_args+=(-netdev "hubport,id=net,hubid=0")
		for i in "${members[@]:1}"; do
			net_args+=(-netdev "stream,id=peer$i,server=on,addr.type=unix,addr.path=$RUN/net$i.sock")
			net_args+=(-netdev "hubport,id=hub$i,hubid=0,netdev=peer$i")
		done
		! net_joined ||
			net_args+=(-netdev "stream,id=uplink,$uplink" -netdev "hubport,id=hub,hubid=0,netdev=uplink")
	fi
}

# ohcad_of RANK: the number of the process that the adapters of that machine are in.
ohcad_of() {
	echo $(($1 % opt_ohcads))
}

# ohcad_name NUMBER: of a process; its files in $RUN begin with that.
ohcad_name() {
	echo "ohcad${1#0}"
}

# ohcad_uplinks NUMBER: adds to ohcad_args the uplinks of that process: to each other one, for each link layer.
ohcad_uplinks() {
	local other link
	for ((other = 0; other < opt_ohcads; other++)); do
		[ "$1" != "$other" ] || continue
		for link in $(tr ' +' '\n' <<<"${opt_links[*]}" | sort -u); do
			if [ "$1" -lt "$other" ]; then
				ohcad_args+=(--uplink "stream=unix:$RUN/ohcads$1-$other.$link.sock,listen,link=$link")
			else
				ohcad_args+=(--uplink "stream=unix:$RUN/ohcads$other-$1.$link.sock,link=$link")
			fi
		done
	done
	! net_joined || ohcad_args+=(--uplink "stream=unix:$RUN/uplink.sock,listen")
	for link in "${opt_uplinks[@]}"; do
		ohcad_args+=(--uplink "$link")
	done
}

# ohcad_args NUMBER: sets the array ohcad_args to the arguments of that process, and ohcad_out to the descriptor of its standard
# output.
ohcad_args() {
	local rank number fault
	ohcad_out=2
	ohcad_args=(--control "$RUN/$(ohcad_name "$1").control" --metrics "$RUN/$(ohcad_name "$1").metrics")
	while read -r rank number; do
		[ "$(ohcad_of "$rank")" != "$1" ] || ohcad_args+=(--hca "$(hca_option "$rank" "$number")")
	done < <(hca_list)
	ohcad_uplinks "$1"
	for fault in "${opt_faults[@]}"; do
		ohcad_args+=(--fault "$fault")
	done
	[ -z "$opt_topology" ] || ohcad_args+=(--topology "$(topology_file)")
	case $opt_pcap in
	'') ;;
	- | -,*)
		ohcad_args+=(--capture "$opt_pcap")
		ohcad_out=$OHCA_PCAP
		;;
	*) ohcad_args+=(--capture "/dev/fd/$OHCA_PCAP${opt_pcap#"${opt_pcap%%,*}"}") ;;
	esac
}

# ohcad_check: lets ohcad check its arguments, some of which are the user's, before anything is built.
ohcad_check() {
	local wrong number
	for ((number = 0; number < opt_ohcads; number++)); do
		ohcad_args "$number"
		wrong=$("$BUILD/ohcad${opt_sanitize:+-san}/ohcad" --check "${ohcad_args[@]}" 2>&1 >/dev/null) ||
			die_usage "$(head -n 1 <<<"${wrong#ohcad: }")"
	done
}

# ohcad_exec NAME: becomes ohcad, with its arguments and its log.
ohcad_exec() {
	exec 2>"$RUN/$1.log"
	exec >&"$ohcad_out"
	exec "$BUILD/ohcad${opt_sanitize:+-san}/ohcad" "${ohcad_args[@]}"
}

# ohcad_start: the processes with the HCAs of all machines, by default one; returns when they listen. The array ohcad_pid
# has those that run, by number.
ohcad_start() {
	local rank number process tries=1000
	ohcad_pid=() ohcad_failed='' ohcad_shown=''
	options_have ohca || return 0
	for ((process = 0; process < opt_ohcads; process++)); do
		ohcad_args "$process"
		ohcad_exec "$(ohcad_name "$process")" &
		ohcad_pid[process]=$!
	done
	while read -r rank number; do
		process=$(ohcad_of "$rank")
		until [ -S "$(hca_socket "$rank" "$number")" ]; do
			if ! kill -0 "${ohcad_pid[process]}" 2>/dev/null || [ $((tries -= 1)) -le 0 ]; then
				cat "$RUN/$(ohcad_name "$process").log" >&2
				die "ohcad does not start; its log is above"
			fi
			sleep 0.01
		done
	done < <(hca_list)
}

# ohcad_stop: ends all; false if one had ended before, unless it was killed on request, or does not
# end well.
ohcad_stop() {
	local process
	for process in "${!ohcad_pid[@]}"; do
		ohcad_end "$process" TERM 0
	done
	[ -z "$ohcad_failed" ]
}

# ohcad_kill NUMBER: kills it, on request, and waits until it is dead. Its keeper lives on for as long as
# the machines do.
ohcad_kill() {
	ohcad_end "$1" KILL 137
}

# ohcad_end NUMBER SIGNAL STATUS: ends it with SIGNAL. If it had ended before, does not end with STATUS, or has used a
# system call that its sandbox refuses: shows its log and sets $ohcad_failed.
ohcad_end() {
	local status=0 early='' refused
	kill -"$2" "${ohcad_pid[$1]}" 2>/dev/null || early=1
	wait "${ohcad_pid[$1]}" 2>/dev/null || status=$?
	unset "ohcad_pid[$1]"
	refused=$(grep -m 1 'sandbox: the call' "$RUN/$(ohcad_name "$1").log") || refused=''
	[ -n "$early$refused" ] || [ "$status" != "$3" ] || return 0
	ohcad_failed=1
	[ -z "$refused" ] || note "$refused"
	note "$(ohcad_name "$1") ended with status $status"
	ohcad_tail
}

# ohcad_tail: the ends of the logs, once.
ohcad_tail() {
	local process
	[ -z "$ohcad_shown" ] || return 0
	ohcad_shown=1
	for ((process = 0; process < opt_ohcads; process++)); do
		[ -s "$RUN/$(ohcad_name "$process").log" ] || continue
		note "the end of $(ohcad_name "$process")'s log:"
		tail -n 30 "$RUN/$(ohcad_name "$process").log" >&2
	done
}
