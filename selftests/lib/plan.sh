# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The plan: which sets run. A set is one boot of machines with the scripts that run in it, a folder of tests that need
# no machine, or pyverbs on one kernel. These arrays describe it, by its name:
#   set_kind      machines, outside or pyverbs
#   set_kernel    of its machines
#   set_tests     the scripts, or the folder
#   set_vms, set_hcas
#   set_smp       processors of each machine
#   set_link      link layers of their adapters' ports: eth, ib, ib+eth and so on
#   set_group     sets of one group don't run at the same time
# $sets has the names. expected() uses the durations (durations.sh).

KERNELS=(6.12 7.2) # of "make check"; the last one is called the newest
KERNELS_FURTHER=(6.1 7.3) # supported, too: the lab installs them when they are asked for
KERNELS_ARM64=(arm64 arm64-16k arm64-64k) # of arm64 machines, as above; they are not in "make check-all"
sets=()
declare -A set_kind=() set_kernel=() set_tests=() set_vms=() set_hcas=() set_smp=() set_link=() set_group=()
declare -A plan_matched=()

# plan_add NAME KIND KERNEL VMS HCAS TEST...: adds a set.
plan_add() {
	sets+=("$1")
	plan_describe "$@"
}

# plan_describe NAME KIND KERNEL VMS HCAS TEST...
plan_describe() {
	local name=$1
	set_kind[$name]=$2 set_kernel[$name]=$3 set_vms[$name]=$4 set_hcas[$name]=$5
	shift 5
	set_tests[$name]="$*"
}

# plan_known KERNEL: whether it is a supported kernel, also of arm64 machines, or debug.
plan_known() {
	[[ " ${KERNELS[*]} ${KERNELS_FURTHER[*]} ${KERNELS_ARM64[*]} debug " = *" $1 "* ]]
}

# plan_further KERNEL: whether it is one of the further kernels.
plan_further() {
	[[ " ${KERNELS_FURTHER[*]} " = *" $1 "* ]]
}

# plan_selected NAME: whether one of the patterns matches; without patterns, all names are selected. Notes the
# patterns that match.
plan_selected() {
	local pattern result=1
	[ ${#patterns[@]} -gt 0 ] || return 0
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 = $pattern || ${1%.sh} = $pattern ]] || continue
		plan_matched[$pattern]=1
		result=0
	done
	return "$result"
}

# plan_unmatched: prints the first pattern that matches nothing, if there is one.
plan_unmatched() {
	local pattern
	for pattern in "${patterns[@]}"; do
		[ -z "${plan_matched[$pattern]-}" ] || continue
		echo "$pattern"
		return
	done
}

# plan_outside: prints the folders whose tests need no machine.
plan_outside() {
	local dir name
	for dir in selftests/*/; do
		dir=${dir%/} name=${dir#*/}
		name=${name%/}
		case $name in
		ohca | pyverbs | lib) continue ;;
		esac
		[ -e "$dir/Makefile" ] || [ -x "$dir/run.sh" ] || continue
		plan_selected "$name" || continue
		[ -n "$long" ] || [ ${#patterns[@]} -gt 0 ] || ! grep -qs '^# long: ' "$dir/run.sh" || continue
		plan_add "$name" outside '' 0 0 "$dir"
		case $name in
		ohcad | capture | watch) set_group[$name]=ohcad ;; # all build there
		lab) set_vms[$name]=2 ;;                   # it starts machines itself
		deb) set_vms[$name]=1 ;;
		esac
	done
}

# plan_header SCRIPT WHAT: prints the values of its lines "# WHAT: ...".
plan_header() {
	sed -n "s/^# $2: //p" "selftests/ohca/$1"
}

# plan_number SCRIPT WHAT: prints the number there; 1 without such a line.
plan_number() {
	local number
	number=$(plan_header "$1" "$2")
	echo "${number:-1}"
}

# plan_is_long KERNEL: whether tests run in their long form there. With --all, those on the debug kernel, which is many
# times slower, run in the short one.
plan_is_long() {
	[ -n "$long" ] && ! [[ $1 = debug && -n $everything ]]
}

# plan_links SCRIPT KERNEL: prints the link layers on which it runs: eth, ib, or pairs for adapters of two ports. Those after
# the word "long" are in the long form only.
plan_links() {
	local word when=''
	for word in $(plan_header "$1" link); do
		case $word in
		-) break ;;
		long) when=long ;;
		*) if [ -z "$when" ] || plan_is_long "$2"; then echo "$word"; fi ;;
		esac
	done | grep . || echo eth
}

# plan_debug LINE: whether a script with this line "# kernels:" runs on the debug kernel. In its short form, it has none of
# those that are not about the kernel, unless they are asked for.
plan_debug() {
	case $1 in
	newest\ debug*) ;;
	newest*) plan_is_long debug || [ ${#patterns[@]} -gt 0 ] ;;
	*) ;;
	esac
}

