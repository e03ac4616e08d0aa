#!/bin/bash
# Runs stock verbs programs on softverbs: stock_programs.sh PATH/libsoftverbs.so [--each]
#
# --each: each program once, in the first of its ways, and perftest's with one size, which takes several packets
set -u
library=$1
each=${2:-}
sizes=-a
[[ -n $each ]] && sizes="-s 65536"
failures=0
declare -A ran
port=$((10000 + $$ % 20000)) # below the ports that outgoing connections take

for program in ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong \
	ib_write_lat ib_write_bw ib_read_lat ib_read_bw ib_send_lat ib_send_bw ib_atomic_lat ib_atomic_bw ucx_perftest; do
	if ! command -v "$program" >/dev/null; then
		echo "$program is missing: install ibverbs-utils, perftest and ucx-utils" >&2
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

left_out() { # a program: whether it has run, and once is enough
	[[ -n $each && -n ${ran[$1]:-} ]] && return
	ran[$1]=yes
	return 1
}

one() { # a program that runs alone
	local output
	left_out "$1" && return
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
	left_out "$2" && return
	for _ in {1..20}; do
		attempt "$@"
		# not the device's: a port that is taken, perftest failing to calibrate its clock on a busy machine
		[ $status -ne 0 ] && grep -qE "Correlation coefficient|Couldn't listen|bind\(\) failed" <<<"$output" || break
	done
	shift
	verdict "${UCX_TLS:+UCX_TLS=$UCX_TLS }$*" $status "$output"
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

# perftest: sizes, then several QPs, events, both directions
for program in ib_write_lat ib_read_lat ib_send_lat ib_write_bw ib_read_bw ib_send_bw; do
	pair -p $program $sizes -n 100
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

# UCX takes a device only if /dev/infiniband has a character device by its name, and looks at no more of it. Whoever makes it
# holds the directory's lock meanwhile: several of these tests may run at once.
directory=/dev/infiniband
device=$directory/softverbs0

remove_device() {
	rm -f "$device"
	rmdir "$directory" 2>/dev/null # unless there are others in it
}

make_device() {
	while :; do
		mkdir -p "$directory" 2>/dev/null || return
		exec 8<"$directory" || return
		flock 8
		# Not if its last user removed it meanwhile.
		[ "$(stat -Lc %d:%i /proc/self/fd/8)" = "$(stat -c %d:%i "$directory" 2>/dev/null)" ] && break
	done
	# It may be there for good.
	[ -c "$device" ] && return
	trap remove_device EXIT
	trap 'exit 1' INT TERM HUP
	ln -sf /dev/null "$device"
}

if make_device; then
	# tag, active messages, streams, one-sided operations, atomics; small, a page, more than a transport's largest segment
	for transports in rc_v,ud_v:aux,self ud_v,self; do
		export UCX_TLS=$transports
		for size in 8 4096 262144; do
			for what in tag_lat ucp_am_lat stream_lat ucp_put_lat ucp_get; do
				pair -p ucx_perftest -t $what -s $size -n 100 -w 5
			done
		done
		for what in tag_bw ucp_am_bw stream_bw ucp_put_bw; do
			pair -p ucx_perftest -t $what -s 65536 -n 100 -w 5
		done
		pair -p ucx_perftest -t ucp_fadd -s 8 -n 100 -w 5
		pair -p ucx_perftest -t ucp_cswap -s 8 -n 100 -w 5
	done
	unset UCX_TLS
else
	verdict "ucx_perftest" 1 "UCX looks for a character device $device, and it cannot be made here: run this as root, or make it once, with
mkdir -p $directory && ln -s /dev/null $device"
fi

exit $((failures != 0))
