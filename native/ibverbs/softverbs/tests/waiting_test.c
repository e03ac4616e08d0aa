/* The QPs that wait: who looks at a few of them at a time gets to all of them, and to nobody else's. */
#include "object/cq.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/waiting.h"
#include "peer/watch.h"
#include "test.h"

#include <pthread.h>

#define QPS 300
#define CQS 3

struct sv_process sv_process;

void sv_watch_wake(void)
{
}

static struct sv_qp qps[QPS];
static struct sv_cq cqs[CQS];

static void wait_or_not(unsigned i, bool waits)
{
	qps[i].failing = waits;
	sv_waiting_update(&qps[i]);
}

/* Looks at those of one CQ, or of all, `max` at a time, as often as it takes to have seen each once. */
static void all_are_seen(struct sv_cq *cq, unsigned max)
{
	struct sv_qp *list[QPS];
	unsigned seen[QPS] = {0}, waiting = 0, count = 0;

	for (unsigned i = 0; i < QPS; i++)
		waiting += qps[i].waiting && (!cq || qps[i].qp.send_cq == &cq->cq);
	while (count < waiting) {
		unsigned n = sv_waiting_list(cq, list, max);

		CHECK_EQ(n, waiting < max ? waiting : max);
		for (unsigned i = 0; i < n; i++)
			seen[list[i] - qps]++;
		count += n;
	}
	for (unsigned i = 0; i < QPS; i++) {
		bool due = qps[i].waiting && (!cq || qps[i].qp.send_cq == &cq->cq);

		CHECK(due ? seen[i] >= 1 && seen[i] <= 2 : seen[i] == 0);
	}
}

static unsigned rounds;

/* QPs, each of a word that the other thread uses too, begin to wait and cease to, again and again; at last they wait
 * where the rounds are odd. */
static void *toggle(void *first)
{
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = (unsigned)(uintptr_t)first; i < QPS; i += 128)
			wait_or_not(i, round % 2 == 0);
	return NULL;
}

static void no_word_is_forgotten(unsigned times)
{
	pthread_t threads[2];

	rounds = times;
	for (uintptr_t i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, toggle, (void *)i), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < QPS; i++)
		CHECK(qps[i].waiting == (times % 2 && i % 128 < 2));
	all_are_seen(NULL, 64);
	/* nor is one told that has nothing */
	CHECK_EQ(sv_process.waiting_words, times % 2 ? 0x15 : 0);
}

int main(void)
{
	for (unsigned i = 0; i < QPS; i++) {
		qps[i].index = i * 13 % SV_QPS;
		sv_process.qps[qps[i].index] = &qps[i];
		qps[i].qp.send_cq = &cqs[i * i % CQS].cq;
		wait_or_not(i, true);
	}
	step("%d queue pairs that wait, 64 at a time", QPS);
	for (int round = 0; round < 3; round++) {
		all_are_seen(NULL, 64);
		for (int cq = 0; cq < CQS; cq++)
			all_are_seen(&cqs[cq], 64);
	}
	step("while some cease to wait, and others begin");
	for (unsigned round = 1; round < 2000; round++) {
		wait_or_not(round * 7919 % QPS, round % 3 == 0);
		all_are_seen(round % 2 ? NULL : &cqs[round % CQS], 1 + round % 100);
	}
	for (unsigned i = 0; i < QPS; i++)
		wait_or_not(i, false);
	all_are_seen(NULL, 64);
	CHECK_EQ(sv_process.stalled, 0);
	CHECK_EQ(sv_process.waiting_words, 0);
	step("two threads take the last bits of words out, and put others in");
	for (unsigned i = 0; i < QPS; i++)
		sv_process.qps[qps[i].index] = NULL;
	for (unsigned i = 0; i < QPS; i++) {
		qps[i].index = i;
		sv_process.qps[i] = &qps[i];
	}
	for (unsigned round = 0; round < 20; round++)
		no_word_is_forgotten(1000 + round);
	no_word_is_forgotten(1000);
	step("all of them again");
	for (unsigned i = 0; i < QPS; i++)
		wait_or_not(i, true);
	all_are_seen(NULL, 64);
	return 0;
}
