#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A fat tree of 1,000 HCAs and 320 switches: opensm brings it up, nobody is out of reach, tools show the same as about ibsim's
# subnet of the same file, and how long the sweeps of both take.
# link: ib
# long: sweeps of a thousand nodes take seconds, those of the simulator half a minute
# kernels: newest - the kernel only passes the tools' datagrams on
# boot: thousand
# topology: ohca-topology --hcas 1000 fat-tree 16 3
. "$(dirname "$0")/lib.sh"
need_device
need_ib
. "$DIR/lib_ib.sh"
. "$DIR/lib_engines.sh"
. "$DIR/lib_sim.sh"
PORTS=1320 # with a LID
CABLES=3048
SAMPLE="1:1000 2:600 7:1320 77:1001 333:2 500:501 640:1 999:1200 1111:40 1320:700"
trap sim_end EXIT

SUMMARY='/Summary/!d'
# Of multicast packets: those for a group without another member, and those that the tables of an earlier manager, which the next
# one has not cleared, let pass a cable again
MCAST=PortRcvSwitchRelayErrors,PortXmitDiscards

all_active()
{
	ohca-host ohcactl show cables > /run/cables && grep -c " Active " /run/cables && [ "$(grep -c " Active " /run/cables)" -eq "$CABLES" ]
}

# seconds COMMAND...: until the command has ended; sets $seconds.
seconds()
{
	read -r began _ < /proc/uptime
	"$@" || return 1
	read -r ended _ < /proc/uptime
	seconds=$(echo "$began $ended" | awk '{ printf "%.1f", $2 - $1 }')
}

# What the last line says
note() # text
{
	diag "$1" >&3
}

ups() # log
{
	grep -c "SUBNET UP" "$1"
}

swept() # log, number
{
	[ "$(ups "$1")" -ge "$2" ]
}

# A sweep of the manager with that process and log
sweep()
{
	kill -HUP "$1" && wait_for 120 swept "$2" $(($(ups "$2") + 1))
}

first()
{
	manager_log_mark && manager_start -F "$ENGINE_CONF" && wait_for 120 subnet_up
}

first_sweep()
{
	echo "force_log_flush TRUE" > "$ENGINE_CONF"
	manager_kill TERM && seconds first && note "first sweep: $seconds s"
}

sim_first()
{
	sim_manage -F "$ENGINE_CONF" && wait_for 120 swept "$SIM/opensm/log" 1
}

sim_first_sweep()
{
	seconds sim_first && note "first sweep, simulated: $seconds s"
}

# In turn, as other work of the host takes a different part of its time
more_sweeps()
{
	read -r pid < /run/opensm.pid
	for turn in 1 2 3; do
		seconds sweep "$pid" "$MANAGER_LOG" || return 1
		ours=$seconds
		seconds sweep "$sim_manager" "$SIM/opensm/log" || return 1
		note "sweep $turn: $ours s, simulated: $seconds s"
	done
}

# ibtracert for each pair of the sample
traces()
{
	# shellcheck disable=SC2016,SC2086 # the shell's that is simulated; words
	same "$NAMES" sh -c 'for pair; do ibtracert "${pair%:*}" "${pair#*:}" || exit 1; done' sh $SAMPLE
}

# Tables of four switches
tables()
{
	switches=$(ohca-host ohcactl show topology | awk '$2 == "switch" && num++ % 80 == 0 { print $4 }')
	# shellcheck disable=SC2016,SC2086 # the same
	same "$NAMES" sh -c 'for switch; do ibroute "$switch" || exit 1; done' sh $switches
}

exec 3>&1
kernel_log_mark
sim_need
peer_lid=1000
plan 16
check "every port is active" all_active
check "nobody is out of reach" routes_whole "$PORTS"
check "a manager that begins anew" first_sweep
check "simulated subnet" sim_run /mnt/lab/topology node0
check "its manager" sim_first_sweep
check "more sweeps" more_sweeps
check "nobody is out of reach after them" routes_whole "$PORTS"
check "no error" manager_log_clean
same_check "$DISCOVERED" ibnetdiscover
same_check "$COULD" iblinkinfo
check "the same: ibroute" tables
check "the same: ibtracert" traces
check "counters are cleared" errors_cleared
check "those of the simulated ports, too" simulated_errors_cleared
same_check "$SUMMARY" ibqueryerrors -s "$MCAST"
check "the kernel log is clean" kernel_log_clean
finish
