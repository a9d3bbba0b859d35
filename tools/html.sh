#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# html.sh: makes the site of the documentation in build/html: begin with index.html. A warning is an error.

set -euo pipefail
cd "$(dirname "$0")/.."
out=build/html
mkdir -p "$out"
tools/lab/ohca-lab setup html
# shellcheck source=/dev/null
. tools/lab/lib/log.sh
progress_begin "making the site"
tools/lab/ohca-lab exec --share "$out" -- sphinx-build -q -W --keep-going -n -b html -d /tmp/doctrees \
	/repo/Documentation /share
progress_end
echo "$out/index.html"
