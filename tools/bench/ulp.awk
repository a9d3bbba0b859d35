# SPDX-License-Identifier: GPL-2.0
# The report of ulp.sh, made of its records (with records.awk).

{ record() }
f["table"] == "host" { host = host_line() }
f["table"] == "smp" { processors = f["processors"] }

f["table"] == "ulp" {
	row = f["protocol"] SUBSEP f["op"] SUBSEP f["size"]
	if (!(row in seen)) {
		seen[row]
		rows[++num_rows] = row
	}
	way = f["transport"] == "tcp" ? "tcp." f["device"] : f["device"]
	values[row, way, ++count[row, way]] = f["value"]
}

# A protocol with another setting for RDMA, "NFS_8_KiB_inline", is compared with TCP's figures of the plain one.
function plain(row) {
	sub(/_[^\034]*/, "", row)
	return row
}

function label(protocol) {
	sub(/_/, ", ", protocol)
	gsub(/_/, " ", protocol)
	return protocol
}

function typical(row, way,    n, i, v) {
	n = count[row, way]
	for (i = 1; i <= n; i++)
		v[i] = values[row, way, i]
	return median(v, n)
}

# By what factor the OHCA is better than another transport: the median over pairs of neighbouring measurements
function beside(latency, row, other_row, way,    n, i, v) {
	n = count[row, "ohca"]
	for (i = 1; i <= n; i++)
		v[i] = ratio(latency, values[row, "ohca", i], values[other_row, way, i])
	return median(v, n)
}

# By what factor the first one is better
function ratio(latency, ours, theirs) {
	if (ours <= 0 || theirs <= 0)
		return 0
	return latency ? theirs / ours : ours / theirs
}

function least(a, b) {
	return a < b ? a : b
}

function as_ratio(value) {
	return sprintf(value < 1 ? "**%.2f**" : "%.2f", value)
}

function line(row,    part, latency, format) {
	split(row, part, SUBSEP)
	latency = part[3] == "4k"
	format = latency ? "%.0f µs" : "%.0f MB/s"
	return sprintf("| %s | %s, %s | " format " | " format " | " format " | " format " | %s | %s |\n",
		label(part[1]), part[2], latency ? "4 KiB, one at a time" : "1 MiB, four at a time",
		typical(row, "ohca"), typical(row, "rxe"), typical(plain(row), "tcp.ohca"), typical(plain(row), "tcp.rxe"),
		as_ratio(beside(latency, row, row, "rxe")),
		as_ratio(least(beside(latency, row, plain(row), "tcp.ohca"), beside(latency, row, plain(row), "tcp.rxe"))))
}

END {
	print "# Kernel protocols\n\n" host
	for (i = 1; i <= num_rows; i++)
		table = table line(rows[i])
	show("NFS and NVMe over Fabrics between two machines",
		"Machines of " (processors == 1 ? "one processor" : processors " processors") ". O_DIRECT, by fio; the " \
		"server's data are in its memory. Medians of " count[rows[1], "ohca"] " runs, with three figures each of " \
		"small requests over NFS. TCP is on the OHCA's own network interface and on virtio-net, which " \
		"soft-RoCE uses. All in the same machines, in turn: the last columns say how many times better OHCA " \
		"is than soft-RoCE, and than the TCP that it is less ahead of, medians of what was measured one " \
		"after the other.",
		"protocol | operation | OHCA | soft-RoCE | TCP, OHCA | TCP, virtio | : soft-RoCE | : TCP", table)
}
