#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# SMB Direct: the first machine is the server (ksmbd), the second one the client (cifs). Without checks of the DMA API
# and for leaks: SMB Direct of Linux 7.2 hands parts of a mapped page to the device as if each had been mapped, and does not free
# entries of its list of MRs.
# vms: 2
# kernels: debug - Debian's have no SMB Direct
# boot: dma
# append: dma_debug=off kmemleak=off
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ksmbd.mountd > /dev/null || skip_all "no ksmbd-tools"
. "$DIR/lib_load.sh"
. "$DIR/lib_smb.sh"
smb_has_direct || skip_all "the kernel has no SMB Direct (CONFIG_CIFS_SMB_DIRECT, CONFIG_SMB_SERVER_SMBDIRECT)"
PCI=$(pcidev)
LIST=/mnt/share/smb.sums # which both machines see

cleanup()
{
	load_cleanup
	umount -f -l "$SMB_MOUNT"
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
	smb_serve_end
	umount -l "$SMB_EXPORT"
} > /dev/null 2>&1
trap cleanup EXIT

# Small and large requests, with and without the cache
files()
{
	mkdir -p "$SMB_MOUNT/files" && timeout $((120 * slow)) fio --directory="$SMB_MOUNT/files" --ioengine=libaio --rw=randwrite --thread \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 \
		--name=small --bs=4k --size=512k --direct=1 --iodepth=16 \
		--name=large --bs=1m --size=6m --direct=1 --iodepth=4 \
		--name=cached --bs=64k --size=2m
}

store_sums()
{
	(cd "$SMB_MOUNT" && sync && sha256sum files/*) > "$LIST" && [ "$(wc -l < "$LIST")" -eq 3 ]
}

same_sums() # directory
{
	sync && echo 3 > /proc/sys/vm/drop_caches && (cd "$1" && sha256sum --quiet -c "$LIST")
}

load_begins()
{
	load_start "$SMB_MOUNT/load" --bs=64k --size="$(long 4m 1m)" --direct=1 --iodepth=8
}

# The device of one side is removed under load, and the load goes on when it is back.
unplug() # that side's check, name
{
	"$1" "$2: function removed under load" pci_remove
	"$1" "$2: function found again" pci_rescan
	"$1" "$2: its port is active" again
	client_check "$2: the load goes on" load_goes_on
	client_check "$2: by SMB Direct" smb_is_direct
}

if [ "$RANK" -eq 0 ]; then
	plan 8
else
	plan 17
fi
kernel_log_mark
barrier smb
server_check "serve" smb_serve
client_check "mount" smb_mount
client_check "queue pairs are there" kernel_qps 1
client_check "files" files
client_check "the client's bytes" store_sums
server_check "the server's bytes" same_sums "$SMB_EXPORT"
client_check "load" load_begins
unplug client_check client
unplug server_check server
client_check "nothing was lost" load_stop
client_check "the files are there" same_sums "$SMB_MOUNT"
client_check "umount" umount "$SMB_MOUNT"
server_check "stop" smb_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
