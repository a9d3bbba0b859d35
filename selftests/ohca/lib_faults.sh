# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A bad network between machines, as ohcad is told.  A script sources this file after lib.sh and lib_recover.sh, which it
# needs.

fault()
{
	ohcactl fault "$@"
}

# Packets met with the rules.
hits()
{
	fault show
	ohcactl -j fault show | grep -q '"hits":[1-9]'
}

# Of all that is RDMA, from and to this machine
silent()
{
	fault add "drop,hca=$OHCA_HCA" && fault add "drop,hca=$OHCA_HCA,dir=rx"
}

# The cable is out and in again, a few times.
flaps()
{
	for n in 1 2; do
		ohcactl link "$OHCA_HCA" down && wait_for 20 port_is PORT_DOWN && ohcactl link "$OHCA_HCA" up &&
			wait_for 20 port_is PORT_ACTIVE || return 1
	done
}

# All is as it should be again.
faults_end()
{
	fault clear
	ohcactl link "$OHCA_HCA" up
}
