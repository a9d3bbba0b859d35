# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Messages of the lab itself: always to stderr, so that stdout is the machines' alone.

note() {
	printf 'ohca-lab: %s\n' "$*" >&2
}

die() {
	printf 'ohca-lab: %s\n' "$*" >&2
	exit 1
}

# A wrong command line: one line says why and where the help is; exit 2. $verb is what ohca-lab was asked
# to do, or empty.
die_usage() {
	printf "ohca-lab: %s; see 'ohca-lab %s--help'\n" "$1" "${verb:+$verb }" >&2
	exit 2
}

# apt_progress LABEL: reads apt's APT::Status-Fd records on stdin and shows one line of progress,
# rewritten in place on a terminal, a line for every quarter elsewhere.
apt_progress() {
	local label=$1 kind item percent last=-1 step
	while IFS=: read -r kind item percent _; do
		case $kind in
		dlstatus) kind=downloading ;;
		pmstatus) kind=installing ;;
		*) continue ;;
		esac
		percent=${percent%%.*}
		case $percent in
		'' | *[!0-9]*) continue ;;
		esac
		if [ -t 2 ]; then
			printf '\r\033[K%s: %s %s%%' "$label" "$kind" "$percent" >&2
			last=100
		else
			step=$((percent / 25))
			[ "$kind $step" = "$last" ] && continue
			last="$kind $step"
			note "$label: $kind $percent%"
		fi
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
}
