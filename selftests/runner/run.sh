#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All tests of the runner, from the outside.
cd "$(dirname "$0")" || exit 1
status=0
for test in check_*.sh; do
	"./$test" || status=1
done
exit $status
