#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh: runs rdma-core's own test suite in machines; see usage below. The tests are those of the
# source that the provider is built in; pyverbs and libibverbs are Debian's, of the same release. The
# provider is libohca.

set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$HERE/../.." && pwd)
LAB=$REPO/tools/lab/ohca-lab
for part in "$HERE/report.sh" "$REPO/tools/lab/lib/klog.sh"; do
	# shellcheck source=/dev/null
	. "$part"
done

usage() {
	cat >&2 <<-'EOF'
		usage: run.sh [OPTION]... [PATTERN]...
		  --kernel K     6.1, 6.12, 7.2, 7.3 or debug; may be repeated; 6.12 and 7.2 by default
		  --device D     ohca (default), ib (the OHCA on an InfiniBand subnet) or rxe; may be repeated
		  --limit S      seconds until a test that does not end fails; 120 by default
		  --results DIR  keep the lists of results there, in files named DEVICE-KERNEL
		  --tap          print the OHCA's results as TAP, and all the rest to standard error
		Without any argument: all tests on both kernels and all devices. PATTERN selects tests: a part
		of MODULE.CLASS.TEST, or a shell pattern for the whole of it.

		Exit status: 0 if on the OHCA no test failed, no kernel log has a report, and soft-RoCE (if it
		was run) passed nothing that the OHCA on Ethernet did not; 2 for a wrong command line; otherwise 1.
	EOF
	exit 2
}

kernels=() devices=() limit=120 keep='' tap=''
[ $# -gt 0 ] || devices=(ohca ib rxe)
while [ $# -gt 0 ]; do
	case $1 in
	--tap)
		tap=1
		shift
		continue
		;;
	--kernel | --device | --limit | --results)
		[ $# -ge 2 ] || usage
		;;&
	--kernel) kernels+=("$2") ;;
	--device) devices+=("$2") ;;
	--limit) limit=$2 ;;
	--results) keep=$2 ;;
	-*) usage ;;
	*) break ;;
	esac
	shift 2
done
[ ${#kernels[@]} -gt 0 ] || kernels=(6.12 7.2)
[ ${#devices[@]} -gt 0 ] || devices=(ohca)
case $limit in
'' | *[!0-9]*) usage ;;
esac
for device in "${devices[@]}"; do
	case $device in
	ohca | ib | rxe) ;;
	*) usage ;;
	esac
done

share=$(mktemp -d)
lists=$share/results
trap 'rm -rf "$share"' EXIT
child=
trap 'trap "" INT TERM; [ -z "$child" ] || { kill "$child" && wait "$child"; }; exit 130' INT TERM
failed=0

# machine DEVICE KERNEL [PATTERN]...: one boot; the suite continues where the last boot ended.
machine() {
	local device=$1 kernel=$2 status=0 mem=1024 adapter=(--device "$1")
	[ "$kernel" != debug ] || mem=2048
	[ "$device" != ib ] || adapter=(--device ohca --link ib)
	shift 2
	"$LAB" run "${adapter[@]}" --kernel "$kernel" --smp 2 --mem "$mem" --timeout 7200 \
		--share "$share" -- env OHCA_LIMIT="$limit" OHCA_KLOG="$KLOG_REPORT" \
		python3 suite.py "results/$device-$kernel" "$@" &
	child=$!
	wait "$child" || status=$?
	child=
	return "$status"
}

# suite DEVICE KERNEL [PATTERN]...: runs the tests, in as many boots as they need.
suite() {
	local list=$lists/$1-$2 status test before
	echo "== $(report_title "$list")"
	: >"$list"
	until report_complete "$list"; do
		before=$(wc -l <"$list")
		status=0
		machine "$@" || status=$?
		test=$(report_interrupted "$list")
		if [ -n "$test" ]; then
			printf 'error\t%s\t0\tthe machine died\n' "$test" | tee -a "$list"
		elif [ "$(wc -l <"$list")" -le $((before + 1)) ]; then
			break
		fi
	done
	if ! report_complete "$list" || ! grep -q '^begin' "$list"; then
		echo "run.sh: $(report_title "$list"): not run"
		failed=1
	fi
	[ "$1" != rxe ] || return 0
	# The lab's own verdict counts the kernel's log, whether a test was running or not.
	! report_failed "$list" && [ "$status" = 0 ] || failed=1
}

# compare KERNEL: compares the two devices, if both were run.
compare() {
	local list=$lists/ohca-$1 other=$lists/rxe-$1
	[ -e "$list" ] && [ -e "$other" ] || return 0
	report_behind "$list" "$other" >"$share/behind"
	echo
	echo "$(report_title "$other") passed, $(report_title "$list") did not: $(wc -l <"$share/behind")"
	cat "$share/behind"
	[ ! -s "$share/behind" ] || failed=1
}

exec 3>&1
[ -z "$tap" ] || exec >&2
"$LAB" setup pyverbs || exit 1
mkdir "$lists"
cp "$HERE/suite.py" "$share/"
"$LAB" exec -- sh -c 'cd /tmp &&
	tar -xf /usr/src/rdma-core_*.tar.* --wildcards "rdma-core-*/tests/*.py" &&
	cd rdma-core-* && tar -cf - tests' | tar -xf - -C "$share" || exit 1

for kernel in "${kernels[@]}"; do
	for device in "${devices[@]}"; do
		suite "$device" "$kernel" "$@"
	done
done
for list in "$lists"/*; do
	echo
	report_title "$list"
	for status in skip fail error; do
		report_reasons "$list" "$status"
	done
done
for kernel in "${kernels[@]}"; do
	compare "$kernel"
done
echo
report_table "$lists"/*
if [ -n "$keep" ]; then
	mkdir -p "$keep"
	cp "$lists"/* "$keep/"
fi
if [ -n "$tap" ]; then
	for kernel in "${kernels[@]}"; do
		[ ! -e "$lists/ohca-$kernel" ] || report_tap "$lists/ohca-$kernel" "$lists/rxe-$kernel" >&3
		[ ! -e "$lists/ib-$kernel" ] || report_tap "$lists/ib-$kernel" '' >&3
	done
fi
exit "$failed"
