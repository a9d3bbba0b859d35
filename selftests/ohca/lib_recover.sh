# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The adapter of this machine breaks or goes, as ohcad is told, and the driver's recovery from that.  A script sources this
# file after lib.sh, which it needs.

ohcactl()
{
	ohca-host ohcactl "$@"
}

fail_hca()
{
	ohcactl fail hca "$OHCA_HCA"
}

# Whether a device that broke comes back by itself
auto_recover() # true, false
{
	devlink health set "pci/$(pcidev)" reporter fatal auto_recover "$1"
}

# By hand
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

# Since the last mark the kernel's log has so many lines of that.
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

# It works again, after so many times since the mark.
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
