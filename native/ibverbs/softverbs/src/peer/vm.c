/*
 * A peer's private memory, through a descriptor of /proc/<pid>/mem. process_vm_writev would name the process by its
 * number, which may be another process's at the time of the call, whatever was checked before it. (Through the
 * descriptor the kernel also writes memory that was made read-only after it was registered, as a device does, which has
 * pinned it.)
 */
#include "base/calls.h"
#include "base/clock.h"
#include "base/macros.h"
#include "object/layout.h"
#include "object/qp.h"
#include "peer/peer.h"
#include "peer/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE (1u << 30)

/* How long we wait for the end of a peer that still lives and has lost its memory. */
#define GOING_NS 80000000ull

/* Is the nonce of its segment found where it claims to have its segment? */
static bool has_segment(const struct sv_peer *peer, int memory)
{
	const struct sv_header *header = &peer->segment->header;
	uint64_t nonce;
	ssize_t n = sv_pread(memory, &nonce, sizeof(nonce), header->self + offsetof(struct sv_header, nonce));

	if (n < 0 && sv_is_shortage(errno))
		return false;
	errno = ESRCH;
	return n == sizeof(nonce) && nonce == peer->nonce;
}

/*
 * For the case that /proc is mounted read-only. Writing by the process's number instead might write into another
 * process's memory, so writing is an error of our side (EBADF).
 */
static int open_to_read(const struct sv_peer *peer)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	int memory = sv_openat(peer->fd_dir, "../mem", O_RDONLY);

	if (memory >= 0 && !atomic_flag_test_and_set(&said))
		fprintf(stderr,
		    "softverbs: /proc is mounted read-only: private memory of other processes, as of %d, can be read and "
		    "not written, which ends as LOC_QP_OP_ERR; mount it writable, or use memory of a sealed memfd\n",
		    (int)peer->pid);
	return memory;
}

/*
 * A descriptor of its memory, which stays bound to that memory when the process execs or its number is reused: then
 * reading returns nothing. -1 with errno; ESRCH: it no longer has that memory.
 *
 * It is opened when it is first needed: most peers have no private memory, and until they register some, Yama may
 * forbid it. The descriptor is bound to the memory that the process has at that time, which is another one if it has
 * execed since we attached: so it is checked. It is opened under the lock and read without it, since it never changes
 * again.
 */
static int memory_of(struct sv_peer *peer)
{
	int memory = atomic_load_explicit(&peer->memory, memory_order_acquire);

	if (likely(memory >= 0))
		return memory;
	pthread_mutex_lock(&peer->lock);
	memory = atomic_load_explicit(&peer->memory, memory_order_relaxed);
	if (memory < 0) {
		memory = sv_openat(peer->fd_dir, "../mem", O_RDWR);
		if (memory < 0 && errno == EROFS)
			memory = open_to_read(peer);
		if (memory < 0 && errno == ENOENT)
			errno = ESRCH;
		if (memory >= 0 && !has_segment(peer, memory)) {
			int error = errno;

			close(memory);
			memory = -1;
			errno = error;
		}
		if (memory >= 0)
			atomic_store_explicit(&peer->memory, memory, memory_order_release);
	}
	pthread_mutex_unlock(&peer->lock);
	return memory;
}

/* Has the peer lost the memory that it had? False if we may not open its memory, and so cannot find out. */
static bool has_no_memory(struct sv_peer *peer)
{
	uint64_t word;
	int memory = peer->self ? -1 : memory_of(peer);

	if (peer->self || memory < 0)
		return !peer->self && errno == ESRCH;
	/* its segment is mapped in that memory for as long as it has it */
	return sv_pread(memory, &word, sizeof(word), SV_ONCE(peer->segment->header.self)) == 0;
}

/*
 * The peer is gone, or ending. A process that execs loses its memory a moment before its pipe is hung up, so it is
 * given that moment: the operation waits in its queue and is tried again. It does not wait here, since we hold the send
 * lock and our `busy` is odd, for which other threads wait. If the head of the queue has waited for long enough and the
 * peer still lives, the owner has unmapped what it registered.
 */
int sv_remote_out_of_reach(struct sv_qp *qp)
{
	if (has_no_memory(qp->peer) || sv_peer_check_dead(qp->peer))
		return SV_STALL_GONE;
	if (qp->stall_reason == SV_STALL_OUT_OF_REACH && qp->stall_since_ns && sv_now_ns() - qp->stall_since_ns > GOING_NS)
		return IBV_WC_REM_OP_ERR;
	return SV_STALL_OUT_OF_REACH;
}

static int vm_failure(struct sv_qp *qp, int error)
{
	if (error == EBADF)
		return IBV_WC_LOC_QP_OP_ERR; /* the descriptor is open for reading only */
	return sv_is_shortage(error) ? SV_STALL_SHORTAGE : sv_remote_out_of_reach(qp);
}

/* 0 or a reason to wait. */
static int open_memory(struct sv_qp *qp, int *memory)
{
	*memory = memory_of(qp->peer);
	return *memory >= 0 ? 0 : vm_failure(qp, errno);
}

int sv_remote_vm_write(struct sv_qp *qp, uint64_t addr, const void *from, uint64_t bytes)
{
	int memory, status = open_memory(qp, &memory);

	while (!status && bytes) {
		uint64_t piece = bytes < PIECE ? bytes : PIECE;
		uint64_t tail = piece > 8 ? (addr + piece) & 7 : 0;

		/* the last bytes are an element of their own: elements are copied one after the other */
		if (piece > 8 && tail == 0)
			tail = 8;
		const struct iovec elements[2] = {
		    {(void *)(uintptr_t)from, piece - tail}, {(char *)(uintptr_t)from + (piece - tail), tail}};
		ssize_t n = sv_pwritev(memory, elements, tail ? 2 : 1, addr);

		if (n != (ssize_t)piece)
			status = vm_failure(qp, n < 0 ? errno : 0);
		addr += piece;
		from = (const char *)from + piece;
		bytes -= piece;
	}
	return status;
}

int sv_remote_vm_read(struct sv_qp *qp, uint64_t addr, void *to, uint64_t bytes)
{
	int memory, status = open_memory(qp, &memory);

	while (!status && bytes) {
		uint64_t piece = bytes < PIECE ? bytes : PIECE;
		ssize_t n = sv_pread(memory, to, piece, addr);

		if (n != (ssize_t)piece)
			status = vm_failure(qp, n < 0 ? errno : 0);
		addr += piece;
		to = (char *)to + piece;
		bytes -= piece;
	}
	return status;
}
