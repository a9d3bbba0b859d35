# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The disk of machines: one read-only disk image made from the root, shared by all of them, or for another architecture from the
# tree of such machines (see arch.sh), and an initial RAM disk for each kernel. Runs inside the root.
#
# /cache/image/STAMP.lock                  held while its files are made or checked
# /cache/image/STAMP.use                   held shared by each run that uses it; never removed
# /cache/image/STAMP/root.ext4             the root, without files that only builds need
# /cache/image/STAMP/modules-RELEASE       that kernel's modules, uncompressed, those that a virtual
#                                          machine could use; in the disk image at /lib/modules
# /cache/image/STAMP/initrd-RELEASE-HASH   the initial RAM disk; HASH is that of its programs

# Modules that are loaded before the disk is accessible; newer kernels have some of them built in.
IMAGE_BOOT_MODULES=(virtio_pci virtio_console virtio_blk ext4 overlay 9p 9pnet_virtio virtio_net)
# Increase it when the images are made differently from the same root.
IMAGE_RECIPE=6
# Images that are kept beside a new one take at most so many MiB, with their snapshots.
IMAGE_KEEP=8192

# image_recipe: prints everything that the images depend on. Each group of packages and the user's own packages have a
# stamp. That of the packages for arm64 machines is for their image only.
image_recipe() {
	image_sources
	if [ "$arch_name" != amd64 ]; then
		echo "$arch_name"
		cat "/etc/ohca/stamp.$arch_name"
		return
	fi
	find /etc/ohca -name 'stamp*' ! -name stamp.arm64 | LC_ALL=C sort | xargs cat
}

# image_sources: prints the part of the recipe that is in the checkout.
image_sources() {
	echo "$IMAGE_RECIPE"
}

# image_setup: makes the images if there are none; sets $IMAGE.  They stay until this run ends, so further calls for the same
# architecture do nothing.
image_setup() {
	local stamp
	[ "${image_arch-}" != "$arch_name" ] || return 0
	stamp=$(image_recipe | sha256sum)
	IMAGE=/cache/image/${stamp:0:16}
	[ -d /cache/image ] || mkdir -p /cache/image
	exec {IMAGE_USE}>"$IMAGE.use"
	flock -s "$IMAGE_USE"
	exec 8>"$IMAGE.lock"
	flock 8
	if seal_holds "$IMAGE/root.ext4"; then
		touch "$IMAGE"
	else
		[ ! -e "$IMAGE/root.ext4" ] || note "the machines' disk image is damaged"
		note "making the machines' disk image"
		progress_begin "the machines' disk image"
		rm -rf "$IMAGE"
		image_prune /cache/image
		image_build
		progress_end
	fi
	exec 8>&-
	image_arch=$arch_name
}

# image_prune FOLDER: removes the images that no run has used for two days, and the least recently used ones beyond
# $IMAGE_KEEP. One that a run uses stays.
image_prune() {
	local dir old size total=0
	while IFS= read -r dir; do
		old=$(find "$dir" -maxdepth 0 -mmin +2880)
		size=$(du -sm "$dir" | cut -f 1)
		if [ -n "$old" ] || [ $((total + size)) -gt "$IMAGE_KEEP" ]; then
			! flock -n -x "$dir.use" rm -rf "$dir" || continue
		fi
		total=$((total + size))
	done < <(find "$1" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn | cut -d ' ' -f 2-)
}

image_build() {
	local release
	mkdir -p "$IMAGE"
	for release in $(KERNEL_RELEASES=$arch_files/usr/lib/modules kernel_debian); do
		image_modules "$release" "$arch_files/usr/lib/modules/$release" "$IMAGE/modules-$release"
	done
	(image_disk)
}

# image_initrd RELEASE: makes the initial RAM disk if there is none; sets $INITRD. The user's kernel, which is rebuilt
# often, gets a new one for each run.
image_initrd() {
	INITRD=$({ cat "$LAB"/guest/stage[12] && kernel_salt "$1"; } | sha256sum)
	INITRD=$IMAGE/initrd-$1-${INITRD:0:16}
	! kernel_is_user "$1" || INITRD=$RUN/initrd
	exec 8>"$IMAGE.lock"
	flock 8
	if ! seal_holds "$INITRD"; then
		image_initrd_pack "$1" >"$INITRD.new"
		mv "$INITRD.new" "$INITRD"
		seal "$INITRD"
	fi
	exec 8>&-
}

# image_more RELEASE: makes the disk with the modules of a kernel that are not on the image, unless there is one; sets $MORE to
# its path, or to nothing for kernels whose modules are there. build-kernel.sh removes it when it makes the kernel; each copy of
# a user's kernel (custom.sh) has its own.
image_more() {
	MORE=$(kernel_home "$1")
	[ -n "$MORE" ] || return 0
	MORE+=/modules.ext4
	exec 8>"$MORE.lock"
	flock 8
	if ! seal_holds "$MORE"; then
		image_more_make "$1"
		seal "$MORE"
	fi
	exec 8>&-
}

