# SPDX-License-Identifier: GPL-2.0
# Medians of samples (with records.awk): prints a record "figure" for each figure of a device, with its value at the
# better MTU, and that MTU; and a record "limit" for each limit of the host.

{ record() }

f["table"] == "limit" {
	key = "what=" f["what"] " size=" f["size"] " unit=" f["unit"]
	if (!(key in num))
		limits[++num_limits] = key
	sample[key, ++num[key]] = f["value"]
}

f["table"] == "sample" {
	key = f["device"] SUBSEP f["row"] SUBSEP f["what"] SUBSEP f["size"] SUBSEP f["qps"] SUBSEP f["unit"]
	at = key SUBSEP f["mtu"]
	if (!(key in mtus)) {
		order[++keys] = key
		mtus[key] = f["mtu"]
	} else if (!(at in num)) {
		mtus[key] = mtus[key] " " f["mtu"]
	}
	sample[at, ++num[at]] = f["value"]
}

function typical(at,    i, v) {
	for (i = 1; i <= num[at]; i++)
		v[i] = sample[at, i]
	return median(v, num[at])
}

END {
	for (k = 1; k <= num_limits; k++)
		printf "limit %s value=%s\n", limits[k], typical(limits[k])
	for (k = 1; k <= keys; k++) {
		n = split(mtus[order[k]], mtu, " ")
		split(order[k], part, SUBSEP)
		less = is_cost(part[6])
		best = ""
		for (i = 1; i <= n; i++) {
			v = typical(order[k] SUBSEP mtu[i])
			if (best == "" || (less ? v < best : v > best)) {
				best = v
				with = mtu[i]
			}
		}
		printf "figure device=%s row=%s what=%s size=%s qps=%s unit=%s value=%s mtu=%s samples=%d\n",
			part[1], part[2], part[3], part[4], part[5], part[6], best, with, num[order[k] SUBSEP with]
	}
}
