/* Short names for compiler attributes and hints. */
#pragma once
#include <stddef.h>

#define SV_API __attribute__((visibility("default")))
#define SV_INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
