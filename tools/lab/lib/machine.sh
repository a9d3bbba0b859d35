# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A machine: a QEMU process, or several one after the other. Runs inside the root.
#
# $RUN/nodeN.log      its kernel log (virtio console, which unlike a UART is not slow) of all boots
# $RUN/nodeN.keys     its kernel console's input: a FIFO
# $RUN/nodeN.out      its command's output: a FIFO
# $RUN/nodeN.identity its identity, which it reads: a FIFO
# $RUN/nodeN.status   "ready", "ports MS" once its ports are active, "start" once its command has begun, "exit STATUS" once it
#                     has ended
# $RUN/nodeN.qmp.*    FIFOs of QEMU's machine protocol (see qmp.sh)
# $RUN/nodeN.qemu     QEMU's own messages
# $MACHINE_DISKS/nodeN its disk
# $RUN/nodeN.ssh      see stay.sh
# $RUN/nodeN.gdb      with --gdb: socket of QEMU's server for a debugger
#
# machine_power[N]    on; off; leaving, if it is on and its end is followed by a reboot; or asleep, if its end is followed by
#                     its awakening from the disk
# machine_boots[N]    how often it has been booted
# machine_began[N]    when it was booted last, in microseconds
# machine_kind[N]     booted or restored
# machine_snapshot[N] the snapshot that its QEMU was started with, or nothing

# Root ports: eight adapters, soft-RoCE, a disk, the interface for SSH.
MACHINE_PORTS=11
# In memory, also if $RUN is not
MACHINE_DISKS=/run/disks

# machine_accel: prints tcg, unless the processor has virtualization and /dev/kvm works: a nested hypervisor without
# these flags may have a /dev/kvm that hangs.
machine_accel() {
	if [ -n "$opt_accel" ]; then
		echo "$opt_accel"
	elif [ "$arch_name" != amd64 ]; then
		echo tcg
	elif grep -qwE 'vmx|svm' /proc/cpuinfo && [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
		echo kvm
	else
		echo tcg
	fi
}

# machine_clock: sets $CLOCK_KHZ to the frequency of the machines' clock, which without KVM is the host's time stamp
# counter. A machine would calibrate it by a timer, which is late on a busy host, and then all its clocks would be
# wrong. It is measured once for each boot of the host. The clock of an arm64 machine has a register with its frequency.
machine_clock() {
	local boot known='' lock
	CLOCK_KHZ=''
	[ "$ACCEL" = tcg ] && [ "$arch_name" = amd64 ] || return 0
	boot=$(</proc/sys/kernel/random/boot_id)
	read -r known CLOCK_KHZ 2>/dev/null <"$BUILD/clock" || :
	[ "$known" != "$boot" ] || return 0
	# Another machine that starts may measure it meanwhile.
	exec {lock}>"$BUILD/clock.lock"
	flock "$lock"
	read -r known CLOCK_KHZ 2>/dev/null <"$BUILD/clock" || :
	if [ "$known" != "$boot" ]; then
		CLOCK_KHZ=$("$BUILD/tsc_khz")
		echo "$boot $CLOCK_KHZ" >"$BUILD/clock.new"
		mv "$BUILD/clock.new" "$BUILD/clock"
	fi
	exec {lock}>&-
}

# machine_append KHZ: prints the kernel command line, the same for all machines.
machine_append() {
	local line="console=hvc0 panic=-1 oops=panic loglevel=7 printk.devkmsg=on sysrq_always_enabled=1"
	# These machines need no mitigations, security modules or pressure accounting. Without security modules and
	# pressure accounting, a switch of tasks takes a fifth less time, and opening a file a third less.
	line+=" mitigations=off cryptomgr.notests nokaslr audit=0 lsm= psi=0"
	# Machines share processors with each other, so a processor that is late is not a lockup.
	line+=" watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
	case $arch_name in
	amd64) line+=" tsc=reliable no_timer_check" ;;
	# There is no firmware that leaves room behind root ports for an adapter that is plugged in later.
	arm64) line+=" pci=hpmmioprefsize=64M" ;;
	esac
	echo "$line${1:+ tsc_early_khz=$1} $opt_append"
}

# machine_identity RANK: prints the input of stage2 in the machine: its environment, and an empty line.
machine_identity() {
	local boot=$((machine_boots[$1] - 1))
	printf '%s\n' "LAB_RANK=$1" "LAB_VMS=$opt_vms" "LAB_DEVICE=${opt_devices[$1]}" "LAB_MTU=$opt_mtu" \
		"LAB_HCAS=$opt_hcas" "LAB_BOOT=$boot" "LAB_DISK=$opt_disk" "LAB_LINKS=${opt_links[*]}" \
		"LAB_SMS=${#opt_sms[@]}" "LAB_SM=${opt_sms[$1]-}" "LAB_RATE=$opt_rate" "LAB_FIRST=$opt_first"
	[ -z "${run_stays-}" ] || echo "LAB_SSH=$(mac_of 0x53 "$1")"
	# A machine that boots reads its clock chip.
	[ "${machine_kind[$1]}" = booted ] || echo "LAB_TIME=$EPOCHREALTIME"
	echo
}

