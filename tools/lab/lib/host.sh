# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What machines ask of the host with ohca-host: requests are files in a folder that they share with
# the lab. Runs inside the root.
#
# $RUN/lab/host/NAME.ask      a request: words, a line each
# $RUN/lab/host/NAME.answer   its answer: the exit status, then what is to be printed

# host_serve: carries out what machines have asked for since the last time.
host_serve() {
	local ask name request=()
	for ask in "$RUN"/lab/host/*.ask; do
		[ -e "$ask" ] || continue
		name=${ask%.ask}
		mapfile -t request <"$ask"
		rm "$ask"
		host_answer "${request[@]}" >"$name.new"
		mv "$name.new" "$name.answer"
	done
}

# host_answer REQUEST [ARGUMENT...]: does it, prints the answer.
host_answer() {
	local status=0 text
	if [ -z "$OHCAD_PID" ]; then
		printf '1\nthere is no device, or not any more\n'
		return
	fi
	case ${1-} in
	kill-device)
		note "a machine asked for the death of its device"
		ohcad_kill
		echo 0
		;;
	ohcactl)
		shift
		text=$(timeout 10 "$BUILD/ohcactl/ohcactl" -s "$RUN/ohcad.control" "$@" 2>&1) || status=$?
		printf '%s\n' "$status" ${text:+"$text"}
		;;
	*)
		printf '1\nunknown request: %s\n' "${1-}"
		;;
	esac
}
