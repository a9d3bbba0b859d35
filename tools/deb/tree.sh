# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Debian trees in the lab's cache, in which packages are built. Runs outside of the root, after tools/lab/lib/*.sh.
#
# $OHCA_CACHE/debian/SUITE             a finished tree; its etc/ohca/stamp is a hash of its recipe
# $OHCA_CACHE/debian/SUITE.new         one under construction
# $OHCA_CACHE/debian/SUITE.log         messages
# $OHCA_CACHE/debian/lock              held while a tree is made
# $OHCA_CACHE/debian/rdma-core_*.tar.* (optional, the user's) source of rdma-core, if the mirror lacks it

TREES=$OHCA_CACHE/debian

# tree_setup NAME SUITE SCRIPT: makes the tree $TREES/NAME of the release SUITE, unless there is one. SCRIPT, a path
# in the checkout, installs packages in it.
tree_setup() {
	local name=$1 suite=$2 script=$3 log=$TREES/$1.log stamp
	mkdir -p "$TREES"
	stamp=$(tree_recipe "$script")
	exec 5>"$TREES/lock"
	flock 5
	if [ "$(cat "$TREES/$name/etc/ohca/stamp" 2>/dev/null)" != "$stamp" ]; then
		root_check_host
		note "making a tree of Debian $suite in $TREES/$name (log: $log)"
		ns_run rm -rf "$TREES/$name.new" "$TREES/$name"
		: >"$log"
		if ! tree_make "$suite" "$TREES/$name.new" "$script" >>"$log" 2>&1; then
			tail -n 15 "$log" >&2
			die "could not make the tree; the end of $log is above"
		fi
		echo "$stamp" | ns_write "$TREES/$name.new/etc/ohca/stamp"
		mv "$TREES/$name.new" "$TREES/$name"
	fi
	exec 5>&-
}

# tree_make SUITE DIR SCRIPT
tree_make() {
	tree_bootstrap "$1" "$2" && ns_run mkdir -p "$2"/{repo,cache,share,etc/ohca} &&
		ns_run cp -L /etc/resolv.conf "$2/etc/resolv.conf" && ROOT_TREE=$2 root_run rw - bash "/repo/$3"
}

# tree_recipe SCRIPT: prints a hash of what the tree is made by.
tree_recipe() {
	{
		cat "$REPO/tools/deb/tree.sh" "$REPO/$1"
		sed -n '/^Build-Depends:/,/^Standards/p' "$REPO/debian/control"
	} | sha256sum
}

# tree_bootstrap SUITE DIR: the minimal tree, with sources, and with backports for those who name them.
tree_bootstrap() {
	# shellcheck disable=SC2016 # for the hook's shell
	ns_guard mmdebstrap --mode=root --variant=apt --skip=cleanup/apt/lists \
		--aptopt='Acquire::Languages "none"' \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='APT::Install-Recommends "0"' \
		--aptopt='APT::Sandbox::User "root"' \
		--dpkgopt=force-unsafe-io --dpkgopt=force-confold \
		--setup-hook='main=$(grep -hm 1 "^deb .* '"$1"' main" "$1"/etc/apt/sources.list)
			cd "$1"/etc/apt
			echo "$main" | sed "s/ '"$1"' / '"$1"'-backports /" >sources.list.d/backports.list
			echo "$main" | sed "s/^deb /deb-src /" >sources.list.d/source.list' \
		"$1" "$2"
}
