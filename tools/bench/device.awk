# SPDX-License-Identifier: GPL-2.0
# The report of device.sh, made of its records (with records.awk).

# A line of a table
function row(text) {
	rows[f["table"]] = rows[f["table"]] "| " text " |\n"
}

# Median and quartiles
function spread_of() {
	return as_time(f["device_ns"]) " | " as_time(f["low_ns"]) " - " as_time(f["high_ns"])
}

{ record() }
f["table"] == "host" { host = host_line() }
f["table"] == "instructions" && f["of"] == "ops" { ir[f["qp"], f["op"], f["signaled"], f["size"]] = f["each"] }
f["table"] == "instructions" && f["of"] != "ops" {
	pair_ir[f["link"], f["qp"], f["op"], f["signaled"], f["size"]] = f["each"]
}

# The line of an operation of two pairs of ports.  @times: of their times.  Returns that of their instructions, 0: not counted
function compare(first, second, times,    line, a, b, times_ir) {
	line = f["qp"] SUBSEP f["op"] SUBSEP f["signaled"] SUBSEP f["size"]
	a = pair_ir[first, line]
	b = pair_ir[second, line]
	times_ir = first == "eth" ? quotient(a, b) : quotient(b, a)
	row(sprintf("%s | %s | %s | %s | %s | %s | %.2f | %s | %s | %.2f", f["qp"], f["op"], f["signaled"],
		as_size(f["size"]), as_time(f[first "_ns"]), as_time(f[second "_ns"]), times, a, b, times_ir))
	return times_ir
}

function quotient(a, b) {
	return b > 0 ? a / b : 0
}

# How many times better InfiniBand is than Ethernet
f["table"] == "link" {
	times_ir = compare("eth", "ib", f["ratio"])
	if (worst == "" || f["ratio"] < worst)
		worst = f["ratio"]
	if (times_ir > 0 && (worst_ir == "" || times_ir < worst_ir))
		worst_ir = times_ir
}

# How many times more five switches cost
f["table"] == "hops" {
	cost = 1 / f["ratio"]
	times_ir = compare("none", "five", cost)
	if (cost > worst_hops)
		worst_hops = cost
	if (times_ir > worst_hops_ir)
		worst_hops_ir = times_ir
}

f["table"] == "op" {
	each = ir[f["qp"], f["op"], f["signaled"], f["size"]]
	where = f["pages"] SUBSEP f["buffers"]
	if (where != "scattered" SUBSEP "hot")
		each = ""
	row(sprintf("%s | %s | %s | %s | %s, %s | %s | %s | %s | %.2f | %s | %.0f %%", f["qp"], f["op"],
		f["signaled"], as_size(f["size"]), f["pages"], f["buffers"], spread_of(), each, as_time(f["total_ns"]), f["size"] / f["device_ns"],
		as_time(f["memcpy_ns"]), f["of_memcpy"] * 100))
	if (f["op"] == "WRITE" && f["qp"] == "RC" && f["signaled"] == "last") {
		device[f["size"], where] = f["device_ns"]
		total[f["size"], where] = f["total_ns"]
		of_memcpy[f["size"], where] = f["of_memcpy"]
	}
}

f["table"] == "idle" {
	row(f["qps"] " | " spread_of())
	if (f["qps"] == 0) {
		alone += f["device_ns"]
		alones++
	} else {
		beside = f["device_ns"]
	}
}

f["table"] == "spread" { row(f["qps"] " | " spread_of()) }

f["table"] == "latency" {
	latency[f["what"]] = f["ns"]
	row(f["what"] " | " as_time(f["ns"]) " | " as_time(f["p99_ns"]) " | " as_time(f["p999_ns"]))
}

# What others do while two HCAs, or one, send messages of 8 B
f["table"] == "beside" {
	row(sprintf("%s | %d | %s | %s | %s | %.1f", f["what"], f["samples"], as_time(f["ns"]), as_time(f["p99_ns"]), as_time(f["p999_ns"]), f["ratio"]))
	beside_ns[f["what"]] = f["ns"]
	beside_ratio[f["what"]] = f["ratio"]
	if (f["what"] !~ /^(nothing|huge|storm)/ && f["ratio"] > worst_beside) {
		worst_beside = f["ratio"]
		worst_what = f["what"]
	}
}

f["table"] == "rate" {
	row(sprintf("%s | %s | %.2f | %.2f", f["what"], as_size(f["size"]), f["mmsgs"], f["gbytes"]))
}

f["table"] == "object" {
	object[f["what"]] = f["bytes"]
	row(f["what"] " | " f["num"] " | " (f["bytes"] > 0 ? f["bytes"] " B" : "") " | " as_time(f["ns"]))
}

f["table"] == "idle_cpu" {
	cpu = f["percent"] > cpu ? f["percent"] : cpu
	row(sprintf("%d | %.3f %%", f["qps"], f["percent"]))
}

function copy_goal(what, pages, buffers,    v) {
	v = of_memcpy[1048576, pages, buffers]
	return goal(what, "≥ 90 % of memcpy", sprintf("%.0f %%", v * 100), v >= 0.9)
}

# Median of processor time, beside what others send, in terms of that alone
function beside_goal(what, name, most,    v) {
	v = quotient(beside_ns[name], beside_ns["nothing"])
	return goal(what, "≤ " most " × alone", sprintf("%.1f ×", v), v > 0 && v <= most)
}

