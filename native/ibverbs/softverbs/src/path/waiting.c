/*
 * The QPs that wait for something: a bit each, and a bit for each word of those that is not 0, so that neither a poll
 * nor the helper looks at all QPs to find them, and no post waits for either. Who takes the last bit of a word out
 * clears the word's own, and looks again: whoever has set one meanwhile may have seen the word's still set.
 */
#include "base/macros.h"
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
		/* again where that one is out already: its taker may have cleared the word's before it was set here */
	} while (!atomic_load(&sv_process.waiting[index / 64]));
}

void sv_waiting_update(struct sv_qp *qp)
{
	bool waits = qp->pending_head != qp->pending_tail || qp->failing;

	if (likely(waits == qp->waiting))
		return;
	qp->waiting = waits;
	if (!waits) {
		take_out(qp->index);
		atomic_fetch_sub(&sv_cq(qp->qp.send_cq)->stalled, 1);
		atomic_fetch_sub(&sv_process.stalled, 1);
		return;
	}
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

unsigned sv_waiting_list(struct sv_cq *cq, struct sv_qp **list, unsigned max)
{
	/* from where the last one ended: who takes a few at a time gets to all of them */
	uint32_t *from = cq ? &cq->waiting_from : &sv_process.waiting_from, start = *from, end = SV_QPS;
	unsigned count = 0;

	for (uint32_t at = sv_waiting_next(start); count < max; at = sv_waiting_next(at + 1)) {
		if (at >= end) {
			if (end != SV_QPS || !start)
				break;
			/* and those before it */
			end = start;
			at = sv_waiting_next(0);
			if (at >= end)
				break;
		}
		struct sv_qp *qp = sv_process.qps[at];

		if (cq && qp->qp.send_cq != &cq->cq)
			continue;
		list[count++] = qp;
		*from = (at + 1) % SV_QPS;
	}
	return count;
}
