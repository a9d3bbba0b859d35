#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [SECONDS [TARGET...]]: runs the fuzz targets (by default all of them, 60 s each) with
# libFuzzer, in the lab's root. Inputs are kept in the user's cache, so that the next run begins where
# this one ends. An input that fails is a file there; the last lines have its name.

set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
LAB=tools/lab/ohca-lab
seconds=${1:-60}
shift
[ $# -gt 0 ] || set -- commands control ib_packets mads packets vfio_user

[[ $seconds =~ ^[0-9]+$ ]] || { echo "run.sh: no number of seconds: $seconds" >&2 && exit 2; }
for target in "$@"; do
	[ -e "selftests/ohcad/fuzz/${target}_seeds.c" ] ||
		{ echo "run.sh: no such target: $target" >&2 && exit 2; }
done
"$LAB" setup fuzz || exit 1
# shellcheck disable=SC2016 # what they stand for is known in there
exec "$LAB" exec -- sh -c '
	seconds=$1
	shift
	make -s -C selftests/ohcad O="$O/ohcad" -j"$(nproc)" fuzz-replays >&2 &&
		make -s -C selftests/ohcad/fuzz O="$O/fuzz" -j"$(nproc)" >&2 || exit 1
	for target; do
		dir=$O/fuzz/inputs/$target
		mkdir -p "$dir/seeds" "$dir/corpus" "$dir/found"
		"$O/ohcad/fuzz/$target" --seeds "$dir/seeds" || exit 1
		for input in selftests/ohcad/fuzz/corpus/"$target"/*; do
			[ ! -e "$input" ] || cp "$input" "$dir/seeds"
		done
		set -- -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=4096
		[ ! -e "selftests/ohcad/fuzz/$target.dict" ] ||
			set -- "$@" -dict="selftests/ohcad/fuzz/$target.dict"
		echo "# == $target: $seconds s"
		ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=32 \
			"$O/fuzz/$target" "$@" -print_final_stats=1 -artifact_prefix="$dir/found/" \
			"$dir/corpus" "$dir/seeds" || exit 1
	done' sh "$seconds" "$@"
