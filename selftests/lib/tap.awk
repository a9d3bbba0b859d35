# SPDX-License-Identifier: GPL-2.0
#
# tap.awk: reads the output of one set of tests (TAP), and prints "PASSED FAILED SKIPPED". Run it with LC_ALL=C. The
# lines of each machine ("nodeN: ") are a separate stream, in which several tests may follow each other. Fewer or more
# results than planned are failures. A script or a set that failed is a failure even if no line says so.
#
# Variables:
#   set       the set's name
#   status    exit status of its command; 4 means that everything was skipped
#   machines  1 if it ran in machines
#   seconds   how long it took
#   list      file for the failures, each as "SCRIPT LINE (WHY)"; SCRIPT is the program outside of machines, and "-"
#             if there is none or if a machine did not complete; WHY is the beginning of the comments before the line
#   times     file for "SCRIPT SECONDS" of each script, the longest time of all machines
#   junit     file for the test cases as JUnit's XML, without its root element; none if empty
#   failures  how to write failures to that file: as failures if empty, "flaky" (they do not count), "omit", or
#             "only" (nothing else is written)

# fail(NUMBER, STREAM, WHY, NAME): counts NUMBER failed tests of STREAM. NAME is that of the (first) test.
function fail(number, stream, why, name,    i) {
	failed += number
	unexplained[stream] = 0
	for (i = 0; i < number; i++)
		add_case(stream, "failed", name == "line" ? "line " seen[stream] + 1 + i : name,
			 (comments[stream] == "" ? why : comments[stream]))
	if (why ~ /^not ok/ && comments[stream] != "")
		why = why " (" substr(comments[stream], 1, 300) ")"
	where[++entries] = stream
	what[entries] = test_of(stream) " " stream why
}

# test_of(STREAM): the script in a machine, or the program, whose lines these are; empty if there is none.
function test_of(stream) {
	if (!machines)
		return program[stream]
	return stream in running ? running[stream] : script[stream]
}

# add_case(STREAM, KIND, NAME, TEXT): adds a test case; KIND is passed, failed or skipped.
function add_case(stream, kind, name, text,    suite, test) {
	suite = set
	if (stream == "lab: ")
		suite = suite ".lab"
	else if (machines)
		suite = suite "." (stream == "" ? "node0" : substr(stream, 1, length(stream) - 2))
	test = test_of(stream)
	if (test != "") {
		sub(/\.sh$/, "", test)
		suite = suite "." test
	}
	if (!(suite in cases)) {
		suites[++suites_seen] = suite
		suite_key[suite] = stream SUBSEP test
	}
	cases[suite]++
	case_kind[suite, cases[suite]] = kind
	case_name[suite, cases[suite]] = name == "" ? "line " seen[stream] + 0 : name
	case_text[suite, cases[suite]] = text
}

