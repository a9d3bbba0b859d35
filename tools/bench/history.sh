# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The history of results: $OHCA_CACHE/bench-history. It has a line "run KIND COMMIT HOST QUICK DATE" for each run, and after it the
# records. KIND is device or bench. COMMIT ends with -dirty if the checkout had changes. HOST is processor and cores. QUICK is quick
# or full.

HISTORY=${OHCA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ohca}/bench-history

# history_commit: prints the commit of the checkout in the current folder; false without git.
history_commit() {
	local commit
	[ -e .git ] && commit=$(git rev-parse --verify -q HEAD) || return 1
	[ -z "$(git status --porcelain --untracked-files=no)" ] || commit+=-dirty
	echo "$commit"
}

# history_host: prints the host, as the records of bench_host have it.
history_host() {
	local model
	model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1 | tr ' ' _)
	echo "${model:-unknown},$(nproc)"
}

# history_mode: prints quick or full, by $QUICK.
history_mode() {
	[ -n "${QUICK-}" ] && echo quick || echo full
}

# history_keep KIND COMMIT RECORDS: adds a run.
history_keep() {
	mkdir -p "${HISTORY%/*}"
	{
		echo "run $1 $2 $(history_host) $(history_mode) $(date -u +%Y-%m-%dT%H:%MZ)"
		cat "$3"
	} >>"$HISTORY"
}

# history_last KIND COMMIT: prints the last such run on this host, in this mode; false if there is none.
history_last() {
	[ -e "$HISTORY" ] && awk -v wanted="$1 $2 $(history_host) $(history_mode)" '
		$1 == "run" {
			found = $2 " " $3 " " $4 " " $5 == wanted
			if (found)
				text = ""
		}
		found { text = text $0 "\n" }
		END { printf "%s", text; exit text == "" }' "$HISTORY"
}
