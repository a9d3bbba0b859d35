# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# iSCSI over RDMA between two machines: the first one is the target (LIO, ib_isert), the second one the initiator
# (open-iscsi, ib_iser). A script sources this file after lib_scsi.sh.

NAME=iqn.2026-01.test.ohca:disk
# A listener with an address ends when the device is removed (isert_np_cma_handler()).
PORTAL=0.0.0.0:3260
GROUP=$TARGET/iscsi/$NAME/tpgt_1

# Every initiator may read and write.
open_to_all()
{
	echo 0 > "$GROUP/attrib/authentication" && echo 1 > "$GROUP/attrib/generate_node_acls" &&
		echo 1 > "$GROUP/attrib/cache_dynamic_acls" && echo 0 > "$GROUP/attrib/demo_mode_write_protect"
}

iser_serve()
{
	modprobe -a iscsi_target_mod ib_isert && backstore && mkdir -p "$GROUP/lun/lun_0" "$GROUP/np/$PORTAL" &&
		open_to_all && echo 1 > "$GROUP/np/$PORTAL/iser" && ln -s "$BACKSTORE" "$GROUP/lun/lun_0/" &&
		echo 1 > "$GROUP/enable"
}

iser_serve_end()
{
	cd / && echo 0 > "$GROUP/enable" && rm "$GROUP/lun/lun_0/disk" && rmdir "$GROUP/lun/lun_0" \
		"$GROUP/np/$PORTAL" "$GROUP" "${GROUP%/*}" "$TARGET/iscsi" && backstore_end && modprobe -r ib_isert
}

iser_client()
{
	modprobe -a sd_mod ib_iser && echo "InitiatorName=iqn.2026-01.test.ohca:client" > /etc/iscsi/initiatorname.iscsi && iscsid
}

iser_client_end()
{
	pkill -x iscsid
	wait_for 20 iscsid_over && modprobe -r ib_iser
}

iscsid_over()
{
	! pgrep -x iscsid
}

node() # operation of iscsiadm on the record
{
	iscsiadm -m node -T "$NAME" -p "$OHCA_PEER:3260" "$@"
}

# By iSER, with a connection that is retried for as long as the device may be absent. LIO needs more than the usual 15 seconds
# for a login on a slow machine; if the initiator abandons one, LIO may wait for its connection for ever, and then no other
# login succeeds.
iser_login()
{
	node -I iser -o new && node -o update -n node.session.timeo.replacement_timeout -v 600 &&
		node -o update -n "node.conn[0].timeo.login_timeout" -v 120 && node --login && wait_for 30 disk
}

iser_logout()
{
	node --logout && node -o delete
}

session_is() # state
{
	grep -x "$1" /sys/class/iscsi_session/session*/state
}

# Requests fail when the connection has been lost for this time.
iser_timeouts() # seconds
{
	echo "$1" > "$(echo /sys/class/iscsi_session/session*)/recovery_tmo"
}
