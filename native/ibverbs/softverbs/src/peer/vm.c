/* A peer's private memory, through system calls. */
#include "object/qp.h"
#include "peer/peer.h"
#include "peer/vm.h"

#include <errno.h>
#include <sys/uio.h>
#include <time.h>

#define PIECE (1u << 30)

/* It is dying, and has no memory any more: its pipe is about to hang up. */
static bool has_no_memory(const struct sv_peer *peer)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {(void *)1, 1};

	return !peer->self && process_vm_readv(peer->pid, &local, 1, &remote, 1, 0) < 0 && errno == ESRCH;
}

/*
 * Gone, or going. A process that execs loses its memory a moment before its pipe hangs up, so give it that moment.
 * Otherwise the owner has unmapped what it registered.
 */
static int vm_failure(struct sv_qp *qp)
{
	for (int i = 0; i < 500; i++) {
		if (has_no_memory(qp->peer) || sv_peer_check_dead(qp->peer))
			return SV_STALL_GONE;
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	return IBV_WC_REM_OP_ERR;
}

/* A shared region that could not be mapped is never reached by address: whoever has that address space now may be
 * another program. */
int sv_remote_unmapped(struct sv_qp *qp)
{
	return vm_failure(qp);
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

		if (process_vm_writev(qp->peer->pid, &local, 1, remote, tail ? 2 : 1, 0) != (ssize_t)piece)
			return vm_failure(qp);
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

		if (process_vm_readv(qp->peer->pid, &local, 1, &remote, 1, 0) != (ssize_t)piece)
			return vm_failure(qp);
		addr += piece;
		to = (char *)to + piece;
		bytes -= piece;
	}
	return IBV_WC_SUCCESS;
}
