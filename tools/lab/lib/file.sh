# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The lab's file (--file): the options of machines, each as a key with the option's name. Runs outside of the root, which gets the
# options. The file is JSON if it begins with a brace: an object, whose values are strings, numbers, true, false, or lists of them.
# Else it is YAML, of which this is understood:
#
#   KEY: VALUE             # a comment
#   KEY: [VALUE, VALUE]
#   KEY:
#     - VALUE
#
# A VALUE may be in double or single quotes. A backslash is an ordinary character in YAML; in JSON it may come before a quote or another
# backslash.

# The file that "up" takes without --file, in the current folder
FILE_DEFAULTS=(ohca-lab.yaml ohca-lab.json)
# Keys with a value; those that may have several: joined with commas, or each an option; those that are true or false; those
# whose value is a path, which is relative to the file.
FILE_VALUES=(vms hcas ohcads kernel smp mem disk mtu timeout append accel speed width pace sm first topology share pcap results)
FILE_JOINED=(device link)
FILE_REPEATED=(fault package qemu-arg uplink)
FILE_FLAGS=(sanitize verbose no-snapshot gdb console)
FILE_PATHS=(share topology pcap results)

# file_lines[KEY] is the line of a key, for error messages.
declare -A file_lines=()

# file_options ARGUMENT...: sets the array file_options to these arguments, in which --file FILE is replaced by the options that FILE
# has, before the others. Exports where they are, for error messages (see die_usage).
file_options() {
	local rest=() file='' key
	file_options=() file_found_at='' OHCA_WHERE=''
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		case $1 in
		--file)
			[ -n "${2-}" ] || die_usage "--file needs a value"
			[ -z "$file" ] || die_usage "--file is given twice"
			file=$2
			shift
			;;
		--file=*)
			set -- --file "${1#*=}" "${@:2}"
			continue
			;;
		*) rest+=("$1") ;;
		esac
		shift
	done
	[ -n "$file" ] || [ "$verb" != up ] || file_default
	[ -z "$file" ] || file_read "$file"
	for key in "${!file_lines[@]}"; do
		[[ " ${rest[*]} " =~ " --$key"[=\ ] ]] || OHCA_WHERE+="--$key"$'\t'"$file:${file_lines[$key]}"$'\n'
	done
	export OHCA_WHERE
	file_options+=("${rest[@]}" "$@")
}

# file_default: sets the caller's file, and $file_found_at for a message, to the one in the current folder, if there is one.
file_default() {
	local name
	for name in "${FILE_DEFAULTS[@]}"; do
		[ ! -e "$name" ] || [ -n "$file" ] || file=$name
	done
	file_found_at=$file
}

