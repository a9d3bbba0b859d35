# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Resuming: a set that passed in an earlier run of the same tree does not run again. $results has these files for that:
#   tree       checksum of the tree's files
#   SET/ended  if the set passed: folder of its files in $work (see set.sh), and of the file "form", what had run

# resume_tree: prints what the file "tree" has. Results do not depend on what was built.
resume_tree() {
	find . \( -path ./build -o -path ./.git \) -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
}

# resume_form SET: prints what the set runs, and on what. Which scripts a set has depends on the runner's options.
resume_form() {
	echo "${set_kind[$1]} ${set_kernel[$1]} ${set_vms[$1]} ${set_hcas[$1]} ${set_smp[$1]-} ${set_link[$1]-} ${set_tests[$1]}"
	! plan_is_long "${set_kernel[$1]}" || echo long
}

# resume_same DIR: whether DIR is empty, or has results of this tree, and of no set that would run otherwise now. Writes the
# file "tree" if it is empty.
resume_same() {
	local name
	if [ -z "$(ls -A "$1")" ]; then
		resume_tree >"$1/tree"
		return
	fi
	resume_tree | cmp -s - "$1/tree" || return
	for name in "${sets[@]}"; do
		[ ! -d "$1/$name/ended" ] || resume_form "$name" | cmp -s - "$1/$name/ended/form" || return
	done
}

# resume_passed SET: whether it passed in the earlier run.
resume_passed() {
	[ -e "$work/$1/sums" ]
}

# resume_read: reads the results of sets that passed; removes those of others.
resume_read() {
	local name count=0
	for name in "${sets[@]}"; do
		if [ -d "$results/$name/ended" ]; then
			cp -r "$results/$name/ended" "$work/$name"
			count=$((count + 1))
		else
			rm -rf "${results:?}/$name" "${results:?}/$name.again"
		fi
	done
	echo "# resumed: $count of ${#sets[@]} sets passed before"
}

# resume_write SET: keeps the results of a set that has passed.
resume_write() {
	local failed file
	read -r _ failed _ <"$work/$1/sums"
	[ "$failed" = 0 ] || return 0
	mkdir "$results/$1/ended.new"
	resume_form "$1" >"$results/$1/ended.new/form"
	for file in seconds cpu status failed times sums; do
		[ ! -e "$work/$1/$file" ] || cp "$work/$1/$file" "$results/$1/ended.new/"
	done
	mv "$results/$1/ended.new" "$results/$1/ended"
}
