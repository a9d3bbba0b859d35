# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Seals of files in the cache: FILE.seal says what FILE was when it was made, so that one that was cut
# short or changed since is noticed. Runs inside the root.
#
# FILE.seal: SIZE CHECKSUM INODE MTIME. A file that still has its size, inode and time is taken as it is.
# One that was copied, as when a cache is unpacked elsewhere, is read once.

# seal_identity FILE: its inode and time.
seal_identity() {
	stat -c '%i %.Y' "$1" 2>/dev/null
}

# seal_sum FILE: its size and checksum.
seal_sum() {
	cksum <"$1" | awk '{ print $2, $1 }'
}

# seal FILE...: these are as they should be.
seal() {
	local file
	for file; do
		echo "$(seal_sum "$file") $(seal_identity "$file")" >"$file.seal.new"
		mv "$file.seal.new" "$file.seal"
	done
}

# seal_holds FILE...: whether they are still as they were sealed.
seal_holds() {
	local file size sum identity
	for file; do
		[ -e "$file" ] && [ -e "$file.seal" ] || return 1
		read -r size sum identity <"$file.seal" || return 1
		[ "$identity" != "$(seal_identity "$file")" ] || continue
		[ "$size $sum" = "$(seal_sum "$file")" ] || return 1
		seal "$file"
	done
}
