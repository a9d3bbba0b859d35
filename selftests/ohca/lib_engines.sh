# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# opensm's routing engines: a manager with one of them, and whether all nodes reach each other by its tables.  A script sources
# this file after lib.sh and lib_ib.sh.

ENGINE_CONF=/run/opensm.conf

# A manager with these options, whose log has each line at once, has looked at all of the subnet.
manager() # options
{
	echo "force_log_flush TRUE" > "$ENGINE_CONF"
	manager_kill TERM && manager_log_mark && manager_start -F "$ENGINE_CONF" "$@" && wait_for 120 subnet_up && wait_for 30 manager_is_master
}

# Since the mark
subnet_up()
{
	manager_log | grep "SUBNET UP"
}

# It has not taken another engine instead.
engine_is() # name
{
	routed=$(manager_log | sed -n 's/.*ucast_mgr_process: \([-A-Za-z0-9]*\) tables configured on all switches.*/\1/p' | tail -n 1)
	echo "engine: $routed"
	[ "$routed" = "$1" ]
}

# The manager has found nothing wrong since the mark.  Linux refuses its second answer to a request or a trap that came twice while
# it was busy: ERR 5430, and then 4C04 or 3E03.  Until its first sweep has ended, it does not know who sends a trap (ERR 7504 and
# 3809), such as its own port, which has just become that of a manager.
manager_log_clean()
{
	! manager_log | sed -E '1,/SUBNET UP/{/ERR (7504|3809): /d}' | grep -vE "ERR (5430|4C04|3E03): " | grep -E " ERR |Errors during"
}

# From each of so many ports with a LID, the tables lead to all others.
routes_whole() # ports
{
	ohca-host ohcactl show routes > /run/routes || { cat /run/routes; return 1; }
	awk -v ports="$1" '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				column[tolower($i)] = i
			next
		}
		$column["wrong"] != 0 || $column["routes"] != ports - 1 { print; bad++ }
		END {
			print NR - 1 " ports of " ports ", " bad + 0 " with wrong routes"
			exit bad || NR - 1 != ports
		}' /run/routes
}

# engine_check NAME PORTS OPTION...: four lines
engine_check()
{
	engine=$1 engine_ports=$2
	shift 2
	first_check "opensm -R $engine" manager -R "$engine" "$@"
	first_check "$engine: its tables are in the switches" engine_is "$engine"
	first_check "$engine: nobody is out of reach" routes_whole "$engine_ports"
	first_check "$engine: no error" manager_log_clean
}
