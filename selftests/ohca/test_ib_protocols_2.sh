#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Kernel protocols on InfiniBand ports: the first machine serves NFS, NVMe over Fabrics, iSER and SRP, the second one uses them
# all at once, and RDS goes both ways.  SRP's target is found by the management tools of the subnet, and by a daemon that the
# subnet manager reports it.
# vms: 2
# link: ib
# kernels: newest debug - both kernels' protocols are in test_nfs_2.sh and others, on another link
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
for tool in rpc.nfsd nvme iscsid srp_daemon; do
	command -v "$tool" > /dev/null || skip_all "no $tool"
done
. "$DIR/lib_ib.sh"
. "$DIR/lib_faults.sh"
. "$DIR/lib_load.sh"
. "$DIR/lib_rds.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_nfs.sh"
. "$DIR/lib_nvme.sh"
. "$DIR/lib_scsi.sh"
. "$DIR/lib_iser.sh"
. "$DIR/lib_srp.sh"
MNT=/mnt/nfs
DATA=/run/data
SUMS=/mnt/share/protocols # of what is written, which both machines see
MIB=$(long 16 2) # each
srp_finder=

cleanup()
{
	[ -z "$srp_finder" ] || kill "$srp_finder"
	ohcactl link "$OHCA_HCA" up
	umount -f -l "$MNT"
	nvme disconnect -n ohca
	srp_logout
	iser_logout
	iser_client_end
	modprobe -r ib_srp nvme-rdma
	srp_target_end
	rmdir "$SRP_FABRIC"
	iser_serve_end
	nvme_serve_end
	if mountpoint /proc/fs/nfsd; then nfs_serve_end; else nfs_daemons_end; fi
	rm -f "$DATA" "$DATA.log"
} > /dev/null 2>&1
trap cleanup EXIT

# The target's initiator, as the target writes it
initiator()
{
	echo "$peer_guid" | sed 's/....\B/&:/g'
}

serve()
{
	# shellcheck disable=SC2119 # without seconds
	nfs_serve && nvme_serve && iser_serve
}

# It looks for targets now, and whenever the subnet manager says that there is something new.
finder_start()
{
	srp_client && wait_for 20 test -e "/sys/class/infiniband_srp/srp-$IB_DEV-1/add_target" || return 1
	srp_daemon -c -e -n -i "$IB_DEV" -p 1 -R 600 > "$DATA.log" 2>&1 &
	srp_finder=$!
	wait_for 30 finder_subscribed
}

# To ports in service, and to changes of their capabilities
finder_subscribed()
{
	finder_traps=$(saquery IIR | grep -cE 'trap_num\.*(64|144)$')
	[ "$finder_traps" -eq 2 ]
}

# ib_srpt says what it offers when it is loaded, before it lets anybody in: a description says so once more.
serve_srp()
{
	srp_serve_ib "$(initiator)" && echo "SRP target" > "/sys/class/infiniband/$IB_DEV/node_desc"
}

finder_finds()
{
	wait_for 60 srp_found && ! over "$srp_finder" && srp_disk_waits
}

srp_found()
{
	disk && srp_is running
}

mounts()
{
	nfs_daemons && nfs_mount 4.2 rdma,port=20049 "$MNT"
}

connects()
{
	modprobe nvme-rdma && nvme_connect rdma -i 2 -k 2 -c 1 -l 600
}

# SRP's disk was there before, and is disk() again from then on.
logs_in()
{
	srp_disk=$(disk) && disk_but=$srp_disk && iser_client && iser_login && iser_disk=$(disk) && disk_but=$iser_disk
}

fill() # file
{
	dd if=/dev/urandom of="$1" bs=1M count="$MIB"
}

# The second half of the file that both SCSI disks are is iSER's.
write_all()
{
	fill "$DATA" && sha256sum < "$DATA" > "$SUMS" && cp "$DATA" "$MNT/data" && sync "$MNT/data" &&
		dd if="$DATA" of="$(nvme_disk 2)" bs=1M oflag=direct && dd if="$DATA" of="$srp_disk" bs=1M oflag=direct &&
		dd if="$DATA" of="$iser_disk" bs=1M seek=16 oflag=direct
}

written() # command...: what it prints is that.
{
	"$@" | head -c "${MIB}M" | sha256sum | diff "$SUMS" - || { echo "$*"; return 1; }
}

disk_reads() # disk, MiB before
{
	dd if="$1" bs=1M skip="$2" count="$MIB" iflag=direct
}

read_all()
{
	echo 3 > /proc/sys/vm/drop_caches
	written cat "$MNT/data" && written disk_reads "$(nvme_disk 2)" 0 && written disk_reads "$srp_disk" 0 &&
		written disk_reads "$iser_disk" 16
}

served_all()
{
	written cat "$NFS_EXPORT/data" && written cat "$NVME_FILE" && written cat "$FILE" && written tail -c 16M "$FILE"
}

messages()
{
	rds_load && barrier "messages.$1" && "$DIR/rds" "$(long 1000 100)"
}

all_use_verbs()
{
	for module in rpcrdma nvme_rdma ib_iser ib_srp rds_rdma; do
		kernel_uses "$module" || return 1
	done
}

controller_is() # state
{
	grep -q "$1" /sys/class/nvme/nvme*/state
}

# Until SRP and NVMe have lost their connections
cable_lost()
{
	cable_out && wait_for 60 controller_is connecting && srp_lost
}

back()
{
	cable_in && wait_for 60 controller_is live && wait_for 60 srp_is running && wait_for 60 session_is LOGGED_IN
}

# It may wait for ever for one of its threads, which lost the signal because it was about to sleep.
srp_finder_end()
{
	kill "$srp_finder"
	wait_for 10 over "$srp_finder" || kill -KILL "$srp_finder"
	wait_for 10 over "$srp_finder"
}

end()
{
	srp_finder_end && srp_logout && iser_logout && iser_client_end &&
		modprobe -r ib_srp && umount "$MNT" && nfs_daemons_end && nvme disconnect -n ohca && wait_for 20 no_nvme &&
		modprobe -r nvme-rdma
}

no_nvme()
{
	! nvme_disk 1
}

# Both targets have the same file.
serve_end()
{
	cd / && srp_target_end && rmdir "$SRP_FABRIC" && iser_serve_end && modprobe -r ib_srpt && nvme_serve_end &&
		nfs_serve_end
}

kernel_log_mark
ib_meet
if [ "$RANK" -eq 0 ]; then
	plan 8
else
	plan 17
fi
client_check "SRP: a daemon looks for targets" finder_start
server_check "serve SRP" serve_srp
client_check "SRP: the daemon finds it, and logs in" finder_finds
client_check "ibsrpdm" says "id_ext=.*,ioc_guid=.*,dgid=fe80000000000000$first_guid,pkey=ffff,service_id=" -- ibsrpdm -c -d /dev/infiniband/umad0
server_check "serve iSER, NVMe and NFS" serve
client_check "iSER: log in" logs_in
client_check "NVMe: connect" connects
client_check "NFS: mount" mounts
client_check "data" write_all
client_check "the client's bytes" read_all
server_check "the server's bytes" served_all
check "RDS: messages" messages 1
client_check "all of them use verbs" all_use_verbs
barrier protocols.used
client_check "the client's cable is out until connections are lost" cable_lost
client_check "the cable is in: they are made again" back
client_check "other data" write_all
client_check "the client's bytes" read_all
server_check "the server's bytes" served_all
check "RDS: messages again" messages 2
client_check "log out, disconnect, unmount" end
server_check "stop" serve_end
barrier protocols.end
check "the kernel log is clean" kernel_log_clean
finish
