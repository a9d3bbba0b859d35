#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# image.sh [NAME]: makes a container image of the lab: the Debian tree with QEMU and compilers, the machines' disk image with the
# newest kernel's snapshot, everything that is built, and this checkout. Needs podman, whose other options are in $PODMAN
# (podman). The archives are in build/image until it is done: 5 GB.

set -euo pipefail
cd "$(dirname "$0")/../.."
REPO=$PWD
LAB=$REPO/tools/lab/ohca-lab
CACHE=${OHCA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ohca}
name=${1:-ohca}
read -ra podman <<<"${PODMAN:-podman}"
command -v "${podman[0]}" >/dev/null || {
	echo "image.sh: ${podman[0]} is missing; as root: apt-get install podman" >&2
	exit 1
}
context=build/image
rm -rf "$context"
mkdir -p "$context/share"
trap 'rm -rf "$context"' EXIT

# recipe: prints the hash of what the machines' disk image depends on.
recipe() {
	"$LAB" exec -- bash -c 'cd /repo/tools/lab/lib && . ./arch.sh && . ./image.sh && arch_set amd64 && image_recipe' |
		sha256sum | cut -c 1-16
}

# Packages may be added to the tree meanwhile: it has to be the one of which the disk image was made.
image=''
while [ "$image" != "$(recipe)" ]; do
	image=$(recipe)
	"$LAB" run -- true # builds, and makes the snapshot
	"$LAB" exec -- tar -cf - -C / --exclude='./repo/*' --exclude='./cache/*' --exclude='./share/*' --one-file-system . >"$context/root.tar"
done
# The name of the builds' folder is a hash of the checkout's path, which is /repo in the image (ohca-lab, inside).
here=$(sha256sum <<<"$REPO" | cut -c 1-12) there=$(sha256sum <<</repo | cut -c 1-12)
: >"$context/container"
# Of the snapshots, the one that was used last. podman knows no sparse archives.
snapshot=$(find "$CACHE/image/$image" -name 'snapshot-*.lock' -printf '%T@ %f\n' | sort -n | sed -n '$s/.* \(.*\)\.lock/\1/p')
mapfile -t files < <(cd "$CACHE" && printf '%s\n' "image/$image"/{root.ext4,initrd-,modules-,"$snapshot"}*)
# Others may use the cache: 1 means that a lock has changed meanwhile; the images have seals.
tar -C "$CACHE" --warning=no-file-changed --transform="s,^build/$here,build/$there," -cf "$context/cache.tar" \
	"${files[@]}" "build/$here" || [ $? = 1 ]
tar --exclude=./build --exclude=./.git -cf "$context/repo.tar" .
"${podman[@]}" build -q -t "$name" -f tools/ci/Containerfile "$context"
