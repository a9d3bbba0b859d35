# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Repeats: scripts that failed in machines run once more, as a set "SET.again" in a boot of its own. If they pass
# then, their failures do not count, and are listed as unsteady. A boot that did not complete (a dead machine, a hang), or
# in which a kernel or ohcad reported something, is not repeated, and only a few scripts of a kernel are.

REPEATS=3 # maximum number of repeated scripts for one kernel
declare -A repeats_left=() set_again=()

# repeat_plan SET: whether to run SET.again, which is then added to the sets.
repeat_plan() {
	local again=$1.again left scripts
	left=${repeats_left[${set_kernel[$1]:-none}]-$REPEATS}
	[ "${set_kind[$1]}" = machines ] && [[ $1 != *.again ]] && [ -s "$work/$1/failed" ] && [ ! -s "$results/$1/found" ] || return 1
	mapfile -t scripts < <(cut -d ' ' -f 1 "$work/$1/failed" | sort -u)
	[ ${#scripts[@]} -le "$left" ] && [[ " ${scripts[*]} " != *" - "* ]] || return 1
	repeats_left[${set_kernel[$1]}]=$((left - ${#scripts[@]}))
	plan_describe "$again" machines "${set_kernel[$1]}" "${set_vms[$1]}" "${set_hcas[$1]}" "${scripts[@]}"
	# shellcheck disable=SC2004 # not an arithmetic index
	set_smp[$again]=${set_smp[$1]}
	# shellcheck disable=SC2004 # not an arithmetic index
	set_link[$again]=${set_link[$1]}
	set_again[$1]=$again
}
