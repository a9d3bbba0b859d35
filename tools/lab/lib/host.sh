# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Requests of machines to the host, by ohca-host: they are files in a folder that the machines share with the lab.
# Runs inside the root.
#
# $RUN/lab/host/RANK.NUMBER.ask      a request of that machine: one word on each line
# $RUN/lab/host/RANK.NUMBER.answer   its answer: the exit status, then the output

# host_serve: executes the requests that have arrived since the last call.
host_serve() {
	local ask rank request=()
	for ask in "$RUN"/lab/host/*.ask; do
		[ -e "$ask" ] || continue
		rank=${ask##*/}
		rank=${rank%%.*}
		# Machines write into that folder.
		[[ $rank =~ ^(0|[1-9][0-9]{0,2})$ && -n ${machine_power[rank]-} && -f $ask && ! -L $ask ]] || {
			rm -rf "$ask"
			continue
		}
		mapfile -t request <"$ask"
		rm "$ask"
		host_do "$rank" "${request[@]}"
		# No program waits for the answer in a machine that is off.
		[ "${machine_power[rank]}" = off ] || [ "${host_booted-}" = "$rank" ] ||
			host_answer "${ask%.ask}"
	done
	for rank in "${!machine_power[@]}"; do
		case ${machine_power[rank]} in
		leaving | asleep) machine_runs "$rank" || host_again "$rank" ;;
		esac
	done
}

# host_answer NAME: writes the answer, $host_status and $host_text.
host_answer() {
	printf '%s\n' "$host_status" ${host_text:+"$host_text"} >"$1.new"
	mv "$1.new" "$1.answer"
}

# host_do RANK REQUEST [ARGUMENT...]: executes a request of machine RANK. Sets $host_status and $host_text, and
# $host_booted to the machine that was booted for it.
host_do() {
	local asker=$1
	shift
	host_status=0 host_text='' host_booted=''
	case ${1-} in
	kill-device | ohcactl)
		host_device "$(ohcad_of "$asker")" "$@"
		;;
	processor-time)
		host_text=$(host_processor_time)
		;;
	bus-error)
		host_bus_error "$asker" "${2-}"
		;;
	reset | off | on)
		host_power "$1" "${2-$asker}"
		;;
	reboot)
		machine_power[asker]=leaving
		;;
	hibernate)
		host_hibernate "$asker"
		;;
	kernel)
		host_give "$(kernel_image "$KERNEL")" kernel && host_give "$INITRD" initrd ||
			host_status=1 host_text="can't write to /mnt/lab"
		;;
	kexec)
		note "node$asker executes another kernel"
		machine_kexec "$asker"
		;;
	*)
		host_status=1 host_text="unknown request: ${1-}"
		;;
	esac
}

# host_device PROCESS kill-device | ohcactl [ARGUMENT...]
host_device() {
	local process=$1
	shift
	if [ -z "${ohcad_pid[process]-}" ]; then
		host_status=1 host_text="there is no device, or not any more"
	elif [ "$1" = kill-device ]; then
		note "a machine asked for the death of its device"
		ohcad_kill "$process"
	else
		shift
		host_text=$(timeout 10 "$BUILD/ohcactl/ohcactl" -s "$RUN/$(ohcad_name "$process").control" "$@" 2>&1) ||
			host_status=$?
	fi
}

# host_give FILE NAME: copies it into the folder that the machines share with the lab. Several may ask at the same time; what
# machines have made at that place is replaced.
host_give() {
	cp -T --remove-destination "$1" "$RUN/lab/$2.new" && mv -T "$RUN/lab/$2.new" "$RUN/lab/$2"
} 2>/dev/null

# host_hibernate RANK: another boot of the machine has to find the same memory map. A snapshot is of a machine without adapters.
host_hibernate() {
	if [ "${machine_kind[$1]}" = restored ]; then
		host_status=1 host_text="node$1 was restored from a snapshot: use --no-snapshot"
	else
		machine_power[$1]=asleep
	fi
}

# host_processor_time: prints the processor time of all QEMUs and ohcads that run, in milliseconds.
host_processor_time() {
	local pid line word=() sum=0 hertz
	hertz=$(getconf CLK_TCK)
	for pid in "${machine_pid[@]}" "${ohcad_pid[@]}"; do
		read -r line 2>/dev/null <"/proc/$pid/stat" || continue
		# The name, in parentheses, may have blanks. User and system time are the 12th and the 13th word after it.
		read -ra word <<<"${line##*) }"
		sum=$((sum + word[11] + word[12]))
	done
	echo $((sum * 1000 / hertz))
}

# host_bus_error RANK KIND: the root port of the machine's first adapter reports an error of that kind, by Advanced Error
# Reporting. QEMU's adapters have none themselves.
host_bus_error() {
	local pid=${machine_pid[$1]} error
	case $2 in
	correctable) error=BAD_TLP ;;
	nonfatal) error=COMP_TIME ;;
	fatal) error=DLP ;;
	*)
		host_status=1 host_text="not a kind of errors: $2"
		return
		;;
	esac
	# QEMU has negotiated already if the machine was restored, and says so.
	qmp_open "$RUN/node$1.qmp" "$pid" || :
	qmp "$pid" human-monitor-command "{\"command-line\":\"pcie_aer_inject_error port0 $error\"}" || host_status=1
	qmp_close "$pid"
	host_text=$qmp_answer
	[[ $qmp_answer == *'"OK '* ]] || host_status=1
}

# host_power reset | off | on RANK
host_power() {
	local wrong
	wrong=$(host_power_wrong "$@")
	if [ -n "$wrong" ]; then
		host_status=1 host_text=$wrong
		return
	fi
	[ "$1" = on ] || run_off "$2"
	if [ "$1" = off ]; then
		note "node$2 is off"
	else
		host_boot "$2"
	fi
}

# host_again RANK: turns a machine on that has turned itself off, to boot or to go on where it was. If its command has ended,
# it did not do what it had asked for.
host_again() {
	local power=${machine_power[$1]}
	machine_status "$1"
	if [ -n "$machine_status" ]; then
		machine_power[$1]=on
		return
	fi
	run_off "$1"
	if [ "$power" = leaving ]; then
		host_boot "$1"
	else
		note "node$1 wakes up"
		run_wake "$1"
	fi
}

# host_boot RANK: boots the machine again. Its earlier requests are dropped.
host_boot() {
	note "node$1 boots again"
	rm -f "$RUN/lab/host/$1".*
	run_boot "$1"
	host_booted=$1
}

# host_power_wrong reset | off | on RANK: prints the error if the request is not possible; else nothing.
host_power_wrong() {
	local power
	case $2 in
	0 | [1-9] | [1-9][0-9] | [1-9][0-9][0-9]) ;;
	*)
		echo "not the number of a machine: $2"
		return
		;;
	esac
	power=${machine_power[$2]-}
	machine_status "$2"
	if [ -z "$power" ]; then
		echo "there is no node$2"
	elif [ "$1" = on ] && [ "$power" != off ]; then
		echo "node$2 is on"
	elif [ "$1" != on ] && [ "$power" = off ]; then
		echo "node$2 is off"
	elif [ "$power" != off ] && { [ -n "$machine_status" ] || ! machine_runs "$2"; }; then
		echo "node$2 has ended"
	fi
}
