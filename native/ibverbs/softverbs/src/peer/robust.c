/*
 * A lock between processes whose holder may be killed at any instruction. The word names the holder: its nonce and
 * slot. A waiter that has waited for a while checks whether that process still lives: it takes the lock from a dead
 * holder, and gives up if the holder is stopped. So what the lock protects must be consistent, or repairable, at every
 * step (deliver.c).
 */
#include "base/clock.h"
#include "object/layout.h"
#include "object/process.h"
#include "peer/peer.h"
#include "peer/robust.h"

#include <errno.h>
#include <sched.h>

static uint64_t my_name(void)
{
	return (sv_process.segment->header.nonce << 12 | sv_process.slot) | 1ull << 63;
}

/* The process that this word names; NULL: it is dead, or, if *unknown is set, we cannot find out. */
static struct sv_peer *find(uint64_t name, bool *unknown)
{
	uint32_t slot = (uint32_t)(name & (SV_SLOTS - 1));
	struct sv_peer *peer = sv_peer_get(slot);

	*unknown = !peer && !sv_peer_is_nobody(errno);
	if (peer && ((peer->nonce << 12 | slot) | 1ull << 63) != name) {
		sv_peer_put(peer);
		peer = NULL;
	}
	return peer;
}

bool sv_robust_lives(uint64_t holder)
{
	bool unknown;

	if (holder == my_name())
		return true;
	struct sv_peer *peer = find(holder, &unknown);

	if (peer)
		sv_peer_put(peer);
	return peer || unknown;
}

bool sv_robust_is_stopped(uint64_t holder)
{
	bool unknown;

	if (holder == my_name())
		return false;
	struct sv_peer *peer = find(holder, &unknown);
	bool stopped = peer && sv_peer_is_stopped(peer);

	if (peer)
		sv_peer_put(peer);
	return stopped;
}

enum sv_robust sv_robust_lock(_Atomic uint64_t *lock)
{
	uint64_t me = my_name(), since = 0;

	for (unsigned round = 1;; round++) {
		uint64_t holder = 0;

		if (atomic_compare_exchange_weak(lock, &holder, me))
			return SV_ROBUST_TAKEN;
		if (holder && round % 1024 == 0) {
			if (!sv_robust_lives(holder)) {
				if (atomic_compare_exchange_strong(lock, &holder, me))
					return SV_ROBUST_FROM_DEAD;
				continue;
			}
			/* a post must not wait for a stopped holder: it can be tried again, or is lost as a datagram may be */
			if (sv_robust_is_stopped(holder))
				return SV_ROBUST_HELD;
			if (!since)
				since = sv_now_ns();
			if (!sv_patience(since, false))
				return SV_ROBUST_HELD;
		}
		if (round % 64 == 0)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

void sv_robust_unlock(_Atomic uint64_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}
