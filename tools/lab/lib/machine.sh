# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# One machine: a QEMU process, or several one after the other. Runs inside the root.
#
# $RUN/nodeN.log      its kernel log (virtio console, which unlike a UART is not slow) of all boots
# $RUN/nodeN.keys     its kernel console's input: a FIFO
# $RUN/nodeN.out      its command's output: a FIFO
# $RUN/nodeN.status   "exit STATUS" once its command has ended
# $RUN/nodeN.qemu     QEMU's own messages
# $RUN/nodeN.disk     its disk
#
# machine_power[N]    on; off; or leaving, if it is on and its end is to be a reboot
# machine_boots[N]    how often it has been booted

# machine_accel: TCG, unless the processor can virtualise and /dev/kvm is usable: a nested
# hypervisor without these flags may offer a /dev/kvm that hangs.
machine_accel() {
	if [ -n "$opt_accel" ]; then
		echo "$opt_accel"
	elif grep -qwE 'vmx|svm' /proc/cpuinfo && [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
		echo kvm
	else
		echo tcg
	fi
}

# machine_append RANK: the kernel command line. What has a capital name is init's environment.
machine_append() {
	local khz line="console=hvc0 panic=-1 oops=panic loglevel=7 printk.devkmsg=on sysrq_always_enabled=1"
	# Nothing here is worth a mitigation's price, and nothing in a virtual machine needs the rest. Without
	# its security modules and the pressure of tasks it takes a fifth less to switch tasks, a third less to
	# open a file.
	line+=" mitigations=off cryptomgr.notests tsc=reliable no_timer_check nokaslr audit=0 lsm= psi=0"
	# Without KVM a machine has the host's counter of time. It would find its frequency by a timer that a
	# busy host may serve late, and all its clocks would be wrong.
	[ "$(machine_accel)" != tcg ] || khz=$("$BUILD/tsc_khz")
	[ -z "${khz-}" ] || line+=" tsc_early_khz=$khz"
	# Machines share processors with each other: a late one is not a dead one.
	line+=" watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
	line+=" LAB_RANK=$1 LAB_VMS=$opt_vms LAB_DEVICE=${opt_devices[$1]} LAB_MTU=$opt_mtu"
	line+=" LAB_HCAS=$opt_hcas LAB_BOOT=${machine_boots[$1]}"
	[ "$1" != 0 ] || [ -z "${LAB_TTY-}" ] || line+=" LAB_TTY=$LAB_TTY"
	echo "$line $opt_append"
}

# machine_new RANK: makes what outlives its boots.
machine_new() {
	local keys name=$RUN/node$1
	mkfifo "$name.out" "$name.keys"
	# Held open, as QEMU waits for a writer and takes its absence for a hang-up.
	exec {keys}<>"$name.keys"
	machine_keys[$1]=$keys machine_boots[$1]=0
	[ -z "$opt_disk" ] || truncate -s "$opt_disk" "$name.disk"
}

# machine_more RANK: sets the array more_args to the QEMU arguments that not every machine has, and
# $more_input to the descriptor that is its standard input.
machine_more() {
	more_args=() more_input=0
	[ -z "$opt_disk" ] ||
		more_args+=(-drive "if=none,id=own,file=$RUN/node$1.disk,format=raw,discard=unmap"
			-device "virtio-blk-pci,drive=own,serial=ohca")
	[ "$1" != 0 ] || [ -z "${LAB_TTY-}" ] || {
		more_input=$TTY
		more_args+=(-chardev "stdio,id=tty,mux=off,signal=off" -device "virtconsole,nr=3,chardev=tty")
	}
}

# machine_boot RANK: starts it in the background; its process is machine_pid[RANK].
machine_boot() {
	local rank=$1 accel i name=$RUN/node$1 ports=()
	accel=$(machine_accel)
	rm -f "$name.status"
	# One more than there are adapters.
	for ((i = 0; i <= opt_hcas; i++)); do
		ports+=(-device "pcie-root-port,id=port$i,chassis=$((i + 1))")
	done
	net_args "$rank"
	machine_more "$rank"
	local cpu=host
	# The plainest model is the fastest to emulate: newer string instructions and SMAP are not.
	[ "$accel" = kvm ] || cpu=qemu64
	[ "$accel" != tcg ] || accel=tcg,thread=multi
	qemu-system-x86_64 -name "node$rank" -nodefaults -no-user-config -display none -vga none -no-reboot \
		-accel "$accel" -cpu "$cpu" -smp "$opt_smp" -m "$opt_mem" \
		-object "memory-backend-memfd,id=memory,share=on,size=${opt_mem}M" \
		-machine q35,memory-backend=memory,smbus=off,sata=off,usb=off \
		-kernel "$(kernel_image "$KERNEL")" -initrd "$RUN/initrd-${opt_devices[$rank]}" \
		-append "$(machine_append "$rank")" \
		"${ports[@]}" \
		-drive "if=none,id=disk,file=$IMAGE/root.ext4,format=raw,readonly=on" \
		-device virtio-blk-pci,drive=disk \
		-fsdev "local,id=lab,path=$RUN/lab,security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=lab,mount_tag=lab \
		-device virtio-serial-pci,max_ports=8 \
		-chardev "file,id=log,path=$name.log,append=on,input-path=$name.keys" -device virtconsole,nr=0,chardev=log \
		-chardev "file,id=out,path=$name.out" -device virtserialport,nr=1,chardev=out,name=out \
		-chardev "file,id=status,path=$name.status" -device virtserialport,nr=2,chardev=status,name=status \
		-serial "file:$name.serial" \
		"${net_args[@]}" "${more_args[@]}" <&"$more_input" 2>>"$name.qemu" &
	machine_pid[rank]=$!
	machine_power[rank]=on
	machine_boots[rank]=$((machine_boots[rank] + 1))
}

# machine_runs RANK: whether there is its process.
machine_runs() {
	kill -0 "${machine_pid[$1]}" 2>/dev/null
}

# machine_kill RANK: ends its process, if there is one.
machine_kill() {
	{
		kill -KILL "${machine_pid[$1]}" || :
		wait "${machine_pid[$1]}" || :
	} 2>/dev/null
}

# machine_status RANK: sets $machine_status to what its command exited with; to nothing if it did
# not get that far.
machine_status() {
	machine_status=''
	[ ! -s "$RUN/node$1.status" ] || read -r _ machine_status <"$RUN/node$1.status"
	machine_status=${machine_status%$'\r'}
}

# machine_sysrq RANK KEYS: presses SysRq keys on its console, each after Ctrl-O.
machine_sysrq() {
	local keys=$2
	while [ -n "$keys" ]; do
		printf '\017%s' "${keys:0:1}" >&"${machine_keys[$1]}"
		keys=${keys:1}
	done
}
