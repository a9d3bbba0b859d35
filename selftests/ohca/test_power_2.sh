#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A machine is turned off, reboots, and executes another kernel (kexec), each under traffic: its adapter is reset, its peer
# gets errors, and afterwards both work as before.
# vms: 2
# kernels: all - the driver initializes an adapter after a reset
# boot: own
# disk: 64M
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
[ -b "${OHCA_DISK:-}" ] || skip_all "no disk"
. "$DIR/lib_pair.sh"
. "$DIR/lib_power.sh"
COUNTERS=/sys/class/infiniband/$DEV/ports/1/hw_counters
DISK=/run/disk
PORT=19100

holder=
client=
cleanup()
{
	[ -z "$holder" ] || kill "$holder"
	[ -z "$client" ] || kill "$client"
	pair_cleanup
	kverbs_unload
	umount "$DISK"
} > /dev/null 2>&1
trap cleanup EXIT

# A file, and its checksum
file_new() # name
{
	head -c 1000000 /dev/urandom > "$DISK/$1" && (cd "$DISK" && sha256sum "$1") > "$DISK/$1.sum"
}

file_synced()
{
	file_new synced && sync "$DISK/synced" "$DISK/synced.sum"
}

file_good() # name
{
	(cd "$DISK" && sha256sum -c "$1.sum")
}

# The server can be found, and the client waits for it.
server()
{
	ib_write_bw -d "$DEV" -x "$GID" -F -s 65536 --run_infinitely -p "$PORT" > /dev/null 2>&1 &
	wait_for 60 tcp_listening "$PORT"
}

counter_passes() # name, value
{
	[ "$(cat "$COUNTERS/$1")" -gt "$2" ]
}

client()
{
	client_before=$(cat "$COUNTERS/tx_packets")
	timeout $((120 * slow)) ib_write_bw -d "$DEV" -x "$GID" -F -s 65536 --run_infinitely -p "$PORT" "$OHCA_PEER" > "$pair_log" 2>&1 &
	client=$!
	wait_for 60 counter_passes tx_packets $((client_before + 1000)) || { cat "$pair_log"; return 1; }
}

# The state of node0's adapter in ohcad
adapter_is() # words of JSON
{
	ohca-host ohcactl -j show hcas | tr '{' '\n' | grep '"name":"hca0"' | grep "$1"
}

adapter_qps()
{
	ohca-host ohcactl -j show qps hca0
}

adapter_serves()
{
	adapter_is '"connected":true,"state":"ready"' && adapter_qps | grep '"type":"RC","state":"RT[RS]"'
}

adapter_empty()
{
	adapter_is '"connected":false,"state":"reset"' && adapter_qps | grep '"qps":\[\]'
}

# IBV_WC_RETRY_EXC_ERR: there is no answer
client_failed()
{
	! wait "$client" && grep "Failed status 12" "$pair_log"
}

# The machine's own kernel is loaded, to be executed by this one.
kernel_loaded()
{
	ohca-host kernel && kexec -l /mnt/lab/kernel --initrd=/mnt/lab/initrd --reuse-cmdline && rm /mnt/lab/kernel /mnt/lab/initrd
}

consumers()
{
	if [ -e "$KVERBS" ]; then
		check "consumers in the kernel" kverbs_load hold=live
	else
		skip "consumers in the kernel" "no test module for this kernel"
	fi
}

# The first kernel has stopped the adapter, and the next one does not yet use it.
adapter_quiet()
{
	adapter_is '"connected":true,"state":"reset"' && adapter_qps | grep '"qps":\[\]'
}

off_is_off()
{
	! ohca-host off 0 && ! ohca-host reset 0
}

both_ways() # number of the first pair, the same in both machines
{
	pair_number=$1
	perf ib_read_bw 65536 200 && perf ib_send_bw 4096 200
}

if [ "$RANK" -eq 0 ]; then
	power_plan 21
else
	power_plan 16
fi
kernel_log_mark
case $RANK.$BOOT in
0.0)
	check "disk" disk_new "$DISK"
	check "a file is written" file_synced
	check "server" server
	power_end power.serves
	;;
0.1)
	check "power is back: disk" disk_mount "$DISK"
	check "power is back: the file is there" file_good synced
	barrier power.back
	check "power is back: data" both_ways 10
	check "another file is written" file_new other
	check "power is back: the kernel log is clean" kernel_log_clean
	check "traffic" holder_start 20
	power_reboot
	;;
0.2)
	check "rebooted: disk" disk_mount "$DISK"
	check "rebooted: the file is there" file_good other
	barrier power.rebooted
	check "rebooted: data" both_ways 20
	check "rebooted: the kernel log is clean" kernel_log_clean
	check "a kernel is loaded" kernel_loaded
	consumers
	check "server again" server
	barrier power.serves_again
	barrier power.flows
	power_kexec
	;;
0.3)
	check "another kernel: disk" disk_mount "$DISK"
	check "another kernel: the file is there" file_good other
	barrier power.kexec
	check "another kernel: data" both_ways 30
	;;
1.0)
	barrier power.serves
	check "client" client
	check "the server's adapter has queue pairs" adapter_serves
	check "the server's power is cut" ohca-host off 0
	check "its adapter has forgotten all" adapter_empty
	check "the client gets the error of a peer that is gone" client_failed
	client=
	check "what is off can't be turned off" off_is_off
	check "power is given back" ohca-host on 0
	barrier power.back
	check "power is back: data" both_ways 10
	barrier power.rebooted
	check "rebooted: data" both_ways 20
	barrier power.serves_again
	check "client again" client
	check "the server's adapter has queue pairs again" adapter_serves
	barrier power.flows
	check "before the other kernel uses it, the server's adapter is quiet" wait_for 60 adapter_quiet
	check "the client gets the error again" client_failed
	client=
	barrier power.kexec
	check "another kernel: data" both_ways 30
	;;
esac
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
