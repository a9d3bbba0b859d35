# SPDX-License-Identifier: GPL-2.0
# The comparison of two runs of the history, the files (with records.awk): first what is worse beyond its limit, then what is better,
# then the rest. Each measure has its limit, in percent. Fails if instructions, which do not depend on what else the host does, are worse.

BEGIN {
	limit["instructions"] = 1
	limit["bytes"] = 5
	limit["device_ns"] = 20
	limit["ns"] = 30
	limit["mmsgs"] = 30
	limit["figure"] = 40
	limit["times"] = 30
}

FNR == 1 { file++ }

$1 == "run" {
	run[file] = sprintf("%s of %s (%s)", substr($3, 1, 12) ($3 ~ /-dirty$/ ? " with changes" : ""), $6, $5)
	host = $4
	kind = $2
	next
}

{ record() }
f["table"] == "instructions" {
	take("instructions", f["link"] " " f["of"] " " f["qp"] " " f["op"] " " f["signaled"] " " as_size(f["size"]), f["each"], "instructions", 1)
}
f["table"] == "op" {
	take("device_ns", f["qp"] " " f["op"] " " f["signaled"] " " as_size(f["size"]) " " f["pages"] " " f["buffers"], f["device_ns"], "ns", 1)
}
f["table"] == "latency" { take("ns", f["what"], f["ns"], "ns", 1) }
f["table"] == "rate" { take("mmsgs", "rate " f["what"] " " as_size(f["size"]), f["mmsgs"], "M msg/s", 0) }
f["table"] == "object" && f["bytes"] > 0 { take("bytes", "memory of a " f["what"], f["bytes"], "B", 1) }
f["table"] == "object" { take("ns", "creation of a " f["what"], f["ns"], "ns", 1) }
f["table"] == "figure" && f["device"] == "ohca" {
	take(f["unit"] == "times" ? "times" : "figure",
		f["row"] " " f["what"] (f["size"] > 0 ? " " as_size(f["size"]) : "") " " f["qps"], f["value"], f["unit"], is_cost(f["unit"]))
}

# A value: of that measure, name and unit. @cost: less is better
function take(measure, name, value, unit, cost,    key) {
	key = measure SUBSEP name SUBSEP unit
	if (!(key in measure_of)) {
		order[++keys] = key
		measure_of[key] = measure
		name_of[key] = name
		unit_of[key] = unit
		cost_of[key] = cost
	}
	values[key, file] = value
}

# By how many percent it is worse; less than 0: it is better
function worse_by(key,    a, b, grown) {
	a = values[key, 1]
	b = values[key, 2]
	if (a <= 0)
		return 0
	grown = (b - a) / a * 100
	return cost_of[key] ? grown : -grown
}

function line(key,    a, b) {
	a = values[key, 1]
	b = values[key, 2]
	return sprintf("  %-52s %10.6g  ->  %10.6g %-12s  %+.1f %%, limit %d %%\n", name_of[key], a, b, unit_of[key],
		a > 0 ? (b - a) / a * 100 : 0, limit[measure_of[key]])
}

function section(title, num, text) {
	printf "\n%s: %d\n%s", title, num, text
}

END {
	for (k = 1; k <= keys; k++) {
		key = order[k]
		if (!((key, 1) in values) || !((key, 2) in values)) {
			alone++
			continue
		}
		by = worse_by(key)
		if (by > limit[measure_of[key]]) {
			worse = worse line(key)
			num_worse++
			failed = failed || measure_of[key] == "instructions"
		} else if (by < -limit[measure_of[key]]) {
			better = better line(key)
			num_better++
		} else {
			same = same line(key)
			num_same++
		}
	}
	printf "make %s: %s, then %s, on %s\n", kind == "device" ? "bench-device" : "bench", run[1], run[2], host
	section("worse beyond the limit", num_worse, worse)
	section("better beyond the limit", num_better, better)
	section("within the limit", num_same, same)
	if (alone)
		printf "\nmeasured in one of them only: %d\n", alone
	exit failed
}
