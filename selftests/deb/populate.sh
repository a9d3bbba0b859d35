#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# populate.sh: installs what the packages depend on, and what the test uses, so that the packages alone are missing. Runs
# inside a tree (see tools/deb/tree.sh), writable.

set -euo pipefail
# A small initial RAM disk
mkdir -p /etc/initramfs-tools/conf.d
echo 'MODULES=list' >/etc/initramfs-tools/conf.d/test
printf '%s\n' virtio_pci virtio_blk ext4 >/etc/initramfs-tools/modules

# The driver needs a newer kernel than that of Debian 12, whose backports have one. Nothing else is from there.
. /etc/os-release
release=$VERSION_CODENAME
[ "$release" != bookworm ] || release+=-backports
apt-get -y install "linux-image-amd64/$release" "linux-headers-amd64/$release"
apt-get -y install bash-completion dbus dkms file groff-base ibverbs-providers ibverbs-utils initramfs-tools iproute2 kmod libdeflate0 \
	libibverbs1 libjson-c5 libncursesw6 libseccomp2 libvirt-clients libxml2-utils man-db mmdebstrap python3 systemd-sysv uidmap udev libjs-sphinxdoc
# The environment says that packages make none.
update-initramfs -c -k all
apt-get clean
