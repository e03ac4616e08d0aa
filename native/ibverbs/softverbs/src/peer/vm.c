/* A peer's private memory, through system calls. */
#include "base/clock.h"
#include "object/qp.h"
#include "peer/peer.h"
#include "peer/vm.h"

#include <errno.h>
#include <sys/uio.h>

#define PIECE (1u << 30)

/* How long a peer that lives and has lost its memory is given to be gone. */
#define GOING_NS 80000000ull

/* It is dying, and has no memory any more: its pipe is about to hang up. */
static bool has_no_memory(const struct sv_peer *peer)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {(void *)1, 1};

	return !peer->self && process_vm_readv(peer->pid, &local, 1, &remote, 1, 0) < 0 && errno == ESRCH;
}

/*
 * Gone, or going. A process that execs loses its memory a moment before its pipe hangs up, so it is given that moment:
 * the operation waits in its queue and is tried again, since we hold the send lock, and say that we are busy, for which
 * others wait. Once the head of the queue has waited so for long enough, the owner has unmapped what it registered.
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
	return sv_is_shortage(error) ? SV_STALL_SHORTAGE : sv_remote_out_of_reach(qp);
}

static bool dead_before_call(struct sv_qp *qp)
{
	/* pids are reused: never write by number into a process that may be another one by now */
	return sv_peer_check_dead(qp->peer);
}

int sv_remote_vm_write(struct sv_qp *qp, uint64_t addr, const void *from, uint64_t bytes)
{
	if (dead_before_call(qp))
		return SV_STALL_GONE;
	while (bytes) {
		uint64_t piece = bytes < PIECE ? bytes : PIECE;
		uint64_t tail = piece > 8 ? (addr + piece) & 7 : 0;

		/* the last bytes in an element of their own: elements are copied one after the other */
		if (piece > 8 && tail == 0)
			tail = 8;
		struct iovec local = {(void *)(uintptr_t)from, piece};
		struct iovec remote[2] = {
		    {(void *)(uintptr_t)addr, piece - tail}, {(void *)(uintptr_t)(addr + piece - tail), tail}};

		ssize_t n = process_vm_writev(qp->peer->pid, &local, 1, remote, tail ? 2 : 1, 0);

		if (n != (ssize_t)piece)
			return vm_failure(qp, n < 0 ? errno : 0);
		addr += piece;
		from = (const char *)from + piece;
		bytes -= piece;
	}
	return IBV_WC_SUCCESS;
}

int sv_remote_vm_read(struct sv_qp *qp, uint64_t addr, void *to, uint64_t bytes)
{
	if (dead_before_call(qp))
		return SV_STALL_GONE;
	while (bytes) {
		uint64_t piece = bytes < PIECE ? bytes : PIECE;
		struct iovec local = {to, piece};
		struct iovec remote = {(void *)(uintptr_t)addr, piece};

		ssize_t n = process_vm_readv(qp->peer->pid, &local, 1, &remote, 1, 0);

		if (n != (ssize_t)piece)
			return vm_failure(qp, n < 0 ? errno : 0);
		addr += piece;
		to = (char *)to + piece;
		bytes -= piece;
	}
	return IBV_WC_SUCCESS;
}
