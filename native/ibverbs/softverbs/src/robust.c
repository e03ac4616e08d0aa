/*
 * A lock between processes whose holder may be killed at any instruction. The word names the holder: its nonce and
 * slot. A waiter that has waited for a while looks whether that process still lives, and takes the lock from a dead
 * one. What the lock protects must therefore be consistent at every step.
 */
#include "softverbs.h"

#include <sched.h>

static uint64_t my_name(void)
{
	return (sv_process.segment->header.nonce << 12 | sv_process.slot) | 1ull << 63;
}

static bool alive(uint64_t name)
{
	uint32_t slot = (uint32_t)(name & (SV_SLOTS - 1));
	struct sv_peer *peer = sv_peer_get(slot);

	if (!peer)
		return errno != ECONNREFUSED && errno != ESRCH && errno != ENOENT && errno != EINVAL && errno != EPROTO;
	bool same = ((peer->nonce << 12 | slot) | 1ull << 63) == name;

	sv_peer_put(peer);
	return same;
}

bool sv_robust_lock(_Atomic uint64_t *lock)
{
	uint64_t me = my_name();

	for (unsigned round = 1;; round++) {
		uint64_t holder = 0;

		if (atomic_compare_exchange_weak(lock, &holder, me))
			return false;
		if (holder && holder != me && round % 1024 == 0 && !alive(holder) &&
		    atomic_compare_exchange_strong(lock, &holder, me))
			return true;
		if (round % 64 == 0)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

void sv_robust_wait(_Atomic uint64_t *lock)
{
	uint64_t me = my_name();

	for (unsigned round = 1; atomic_load(lock); round++) {
		uint64_t holder = 0;

		if (atomic_compare_exchange_weak(lock, &holder, me)) {
			sv_robust_unlock(lock);
			return;
		}
		/* a dead holder's work is for the next sender to mend: leave the lock to it */
		if (holder && holder != me && round % 1024 == 0 && !alive(holder))
			return;
		if (round % 64 == 0)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

bool sv_robust_pass(_Atomic uint64_t *lock)
{
	uint64_t holder = atomic_load(lock), me = my_name();

	if (holder == 0)
		return true;
	return holder != me && !alive(holder);
}

void sv_robust_unlock(_Atomic uint64_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}