# machine_model: sets the array machine_args to the QEMU arguments for the board and the processor.
machine_model() {
	local accel=$ACCEL cpu
	[ "$accel" != tcg ] || accel=tcg,thread=multi
	# The simplest model is the fastest to emulate: on amd64, newer string instructions and SMAP make it slower; on arm64, pointer
	# authentication does. This one has pages of all sizes.
	case $arch_name/$ACCEL in
	*/kvm) cpu=host ;;
	amd64/*) cpu=qemu64 ;;
	arm64/*) cpu=cortex-a76 ;;
	esac
	machine_args=(-accel "$accel" -cpu "$cpu")
	case $arch_name in
	amd64) machine_args+=(-machine q35,memory-backend=memory,smbus=off,sata=off,usb=off) ;;
	# Interrupts of adapters are messages to the ITS of version 3, which has enough of them.
	arm64) machine_args+=(-machine virt,memory-backend=memory,gic-version=3) ;;
	esac
}

# machine_args: sets the array machine_args to the QEMU arguments that are the same for all machines of a run, and for
# the snapshot that they are restored from. Their memory is in files; see mount_memory of enter.sh. Adapters and the
# machine's own disk are plugged into the root ports.
machine_args() {
	local i
	machine_model
	machine_args+=(-nodefaults -no-user-config -display none -vga none -no-reboot
		-smp "$opt_smp" -m "$opt_mem"
		-object "memory-backend-file,mem-path=/run/memory,align=2M,id=memory,share=on,size=${opt_mem}M"
		-kernel "$(kernel_image "$KERNEL")" -initrd "$INITRD")
	# Each has room for an adapter's BARs, so that one can be plugged in later.
	for ((i = 0; i < MACHINE_PORTS; i++)); do
		machine_args+=(-device "pcie-root-port,id=port$i,chassis=$((i + 1)),pref64-reserve=64M")
	done
	machine_args+=(
		-drive "if=none,id=disk,file=$IMAGE/root.ext4,format=raw,readonly=on"
		-device virtio-blk-pci,drive=disk
		-fsdev "local,id=lab,path=$RUN/lab,security_model=none,multidevs=remap"
		-device virtio-9p-pci,fsdev=lab,mount_tag=lab
		-device virtio-rng-pci
		-device virtio-serial-pci,max_ports=8
		-device virtconsole,nr=0,chardev=log
		-device virtserialport,nr=1,chardev=out,name=out
		-device virtserialport,nr=2,chardev=status,name=status
		-device virtserialport,nr=3,chardev=identity,name=identity)
	# vmgenid shows that a machine was restored, so that its random numbers differ from those of others. It needs ACPI.
	[ "$arch_name" != amd64 ] || machine_args+=(-device vmgenid,guid=auto)
	[ -z "$MORE" ] || machine_args+=(-drive "if=none,id=more,file=$MORE,format=raw,readonly=on"
		-device virtio-blk-pci,drive=more,serial=modules)
}

# machine_qemu NAME ARGUMENT...: executes QEMU, with its files at NAME.*.
machine_qemu() {
	local name=$1
	shift
	qmp_args "$name.qmp"
	exec "qemu-system-${arch_gnu%%-*}" -name "${name##*/}" "${machine_args[@]}" "${qmp_args[@]}" \
		-chardev "file,id=log,path=$name.log,append=on,input-path=$name.keys" \
		-chardev "file,id=out,path=$name.out" \
		-chardev "file,id=status,path=$name.status" \
		-chardev "file,id=identity,path=/dev/null,input-path=$name.identity" \
		-serial "file:$name.serial" "$@" 2>>"$name.qemu"
}

# machine_new RANK: creates the files of a machine that all its boots use.
machine_new() {
	local keys identity name=$RUN/node$1
	mkfifo "$name".{out,keys,identity}
	# This descriptor stays open: QEMU waits for a writer, and takes a missing one for a hang-up.
	exec {keys}<>"$name.keys" {identity}<>"$name.identity"
	machine_keys[$1]=$keys machine_ids[$1]=$identity machine_boots[$1]=0
	[ -z "$opt_disk" ] || truncate -s "$opt_disk" "$MACHINE_DISKS/node$1"
}

# machine_more RANK: sets the arrays more_args, to the QEMU arguments of this machine only, and more_devices, to the
# devices at its root ports, as JSON.
machine_more() {
	net_args "$1"
	more_args=("${net_args[@]}") more_devices=("${net_devices[@]}")
	[ -z "$opt_disk" ] || {
		more_args+=(-drive "if=none,id=own,file=$MACHINE_DISKS/node$1,format=raw,discard=unmap")
		more_devices+=("{\"driver\":\"virtio-blk-pci\",\"bus\":\"port9\",\"drive\":\"own\",\"serial\":\"ohca\"}")
	}
	[ -z "${run_stays-}" ] || machine_ssh "$1"
	[ -z "$opt_gdb" ] || more_args+=(-chardev "socket,id=gdb,path=$RUN/node$1.gdb,server=on,wait=off" -gdb chardev:gdb)
	more_args+=("${opt_qemu[@]}")
}

