# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The root: a Debian 13 tree with backports in the user's cache, made once, in which all other programs run. As root
# it is entered by chroot; as any other user through a user namespace.
#
# $OHCA_CACHE/root-STAMP    a finished tree; STAMP is a hash of its recipe, which may differ in other checkouts
# $OHCA_CACHE/root          link to the one that was used last
# $OHCA_CACHE/root.new      one under construction, or with packages that are being added
# $OHCA_CACHE/root.old.*    trees that were replaced by such a one, until nobody uses a root
# $OHCA_CACHE/test.*        second caches of the lab's own tests
# $OHCA_CACHE/download      packages fetched so far, kept until the tree is done
# $OHCA_CACHE/packages      the user's own packages, which every tree gets (see packages.sh)
# $OHCA_CACHE/lock          held shared by users of a root
# $OHCA_CACHE/lock.change   held by the one that makes root.new. The others use the root as it is meanwhile.

# In a container that "make image" made of such a tree, /etc/ohca-container exists: the tree is /, complete, and needs no namespaces.

OHCA_CACHE=${OHCA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ohca}
# Increase it when root_build makes another tree from the same packages.
ROOT_RECIPE=1

# root_recipe: prints everything that a new tree depends on.
root_recipe() {
	echo "$ROOT_RECIPE"
	cat "$LAB/packages.base"
}

ROOT=$(root_recipe | sha256sum)
ROOT=$OHCA_CACHE/root-${ROOT:0:16}
[ ! -e /etc/ohca-container ] || ROOT=/

# root_contained: whether this is such a container.
root_contained() {
	[ "$ROOT" = / ]
}

# ns_exec COMMAND...: executes COMMAND with private mounts and processes. When it ends or is killed, or when this
# process's parent does, all its processes end. An ordinary user becomes root inside, with the subordinate ids.
# With $NS_STAYS set, they continue without the parent and its terminal, in a session of their own, and inherit its locks.
ns_exec() {
	local ns=(unshare --mount --pid --fork --kill-child --mount-proc --propagation private)
	[ "$EUID" = 0 ] || ns+=(--user --map-root-user --map-auto)
	! root_contained || ns=()
	[ -z "${NS_STAYS-}" ] || exec setsid "${ns[@]}" "$@"
	exec setpriv --pdeathsig KILL "${ns[@]}" "$@" 6>&- 9>&-
}

# ns_run COMMAND...: the same in a child process.
ns_run() {
	(ns_exec "$@")
}

# ns_guard COMMAND...: ns_run in the background. INT, TERM and HUP are passed on to all its processes, and KILL after
# ten seconds. Returns COMMAND's status.
ns_guard() {
	local pid status=0
	set -m
	ns_exec "$@" </dev/null &
	pid=$!
	set +m
	trap 'trap "" INT TERM HUP; ns_stop "$pid"; exit 130' INT TERM HUP
	wait "$pid" || status=$?
	trap - INT TERM HUP
	return "$status"
}

# ns_stop PGID: ends a process group started by ns_guard.
ns_stop() {
	local tries=100
	kill -TERM -- "-$1" 2>/dev/null || return 0
	while kill -0 -- "-$1" 2>/dev/null; do
		if [ $((tries -= 1)) -lt 0 ]; then
			kill -KILL -- "-$1" 2>/dev/null
			break
		fi
		sleep 0.1
	done
}

# root_run ro|rw SHARE COMMAND...: runs COMMAND inside the finished root (see enter.sh).
root_run() {
	local mode=$1 share=$2
	shift 2
	ns_guard bash "$LAB/lib/enter.sh" "${ROOT_TREE:-$ROOT}" "$mode" "$REPO" "$OHCA_CACHE" "$share" "$@"
}

# Prints what this host lacks, before anything is started.
root_check_host() {
	local need=() tool
	for tool in unshare setpriv flock mmdebstrap; do
		command -v "$tool" >/dev/null || need+=("$tool")
	done
	if [ "$(id -u)" = 0 ]; then
		case " ${need[*]-} " in
		*" mmdebstrap "*)
			root_install_mmdebstrap
			need=("${need[@]/mmdebstrap/}")
			;;
		esac
	else
		command -v newuidmap >/dev/null || need+=(uidmap)
		grep -qs "^$(id -un):" /etc/subuid ||
			die "user $(id -un) has no subordinate ids; as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $(id -un)"
	fi
	tool=$(printf '%s\n' "${need[@]-}" | sed -e 's/^unshare$/util-linux/' -e 's/^setpriv$/util-linux/' \
		-e 's/^flock$/util-linux/' | sort -u | xargs)
	[ -z "$tool" ] || die "this host lacks packages; as root: apt-get install $tool"
	ns_run true || die "this host refuses namespaces (unshare); run as root, or allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1"
}

