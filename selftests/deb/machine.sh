#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# machine.sh: what can be seen in a machine only: the services, and the adapter. systemd starts it in the machine. Prints to the console.

exec >/dev/ttyS0 2>&1
# shellcheck source=selftests/deb/lib.sh
. "$(dirname "$0")/lib.sh"

has_adapter() {
	udevadm settle --timeout=600
	grep -E '^ohca ' /proc/modules && modprobe ib_uverbs && udevadm settle --timeout=600 && ibv_devinfo | tee /tmp/devinfo
	grep -q 'hca_id:.*ohca_0' /tmp/devinfo && grep -q 'vendor_id:.*0x1234' /tmp/devinfo
}

service() {
	local tries=600
	systemctl start ohcad@default || return
	# systemd does not know when ohcad has its sockets.
	until [ -S /run/ohcad/default/control ] || [ $((tries -= 1)) = 0 ]; do
		sleep 0.2
	done
	systemctl is-active ohcad@default && ohcactl version && ohcactl show hcas | grep hca0 &&
		ls -l /run/ohcad/default && [ "$(stat -c '%a %G' /run/ohcad/default/hca0)" = '660 kvm' ]
}

# Sockets of a group need a system call that the service is allowed.
service_says_nothing() {
	journalctl -u ohcad@default --no-pager -o cat | tee /tmp/journal
	! grep -E 'not permitted|failed' /tmp/journal
}

service_stops() {
	systemctl stop ohcad@default && [ ! -e /run/ohcad/default ] && ! ohcactl version
}

echo "machine: begins"
if [ -e /usr/lib/x86_64-linux-gnu/libibverbs/libohca-rdmav34.so ]; then
	check "udev loads the module, and ibv_devinfo shows the adapter" has_adapter
fi
check "the service starts, and ohcactl finds it" service
check "and is refused nothing" service_says_nothing
check "the service ends" service_stops
echo "machine: ends"
