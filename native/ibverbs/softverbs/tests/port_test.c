/*
 * Faults of one device: it is slow, loses, corrupts or is cut off for all processes that reach it, and no other device
 * is.
 */
#include "test.h"

int softverbs_control(const char *settings);

enum { IMPATIENT = 12, PATIENT = 21, DEVICES = 3, LENGTH = 1000 };

/* Two initiators on soft0, the first of them connected to soft1, the second to soft2. */
static struct endpoint from[2], to[2];

static void control(const char *settings)
{
	CHECK_EQ(softverbs_control(settings), 0);
}

static void control_process(pid_t pid, const char *device, const char *settings)
{
	char text[160];

	snprintf(text, sizeof(text), "at=%d%s %s", (int)pid, device, settings);
	control(text);
}

static void open_on(struct endpoint *e, int device)
{
	soft_device = device;
	endpoint_open(e, MEMORY_MEMFD, 1 << 20, NULL);
	qp_to_init(e->qp, ALL_ACCESS);
}

static void open_pairs(uint8_t timeout)
{
	for (int i = 0; i < 2; i++) {
		open_on(&from[i], 0);
		open_on(&to[i], i + 1);
		qp_to_rtr(from[i].qp, to[i].qp->qp_num);
		qp_to_rtr(to[i].qp, from[i].qp->qp_num);
		qp_to_rts(from[i].qp, timeout, 3, 7);
		qp_to_rts(to[i].qp, timeout, 3, 7);
	}
}

static void close_pairs(void)
{
	for (int i = 0; i < 2; i++) {
		endpoint_close(&from[i]);
		endpoint_close(&to[i]);
	}
}

static struct ibv_send_wr operation(int pair, enum ibv_wr_opcode opcode, struct ibv_sge *sge)
{
	*sge = sge_of(&from[pair], 0, LENGTH);
	return one_sided(opcode, sge, address_of(&to[pair]), 0);
}

