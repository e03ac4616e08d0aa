/* Running sends that wait. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

/* Under the send lock. What is due at a time is looked at as of `now`, in ns. */
void sv_send_progress(struct sv_qp *qp, uint64_t now);
/* The same for the helper thread. Whether it is to populate what was mapped (sv_peers_populate), under no lock. */
bool sv_send_progress_helped(struct sv_qp *qp, uint64_t now);
/*
 * So much a poll does for sends that waited, in bytes: from Java it is a critical call, for the end of which the whole
 * JVM waits at a safepoint.
 */
#define SV_POLL_BYTES (16ull * 1024 + 64)
/*
 * The same for a poll, from which programs expect that it returns soon: it copies at most so many bytes, which it
 * counts down, and neither connects nor maps. What takes more is left to the helper thread, and to posts. Operations
 * that are late by a setting are not bounded: a model is to be kept.
 */
void sv_send_progress_bounded(struct sv_qp *qp, uint64_t now, uint64_t *bytes);
