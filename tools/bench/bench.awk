# SPDX-License-Identifier: GPL-2.0
# The report of bench.sh, made of its records (with records.awk).

{ record() }
f["table"] == "host" { host = host_line() }
f["table"] == "limit" { limit[f["what"], f["size"]] = f["value"]; unit_of_limit[f["what"]] = f["unit"] }

f["table"] == "figure" {
	key = f["row"] SUBSEP f["what"] SUBSEP f["size"] SUBSEP f["qps"] SUBSEP f["unit"]
	if (!(key in seen)) {
		seen[key] = 1
		order[++keys] = key
	}
	value[key, f["device"]] = f["value"]
	mtu[key, f["device"]] = f["mtu"]
}

function number(v, unit) {
	if (v == "")
		return ""
	if (unit == "MB/s" && v >= 1000)
		return sprintf("%.2f GB/s", v / 1000)
	if (unit == "us")
		return as_time(v * 1000)
	return sprintf(v >= 100 ? "%.0f %s" : "%.3g %s", v, unit)
}

# By what factor the OHCA is better: as measured in turn, if it was. For units of time and memory, less is better.
function ratio(key, unit,    a, b, measured, of) {
	split(key, of, SUBSEP)
	measured = key_of(of[1], of[2], of[3], of[4], "times")
	if ((measured, "ohca") in value)
		return value[measured, "ohca"]
	a = value[key, "ohca"]
	b = value[key, "rxe"]
	if (a == "" || b == "" || a <= 0 || b <= 0)
		return ""
	return is_cost(unit) ? b / a : a / b
}

# The part of the limit that it reaches
function of_limit(part,    l) {
	l = limit["memcpy", part[3]]
	return part[5] == "MB/s" && l > 0 && value[part[0], "ohca"] != "" ? value[part[0], "ohca"] / l : ""
}

function rows_of(row,    t, k, part, r, l) {
	t = ""
	for (k = 1; k <= keys; k++) {
		split(order[k], part, SUBSEP)
		if (part[1] != row || part[5] == "times")
			continue
		part[0] = order[k]
		r = ratio(order[k], part[5])
		l = of_limit(part)
		what = part[2]
		gsub("_", " ", what)
		t = t sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", what,
			part[3] > 0 ? as_size(part[3]) : "", part[4], number(value[order[k], "ohca"], part[5]),
			number(value[order[k], "rxe"], part[5]), mtu[order[k], "rxe"],
			r == "" ? "" : sprintf(r >= 100 ? "%.0f" : "%.1f", r),
			l == "" ? "" : sprintf("%.0f %%", l * 100))
	}
	return t
}

function key_of(row, what, size, qps, unit) {
	return row SUBSEP what SUBSEP size SUBSEP qps SUBSEP unit
}

# A goal: at least this value (for a time, at most), and a factor over soft-RoCE
function figure_goal(what, row, name, size, unit, least, times,    key, v, r, ok, text) {
	key = key_of(row, name, size, 1, unit)
	if (!((key, "ohca") in value))
		return ""
	v = value[key, "ohca"]
	r = ratio(key, unit)
	ok = (least == "" || (unit == "us" ? v <= least : v >= least)) && (times == "" || r >= times)
	text = least == "" ? "" : (unit == "us" ? "≤ " : "≥ ") number(least, unit)
	if (times != "")
		text = text (text == "" ? "" : ", ") sprintf("≥ %d × soft-RoCE", times)
	return goal(what, text, number(v, unit) (r == "" ? "" : sprintf(", %.1f ×", r)), ok)
}

# InfiniBand beside Ethernet, by the ratios of neighbours: the lines of their table or, with @aim, of the table of goals
function links(aim,    t, k, part, key, r, what) {
	t = ""
	for (k = 1; k <= keys; k++) {
		key = order[k]
		split(key, part, SUBSEP)
		if (part[1] != "links" || part[5] == "times")
			continue
		r = value[key_of(part[1], part[2], part[3], part[4], "times"), "ib"]
		what = part[2]
		gsub("_", " ", what)
		if (aim)
			t = t goal("InfiniBand, " what " " as_size(part[3]), "≥ 0.9 × Ethernet", sprintf("%.2f ×", r), r >= 0.9)
		else
			t = t sprintf("| %s | %s | %s | %s | %.2f |\n", what, as_size(part[3]), number(value[key, "eth"], part[5]),
				number(value[key, "ib"], part[5]), r)
	}
	return t
}

# Until ports are ACTIVE
function active(    t, k, part, what) {
	what["cable"] = "a cable is plugged in"
	what["manager"] = "a subnet manager begins, two machines"
	what["nothing"] = "a request to ohcad alone, which the first one includes"
	t = ""
	for (k = 1; k <= keys; k++) {
		split(order[k], part, SUBSEP)
		if (part[1] == "active")
			t = t sprintf("| %s | %s | %s |\n", what[part[2]], number(value[order[k], "eth"], part[5]),
				number(value[order[k], "ib"], part[5]))
	}
	return t
}

