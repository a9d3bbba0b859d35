# SPDX-License-Identifier: GPL-2.0
# Makes functions of a shell of the commands in Documentation/tutorial.rst: tutorial_1 runs what the first command there runs
# in each machine, a minute at most.  $tutorial_commands: how many there are.  $tutorial_options: a line for each, with the options of ohca-lab.
# $tutorial_others: the commands of other programs of this repository.

/^ +tools\/lab\/ohca-lab run / {
	sub(/^ +tools\/lab\/ohca-lab run /, "")
	at = index($0, " -- ")
	options = options substr($0, 1, at - 1) "\n"
	$0 = "timeout 60 " substr($0, at + 4)
	printf "tutorial_%d()\n{\n", ++num
	inside = 1
}

/^ +tools\// && !inside {
	sub(/^ +/, "")
	others = others $0 "\n"
}

inside {
	print
	# The last line of a command ends with the quote that "sh -c" begins with.
	if (/'$/ && !/-c '$/) {
		print "}\n"
		inside = 0
	}
}

END {
	printf "tutorial_commands=%d\ntutorial_options=\"%s\"\ntutorial_others=\"%s\"\n", num, options, others
}
