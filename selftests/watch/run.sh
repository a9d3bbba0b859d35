#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks with other programs what people see of a running device: metrics with curl and the parser of OpenMetrics of Prometheus'
# library for Python, "ohcactl top" on a terminal with pyte, which emulates one, and live captures with tshark. Runs in the lab's
# root; "ohca-lab setup watch" and "ohca-lab setup capture" install these programs there. Prints TAP.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
cd "$DIR/../.." || exit 1
if ! command -v curl > /dev/null || ! command -v tshark > /dev/null || ! python3 -c 'import prometheus_client, pyte' 2> /dev/null; then
	skip_all "no curl, tshark, prometheus_client or pyte"
fi
out=${O:?}/ohcad
dir=$(mktemp -d)
device=
trap '[ -z "$device" ] || kill "$device"; rm -rf "$dir"' EXIT
make -s -C selftests/ohcad O="$out" ohcad ohcactl > "$dir/make" 2>&1 || { cat "$dir/make"; exit 1; }

# One Ethernet and one InfiniBand port; the name of an adapter has to be quoted in metrics.
"$out/ohcad/ohcad" --hca "socket=$dir/hca0,mac=02:00:00:00:00:01" \
	--hca "socket=$dir/hca1,mac=02:00:00:00:00:02,link=ib,name=a\"b\\c" \
	--control "$dir/control" --metrics "$dir/metrics" 2> "$dir/log" &
device=$!
until [ -S "$dir/metrics" ]; do
	kill -0 "$device" 2> /dev/null || { cat "$dir/log"; exit 1; }
	sleep 0.05
done
export OHCACTL_SOCKET="$dir/control"
ohcactl=$out/ohcactl/ohcactl

get() # path, option of curl...
{
	get_path=$1
	shift
	curl -sS --max-time 20 --unix-socket "$dir/metrics" "$@" "http://localhost$get_path"
}

# Parses the text strictly, and compares the families of both ways: each has samples but those that need uplinks or latencies.
parsed() # file
{
	python3 - "$1" << 'END'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(open(sys.argv[1]).read()))
empty = {f.name for f in families if not f.samples}
print(len(families), "families; without samples:", sorted(empty))
names = {f.name for f in families}
assert len(names) == len(families) > 40, "families"
assert "ohca_port_tx_bytes" in names and "ohca_hca_quota_used" in names, "names"
assert all(name.startswith("ohca_uplink_") or name == "ohca_hca_send_latency_seconds" for name in empty), empty
hcas = {s.labels["hca"] for f in families for s in f.samples if "hca" in s.labels}
assert hcas == {"hca0", 'a"b\\c'}, hcas
END
}

by_command()
{
	"$ohcactl" metrics > "$dir/text" && parsed "$dir/text"
}

by_http()
{
	get /metrics > "$dir/text" && parsed "$dir/text"
}

# The samples of a histogram that is measured are parsed, too.
histogram()
{
	"$ohcactl" latency hca0 on && by_http && python3 - "$dir/text" << 'END'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
samples = [s for f in text_string_to_metric_families(open(sys.argv[1]).read())
	   if f.name == "ohca_hca_send_latency_seconds" for s in f.samples]
print(samples)
assert len([s for s in samples if s.name.endswith("_bucket")]) == 28
END
}

status_is() # status, path, option of curl...
{
	status_wanted=$1
	shift
	status_found=$(get "$@" -o /dev/null -w '%{http_code}') && echo "$status_found" && [ "$status_found" = "$status_wanted" ]
}

# tshark reads a capture while it goes on, and ends first.  Without software at the adapters there are no packets; those of others are
# checked by selftests/ohcad/watch_test.
live()
{
	"$ohcactl" capture start - 2> "$dir/live" | tshark -i - -a duration:2 -F pcapng -w "$dir/live.pcapng" 2>> "$dir/tshark"
	cat "$dir/live" "$dir/tshark"
	grep -q 'capture: [0-9]* packets, 0 dropped' "$dir/live" && capinfos -t "$dir/live.pcapng" | grep -q pcapng
}

refused()
{
	refused_status=0
	"$ohcactl" top > "$dir/top" 2>&1 || refused_status=$?
	cat "$dir/top"
	[ "$refused_status" = 2 ] && [ "$(wc -l < "$dir/top")" = 1 ]
}

plan 10
check "metrics of ohcactl are OpenMetrics" by_command
check "metrics by HTTP are OpenMetrics" by_http
check "the histogram of latencies" histogram
check "HTTP: 200" status_is 200 /metrics
check "HTTP: 404" status_is 404 /
check "HTTP: 405" status_is 405 /metrics -X DELETE
check "top on 80 x 24, its keys, another size" python3 selftests/watch/top.py "$ohcactl"
check "top in a pipe prints one line" refused
check "tshark reads a live capture" live
kill "$device"
wait "$device"
status=$?
device=
check "the device ends well" test "$status" = 0
finish
