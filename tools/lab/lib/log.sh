# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Messages of the lab itself: always to stderr, so that stdout has only the machines' output.

note() {
	printf 'ohca-lab: %s\n' "$*" >&2
}

die() {
	printf 'ohca-lab: %s\n' "$*" >&2
	exit 1
}

# A wrong command line: prints one line with the error and the command for help, and exits with 2. $verb is the verb
# of ohca-lab, or empty. If the error begins with an option that is in a file (--file), the line has the place there; $OHCA_WHERE has
# lines OPTION<tab>FILE:LINE.
die_usage() {
	local option where=''
	while IFS=$'\t' read -r option where; do
		[[ ! $1 =~ ^"$option"([^a-z-]|$) ]] || break
		where=''
	done <<<"${OHCA_WHERE-}"
	printf "ohca-lab: %s%s; see 'ohca-lab %s--help'\n" "${where:+$where: }" "${1#"${where:+--}"}" "${verb:+$verb }" >&2
	exit 2
}

# apt_progress LABEL: reads apt's APT::Status-Fd records on stdin and shows one line of progress. A terminal's line is
# rewritten in place; otherwise there is a line for every quarter.
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

# Seconds until progress is shown, and between its lines where there is no terminal
PROGRESS_FIRST=5
PROGRESS_EVERY=30

# progress_begin TEXT [LOG]: shows that something goes on, until progress_end. A terminal's line is rewritten each second. It has the
# seconds, and how far the output in LOG is.
progress_begin() {
	progress_show "$@" >&2 6>&- 7>&- 8>&- 9>&- &
	progress_pid=$!
}

# progress_show TEXT [LOG]: see progress_begin. It ends with this process, and starts no other one each second.
progress_show() {
	local nap second=0
	exec {nap}<> <(:)
	while kill -0 "$$" 2>/dev/null; do
		read -rt 1 -u "$nap" || :
		[ $((second += 1)) -ge "$PROGRESS_FIRST" ] || continue
		if [ -t 2 ]; then
			printf '\r\033[K%s: %d s%s' "$1" "$second" "$(progress_steps "${2-}")" >&2
		elif [ $((second % PROGRESS_EVERY)) = 0 ]; then
			note "$1: $second s$(progress_steps "${2-}")"
		fi
	done
}

# progress_steps LOG: prints the last "[N/M]" that ninja has written there, or the number of make's steps.
progress_steps() {
	local last
	[ -s "$1" ] || return 0
	last=$(grep -aoE '^\[[0-9]+/[0-9]+\]' "$1" | tail -n 1) || last=''
	[ -n "$last" ] || last="$(grep -acE '^  [A-Z]+ ' "$1") steps" || return 0
	printf ', %s' "$last"
}

progress_end() {
	[ -n "${progress_pid-}" ] || return 0
	kill "$progress_pid" 2>/dev/null || :
	wait "$progress_pid" 2>/dev/null || :
	progress_pid=''
	[ ! -t 2 ] || printf '\r\033[K' >&2
}
