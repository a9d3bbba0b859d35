#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Path migration between two machines whose ports have two LIDs each: opensm begins anew with LMC 1.
# vms: 2
# link: ib
# kernels: all - attributes and events pass through the kernel
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
ohca-host ohcactl version > /dev/null 2>&1 || skip_all "no ohcactl"
. "$DIR/lib_ib.sh"

why=$(manager_two_lids) || bail "$why"
leave_nothing "$DIR/path_mig" -2
