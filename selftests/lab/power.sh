# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2015 # "A && B || fail" fails if either does
# shellcheck disable=SC2016 # for shells in machines
#
# Machines that execute another kernel, or sleep. Sourced by run.sh.

# The command runs again. Without a kernel that is loaded nothing happens, and where the lab can't write it says so.
test_kexec() {
	lab run --device none -- sh -c '
		ohca-host kexec
		echo "boot $OHCA_BOOT, refused: $?"
		[ "$OHCA_BOOT" = 0 ] || exit 0
		mkdir -p /mnt/lab/kernel/full && ! ohca-host kernel && rm -r /mnt/lab/kernel* && ln -s /nowhere /mnt/lab/kernel.new || exit 3
		ohca-host kernel && kexec -l /mnt/lab/kernel --initrd=/mnt/lab/initrd --reuse-cmdline && ohca-host kexec'
	[ "$status" = 0 ] && [ "$(grep -c 'no kernel is loaded' "$work/out")" = 2 ] || fail "status $status" || return
	grep -q "can't write to /mnt/lab" "$work/out" || fail "no error for a folder" || return
	grep -q '^boot 0, refused: 1' "$work/out" && grep -q '^boot 1, refused: 1' "$work/out" || fail "not both boots"
}

# Without swap space it is refused, and so is a machine that was restored. Otherwise the command goes on.
test_hibernate() {
	lab run --device none --disk 512M --results "$work/results/hibernate" -- sh -c '
		ohca-host hibernate || echo "refused first"
		mkswap "$OHCA_DISK" && swapon "$OHCA_DISK" && ohca-host hibernate || echo "refused again"'
	grep -q 'there is no swap space' "$work/out" && grep -q '^refused first' "$work/out" || fail "no swap space: status $status" || return
	if grep -q restored "$work/results/hibernate/boots"; then
		grep -q 'use --no-snapshot' "$work/out" && grep -q '^refused again' "$work/out" || fail "restored: status $status" || return
	fi
	lab run --device none --disk 512M --no-snapshot --results "$work/results/hibernate" -- sh -c '
		mkswap "$OHCA_DISK" && swapon "$OHCA_DISK" && kept=$(cat /proc/sys/kernel/random/uuid) && echo "$kept" >/tmp/kept &&
		ohca-host hibernate && [ "$(cat /tmp/kept)" = "$kept" ] && echo "goes on, boot $OHCA_BOOT"'
	[ "$status" = 0 ] && grep -q '^goes on, boot 0' "$work/out" || fail "status $status" || return
	grep -q 'node0 wakes up' "$work/err" && [ "$(wc -l <"$work/results/hibernate/boots")" = 2 ] || fail "it was not turned off"
}

test_suspend() {
	lab run --device none -- sh -c 'rtcwake -u -m mem -s 2 && dmesg | grep "Waking up from system sleep state S3"'
	[ "$status" = 0 ] && grep -q 'state S3' "$work/out" || fail "status $status"
}
