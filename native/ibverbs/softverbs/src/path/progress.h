/* Running sends that wait. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

/* Try the sends that wait again. Under the send lock. `now`, in ns, decides what is due. */
void sv_send_progress(struct sv_qp *qp, uint64_t now);
/*
 * The same for the helper thread. Returns whether it has to populate what was mapped (sv_peers_populate), under no
 * lock.
 */
bool sv_send_progress_helped(struct sv_qp *qp, uint64_t now);
/*
 * How many bytes a poll copies for sends that waited: called from Java it is a critical call, for the end of which the
 * whole JVM waits at a safepoint.
 */
#define SV_POLL_BYTES (16ull * 1024 + 64)
/*
 * The same for a poll, which programs expect to return soon: it copies at most *bytes bytes, which it counts down, and
 * neither connects nor maps. What takes more is left to the helper thread and to posts. Operations that a setting
 * delays are not bounded, since the times of a model have to be kept.
 */
void sv_send_progress_bounded(struct sv_qp *qp, uint64_t now, uint64_t *bytes);
