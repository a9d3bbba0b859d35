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
	cp "$LAB"/guest/* "$top/usr/lib/ohca-lab/"
	ln -s ../../lib/ohca-lab/ohca-{barrier,host,up} "$top/usr/local/bin/"
	if kernel_is_debug "$release"; then
		mkdir -p "$top/usr/lib/modules"
		cp -a "$(kernel_modules "$release")" "$top/usr/lib/modules/"
	fi
	[[ $device != ohca* ]] || layer_device "$release" "$top"
	[ ! -d "$BUILD/selftests/machine" ] || layer_selftests "$release" "$top/opt/ohca"
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

# layer_selftests RELEASE DIR: the tests, with their kernel modules for this kernel only.
layer_selftests() {
	cp -a "$BUILD/selftests/machine" "$2"
	find "$2" -name '*.o' -delete
	[ ! -d "$2/kmod" ] || find "$2/kmod" -mindepth 1 -maxdepth 1 ! -name "$1" -exec rm -rf {} +
	[ ! -d "$2/kmod" ] || find "$2/kmod" -type f ! -name '*.ko' -delete
}
