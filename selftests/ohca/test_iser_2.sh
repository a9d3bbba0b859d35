#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# iSCSI over RDMA: the first machine serves a RAM disk (LIO, ib_isert), the second one logs in (open-iscsi, ib_iser).
# vms: 2
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v iscsid > /dev/null || skip_all "no open-iscsi"
. "$DIR/lib_load.sh"
. "$DIR/lib_scsi.sh"
PCI=$(pcidev)
NAME=iqn.2026-01.test.ohca:disk
# A listener that has an address ends with the device (isert_np_cma_handler()).
PORTAL=0.0.0.0:3260
GROUP=$TARGET/iscsi/$NAME/tpgt_1

cleanup()
{
	load_cleanup
	logout
	client_end
	serve_end
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# Whoever comes may read and write.
open_to_all()
{
	echo 0 > "$GROUP/attrib/authentication" && echo 1 > "$GROUP/attrib/generate_node_acls" &&
		echo 1 > "$GROUP/attrib/cache_dynamic_acls" && echo 0 > "$GROUP/attrib/demo_mode_write_protect"
}

serve()
{
	modprobe -a iscsi_target_mod ib_isert && backstore && mkdir -p "$GROUP/lun/lun_0" "$GROUP/np/$PORTAL" &&
		open_to_all && echo 1 > "$GROUP/np/$PORTAL/iser" && ln -s "$BACKSTORE" "$GROUP/lun/lun_0/" &&
		echo 1 > "$GROUP/enable"
}

serve_end()
{
	cd / && echo 0 > "$GROUP/enable" && rm "$GROUP/lun/lun_0/disk" && rmdir "$GROUP/lun/lun_0" \
		"$GROUP/np/$PORTAL" "$GROUP" "${GROUP%/*}" "$TARGET/iscsi" && backstore_end && modprobe -r ib_isert
}

client()
{
	modprobe -a sd_mod ib_iser && echo "InitiatorName=iqn.2026-01.test.ohca:client" > /etc/iscsi/initiatorname.iscsi && iscsid
}

client_end()
{
	pkill -x iscsid
	wait_for 20 iscsid_over && modprobe -r ib_iser
}

iscsid_over()
{
	! pgrep -x iscsid
}

node() # what iscsiadm does with the record
{
	iscsiadm -m node -T "$NAME" -p "$OHCA_PEER:3260" "$@"
}

# Through iSER, with a connection that is tried again for as long as the device may be away.
login()
{
	node -I iser -o new && node -o update -n node.session.timeo.replacement_timeout -v 120 &&
		node --login && wait_for 30 disk
}

session_is() # state
{
	grep -x "$1" /sys/class/iscsi_session/session*/state
}

# The client's device is not pulled out: the SCSI host would lose its place in sysfs, and iscsiadm the session.
link_loss()
{
	ip link set "$OHCA_NETDEV" down && wait_for 60 session_is FAILED && net_restore && wait_for 60 session_is LOGGED_IN
}

logout()
{
	node --logout && node -o delete
}

if [ "$RANK" -eq 0 ]; then
	plan 10
else
	plan 19
fi
kernel_log_mark
barrier iser
server_check "serve" serve
client_check "client" client
client_check "log in" login
client_check "queue pair" kernel_uses ib_iser
disk_checks
client_check "load" disk_load
client_check "link loss under load" link_loss
client_check "link loss: the load goes on" load_goes_on
server_check "server: function removed under load" pci_remove
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
client_check "server: the load goes on" load_goes_on
server_check "server: driver unloaded under load" rmmod ohca
server_check "server: driver loaded again" reload
client_check "server: the load goes on" load_goes_on
client_check "nothing was lost" load_stop
client_check "log out" logout
client_check "driver unloaded" rmmod ohca
client_check "driver loaded again" reload
client_check "unload" client_end
server_check "stop" serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
