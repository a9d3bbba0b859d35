# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The command line of "run", "shell" and "up": parsed outside the root (to report errors early) and again
# inside it, from the same arguments.

# options_parse ARGUMENT...: sets opt_* and the arrays opt_faults, opt_packages, opt_qemu and opt_command.
options_parse() {
	local value
	opt_vms=1 opt_hcas=1 opt_kernel='' opt_smp=1 opt_mem=1024 opt_device=ohca opt_share=''
	opt_timeout=300 opt_append='' opt_mtu=${OHCA_MTU:-9000} opt_accel=${OHCA_ACCEL:-} opt_sanitize=''
	opt_faults=() opt_packages=() opt_qemu=() opt_gdb='' opt_console='' opt_pcap='' opt_disk=''
	opt_results='' opt_verbose='' opt_no_snapshot='' opt_link=eth opt_sm='' opt_ohcads=1
	opt_uplinks=() opt_first=0 opt_grace=10
	opt_speed='' opt_width='' opt_pace='' opt_rate='' opt_topology=''
	opt_command=() opt_lab='' opt_given=''
	# Machines that stay have no time by default.
	[ "$verb" != up ] || opt_timeout=''
	while [ $# -gt 0 ]; do
		case $1 in
		--)
			shift
			opt_command=("$@")
			break
			;;
		--sanitize)
			opt_sanitize=1
			shift
			;;
		-v | --verbose)
			opt_verbose=1
			shift
			;;
		--no-snapshot)
			opt_no_snapshot=1
			shift
			;;
		--gdb)
			[ "$verb" = up ] || die_usage "--gdb is for machines that stay, see 'ohca-lab up --help'"
			opt_gdb=1
			shift
			;;
		--console)
			opt_console=1
			shift
			;;
		[!-]*)
			[ "$verb" = up ] || die_usage "unknown option or missing '--' before the command: $1"
			[ -z "$opt_lab" ] || die_usage "up takes the name of one lab, but there are '$opt_lab' and '$1'"
			opt_lab=$1
			shift
			;;
		--*=*)
			value=${1#*=}
			options_set "${1%%=*}" "$value"
			shift
			;;
		*)
			options_set "${@:1:2}"
			shift 2
			;;
		esac
	done
	options_check
}

# options_set OPTION [VALUE]: parses an option with a value.
options_set() {
	case $1 in
	--vms | --hcas | --kernel | --smp | --mem | --device | --disk | --share | --timeout | --grace | --append | --mtu | --accel | \
		--pcap | --results | --fault | --package | --link | --speed | --width | --pace | --sm | --ohcads | --topology | --qemu-arg | \
		--uplink | --first) ;;
	*) die_usage "unknown option or missing '--' before the command: $1" ;;
	esac
	if [ $# -lt 2 ] || { [[ $2 = --* ]] && [ "$1" != --append ] && [ "$1" != --qemu-arg ]; }; then
		die_usage "$1 needs a value"
	fi
	[ "$1" != --grace ] || [ "$verb" = run ] || die_usage "--grace is for run"
	opt_given+="$1 "
	case $1 in
	--fault) opt_faults+=("$2") ;;
	--package) opt_packages+=("$2") ;;
	--uplink) opt_uplinks+=("$2") ;;
	--qemu-arg) opt_qemu+=("$2") ;;
	*) declare -g "opt_${1#--}=$2" ;;
	esac
	case $1 in
	--share | --results | --pcap | --topology | --qemu-arg)
		[ -n "$2" ] || die_usage "$1 needs a value"
		;;
	esac
}

