/*
 * Copies with the promises that RDMA programs rely on:
 *  - an aligned 8-byte word of the shared side (destination of a WRITE, source of a READ) never tears;
 *  - a WRITE's last bytes are stored last, with release: programs poll the last byte, and memcpy may store it early;
 *  - large copies go around the cache, unless they repeat one of the last few, whose bytes are in the cache.
 * The shared side is aligned first, so that no store or load straddles one of its words.
 */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t __attribute__((may_alias, aligned(1))) sv_u64;
typedef uint32_t __attribute__((may_alias, aligned(1))) sv_u32;
typedef uint16_t __attribute__((may_alias, aligned(1))) sv_u16;

/* The shared sides of the last few large copies of a QP. */
struct sv_heat {
	uintptr_t recent[8];
	unsigned next;
};

void sv_copy_write_long(uint8_t *shared, const uint8_t *from, size_t bytes, struct sv_heat *heat);
void sv_copy_read_long(uint8_t *to, const uint8_t *shared, size_t bytes, struct sv_heat *heat);

/* Data races on the payload are the program's responsibility, as with a NIC. */
#if defined(__SANITIZE_THREAD__)
#define SV_RACY __attribute__((no_sanitize("thread")))
#define SV_RACY_INLINE static SV_RACY __attribute__((noinline, unused))
#else
#define SV_RACY
#define SV_RACY_INLINE static inline
#endif

SV_RACY_INLINE void sv_copy_write(void *shared, const void *from, size_t bytes, struct sv_heat *heat)
{
	if (__builtin_expect(bytes == 8, 1)) {
		uint64_t word = *(const sv_u64 *)from;

		atomic_signal_fence(memory_order_seq_cst);
		*(volatile sv_u64 *)shared = word;
		return;
	}
	if (bytes)
		sv_copy_write_long(shared, from, bytes, heat);
}

SV_RACY_INLINE void sv_copy_read(void *to, const void *shared, size_t bytes, struct sv_heat *heat)
{
	if (__builtin_expect(bytes == 8, 1)) {
		*(sv_u64 *)to = *(const volatile sv_u64 *)shared;
		return;
	}
	if (bytes)
		sv_copy_read_long(to, shared, bytes, heat);
}
