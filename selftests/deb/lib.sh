# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Functions of the phases of the test.

export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

# check NAME COMMAND...: the command, in this shell, has to succeed.
check() {
	local name=$1 status=0
	shift
	"$@" </dev/null || status=$?
	if [ "$status" = 0 ]; then
		echo "pass $name"
	else
		echo "status $status: $*"
		echo "fail $name"
	fi
	return "$status"
}

# files: prints all files of the tree, with mode, owner and contents, but for logs, caches, and what apt and dpkg write for
# themselves.
files() {
	find / -xdev \( -path /repo -o -path /cache -o -path /share -o -path /tmp -o -path /run -o -path /proc -o -path /dev -o -path /sys \
		-o -path /var/log -o -path /var/cache -o -path /var/lib/apt -o -path '/var/lib/dpkg/*' ! -path '/var/lib/dpkg/info*' \
		-o -path /etc/ld.so.cache -o -path /.test \) -prune -o -printf '%M %u %g %p %l\n'
	find /etc /usr /opt /var/lib -xdev -type f ! -path '/var/lib/dpkg/*' ! -path '/var/lib/apt/*' ! -path /etc/ld.so.cache \
		-exec sha256sum {} +
}
