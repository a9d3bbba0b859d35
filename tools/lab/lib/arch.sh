# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The architecture of machines: amd64, whose disk is made of the root itself, or arm64, which the root has a tree of (see populate.sh).
# Runs inside the root.
#
# arch_name     amd64 or arm64
# arch_files    folder of the machines' files
# arch_gnu      name of the architecture in folders of libraries, and in the names of compilers
# arch_suffix   of what is built for such machines: nothing, or -arm64
# arch_cc       compiler of programs for them
# arch_make     (an array) the same for a makefile of programs
# arch_kbuild   (an array) the same for the kernel's makefile

# arch_tree ARCH: prints the folder of the files of such machines, without a slash at its end.
arch_tree() {
	[ "$1" = amd64 ] || echo "/usr/local/lib/machine/$1"
}

# arch_set ARCH: sets the variables above.
arch_set() {
	arch_name=$1 arch_files=$(arch_tree "$1")
	case $1 in
	amd64) arch_gnu=x86_64-linux-gnu arch_suffix='' arch_cc=cc arch_make=() arch_kbuild=() ;;
	arm64)
		arch_gnu=aarch64-linux-gnu arch_suffix=-arm64
		# Headers and libraries are those of the machines.
		arch_cc="$arch_gnu-gcc -isystem $arch_files/usr/include -L$arch_files/usr/lib/$arch_gnu"
		arch_cc+=" -Wl,-rpath-link,$arch_files/usr/lib/$arch_gnu"
		arch_make=(CC="$arch_cc" MPICC='') arch_kbuild=(ARCH=arm64 "CROSS_COMPILE=$arch_gnu-")
		;;
	esac
}

# arch_strip FILE...: removes what only a debugger needs.
arch_strip() {
	"$arch_gnu-strip" --strip-debug "$@"
}
