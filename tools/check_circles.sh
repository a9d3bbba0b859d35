#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# check_circles.sh OBJECT...: of the source files of these objects, no more than three may call each other in a circle. A
# use of a variable of another file is a call, too. Prints the circles that are larger, a line each, and fails then.

set -u

nm -A "$@" | awk '
{
	file = $1
	sub(/:.*/, "", file)
	sub(/(\.c)?\.o$/, ".c", file)
	files[file] = 1
}
$(NF - 1) ~ /^([0-9a-f]+:)?[TDBRVW]$/ { home[$NF] = file }
$(NF - 1) == "U" || $(NF - 1) ~ /:U$/ { needs[file, $NF] = 1 }
END {
	for (pair in needs) {
		split(pair, part, SUBSEP)
		if (part[2] in home && home[part[2]] != part[1])
			calls[part[1], home[part[2]]] = 1
	}
	for (k in files)
		for (i in files)
			if ((i, k) in calls)
				for (j in files)
					if ((k, j) in calls)
						calls[i, j] = 1
	for (i in files) {
		if (i in done)
			continue
		num = 0
		text = ""
		for (j in files) {
			if (!((i, j) in calls && (j, i) in calls))
				continue
			done[j] = 1
			num++
			text = text " " j
		}
		if (num > 3)
			print num text
	}
}' | {
	result=0
	while read -r num files; do
		result=1
		echo "a circle of $num files: $(echo "$files" | tr ' ' '\n' | sort | paste -s -d ' ')"
	done
	exit "$result"
}
