#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA: the server's machine is reset under load, then the client's. Synced data are kept, the load
# continues, locks survive a reset of the server and end with the client.
# vms: 2
# long: test_nfs_2.sh and test_power_2.sh have its parts
# kernels: newest debug - test_nfs_2.sh and test_power_2.sh test the kernel's part
# boot: own
# disk: 256M
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rpc.nfsd > /dev/null || skip_all "no NFS server"
[ -b "${OHCA_DISK:-}" ] || skip_all "no disk"
. "$DIR/lib_load.sh"
. "$DIR/lib_nfs.sh"
. "$DIR/lib_power.sh"
DISK=/run/disk
MEMORY=/var/lib/nfs # state of both: peers with locks, and of the server: its clients
LIST=/mnt/share/synced # files and their checksums, which both machines see
VERSIONS="3 4.2"
# Seconds in which clients may reclaim their files; the server ends this time when they have done so.
GRACE=60

writer=
cleanup()
{
	load_cleanup
	[ -z "$writer" ] || kill "$writer"
	locks_end
	for version in $VERSIONS; do
		umount -f -l "/mnt/nfs$version"
	done
	if mountpoint /proc/fs/nfsd; then
		nfs_serve_end
	else
		nfs_daemons_end
	fi
	umount "$MEMORY" "$NFS_EXPORT" "$DISK"
} > /dev/null 2>&1
trap cleanup EXIT

# NFS' state and the exported file system are on the disk.
disk()
{
	if [ "$BOOT" -eq 0 ]; then
		disk_new "$DISK" && mkdir "$DISK/export" && cp -a "$MEMORY" "$DISK/memory"
	else
		disk_mount "$DISK"
	fi
	mkdir -p "$NFS_EXPORT" && mount --bind "$DISK/export" "$NFS_EXPORT" && mount --bind "$DISK/memory" "$MEMORY"
}

mounts()
{
	for version in $VERSIONS; do
		nfs_mount "$version" rdma,port=20049,hard "/mnt/nfs$version" || return 1
	done
	grep -c ' nfs4* .*,hard,.*proto=rdma,port=20049,' /proc/mounts | grep -x 2
}

# One lock with each version.
locks()
{
	exec 7> /mnt/nfs3/lock3 8> /mnt/nfs4.2/lock4.2 && flock -w 60 7 && flock -w 60 8
}

locks_end()
{
	exec 7>&- 8>&-
}

# At the server: the lock is held, or not.
locked() # version
{
	flock --fcntl -n -E 75 "$NFS_EXPORT/lock$1" true
	[ $? -eq 75 ]
}

unlocked() # version
{
	flock --fcntl -w 90 "$NFS_EXPORT/lock$1" true
}

# A lock that was not held before, which waits for the end of the grace period.
lock_again() # version
{
	flock -w 60 "/mnt/nfs$1/again$1" true
}

# A file after the other, at most five in a second: each is in the list when it is synced.
write_on()
{
	file=$(wc -l < "$LIST")
	while [ ! -e "$load_dir/enough" ]; do
		file=$((file + 1))
		head -c 100000 /dev/urandom > "$load_dir/block" &&
			dd if="$load_dir/block" of="/mnt/nfs4.2/file$file" bs=32k conv=fsync 2> /dev/null || return 1
		echo "$(sha256sum < "$load_dir/block" | cut -c 1-64)  file$file" >> "$LIST"
		sleep 0.2
	done
}

writer_start()
{
	touch "$LIST"
	rm -f "$load_dir/enough"
	write_on &
	writer=$!
	more_synced
}

writer_stop()
{
	touch "$load_dir/enough"
	wait "$writer"
	writer_status=$?
	writer=
	return "$writer_status"
}

synced() # number: so many files are
{
	[ "$(wc -l < "$LIST")" -ge "$1" ]
}

more_synced()
{
	wait_for 90 synced $(($(wc -l < "$LIST") + 5))
}

# This directory has those contents.
compare() # directory
{
	synced 5 && (cd "$1" && sha256sum --quiet -c "$LIST")
}

no_lock_lost()
{
	! dmesg | grep -iE "reclaim.*failed|failed to reclaim"
}

umount_all()
{
	for version in $VERSIONS; do
		umount "/mnt/nfs$version" || return 1
	done
}

if [ "$RANK" -eq 0 ]; then
	power_plan 20
else
	power_plan 26
fi
kernel_log_mark
case $RANK.$BOOT in
0.0)
	check "disk" disk
	check "serve" nfs_serve
	barrier nfs.serves
	barrier nfs.locked
	for version in $VERSIONS; do
		check "version $version: the client's lock" wait_for 30 locked "$version"
	done
	power_end nfs.server
	;;
0.1)
	check "server reset: disk" disk
	check "server reset: serve" nfs_serve "$GRACE"
	check "server reset: the client is notified" nfs_notify
	barrier nfs.back
	check "server reset: version 3: the client's lock" wait_for 30 locked 3
	check "server reset: nobody claims locks of version 3 any more" nfs_grace_end
	# A client that has a delegation of the file has the lock, too, without the server's knowledge. Checking it
	# here recalls the delegation, and in the grace period of version 3, no client can inform the server.
	check "server reset: version 4.2: the client's lock" wait_for 90 locked 4.2
	check "server reset: what was synced is there" compare "$NFS_EXPORT"
	barrier nfs.compared
	barrier nfs.client
	check "the client writes" more_synced
	check "the client is reset" ohca-host reset 1
	for version in $VERSIONS; do
		check "client reset: version $version: its lock ends" unlocked "$version"
	done
	check "client reset: what was synced is there" compare "$NFS_EXPORT"
	barrier nfs.over
	check "client reset: the server's bytes" compare "$NFS_EXPORT"
	check "stop" nfs_serve_end
	;;
1.0)
	check "disk" disk
	check "daemons" nfs_daemons
	barrier nfs.serves
	check "mount" mounts
	check "locks" locks
	barrier nfs.locked
	check "load" load_start /mnt/nfs3/load --bs=64k --size="$(long 4m 1m)" --direct=1 --iodepth=8
	check "files are written and synced" writer_start
	barrier nfs.server
	check "the server is reset" ohca-host reset 0
	check "server reset: the load goes on" load_goes_on
	check "server reset: files are written and synced" more_synced
	check "server reset: nothing was lost" load_stop
	check "server reset: all files were written" writer_stop
	barrier nfs.back
	check "server reset: no lock was lost" no_lock_lost
	check "server reset: version 3: another lock" lock_again 3
	barrier nfs.compared
	check "the kernel log is clean" kernel_log_clean
	writer_start || bail "no file is synced any more"
	power_end nfs.client
	;;
1.1)
	check "client reset: disk" disk
	check "client reset: daemons" nfs_daemons
	check "client reset: the server is notified" nfs_notify
	check "client reset: mount" mounts
	check "client reset: the client's bytes" compare /mnt/nfs4.2
	check "client reset: locks" locks
	check "client reset: load" load_start /mnt/nfs4.2/load --bs=64k --size="$(long 4m 1m)" --fsync=8
	check "client reset: nothing was lost" load_stop
	locks_end
	check "umount" umount_all
	check "stop" nfs_daemons_end
	barrier nfs.over
	;;
esac
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
