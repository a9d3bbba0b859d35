# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Durations of earlier runs: lines "NAME SECONDS" in a file of the cache. NAME is KERNEL/SCRIPT, or the name of a set
# without scripts. Only the order of the sets depends on them.

DURATIONS=${OHCA_CACHE:-${XDG_CACHE_HOME:-${HOME-}/.cache}/ohca}/durations
# Estimates, for names without a line
DURATION_BOOT=15 DURATION_SCRIPT=6 DURATION_OUTSIDE=60 DURATION_PYVERBS=1200
DURATION_DEBUG=10 # times as long as on another kernel
declare -A duration=()

durations_read() {
	local name seconds
	[ -r "$DURATIONS" ] || return 0
	while read -r name seconds; do
		[[ -z $name || ! $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]] || duration[$name]=${seconds%.*}
	done <"$DURATIONS"
}

# durations_expected SET: prints the expected seconds, as a whole number. A script without a line for this kernel is
# expected to take as long as on another one, and many times as long on the debug kernel.
durations_expected() {
	local test kernel seconds sum=$DURATION_BOOT
	case ${set_kind[$1]} in
	outside) sum=${duration[$1]-$DURATION_OUTSIDE} ;;
	pyverbs) sum=${duration[$1]-$DURATION_PYVERBS} ;;
	machines)
		for test in ${set_tests[$1]}; do
			seconds=$DURATION_SCRIPT
			for kernel in "${KERNELS[@]}"; do
				seconds=${duration[$kernel/$test]-$seconds}
			done
			[ "${set_kernel[$1]}" != debug ] || seconds=$((seconds * DURATION_DEBUG))
			sum=$((sum + ${duration[${set_kernel[$1]}/$test]-$seconds}))
		done
		;;
	esac
	echo "$sum"
}

# durations_write FILE: adds the lines of FILE, or replaces older ones by them. Runs that end at the same time take turns, by a
# lock of the folder.
durations_write() {
	local new=$DURATIONS.$$ turn
	[ -d "${DURATIONS%/*}" ] || return 0
	exec {turn}<"${DURATIONS%/*}"
	flock "$turn"
	[ -e "$DURATIONS" ] || : >"$DURATIONS"
	awk '{ seconds[$1] = $2 } END { for (name in seconds) print name, seconds[name] }' "$DURATIONS" "$1" |
		sort >"$new" && mv "$new" "$DURATIONS"
	exec {turn}<&-
}
