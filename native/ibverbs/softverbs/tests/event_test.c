/*
 * Completion events from other processes. If a sender cannot write an event, the receiver's helper thread writes it. A
 * sender that is stopped or killed before it writes one must not suppress the events of later senders: a thread that
 * sleeps until an event comes is woken for every message.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <sys/resource.h>

#define MESSAGES 2000u

/* --- the sender --- */

/*
 * Without a spare descriptor the sender cannot open the receiver's channel, into which it has not written before. The
 * test lowers the limit below the descriptors that are in use, and does not fill the table: the helper may be about to
 * close one of those.
 */
static rlim_t limit_descriptors(rlim_t most)
{
	struct rlimit limit;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	rlim_t before = limit.rlim_cur;

	limit.rlim_cur = most;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static rlim_t take_descriptors(void)
{
	rlim_t before = limit_descriptors(1); /* a poll() of one is still allowed */

	CHECK(dup(3) < 0);
	CHECK_EQ(errno, EMFILE);
	return before;
}

static void send_messages(struct endpoint *e, unsigned messages)
{
	uint64_t word = 7;
	struct ibv_sge sge = {(uintptr_t)&word, 8, 0};
	struct ibv_send_wr wr = {.wr_id = 1,
	    .sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND,
	    .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};

	while (messages--)
		post_and_expect(e, &wr, IBV_WC_SUCCESS);
}

static int sender(void)
{
	struct endpoint e;
	struct address own, to;
	char order;
	rlim_t before = 0;

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	do {
		child_receive(3, &order, 1);
		if (order == 't')
			before = take_descriptors();
		else if (order == 'g')
			limit_descriptors(before);
		else if (order == 's')
			send_messages(&e, 1);
		else if (order == 'm')
			send_messages(&e, MESSAGES);
		child_send(3, &order, 1);
	} while (order != 'e');
	endpoint_close(&e);
	return 0;
}

/* --- the receiver: two queue pairs of one completion queue --- */

struct receiver {
	struct endpoint e;
	struct ibv_qp *qps[2];
	struct child senders[2];
};

static void begin(struct child *c, char order)
{
	child_send(c->socket, &order, 1);
}

static void end(struct child *c)
{
	char order;

	child_receive(c->socket, &order, 1);
}

static void tell(struct child *c, const char *orders)
{
	for (; *orders; orders++) {
		begin(c, *orders);
		end(c);
	}
}

static void receiver_open(struct receiver *r)
{
	struct address own, to;

	endpoint_open(&r->e, MEMORY_MALLOC, 4096, NULL);
	r->qps[0] = r->e.qp;
	r->qps[1] = qp_create(&r->e, NULL);
	for (int i = 0; i < 2; i++) {
		r->senders[i] = child_start("sender");
		r->e.qp = r->qps[i];
		own = address_of(&r->e);
		child_receive(r->senders[i].socket, &to, sizeof(to));
		child_send(r->senders[i].socket, &own, sizeof(own));
		qp_connect(r->qps[i], to.qpn);
		for (unsigned receive = 0; receive < 32; receive++)
			post_receive(&r->e, (unsigned)i, 0, 64);
	}
}

static void receiver_close(struct receiver *r)
{
	CHECK_EQ(ibv_destroy_qp(r->qps[1]), 0);
	r->e.qp = r->qps[0];
	endpoint_close(&r->e);
}

static bool is_told(struct receiver *r, int milliseconds)
{
	struct pollfd p = {.fd = r->e.channel->fd, .events = POLLIN};

	return poll(&p, 1, milliseconds) == 1;
}

static void await_event(struct receiver *r)
{
	struct ibv_cq *cq;
	void *context;

	if (!is_told(r, PATIENCE_S * 1000))
		overdue(__FILE__, __LINE__, "the receiver is told of a message");
	CHECK_EQ(ibv_get_cq_event(r->e.channel, &cq, &context), 0);
	CHECK(cq == r->e.cq);
	ibv_ack_cq_events(cq, 1);
}

static void expect_messages(struct receiver *r, unsigned messages)
{
	while (messages--)
		CHECK_EQ(poll_one(r->e.cq).status, IBV_WC_SUCCESS);
	poll_none(r->e.cq, 1);
}

/*
 * The first sender leaves a message and writes no event: it finds another pipe's inode for our channel, as if it had
 * been stopped or killed on its way there.
 */
static void leave_silently(struct receiver *r)
{
	struct sv_cq_entry *cq = &own_segment()->cqs[r->e.cq->handle];
	uint64_t ino = cq->channel_ino;

	CHECK_EQ(ibv_req_notify_cq(r->e.cq, 0), 0);
	cq->channel_ino = ino + 1;
	tell(&r->senders[0], "s");
	cq->channel_ino = ino;
	CHECK(!is_told(r, 0));
}

static void end_both(struct receiver *r)
{
	for (int i = 0; i < 2; i++) {
		tell(&r->senders[i], "e");
		child_finish(&r->senders[i]);
	}
	receiver_close(r);
}

static void without_descriptors(void)
{
	struct receiver r;

	step("a sender without descriptors: its message is told all the same");
	receiver_open(&r);
	/* with its first message the sender opens the descriptors that messages to private memory need */
	tell(&r.senders[0], "s");
	expect_messages(&r, 1);
	CHECK_EQ(ibv_req_notify_cq(r.e.cq, 0), 0);
	tell(&r.senders[0], "ts");
	await_event(&r);
	expect_messages(&r, 1);
	tell(&r.senders[0], "g");
	end_both(&r);
}

static void once_it_can(void)
{
	struct receiver r;

	step("a sender that could not tell: its next message is told");
	receiver_open(&r);
	leave_silently(&r);
	tell(&r.senders[0], "s");
	await_event(&r);
	expect_messages(&r, 2);
	end_both(&r);
}

static void another_ones(void)
{
	struct receiver r;

	step("one that is stopped before it could tell: the message of another is told");
	receiver_open(&r);
	leave_silently(&r);
	CHECK_EQ(kill(r.senders[0].pid, SIGSTOP), 0);
	tell(&r.senders[1], "s");
	await_event(&r);
	expect_messages(&r, 2);
	CHECK_EQ(kill(r.senders[0].pid, SIGCONT), 0);
	end_both(&r);
}

static void of_the_dead(void)
{
	struct receiver r;

	step("one that is killed before it could tell: its message is told, and nothing when there is none");
	receiver_open(&r);
	leave_silently(&r);
	child_kill(&r.senders[0]);
	await_event(&r);
	expect_messages(&r, 1);
	CHECK_EQ(ibv_req_notify_cq(r.e.cq, 0), 0);
	child_kill(&r.senders[1]);
	CHECK(!is_told(&r, 50));
	receiver_close(&r);
}

static void two_at_once(void)
{
	struct receiver r;
	unsigned left = 2 * MESSAGES;
	struct ibv_wc wc;

	step("two that send at once to one that sleeps whenever it has seen all");
	receiver_open(&r);
	for (int i = 0; i < 2; i++)
		begin(&r.senders[i], 'm');
	while (left) {
		/* for solicited events, which no sender raises, and then for all */
		CHECK_EQ(ibv_req_notify_cq(r.e.cq, 1), 0);
		CHECK_EQ(ibv_req_notify_cq(r.e.cq, 0), 0);
		while (ibv_poll_cq(r.e.cq, 1, &wc) == 1) {
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
			r.e.qp = r.qps[wc.wr_id];
			post_receive(&r.e, wc.wr_id, 0, 64);
			left--;
		}
		if (left)
			await_event(&r);
	}
	for (int i = 0; i < 2; i++)
		end(&r.senders[i]);
	end_both(&r);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return sender();
	struct footprint before = footprint_now();

	without_descriptors();
	once_it_can();
	another_ones();
	of_the_dead();
	two_at_once();
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
