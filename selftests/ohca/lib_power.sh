# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Machines that are rebooted in the middle of a script. The script starts again in them, with the next $BOOT, and its
# lines continue where they were. A script sources this file after lib.sh; it has a boot of its own.

BOOT=${OHCA_BOOT:-0}
POWER_LINES=/mnt/share/lines.$RANK

# The plan for all boots
power_plan() # number
{
	if [ "$BOOT" -eq 0 ]; then
		plan "$1"
	else
		read -r tap_num tap_failed tap_skipped < "$POWER_LINES" || bail "no lines of the boot before"
		tap_planned=$1
	fi
}

# The next boot continues with these lines.
power_keep()
{
	echo "$tap_num $tap_failed $tap_skipped" > "$POWER_LINES"
}

# This machine reboots.
power_reboot()
{
	power_keep
	ohca-host reboot
	bail "the machine does not reboot"
}

# This machine executes the kernel that is loaded.
power_kexec()
{
	power_keep
	ohca-host kexec
	bail "the machine does not execute another kernel"
}

# Another machine, which calls this barrier too, turns this one off.
power_end() # barrier
{
	power_keep
	barrier "$1"
	sleep 300
	bail "the machine was left on"
}

# The machine's disk
disk_new() # directory
{
	mkfs.ext4 -q "$OHCA_DISK" && disk_mount "$1"
}

disk_mount() # directory
{
	mkdir -p "$1" && mount -t ext4 "$OHCA_DISK" "$1"
}
