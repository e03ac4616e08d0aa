#!/usr/bin/env bash
# The map of folders in ../README.md is what the code does: a file includes headers of its own folder and of those further up in
# the map, and no two files need each other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bad=0

complain() {
	echo "$*"
	bad=1
}

mapfile -t rooms < <(sed -n 's/^| `\([a-z]*\)\/` |.*/\1/p' README.md)
diff <(printf '%s\n' "${rooms[@]}" | sort) <(ls src) || complain "README.md maps other folders than src has"
seen=" "
for room in "${rooms[@]}"; do
	seen+="$room "
	while IFS=: read -r file header; do
		[[ $seen == *" ${header%%/*} "* ]] || complain "$file includes $header, which is further down in the map"
	done < <(grep -Ho '#include "[^"]*' "src/$room"/*.[ch] | sed 's/#include "//')
done
# a file and its header are one
grep -o '#include "[^"]*' src/*/*.[ch] | sed -E 's|^src/||; s/\.[ch]:#include "/ /; s/\.h$//' | awk '$1 != $2' | sort -u |
	tsort >/dev/null || complain "these files need each other"
exit $bad
