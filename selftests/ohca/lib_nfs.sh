# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# NFS between two machines: the first one exports, over RDMA and TCP, the file system at $NFS_EXPORT, or else one in
# its memory. A script sources this file after lib.sh.

NFS_EXPORT=/srv/nfs

# The parts that both sides need: port mapper, lock manager. A request that the server drops, because another client
# has the file, is repeated soon.
nfs_daemons()
{
	modprobe -a lockd rpcrdma && printf 3 > /sys/module/lockd/parameters/nlm_timeout || return 1
	mkdir -p /run/rpcbind && rpcbind -w && rpc.statd --no-notify
}

nfs_daemon_over() # name
{
	! pgrep -x "$1"
}

nfs_daemons_end()
{
	for nfs_daemon in rpc.mountd nfsdcld rpc.statd rpcbind; do
		! pkill -x "$nfs_daemon" || wait_for 20 nfs_daemon_over "$nfs_daemon" || return 1
	done
	wait_for 20 modprobe -r rpcrdma
}

# Stores version 4's clients. Without it, no client may open a file for the first seconds. The server waits for it for
# two seconds only.
nfs_memory()
{
	mkdir -p /run/rpc_pipefs && mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs && nfsdcld && wait_for 30 nfs_remembers
}

nfs_remembers() # it has read its files, and watches the server
{
	readlink "/proc/$(pgrep -x nfsdcld)/fd"/* | grep inotify
}

# Starts the server's threads. Clients of the previous instance have this time to reclaim their state.
nfs_start() # seconds; without it, 10 for version 4, and the minimum for locks of version 3
{
	echo 10 > /proc/fs/nfsd/nfsv4leasetime && echo "${1:-10}" > /proc/fs/nfsd/nfsv4gracetime &&
		printf %s "${1:-1}" > /sys/module/lockd/parameters/nlm_grace_period && rpc.nfsd --rdma=20049 4
}

# Ends the grace period for locks of version 3.
nfs_grace_end()
{
	echo Y > /proc/fs/lockd/nlm_end_grace
}

# Notifies the peers that had locks of version 3 with this machine before its reboot. A server does this when it
# starts.
nfs_notify()
{
	sm-notify -f -m 1
}

nfs_export()
{
	mkdir -p "$NFS_EXPORT" || return 1
	mountpoint -q "$NFS_EXPORT" || mount -t tmpfs -o size=256m tmpfs "$NFS_EXPORT"
}

nfs_serve() # as nfs_start
{
	nfs_daemons && modprobe nfsd && nfs_export && mount -t nfsd nfsd /proc/fs/nfsd && nfs_memory || return 1
	exportfs -i -o rw,no_root_squash,insecure,fsid=0 "*:$NFS_EXPORT" && rpc.mountd && nfs_start "$@"
}

nfs_serve_end()
{
	rpc.nfsd 0 && exportfs -u "*:$NFS_EXPORT" && nfs_daemons_end && umount "$NFS_EXPORT" && umount /proc/fs/nfsd &&
		umount /run/rpc_pipefs
}

# The exported file system is version 4's root.
nfs_mount() # version, options, directory
{
	nfs_path=/
	[ "$1" != 3 ] || nfs_path=$NFS_EXPORT
	mkdir -p "$3" && mount -t nfs -o "vers=$1,retry=0,$2" "$OHCA_PEER:$nfs_path" "$3"
}
