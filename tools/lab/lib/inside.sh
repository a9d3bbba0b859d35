#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inside.sh VERB ARGUMENT...: the part of ohca-lab that runs inside the root (see enter.sh).

set -euo pipefail
LAB=/repo/tools/lab
for noun in log nap packages options seal arch kernel custom build layer image net klog qmp machine snapshot host run stay; do
	# shellcheck source=/dev/null
	. "$LAB/lib/$noun.sh"
done
# Process 1 of a PID namespace has no default actions for signals: without this, a signal would be ignored.
trap 'exit 130' INT
trap 'exit 143' TERM HUP

verb=$1
shift
case $verb in
run)
	options_parse "$@"
	run_main
	;;
up)
	options_parse "$@"
	stay_main
	;;
build)
	build_all "$@"
	;;
image)
	arch_set amd64
	image_setup
	;;
exec)
	export O="$BUILD/exec" BUILD
	cd "$1"
	shift
	exec "$@"
	;;
*)
	die_usage "unknown command: $verb"
	;;
esac
