# SPDX-License-Identifier: GPL-2.0
# Makes functions of a shell of the commands in a document, such as Documentation/tutorial.rst.  With -v name=tutorial, tutorial_1 runs
# what the first "ohca-lab run" there runs in each machine, a minute at most on a machine that is not $slow times slower than
# others, and $tutorial_options_1 has the options of ohca-lab.
# $tutorial_commands: how many there are.  $tutorial_options: a line for each, with the options.  $tutorial_others: the commands of other
# programs of this repository, and ohca-lab's other commands.

# Whether the command goes on in the next line: a quotation is open.
function continues(line)
{
	return gsub(/'/, "", line) % 2
}

/^ +tools\// && !inside {
	sub(/^ +/, "")
	if (/^tools\/lab\/ohca-lab run /) {
		sub(/^tools\/lab\/ohca-lab run /, "")
		at = index(" " $0, " -- ")
		options = options substr($0, 1, at - 2) "\n"
		printf "%s_options_%d='%s'\n", name, ++num, substr($0, 1, at - 2)
		$0 = "timeout $((60 * ${slow:-1})) " substr($0, at + 3)
		printf "%s_%d()\n{\n", name, num
		inside = 1
	} else {
		others = others $0 "\n"
	}
}

inside {
	print
	if (continues($0))
		open = !open
	if (!open) {
		print "}\n"
		inside = 0
	}
}

END {
	printf "%s_commands=%d\n%s_options='%s'\n%s_others='%s'\n", name, num, name, options, name, others
}