root_install_mmdebstrap() {
	command -v apt-get >/dev/null || die "mmdebstrap is missing and this is no Debian: install it by hand"
	note "installing mmdebstrap on this host (apt-get install mmdebstrap)"
	{
		apt-get -qq -o DPkg::Lock::Timeout=60 install -y --no-install-recommends mmdebstrap ||
			{ apt-get -qq update && apt-get -qq -o DPkg::Lock::Timeout=60 install -y --no-install-recommends mmdebstrap; }
	} </dev/null >&2 || die "could not install mmdebstrap; see apt's message above"
}

root_is_current() {
	[ -e "$ROOT/etc/ohca/stamp" ]
}

# root_lock -s|-x: takes the lock, which descriptor 9 holds until this process has ended. All callers pass a second
# lock first, so that one that wants the lock exclusively is not overtaken for ever by those that share it.
root_lock() {
	[ -d "$OHCA_CACHE" ] || mkdir -p "$OHCA_CACHE"
	exec 9>&-
	exec 8>"$OHCA_CACHE/lock.gate" 9>"$OHCA_CACHE/lock"
	if ! { flock "$1" -n 8 && flock "$1" -n 9; }; then
		note "waiting for another ohca-lab that uses $OHCA_CACHE"
		flock "$1" 8
		flock "$1" 9
	fi
	exec 8>&-
}

# root_alone: whether nobody else uses a root at this moment. The lock may be lost for an instant.
root_alone() {
	local alone=1
	flock -x -n 9 || alone=''
	flock -s 9
	[ -n "$alone" ]
}

# root_change COMMAND...: runs COMMAND, a function that makes or changes a root, while nobody else does.
root_change() {
	exec 6>"$OHCA_CACHE/lock.change"
	if ! flock -n 6; then
		note "waiting for another ohca-lab that changes the root in $OHCA_CACHE"
		flock 6
	fi
	"$@"
	exec 6>&-
}

# Makes the root if there is none, or if it was made by another recipe, and holds it (shared) from here on. Installs
# the user's own packages.
root_setup() {
	! root_contained || return 0
	root_lock -s
	root_sweep
	if ! root_is_current; then
		root_check_host
		root_change root_build
	fi
	: >"$ROOT.used"
	[ "$(readlink "$OHCA_CACHE/root")" = "${ROOT##*/}" ] || ln -sfn "${ROOT##*/}" "$OHCA_CACHE/root"
	[ -e "$ROOT/etc/ohca/open" ] || root_open
	# shellcheck disable=SC2119 # its arguments are optional
	root_own
}

# root_open: makes a tree readable that was made before populate.sh did that.
root_open() {
	root_lock -x
	ROOT_TREE=$ROOT root_run rw - bash /repo/tools/lab/lib/populate.sh open || die "could not make $ROOT readable"
	root_lock -s
}