# machine_ssh RANK: adds to more_args and more_devices an interface whose other end is QEMU's own small network. That has no way
# to the host's; it forwards connections to the socket to the machine's SSH server.
machine_ssh() {
	rm -f "$RUN/node$1.ssh"
	more_args+=(-netdev "user,id=ssh,restrict=on,ipv6=off,hostfwd=unix:$STAY_RUN/node$1.ssh-10.0.2.15:22")
	more_devices+=("{\"driver\":\"virtio-net-pci\",\"bus\":\"port10\",\"netdev\":\"ssh\",\"romfile\":\"\",\"mac\":\"$(mac_of 0x53 "$1")\"}")
}

# machine_start RANK: starts its QEMU in the background, as process machine_pid[RANK]. machine_go starts the machine.
machine_start() {
	local rank=$1 device held name=$RUN/node$1
	rm -f "$name.status"
	machine_snapshot[rank]=$SNAPSHOT
	qmp_make "$name.qmp"
	machine_more "$rank"
	more_args+=(-append "$(machine_append "$CLOCK_KHZ")")
	if [ -n "$SNAPSHOT" ]; then
		more_args+=(-S -global migration.mapped-ram=on -incoming "file:$SNAPSHOT")
		machine_plugs[rank]=$(printf '%s\n' "${more_devices[@]}")
	else
		for device in "${more_devices[@]}"; do
			more_args+=(-device "$device")
		done
	fi
	# The descriptor waits for run_follow: its open would never end if QEMU had refused its arguments before.
	machine_qemu "$name" "${more_args[@]}" </dev/null {held}>"$name.out" &
	machine_pid[rank]=$!
	machine_began[rank]=${EPOCHREALTIME/./}
	machine_power[rank]=on
	machine_boots[rank]=$((machine_boots[rank] + 1))
}

# machine_go RANK: if the machine is restored, plugs in its devices and starts it; then writes its identity. A machine
# that can't be restored is booted, and so are all others from then on.
machine_go() {
	machine_kind[$1]=booted
	# $SNAPSHOT may be empty by now, because another machine could not be restored.
	if [ -n "${machine_snapshot[$1]}" ]; then
		machine_kind[$1]=restored
		machine_restore "$1" || {
			machine_unrestored "$1"
			return
		}
	fi
	machine_identity "$1" >&"${machine_ids[$1]}"
}

# machine_kexec RANK: prepares the boot of another kernel by the one that runs.
machine_kexec() {
	machine_kind[$1]=booted
	machine_boots[$1]=$((machine_boots[$1] + 1))
	machine_identity "$1" >&"${machine_ids[$1]}"
}

# machine_restore RANK: fails if its QEMU can't read the snapshot, or refuses a device.
machine_restore() {
	local device pid=${machine_pid[$1]} devices
	mapfile -t devices <<<"${machine_plugs[$1]}"
	qmp_open "$RUN/node$1.qmp" "$pid" && snapshot_restored "$pid" || return 1
	for device in "${devices[@]}"; do
		[ -z "$device" ] || qmp "$pid" device_add "$device" || return 1
	done
	qmp "$pid" cont || return 1
	qmp_close "$pid"
}

# machine_unrestored RANK: boots a machine that could not be restored.
machine_unrestored() {
	note "node$1 can't be restored (${qmp_answer-}): the snapshot is thrown away, the machine boots"
	snapshot_drop "${machine_snapshot[$1]}"
	SNAPSHOT=''
	machine_kill "$1"
	[ -z "${qmp_in[${machine_pid[$1]}]-}" ] || qmp_close "${machine_pid[$1]}"
	wait "${follow_pid[$1]}" || :
	run_boot "$1"
}

# machine_runs RANK: whether its process exists.
machine_runs() {
	kill -0 "${machine_pid[$1]}" 2>/dev/null
}

# machine_kill RANK: kills its process, if there is one.
machine_kill() {
	{
		kill -KILL "${machine_pid[$1]}" || :
		wait "${machine_pid[$1]}" || :
	} 2>/dev/null
}

# machine_status RANK: sets $machine_status to the exit status of its command, or to nothing if the command has not
# ended. Sets $machine_started if the command was started, and $machine_ports to the time that its ports took, in milliseconds.
machine_status() {
	local word value
	machine_status='' machine_started='' machine_ports=''
	[ -s "$RUN/node$1.status" ] || return 0
	while read -r word value; do
		case $word in
		start*) machine_started=1 ;;
		ports) machine_ports=${value%$'\r'} ;;
		exit) machine_status=${value%$'\r'} ;;
		esac
	done <"$RUN/node$1.status"
}

# machine_sysrq RANK KEYS: sends SysRq keys to its console, each after Ctrl-O.
machine_sysrq() {
	local keys=$2
	while [ -n "$keys" ]; do
		printf '\017%s' "${keys:0:1}" >&"${machine_keys[$1]}"
		keys=${keys:1}
	done
}