function goals(    t, v) {
	v = latency["send_half_round_trip"]
	t = goal("two-sided ping-pong on two HCAs, half round trip", "≤ 1.5 µs", as_time(v), v <= 1500)
	v = device[64, "scattered", "hot"]
	t = t goal("64 B RDMA WRITE, one QP, time of the device", "≤ 150 ns", as_time(v), v <= 150)
	v = 1000 / total[64, "scattered", "hot"]
	t = t goal("the same on one core, with the client", "≥ 6 M msg/s", sprintf("%.1f M", v), v >= 6)
	t = t copy_goal("1 MiB of pages in a row, in the cache", "row", "hot")
	t = t copy_goal("the same, elsewhere each time", "row", "cold")
	t = t copy_goal("1 MiB of scattered pages, in the cache", "scattered", "hot")
	t = t copy_goal("the same, elsewhere each time", "scattered", "cold")
	v = beside / (alone / alones) - 1
	t = t goal("10,000 idle QPs beside one busy", "it loses ≤ 5 %", sprintf("%.1f %%", v * 100), v <= 0.05)
	t = t goal("processor time of an idle fabric", "0 %", sprintf("%.3f %%", cpu), cpu < 0.05)
	v = latency["wake_up"]
	t = t goal("its waking up, to the completion", "≤ 50 µs", as_time(v) " (a mere thread's of the host: " \
		as_time(latency["thread_wake_up"]) ")", v <= 50000)
	t = t beside_goal("a send of 8 B beside messages of 1 GiB of its HCA, half round trip", "huge_of_same", 5)
	t = t beside_goal("the same beside those of another HCA", "huge_of_other", 5)
	t = t beside_goal("the same beside a storm of small messages of another HCA", "storm_of_1", 5)
	t = t beside_goal("the same beside those of seven others", "storm_of_7", 8)
	t = t goal("the same beside each command and reset of another HCA, 99.9 %", "≤ 5 × alone", \
		sprintf("%.1f × (%s)", worst_beside, worst_what), worst_beside > 0 && worst_beside <= 5)
	t = t goal("InfiniBand in place of Ethernet, time of the device", "≥ 0.9 × Ethernet", sprintf("%.2f", worst), worst >= 0.9)
	t = t goal("the same, instructions", "≥ 0.9 × Ethernet", sprintf("%.2f", worst_ir), worst_ir >= 0.9)
	t = t goal("a route through five switches, time of the device", "≤ 1.1 × without one", sprintf("%.2f", worst_hops), worst_hops <= 1.1)
	t = t goal("the same, instructions", "≤ 1.1 × without one", sprintf("%.2f", worst_hops_ir), worst_hops_ir <= 1.1)
	v = object["QP"]
	return t goal("the device's memory of an idle RC QP", "≤ 1 KiB", v " B", v <= 1024)
}

END {
	print "# What a message costs the device\n\n" host
	show("Goals", "", "measure | goal | measured | ", goals())
	show("Cost of a message",
		"Time of the device alone, the median and the quarters next to it; and with the client, " \
		"which posts and polls in the same thread. Scattered: no two pages of the memory are " \
		"neighbours, and memcpy copies page by page. Signaled: all of a batch of 64 (of 1 MiB: 4), " \
		"or its last. Cold: each message is elsewhere in 64 MiB.",
		"QP | operation | signaled | size | pages, buffers | device | 25 - 75 % | instructions | " \
		"with client | GB/s | memcpy | of memcpy", rows["op"])
	show("Ethernet and InfiniBand",
		"The same between two Ethernet (RoCEv2) and between two InfiniBand ports, in turn, of scattered pages in the cache. " \
		"A factor above 1: InfiniBand is better.",
		"QP | operation | signaled | size | Ethernet | InfiniBand | times better | instructions, Ethernet | " \
		"InfiniBand | times better", rows["link"])
	show("Switches on the way",
		"The same between two InfiniBand ports with one cable between them, and two with five switches, in turn.",
		"QP | operation | signaled | size | no switch | five switches | times | instructions, no switch | " \
		"five switches | times", rows["hops"])
	show("Idle queue pairs", "64 byte WRITEs of one QP.", "other QPs | device | 25 - 75 %", rows["idle"])
	show("Many busy queue pairs", "A 64 byte WRITE and a doorbell on each.",
		"QPs | device, each message | 25 - 75 %", rows["spread"])
	show("Latency", "A client in one thread, the device in another.", "what | 50 % | 99 % | 99.9 %",
		rows["latency"])
	show("Beside others",
		"Messages of 8 B, one at a time, while another HCA executes a command, or a reset, or while others send. Processor " \
		"time of half a round trip in one thread, the least of the runs; and what 99.9 % do not exceed, in terms of that alone.",
		"what | round trips | 50 % | 99 % | 99.9 % | times alone", rows["beside"])
	show("Rate", "128 messages under way, one of 32 signaled.", "what | size | M msg/s | GB/s",
		rows["rate"])
	show("Objects",
		"Commands one after the other; a QP takes four to be ready to send. Memory is the device's own.",
		"what | number | memory | time", rows["object"])
	show("Idle fabric", "", "connected QPs | processor time", rows["idle_cpu"])
}