# root_own [PACKAGE...]: installs those of the user's own packages that the tree lacks, and these, which are added to
# the user's list. $ROOT/etc/ohca/stamp.own is the list of those that are in the tree.
# shellcheck disable=SC2120
root_own() {
	if root_contained; then
		[ $# = 0 ] || die_usage "a container gets no packages; make an image that has them"
		return
	fi
	# Mostly there is nothing to compare.
	[ $# -gt 0 ] || [ -s "$OHCA_CACHE/packages" ] || return 0
	if [ -n "$(root_own_missing "$@")" ] || [ "$(root_own_list "$@")" != "$(package_own)" ]; then
		root_change root_own_add "$@"
	fi
}

# root_own_missing [PACKAGE...]: prints those that the tree lacks, of the user's list and these.
root_own_missing() {
	comm -23 <(root_own_list "$@") <(root_own_here)
}

# root_own_add [PACKAGE...]: see root_own.
root_own_add() {
	local missing log=$OHCA_CACHE/setup.log status=0
	mapfile -t missing < <(root_own_missing "$@")
	if [ ${#missing[@]} -gt 0 ]; then
		progress_begin "copying the root"
		root_copy
		progress_end
		: >"$log"
		ROOT_TREE=$OHCA_CACHE/root.new root_apt "$log" own "${missing[@]}" || status=$?
		[ "$status" != 3 ] || root_own_unknown "$(sed -n '$s/^unknown: //p' "$log")" "$@"
		[ "$status" = 0 ] || root_build_failed "$log"
		printf '%s\n' "$(root_own_here)" "${missing[@]}" | package_sort | ns_write "$OHCA_CACHE/root.new/etc/ohca/stamp.own"
		root_replace
		note "added to the root: ${missing[*]}"
	fi
	[ $# = 0 ] || root_own_list "$@" >"$OHCA_CACHE/packages.$$"
	[ $# = 0 ] || mv "$OHCA_CACHE/packages.$$" "$OHCA_CACHE/packages"
}

# root_own_unknown UNKNOWN [PACKAGE...]
root_own_unknown() {
	[ $# -gt 1 ] || die "apt knows no package $1, which $OHCA_CACHE/packages asks for"
	die_usage "apt knows no package $1"
}

# root_own_list [PACKAGE...]: prints the user's list with these.
root_own_list() {
	{ package_own && printf '%s\n' "$@"; } | package_sort
}

# root_own_here: prints those that are in the tree.
root_own_here() {
	[ ! -e "$ROOT/etc/ohca/stamp.own" ] || package_sort <"$ROOT/etc/ohca/stamp.own"
}

# root_key: prints a hash over everything that the cache's contents depend on, except for the builds of a checkout.
root_key() {
	local file
	{
		root_recipe
		for file in "$LAB"/packages.*; do
			echo "${file##*/}"
			cat "$file"
		done
		image_sources
		package_own
	} | sha256sum | cut -c 1-32
}

# root_sweep: removes trees that were replaced, unless anybody uses a root.
root_sweep() {
	local old
	compgen -G "$OHCA_CACHE/root.old.*" >/dev/null && root_alone || return 0
	for old in "$OHCA_CACHE"/root.old.*; do
		ns_run rm -rf "$old"
	done
}

# root_prune: removes the trees that no checkout used for two days, unless anybody uses a root.
root_prune() {
	local used
	root_alone || return 0
	while IFS= read -r used; do
		ns_run rm -rf "${used%.used}" "$used"
	done < <(find "$OHCA_CACHE" -mindepth 1 -maxdepth 1 -name 'root-*.used' -mmin +2880)
}

# root_build: makes the root, unless it was made meanwhile.
root_build() {
	local start=$SECONDS log=$OHCA_CACHE/setup.log
	! root_is_current || return 0
	note "making a Debian 13 root with QEMU, two kernels, compilers and RDMA tools"
	note "this downloads about 500 MB and takes 1-4 minutes, once; it all lives in $OHCA_CACHE (3 GB)"
	ns_run rm -rf "$OHCA_CACHE/root.new"
	mkdir -p "$OHCA_CACHE/root.new" "$OHCA_CACHE/download/partial"
	: >"$log"
	note "bootstrapping (log: $log)"
	progress_begin "bootstrapping"
	root_bootstrap "$log" || root_build_failed "$log"
	progress_end
	ROOT_TREE=$OHCA_CACHE/root.new root_populate "$log" || root_build_failed "$log"
	ns_run rm -rf "$ROOT"
	mv "$OHCA_CACHE/root.new" "$ROOT"
	ns_run rm -rf "$OHCA_CACHE/download"
	root_prune
	note "root ready after $((SECONDS - start)) s"
}

# root_copy: makes root.new, a copy of the root for packages to be added. They replace files rather than write to
# them, so most of it are links to the same files; scripts of packages write to /etc and /var.
root_copy() {
	mkdir -p "$OHCA_CACHE/download/partial"
	# shellcheck disable=SC2016
	ns_run sh -c 'set -e
		rm -rf "$2"
		cp -a --link "$1" "$2"
		rm -rf "$2/etc" "$2/var"
		cp -a --reflink=auto "$1/etc" "$1/var" "$2/"' sh "$ROOT" "$OHCA_CACHE/root.new" || die "cannot copy $ROOT"
}

# root_replace: puts root.new into the place of the root. Those that use the root keep the old tree. If this cache has
# machines' disk images, the new tree's is made before, so that no machine waits for it.
root_replace() {
	local new=$OHCA_CACHE/root.new
	! compgen -G "$OHCA_CACHE/image/*/root.ext4" >/dev/null ||
		ROOT_TREE=$new root_run ro - bash /repo/tools/lab/lib/inside.sh image || die "cannot make the machines' disk image"
	root_exchange "$new" "$ROOT" || die "cannot replace $ROOT"
	mv -T "$new" "$OHCA_CACHE/root.old.$EPOCHSECONDS.$$"
	ns_run rm -rf "$OHCA_CACHE/download"
	root_sweep
}

# root_exchange A B: exchanges two folders in one step, so that there is always one at B. The host's mv may be too old
# to do that, therefore the tree's is used.
root_exchange() {
	"$ROOT/lib64/ld-linux-x86-64.so.2" --library-path "$ROOT/usr/lib/x86_64-linux-gnu" "$ROOT/usr/bin/mv" \
		--exchange --no-copy -T "$1" "$2"
}

root_build_failed() {
	progress_end
	tail -n 15 "$1" >&2
	die "could not make the root; the end of $1 is above. What was downloaded is kept: run it again."
}

# The minimal tree. The backports line uses the mirror that mmdebstrap chose for Debian 13 itself, and Default-Release
# selects QEMU and its firmware from the same release.
root_bootstrap() {
	# shellcheck disable=SC2016
	ns_guard mmdebstrap --mode=root --variant=apt \
		--skip=cleanup/apt/lists \
		--aptopt='Acquire::Languages "none"' \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='APT::Install-Recommends "0"' \
		--dpkgopt=force-unsafe-io --dpkgopt=force-confold \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-include=/usr/share/doc/*/copyright' \
		--setup-hook='main=$(grep -hm 1 "^deb .* trixie main" "$1"/etc/apt/sources.list)
			cd "$1"/etc/apt
			echo "$main" | sed "s/ trixie / trixie-backports /" >sources.list.d/backports.list
			echo "$main" | sed "s/^deb /deb-src /" >sources.list.d/source.list
			echo "APT::Default-Release \"trixie-backports\";" >apt.conf.d/99ohca' \
		trixie "$OHCA_CACHE/root.new" >>"$1" 2>&1
}

# Everything else, by the tree's own apt; the stamp is written last.
root_populate() {
	ns_run mkdir -p "$ROOT_TREE"/{repo,cache,share,etc/ohca}
	root_apt "$1" base && echo "${ROOT##*-}" | ns_write "$ROOT_TREE/etc/ohca/stamp"
}

# ns_write FILE: copies stdin into FILE, which may belong to a subordinate id.
ns_write() {
	# shellcheck disable=SC2016
	ns_run sh -c 'umask 022 && cat >"$1"' sh "$1"
}

# root_apt LOG GROUP [PACKAGE...]: installs the packages of packages.GROUP, or these, in $ROOT_TREE (see populate.sh).
root_apt() {
	local log=$1
	shift
	ns_run cp -L /etc/resolv.conf "$ROOT_TREE/etc/resolv.conf"
	root_run rw - bash /repo/tools/lab/lib/populate.sh "$@" \
		3> >(apt_progress "$1 packages") >>"$log" 2>&1
}

# root_add GROUP: installs the packages of packages.GROUP in the finished root at first use.
root_add() {
	! root_contained || die_usage "a container gets no packages; make an image that has them"
	root_has "$1" || root_change root_add_group "$1"
}

# root_stamp GROUP: prints a hash of the group's list.
root_stamp() {
	sha256sum <"$LAB/packages.$1" | cut -d ' ' -f 1
}

# root_has GROUP: whether the packages are installed.
root_has() {
	[ "$(cat "$ROOT/etc/ohca/stamp.$1" 2>/dev/null)" = "$(root_stamp "$1")" ]
}

# root_add_group GROUP: see root_add.
root_add_group() {
	local log=$OHCA_CACHE/setup.log
	! root_has "$1" || return 0
	note "adding to the root, once: $({ package_list "$1" && kernel_series "$1" | sed 's/^/linux-image-/'; } | xargs)"
	progress_begin "copying the root"
	root_copy
	progress_end
	: >"$log"
	ROOT_TREE=$OHCA_CACHE/root.new root_apt "$log" "$1" || root_build_failed "$log"
	root_stamp "$1" | ns_write "$OHCA_CACHE/root.new/etc/ohca/stamp.$1"
	root_replace
}

# root_clean: removes everything that the lab has made.
root_clean() {
	local part
	root_lock -x
	for part in "$OHCA_CACHE"/{root,root-*,root.new,root.old.*,test.*,download,debian,packages,image,kernels,build,ccache,debug-kernel,arm64-64k-kernel,durations,bench-history,setup.log}; do
		ns_run rm -rf "$part"
	done
	rm -f "$OHCA_CACHE"/{lock,lock.gate,lock.change}
	rmdir --ignore-fail-on-non-empty "$OHCA_CACHE"
}