/* The operation's completion can be polled when the post returns. */
static void runs_in_its_post(int pair, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = operation(pair, opcode, &sge);
	struct ibv_wc wc;

	post(from[pair].qp, &wr);
	CHECK_EQ(ibv_poll_cq(from[pair].cq, 1, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void both_are_well(void)
{
	for (int i = 0; i < 2; i++) {
		runs_in_its_post(i, IBV_WR_RDMA_WRITE);
		runs_in_its_post(i, IBV_WR_RDMA_READ);
	}
}

/* How many bytes differ after an operation between equal buffers... */
static unsigned differing(int pair, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = operation(pair, opcode, &sge);
	unsigned different = 0;

	memset(from[pair].buffer, 0x40, LENGTH);
	memset(to[pair].buffer, 0x40, LENGTH);
	post_and_expect(&from[pair], &wr, IBV_WC_SUCCESS);
	for (int i = 0; i < LENGTH; i++) {
		/* ...and only where the operation stored */
		CHECK_EQ((opcode == IBV_WR_RDMA_READ ? to : from)[pair].buffer[i], 0x40);
		different += from[pair].buffer[i] != to[pair].buffer[i];
	}
	return different;
}

static void devices_differ(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	step("devices: each by its name, with a GUID of its own");
	CHECK_EQ(count, DEVICES);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++) {
			CHECK(strcmp(ibv_get_device_name(list[i]), ibv_get_device_name(list[j])) != 0);
			CHECK(ibv_get_device_guid(list[i]) != ibv_get_device_guid(list[j]));
		}
	ibv_free_device_list(list);
}

static void slow(void)
{
	struct ibv_sge sge;

	step("a slow device: what is asked of it is late, what is asked of another is not");
	open_pairs(PATIENT);
	both_are_well();
	struct ibv_send_wr wr = operation(0, IBV_WR_RDMA_READ, &sge);

	control("at=soft1 straggler=1:5000000");
	uint64_t start = now_ns();

	post_and_expect(&from[0], &wr, IBV_WC_SUCCESS);
	CHECK(now_ns() - start >= 5000000);
	runs_in_its_post(1, IBV_WR_RDMA_READ);
	/* operations that the device itself starts are not slow */
	struct ibv_sge own = sge_of(&to[0], 0, 8);
	struct ibv_send_wr asks = one_sided(IBV_WR_RDMA_WRITE, &own, address_of(&from[0]), 0);
	struct ibv_wc wc;

	post(to[0].qp, &asks);
	CHECK_EQ(ibv_poll_cq(to[0].cq, 1, &wc), 1);
	control("at=soft1 straggler=0");
	both_are_well();
	close_pairs();
}

static void damaging(void)
{
	step("a device that corrupts: one byte of what is written there, or read from there");
	open_pairs(PATIENT);
	control("at=soft2 corrupt=1");
	for (int i = 0; i < 100; i++)
		CHECK_EQ(differing(1, IBV_WR_RDMA_WRITE), 1);
	CHECK_EQ(differing(1, IBV_WR_RDMA_READ), 0);
	CHECK_EQ(differing(0, IBV_WR_RDMA_WRITE), 0);
	control("at=soft2 corrupt=0 corrupt_read=1");
	for (int i = 0; i < 100; i++)
		CHECK_EQ(differing(1, IBV_WR_RDMA_READ), 1);
	CHECK_EQ(differing(1, IBV_WR_RDMA_WRITE), 0);
	CHECK_EQ(differing(0, IBV_WR_RDMA_READ), 0);
	control("at=soft2 corrupt_read=0.5");
	unsigned damaged = 0;

	for (int i = 0; i < 400; i++)
		damaged += differing(1, IBV_WR_RDMA_READ);
	CHECK(damaged > 100 && damaged < 300);
	control("at=soft2 corrupt_read=0 at= corrupt_read=0");
	both_are_well();
	/* the initiator's own setting, which applies to all that it reads */
	control("corrupt_read=1");
	CHECK_EQ(differing(0, IBV_WR_RDMA_READ), 1);
	CHECK_EQ(differing(1, IBV_WR_RDMA_READ), 1);
	control("corrupt_read=0");
	both_are_well();
	close_pairs();
}

static void lossy(void)
{
	struct ibv_sge sge;

	step("a device that loses: an operation is tried again, until its retries are over");
	open_pairs(IMPATIENT);
	control("seed=1 at=soft1 lose=0.2");
	for (int i = 0; i < 20; i++)
		CHECK_EQ(differing(0, IBV_WR_RDMA_WRITE), 0);
	control("at=soft1 lose=1");
	struct ibv_send_wr wr = operation(0, IBV_WR_RDMA_WRITE, &sge);

	memset(from[0].buffer, 0x41, LENGTH);
	post_and_expect(&from[0], &wr, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQ(to[0].buffer[0], 0x40);
	CHECK_EQ(qp_state(from[0].qp), IBV_QPS_ERR);
	runs_in_its_post(1, IBV_WR_RDMA_WRITE);
	control("at=soft1 lose=0");
	close_pairs();
}

static void no_event(struct ibv_context *context)
{
	struct pollfd p = {.fd = context->async_fd, .events = POLLIN};

	CHECK_EQ(poll(&p, 1, 0), 0);
}

static enum ibv_port_state port_state(const struct endpoint *e)
{
	struct ibv_port_attr port;

	CHECK_EQ(ibv_query_port(e->context, 1, &port), 0);
	return port.state;
}

static void cut_off(void)
{
	struct ibv_sge sge, own;

	step("a device that is cut off: nothing reaches it or comes from it, until it is back");
	open_pairs(PATIENT);
	both_are_well();
	struct ibv_send_wr wr = operation(0, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_send_wr asks = one_sided(IBV_WR_RDMA_WRITE, &own, address_of(&from[0]), 4096);

	/* the two writes use different memory, because they take effect in any order */
	own = sge_of(&to[0], 4096, 8);
	control("at=soft1 link=down");
	expect_event(to[0].context, IBV_EVENT_PORT_ERR);
	CHECK_EQ(port_state(&to[0]), IBV_PORT_DOWN);
	CHECK_EQ(port_state(&to[1]), IBV_PORT_ACTIVE);
	no_event(to[1].context);
	no_event(from[0].context);
	memset(from[0].buffer, 0x42, LENGTH);
	to[0].buffer[4096] = 0x43;
	post(from[0].qp, &wr);
	post(to[0].qp, &asks);
	poll_none(from[0].cq, 20);
	poll_none(to[0].cq, 1);
	CHECK(to[0].buffer[0] != 0x42);
	CHECK(from[0].buffer[4096] != 0x43);
	runs_in_its_post(1, IBV_WR_RDMA_WRITE);
	control("at=soft1 link=up");
	expect_event(to[0].context, IBV_EVENT_PORT_ACTIVE);
	CHECK_EQ(poll_one(from[0].cq).status, IBV_WC_SUCCESS);
	CHECK_EQ(poll_one(to[0].cq).status, IBV_WC_SUCCESS);
	CHECK_EQ(to[0].buffer[0], 0x42);
	CHECK_EQ(from[0].buffer[4096], 0x43);
	both_are_well();
	close_pairs();

	step("one that is cut off for longer than the retries last; a new queue pair works when it is back");
	open_pairs(IMPATIENT);
	wr = operation(0, IBV_WR_RDMA_WRITE, &sge);
	control("at=soft1 link=down");
	post_and_expect(&from[0], &wr, IBV_WC_RETRY_EXC_ERR);
	runs_in_its_post(1, IBV_WR_RDMA_WRITE);
	control("at=soft1 link=up");
	close_pairs();
	open_pairs(PATIENT);
	both_are_well();
	close_pairs();
}

/* A fault that is set while a queue pair does not exist yet holds for that queue pair, too. */
static void set_before(void)
{
	step("faults of a device on which nothing is connected yet");
	open_pairs(PATIENT);
	close_pairs();
	open_on(&from[0], 0);
	control("at=soft1 corrupt=1");
	endpoint_close(&from[0]);
	/* the last close ended the fault */
	open_pairs(PATIENT);
	both_are_well();
	CHECK_EQ(differing(0, IBV_WR_RDMA_WRITE), 0);
	control("at=soft1 corrupt=1");
	struct endpoint later[2];

	open_on(&later[0], 0);
	open_on(&later[1], 1);
	qp_connect(later[0].qp, later[1].qp->qp_num);
	qp_connect(later[1].qp, later[0].qp->qp_num);
	struct ibv_sge sge = sge_of(&later[0], 0, LENGTH);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&later[1]), 0);
	unsigned damaged = 0;

	for (int i = 0; i < 10; i++) {
		post_and_expect(&later[0], &wr, IBV_WC_SUCCESS);
		damaged += memcmp(later[0].buffer, later[1].buffer, LENGTH) != 0;
	}
	CHECK_EQ(damaged, 10);
	endpoint_close(&later[0]);
	endpoint_close(&later[1]);
	control("at=soft1 corrupt=0");
	close_pairs();
}

static void nonsense(void)
{
	step("settings that make no sense");
	CHECK_EQ(softverbs_control("at=soft1 corrupt=1"), ENODEV); /* nothing is open */
	open_pairs(PATIENT);
	CHECK_EQ(softverbs_control("at=soft16 corrupt=1"), EINVAL);
	CHECK_EQ(softverbs_control("at=soft1x corrupt=1"), EINVAL);
	CHECK_EQ(softverbs_control("at=rxe0 corrupt=1"), EINVAL);
	CHECK_EQ(softverbs_control("at=-1 corrupt=1"), EINVAL);
	CHECK_EQ(softverbs_control("at=soft1 order=weak"), EINVAL);
	CHECK_EQ(softverbs_control("at=soft1 link=sideways"), EINVAL);
	CHECK(softverbs_control("at=999999999 corrupt=1") == ESRCH);
	CHECK_EQ(softverbs_control("devices=17"), EINVAL);
	CHECK_EQ(softverbs_control("devices=0"), EINVAL);
	both_are_well();
	control_process(getpid(), "/soft1", "corrupt=1");
	CHECK_EQ(differing(0, IBV_WR_RDMA_WRITE), 1);
	control_process(getpid(), "", "corrupt=0");
	both_are_well();
	close_pairs();
}

/* Another process: it offers memory on soft0 and waits. */
static int passive(void)
{
	struct endpoint e;
	struct address own, other;
	char settings[64];

	endpoint_open(&e, MEMORY_MEMFD, 1 << 20, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	child_send(3, "g", 1);
	for (;;) {
		child_receive(3, settings, sizeof(settings));
		if (!*settings)
			break;
		control(settings);
		child_send(3, "g", 1);
	}
	endpoint_close(&e);
	return 0;
}

/* A third one, which has no device open. */
static int meddler(const char *settings)
{
	control(settings);
	return 0;
}

static void meddle(pid_t pid, const char *settings)
{
	char text[96];

	snprintf(text, sizeof(text), "at=%d %s", (int)pid, settings);
	struct child c = child_start(text);

	child_finish(&c);
}

static void other_process(void)
{
	struct child c = child_start("passive");
	struct address there;
	struct ibv_sge sge;
	char go, settings[64] = "at=soft0 link=down";

	step("a device of another process: faults that this one, a third or it itself sets");
	soft_device = 0;
	endpoint_open(&from[0], MEMORY_MEMFD, 1 << 20, NULL);
	child_receive(c.socket, &there, sizeof(there));
	struct address own = address_of(&from[0]);

	child_send(c.socket, &own, sizeof(own));
	qp_to_init(from[0].qp, ALL_ACCESS);
	qp_to_rtr(from[0].qp, there.qpn);
	qp_to_rts(from[0].qp, PATIENT, 3, 7);
	child_receive(c.socket, &go, 1);
	sge = sge_of(&from[0], 0, LENGTH);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, there, 0), read = write;

	read.opcode = IBV_WR_RDMA_READ;
	post_and_expect(&from[0], &write, IBV_WC_SUCCESS);
	control_process(c.pid, "/soft0", "straggler=1:5000000");
	uint64_t start = now_ns();

	post_and_expect(&from[0], &read, IBV_WC_SUCCESS);
	CHECK(now_ns() - start >= 5000000);
	meddle(c.pid, "straggler=0 corrupt_read=1");
	memset(from[0].buffer, 0x40, LENGTH);
	post_and_expect(&from[0], &write, IBV_WC_SUCCESS);
	post_and_expect(&from[0], &read, IBV_WC_SUCCESS);
	unsigned different = 0;

	for (int i = 0; i < LENGTH; i++)
		different += from[0].buffer[i] != 0x40;
	CHECK_EQ(different, 1);
	meddle(c.pid, "corrupt_read=0");
	child_send(c.socket, settings, sizeof(settings));
	child_receive(c.socket, &go, 1);
	post(from[0].qp, &write);
	poll_none(from[0].cq, 20);
	meddle(c.pid, "link=up");
	CHECK_EQ(poll_one(from[0].cq).status, IBV_WC_SUCCESS);
	struct ibv_wc wc;

	post(from[0].qp, &read);
	CHECK_EQ(ibv_poll_cq(from[0].cq, 1, &wc), 1);

	step("it is killed while it is slow");
	control_process(c.pid, "", "straggler=1:1000000 lose=0.1");
	child_kill(&c);
	/* Until the end of the process is noticed, operations on its memory succeed. */
	do
		post(from[0].qp, &write);
	while ((wc = poll_one(from[0].cq)).status == IBV_WC_SUCCESS);
	CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
	endpoint_close(&from[0]);
	c = child_start("passive");
	child_receive(c.socket, &there, sizeof(there));
	child_send(c.socket, &own, sizeof(own));
	child_receive(c.socket, &go, 1);
	*settings = 0;
	child_send(c.socket, settings, sizeof(settings));
	child_finish(&c);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return strcmp(argv[1], "passive") == 0 ? passive() : meddler(argv[1]);
	control("devices=3");
	devices_differ();
	nonsense();
	slow();
	damaging();
	lossy();
	cut_off();
	set_before();
	other_process();
	return 0;
}
