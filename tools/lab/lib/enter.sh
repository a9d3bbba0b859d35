#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# enter.sh ROOT ro|rw REPO CACHE SHARE COMMAND...
#
# Runs COMMAND inside the Debian tree ROOT. ns_run (root.sh) starts it in mount and PID namespaces of its own, so that
# all its mounts and processes end with it. Inside, /repo is REPO (read-only), /cache is CACHE, and /share is SHARE
# (or an empty folder if SHARE is "-"); /tmp and /run are empty and in memory. Compilers are called through ccache,
# which keeps its results in /cache/ccache. All checkouts share them, in whatever folder below /cache/build they
# build.
#
# ROOT is / in a container that was made of such a tree (root.sh). It has all folders already, and nothing is mounted.

set -euo pipefail
root=$1 mode=$2 repo=$3 cache=$4 share=$5
shift 5

# A read-only bind mount. An unprivileged remount must repeat the flags of the underlying file system (nosuid, nodev
# …), or the kernel refuses it.
bind_ro() {
	mount --bind "$1" "$2"
	mount -o "remount,bind,$(findmnt -n -o VFS-OPTIONS --mountpoint "$2" | tail -n 1 |
		sed 's/\brw\b/ro/')" "$2"
}

# In a container: the folders of these options, by links
link_folders() {
	mkdir -p /run /tmp
	[ -z "${OHCA_RESULTS-}" ] || ln -sfn "$OHCA_RESULTS" /run/results
	[ -z "${OHCA_TOPOLOGY-}" ] || ln -sfn "${OHCA_TOPOLOGY%/*}/" /run/topology
}

# mount_memory DIR: mounts a file system for the memory of machines. It has huge pages, whose 512 small ones cost one page fault, if
# the host's kernel supports them. Its size is not limited.
mount_memory() {
	mkdir "$1"
	mount -t tmpfs -o mode=0700,size=0,huge=always tmpfs "$1" 2>/dev/null || mount -t tmpfs -o mode=0700,size=0 tmpfs "$1"
}

mount_folders() {
	if [ "$mode" = ro ]; then
		bind_ro "$root" "$root"
	else
		mount --bind "$root" "$root"
	fi
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount -t tmpfs -o mode=0755 tmpfs "$root/run"
	mount_memory "$root/run/memory"
	bind_ro "$repo" "$root/repo"
	mount --bind "$cache" "$root/cache"
	[ "$share" = - ] || mount --bind "$share" "$root/share"
	if [ -n "${OHCA_SESSION-}" ]; then
		mkdir "$root/run/ohca-lab"
		mount --bind "$OHCA_SESSION" "$root/run/ohca-lab"
	fi
	if [ -n "${OHCA_RESULTS-}" ]; then
		mkdir "$root/run/results"
		mount --bind "$OHCA_RESULTS" "$root/run/results"
	fi
	if [ -n "${OHCA_KERNEL-}" ]; then
		mkdir "$root/run/custom"
		bind_ro "$OHCA_KERNEL" "$root/run/custom"
		[ -z "${OHCA_KERNEL_BUILD-}" ] || { mkdir "$root/run/custom-build" && bind_ro "$OHCA_KERNEL_BUILD" "$root/run/custom-build"; }
	fi
	if [ -n "${OHCA_TOPOLOGY-}" ]; then
		mkdir "$root/run/topology"
		bind_ro "${OHCA_TOPOLOGY%/*}/" "$root/run/topology"
	fi
}

environment=(
	PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	CC=gcc CCACHE_DIR=/cache/ccache CCACHE_MAXSIZE=500M CCACHE_BASEDIR=/cache/build CCACHE_NOHASHDIR=1
	HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive INITRD=No TERM="${TERM:-dumb}"
)
while IFS= read -r -d '' pair; do
	case $pair in
	OHCA_*=* | MAKEFLAGS=* | http_proxy=* | https_proxy=* | no_proxy=*)
		environment+=("$pair")
		;;
	esac
done </proc/self/environ
if [ "$root" = / ]; then
	link_folders
	cd /
	exec env -i "${environment[@]}" "$@"
fi
mount_folders
exec chroot "$root" env -i "${environment[@]}" "$@"
