#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ohca-lab from the outside: the command line, packages of one's own, exit statuses, files that a run leaves behind.
# Runs on the host and not in the lab's root, where ohca-lab can't start machines; as root, because a test mounts
# something over /dev/kvm. Prints TAP, and starts a dozen machines. No test needs a mirror.
#
# run.sh [TEST]...: runs all tests, or these.
# shellcheck disable=SC2015 # "A && B || fail" fails if either does
# shellcheck disable=SC2016 # for shells in the root

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
REPO=$PWD
LAB=$REPO/tools/lab/ohca-lab
CACHE=${OHCA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ohca}
SKIP=4
work=$(mktemp -d)
# A folder for a second cache, whose root has links to files of the first one's
other=$CACHE/test.$$
trap 'stay_clean; rm -rf "$work" "$other"' EXIT
unset OHCA_ACCEL OHCA_MTU

. selftests/lab/build.sh
. selftests/lab/clock.sh
. selftests/lab/verdict.sh
. selftests/lab/stay.sh
. selftests/lab/kernel.sh
. selftests/lab/klog.sh
. selftests/lab/nap.sh
. selftests/lab/power.sh

# lab ARGUMENT...: runs ohca-lab; its output is in $work/out and $work/err, its status in $status.
lab() {
	status=0
	"$LAB" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# fail TEXT: a test fails; shows the text, and the last output of ohca-lab.
fail() {
	echo "$1"
	tail -n 15 "$work/err" "$work/out" 2>/dev/null
	return 1
}

# refused PATTERN ARGUMENT...: ohca-lab prints one line with the error, and exits with 2.
refused() {
	local pattern=$1
	shift
	lab "$@"
	[ "$status" = 2 ] || fail "$*: status $status" || return
	[ ! -s "$work/out" ] || fail "$*: output" || return
	[ "$(wc -l <"$work/err")" = 1 ] || fail "$*: not one line" || return
	grep -q -e "$pattern" "$work/err" || fail "$*: no '$pattern'"
}

test_command_line() {
	local failed=0
	check() {
		refused "$@" || failed=1
	}
	: >"$work/file"
	check 'a command is missing'
	check 'unknown command: frobnicate' frobnicate
	check 'unknown command: frobnicate' help frobnicate
	check "needs a command after '--'" run
	check "needs a command after '--'" run --vms 2 --
	check "missing '--' before the command: ls" run ls -l
	check 'unknown option.*--frob' run --frob 3 -- true
	check '--vms needs a value' run --vms
	check '--vms needs a value' run --vms --smp 2 -- true
	check '--vms takes a number from 1 to 250' run --vms 0 -- true
	check '--vms takes a number from 1 to 250' run --vms 251 -- true
	check '--vms takes a number from 1 to 250' run --vms=two -- true
	check '--smp takes a number' run --smp 99999999999999999999 -- true
	check '--mem takes a number' run --mem 64 -- true
	check '--hcas takes a number' run --hcas -1 -- true
	check '--timeout takes a number' run --timeout 0 -- true
	check '--hcas 2 needs a machine with an OHCA' run --hcas 2 --device none -- true
	check '--hcas 3 needs a machine with an OHCA' run --vms 2 --hcas=3 --device rxe,none -- true
	check '--mtu takes a number' run --mtu 100 -- true
	check '--mtu needs an Ethernet' run --mtu 1500 --link ib -- true
	check '--mtu needs an Ethernet' run --mtu=9000 --hcas 2 --link ib,ib+ib -- true
	check '--mtu needs an Ethernet' run --mtu 1500 --device none -- true
	check '--mtu takes a number from 1280 to 9000, not 5000000' run --mtu 5000000 --link ib+eth -- true
	# As a default for all runs it is no mistake.
	OHCA_MTU=1500 check '--first 249: there are' run --link ib --first 249 --vms 2 -- true
	check '--device is ohca, rxe, ohca+rxe or none' run --device mlx5 -- true
	check '--device names more devices' run --device ohca,rxe -- true
	check '--link is ib or eth' run --link foo -- true
	check '--link ib needs a machine with an OHCA' run --link ib --device rxe -- true
	check 'rxe only is on no InfiniBand' run --link ib --vms 2 --device ohca,rxe -- true
	check "--link is ib or eth, or two of them such as ib+eth, not 'foo'" run --hcas 2 --link ib,foo -- true
	check '--link names more adapters' run --link eth,ib -- true
	check '--speed needs --link ib' run --speed SDR -- true
	check '--width needs --link ib' run --width 1 -- true
	check '--pace needs --link ib' run --pace on -- true
	check "--speed is SDR.* not 'sdr'" run --link ib --speed sdr -- true
	check "--width is 1, 2, 4, 8 or 12, not '3'" run --link ib --width 3 -- true
	check "--pace is on or off, not '1'" run --link ib --pace=1 -- true
	check '--pace needs a value' run --link ib --pace -- true
	check '--ohcads: uplinks are of one link layer' run --vms 2 --hcas 2 --ohcads 2 --link eth,ib -- true
	check '--sm needs --link ib' run --sm 0 -- true
	check '--sm takes the number of a machine' run --link ib --sm 9 -- true
	check '--sm takes the number of a machine' run --link ib --sm some -- true
	check '--sm: node1 has no OHCA' run --link ib --sm 1 --vms 2 --device ohca,none -- true
	check '--ohcads takes a number' run --ohcads x -- true
	check '--ohcads 2 needs as many machines with an OHCA' run --ohcads 2 -- true
	check '--ohcads 2 needs as many machines with an OHCA' run --ohcads 2 --vms 2 --device ohca,none -- true
	check '--fault is for one ohcad' run --ohcads 2 --vms 2 --fault drop -- true
	check '--uplink is for one ohcad' run --ohcads 2 --vms 2 --uplink tap=tap0 -- true
	check '--uplink needs a machine with an OHCA' run --device rxe --uplink tap=tap0 -- true
	check '--fault needs a machine with an OHCA' run --device rxe --fault drop -- true
	check '--first takes a number' run --first x -- true
	check '--first 249: there are 250 addresses' run --first 249 --vms 2 -- true
	check '--disk takes a size' run --disk 64 -- true
	check '--accel is tcg or kvm' run --accel xen -- true
	check '--share: no such folder' run --share "$work/missing" -- true
	check '--share: no such folder' exec --share "$work/missing" -- true
	check '--share needs a value' run --share '' -- true
	check '--gdb is for machines that stay' run --gdb -- true
	check '--qemu-arg needs a value' run --qemu-arg
	check "--kernel: no such folder or package: $work/missing" run --kernel "$work/missing" -- true
	check "--kernel: $work/ is no built Linux tree" run --kernel "$work/" -- true
	check '--results: not a folder' run --results "$work/file" -- true
	check "--results: can't make" run --results "$work/file/below" -- true
	check "--pcap: can't write" run --pcap "$work/missing/file" -- true
	check '--pcap takes FILE' run --pcap "$work/file,snap=3" -- true
	check '--pcap - is for run' up --pcap -
	check '--pcap needs a machine with an OHCA' run --device rxe --pcap "$work/file" -- true
	check 'not the name of a package' run --package 'a b' -- true
	check 'not the name of a package' install -y
	check 'not the name of a package' install Hello
	check 'no such group of packages' setup nosuchgroup
	check 'no such group of packages' setup ../packages.base
	check 'shell needs a terminal' shell
	check 'shell takes no command' shell -- ls
	check "exec needs '--'" exec ls
	check "needs a command after '--'" exec --
	check "no kernel 'all'" build all
	check 'clean takes no arguments' clean all
	return "$failed"
}

# An answer that comes in two parts, as on a busy host
test_qmp() {
	(
		# shellcheck source=/dev/null
		. tools/lab/lib/qmp.sh
		qmp_make "$work/qmp"
		exec {in}<>"$work/qmp.in" {out}<>"$work/qmp.out"
		# shellcheck disable=SC2004 # no array of numbers
		qmp_in[$BASHPID]=$in qmp_out[$BASHPID]=$out QMP_PATIENCE=10
		{ printf '{"event": "RESUME"}\n{"ret' && sleep 1.5 && printf 'urn": {}}\n'; } >&"$out" &
		qmp "$BASHPID" query-status && [ "$qmp_answer" = '{"return": {}}' ] || fail "${qmp_answer-}"
	)
}

test_qemu_arg() {
	lab run --device none --console --qemu-arg -smbios --qemu-arg type=1,serial=ohca7 -- cat /sys/class/dmi/id/product_serial
	[ "$status" = 0 ] && [ "$(tr -d '\r' <"$work/out")" = ohca7 ] || fail "status $status" || return
	grep -q '^node0: | .*Run /init as init process' "$work/err" || fail "no console"
}

# A run whose QEMU ends at once ends, too, before its time is over.
test_qemu_refuses() {
	local start=$SECONDS
	status=0
	timeout 250 "$LAB" run --device none --qemu-arg -nosuch -- true >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ "$status" = 1 ] || fail "status $status after $((SECONDS - start)) s" || return
	grep -q '^ohca-lab: node0: ended before its command did' "$work/err" && grep -q '^node0: .*-nosuch: invalid option' "$work/err" ||
		fail "no reason"
}