function goals(    t) {
	t = figure_goal("`ib_write_bw` 64 KiB", "bw", "write", 65536, "MB/s", 7000, 100)
	t = t figure_goal("`ib_write_bw` 1 MiB, 70 % of memcpy", "bw", "write", 1048576, "MB/s",
		0.7 * limit["memcpy", 1048576], "")
	t = t figure_goal("`ib_read_lat` 8 B", "lat", "read_lat", 8, "us", 4, 10)
	t = t figure_goal("`ib_write_bw` 64 B", "bw", "write_rate", 64, "Mmsg/s", 0.5, 20)
	t = t figure_goal("`ib_send_bw` 64 B", "bw", "send_rate", 64, "Mmsg/s", "", 8)
	t = t figure_goal("registration of 4 KiB", "objects", "reg_mr", 4096, "us", "", 1)
	t = t figure_goal("creation of a QP, to RTS", "objects", "qp_to_rts", 0, "us", "", 1)
	t = t virtio_goal("IPoIB, datagram mode", "datagram") virtio_goal("IPoIB, connected mode", "connected")
	return t links(1)
}

# Bandwidth, and processor time for each MB
function virtio_goal(what, mode,    key, cost) {
	key = key_of("ipoib", mode, 0, 1, "MB/s")
	cost = key_of("ipoib", mode, 0, 1, "ms/MB")
	if (!((key, "ohca") in value))
		return ""
	return goal(what, "faster than virtio-net", number(value[key, "ohca"], "MB/s") sprintf(", %.1f ×", ratio(key, "MB/s")),
			ratio(key, "MB/s") > 1) \
		goal(what ", processor time", "less than virtio-net's",
			number(value[cost, "ohca"], "ms/MB") sprintf(", %.1f ×", ratio(cost, "ms/MB")), ratio(cost, "ms/MB") > 1)
}

function table_of(title, text, row,    t) {
	t = rows_of(row)
	if (t != "")
		show(title, text, "what | size | QPs | OHCA | soft-RoCE | its MTU | times better | of memcpy", t)
}

END {
	print "# OHCA in machines\n\n" host "\n"
	printf "Two machines of one fabric, %s, no KVM unless the host has it; medians of %d run(s). soft-RoCE\n", machines, runs
	print "is measured in the same machines; of its figures at different MTUs, the better one is shown."
	g = goals()
	if (g != "")
		show("Goals", "", "measure | goal | measured | ", g)
	t = ""
	n = split("2 64 1024 4096 65536 1048576 8388608", s, " ")
	for (i = 1; i <= n; i++)
		t = t sprintf("| a copy, at one place | %s | %s |\n", as_size(s[i]), number(limit["memcpy", s[i]], "MB/s"))
	for (i = 1; i <= n; i++)
		t = t sprintf("| a copy, at another place each time | %s | %s |\n", as_size(s[i]),
			number(limit["memcpy_elsewhere", s[i]], "MB/s"))
	t = t sprintf("| a word to a polling program and back | | %s |\n", as_time(limit["there_and_back", 8] * 1000))
	t = t sprintf("| reading the clock | | %s |\n", as_time(limit["empty_loop", 0] * 1000))
	show("Limits of the host", "Between memory that two programs share, not in machines.", "what | size | ", t)
	table_of("Bandwidth", "One connection, one direction.", "bw")
	table_of("Both directions at a time", "", "bidir")
	table_of("Latency", "The typical one, and what 99 and 99.9 % do not exceed.", "lat")
	table_of("Message rate", "WRITEs of 64 B.", "rate")
	table_of("Datagrams", "", "ud")
	table_of("Unreliable connections", "", "uc")
	table_of("Atomics", "", "atomic")
	table_of("Objects", "Of one machine; the devices take turns of 5 ms, and how many times better OHCA is is the " \
		"median of what each turn says of itself and the next one. Memory of one of 1,000 CQs, of 1,000 and more " \
		"connected QPs, of as many regions.", "objects")
	table_of("Many objects", "The time of one of so many of a kind, in one machine; and of one of those that a process had that " \
		"was killed, until it is gone. The devices take turns of a hundredth.", "many")
	table_of("Many queue pairs", "WRITEs of 64 B in one machine, some of the QPs at work.", "qps")
	table_of("Many regions", "WRITEs of 64 B in one machine, each from one of so many regions of a page to another one.", "mrs")
	table_of("Machines in a ring", "Each writes to the next one, or the only one to itself, 64 KiB at a time; what they get together.", "ring")
	table_of("Connections by the connection manager", "", "cm")
	table_of("TCP on the network device", "", "net")
	table_of("TCP over IPoIB", "In datagram and in connected mode, beside the virtio-net of the same machines, in turn. Processor " \
		"time is that of QEMU and ohcad.", "ipoib")
	t = links(0)
	if (t != "")
		show("Ethernet and InfiniBand", "Of two ports of the same machines, in turn. The factor is the median of those of neighbours; " \
			"above 1, InfiniBand is better.", "what | size | Ethernet | InfiniBand | times better", t)
	t = active()
	if (t != "")
		show("Until ports are ACTIVE", "Of machines with a port of each link layer.", "what begins it | Ethernet | InfiniBand", t)
}
