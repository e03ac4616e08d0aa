/*
 * A lock that costs its usual thread two plain stores.
 *
 * A QP or CQ is nearly always used by one thread, and an atomic exchange costs as much as the rest of an 8-byte post.
 * So the lock is biased: its owner marks `held` and looks at `owner` again; a thread that wants the lock from it
 * takes the plain lock below, clears `owner`, runs membarrier (after which the owner either sees that, or its `held` is
 * visible) and waits for `held` to clear. A lock that was taken away several times stays a plain one: an atomic
 * exchange and a store. It is held for less time than it takes to sleep and to be woken, so who wants it spins, and
 * lets others run where that lasts. Control verbs take the lock without acquiring the bias, so that setting a QP up
 * does not bias it to that thread.
 *
 * Each owner has a flag of its own, as long as there are flags: one that lost the bias between its first look and its
 * mark still sets the mark and takes it back, when the next owner may be inside.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SV_LOCK_TURNS 8

struct sv_lock {
	_Atomic uintptr_t owner;
	_Atomic uint8_t held[SV_LOCK_TURNS];
	_Atomic uint32_t turn; /* whose flag is the owner's */
	uint32_t steals;
	uintptr_t last;     /* the owner whose turn it is, also while the lock has none */
	_Atomic bool taken; /* the plain lock */
};

/* A mutex that is held for less time than it takes to sleep and to be woken: who wants it spins for a while. */
void sv_mutex_init(pthread_mutex_t *mutex);

void sv_lock_init(struct sv_lock *lock);
/* Never biased: for a lock that two threads will use all the time. */
void sv_lock_share(struct sv_lock *lock);
void sv_lock_slow(struct sv_lock *lock, uintptr_t self);
/* For control verbs and the helper thread; release with sv_unlock(lock, false). */
void sv_lock_control(struct sv_lock *lock);
/*
 * The same, unless another thread has it: for those who hold other locks, since a program may have this one for long
 * (it builds a list of WRs) and need theirs meanwhile. `counts`: as a taking by another thread.
 */
bool sv_lock_try(struct sv_lock *lock, bool counts);

/* The owner's flag; NULL for another thread. The turn is read first: it is ours if the lock still is ours after that.
 */
static inline _Atomic uint8_t *sv_lock_flag(struct sv_lock *lock, uintptr_t self)
{
	uint32_t turn = atomic_load_explicit(&lock->turn, memory_order_acquire);

	return __builtin_expect(atomic_load_explicit(&lock->owner, memory_order_relaxed) == self, 1) ? &lock->held[turn]
	                                                                                             : NULL;
}

static inline bool sv_lock_mark(struct sv_lock *lock, _Atomic uint8_t *flag, uintptr_t self)
{
	atomic_store_explicit(flag, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&lock->owner, memory_order_acquire) == self, 1))
		return true;
	atomic_store_explicit(flag, 0, memory_order_release);
	return false;
}

/* Take it if it is this thread's own: then it costs two stores. */
static inline bool sv_lock_own(struct sv_lock *lock)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	_Atomic uint8_t *flag = sv_lock_flag(lock, self);

	return __builtin_expect(flag != NULL, 1) && sv_lock_mark(lock, flag, self);
}

/* Returns whether the bias was used; hand it to sv_unlock. */
static inline bool sv_lock(struct sv_lock *lock)
{
	if (__builtin_expect(sv_lock_own(lock), 1))
		return true;
	sv_lock_slow(lock, (uintptr_t)__builtin_thread_pointer());
	return false;
}

static inline void sv_unlock(struct sv_lock *lock, bool biased)
{
	if (__builtin_expect(biased, 1))
		atomic_store_explicit(
		    &lock->held[atomic_load_explicit(&lock->turn, memory_order_relaxed)], 0, memory_order_release);
	else
		atomic_store_explicit(&lock->taken, false, memory_order_release);
}
