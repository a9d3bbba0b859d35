# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# QEMU's machine protocol, over a pair of FIFOs ("-chardev pipe"). Runs inside the root.
#
# A session has a name: QEMU reads NAME.in and writes NAME.out. qmp_in[PID] and qmp_out[PID] are this process's
# descriptors of both for the QEMU that is process PID.

# Seconds to wait for an answer: a busy disk may delay a snapshot.
QMP_PATIENCE=300

declare -A qmp_in=() qmp_out=()

# qmp_make NAME: makes the FIFOs, before QEMU starts.
qmp_make() {
	rm -f "$1".{in,out}
	mkfifo "$1".{in,out}
}

# qmp_args NAME: sets the array qmp_args to QEMU's arguments.
qmp_args() {
	qmp_args=(-chardev "pipe,id=qmp,path=$1" -object monitor-qmp,id=monitor,chardev=qmp)
}

# qmp_open NAME PID: opens the session; fails if QEMU ends first.
qmp_open() {
	local in out
	exec {in}<>"$1.in" {out}<>"$1.out"
	qmp_in[$2]=$in qmp_out[$2]=$out
	qmp "$2" qmp_capabilities
}

# qmp_close PID
qmp_close() {
	local in=${qmp_in[$1]} out=${qmp_out[$1]}
	exec {in}>&- {out}>&-
	unset "qmp_in[$1]" "qmp_out[$1]"
}

# qmp PID COMMAND [ARGUMENTS]: lets QEMU execute COMMAND; ARGUMENTS are a JSON object. Sets $qmp_answer to the line of
# its answer. Fails if that is an error, or if QEMU has ended or does not answer.
qmp() {
	local deadline=$((SECONDS + QMP_PATIENCE)) line begun='' status
	printf '{"execute":"%s"%s}\n' "$2" "${3:+,\"arguments\":$3}" >&"${qmp_in[$1]}"
	while [ "$SECONDS" -lt "$deadline" ]; do
		status=0
		IFS= read -rt 1 line <&"${qmp_out[$1]}" || status=$?
		# On a busy host, the time may be over in the middle of a line.
		line=$begun$line begun=''
		if [ "$status" != 0 ]; then
			[ "$status" -gt 128 ] && [ -e "/proc/$1/exe" ] && begun=$line && continue
			qmp_answer="QEMU has ended"
			return 1
		fi
		case $line in
		'{"return"'*)
			qmp_answer=$line
			return 0
			;;
		'{"error"'*)
			qmp_answer=$line
			return 1
			;;
		esac
	done
	qmp_answer="no answer to $2"
	return 1
}
