# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What machines ask of the host with ohca-host: requests are files in a folder that they share with
# the lab. Runs inside the root.
#
# $RUN/lab/host/NAME.ask      a request, one line
# $RUN/lab/host/NAME.answer   its answer: 0 or 1, and for people what was wrong

# host_serve: carries out what machines have asked for since the last time.
host_serve() {
	local ask name request
	for ask in "$RUN"/lab/host/*.ask; do
		[ -e "$ask" ] || continue
		name=${ask%.ask}
		request=''
		read -r request <"$ask" || :
		rm "$ask"
		host_answer "$request" >"$name.new"
		mv "$name.new" "$name.answer"
	done
}

# host_answer REQUEST: does it, prints the answer.
host_answer() {
	case $1 in
	kill-device)
		if [ -z "$OHCAD_PID" ]; then
			echo "1 there is no device, or not any more"
		else
			note "a machine asked for the death of its device"
			ohcad_kill
			echo 0
		fi
		;;
	*)
		echo "1 unknown request: $1"
		;;
	esac
}
