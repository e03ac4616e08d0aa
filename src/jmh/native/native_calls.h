/* The same functions in each style in which Java can call them, for benchmarks. JavaCPP compiles it into its library.
 */
#ifndef FARHEAP_NATIVE_CALLS_H
#define FARHEAP_NATIVE_CALLS_H

#include <infiniband/verbs.h>
#include <jni.h>

/* Found by symbol: FFM. Not inlined, so that every style makes the same call. */
extern "C" __attribute__((noinline, visibility("default"))) long farheap_empty(long a, long b, long c)
{
	asm volatile("");
	return a + b + c;
}

/* Wrapped by JavaCPP. */
static inline long empty_by_address(long a, long b, long c)
{
	return farheap_empty(a, b, c);
}

static inline long empty_by_pointer(void *a, void *b, void *c)
{
	return farheap_empty((long)a, (long)b, (long)c);
}

static inline int poll_by_pointer(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, entries, wc);
}

/* Written by hand. */
extern "C" JNIEXPORT jlong JNICALL Java_io_farheap_verbs_JniCalls_empty(JNIEnv *, jclass, jlong a, jlong b, jlong c)
{
	return farheap_empty(a, b, c);
}

extern "C" JNIEXPORT jint JNICALL Java_io_farheap_verbs_JniCalls_poll(
    JNIEnv *, jclass, jlong cq, jint entries, jlong wc)
{
	return ibv_poll_cq((struct ibv_cq *)cq, entries, (struct ibv_wc *)wc);
}

#endif
