# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Seals of files in the cache: FILE.seal describes FILE at the time when it was made, so that a file that was
# truncated or changed later is detected. Runs inside the root.
#
# FILE.seal: SIZE CHECKSUM INODE MTIME. A file with the same size, inode and time is accepted. The checksum of a file
# that was copied, as when a cache is unpacked elsewhere, is verified once. In a container (root.sh), whose layers have checksums of
# their own, a file with the same time is accepted.

# seal_identity FILE...: prints the inode and the time of each.
seal_identity() {
	stat -c '%i %.Y' "$@" 2>/dev/null
}

# seal_sum FILE: prints its size and checksum.
seal_sum() {
	cksum <"$1" | awk '{ print $2, $1 }'
}

# seal FILE...: seals files.
seal() {
	local file
	for file; do
		echo "$(seal_sum "$file") $(seal_identity "$file")" >"$file.seal.new"
		mv "$file.seal.new" "$file.seal"
	done
}

# seal_holds FILE...: whether they match their seals.
seal_holds() {
	local file size sum identity now identities
	for file; do
		[ -e "$file" ] && [ -e "$file.seal" ] || return 1
	done
	mapfile -t identities < <(seal_identity "$@")
	[ "${#identities[@]}" = $# ] || return 1
	for file; do
		read -r size sum identity <"$file.seal" || return 1
		now=${identities[0]} identities=("${identities[@]:1}")
		[ "$identity" != "$now" ] || continue
		[ ! -e /etc/ohca-container ] || [ "${identity#* }" != "$(stat -c '%.Y' "$file")" ] || continue
		[ "$size $sum" = "$(seal_sum "$file")" ] || return 1
		seal "$file"
	done
}
