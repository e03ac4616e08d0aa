/*
 * The list of QPs that wait: a caller that takes a few of them at a time reaches all that are due, and none of another
 * CQ.
 */
#include "model/config.h"
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
struct sv_config sv_config;

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

static struct sv_due *due_of(unsigned i)
{
	return &sv_process.due[qps[i].index];
}

#define NOW 1000

static bool is_due(const struct sv_cq *cq, unsigned i)
{
	return qps[i].waiting && qps[i].qp.send_cq == &cq->cq && due_of(i)->next <= NOW;
}

static bool is_others(const struct sv_cq *cq, unsigned i)
{
	return qps[i].waiting && qps[i].qp.send_cq != &cq->cq && due_of(i)->next != SV_NOTHING_DUE;
}

/* Looks at the QPs of one CQ that have something due, `max` at a time, as often as it takes to see each once. */
static void due_are_seen(struct sv_cq *cq, unsigned max)
{
	uint32_t list[QPS];
	unsigned seen[SV_QPS] = {0}, due = 0, count = 0, others = 0;
	bool alone;

	for (unsigned i = 0; i < QPS; i++) {
		due += is_due(cq, i);
		others += is_others(cq, i);
	}
	do {
		unsigned n = sv_waiting_due(cq, NOW, list, max, &alone);

		CHECK_EQ(n, due < max ? due : max);
		if (n < max)
			CHECK(alone == !others);
		for (unsigned i = 0; i < n; i++)
			seen[list[i]]++;
		count += n;
	} while (count < due);
	for (unsigned i = 0; i < QPS; i++)
		CHECK(is_due(cq, i) ? seen[qps[i].index] >= 1 && seen[qps[i].index] <= 2 : seen[qps[i].index] == 0);
}

static void all_are_seen(void)
{
	struct sv_qp *list[SV_QPS];
	unsigned seen[QPS] = {0}, n = sv_waiting_list(list);

	for (unsigned i = 0; i < n; i++)
		seen[list[i] - qps]++;
	for (unsigned i = 0; i < QPS; i++)
		CHECK_EQ(seen[i], qps[i].waiting);
}

/* If a model is on, a QP that no longer waits stays until it is taken out, or has left its state. */
static void who_rests_stays(void)
{
	sv_config.model = true;
	qps[0].state = qps[1].state = IBV_QPS_RTS;
	wait_or_not(0, true);
	wait_or_not(1, true);
	wait_or_not(0, false);
	wait_or_not(1, false);
	CHECK(qps[0].waiting && qps[1].waiting);
	CHECK_EQ(sv_process.stalled, 2);
	wait_or_not(0, true);
	sv_waiting_rest(&qps[0]);
	CHECK(qps[0].waiting);
	wait_or_not(0, false);
	sv_waiting_rest(&qps[0]);
	sv_waiting_rest(&qps[0]);
	CHECK(!qps[0].waiting);
	qps[1].state = IBV_QPS_ERR;
	wait_or_not(1, false);
	CHECK(!qps[1].waiting);
	CHECK_EQ(sv_process.stalled, 0);
	CHECK_EQ(sv_process.waiting_words, 0);
	sv_config.model = false;
}

static unsigned rounds;

/* QPs, each of a word that the other thread uses, too, begin to wait and cease to, again and again; at last they wait
 * if the number of rounds is odd. */
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
	all_are_seen();
	/* and no word without a QP that waits has its bit set */
	CHECK_EQ(sv_process.waiting_words, times % 2 ? 0x15 : 0);
}

int main(void)
{
	for (unsigned i = 0; i < QPS; i++) {
		qps[i].index = i * 13 % SV_QPS;
		sv_process.qps[qps[i].index] = &qps[i];
		qps[i].qp.send_cq = &cqs[i * i % CQS].cq;
		cqs[i % CQS].index = i % CQS;
		sv_process.send_cqs[qps[i].index] = i * i % CQS;
		wait_or_not(i, true);
	}
	step("%d queue pairs that wait, 64 at a time", QPS);
	for (int round = 0; round < 3; round++) {
		all_are_seen();
		for (int cq = 0; cq < CQS; cq++)
			due_are_seen(&cqs[cq], 64);
	}
	step("while some cease to wait, and others begin");
	for (unsigned round = 1; round < 2000; round++) {
		wait_or_not(round * 7919 % QPS, round % 3 == 0);
		/* some have something due later, or rest */
		due_of(round * 31 % QPS)->next = round % 7 == 0 ? SV_NOTHING_DUE : round * 17 % 1500;
		all_are_seen();
		due_are_seen(&cqs[round % CQS], 1 + round % 100);
	}
	for (unsigned i = 0; i < QPS; i++)
		wait_or_not(i, false);
	all_are_seen();
	CHECK_EQ(sv_process.stalled, 0);
	CHECK_EQ(sv_process.waiting_words, 0);
	step("who rests stays in, with a model");
	who_rests_stays();
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
	all_are_seen();
	return 0;
}
