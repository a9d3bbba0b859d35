# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# SMB Direct between two machines: the first one has ksmbd, which shares a file system in its memory, the second one
# has cifs. A script sources this file after lib.sh.

SMB_EXPORT=/srv/smb
SMB_MOUNT=/mnt/smb

# A kernel whose cifs and ksmbd were built with SMB Direct
smb_has_direct()
{
	modinfo -F depends cifs | grep -qE 'smbdirect|rdma_cm' && modinfo -F depends ksmbd | grep -qE 'smbdirect|rdma_cm'
}

smb_serve()
{
	mkdir -p "$SMB_EXPORT" /etc/ksmbd && mount -t tmpfs -o size=256m tmpfs "$SMB_EXPORT" && modprobe ksmbd || return 1
	printf '[global]\n\tserver multi channel support = yes\n[data]\n\tpath = %s\n\tread only = no\n' "$SMB_EXPORT" \
		> /etc/ksmbd/ksmbd.conf
	rm -f /etc/ksmbd/ksmbdpwd.db
	ksmbd.adduser --add --password=secret root && ksmbd.mountd && wait_for 30 smb_listens
}

smb_listens() # for SMB Direct
{
	rdma resource show cm_id | grep -E 'state LISTEN .*:(445|5445)( |$)'
}

smb_serve_end()
{
	ksmbd.control --shutdown
	wait_for 30 modprobe -r ksmbd && umount "$SMB_EXPORT"
}

smb_mount()
{
	mkdir -p "$SMB_MOUNT" && modprobe cifs &&
		mount -i -t cifs "//$OHCA_PEER/data" "$SMB_MOUNT" -o "ip=$OHCA_PEER,username=root,password=secret,vers=3.1.1,rdma,hard" &&
		smb_is_direct
}

# The mount's requests are carried by SMB Direct.
smb_is_direct()
{
	grep -i smbdirect /proc/fs/cifs/DebugData
}
