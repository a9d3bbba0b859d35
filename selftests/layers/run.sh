#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tools/ohcad/check_layers.sh accepts a tree that follows its layers, and reports what is wrong in others.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
TOP=$(cd "$DIR/../.." && pwd)
CC=${CC:-cc}

tmp=$(mktemp -d) || bail "no temporary directory"
trap 'rm -rf "$tmp"' EXIT

# put FILE: writes standard input to the file of the tree.
put()
{
	mkdir -p "$(dirname "$tmp/tree/$1")"
	cat > "$tmp/tree/$1"
}

# start: makes a correct tree of two folders.
start()
{
	rm -rf "$tmp/tree" "$tmp/objects"
	put layers << 'EOT'
# Comment

low:
high:	low
EOT
	put low/low.h << 'EOT'
int low_get(const char *name,
	    int num);
EOT
	put low/low.c << 'EOT'
#include "low/low.h"

int low_get(const char *name,
	    int num)
{
	return name[num];
}
EOT
	put high/high.h << 'EOT'
int high_get(void);
EOT
	put high/high.c << 'EOT'
#include "high/high.h"
#include "low/low.h"

int high_get(void)
{
	return low_get("", 0);
}
EOT
	put main.c << 'EOT'
#include "high/high.h"

int main(void)
{
	return high_get();
}
EOT
}

# compile: compiles the objects of the tree.
compile()
{
	for file in "$tmp"/tree/*/*.c; do
		object=$tmp/objects/${file#"$tmp/tree/"}
		mkdir -p "$(dirname "$object")"
		"$CC" -I"$tmp/tree" -c -o "${object%.c}.o" "$file" || return 1
	done
}

# layers [OBJDIR]: checks the tree.
layers()
{
	LAYERS_TREE=$tmp/tree "$TOP/tools/ohcad/check_layers.sh" "$@"
}

# wrong LINE [OBJDIR]: the check fails with this line and no other.
wrong()
{
	line=$1
	shift
	! layers "$@" > "$tmp/out" || { echo "nothing is wrong"; return 1; }
	cat "$tmp/out"
	[ "$(cat "$tmp/out")" = "$line" ]
}

# with_objects NAME COMMAND...: check, with the tree's objects.
with_objects()
{
	if ! command -v "$CC" > /dev/null || ! command -v nm > /dev/null; then
		skip "$1" "no compiler"
		return
	fi
	compile || bail "can't compile"
	check "$@" "$tmp/objects"
}

plan 13

start
check "a tree that keeps to its layers" layers
with_objects "the same with objects" layers

start
echo '#include "high/high.h"' >> "$tmp/tree/low/low.c"
check "an include of a folder above" wrong 'low/low.c: includes high/high.h'

start
echo '#include "options.h"' >> "$tmp/tree/high/high.c"
check "an include of a file beside the folders" wrong 'high/high.c: includes options.h'

start
echo 'int high_get(void);' >> "$tmp/tree/low/low.h"
check "a prototype of another folder's function" wrong 'low/low.h: declares high_get of high'

start
printf 'int low_get(const char *name,\n\t    int num);\n' >> "$tmp/tree/high/high.c"
check "a prototype of two lines" wrong 'high/high.c: declares low_get of low'

start
sed -i 's/^low:/low: high/' "$tmp/tree/layers"
check "a circle in the list" wrong 'layers: low lists high, which is not below it'

start
mkdir "$tmp/tree/new"
check "a folder that the list does not have" wrong 'layers: new is missing'

start
echo 'typedef int fn(void); extern fn high_get; int low_more(void) { return high_get(); }' >> "$tmp/tree/low/low.c"
with_objects "a call of a function above that no include shows" wrong 'low/low.c: needs high_get of high/high.c'
echo 'except low/low.c high' >> "$tmp/tree/layers"
with_objects "an exception" layers

start
echo 'except low/low.c high' >> "$tmp/tree/layers"
with_objects "an exception that nothing needs" wrong 'layers: nothing needs the exception low/low.c high'

start
for num in 0 1 2 3; do
	next=$(((num + 1) % 4))
	echo "int low_$next(void); int low_$num(void) { return low_$next(); }" | put "low/$num.c"
done
compile_circle()
{
	layers "$1" > "$tmp/out" && return 1
	cat "$tmp/out"
	grep -q '^a circle of 4 files: ' "$tmp/out"
}
with_objects "a circle of four files" compile_circle
rm "$tmp/tree/low/3.c"
echo 'int low_0(void); int low_2(void) { return low_0(); }' | put low/2.c
with_objects "one of three is none" layers
finish