# file_read FILE: adds the options in FILE to the array file_options.
file_read() {
	file_name=$1
	[[ -f $1 && -r $1 ]] || die_usage "--file: can't read $1"
	file_text=$(tr -d '\0' <"$1")
	file_line=1
	if [[ $file_text =~ ^[[:space:]]*\{ ]]; then
		file_json
	else
		file_yaml
	fi
}

# file_error TEXT: ends the program, with the place in the file.
file_error() {
	die_usage "$file_name:$file_line: $1"
}

# file_yaml: reads $file_text, which is YAML.
file_yaml() {
	local line key='' items=() list=''
	file_line=0
	while IFS= read -r line; do
		file_line=$((file_line + 1))
		[[ ! $line =~ ^[[:space:]]*(#.*)?$ && ! $line =~ ^---[[:space:]]*$ ]] || continue
		if [[ $line =~ ^[[:space:]]*-[[:space:]]+(.*)$ ]]; then
			[ -n "$list" ] || file_error "a list item without a key before it"
			file_yaml_item "${BASH_REMATCH[1]}"
		elif [[ $line =~ ^([A-Za-z_][A-Za-z0-9_-]*):([[:space:]]+(.*))?$ ]]; then
			file_take "$key" "${items[@]}"
			key=${BASH_REMATCH[1]} items=()
			file_yaml_value "${BASH_REMATCH[3]}"
		else
			file_error "expected 'KEY: VALUE' or '- VALUE', not '$line'"
		fi
	done <<<"$file_text"
	file_take "$key" "${items[@]}"
}

# file_yaml_value TEXT: what is after the caller's key: adds to its items, or sets its list if the items are on the next lines.
file_yaml_value() {
	local text=${1%%[[:space:]]#*} rest
	local item='^[[:space:]]*("[^"]*"|'"'[^']*'"'|[^,]*)[[:space:]]*(,|$)'
	file_key "$key"
	list=''
	if [[ $1 =~ ^(#.*)?$ ]]; then
		list=1
	elif [[ $text =~ ^\[(.*)\][[:space:]]*$ ]]; then
		rest=${BASH_REMATCH[1]}
		while [ -n "$rest" ] && [[ $rest =~ $item ]]; do
			rest=${rest#"${BASH_REMATCH[0]}"}
			file_yaml_item "${BASH_REMATCH[1]}"
		done
	else
		file_yaml_item "$1"
	fi
}

# file_yaml_item TEXT: adds to the caller's items the value that TEXT is, without quotes and comment.
file_yaml_item() {
	local value
	if [[ $1 =~ ^\"([^\"]*)\"[[:space:]]*(#.*)?$ || $1 =~ ^\'([^\']*)\'[[:space:]]*(#.*)?$ ]]; then
		value=${BASH_REMATCH[1]}
	else
		value=${1%%[[:space:]]#*}
		value=${value%"${value##*[![:space:]]}"}
		[[ ! $value =~ ^[]\"\'\[\{\&\*\|\>] ]] ||
			file_error "$key: expected a value, in quotes if it begins like that, not '$value'"
	fi
	[ -n "$value" ] || file_error "$key: a value is missing"
	items+=("$value")
}

# file_json: reads $file_text, which is JSON.
file_json() {
	local key items
	file_expect '{'
	file_token
	while [ "$file_kind$file_token" != 'mark}' ]; do
		[ "$file_kind" = string ] || file_error "expected a key in quotes, not $(file_found)"
		key=$file_token items=()
		file_key "$key"
		file_expect ':'
		file_token
		if [ "$file_kind$file_token" = 'mark[' ]; then
			file_json_list
		else
			file_json_item
		fi
		file_take "$key" "${items[@]}"
		file_token
		case $file_kind$file_token in
		mark,)
			file_token
			[ "$file_kind" = string ] || file_error "expected a key in quotes, not $(file_found)"
			;;
		mark'}') ;;
		*) file_error "expected ',' or '}', not $(file_found)" ;;
		esac
	done
	file_token
	[ "$file_kind" = end ] || file_error "expected the end of the file, not $(file_found)"
}

# file_json_list: adds to the caller's items those of a list.
file_json_list() {
	while :; do
		file_token
		[ ${#items[@]} != 0 ] || [ "$file_kind$file_token" != 'mark]' ] || return 0
		file_json_item
		file_token
		case $file_kind$file_token in
		mark,) ;;
		mark']') return 0 ;;
		*) file_error "expected ',' or ']', not $(file_found)" ;;
		esac
	done
}

# file_json_item: adds to the caller's items the last token.
file_json_item() {
	[[ $file_kind = string || $file_kind = word ]] || file_error "$key: expected a string, a number, true or false, not $(file_found)"
	[ -n "$file_token" ] || file_error "$key: a value is missing"
	items+=("$file_token")
}

# file_expect MARK: reads the next token, which has to be that.
file_expect() {
	file_token
	[ "$file_kind$file_token" = "mark$1" ] || file_error "expected '$1', not $(file_found)"
}

# file_found: prints the last token, for error messages.
file_found() {
	[ "$file_kind" != end ] || file_token='the end of the file'
	[ "$file_kind" = end ] || file_token="'$file_token'"
	echo "$file_token"
}

# file_token: takes the next token off $file_text. Sets $file_token to it, and $file_kind to string, word, mark or end.
file_token() {
	local space=${file_text%%[![:space:]]*} lines
	lines=${space//[!$'\n']/}
	file_line=$((file_line + ${#lines}))
	file_text=${file_text#"$space"}
	if [ -z "$file_text" ]; then
		file_kind=end file_token=''
		return
	elif [[ $file_text =~ ^\"(([^\"\\$'\n']|\\[\"\\/])*)\" ]]; then
		file_kind=string file_token=${BASH_REMATCH[1]//\\\"/\"}
		file_token=${file_token//\\\//\/}
		file_token=${file_token//\\\\/\\}
	elif [[ $file_text =~ ^[][{}:,] ]]; then
		file_kind=mark file_token=${BASH_REMATCH[0]}
	elif [[ $file_text =~ ^-?[0-9.]+|^(true|false) ]]; then
		file_kind=word file_token=${BASH_REMATCH[0]}
	else
		file_error "expected JSON, not '${file_text%%$'\n'*}'"
	fi
	file_text=${file_text#"${BASH_REMATCH[0]}"}
}

# file_key KEY: a key is on this line.
file_key() {
	local keys=("${FILE_VALUES[@]}" "${FILE_JOINED[@]}" "${FILE_REPEATED[@]}" "${FILE_FLAGS[@]}")
	file_has "$1" "${keys[@]}" || file_error "unknown key '$1'; there are $(printf '%s\n' "${keys[@]}" | sort | xargs)"
	[ -z "${file_lines[$1]-}" ] || file_error "$1 is on line ${file_lines[$1]} already"
	file_lines[$1]=$file_line
}

# file_has WORD LIST...
file_has() {
	[[ " ${*:2} " = *" $1 "* ]]
}

# file_take KEY ITEM...: adds a key's options; without KEY, nothing.
file_take() {
	local key=$1 item file_line
	[ -n "$1" ] || return 0
	shift
	file_line=${file_lines[$key]}
	if file_has "$key" "${FILE_REPEATED[@]}"; then
		for item; do
			file_options+=("--$key=$item")
		done
		return
	fi
	[ $# -gt 0 ] || file_error "$key: a value is missing"
	if file_has "$key" "${FILE_JOINED[@]}"; then
		file_options+=("--$key=$(IFS=, && echo "$*")")
	else
		[ $# = 1 ] || file_error "$key: expected one value, not $#"
		file_take_one "$key" "$1"
	fi
}

# file_take_one KEY ITEM: adds the option of a key with one value.
file_take_one() {
	local item=$2
	if file_has "$1" "${FILE_FLAGS[@]}"; then
		case $item in
		true) file_options+=("--$1") ;;
		false) ;;
		*) file_error "$1: expected true or false, not '$item'" ;;
		esac
		return
	fi
	# The standard output is no file.
	[[ $1 != pcap || ! $item =~ ^-(,|$) ]] || { file_options+=("--pcap=$item") && return; }
	{ ! file_has "$1" "${FILE_PATHS[@]}" && ! { [ "$1" = kernel ] && custom_is "$item"; }; } || [[ $item = /* ]] || item=$(dirname -- "$file_name")/$item
	file_options+=("--$1=$item")
}
