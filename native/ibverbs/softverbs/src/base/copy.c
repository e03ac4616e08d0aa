#include "base/copy.h"

#include <immintrin.h>
#include <stdbool.h>

/* Copies of this size or more would only evict what is in the cache. */
#define STREAM_BYTES (256 * 1024)
/* Larger copies do not stay in the cache. */
#define HOT_BYTES (4u << 20)
/* How far ahead of a streaming copy to prefetch its source. */
#define STREAM_AHEAD 1024

/* Whichever of `to` and `from` is shared is 8-aligned; `bytes` is a multiple of 8. */
SV_RACY static void copy_words_sse(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
		__m128i a = _mm_loadu_si128((const __m128i *)from);
		__m128i b = _mm_loadu_si128((const __m128i *)(from + 16));
		__m128i c = _mm_loadu_si128((const __m128i *)(from + 32));
		__m128i d = _mm_loadu_si128((const __m128i *)(from + 48));

		_mm_storeu_si128((__m128i *)to, a);
		_mm_storeu_si128((__m128i *)(to + 16), b);
		_mm_storeu_si128((__m128i *)(to + 32), c);
		_mm_storeu_si128((__m128i *)(to + 48), d);
	}
	for (; bytes; bytes -= 8, to += 8, from += 8)
		*(volatile sv_u64 *)to = *(const volatile sv_u64 *)from;
}

__attribute__((target("avx2"))) SV_RACY static void copy_words_avx(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (; bytes >= 128; bytes -= 128, to += 128, from += 128) {
		__m256i a = _mm256_loadu_si256((const __m256i *)from);
		__m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));
		__m256i c = _mm256_loadu_si256((const __m256i *)(from + 64));
		__m256i d = _mm256_loadu_si256((const __m256i *)(from + 96));

		_mm256_storeu_si256((__m256i *)to, a);
		_mm256_storeu_si256((__m256i *)(to + 32), b);
		_mm256_storeu_si256((__m256i *)(to + 64), c);
		_mm256_storeu_si256((__m256i *)(to + 96), d);
	}
	for (; bytes >= 32; bytes -= 32, to += 32, from += 32)
		_mm256_storeu_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
	for (; bytes; bytes -= 8, to += 8, from += 8)
		*(volatile sv_u64 *)to = *(const volatile sv_u64 *)from;
}

/* `to` is 32-aligned and `bytes` a multiple of 64. */
__attribute__((target("avx2"))) SV_RACY static void stream_avx(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (; bytes; bytes -= 64, to += 64, from += 64) {
		_mm_prefetch((const char *)from + STREAM_AHEAD, _MM_HINT_NTA);
		__m256i a = _mm256_loadu_si256((const __m256i *)from);
		__m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));

		_mm256_stream_si256((__m256i *)to, a);
		_mm256_stream_si256((__m256i *)(to + 32), b);
	}
	_mm_sfence();
}

SV_RACY static void stream_sse(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (; bytes; bytes -= 16, to += 16, from += 16)
		_mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
	_mm_sfence();
}

static void copy_words(uint8_t *to, const uint8_t *from, size_t bytes)
{
	if (__builtin_cpu_supports("avx2"))
		copy_words_avx(to, from, bytes);
	else
		copy_words_sse(to, from, bytes);
}

/* Was this shared side one of the last few large copies? Then going through the cache is faster. */
static bool is_hot(struct sv_heat *heat, uintptr_t shared, size_t bytes)
{
	if (bytes > HOT_BYTES)
		return false;
	for (int i = 0; i < 8; i++)
		if (heat->recent[i] == shared)
			return true;
	heat->recent[heat->next++ % 8] = shared;
	return false;
}

static void copy_body(uint8_t *to, const uint8_t *from, size_t bytes, bool stream)
{
	if (stream && bytes >= STREAM_BYTES / 2 && (((uintptr_t)to | (uintptr_t)from) & 7) == 0) {
		size_t head = -(uintptr_t)to & 63;
		size_t body = (bytes - head) & ~(size_t)63;

		copy_words(to, from, head);
		if (__builtin_cpu_supports("avx2"))
			stream_avx(to + head, from + head, body);
		else
			stream_sse(to + head, from + head, body);
		to += head + body;
		from += head + body;
		bytes -= head + body;
	}
	copy_words(to, from, bytes);
}

/* Fewer than 8 bytes, ascending, so that the last byte is stored last. */
SV_RACY static void copy_few(uint8_t *to, const uint8_t *from, size_t bytes)
{
	if (bytes == 4 && ((uintptr_t)to & 3) == 0) {
		*(volatile sv_u32 *)to = *(const volatile sv_u32 *)from;
	} else if (bytes == 2 && ((uintptr_t)to & 1) == 0) {
		*(volatile sv_u16 *)to = *(const volatile sv_u16 *)from;
	} else {
		for (size_t i = 0; i < bytes; i++)
			((volatile uint8_t *)to)[i] = ((const volatile uint8_t *)from)[i];
	}
}

void sv_copy_write_long(uint8_t *to, const uint8_t *from, size_t bytes, struct sv_heat *heat)
{
	bool stream = bytes >= STREAM_BYTES && !is_hot(heat, (uintptr_t)to, bytes);
	size_t head = -(uintptr_t)to & 7;

	if (head >= bytes) {
		copy_few(to, from, bytes);
		return;
	}
	copy_few(to, from, head);
	to += head;
	from += head;
	bytes -= head;

	size_t tail = bytes & 7;
	size_t body = bytes - tail;

	if (!tail && body > 8) {
		/* the last word is stored last: no store follows it */
		copy_body(to, from, body - 8, stream);
		atomic_signal_fence(memory_order_seq_cst);
		*(volatile sv_u64 *)(to + body - 8) = *(const volatile sv_u64 *)(from + body - 8);
	} else {
		copy_body(to, from, body, stream);
		atomic_signal_fence(memory_order_seq_cst);
		copy_few(to + body, from + body, tail);
	}
}

void sv_copy_read_long(uint8_t *to, const uint8_t *from, size_t bytes, struct sv_heat *heat)
{
	bool stream = bytes >= STREAM_BYTES && !is_hot(heat, (uintptr_t)from, bytes);
	size_t head = -(uintptr_t)from & 7;

	if (head > bytes)
		head = bytes;
	copy_few(to, from, head);
	to += head;
	from += head;
	bytes -= head;
	copy_body(to, from, bytes & ~(size_t)7, stream);
	copy_few(to + (bytes & ~(size_t)7), from + (bytes & ~(size_t)7), bytes & 7);
}
