# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Faults of this machine's adapter, by commands to ohcad, and the driver's recovery. A script sources this file after
# lib.sh.

ohcactl()
{
	ohca-host ohcactl "$@"
}

fail_hca()
{
	ohcactl fail hca "$OHCA_HCA"
}

# Whether a device that failed is recovered automatically
auto_recover() # true, false
{
	devlink health set "pci/$(pcidev)" reporter fatal auto_recover "$1"
}

# Recovery by the user
recover()
{
	devlink health recover "pci/$(pcidev)" reporter fatal
}

unplug()
{
	ohcactl unplug "$OHCA_HCA"
}

plug()
{
	ohcactl plug "$OHCA_HCA"
}

# The number of such lines in the kernel's log since the last mark
log_has() # number, pattern
{
	[ "$(dmesg | tail -n +$((log_mark + 1)) | grep -c "$2")" -eq "$1" ]
}

mark()
{
	log_mark=$(dmesg | wc -l)
}

fenced()
{
	wait_for 20 log_has 1 'ohca.*fenced: '
}

is_away()
{
	unplug && wait_for 20 log_has 1 'ohca.*fenced: .*device is gone'
}

# The device works again, after so many recoveries since the mark.
recovered() # times
{
	if ! wait_for 40 log_has "$1" 'ohca.*recovered from'; then
		dmesg | tail -n 20
		for recover_task in /proc/[0-9]*; do
			grep -q ohca_ "$recover_task/stack" && cat "$recover_task/comm" "$recover_task/stack"
		done
		return 1
	fi
	wait_for 20 port_is PORT_ACTIVE
}

# Names and addresses by which other parts of the system know the device and its interface $ND
device_looks()
{
	ibdev
	ip -o link show "$ND" | sed 's/ qdisc.*link.ether/ /'
	ip -o addr show dev "$ND" | awk '{ print $3, $4 }' | sort
	gids
}

# The stack may take a second to see the link of an interface that is new or was brought up, and then adds the address.
device_settled()
{
	! ip -o link show "$ND" | grep -q NO-CARRIER && ip -o addr show dev "$ND" | grep -q 'inet6 fe80'
}

# They are those in $look.
device_looks_same()
{
	[ "$(device_looks)" = "$look" ]
}
