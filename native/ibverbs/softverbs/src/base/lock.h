/*
 * A biased lock: the thread that usually takes it, its owner, takes and releases it with one plain store each.
 *
 * A QP or CQ is nearly always used by one thread, and an atomic exchange costs as much as the rest of an 8-byte post.
 * So there are two ways in:
 *  - the fast way, for the owner: set its flag in `held`, then check that `owner` still names it. It is inside for as
 *    long as its flag is set.
 *  - the slow way, for any thread: take `taken` with an atomic exchange, and if another thread is the owner, revoke the
 *    bias: set `owner` to 0, run membarrier, wait until the owner's flag is clear.
 *
 * Writers:
 *  - `taken`: a thread takes it by the exchange, and clears it.
 *  - `owner`, `turn`, `last`, `steals`: only a thread that has `taken`. The fast way reads `owner` and `turn`.
 *  - `held[i]`: only the thread to which turn i was given. A turn is given once.
 *
 * Why two threads are never inside together. Two that came the slow way are kept apart by `taken`. The owner and a
 * thread that revokes its bias run Dekker's algorithm: the owner stores its flag and then loads `owner`; the other
 * thread stores `owner` and then loads the flag. Each of the two needs a full barrier between its store and its load.
 * membarrier executes one on every running thread of the process, so that the revoking thread pays for both, and the
 * fast way needs a compiler barrier only. If the barrier comes before the owner's load of `owner`, that load returns 0:
 * the owner clears its flag and takes the slow way. If it comes after that load, it comes after the store of the flag,
 * too: the revoking thread sees the flag, and waits until it is clear. The flag is cleared with release and loaded with
 * acquire, so the revoking thread also sees all that the owner wrote inside. So while `taken` is free, only the thread
 * that `owner` names can be inside; and a new turn is given only when no owner is inside, so that an owner that leaves
 * clears the flag that it set.
 *
 * Why each owner has a flag of its own. A thread may read that it is the owner, be suspended, and set its flag only
 * after the bias was revoked and given to another thread. It then finds that `owner` does not name it, and clears the
 * flag. If that were the new owner's flag as well, this would hide that the new owner is inside, and let a third thread
 * in. Flags are numbered by turns. A new turn is stored, with release, after `owner` was set to 0, and the fast way
 * loads `turn`, with acquire, before `owner`: a thread that reads a later owner's turn does not find itself in `owner`.
 *
 * When the bias is given. A thread that takes the lock the slow way, by sv_lock, becomes the owner, unless `steals` has
 * reached MAX_STEALS (lock.c) or no turn is left: then the lock is a plain one, which costs an atomic exchange and a
 * store. `steals` counts revocations by sv_lock and by sv_lock_try with `counts`, not those by sv_lock_control. The
 * thread to which the last turn was given takes the bias back without a new one. Control verbs and the helper thread
 * take the lock without becoming its owner, so that setting up a QP does not bias it to the thread that does so.
 *
 * The lock is not recursive. It is usually held for less time than it takes to sleep and to be woken, so a thread that
 * waits for it spins, and yields the core from time to time.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SV_LOCK_TURNS 8

struct sv_lock {
	_Atomic uintptr_t owner;             /* the thread pointer of the thread that has the bias; 0: none */
	_Atomic uint8_t held[SV_LOCK_TURNS]; /* a flag for each turn: that owner is inside, or about to look */
	_Atomic uint32_t turn;               /* the last turn that was given, which is the owner's; 0: none was given */
	uint32_t steals;                     /* how often the bias was revoked by another thread that uses the object */
	uintptr_t last;                      /* the thread to which `turn` was given, also while there is no owner */
	_Atomic bool taken;                  /* the plain lock */
};

/* A mutex that is held for less time than it takes to sleep and to be woken: a thread that waits spins for a while. */
void sv_mutex_init(pthread_mutex_t *mutex);

void sv_lock_init(struct sv_lock *lock);
/* Never bias this lock, since two threads will use it all the time. Right after sv_lock_init. */
void sv_lock_share(struct sv_lock *lock);
/* Take the lock the slow way, as the thread with this thread pointer; release with sv_unlock(lock, false). */
void sv_lock_slow(struct sv_lock *lock, uintptr_t self);
/* The same without becoming the owner, for control verbs and the helper thread; release with sv_unlock(lock, false). */
void sv_lock_control(struct sv_lock *lock);
/*
 * The same, but return false if another thread is inside. For a thread that holds other locks: a program may hold this
 * one for long (while it builds a list of WRs) and need the others meanwhile. `counts`: a revocation counts in
 * `steals`.
 */
bool sv_lock_try(struct sv_lock *lock, bool counts);

/* The flag of the calling thread if it is the owner, or NULL. `turn` is read before `owner`: see above. */
static inline _Atomic uint8_t *sv_lock_flag(struct sv_lock *lock, uintptr_t self)
{
	uint32_t turn = atomic_load_explicit(&lock->turn, memory_order_acquire);

	return __builtin_expect(atomic_load_explicit(&lock->owner, memory_order_relaxed) == self, 1) ? &lock->held[turn]
	                                                                                             : NULL;
}

/* Set the owner's flag. Returns whether the thread is inside; if not, its bias was revoked, and the flag is clear. */
static inline bool sv_lock_mark(struct sv_lock *lock, _Atomic uint8_t *flag, uintptr_t self)
{
	atomic_store_explicit(flag, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&lock->owner, memory_order_acquire) == self, 1))
		return true;
	atomic_store_explicit(flag, 0, memory_order_release);
	return false;
}

/* Take the lock if the calling thread is its owner. */
static inline bool sv_lock_own(struct sv_lock *lock)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	_Atomic uint8_t *flag = sv_lock_flag(lock, self);

	return __builtin_expect(flag != NULL, 1) && sv_lock_mark(lock, flag, self);
}

/* Take the lock. Returns whether it was taken the fast way, which sv_unlock needs. */
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