test_help() {
	local verb
	for verb in run shell up cp logs ps down exec install setup build lint debug-kernel arm64-64k-kernel key clean; do
		lab "$verb" --help
		[ "$status" = 0 ] && [ ! -s "$work/err" ] || fail "$verb --help" || return
		grep -q "^usage: ohca-lab $verb" "$work/out" || fail "$verb --help is of something else" || return
		cp "$work/out" "$work/help"
		lab help "$verb"
		cmp -s "$work/out" "$work/help" || fail "help $verb is another text" || return
	done
	lab run --help
	grep -q -e '--results DIR' "$work/out" && grep -q -e '--no-snapshot' "$work/out" &&
		grep -q 'Exit status: ' "$work/out" || fail "run --help lacks something" || return
	! grep -q -i -e checkpatch -e 'ohca-lab setup' "$work/out" || fail "run --help is about other things" || return
	lab --help
	[ "$status" = 0 ] && grep -q OHCA_CACHE "$work/out" || fail "--help lacks OHCA_CACHE"
}

# Options in a command after "--" belong to the command.
test_help_of_command() {
	lab exec -- cat --help
	[ "$status" = 0 ] && grep -q -i '^usage: .*cat' "$work/out" || fail "exec -- cat --help"
}

test_version() {
	local interface
	lab exec -- sh -c '"$BUILD/ohcad/ohcad" --version'
	interface=$(sed -n 's/^ohcad, //p' "$work/out")
	lab --version
	[ "$status" = 0 ] && [ -n "$interface" ] && grep -q "^ohca-lab, $interface\\(,\\|\$\\)" "$work/out" ||
		fail "ohcad says: $interface"
	[ ! -e .git ] || ! command -v git >/dev/null || [ "$(wc -w <"$work/out")" = 5 ] || fail "no commit"
}

# What Documentation/firstqp.rst does outside of machines, and its capture, as they are there; the rest is in test_firstqp_2.sh.
test_firstqp() {
	local tshark=1
	lab exec -- sh -c 'command -v tshark' && [ "$status" = 0 ] || tshark=
	sed -nE -e '/^    (mkdir first|cp Doc|tools\/lab\/ohca-lab exec)/p' -e "/^    .* --pcap /,/'\$/p" Documentation/firstqp.rst |
		sed -E "s,tools/lab|Documentation/,$REPO/&,g" >"$work/firstqp.sh"
	[ "$(grep -c ohca-lab "$work/firstqp.sh")" = 8 ] || fail "$(cat "$work/firstqp.sh")" || return
	[ -n "$tshark" ] || sed -i '/tshark/d' "$work/firstqp.sh"
	(cd "$work" && sh -e firstqp.sh) >"$work/out" 2>"$work/err" </dev/null || fail "a command failed" || return
	grep -q '^node0: 29 bytes: Hello from the other machine' "$work/out" || fail "no message" || return
	[ -n "$tshark" ] || { echo "no tshark"; return "$SKIP"; }
	[ "$(grep -oE 'RRoCE .*QP' "$work/out" | xargs)" = "RRoCE 90 RC Send Only QP RRoCE 62 RC Acknowledge QP" ] || fail "other packets"
}

