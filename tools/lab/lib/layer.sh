# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The layer of a run: the files that this checkout adds to the shared disk image (the lab's own
# programs, the module, the provider, the tests). It travels in the initial RAM disk, after the part
# that all runs share. Runs inside the root.

# layer_pack RELEASE DEVICE: writes the archive.
layer_pack() {
	local release=$1 device=$2 tree=$RUN/layer-$2
	local top=$tree/layer
	mkdir -p "$top"/{usr/lib/ohca-lab,usr/local/bin,opt}
	cp "$LAB/guest/init" "$top/usr/lib/ohca-lab/"
	cp "$LAB/guest/ohca-barrier" "$top/usr/local/bin/"
	if kernel_is_debug "$release"; then
		mkdir -p "$top/usr/lib/modules"
		cp -a "$(kernel_modules "$release")" "$top/usr/lib/modules/"
	fi
	[ "$device" != ohca ] || layer_device "$release" "$top"
	[ ! -d "$BUILD/selftests/install" ] || cp -a "$BUILD/selftests/install" "$top/opt/ohca"
	image_pack "$tree"
	rm -rf "$tree"
}

# layer_device RELEASE TOP: the module with its index, and the provider.
layer_device() {
	mkdir -p "$2/usr/lib/modules/$1" "$2/etc/libibverbs.d" "$2/usr/lib/x86_64-linux-gnu/libibverbs"
	cp -a "$BUILD/module-$1/install/." "$2/usr/lib/modules/$1/"
	cp "$BUILD/provider/libohca-rdmav34.so" "$2/usr/lib/x86_64-linux-gnu/libibverbs/"
	echo "driver ohca" >"$2/etc/libibverbs.d/ohca.driver"
}
