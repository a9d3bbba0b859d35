# SPDX-License-Identifier: GPL-2.0
# Functions for programs that read records: the record's line is the array f, its table f["table"].

function record(    i, at, value) {
	split("", f)
	f["table"] = $1
	for (i = 2; i <= NF; i++) {
		at = index($i, "=")
		value = substr($i, at + 1)
		f[substr($i, 1, at - 1)] = value ~ /^-?[0-9]+(\.[0-9]+)?$/ ? value + 0 : value
	}
}

# The median of the numbers v[1] to v[n]; for an even n, the lesser one of the two in the middle
function median(v, n,    i, j, x, sorted) {
	for (i = 1; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j >= 1 && sorted[j] > x; j--)
			sorted[j + 1] = sorted[j]
		sorted[j + 1] = x
	}
	return n ? sorted[int((n + 1) / 2)] : 0
}

# Prints a table in Markdown: its title, a text, its columns, and its lines, which were made before
function show(title, text, columns, lines) {
	printf "\n## %s\n\n", title
	if (text != "")
		printf "%s\n\n", text
	print "| " columns " |"
	gsub(/[^|]+/, "---", columns)
	print "|" columns "|"
	printf "%s", lines
}

# Is less of it better?
function is_cost(unit) {
	return unit == "us" || unit == "B" || unit == "ms/MB"
}

# A size in readable form
function as_size(n) {
	if (n >= 1048576)
		return n / 1048576 " MiB"
	return n >= 1024 ? n / 1024 " KiB" : n " B"
}

# Nanoseconds in a suitable unit
function as_time(ns) {
	if (ns >= 1e6)
		return sprintf("%.2f ms", ns / 1e6)
	if (ns >= 1e3)
		return sprintf(ns >= 1e4 ? "%.1f µs" : "%.2f µs", ns / 1e3)
	return sprintf("%.0f ns", ns)
}

function host_line() {
	gsub("_", " ", f["cpu"])
	return sprintf("%s, %d processors, %d MiB, Linux %s; %s, load %s at the beginning", f["cpu"],
		f["cores"], f["memory_mib"], f["kernel"], f["date"], f["load"])
}

# A line of a table of goals
function goal(what, limit, value, reached) {
	return sprintf("| %s | %s | %s | %s |\n", what, limit, value, (reached ? "reached" : "**missed**"))
}
