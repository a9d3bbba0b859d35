#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# install.sh: installs the packages in /share, and looks at them. Runs inside a clean tree.

# shellcheck source=selftests/deb/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/lib/help.sh
. "$(dirname "$0")/../lib/help.sh"
PROGRAMS=(ohcad ohcactl ohca-lab ohca-topology)

install_all() {
	apt-get -y install /share/*.deb >/tmp/log 2>&1 || { cat /tmp/log && return 1; }
}

# Only what is there before: dependencies would be left.
nothing_else() {
	local installed
	installed=$(grep -c '^Unpacking ' /tmp/log)
	[ "$installed" = "$(find /share -name '*.deb' | wc -l)" ] || { grep '^Unpacking ' /tmp/log && return 1; }
}

module_is_built() {
	local file
	dkms status
	file=$(find /lib/modules -name 'ohca.ko*')
	[ "$(wc -w <<<"$file")" = 1 ] && modinfo -F alias "$file" | grep -i 'pci:v00001234d00000CA0' &&
		[ "$(modinfo -F vermagic "$file" | cut -d ' ' -f 1)" = "$(ls /lib/modules)" ]
}

# page_has NAME [VERB]...: the page is found, groff has no warnings, and it has each option of --help.
page_has() {
	man -w "$1" || return
	man --warnings -E UTF-8 "$1" >/tmp/page 2>/tmp/warnings
	[ ! -s /tmp/warnings ] || { cat /tmp/warnings && return 1; }
	page_has_options /tmp/page "$@"
}

# completes COMMAND WORD... = WORD: bash completes the last word to that.
completes() {
	local name=$1 words=()
	while [ "$1" != = ]; do
		words+=("$1")
		shift
	done
	bash -c '. /usr/share/bash-completion/bash_completion
		name=$1 want=$2
		shift 2
		_completion_loader "$name" 2>/dev/null || _comp_load "$name"
		compopt() { :; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		"$(complete -p "$name" | sed "s/.*-F \([^ ]*\) .*/\1/")"
		echo "$*: ${COMPREPLY[*]}"
		[[ " ${COMPREPLY[*]} " = *" $want "* ]]' bash "$name" "$2" "${words[@]}"
}

ohcad_answers() {
	local pid status=1 tries=100
	mkdir -p /run/ohcad/test
	ohcad --hca socket=/run/ohcad/test/hca0,mac=52:4f:48:43:41:00 --control /run/ohcad/test/control &
	pid=$!
	until [ -S /run/ohcad/test/control ] || [ $((tries -= 1)) = 0 ]; do
		sleep 0.1
	done
	ohcactl show hcas | grep hca0 && completes ohcactl link '' = hca0 && status=0
	kill "$pid"
	wait "$pid" || status=1
	return "$status"
}

# libibverbs loads providers only if there is an adapter, see machine.sh. Here the private symbols are compared.
provider_fits() {
	local file
	[ ! -e /share/no-provider ] || { echo "it is not built, as the mirror lacks sources" && return; }
	file=$(echo /usr/lib/*/libibverbs/libohca-rdmav*.so)
	ldd -r "$file" >/tmp/symbols 2>&1 && ! grep -E 'undefined|not found' /tmp/symbols && grep 'libibverbs.so.1 =>' /tmp/symbols &&
		[ -n "$(find "${file%/*}" -name "*-${file##*-}" ! -name 'libohca*')" ] && grep -x 'driver ohca' /etc/libibverbs.d/ohca.driver
}

configuration_is_correct() {
	# shellcheck disable=SC2046 # words
	ohcad --check $(sed -n 's/^OHCAD_OPTIONS=//p' /etc/ohcad/default.conf)
}

files >/.test
check "the packages are installed" install_all || exit
check "and no others" nothing_else
check "DKMS builds the module for the kernel" module_is_built
check "the provider is for this libibverbs" provider_fits
check "ohcad starts, ohcactl finds and completes it" ohcad_answers
check "the configuration is correct" configuration_is_correct
check "the service is correct" systemd-analyze verify --man=no 'ohcad@default.service'
check "libvirt accepts the example" virt-xml-validate /usr/share/doc/ohcad/examples/libvirt.xml domain
check "the documentation is there" test -s /usr/share/doc/ohca-doc/html/installing.html
for name in "${PROGRAMS[@]}"; do
	case $name in
	ohca-lab) check "the page of $name" page_has "$name" run up exec setup ;;
	*) check "the page of $name" page_has "$name" ;;
	esac
done
check "the page of the driver" man -w 4 ohca
check "ohca-lab works" sh -c 'ohca-lab --version && ohca-lab key && cd /usr/share/ohca && ls Kbuild tools/ohcad/main.c'
check "completion of ohcad" completes ohcad --cont = --control
check "completion of ohcactl" completes ohcactl show po = ports
check "completion of ohca-lab" completes ohca-lab run --lin = --link
check "completion of ohca-topology" completes ohca-topology fat = fat-tree
# For the machine
install -m 755 /repo/selftests/deb/machine.sh /repo/selftests/deb/lib.sh /root/
