/*
 * The biased lock: a thread that loses the bias between its look at the owner and its mark must not let a third thread
 * in.
 */
#include "test.h"

#include "../src/base/barrier.h"
#include "../src/base/lock.h"

static struct sv_lock lock;
static _Atomic int phase;

static void await_phase(int wanted)
{
	while (atomic_load(&phase) != wanted)
		sched_yield();
}

/*
 * Revokes the bias of the owner, becomes the owner, and stays inside, the fast way, until it gets the command to leave.
 */
static void *thief(void *unused)
{
	sv_unlock(&lock, sv_lock(&lock));
	CHECK(sv_lock_own(&lock));
	atomic_store(&phase, 1);
	await_phase(2);
	sv_unlock(&lock, true);
	return unused;
}

static void a_loser_does_not_let_a_third_in(void)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	pthread_t thread;

	sv_lock_init(&lock);
	sv_unlock(&lock, sv_lock(&lock));
	_Atomic uint8_t *flag = sv_lock_flag(&lock, self);

	CHECK(flag != NULL);
	CHECK_EQ(pthread_create(&thread, NULL, thief, NULL), 0);
	await_phase(1);
	CHECK(!sv_lock_mark(&lock, flag, self));
	CHECK(!sv_lock_try(&lock, false));
	atomic_store(&phase, 2);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(sv_lock_try(&lock, false));
	sv_unlock(&lock, false);
}

static long counter;

static void *count(void *times)
{
	for (long i = 0; i < (long)times; i++) {
		bool biased = sv_lock(&lock);

		counter++;
		sv_unlock(&lock, biased);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

/* Repeated with a new lock, since a lock soon becomes one without an owner. */
static void two_threads_exclude_each_other(void)
{
	for (int round = 0; round < 200; round++) {
		pthread_t threads[2];

		sv_lock_init(&lock);
		counter = 0;
		for (int i = 0; i < 2; i++)
			CHECK_EQ(pthread_create(&threads[i], NULL, count, (void *)1000), 0);
		for (int i = 0; i < 2; i++)
			CHECK_EQ(pthread_join(threads[i], NULL), 0);
		CHECK_EQ(counter, 2000);
	}
}

int main(void)
{
	CHECK_EQ(sv_barrier_init(), 0);
	a_loser_does_not_let_a_third_in();
	two_threads_exclude_each_other();
	return 0;
}
