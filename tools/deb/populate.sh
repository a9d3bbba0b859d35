#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# populate.sh: installs what the packages are built and checked with. Runs inside a tree (see tree.sh), writable.

set -euo pipefail
# apt reads the dependencies of a source package's folder.
apt-get -y install build-essential ccache groff lintian man-db
apt-get -y build-dep /repo
# The private headers of libibverbs. Some mirrors lack sources.
cd /usr/src
apt-get source --tar-only --download-only rdma-core || echo "no source of rdma-core"
apt-get clean