# Machines of two runs, as on two hosts: a message goes from one to the other.
test_uplink() {
	local server port1=$((20000 + $$ % 10000)) port2=$((30000 + $$ % 10000))
	"$LAB" run --uplink "dgram=udp:127.0.0.1:$port1,remote=udp:127.0.0.1:$port2" -- \
		timeout 60 ibv_rc_pingpong -g 1 -n 10 -c >"$work/server" 2>&1 &
	server=$!
	lab run --first 1 --uplink "dgram=udp:127.0.0.1:$port2,remote=udp:127.0.0.1:$port1" -- sh -c '
		[ "$OHCA_IP" = 10.77.0.2 ] || exit 10
		tries=100
		until ibv_rc_pingpong -g $OHCA_GID_INDEX -n 10 -c 10.77.0.1; do
			[ $((tries -= 1)) -gt 0 ] || exit 11
			sleep 0.2
		done'
	wait "$server" || fail "server: $(cat "$work/server")" || return
	[ "$status" = 0 ] && grep -q "10 iters in" "$work/out" "$work/server" || fail "status $status"
}

test_key() {
	local key
	lab key
	key=$(cat "$work/out")
	[[ $key =~ ^[0-9a-f]{32}$ ]] || fail "not a key: $key" || return
	lab key
	[ "$(cat "$work/out")" = "$key" ] || fail "not the same twice" || return
	OHCA_CACHE=$work/nothing lab key
	[ "$status" = 0 ] && [ ! -e "$work/nothing" ] || fail "it makes a cache" || return
	mkdir "$work/other"
	echo ohca-test >"$work/other/packages"
	OHCA_CACHE=$work/other lab key
	[ "$(cat "$work/out")" != "$key" ] || fail "packages of one's own make no difference"
}

