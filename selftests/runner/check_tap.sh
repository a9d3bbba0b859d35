#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# How the runner evaluates TAP: counts, the list of failures, JUnit.

. "$(dirname "$0")/lib.sh"

# parse MACHINES STATUS [FAILURES]: evaluates standard input as the output of a set; stores its counts in $sums, the
# rest in files.
parse()
{
	sums=$(LC_ALL=C awk -f "$DIR/../lib/tap.awk" -v set=S -v machines="$1" -v status="$2" -v failures="${3-}" -v seconds=7 \
		-v list="$tmp/list" -v times="$tmp/times" -v junit="$tmp/junit")
}

# counted TEXT: these are the counts.
counted()
{
	echo "counts: $sums"
	sed 's/^/list: /' "$tmp/list"
	[ "$sums" = "$1" ]
}

# listed LINE...: these are the failures.
listed()
{
	cat "$tmp/list"
	[ "$(cat "$tmp/list")" = "$(printf '%s\n' "$@")" ]
}

plan 27

parse 1 1 << 'EOT'
node0: # test_a.sh
node1: # test_a.sh
node1: TAP version 13
node0: 1..2
node1: 1..2
node0: ok 1 one
node1: ok 1 one
node0: # because of this
node0: # and that
node0: not ok 2 two
node0: # test_a.sh FAILED
node1: ok 2 two # SKIP no need
node0: # seconds: test_a.sh 3.5
node1: # seconds: test_a.sh 4.5
node0: # scripts: 0 passed, 1 failed, 0 skipped
node1: # scripts: 1 passed, 0 failed, 0 skipped
EOT
check "two machines: counts" counted "2 1 1"
check "two machines: the failure" listed "test_a.sh node0: not ok 2 two (because of this; and that)"
check "two machines: the longest time" has "$tmp/times" "test_a.sh 4.5"
check "JUnit: well-formed" well_formed "$tmp/junit"
check "JUnit: a suite for each machine, with its time" has "$tmp/junit" \
	'<testsuite name="S.node0.test_a" tests="2" failures="1" errors="0" skipped="0" time="3.5">' \
	'<testsuite name="S.node1.test_a" tests="2" failures="0" errors="0" skipped="1" time="4.5">'
check "JUnit: cases" has "$tmp/junit" \
	'<testcase classname="S.node0.test_a" name="one"/>' \
	'<testcase classname="S.node0.test_a" name="two"><failure message="because of this; and that"/></testcase>' \
	'<testcase classname="S.node1.test_a" name="two"><skipped message="no need"/></testcase>'

parse 1 0 << 'EOT'
# test_power.sh
1..3
ok 1 before
# test_power.sh
ok 2 after
ok 3 at the end
# seconds: test_power.sh 1.0
# scripts: 1 passed, 0 failed, 0 skipped
EOT
check "a plan goes on after a reboot" counted "3 0 0"
check "JUnit: one machine has a name, too" has "$tmp/junit" 'name="S.node0.test_power" tests="3"'

parse 1 1 << 'EOT'
# test_a.sh
1..4
ok 1 one
# test_a.sh FAILED
# seconds: test_a.sh 1.0
# test_b.sh
1..1
ok 1 fine
# seconds: test_b.sh 1.0
# scripts: 1 passed, 1 failed, 0 skipped
EOT
check "a plan that was not fulfilled: each line counts" counted "2 3 0"
check "a plan that was not fulfilled: listed once" listed "test_a.sh 1 of 4 lines came"
check "JUnit: each line is a case" has "$tmp/junit" 'tests="4" failures="3"' 'name="line 2"' 'name="line 4"'

parse 1 1 << 'EOT'
node0: # test_a.sh
node0: 1..3
node0: ok 1 one
EOT
check "a machine that died belongs to no script" listed "- node0: 1 of 3 lines came"

parse 1 1 << 'EOT'
# test_a.sh
1..1
ok 1 one
# seconds: test_a.sh 1.0
# test_b.sh
Bail out! no device
# test_b.sh FAILED
# seconds: test_b.sh 0.1
# scripts: 1 passed, 1 failed, 0 skipped
EOT
check "Bail out!" counted "1 1 0"
check "Bail out! before the plan belongs to its own script" listed "test_b.sh Bail out! no device"

parse 1 1 << 'EOT'
# test_a.sh
# test_a.sh FAILED
# seconds: test_a.sh 0.1
# test_b.sh
1..1
not ok 1 one
# test_b.sh FAILED
# seconds: test_b.sh 0.1
# scripts: 0 passed, 2 failed, 0 skipped
EOT
check "a script that fails without a word" listed "test_a.sh failed without a line that says so" \
	"test_b.sh not ok 1 one"

parse 1 0 << 'EOT'
# test_a.sh
TAP version 13
1..0 # SKIP not here
# seconds: test_a.sh 0.1
# scripts: 0 passed, 0 failed, 1 skipped
EOT
check "a script that is skipped" counted "0 0 1"
check "JUnit: a script that is skipped" has "$tmp/junit" 'name="all"><skipped message="not here"/>'

parse 1 124 < /dev/null
check "nothing at all, and a bad status" listed "- lab: status 124"
check "JUnit: so it says" has "$tmp/junit" '<testcase classname="S.lab" name="status"><failure message="status 124"/>'

parse 0 0 << 'EOT'
# one_test
TAP version 13
1..1
ok 1 - fine
# other_test
1..2
ok 1 - fine
    ok 1 a subtest does not count
not ok 2 - bad
EOT
check "outside of machines" counted "2 1 0"
check "outside of machines: the failure is the program's" listed "other_test not ok 2 - bad"
check "JUnit: programs are suites" has "$tmp/junit" 'classname="S.one_test" name="fine"' 'classname="S.other_test" name="bad"'

parse 0 1 << 'EOT'
# one_test
TAP version 13
1..3
ok 1 - fine
# other_test
TAP version 13
1..1
ok 1 - fine
EOT
check "a program that ended early" listed "one_test 1 of 3 lines came"

printf '1..2\r\nok 1 a <b> & "c" \033[1m\001\r\n# <&">\033\r\nnot ok 2 \007bell\r\n' > "$tmp/raw"
parse 0 1 < "$tmp/raw"
check "JUnit: control characters and markup" well_formed "$tmp/junit"
check "JUnit: their text" has "$tmp/junit" 'name="a &lt;b&gt; &amp; &quot;c&quot; [1m"' 'message="&lt;&amp;&quot;&gt;"'
# pyverbs: lists of results as TAP
printf 'list\t4\nbegin\ta\npass\ta\t1\t\nskip\tb\t1\tno need\nfail\tc\t1\tbad\n' > "$tmp/ohca-7.2"
printf 'list\t4\npass\tc\t1\t\n' > "$tmp/rxe-7.2"
# shellcheck disable=SC2016 # for the other shell
bash -c '. "$1/../pyverbs/report.sh" && report_tap "$2/ohca-7.2" "$2/rxe-7.2"' sh "$DIR" "$tmp" > "$tmp/raw"
parse 0 1 < "$tmp/raw"
check "pyverbs: a line for each test, one for soft-RoCE, one is missing" counted "1 3 1"
check "pyverbs: the failures" listed "- not ok 3 c (bad)" \
	"- not ok - ohca on 7.2: all that passes with rxe on 7.2 (c: fail: bad)" "- 4 of 5 lines came"
finish
