# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A bad network between machines, by commands to ohcad. A script that sources this file sources lib.sh, lib_load.sh
# and lib_recover.sh as well.

fault()
{
	ohcactl fault "$@"
}

# The rules were applied to packets.
hits()
{
	fault show
	ohcactl -j fault show | grep -q '"hits":[1-9]'
}

# All RDMA packets from and to this machine
silent()
{
	fault add "drop,hca=$OHCA_HCA" && fault add "drop,hca=$OHCA_HCA,dir=rx"
}

cable_out()
{
	ohcactl link "$OHCA_HCA" down && wait_for 20 port_is PORT_DOWN
}

cable_in()
{
	ohcactl link "$OHCA_HCA" up && wait_for 20 port_is PORT_ACTIVE
}

# Unplugs the cable and plugs it in again, a few times.
flaps()
{
	for n in 1 2; do
		cable_out && cable_in || return 1
	done
}

# Checks of the network for both loads of lib_load.sh
bad_network()
{
	client_check "loss: one packet in a hundred" fault add drop,p=1%
	client_check "loss: the loads go on" loads_go_on
	client_check "loss: packets were lost" hits
	client_check "loss: no longer" fault clear
	server_check "flaps: the server's cable" flaps
	client_check "flaps: the client's cable" flaps
	client_check "flaps: the loads go on" loads_go_on
}

# Everything works as before.
faults_end()
{
	fault clear
	ohcactl link "$OHCA_HCA" up
}
