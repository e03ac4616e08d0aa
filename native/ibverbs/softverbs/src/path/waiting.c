/*
 * The QPs that wait for something: a bitmap with a bit for each QP, and above it a word with a bit for each word of the
 * bitmap that is not 0. So neither a poll nor the helper looks at all QPs to find them, and no post waits for either.
 *
 * A thread that sets a QP's bit then sets the bit of its word, if that is clear. A thread that clears the last bit of a
 * word then clears the bit of that word, and loads the word again: if another thread has set a bit meanwhile, it may
 * have found the bit of the word still set, and so it is set again here.
 *
 * If a model is on, every operation waits, and a QP that is put in and taken out for each operation would cost eight
 * more atomic operations. So it stays in, with nothing due, until the helper finds that it has been at rest for a
 * while.
 */
#include "base/macros.h"
#include "model/config.h"
#include "object/cq.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/waiting.h"
#include "peer/watch.h"

_Static_assert(SV_QPS == 64 * SV_WAITING_WORDS && SV_WAITING_WORDS == 64, "a bit for each word");

static void put_in(uint32_t index)
{
	uint64_t word = 1ull << index / 64;

	atomic_fetch_or(&sv_process.waiting[index / 64], 1ull << index % 64);
	if (!(atomic_load(&sv_process.waiting_words) & word))
		atomic_fetch_or(&sv_process.waiting_words, word);
}

static void take_out(uint32_t index)
{
	uint64_t word = 1ull << index / 64, bit = 1ull << index % 64;

	if (atomic_fetch_and(&sv_process.waiting[index / 64], ~bit) != bit)
		return;
	do {
		atomic_fetch_and(&sv_process.waiting_words, ~word);
		if (!atomic_load(&sv_process.waiting[index / 64]))
			return;
		atomic_fetch_or(&sv_process.waiting_words, word);
		/*
		 * once more if the word is 0 again: the thread that cleared its last bit may have cleared the bit of the word
		 * before it was set here
		 */
	} while (!atomic_load(&sv_process.waiting[index / 64]));
}

static bool waits(const struct sv_qp *qp)
{
	return qp->pending_head != qp->pending_tail || qp->failing;
}

static void end(struct sv_qp *qp)
{
	qp->waiting = false;
	take_out(qp->index);
	atomic_fetch_sub(&sv_cq(qp->qp.send_cq)->stalled, 1);
	atomic_fetch_sub(&sv_process.stalled, 1);
}

void sv_waiting_rest(struct sv_qp *qp)
{
	if (qp->waiting && !waits(qp))
		end(qp);
}

void sv_waiting_update(struct sv_qp *qp)
{
	if (likely(waits(qp) == qp->waiting))
		return;
	if (qp->waiting) {
		if (!atomic_load_explicit(&sv_config.model, memory_order_relaxed) || qp->state != IBV_QPS_RTS)
			end(qp);
		return;
	}
	qp->waiting = true;
	put_in(qp->index);
	atomic_fetch_add(&sv_cq(qp->qp.send_cq)->stalled, 1);
	if (atomic_fetch_add(&sv_process.stalled, 1) == 0 && !atomic_load(&sv_process.spinning))
		sv_watch_wake();
}

uint32_t sv_waiting_next(uint32_t from)
{
	if (from >= SV_QPS)
		return SV_QPS;
	uint64_t bits = atomic_load(&sv_process.waiting[from / 64]) & ~0ull << from % 64;
	uint32_t word = from / 64;

	while (!bits) {
		uint64_t words = word == 63 ? 0 : atomic_load(&sv_process.waiting_words) & ~0ull << (word + 1);

		if (!words)
			return SV_QPS;
		word = (uint32_t)__builtin_ctzll(words);
		bits = atomic_load(&sv_process.waiting[word]);
	}
	return 64 * word + (uint32_t)__builtin_ctzll(bits);
}

unsigned sv_waiting_list(struct sv_qp **list)
{
	unsigned count = 0;

	for (uint32_t at = sv_waiting_next(0); at != SV_QPS; at = sv_waiting_next(at + 1))
		list[count++] = sv_process.qps[at];
	return count;
}

/* Those from index `from` on, and before index `to`. */
static unsigned due_between(
    struct sv_cq *cq, uint64_t now, uint32_t from, uint32_t to, uint32_t *list, unsigned max, bool *alone)
{
	unsigned count = 0;

	for (uint32_t at = sv_waiting_next(from); at < to && count < max; at = sv_waiting_next(at + 1)) {
		uint64_t next = atomic_load_explicit(&sv_process.due[at].next, memory_order_acquire);

		if (atomic_load_explicit(&sv_process.send_cqs[at], memory_order_relaxed) != cq->index)
			*alone = *alone && next == SV_NOTHING_DUE;
		else if (next <= now && !atomic_load_explicit(&sv_process.due[at].helped, memory_order_relaxed))
			list[count++] = at;
	}
	return count;
}

unsigned sv_waiting_due(struct sv_cq *cq, uint64_t now, uint32_t *list, unsigned max, bool *alone)
{
	/* begin where the last call ended, so that a caller that takes a few at a time reaches all of them */
	uint32_t start = atomic_load_explicit(&cq->waiting_from, memory_order_relaxed);

	*alone = true;
	unsigned count = due_between(cq, now, start, SV_QPS, list, max, alone);

	if (start)
		count += due_between(cq, now, 0, start, list + count, max - count, alone);
	if (unlikely(count == max))
		atomic_store_explicit(&cq->waiting_from, (list[max - 1] + 1) % SV_QPS, memory_order_relaxed);
	return count;
}