# image_more_make RELEASE: writes $MORE.
image_more_make() {
	local top=/tmp/more size
	rm -rf "$top"
	mkdir -p "$top/usr/lib/modules"
	cp -a "$(kernel_modules "$1")" "$top/usr/lib/modules/"
	size=$(du -sm "$top" | cut -f 1)
	rm -f "$MORE.new"
	mke2fs -q -F -t ext4 -O ^has_journal,^resize_inode -m 0 -L modules -d "$top" "$MORE.new" "$((size * 5 / 4 + 16))M"
	rm -rf "$top"
	mv "$MORE.new" "$MORE"
}

# image_modules RELEASE FROM DIR [ALSO]: copies that kernel's modules for networking, storage and RDMA, and those whose path matches
# the expression ALSO, with their dependencies, from the folder FROM to DIR/lib/modules/RELEASE.
image_modules() {
	local from=$2 to=$3/lib/modules/$1
	mkdir -p "$to"
	cp "$from"/modules.{order,builtin,builtin.modinfo} "$to"
	awk -F '[: ]+' -v also="${4:-^$}" '
		{ needs[$1] = $0 }
		$1 ~ also ||
		/^kernel\/(arch|block|crypto|fs|lib|mm|net)\// ||
		/^kernel\/drivers\/(block|nvme|pci|ptp|target|virtio)\// ||
		/^kernel\/drivers\/infiniband\/(core|sw|ulp)\// ||
		/^kernel\/drivers\/(scsi\/sd_mod|char\/virtio_console|char\/hw_random\/virtio-rng)\.ko/ ||
		/^kernel\/drivers\/net\/([^\/]*|(bonding|ipvlan|netdevsim|team)\/[^\/]*):/ { want[$1] }
		END {
			for (module in want) {
				n = split(needs[module], list, /[: ]+/)
				for (i = 1; i <= n; i++)
					if (list[i] != "")
						print list[i]
			}
		}' <(image_dependencies "$1" "$from") | sort -u |
		(cd "$from" && cpio --quiet -pdLm "$to")
	find "$to" -name '*.ko.xz' -print0 | xargs -0 -r -P "$(nproc)" -n 64 xz -d
	depmod -b "$3" "$1"
}

# image_modules_of RELEASE: prints the folder with lib/modules/RELEASE, the modules that machines could use.
image_modules_of() {
	kernel_path "$1" modules "$IMAGE/modules-$1"
}

# image_dependencies RELEASE FROM: prints what modules.dep in the folder FROM has; a package of a kernel has none.
image_dependencies() {
	if [ -e "$2/modules.dep" ]; then
		cat "$2/modules.dep"
	else
		depmod -n -b "${2%/lib/modules/"$1"}" "$1"
	fi
}

# image_initrd_pack RELEASE: writes the initial RAM disk, with the modules that are not built into the kernel.
image_initrd_pack() {
	local dir=/tmp/initrd-$1 module base
	base=$(image_modules_of "$1")
	mkdir -p "$dir"/{bin,dev,proc,sys,modules}
	cp "$arch_files/bin/busybox" "$dir/bin/"
	ln -s busybox "$dir/bin/sh"
	cp "$LAB/guest/stage1" "$dir/init"
	cp "$LAB/guest/stage2" "$dir/"
	: >"$dir/modules/order"
	modprobe -d "$base" -S "$1" -a --show-depends "${IMAGE_BOOT_MODULES[@]}" |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' |
		while read -r module; do
			cp "$module" "$dir/modules/"
			basename "$module" >>"$dir/modules/order"
		done
	image_pack "$dir"
	rm -rf "$dir"
}

# image_pack DIR: prints its contents as an archive that the kernel can unpack.
image_pack() {
	(cd "$1" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0)
}

# image_disk: makes an ext4 image of the root. A bind mount shows it without other mounts, and empty folders hide
# files that machines do not need. Runs in a subshell, as the mounts stay.
image_disk() {
	local tree=/tmp/tree dir size
	mkdir -p "$tree"
	mount --bind "$arch_files/" "$tree"
	for dir in "$tree"/{boot,usr/src,usr/share/qemu,var/lib/apt,var/lib/dpkg,var/cache} \
		"$tree"/usr/lib/llvm-* "$tree"/usr/share/cmake-* \
		"$tree"/usr/{local/lib/cross,local/lib/machine,lib/gcc-cross,aarch64-linux-gnu,s390x-linux-gnu}; do
		[ ! -d "$dir" ] || mount -t tmpfs tmpfs "$dir"
	done
	mount -t tmpfs tmpfs "$tree/usr/lib/modules"
	for dir in "$IMAGE"/modules-*; do
		mkdir "$tree/usr/lib/modules/${dir##*/modules-}"
		mount --bind "$dir/lib/modules/${dir##*/modules-}" "$tree/usr/lib/modules/${dir##*/modules-}"
	done
	size=$(du -sm "$tree" | cut -f 1)
	rm -f "$IMAGE/root.new"
	mke2fs -q -F -t ext4 -O ^has_journal,^resize_inode -m 0 -L ohca -d "$tree" \
		"$IMAGE/root.new" "$((size * 5 / 4 + 64))M"
	umount -R "$tree"
	mv "$IMAGE/root.new" "$IMAGE/root.ext4"
	seal "$IMAGE/root.ext4"
}
