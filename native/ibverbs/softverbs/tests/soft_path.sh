#!/bin/bash
# ./farheap soft from a checkout whose path has what separates libraries in LD_PRELOAD: soft_path.sh PATH/farheap PATH/libsoftverbs.so
set -u
farheap=$1
library=$2
failures=0
temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT

check() { # description, its status, output
	if [ "$2" -eq 0 ]; then
		echo "  ok    $1"
	else
		echo "  FAIL  $1 (status $2)"
		printf '%s\n' "$3" | sed 's/^/        /'
		failures=$((failures + 1))
	fi
}

soft() { # the directory that holds the runtime's, then arguments; from the checkout $checkout
	XDG_RUNTIME_DIR=$1 TMPDIR=$1 bash -c 'source "$0"; run_soft "$@"' "$checkout/farheap" "${@:2}" 2>&1
}

mkdir -m 700 "$temporary/runtime" "$temporary/open" "$temporary/no good"
for name in plain 'a space' 'a:colon' 'a $LIB' 'all of: them $LIB'; do
	checkout=$temporary/$name
	mkdir -p "$checkout/target/native/softverbs"
	# Its functions, without building anything.
	sed '/^# --- main ---/,$d' "$farheap" >"$checkout/farheap"
	cp "$library" "$checkout/target/native/softverbs/libsoftverbs.so"
	output=$(soft "$temporary/runtime" ibv_devinfo)
	[ $? -eq 0 ] && grep -q 'hca_id:[[:space:]]*soft0' <<<"$output"
	check "in '$name'" $? "$output"
	output=$(soft "$temporary/runtime" --print ibv_devinfo | sed 's/ ibv_devinfo$//' | sed 's/^LD_PRELOAD=//')
	[[ -e $output && $output != *[:[:space:]$]* ]]
	check "in '$name', printed" $? "$output"
done

# A directory that others can write to, or with the same characters, is none.
chmod 777 "$temporary/open"
mkdir -m 777 "$temporary/open/farheap" && chmod 777 "$temporary/open/farheap"
for runtime in open 'no good'; do
	output=$(soft "$temporary/$runtime" ibv_devinfo)
	[ $? -ne 0 ] && grep -q 'XDG_RUNTIME_DIR' <<<"$output"
	check "with '$runtime' to put a link into: refused, with a remedy" $? "$output"
done
exit $((failures != 0))
