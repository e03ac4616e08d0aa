#include "base/barrier.h"
#include "base/lock.h"

#include <sched.h>

/* A lock whose bias was revoked this often is used by several threads: there a bias only costs. */
#define MAX_STEALS 8

void sv_mutex_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

void sv_lock_init(struct sv_lock *lock)
{
	atomic_init(&lock->owner, 0);
	for (int turn = 0; turn < SV_LOCK_TURNS; turn++)
		atomic_init(&lock->held[turn], 0);
	atomic_init(&lock->turn, 0);
	lock->steals = 0;
	lock->last = 0;
	atomic_init(&lock->taken, false);
}

void sv_lock_share(struct sv_lock *lock)
{
	lock->steals = MAX_STEALS;
}

static bool try_plain(struct sv_lock *lock)
{
	return !atomic_load_explicit(&lock->taken, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&lock->taken, true, memory_order_acquire);
}

/* A waiting thread yields its core each time it has looked this often. */
#define SPINS 100

static void take_plain(struct sv_lock *lock)
{
	for (unsigned spins = 0; !try_plain(lock);)
		if (++spins % SPINS)
			__builtin_ia32_pause();
		else
			sched_yield();
}

/* Is the owner inside, or about to look? The caller has `taken`. */
static bool is_held(struct sv_lock *lock)
{
	return atomic_load_explicit(
	    &lock->held[atomic_load_explicit(&lock->turn, memory_order_relaxed)], memory_order_acquire);
}

/* Revoke the bias of another thread, and wait until that thread is outside; false: no other has it. The caller has
 * `taken`. */
static bool revoke(struct sv_lock *lock, uintptr_t self)
{
	uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

	if (owner == 0 || owner == self)
		return false;
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	sv_barrier_process();
	while (is_held(lock))
		sched_yield();
	return true;
}

/* Give this thread a turn, unless it has the last one. False: no turn is left. The caller has `taken`. */
static bool take_turn(struct sv_lock *lock, uintptr_t self)
{
	uint32_t next = atomic_load_explicit(&lock->turn, memory_order_relaxed) + 1;

	if (lock->last == self)
		return true;
	if (next == SV_LOCK_TURNS)
		return false;
	atomic_store_explicit(&lock->turn, next, memory_order_release);
	lock->last = self;
	return true;
}

void sv_lock_slow(struct sv_lock *lock, uintptr_t self)
{
	take_plain(lock);
	if (revoke(lock, self))
		lock->steals++;
	if (lock->steals < MAX_STEALS && take_turn(lock, self))
		atomic_store_explicit(&lock->owner, self, memory_order_release);
}

void sv_lock_control(struct sv_lock *lock)
{
	take_plain(lock);
	revoke(lock, (uintptr_t)__builtin_thread_pointer());
}

bool sv_lock_try(struct sv_lock *lock, bool counts)
{
	if (!try_plain(lock))
		return false;
	uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

	if (owner == 0 || owner == (uintptr_t)__builtin_thread_pointer())
		return true;
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	sv_barrier_process();
	if (is_held(lock)) {
		/* the owner may be inside for long: give the bias back */
		atomic_store_explicit(&lock->owner, owner, memory_order_release);
		sv_unlock(lock, false);
		return false;
	}
	lock->steals += counts;
	return true;
}
