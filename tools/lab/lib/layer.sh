# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The layer of a run: the files that this checkout adds to the shared disk image (the lab's own
# programs, the module, the provider, the tests). A machine unpacks it from the folder that it shares
# with the lab. Runs inside the root.
#
# $BUILD/layer-NAME-DEVICE.tar, with the kernel's name (kernel.sh)

# layer_setup RELEASE DEVICE: makes the layer if there is none; sets $LAYER to its path.
layer_setup() {
	local part name stamps stamp home
	name=$(kernel_name "$1")
	part=layer-$name-$2
	LAYER=$BUILD/$part.tar
	stamps=("$BUILD"/{selftests,guest}"$arch_suffix.stamp" "$BUILD/kmod-$name.stamp")
	[[ $2 != ohca* ]] || stamps+=("$BUILD/module-$name/install.stamp" "$BUILD/provider$arch_suffix.stamp")
	home=$(kernel_home "$1")
	[ -z "$home" ] || stamps+=("$home/stamp")
	exec 7>"$BUILD/lock"
	flock 7
	stamp=$(cat "${stamps[@]}")
	if ! build_stamp_is "$BUILD/$part.stamp" "$stamp" || ! seal_holds "$LAYER"; then
		rm -f "$BUILD/$part.stamp"
		layer_pack "$1" "$2"
		seal "$LAYER"
		echo "$stamp" >"$BUILD/$part.stamp"
	fi
	exec 7>&-
}

# layer_pack RELEASE DEVICE: writes $LAYER.
layer_pack() {
	local release=$1 device=$2 top=$BUILD/layer
	rm -rf "$top"
	mkdir -p "$top"/usr/{lib/ohca-lab,local/bin} "$top/opt"
	cp "$LAB"/guest/* "$BUILD/guest$arch_suffix"/ohca-{barrier,host,wait} "$top/usr/lib/ohca-lab/"
	rm "$top"/usr/lib/ohca-lab/*.c
	ln -s ../../lib/ohca-lab/ohca-{barrier,host,up,wait} "$top/usr/local/bin/"
	[[ $device != ohca* ]] || layer_device "$release" "$top"
	layer_selftests "$release" "$top/opt/ohca"
	tar -cf "$LAYER" -C "$top" --owner=0 --group=0 .
	rm -rf "$top"
}

# layer_device RELEASE TOP: adds the module with its index, and the provider.
layer_device() {
	mkdir -p "$2/usr/lib/modules/$1" "$2/etc/libibverbs.d" "$2/usr/lib/$arch_gnu/libibverbs"
	cp -a "$BUILD/module-$(kernel_name "$1")/install/." "$2/usr/lib/modules/$1/"
	cp "$BUILD/provider$arch_suffix/$BUILD_PROVIDER" "$2/usr/lib/$arch_gnu/libibverbs/"
	echo "driver ohca" >"$2/etc/libibverbs.d/ohca.driver"
}

# layer_selftests RELEASE DIR: adds the tests, with their kernel modules for this kernel only.
layer_selftests() {
	local from=$BUILD/selftests$arch_suffix/machine kmod
	kmod=$BUILD/kmod-$(kernel_name "$1")/kmod/$1
	mkdir -p "$2"
	tar -c -C "$from" --exclude='*.o' --exclude=./kmod . | tar -x -C "$2"
	find "$2" -maxdepth 1 -type f ! -name '*.sh' ! -name '*.awk' -exec "$arch_gnu-strip" --strip-debug {} +
	[ ! -d "$kmod" ] || {
		mkdir -p "$2/kmod/$1"
		cp "$kmod"/*.ko "$2/kmod/$1/"
		arch_strip "$2/kmod/$1"/*.ko
	}
}
