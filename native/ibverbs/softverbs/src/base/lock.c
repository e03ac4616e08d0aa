#include "base/barrier.h"
#include "base/lock.h"

#include <sched.h>

/* After this many takings by other threads the lock is shared in earnest and the bias only costs. */
#define MAX_STEALS 8
/* After so many by one thread alone it is that thread's again: taking it away costs as much as some hundred takings. */
#define STREAK 256

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
	lock->steals = lock->streak = 0;
	lock->last = lock->taker = 0;
	sv_mutex_init(&lock->mutex);
}

void sv_lock_share(struct sv_lock *lock)
{
	lock->steals = MAX_STEALS;
}

void sv_lock_destroy(struct sv_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

/* Under the mutex. */
static bool is_held(struct sv_lock *lock)
{
	return atomic_load_explicit(
	    &lock->held[atomic_load_explicit(&lock->turn, memory_order_relaxed)], memory_order_acquire);
}

/* Under the mutex: take the bias from its owner and wait until it is out. */
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

/* Under the mutex. False: no flag is left. */
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

/* Under the mutex: a plain one is taken by a thread. */
static void count_taking(struct sv_lock *lock, uintptr_t self)
{
	if (lock->taker != self) {
		lock->taker = self;
		lock->streak = 0;
	} else if (lock->steals >= MAX_STEALS && ++lock->streak >= STREAK) {
		/* for now: the next taking away makes it plain again */
		lock->steals = MAX_STEALS - 1;
		lock->streak = 0;
	}
}

void sv_lock_slow(struct sv_lock *lock, uintptr_t self)
{
	pthread_mutex_lock(&lock->mutex);
	if (revoke(lock, self))
		lock->steals++;
	count_taking(lock, self);
	if (lock->steals < MAX_STEALS && take_turn(lock, self))
		atomic_store_explicit(&lock->owner, self, memory_order_release);
}

void sv_lock_control(struct sv_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	revoke(lock, (uintptr_t)__builtin_thread_pointer());
}

bool sv_lock_try(struct sv_lock *lock, bool counts)
{
	if (pthread_mutex_trylock(&lock->mutex))
		return false;
	uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();

	count_taking(lock, self);
	if (owner == 0 || owner == self)
		return true;
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	sv_barrier_process();
	if (is_held(lock)) {
		atomic_store_explicit(&lock->owner, owner, memory_order_release);
		pthread_mutex_unlock(&lock->mutex);
		return false;
	}
	lock->steals += counts || lock->steals == MAX_STEALS - 1;
	return true;
}
