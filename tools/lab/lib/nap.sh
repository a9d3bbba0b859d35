# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Short sleeps without a process for each, whose start and end would disturb the machines.
#
# A second process sleeps, in which "read" waits for a pipe that has no writer. With a time-out that is over before it
# waits, as on a busy host, bash 5.2 sets its signal mask to a value that it has never stored. If SIGCHLD is blocked
# then, bash does not notice any more that a process has ended. Nothing depends on the mask of that second process.

# nap_setup: starts it. It ends with the processes that have its pipes.
nap_setup() {
	local never='' ask answer
	coproc NAP {
		trap '' INT TERM HUP
		exec {never}<> <(:)
		while read -r seconds; do
			read -rt "$seconds" -u "$never" || :
			echo
		done
	} 2>/dev/null
	# Subshells do not have a coprocess's own descriptors.
	ask=${NAP[1]} answer=${NAP[0]}
	exec {nap_ask}>&"$ask" {nap_answer}<&"$answer"
	exec {ask}>&- {answer}<&-
}

# nap SECONDS: returns after that time.
nap() {
	echo "$1" >&"$nap_ask"
	read -r <&"$nap_answer"
}
