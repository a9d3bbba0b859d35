#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check_layers.sh [OBJDIR]: each folder includes, declares and calls only what the file layers lets it. With OBJDIR,
# where the objects are, the symbols that they need are checked too, and no circle of calls inside a folder has more
# than three files. The tree is the one that this script is in, or $LAYERS_TREE. Prints what is wrong, and fails then.

set -uo pipefail
check_circles=$(realpath "$(dirname "$0")")/../check_circles.sh
cd "${LAYERS_TREE:-$(dirname "$0")}" || exit 1
objects=${1-}

# includes: "include FILE FOLDER WHAT" for each one of ours
includes() {
	grep -HoE '^#include "[^"]+"' ./*/*.[ch] | sed -E 's/^\.\/([^:]+):#include "(.*)"$/\1 \2/' |
		while read -r file what; do
			case $what in
			ohca/*) ;; # the interface with the host, which is everybody's
			*/*) echo "include $file ${what%%/*} $what" ;;
			*) echo "include $file . $what" ;;
			esac
		done
}

# declarations: "define FUNCTION FILE" and "declare FUNCTION FILE", of what a line begins with
declarations() {
	awk '
	function take(  name) {
		if (text !~ /^(static|typedef|struct [a-z_0-9]+ \{|enum [a-z_0-9]* ?\{|union)/ &&
		    match(text, /[a-z_][a-z_0-9]*\(/) && text !~ /^[^(]*=/) {
			name = substr(text, RSTART, RLENGTH - 1)
			if (name !~ /^_/)
				print (text ~ /;$/ ? "declare" : "define"), name, substr(FILENAME, 3)
		}
		text = ""
	}
	FNR == 1 { text = "" }
	/^\{/ { take(); next }
	/^[a-z_0-9]+:$/ { text = ""; next }
	/^[a-z_]/ { text = $0 }
	/^[ \t]/ && text != "" { text = text " " $0 }
	text ~ /;$/ { take() }
	/^[^a-z_ \t]/ { text = "" }' ./*/*.[ch]
}

# circles: checks each folder
circles() {
	local folder result=0
	for folder in */; do
		(cd "$objects" && "$check_circles" "$folder"*.o) || result=1
	done
	return "$result"
}

# symbols: "defined SYMBOL FILE" and "needed SYMBOL FILE" of the objects
symbols() {
	local file object
	for file in */*.c; do
		object=$objects/${file%.c}.o
		[ -e "$object" ] || { echo "absent $object"; continue; }
		nm "$object" | awk -v file="$file" '
			$(NF - 1) ~ /^[TDBRVW]$/ { print "defined", $NF, file }
			$(NF - 1) == "U" { print "needed", $NF, file }'
	done
}

{
	sed -E 's/#.*//; /^\s*$/d; s/^/layer /' layers
	printf 'folder %s\n' */
	includes
	declarations
	[ -z "$objects" ] || symbols
} | awk -v objects="$objects" '
function fail(text) {
	print text
	failed = 1
}
function folder(file) {
	sub(/\/.*/, "", file)
	return file
}
# Whether the file may use something of the folder
function may(file, other,  own) {
	own = folder(file)
	if (own == other || (own, other) in listed)
		return 1
	if (!((file, other) in excepted))
		return 0
	used[file, other] = 1
	return 1
}
$1 == "layer" && $2 == "except" { excepted[$3, $4] = 1; next }
$1 == "layer" {
	name = $2
	sub(/:$/, "", name)
	for (i = 3; i <= NF; i++) {
		if (!($i in known))
			fail("layers: " name " lists " $i ", which is not below it")
		listed[name, $i] = 1
	}
	known[name] = 1
}
$1 == "folder" {
	sub(/\/$/, "", $2)
	if (!($2 in known))
		fail("layers: " $2 " is missing")
}
$1 == "include" && !may($2, $3) { fail($2 ": includes " $4) }
$1 == "define" { home[$2] = folder($3) }
$1 == "declare" { declared[++declares] = $2 " " $3 }
$1 == "absent" { fail($2 " is missing") }
$1 == "defined" { place[$2] = $3 }
$1 == "needed" { wanted[++needs] = $2 " " $3 }
END {
	for (i = 1; i <= declares; i++) {
		split(declared[i], part, " ")
		if (part[1] in home && home[part[1]] != folder(part[2]))
			fail(part[2] ": declares " part[1] " of " home[part[1]])
	}
	for (i = 1; i <= needs; i++) {
		split(wanted[i], part, " ")
		if (!(part[1] in place))
			continue
		to = place[part[1]]
		if (!may(part[2], folder(to)))
			fail(part[2] ": needs " part[1] " of " to)
	}
	for (pair in excepted) {
		split(pair, part, SUBSEP)
		if (objects != "" && !(pair in used))
			fail("layers: nothing needs the exception " part[1] " " part[2])
	}
	exit failed
}' || exit 1
[ -z "$objects" ] || circles
