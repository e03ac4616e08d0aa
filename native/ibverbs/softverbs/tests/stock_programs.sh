#!/bin/bash
# Runs stock verbs programs on softverbs: stock_programs.sh PATH/libsoftverbs.so
set -u
library=$1
failures=0
port=$((10000 + $$ % 20000)) # below the ports that outgoing connections take

for program in ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong \
	ib_write_lat ib_write_bw ib_read_lat ib_read_bw ib_send_lat ib_send_bw ib_atomic_lat ib_atomic_bw; do
	if ! command -v "$program" >/dev/null; then
		echo "$program is missing: install ibverbs-utils and perftest" >&2
		exit 1
	fi
done

verdict() { # name, status, output
	if [ "$2" -eq 0 ]; then
		echo "  ok    $1"
	else
		echo "  FAIL  $1 (status $2)"
		printf '%s\n' "$3" | sed 's/^/        /'
		failures=$((failures + 1))
	fi
}

one() { # a program that runs alone
	local output
	output=$(LD_PRELOAD=$library timeout 120 "$@" 2>&1)
	verdict "$*" $? "$output"
}

attempt() { # a server with no address, a client with one; $1 is their option for the port. Sets status and output
	local option=$1 server served
	shift
	port=$((port + 1))
	served=$(mktemp)
	LD_PRELOAD=$library timeout 240 "$@" "$option" $port >"$served" 2>&1 &
	server=$!
	for _ in $(seq 1500); do # until it listens, or has given up
		kill -0 $server 2>/dev/null || break
		grep -qi ":$(printf '%04X' $port) .* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null && break
		sleep 0.02
	done
	output=$(LD_PRELOAD=$library timeout 240 "$@" "$option" $port 127.0.0.1 2>&1)
	status=$?
	if [ $status -ne 0 ]; then kill $server 2>/dev/null; fi
	wait $server || status=$?
	output="$output
$(cat "$served")"
	rm -f "$served"
}

pair() {
	for _ in 1 2 3; do
		attempt "$@"
		# not the device's: a port that is taken, perftest failing to calibrate its clock on a busy machine
		[ $status -ne 0 ] && grep -qE "Correlation coefficient|Couldn't listen" <<<"$output" || break
	done
	shift
	verdict "$*" $status "$output"
}

one ibv_devinfo
one ibv_devinfo -v
pair -p ibv_rc_pingpong
pair -p ibv_rc_pingpong -g 0
pair -p ibv_rc_pingpong -e
pair -p ibv_rc_pingpong -t
pair -p ibv_rc_pingpong -t -N
pair -p ibv_rc_pingpong -c
pair -p ibv_rc_pingpong -s 1048576 -n 200

for arguments in "" "-e" "-g 0" "-s 65536 -n 500"; do
	pair -p ibv_srq_pingpong $arguments
	pair -p ibv_uc_pingpong $arguments
done
for arguments in "" "-e" "-g 0" "-s 2048"; do
	pair -p ibv_ud_pingpong $arguments
done

# perftest: all sizes, then several QPs, events, both directions
for program in ib_write_lat ib_read_lat ib_send_lat ib_write_bw ib_read_bw ib_send_bw; do
	pair -p $program -a -n 100
done
for program in ib_atomic_lat ib_atomic_bw; do
	pair -p $program -n 1000
	pair -p $program -n 1000 -A CMP_AND_SWAP
done
for program in ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw; do
	pair -p $program -q 4 -n 500
	pair -p $program -b -n 500
done
pair -p ib_send_lat -e -n 500
pair -p ib_send_bw -e -n 500
pair -p ib_read_lat -e -n 500
pair -p ib_read_bw -e -n 500
pair -p ib_atomic_bw -e -n 500
pair -p ib_send_lat -c UD -n 500
pair -p ib_send_bw -c UD -n 500
pair -p ib_send_lat -c UD -s 4096 -n 500
pair -p ib_write_lat -c UC -n 500
pair -p ib_send_bw -c UC -n 500
pair -p ib_send_bw --use-srq -q 2 -n 500
pair -p ib_send_lat --use_old_post_send -n 500
pair -p ib_write_bw --use_old_post_send -n 500

exit $((failures != 0))