test_kvm() {
	: >"$work/file"
	status=0
	unshare --mount sh -c '[ ! -e /dev/kvm ] || mount --bind "$1" /dev/kvm
		exec "$2" run --accel kvm --pcap "$3" -- true' sh "$work/file" "$LAB" "$work/kvm.pcapng" \
		>"$work/out" 2>"$work/err" || status=$?
	[ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q -e '--accel kvm: ' "$work/err" ||
		fail "status $status" || return
	[ ! -e "$work/kvm.pcapng" ] || fail "something was done before"
}

test_fault() {
	lab run --fault loss -- true
	[ "$status" = 2 ] && grep -q 'loss' "$work/err" || fail "status $status" || return
	! grep -q 'building ohca.ko\|building the provider\|disk image' "$work/err" || fail "something was built before" || return
	refused "--fault node-down,node=sw1: there is no InfiniBand node 'sw1'" run --link ib --fault node-down,node=sw1 -- true || return
	refused "there is no InfiniBand node 'node9'" run --link ib --topology selftests/ohca/fat_tree.net \
		--fault cable-down,node=node9,port=1 -- true || return
	refused "node 'node0' has no cable at port 2" run --link ib --topology selftests/ohca/fat_tree.net \
		--fault cable-down,node=node0,port=2 -- true
}

# The packets go to the standard output; what the machine prints does not.
test_pcap_live() {
	lab run --pcap - -- sh -c 'ping -q -c 1 -I "$OHCA_NETDEV" 10.77.0.99; echo printed; ohca-host ohcactl capture show'
	[ "$status" = 0 ] || fail "status $status" || return
	[ "$(head -c 4 "$work/out" | od -An -tx1)" = " 0a 0d 0d 0a" ] || fail "no capture" || return
	grep -q '^printed' "$work/err" && grep -q '^file  *-' "$work/err" || fail "no output on the standard error" || return
	[ "$(stat -c %s "$work/out")" -gt 400 ] || fail "no packet"
}

# What takes long says how far it is, and no process of that is left.
test_progress() {
	local tries=100
	printf '  CC  a\n  CC  b\n' >"$work/log"
	(
		. tools/lab/lib/log.sh
		PROGRESS_FIRST=1 PROGRESS_EVERY=1
		progress_begin "building" "$work/log" 2>"$work/err"
		pid=$progress_pid
		until grep -q '^ohca-lab: building: [0-9]* s, 2 steps$' "$work/err"; do
			[ $((tries -= 1)) -gt 0 ] || exit 1
			sleep 0.1
		done
		echo '[7/40] c' >>"$work/log"
		until grep -q '^ohca-lab: building: [0-9]* s, \[7/40\]$' "$work/err"; do
			[ $((tries -= 1)) -gt 0 ] || exit 1
			sleep 0.1
		done
		progress_end
		! kill -0 "$pid" 2>/dev/null
	) || fail "no progress"
}

# A history of two commits: what is worse comes first.
test_bench_compare() {
	local repo=$work/repo host first
	compare() {
		status=0
		(cd "$repo" && env "$@" OHCA_CACHE="$work/history" QUICK=1 tools/bench/compare.sh) >"$work/out" 2>"$work/err" || status=$?
	}
	wrong() {
		local text=$1
		shift
		compare "$@"
		[ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q -e "$text" "$work/err" || fail "$*: status $status"
	}
	mkdir -p "$repo/tools" "$work/history"
	cp -r tools/bench "$repo/tools/"
	(
		cd "$repo" && git init -q && git config user.email test && git config user.name test &&
			git commit -q --allow-empty -m first && git commit -q --allow-empty -m second
	) || fail "no repository" || return
	first=$(git -C "$repo" rev-parse HEAD~1)
	host=$(. tools/bench/history.sh && history_host)
	{
		echo "run device $first elsewhere,2 quick 2026-01-01T00:00Z"
		echo "instructions link=eth qp=RC op=WRITE signaled=last size=64 of=ops each=1"
		echo "run device $first $host quick 2026-01-02T00:00Z"
		echo "instructions link=eth qp=RC op=WRITE signaled=last size=64 of=ops each=1000"
		echo "instructions link=eth qp=RC op=READ signaled=all size=64 of=ops each=1000"
		echo "rate what=WRITE size=64 mmsgs=1.00 gbytes=0"
		echo "run device $(git -C "$repo" rev-parse HEAD) $host quick 2026-01-03T00:00Z"
		echo "instructions link=eth qp=RC op=WRITE signaled=last size=64 of=ops each=1009"
		echo "instructions link=eth qp=RC op=READ signaled=all size=64 of=ops each=1011"
		echo "rate what=WRITE size=64 mmsgs=1.50 gbytes=0"
	} >"$work/history/bench-history"
	compare REV=HEAD~1 WITH=HEAD
	[ "$status" = 1 ] || fail "status $status" || return
	[ "$(grep -A 1 '^worse beyond the limit: 1$' "$work/out" | tail -n 1 | tr -s ' ')" = \
		" eth ops RC READ all 64 B 1000 -> 1011 instructions +1.1 %, limit 1 %" ] || fail "not what is worse" || return
	grep -A 1 '^better beyond the limit: 1$' "$work/out" | grep -q 'rate WRITE 64 B .* +50.0 %, limit 30 %' || fail "not what is better" || return
	grep -A 1 '^within the limit: 1$' "$work/out" | grep -q 'RC WRITE last 64 B .* +0.9 %' || fail "not the rest" || return
	compare REV=HEAD WITH=HEAD~1
	[ "$status" = 0 ] && grep -q '^worse beyond the limit: 1$' "$work/out" || fail "a rate that is worse: status $status" || return
	wrong 'REV=COMMIT is missing' REV= || return
	wrong "there is no commit 'nosuch'" REV=nosuch || return
	wrong "OF is device or bench, not 'all'" REV=HEAD OF=all
}

test_readable() {
	find "$CACHE"/root/ -xdev \( -type d ! -perm -005 -o ! -type d ! -type l ! -perm -004 \) >"$work/out"
	[ ! -s "$work/out" ] || fail "not for all to read"
}

# A second cache, whose root is like that of the first one, but has one kernel and a mirror of its own, with these
# packages; and a checkout with another group of packages.
PACKAGES=(ohca-test-own ohca-test-group ohca-test-run ohca-test-slow)
other_cache() {
	local root
	root=$(basename "$(readlink "$CACHE/root")")
	other_root=$other/cache/$root
	rm -rf "$other_root"
	mkdir -p "$other/cache/source"
	cp -a --link "$CACHE/$root" "$other_root" && rm -r "${other_root:?}"/{etc,var} &&
		cp -a "$CACHE/$root"/{etc,var} "$other_root/" || return
	rm -rf "$other_root"/usr/lib/modules/6.* "$other_root"/usr/src/linux-*-6.* "$other_root"/boot/*-6.*
	rm -f "$other_root"/etc/apt/{sources.list,sources.list.d/*,apt.conf.d/99ohca,../ohca/stamp.own}
	echo "deb [trusted=yes] file:/cache/source ./" >"$other_root/etc/apt/sources.list"
	[ -e "$other/cache/source/Packages" ] || mirror || return
	# Compiling everything again is not tested here.
	[ ! -d "$CACHE/ccache" ] || [ -d "$other/cache/ccache" ] || cp -a --reflink=auto "$CACHE/ccache" "$other/cache/"
	: >"$other_root.used"
	[ -e "$work/checkout" ] || {
		mkdir "$work/checkout"
		cp -r Documentation include Kbuild drivers selftests tools uapi "$work/checkout/"
		echo ohca-test-group >"$work/checkout/tools/lab/packages.ohcatest"
	}
}

# mirror: makes the packages, each with a program that prints its name, and their index. The installation of
# ohca-test-slow says that it has begun, and waits.
mirror() {
	lab exec --share "$other/cache/source" -- sh -c 'set -e
		for name; do
			mkdir -p /tmp/$name/DEBIAN /tmp/$name/usr/bin
			printf "%s\n" "Package: $name" "Version: 1" "Architecture: all" "Maintainer: ohca <ohca@example.org>" \
				"Description: test" >/tmp/$name/DEBIAN/control
			printf "%s\n" "#!/bin/sh" "echo $name" >/tmp/$name/usr/bin/$name
			chmod +x /tmp/$name/usr/bin/$name
			[ $name != ohca-test-slow ] || {
				printf "%s\n" "#!/bin/sh" ": >/cache/slow.begun" "until [ -e /cache/slow.go ]; do sleep 0.1; done" \
					>/tmp/$name/DEBIAN/postinst
				chmod +x /tmp/$name/DEBIAN/postinst
			}
			dpkg-deb --build --root-owner-group /tmp/$name $name.deb >/dev/null
			cat /tmp/$name/DEBIAN/control
			printf "%s\n" "Filename: ./$name.deb" "Size: $(stat -c %s $name.deb)" \
				"SHA256: $(sha256sum <$name.deb | cut -d " " -f 1)" ""
		done >Packages' sh "${PACKAGES[@]}"
	[ "$status" = 0 ] || fail "no packages"
}

# lab_other ARGUMENT...: runs ohca-lab of that checkout with that cache.
lab_other() {
	OHCA_CACHE=$other/cache LAB=$work/checkout/tools/lab/ohca-lab lab "$@"
}

test_install_unknown() {
	other_cache || return
	lab_other install ohca-no-such-package
	[ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q ohca-no-such-package "$work/err" ||
		fail "status $status" || return
	[ ! -e "$other/cache/packages" ] && [ ! -e "$other_root/etc/ohca/stamp.own" ] || fail "it is on the list" || return
	lab_other run --package ohca-test-own --package ohca-no-such-package -- true
	[ "$status" = 2 ] && [ ! -e "$other/cache/packages" ] && [ ! -e "$other_root/usr/bin/ohca-test-own" ] ||
		fail "half of the packages"
}

test_install() {
	lab_other install
	[ "$status" = 0 ] && [ ! -s "$work/out" ] || fail "there is a list" || return
	lab_other install ohca-test-own
	[ "$status" = 0 ] || fail "status $status" || return
	lab_other install
	[ "$(cat "$work/out")" = ohca-test-own ] || fail "it is not on the list" || return
	lab_other install ohca-test-own
	[ "$status" = 0 ] && [ ! -s "$work/err" ] || fail "it is installed twice"
}

# until_exists FILE: at most a minute
until_exists() {
	local tries=600
	until [ -e "$1" ]; do
		[ $((tries -= 1)) -gt 0 ] || fail "no $1" || return
		sleep 0.1
	done
}

# One that began before uses the tree without the package, until it ends; others begin and end meanwhile.
test_install_beside() {
	local user installer failed=0
	[ -e "$other_root" ] || return "$SKIP"
	OHCA_CACHE=$other/cache "$work/checkout/tools/lab/ohca-lab" exec -- sh -c ': >/cache/user.begun
		until [ -e /cache/user.go ]; do sleep 0.1; done
		[ ! -e /usr/bin/ohca-test-slow ] && [ -x /usr/bin/ohca-test-own ] && ls /usr/include' >"$work/user" 2>&1 </dev/null &
	user=$!
	OHCA_CACHE=$other/cache "$work/checkout/tools/lab/ohca-lab" install ohca-test-slow >"$work/installer" 2>&1 </dev/null &
	installer=$!
	until_exists "$other/cache/user.begun" && until_exists "$other/cache/slow.begun" || failed=1
	OHCA_CACHE=$other/cache timeout 60 "$work/checkout/tools/lab/ohca-lab" exec -- ohca-test-own >"$work/out" 2>"$work/err" </dev/null
	[ "$(cat "$work/out")" = ohca-test-own ] || fail "nobody can begin meanwhile" || failed=1
	lab_other exec -- ohca-test-slow
	[ "$status" != 0 ] || fail "half of a package" || failed=1
	kill -0 "$installer" || fail "the installation did not wait" || failed=1
	: >"$other/cache/slow.go"
	wait "$installer" || fail "the installation fails: $(cat "$work/installer")" || failed=1
	lab_other exec -- ohca-test-slow
	[ "$(cat "$work/out")" = ohca-test-slow ] || fail "it is not there" || failed=1
	compgen -G "$other/cache/root.old.*" >/dev/null || fail "the old tree is gone, with a user" || failed=1
	: >"$other/cache/user.go"
	wait "$user" || fail "its user fails: $(cat "$work/user")" || failed=1
	lab_other exec -- true
	! compgen -G "$other/cache/root.old.*" || fail "the old tree is there still" || failed=1
	return "$failed"
}

# The only test that makes a disk image: packages of install, --package and setup are in the machines. If there is an
# image already, a new one is made before the root is replaced.
test_packages_in_machines() {
	[ -e "${other_root-}/usr/bin/ohca-test-own" ] || return "$SKIP"
	lab_other setup ohcatest
	[ "$status" = 0 ] || fail "setup: status $status" || return
	mkdir -p "$other/cache/image/before"
	: >"$other/cache/image/before/root.ext4"
	lab_other run --device none --no-snapshot --package ohca-test-run --package ohca-test-own -- \
		sh -c 'ohca-test-own && ohca-test-group && ohca-test-run'
	[ "$status" = 0 ] && [ "$(xargs <"$work/out")" = "ohca-test-own ohca-test-group ohca-test-run" ] ||
		fail "status $status" || return
	[ "$(grep -c -e "added to the root" -e "making the machines' disk image" "$work/err")" = 2 ] &&
		grep -A 100 "making the machines' disk image" "$work/err" | grep -q "added to the root" ||
		fail "the image was not made before" || return
	[ "$(xargs <"$other/cache/packages")" = "ohca-test-own ohca-test-run ohca-test-slow" ] ||
		fail "the list: $(xargs <"$other/cache/packages")"
}

test_new_root_gets_them() {
	[ -s "$other/cache/packages" ] || return "$SKIP"
	mv "$other/cache/image" "$other/image" && other_cache || return
	[ ! -e "$other_root/usr/bin/ohca-test-own" ] || fail "it has them" || return
	lab_other setup
	mv "$other/image" "$other/cache/image"
	[ "$status" = 0 ] && [ -x "$other_root/usr/bin/ohca-test-own" ] || fail "status $status" || return
	find "$other_root" -xdev \( -type d ! -perm -005 -o ! -type d ! -type l ! -perm -004 \) >"$work/out"
	[ ! -s "$work/out" ] || fail "not for all to read"
}

# A file of the cache that was truncated or changed is detected; a copy is accepted.
test_seals() {
	lab exec -- bash -c '. tools/lab/lib/seal.sh
		cd /tmp && seq 1000 >file && seal file && seal_holds file || exit 1
		cp -p file copy && cp file.seal copy.seal && seal_holds copy && seal_holds copy || exit 2
		seal_holds copy file && ! seal_holds copy none file && ! seal_holds file copy none || exit 8
		truncate -s 100 file && ! seal_holds file || exit 3
		touch -d 2001-01-01 copy && seal_holds copy || exit 4
		printf x | dd of=copy conv=notrunc 2>/dev/null && ! seal_holds copy || exit 5
		! seal_holds new copy && seq 3 >new && seal new && ! seal_holds new copy && ! seal_holds copy new && seal_holds new || exit 9
		rm new*
		rm copy && ! seal_holds copy || exit 6
		seq 3 >new && ! seal_holds new || exit 7'
	[ "$status" = 0 ] || fail "step $status"
}

# Images that nobody has used for two days are removed, and the oldest of those that take too much; but none that a
# run uses.
test_image_prune() {
	lab exec -- bash -c '. tools/lab/lib/image.sh
		IMAGE_KEEP=5
		dir=$(mktemp -d) && cd "$dir" && mkdir new newer used large old old_used || exit 1
		for image in new newer used; do
			head -c 2M /dev/urandom >$image/root.ext4
		done
		head -c 4M /dev/urandom >large/root.ext4
		touch -d "now - 1 minute" newer && touch -d "now - 2 minutes" new
		touch -d "now - 3 minutes" used large && touch -d "now - 3 days" old old_used
		exec 7>used.use 6>old_used.use && flock -s 7 && flock -s 6 && image_prune . || exit 2
		[ "$(echo */ | tr -d /)" = "new newer old_used used" ] || { echo */; exit 3; }
		exec 7>&- 6>&- && image_prune . || exit 4
		[ "$(echo */ | tr -d /)" = "new newer" ] || { echo */; exit 5; }
		rm -r "$dir"'
	[ "$status" = 0 ] || fail "step $status: $(cat "$work/out")"
}

# In the other cache, whose machines differ from those of the first one: a snapshot that QEMU refuses, although it
# matches its seal.
test_snapshot_refused() {
	local file seal
	compgen -G "$other/cache/image/*/modules-*" >/dev/null || return "$SKIP"
	lab_other run --device none --results "$work/results/fresh" -- true
	[ "$status" = 0 ] && grep -q restored "$work/results/fresh/boots" || fail "status $status" || return
	seal=$(compgen -G "$other/cache/image/*/snapshot-*.seal")
	file=${seal%.seal}
	head -c 100000 /dev/urandom >"$file"
	echo "$(cksum <"$file" | awk '{ print $2, $1 }') $(stat -c '%i %.Y' "$file")" >"$seal"
	lab_other run --vms 2 --device none --results "$work/results/refused" -- echo hello
	[ "$status" = 0 ] && [ "$(sort "$work/out" | xargs)" = "node0: hello node1: hello" ] || fail "status $status" || return
	grep -q "can't be restored" "$work/err" && grep -q booted "$work/results/refused/boots" ||
		fail "it was not noticed" || return
	[ ! -e "$file" ] || fail "it is there still"
}

# Another folder and other times, with the same contents
test_fresh_checkout() {
	local build first built
	lab build # a test with a kernel of its own has left modules for that
	[ "$status" = 0 ] || fail "status $status" || return
	mkdir "$work/fresh"
	cp -r Documentation include Kbuild drivers selftests tools uapi "$work/fresh/"
	build=$CACHE/build/$(sha256sum <<<"$work/fresh" | cut -c 1-12)
	LAB=$work/fresh/tools/lab/ohca-lab lab build
	first=$status built=$(grep building "$work/err")
	echo '# another one' >>"$work/fresh/tools/lab/lib/klog.awk" # the machines' tests have it
	LAB=$work/fresh/tools/lab/ohca-lab lab build
	rm -rf "$build"
	[ "$first" = 0 ] && [ "$status" = 0 ] || fail "status $first, $status" || return
	[ -z "$built" ] || fail "it was built again: $built" || return
	grep -q "building the machines' tests" "$work/err" || fail "what has changed was not built"
}

# Machines that are restored from one snapshot differ in their random numbers, names and addresses.
test_machines_differ() {
	local random
	lab run --vms 2 --smp 2 --results "$work/results/two" -- sh -c 'head -c 16 /dev/urandom | base64
		hostname; date +%s'
	[ "$status" = 0 ] || fail "status $status" || return
	[ "$(grep -c restored "$work/results/two/boots")" = 2 ] || [ -e /dev/kvm ] || fail "not restored" || return
	random=$(sed -n 's/^node[01]: \(.*==\).*/\1/p' "$work/out" | sort -u | wc -l)
	[ "$random" = 2 ] || fail "the same random numbers" || return
	grep -q '^node0: node0' "$work/out" && grep -q '^node1: node1' "$work/out" || fail "names" || return
	sed -n 's/^node[01]: \([0-9]*\).\?$/\1/p' "$work/out" | awk -v now="$(date +%s)" '
		{ n++; if ($1 < now - 600 || $1 > now + 600) exit 1 } END { exit n != 2 }' || fail "another time of day"
}

# The command begins when it can use the subnet, which the second machine manages here.
test_link_ib() {
	lab run --vms 2 --link ib --sm 1 --results "$work/results/ib" -- sh -c '
		echo "$OHCA_LINK $OHCA_IPOIB $OHCA_LID $(cat /sys/class/infiniband/$OHCA_IBDEV/ports/1/state)"
		ping -c 1 -W 5 "$OHCA_PEER" >/dev/null || echo "no answer"
		ip -6 addr show dev "$OHCA_IPOIB" scope link | grep -q inet6 || echo "no address"; pgrep -c opensm'
	grep -qE '^node0: ib ib0 [1-9][0-9]* 4: ACTIVE' "$work/out" && grep -qE '^node1: ib ib0 [1-9][0-9]* 4: ACTIVE' "$work/out" ||
		fail "no subnet" || return
	! grep 'no a' "$work/out" || fail "IPoIB" || return
	grep -q '^node0: 0' "$work/out" && grep -q '^node1: 1' "$work/out" || fail "another machine manages it" || return
	# It may report SUBNET UP after the end of the command.
	grep -q 'Entering MASTER state' "$work/results/ib/node1.opensm" && [ ! -e "$work/results/ib/node0.opensm" ] || fail "no log of opensm"
}

# The command does not wait for a subnet manager if none runs, and several agree on a master.
test_link_ib_sm() {
	lab run --vms 2 --link ib --sm none -- sh -c 'cat /sys/class/infiniband/$OHCA_IBDEV/ports/1/state; echo "LID $OHCA_LID"'
	[ "$status" = 0 ] && [ "$(grep -c 'INIT' "$work/out")" = 2 ] && [ "$(grep -c 'LID 0' "$work/out")" = 2 ] ||
		fail "none: status $status" || return
	# Each takes itself for the master until they have found each other; then the lower GUID, the first machine's, is.
	lab run --vms 2 --link ib --sm all -- sh -c 'ohca-barrier up; until sminfo | grep "guid 0x[0-9a-f]*00,.*SMINFO_MASTER"; do sleep 0.5; done'
	[ "$status" = 0 ] && [ "$(grep -c SMINFO_MASTER "$work/out")" = 2 ] || fail "all: status $status"
}

# Adapters of both link layers in each machine: they are used at the same time.
test_links() {
	lab run --vms 2 --hcas 2 --link eth,ib -- sh -c '
		echo "$OHCA_LINK $OHCA_LINKS $OHCA_NETDEVS $OHCA_IPOIB $OHCA_LID $OHCA_IBDEVS" $(cat /sys/class/infiniband/*/ports/1/link_layer)
		number=77
		for netdev in $OHCA_NETDEVS; do
			ping -c 1 -W 5 -I "$netdev" "10.$number.0.$((2 - OHCA_RANK))" >/dev/null || echo "no answer on $netdev"
			number=$((number + 1))
		done
		[ "$(ohca-host processor-time)" -gt 0 ] || echo "no answer: processor time"'
	[ "$status" = 0 ] && ! grep 'no answer' "$work/out" || fail "status $status" || return
	[ "$(grep -cE '^node[01]: eth eth ib [a-z0-9]+ ib0 ib0 [1-9][0-9]* ohca_0 ohca_1 Ethernet InfiniBand.?$' "$work/out")" = 2 ] ||
		fail "not both"
}

# bandwidth_is_up_to MB: ib_write_bw measured so many MB/s at most.
bandwidth_is_up_to() {
	awk -v most="$1" '$2 == 65536 { n++; mb = $5 * 1.048576 } END { print mb " MB/s"; exit !(n && mb > 0 && mb <= most) }' "$work/out"
}

# The links are as they were asked for, IP over InfiniBand works on them, and packets take their time. 1x SDR has 250 MB/s.
test_link_speed() {
	lab run --vms 2 --link ib --speed SDR --width 1 --pace on --verbose -- sh -c '
		cat "/sys/class/infiniband/$OHCA_IBDEV/ports/1/rate"
		ping -c 1 -W 5 "$OHCA_PEER" >/dev/null || echo "no answer"
		if [ "$OHCA_RANK" = 0 ]; then
			ib_write_bw -F -d "$OHCA_IBDEV" -s 65536 -n 200 --noPeak >/dev/null &
			until ss -ltn | grep -q :18515; do sleep 0.1; done
			ohca-barrier up
			wait
		else
			ohca-barrier up
			ib_write_bw -F -d "$OHCA_IBDEV" -s 65536 -n 200 --noPeak "$OHCA_PEER"
		fi'
	[ "$status" = 0 ] && ! grep 'no answer' "$work/out" || fail "status $status" || return
	[ "$(grep -c '2.5 Gb/sec (1X SDR)' "$work/out")" = 2 ] || fail "another rate" || return
	bandwidth_is_up_to 255 || fail "packets are faster than the link" || return
	grep -qE 'node1: its ports were ready [0-9]+\.[0-9]{2} s after' "$work/err" || fail "--verbose says nothing of ports"
}

# Runs in the root, with a module that is built quickly.
test_modules_install() {
	lab exec -- sh -c 'set -e
		build=$(ls -d /usr/lib/modules/*/build | sort -V | tail -n 1)
		release=$(basename "$(dirname "$build")")
		mkdir /tmp/tree
		cd /tmp/tree
		cp /repo/Makefile .
		echo "obj-m := ohca.o" >Kbuild
		cat >ohca.c <<-END
			#include <linux/module.h>
			#include <linux/pci.h>
			static const struct pci_device_id ids[] = { { PCI_DEVICE(0x1234, 0x0ca0) }, { } };
			MODULE_DEVICE_TABLE(pci, ids);
			MODULE_DESCRIPTION("test");
			MODULE_LICENSE("GPL");
		END
		make KDIR="$build" modules
		make KDIR="$build" INSTALL_MOD_PATH=/tmp/installed modules_install
		grep "ohca.ko" "/tmp/installed/lib/modules/$release/modules.dep"
		grep "pci:.* ohca" "/tmp/installed/lib/modules/$release/modules.alias"'
	[ "$status" = 0 ] || fail "status $status"
}

test_modules_install_here() {
	lab exec -- sh -c 'mkdir -p /tmp/kdir/include/generated && cd /tmp/kdir &&
			echo "#define UTS_RELEASE \"1.2.3-test\"" >include/generated/utsrelease.h
		printf "%s\n" "modules_install:" >Makefile
		make -C /repo KDIR=/tmp/kdir DEPMOD="echo depmod" modules_install'
	[ "$status" = 0 ] && grep -q '^depmod 1.2.3-test$' "$work/out" || fail "status $status"
}

test_old_kernel() {
	local version failed=0
	for version in 5.19 6.0; do
		lab exec -- sh -c 'set -e
			release=$(ls /usr/lib/modules | sort -V | head -n 1)
			mkdir /tmp/tree
			cp -r /repo/Kbuild /repo/drivers /repo/include /repo/uapi /tmp/tree/
			make -C "/usr/lib/modules/$release/build" M=/tmp/tree VERSION="$1" PATCHLEVEL="$2" modules' \
			sh "${version%.*}" "${version#*.}"
		[ "$status" != 0 ] && grep -q "6\\.1 or later.* is $version" "$work/err" &&
			! grep -q ' CC ' "$work/out" || fail "$version" || failed=1
	done
	return "$failed"
}

# results_are_kept DIR: checks the results of a run of one machine.
results_are_kept() {
	local file
	for file in node0.log node0.out ohcad.log boots; do
		[ -e "$1/$file" ] || fail "no $file in $1" || return
	done
	grep -q 'Linux version\|ohca' "$1/node0.log" || fail "no kernel log" || return
	grep -qxE 'node0 [0-9]+(\.[0-9]+)? (restored|booted)' "$1/boots" || fail "boots: $(cat "$1/boots")"
}

test_status() {
	lab run --results "$work/results" -- sh -c 'echo before; exit 7'
	[ "$status" = 7 ] || fail "status $status" || return
	! grep -q "ohcad's log" "$work/err" || fail "ohcad's log has nothing to do with it"
}

test_results_of_failure() {
	results_are_kept "$work/results" || return
	grep -q before "$work/results/node0.out" || fail "no output"
}

test_no_program() {
	lab run --vms 2 -- /no/such/program
	[ "$status" = 127 ] || fail "status $status"
}

test_timeout() {
	lab run --timeout 8 -- sleep 60
	[ "$status" = 124 ] || fail "status $status"
}

# interrupt WHEN: sends INT to ohca-lab when the function WHEN succeeds; it ends, with all its processes.
interrupt() {
	local pid tries=600 mark=OHCA_LAB_TEST=$BASHPID-$RANDOM
	set -m
	env "$mark" "$LAB" run --vms 2 -- sh -c 'echo started; exec sleep 300' >"$work/out" 2>"$work/err" </dev/null &
	pid=$!
	set +m
	until "$1" "$mark"; do
		[ $((tries -= 1)) -gt 0 ] && kill -0 "$pid" 2>/dev/null || fail "it does not start" || break
		sleep 0.2
	done
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	# The kernel may need a moment to remove killed processes.
	tries=50
	while [ -n "$(processes "$mark")" ] && [ $((tries -= 1)) -gt 0 ]; do
		sleep 0.1
	done
	[ -z "$(processes "$mark")" ] || fail "these live on: $(processes "$mark" | xargs)" || return
	[ "$status" = 130 ] || fail "status $status"
}

# process_ids VARIABLE=VALUE: prints the IDs of the processes that have it in their environment.
process_ids() {
	local dir
	for dir in /proc/[0-9]*; do
		! tr '\0' '\n' <"$dir/environ" 2>/dev/null | grep -xF -e "$1" >/dev/null || echo "${dir##*/}"
	done 2>/dev/null
}

# processes VARIABLE=VALUE: prints the names of those processes.
processes() {
	local id
	for id in $(process_ids "$1"); do
		cat "/proc/$id/comm"
	done 2>/dev/null
}

machine_starts() {
	processes "$1" | grep qemu-system >/dev/null
}

command_runs() {
	[ "$(grep -c started "$work/out")" = 2 ]
}

test_interrupt_start() {
	interrupt machine_starts
}

test_interrupt_run() {
	interrupt command_runs
}

# Nothing of an earlier run is left in the same folder.
test_results_of_success() {
	local left
	mkdir -p "$work/results"
	touch "$work/results"/{node1.log,node1.out,ohcad1.log}
	lab run --results "$work/results" -- echo hello
	[ "$status" = 0 ] && [ "$(cat "$work/out")" = hello ] || fail "status $status" || return
	results_are_kept "$work/results" || return
	[ "$(tr -d '\r' <"$work/results/node0.out")" = hello ] || fail "output: $(cat "$work/results/node0.out")" || return
	left=("$work/results"/*1.*)
	[ "$(wc -l <"$work/results/boots")" = 1 ] && [ ! -e "${left[0]}" ] || fail "left: ${left[*]}"
}

tests=(
	"command_line           a wrong command line is refused in one line"
	"${kernel_tests[@]}"
	"${klog_tests[@]}"
	"${build_tests[@]}"
	"${clock_tests[@]}"
	"${verdict_tests[@]}"
	"${nap_tests[@]}"
	"qmp                    an answer of QEMU in two parts"
	"qemu_arg               an argument for QEMU, and the console"
	"qemu_refuses           a run ends when QEMU refuses an argument"
	"help                   each command has its help"
	"help_of_command        --help after -- is the command's"
	"version                --version is the adapter's, with the commit"
	"key                    key stands for what the cache depends on"
	"kvm                    --accel kvm without /dev/kvm is refused at once"
	"fault                  a wrong rule is refused before anything is built"
	"pcap_live              --pcap - writes packets to the standard output"
	"progress               what takes long says how far it is"
	"bench_compare          results of two commits are compared"
	"firstqp                the first tutorial's programs, and its capture"
	"uplink                 machines of two runs are on one Ethernet"
	"readable               everybody may read the root"
	"modules_install        make modules_install indexes the module"
	"modules_install_here   make modules_install indexes the host's modules"
	"old_kernel             an old kernel is refused in one line"
	"install_unknown!       a package that there is not changes nothing"
	"install!               a package of one's own"
	"install_beside!        others use the root while packages are added to it"
	"packages_in_machines!  packages are in the machines"
	"snapshot_refused!      a snapshot that QEMU refuses is thrown away, and the machines boot"
	"new_root_gets_them!    a new root gets the user's packages"
	"seals                  damage in the cache is noticed"
	"image_prune            images of machines take no more than their share of the cache"
	"fresh_checkout         a fresh checkout builds nothing that the cache has, but what has changed"
	"machines_differ        restored machines have their own random numbers, name and time"
	"link_ib                an InfiniBand subnet, managed by the machine that was asked for"
	"link_ib_sm             no subnet manager, or several"
	"links                  adapters on an Ethernet and on InfiniBand in one machine"
	"link_speed             --speed, --width and --pace are those of the links"
	"kexec                  a machine executes another kernel"
	"hibernate              a machine goes on after it was turned off"
	"suspend                a machine that was suspended to memory ends as others do"
	"status                 the exit status is the command's"
	"results_of_failure     --results keeps files of a run that failed"
	"no_program             127 for a program that is not there"
	"timeout                124 when the time is over"
	"interrupt_start        INT while machines start ends everything"
	"interrupt_run          INT while machines run ends everything"
	"results_of_success     the next run works; --results keeps its files"
	"${stay_tests[@]}"
)

if [ "$(id -u)" != 0 ] || [ -e /etc/ohca/stamp ]; then
	echo "TAP version 13"
	echo "1..0 # SKIP not root, or not on the host"
	exit "$SKIP"
fi
# Only tests whose names are given, if any are.
[ $# = 0 ] || mapfile -t tests < <(printf '%s\n' "${tests[@]}" | grep -E "^($(IFS='|' && echo "$*"))!? ")
chosen=$#
"$LAB" build || exit 1
echo "TAP version 13"
echo "1..${#tests[@]}"
number=0 failures=0
for line in "${tests[@]}"; do
	number=$((number + 1))
	read -r name title <<<"$line"
	result=0
	if [[ $name = *! && $chosen = 0 && ${OHCA_LONG-} != 1 ]]; then
		echo "in the long form" >"$work/why"
		result=$SKIP
	else
		"test_${name%!}" >"$work/why" 2>&1 || result=$?
	fi
	case $result in
	0) echo "ok $number $title" ;;
	"$SKIP") echo "ok $number $title # SKIP $(tail -n 1 "$work/why")" ;;
	*)
		sed 's/^/# /' "$work/why"
		echo "not ok $number $title"
		failures=1
		;;
	esac
done
exit "$failures"
