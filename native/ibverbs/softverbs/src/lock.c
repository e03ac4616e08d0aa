#include "lock.h"
#include "barrier.h"

#include <sched.h>

/* After this many takings by other threads the lock is shared in earnest and the bias only costs. */
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
	atomic_init(&lock->held, 0);
	lock->steals = 0;
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

/* Under the mutex: take the bias from its owner and wait until it is out. */
static bool revoke(struct sv_lock *lock, uintptr_t self)
{
	uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

	if (owner == 0 || owner == self)
		return false;
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	sv_barrier_process();
	while (atomic_load_explicit(&lock->held, memory_order_acquire))
		sched_yield();
	return true;
}

void sv_lock_slow(struct sv_lock *lock, uintptr_t self)
{
	pthread_mutex_lock(&lock->mutex);
	if (revoke(lock, self))
		lock->steals++;
	if (lock->steals < MAX_STEALS)
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

	if (owner == 0 || owner == (uintptr_t)__builtin_thread_pointer())
		return true;
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	sv_barrier_process();
	if (atomic_load_explicit(&lock->held, memory_order_acquire)) {
		atomic_store_explicit(&lock->owner, owner, memory_order_release);
		pthread_mutex_unlock(&lock->mutex);
		return false;
	}
	lock->steals += counts;
	return true;
}