options_check() {
	local pair range
	for pair in vms:1:250 hcas:1:8 ohcads:1:16 smp:1:64 mem:256:65536 timeout:1:86400 grace:0:86400 mtu:1280:9000 first:0:249; do
		[ "$pair" != timeout:1:86400 ] || [ -n "$opt_timeout" ] || [ "$verb" != up ] || continue
		range=${pair#*:}
		options_number "${pair%%:*}" "${range%:*}" "${range#*:}"
	done
	case $opt_accel in
	'' | tcg) ;;
	kvm)
		[[ $opt_kernel != arm64* ]] || die_usage "--accel kvm: machines of --kernel $opt_kernel are emulated"
		options_kvm
		;;
	*) die_usage "--accel is tcg or kvm, not '$opt_accel'" ;;
	esac
	[[ $opt_disk =~ ^([1-9][0-9]{0,5}[MGT])?$ ]] || die_usage "--disk takes a size such as 64M or 2G, not '$opt_disk'"
	options_devices
	options_link
	[ "$opt_hcas" = 1 ] || options_have ohca || die_usage "--hcas $opt_hcas needs a machine with an OHCA"
	# The default may be $OHCA_MTU, which is for all runs.
	[[ $opt_given != *"--mtu "* ]] || options_ethernet || die_usage "--mtu needs an Ethernet, see --link and --device"
	[ "$opt_ohcads" = 1 ] || options_ohcads
	[ $((10#$opt_first + 10#$opt_vms)) -le 250 ] || die_usage "--first $opt_first: there are 250 addresses for --vms $opt_vms"
	[ ${#opt_uplinks[@]} = 0 ] || options_have ohca || die_usage "--uplink needs a machine with an OHCA"
	[ ${#opt_faults[@]} = 0 ] || options_have ohca || die_usage "--fault needs a machine with an OHCA"
	[ ${#opt_packages[@]} = 0 ] || package_option="--package: " package_names_check "${opt_packages[@]}"
	[ -z "$opt_pcap" ] || options_pcap
}

# Ends the program with a message if KVM can't be used. Without the processor's flag, /dev/kvm may exist and hang.
options_kvm() {
	grep -qwE 'vmx|svm' /proc/cpuinfo || die_usage "--accel kvm: this host's processor does not offer virtualisation"
	[ -c /dev/kvm ] || die_usage "--accel kvm: this host has no /dev/kvm"
	{ : <>/dev/kvm; } 2>/dev/null || die_usage "--accel kvm: this user may not open /dev/kvm"
}

options_pcap() {
	options_have ohca || die_usage "--pcap needs a machine with an OHCA"
	[[ $opt_pcap =~ ^[^,]+(,snaplen=[0-9]+|,limit=[0-9]+[kMG]?)*$ ]] ||
		die_usage "--pcap takes FILE, FILE,snaplen=BYTES or FILE,limit=SIZE such as 64k, 100M or 2G, not '$opt_pcap'"
}

# Several processes of ohcad: each has an adapter. What is for one of them, or joins all machines with others, is refused.
options_ohcads() {
	local rank
	local -A has=()
	for rank in "${!opt_devices[@]}"; do
		! options_has "$rank" ohca || has[$((rank % opt_ohcads))]=1
	done
	[ ${#has[@]} = "$opt_ohcads" ] || die_usage "--ohcads $opt_ohcads needs as many machines with an OHCA"
	! options_only ohca || ! options_only rxe || die_usage "--ohcads: a machine with rxe only is not joined to several"
	! options_on eth || ! options_on ib || die_usage "--ohcads: uplinks are of one link layer, see --link"
	[ ${#opt_faults[@]} = 0 ] || die_usage "--fault is for one ohcad, see --ohcads"
	[ -z "$opt_pcap" ] || die_usage "--pcap is for one ohcad, see --ohcads"
	[ ${#opt_uplinks[@]} = 0 ] || die_usage "--uplink is for one ohcad, see --ohcads"
	[ -z "$opt_topology" ] || die_usage "--topology is for one ohcad, see --ohcads"
}

# options_number NAME MIN MAX
options_number() {
	local name=opt_$1
	local value=${!name}
	[[ $value =~ ^[0-9]+$ ]] || die_usage "--$1 takes a number from $2 to $3, not '$value'"
	if [ ${#value} -gt 9 ] || ((10#$value < $2 || 10#$value > $3)); then
		die_usage "--$1 takes a number from $2 to $3, not $value"
	fi
	declare -g "$name=$((10#$value))"
}

# Stores the device of each machine in the array opt_devices; the last one named is for the rest.
options_devices() {
	local i list
	IFS=, read -ra list <<<"$opt_device"
	[ ${#list[@]} -gt 0 ] || die_usage "--device is ohca, rxe, ohca+rxe or none"
	[ ${#list[@]} -le "$opt_vms" ] || die_usage "--device names more devices than --vms machines"
	opt_devices=()
	for ((i = 0; i < opt_vms; i++)); do
		opt_devices+=("${list[i]:-${list[-1]}}")
		case ${opt_devices[i]} in
		ohca | rxe | ohca+rxe | none) ;;
		*) die_usage "--device is ohca, rxe, ohca+rxe or none, not '${opt_devices[i]}'" ;;
		esac
	done
}

# Stores the link layers of each adapter of a machine in the array opt_links: one of its port, or two joined by a plus. The last
# one named is for the rest. Checks what is for InfiniBand only.
options_link() {
	local i list option
	IFS=, read -ra list <<<"$opt_link"
	[ ${#list[@]} -gt 0 ] || die_usage "--link is ib or eth"
	[ ${#list[@]} -le "$opt_hcas" ] || die_usage "--link names more adapters than --hcas"
	opt_links=()
	for ((i = 0; i < opt_hcas; i++)); do
		opt_links+=("${list[i]:-${list[-1]}}")
		[[ ${opt_links[i]} =~ ^(eth|ib)([+](eth|ib))?$ ]] ||
			die_usage "--link is ib or eth, or two of them such as ib+eth, not '${opt_links[i]}'"
	done
	opt_sms=()
	if options_on ib; then
		options_have ohca || die_usage "--link ib needs a machine with an OHCA"
		! options_only rxe || die_usage "--link ib: a machine with rxe only is on no InfiniBand"
		options_speed
		options_sm
		return
	fi
	for i in sm speed width pace topology; do
		option=opt_$i
		[ -z "${!option}" ] || die_usage "--$i needs --link ib"
	done
}

# options_on LINK: whether any port is on that link layer.
options_on() {
	[[ " ${opt_links[*]//+/ } " = *" $1 "* ]]
}

# options_ethernet: whether any machine is on an Ethernet; soft-RoCE always is.
options_ethernet() {
	options_have rxe || { options_have ohca && options_on eth; }
}

# Checks what the links are like. Sets $opt_rate to the rate of the broadcast group of IPoIB, in OpenSM's numbers, if links are
# slower than its default of 10 Gb/s: a port can't join a group that is faster than its link.
options_speed() {
	[ -z "$opt_topology" ] || [ -z "$opt_speed$opt_width" ] || die_usage "--speed and --width are those of --topology"
	case $opt_speed in
	'' | SDR | DDR | QDR | FDR | EDR | HDR | NDR) ;;
	*) die_usage "--speed is SDR, DDR, QDR, FDR, EDR, HDR or NDR, not '$opt_speed'" ;;
	esac
	case $opt_width in
	'' | 1 | 2 | 4 | 8 | 12) ;;
	*) die_usage "--width is 1, 2, 4, 8 or 12, not '$opt_width'" ;;
	esac
	case $opt_pace in
	'' | on | off) ;;
	*) die_usage "--pace is on or off, not '$opt_pace'" ;;
	esac
	case $opt_speed/$opt_width in
	SDR/1) opt_rate=2 ;;
	SDR/2 | DDR/1) opt_rate=5 ;;
	esac
}

# Sets the array opt_sms, which has an entry for each machine that runs a subnet manager; by default this is the first one with
# an adapter.
options_sm() {
	local rank
	case $opt_sm in
	none) return ;;
	'' | all) ;;
	*)
		[[ $opt_sm =~ ^(0|[1-9][0-9]{0,2})$ && $opt_sm -lt $opt_vms ]] ||
			die_usage "--sm takes the number of a machine, none or all, not '$opt_sm'"
		options_has "$opt_sm" ohca || die_usage "--sm: node$opt_sm has no OHCA"
		opt_sms[opt_sm]=1
		return
		;;
	esac
	for ((rank = 0; rank < opt_vms; rank++)); do
		options_has "$rank" ohca || continue
		opt_sms[rank]=1
		[ "$opt_sm" = all ] || return 0
	done
}

# options_has RANK DEVICE: whether that machine has this device, ohca or rxe.
options_has() {
	[[ +${opt_devices[$1]}+ = *+$2+* ]]
}

# options_have DEVICE: whether any machine has this device.
options_have() {
	local rank
	for rank in "${!opt_devices[@]}"; do
		! options_has "$rank" "$1" || return 0
	done
	return 1
}

# options_only DEVICE: whether any machine has only this device.
options_only() {
	[[ " ${opt_devices[*]} " = *" $1 "* ]]
}