# plan_kernel SCRIPT KERNEL: whether it runs on that kernel. With --kernel, all scripts do, but for the debug kernel; with
# --all, all but on further kernels, and but those that are for the debug kernel only.
plan_kernel() {
	local which
	which=$(plan_header "$1" kernels)
	if [ "$2" = debug ]; then
		plan_debug "$which"
		return
	fi
	[ -z "$asked_kernels" ] || return 0
	case ${which%% *} in
	debug) false ;;
	newest) [ "$2" = "${KERNELS[-1]}" ] || { [ -n "$everything" ] && ! plan_further "$2"; } ;;
	*) ;;
	esac
}

# plan_long SCRIPT KERNEL: whether it runs in this form. One with a line "# long:" is not in the short form, unless it is
# asked for.
plan_long() {
	plan_is_long "$2" || [ ${#patterns[@]} -gt 0 ] || [ -z "$(plan_header "$1" long)" ]
}

# plan_smp KERNEL SCRIPT...: prints the number of processors of the machines for these scripts: the largest number
# that one of them needs. Emulated processors cost time even if they only wait for each other, so one is enough for
# most scripts. With --all there are two, but on the debug kernel, where scripts would take twice as long, only if one of
# them needs two.
plan_smp() {
	local kernel=$1 script number which rest most=1
	shift
	if [ -n "$everything" ] && [ "$kernel" != debug ]; then
		echo 2
		return
	fi
	for script; do
		read -r number which rest < <(plan_header "$script" smp)
		[ "$which" != newest ] || [ "$kernel" = "${KERNELS[-1]}" ] || [ "$kernel" = debug ] || continue
		[ "${number:-1}" -le "$most" ] || most=$number
	done
	echo "$most"
}

# plan_machines KERNEL: adds its boots. Scripts that need the same machines share a boot, unless they have a line "#
# boot:". The names of sets on InfiniBand end with ".ib".
plan_machines() {
	local kernel=$1 test key own vms hcas name link
	local -A boots=()
	for test in selftests/ohca/test_*.sh; do
		test=${test##*/}
		{ plan_kernel "$test" "$kernel" && plan_selected "$test" && plan_long "$test" "$kernel"; } || continue
		own=$(plan_header "$test" boot)
		[ "$own" != own ] || own=${test%.sh}
		for link in $(plan_links "$test" "$kernel"); do
			boots["$(plan_number "$test" vms) $(plan_number "$test" hcas) $link $own"]+=" $test"
		done
	done
	[ ${#boots[@]} -gt 0 ] || return 0
	while read -r key; do
		read -r vms hcas link own <<<"$key"
		name=$kernel.${own:-vms$vms}
		[ "$hcas" = 1 ] || [ -n "$own" ] || name+=.hcas$hcas
		[ "$link" = eth ] || name+=.$link
		[ -z "${set_kind[$name]-}" ] || name+=.vms$vms.hcas$hcas
		# shellcheck disable=SC2086 # a list
		plan_add "$name" machines "$kernel" "$vms" "$hcas" ${boots["$vms $hcas $link $own"]}
		# shellcheck disable=SC2086 # a list
		set_smp[$name]=$(plan_smp "$kernel" ${boots["$vms $hcas $link $own"]})
		set_link[$name]=$link
	done < <(printf '%s\n' "${!boots[@]}" | sort -k1,1n -k2,2n -k3)
}

# plan_make KERNEL...: adds everything that is selected.
plan_make() {
	local kernel
	if [ -z "$asked_kernels" ] || [ -n "$everything" ]; then
		plan_outside
	fi
	for kernel; do
		plan_machines "$kernel"
	done
	{ [ -n "$everything" ] && plan_selected pyverbs; } || return 0
	for kernel; do
		if [ "$kernel" = debug ] || plan_further "$kernel"; then
			continue
		fi
		plan_add "$kernel.pyverbs" pyverbs "$kernel" 1 1
		plan_add "$kernel.pyverbs.ib" pyverbs "$kernel" 1 1
		set_link[$kernel.pyverbs.ib]=ib
	done
}

# plan_kernels: prints the kernels of all sets, each once.
plan_kernels() {
	local name
	for name in "${sets[@]}"; do
		echo "${set_kernel[$name]}"
	done | sed '/^$/d' | sort -u
}

# plan_has KIND|NAME: whether there is a set of that kind or name.
plan_has() {
	[[ " ${sets[*]} ${set_kind[*]} " = *" $1 "* ]]
}

# plan_needs_stacks: whether any script needs the packages of tools/lab/packages.stacks.
plan_needs_stacks() {
	local name test
	for name in "${sets[@]}"; do
		[ "${set_kind[$name]}" = machines ] || continue
		for test in ${set_tests[$name]}; do
			! grep -q 'lib_stacks\.sh' "selftests/ohca/$test" || return 0
		done
	done
	return 1
}

# plan_memory NAME: prints the memory of its machines, in MiB.
plan_memory() {
	local each=1024
	[ "${set_kernel[$1]}" != debug ] || each=2048
	echo $((set_vms[$1] * each))
}

# plan_print: prints a line for each set.
plan_print() {
	local name
	for name in "${sets[@]}"; do
		echo "$name: ${set_tests[$name]:-all}"
	done
}
