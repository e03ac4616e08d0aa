/* A lock between processes that survives the death of its holder. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Taken; taken from a holder that has died, whose work may be half done; not taken, since its holder is stopped or
 * takes too long.
 */
enum sv_robust { SV_ROBUST_TAKEN, SV_ROBUST_FROM_DEAD, SV_ROBUST_HELD };
enum sv_robust sv_robust_lock(_Atomic uint64_t *lock);
void sv_robust_unlock(_Atomic uint64_t *lock);
/* About a holder, given the word that names it. */
bool sv_robust_lives(uint64_t holder);
bool sv_robust_is_stopped(uint64_t holder);
