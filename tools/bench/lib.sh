# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Functions for all benchmarks. Results are records, lines "TABLE name=value ...", from which the other formats are
# made.

# bench_host: prints place and time of the measurement, as records.
bench_host() {
	local model load
	model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1 | tr ' ' _)
	read -r load _ </proc/loadavg
	echo "host cpu=$model cores=$(nproc) memory_mib=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" \
		"kernel=$(uname -r) date=$(date -u +%Y-%m-%dT%H:%MZ) load=$load"
}

# bench_json RECORDS: prints the records as a JSON array of objects.
bench_json() {
	awk '
		BEGIN { print "[" }
		{
			printf "%s  {\"table\": \"%s\"", (NR > 1 ? ",\n" : ""), $1
			for (i = 2; i <= NF; i++) {
				at = index($i, "=")
				value = substr($i, at + 1)
				if (value !~ /^-?[0-9]+(\.[0-9]+)?$/)
					value = "\"" value "\""
				printf ", \"%s\": %s", substr($i, 1, at - 1), value
			}
			printf "}"
		}
		END { print "\n]" }' "$1"
}