# skip(STREAM, NAME, LINE): counts a test that was skipped.
function skip(stream, name, line) {
	skipped++
	match(line, /# *[Ss][Kk][Ii][Pp][^ ]* */)
	add_case(stream, "skipped", name, substr(line, RSTART + RLENGTH))
}

# result(STREAM, LINE): handles a line "ok ..." or "not ok ...".
function result(stream, line,    name) {
	name = line
	sub(/^(not )?ok *[0-9]*( +-)? */, "", name)
	seen[stream]++
	if (line ~ /^not/) {
		fail(1, stream, line, name)
	} else if (line ~ /# *[Ss][Kk][Ii][Pp]/) {
		sub(/ *# *[Ss][Kk][Ii][Pp].*/, "", name)
		skip(stream, name, line)
	} else {
		passed++
		add_case(stream, "passed", name)
	}
	comments[stream] = ""
}

# plan(STREAM, LINE): handles a line "1..N".
function plan(stream, line) {
	running[stream] = script[stream]
	if (heading[stream] != "")
		program[stream] = heading[stream]
	heading[stream] = ""
	planned[stream] = substr(line, 4) + 0
	streams[stream]
	if (planned[stream] == 0 && line ~ /# *[Ss][Kk][Ii][Pp]/)
		skip(stream, "all", line)
}

# close_plan(STREAM): no more lines of its plan follow.
function close_plan(stream) {
	if (planned[stream] > seen[stream])
		fail(planned[stream] - seen[stream], stream,
		     seen[stream] + 0 " of " planned[stream] " lines came", "line")
	planned[stream] = seen[stream] = 0
}

# start(STREAM, SCRIPT): a script starts, or continues after a reboot.
function start(stream, test) {
	if (script[stream] != test)
		unexplained[stream] = 1
	script[stream] = test
	comments[stream] = ""
}

# end(STREAM, SCRIPT, SECONDS): a script has ended.
function end(stream, test, time) {
	close_plan(stream)
	delete running[stream]
	if (!(test in longest) || time > longest[test])
		longest[test] = time
	sub(/\.sh$/, "", test)
	script_seconds[stream, test] = time
}

# xml(TEXT): escapes text for XML.
function xml(text) {
	gsub(/[\001-\010\013\014\016-\037\177]/, "", text)
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	gsub(/"/, "\\&quot;", text)
	return text
}

# case_xml(SUITE, I): writes one test case.
function case_xml(suite, i,    kind, text, tag) {
	kind = case_kind[suite, i]
	text = xml(case_text[suite, i])
	tag = "    <testcase classname=\"" xml(suite) "\" name=\"" xml(case_name[suite, i]) "\""
	if (kind == "passed")
		return tag "/>\n"
	if (kind == "skipped")
		return tag "><skipped message=\"" text "\"/></testcase>\n"
	kind = failures == "flaky" ? "flakyFailure" : "failure"
	return tag "><" kind " message=\"" text "\"/></testcase>\n"
}

# suite_xml(SUITE): writes the cases of one script in one machine, or of one program.
function suite_xml(suite,    i, kind, body, count, time) {
	for (i = 1; i <= cases[suite]; i++) {
		kind = case_kind[suite, i]
		if (kind == "failed" ? failures == "omit" : failures == "only")
			continue
		body = body case_xml(suite, i)
		count["all"]++
		count[kind]++
	}
	if (body == "")
		return ""
	time = script_seconds[suite_key[suite]]
	if (time == "" && suite == set)
		time = seconds
	return "  <testsuite name=\"" xml(suite) "\" tests=\"" count["all"] "\" failures=\"" \
		(failures == "flaky" ? 0 : count["failed"] + 0) "\" errors=\"0\" skipped=\"" count["skipped"] + 0 "\"" \
		(time == "" ? "" : " time=\"" time "\"") ">\n" body "  </testsuite>\n"
}

BEGIN {
	printf "" >list
	printf "" >times
	if (junit != "")
		printf "" >junit
}

{
	stream = ""
	sub(/\r$/, "")
	if (match($0, /^node[0-9]+: /)) {
		stream = substr($0, 1, RLENGTH)
		$0 = substr($0, RLENGTH + 1)
	}
}

/^TAP version/  { close_plan(stream) }
/^1\.\.[0-9]+/  { plan(stream, $0) }
/^# [^ ]+$/     { heading[stream] = $2 }
/^# test_[^ ]*\.sh$/ { start(stream, $2); next }
# Only the script's status shows this failure.
/^# test_[^ ]*\.sh FAILED$/ {
	close_plan(stream)
	if (unexplained[stream])
		fail(1, stream, "failed without a line that says so", "all")
}
/^# seconds: test_[^ ]*\.sh [0-9.]+$/ { end(stream, $3, $4 + 0); next }
/^# scripts: /  { ended[stream] }
/^# /           { comments[stream] = comments[stream] (comments[stream] == "" ? "" : "; ") substr($0, 3) }
/^(not )?ok /   { result(stream, $0) }
/^Bail out!/    { fail(1, stream, $0, "all"); planned[stream] = seen[stream] = 0 }

END {
	for (stream in streams)
		close_plan(stream)
	if (status != 0 && status != 4 && failed + 0 == 0)
		fail(1, "lab: ", "status " status, "status")
	if (passed + failed + skipped == 0)
		fail(1, "lab: ", "no tests", "tests")
	for (i = 1; i <= entries; i++) {
		if (what[i] ~ /^ / || (machines && !(where[i] in ended)))
			sub(/^[^ ]*/, "-", what[i])
		print what[i] >list
	}
	for (test in longest)
		print test, longest[test] >times
	if (junit != "")
		for (i = 1; i <= suites_seen; i++)
			printf "%s", suite_xml(suites[i]) >junit
	print passed + 0, failed + 0, skipped + 0
}
