# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# iSER and SRP at the same time, with a disk each and a load on each disk: the first machine is the target, the second
# one the initiator. A script sources this file after lib_faults.sh, lib_load.sh, lib_recover.sh, lib_scsi.sh,
# lib_iser.sh and lib_srp.sh.

scsi_pair_needs()
{
	need_machines 2
	need_device
	command -v iscsid > /dev/null || skip_all "no open-iscsi"
	modinfo ib_srp ib_srpt > /dev/null 2>&1 || skip_all "no SRP"
	command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
}

scsi_pair_cleanup()
{
	faults_end
	load_cleanup
} > /dev/null 2>&1

serve_both()
{
	iser_serve && srp_serve
}

clients()
{
	iser_client && srp_client
}

# From then on, disk() is SRP's disk.
iser_comes()
{
	iser_login && iser_disk=$(disk) && disk_but=$iser_disk
}

# Both disks are the same file: there is a load in each half of it.
iser_load() # load_start, load_begin
{
	"$1" "$iser_disk" --direct=1 --bs=64k --size=1m --iodepth=16
}

srp_load()
{
	second load_start "$(disk)" --direct=1 --bs=64k --size=1m --offset=16m --iodepth=16
}

# Checks: 1 in the first machine, 5 in the second one
scsi_pair_begin()
{
	server_check "serve" serve_both
	client_check "clients" clients
	client_check "iSER: log in" iser_comes
	client_check "SRP: log in" srp_login
	client_check "iSER: load" iser_load load_start
	client_check "SRP: load" srp_load
}

same_bytes()
{
	[ "$(dd if="$iser_disk" bs=1M iflag=direct | sha256sum)" = "$(cat "$SUM")" ]
}

# Checks: 2 in the first machine, 6 in the second one
scsi_pair_end()
{
	client_check "iSER: nothing was lost" load_stop
	client_check "SRP: nothing was lost" second load_stop
	client_check "SRP: checksum" write_sum
	client_check "iSER: the same" same_bytes
	server_check "the bytes are the server's" compare
	client_check "SRP: log out" srp_logout
	check "the kernel log is clean" kernel_log_clean
}
