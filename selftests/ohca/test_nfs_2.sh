#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA: the first machine is the server (svcrdma), the second one the client (xprtrdma).
# vms: 2
# kernels: all - the kernel has the protocol
# boot: nfs
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rpc.nfsd > /dev/null || skip_all "no NFS server"
. "$DIR/lib_load.sh"
. "$DIR/lib_nfs.sh"
PCI=$(pcidev)
LISTS=/mnt/share/nfs # of checksums, which both machines see
TREE=/run/tree
VERSIONS="3 4.1 4.2"

cleanup()
{
	load_cleanup
	rm -rf "$TREE"
	for version in $VERSIONS; do
		umount -f -l "/mnt/nfs$version"
	done
	if mountpoint /proc/fs/nfsd; then
		nfs_serve_end
	else
		nfs_daemons_end
	fi
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

mount_version() # version
{
	nfs_mount "$1" rdma,port=20049 "/mnt/nfs$1" && grep " /mnt/nfs$1 nfs.*,proto=rdma,port=20049," /proc/mounts
}

# Small and large requests, with and without the cache, with and without fsync, at the same time
files() # version
{
	files_dir=/mnt/nfs$1/io$1
	mountpoint "/mnt/nfs$1" && mkdir -p "$files_dir" &&
		timeout $((120 * slow)) fio --directory="$files_dir" --ioengine=libaio --rw=randwrite --thread \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 \
		--name=small --bs=4k --size=512k --direct=1 --iodepth=16 \
		--name=large --bs=1m --size=6m --direct=1 --iodepth=4 \
		--name=cached --bs=64k --size=2m \
		--name=synced --bsrange=4k-1m --size=3m --fsync=4
}

# A tree of small files, and of links.
grow() # directory
{
	for tree_branch in 1 2 3 4 5; do
		mkdir -p "$1/$tree_branch" && ln -s "../$tree_branch" "$1/$tree_branch/link" &&
			head -c $((tree_branch * 25000)) /dev/urandom | split -b $((tree_branch * 1000)) - "$1/$tree_branch/" || return 1
	done
}

# Its checksums are those of the original.
tree() # version
{
	cp -r "$TREE" "/mnt/nfs$1/tree$1" && (cd "$TREE" && find . -type f -exec sha256sum {} +) |
		sed "s|  \./|  tree$1/|" > "$LISTS/$1" && (cd "/mnt/nfs$1" && sha256sum "io$1"/*) >> "$LISTS/$1"
}

# This directory has those contents, without the cache.
compare() # version, directory
{
	sync && echo 3 > /proc/sys/vm/drop_caches && [ "$(wc -l < "$LISTS/$1")" -gt 100 ] &&
		(cd "$2" && sha256sum --quiet -c "$LISTS/$1")
}

# Another owner has the lock.
locked() # version
{
	flock -n -E 75 "/mnt/nfs$1/lock" true
	[ $? -eq 75 ]
}

lock() # version
{
	exec 9> "/mnt/nfs$1/lock" && flock 9
}

# A lock that one version releases can be taken with the other one.
unlock() # version
{
	exec 9>&- && flock -w 30 "/mnt/nfs$1/lock" true
}

# A lock that is held with one version can't be taken with another one; when it is released, it can.
locks() # version, version
{
	lock "$1" && locked "$2" && unlock "$2"
}

# The server drops all connections and sessions, as at a boot.
restart()
{
	rpc.nfsd 0 && nfs_start
}

umount_all()
{
	for version in $VERSIONS; do
		umount "/mnt/nfs$version" || return 1
	done
}

# The device of one side is removed under load, and the load continues when it is back.
unplug() # that side's check, name
{
	"$1" "$2: function removed under load" pci_remove
	"$1" "$2: function found again" pci_rescan
	"$1" "$2: its port is active" again
	client_check "$2: the load goes on" mount_goes_on
}

mount_load()
{
	load_start /mnt/nfs4.2/load --bs=64k --size="$(long 4m 1m)" --direct=1 --iodepth=8
}

# A request that connects at the moment when rdma_cm loses the device gets the error of rdma_resolve_route(), EINVAL,
# and xprtrdma passes it on to the program. Linux does that on all devices; the mount has to work afterwards.
mount_goes_on()
{
	load_goes_on && return
	load_over && grep -q "error=Invalid argument" "$load_dir/log" && load_ended 1 && mount_load
}

if [ "$RANK" -eq 0 ]; then
	plan 12
else
	plan 34
fi
kernel_log_mark
barrier nfs
mkdir -p "$LISTS"
server_check "serve" nfs_serve
client_check "daemons" nfs_daemons
client_check "files to copy" grow "$TREE"
for version in $VERSIONS; do
	client_check "version $version: mount" mount_version "$version"
	client_check "version $version: files" files "$version"
	client_check "version $version: tree" tree "$version"
	client_check "version $version: the client's bytes" compare "$version" "/mnt/nfs$version"
	server_check "version $version: the server's bytes" compare "$version" "$NFS_EXPORT"
done
client_check "locks of 4.2 and 3" locks 4.2 3
client_check "locks of 3 and 4.1" locks 3 4.1
check "queue pairs are there" kernel_uses rpcrdma
barrier nfs.used
client_check "driver unloaded under mounts" rmmod ohca
client_check "driver loaded again" reload
for version in $VERSIONS; do
	client_check "version $version: files again" files "$version"
done
client_check "load" mount_load
unplug client_check "client"
unplug server_check "server"
server_check "server: stopped and started again under load" restart
client_check "server: the load goes on" load_goes_on
client_check "nothing was lost" load_stop
client_check "umount" umount_all
client_check "stop" nfs_daemons_end
server_check "stop" nfs_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
