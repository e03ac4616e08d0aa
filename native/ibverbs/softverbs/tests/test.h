/*
 * Shared by the tests: checks that report their place, an endpoint with all its verbs objects, a second process to talk
 * to.
 */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			fail(__FILE__, __LINE__, #condition); \
	} while (0)
#define CHECK_EQ(actual, expected) \
	do { \
		long long a_ = (long long)(actual), e_ = (long long)(expected); \
		if (a_ != e_) \
			fail_eq(__FILE__, __LINE__, #actual, a_, e_); \
	} while (0)

/* The longest that a certain event may take: machines are slow at times, and a hang is found nevertheless. */
#define PATIENCE_S 300
#define PATIENCE_NS (PATIENCE_S * 1000000000ull)

void fail(const char *file, int line, const char *what) __attribute__((noreturn));
void fail_eq(const char *file, int line, const char *what, long long actual, long long expected)
    __attribute__((noreturn));
/* Like fail, if something did not happen in time: shows all stacks. */
void overdue(const char *file, int line, const char *what) __attribute__((noreturn));
/* Shows all stacks and ends the program unless it is called again before; programs start with 3 * PATIENCE_S. */
void watchdog(unsigned seconds);
/* Announce a step of the test. */
void step(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t now_ns(void);
/* Processor time of this process. */
uint64_t cpu_ns(void);

#define ALL_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

enum memory { MEMORY_MALLOC, MEMORY_MEMFD, MEMORY_UNSEALED };

struct endpoint {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buffer;
	size_t size;
	int memfd;
	enum memory memory;
};

/* The part of an endpoint that the other side must know. */
struct address {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t addr;
};

struct options {
	uint32_t send_wr, recv_wr, sge, inline_data, cqe;
	bool sig_all;
	enum ibv_qp_type type;
	struct ibv_srq *srq;
};

/* The number of the device that is opened from now on; 0 at first. */
extern int soft_device;
struct ibv_context *open_soft(void);
void *memory_alloc(enum memory kind, size_t size, int *fd);
void memory_free(enum memory kind, void *at, size_t size, int fd);
void endpoint_open(struct endpoint *e, enum memory kind, size_t size, const struct options *options);
void endpoint_close(struct endpoint *e);
struct ibv_qp *qp_create(struct endpoint *e, const struct options *options);
struct address address_of(const struct endpoint *e);
void qp_to_init(struct ibv_qp *qp, unsigned access);
int qp_try_rtr(struct ibv_qp *qp, uint32_t dest); /* the result of ibv_modify_qp */
void qp_to_rtr(struct ibv_qp *qp, uint32_t dest);
void qp_to_rts(struct ibv_qp *qp, uint8_t timeout, uint8_t retries, uint8_t rnr_retries);
void qp_connect(struct ibv_qp *qp, uint32_t dest);
enum ibv_qp_state qp_state(struct ibv_qp *qp);

/* One completion, which must come. */
struct ibv_wc poll_one(struct ibv_cq *cq);
/* No completion for a while. */
void poll_none(struct ibv_cq *cq, unsigned ms);
struct ibv_sge sge_of(const struct endpoint *e, size_t offset, uint32_t length);
struct ibv_send_wr one_sided(enum ibv_wr_opcode opcode, struct ibv_sge *sge, struct address to, uint64_t offset);
struct ibv_send_wr atomic_wr(enum ibv_wr_opcode opcode, struct ibv_sge *sge, struct address to, uint64_t offset,
    uint64_t compare_add, uint64_t swap);
void post(struct ibv_qp *qp, struct ibv_send_wr *wr);
void post_and_expect(struct endpoint *e, struct ibv_send_wr *wr, enum ibv_wc_status status);
void post_receive(struct endpoint *e, uint64_t wr_id, size_t offset, uint32_t length);
void expect_event(struct ibv_context *context, enum ibv_event_type type);

/* A second process: this program again, with `argument`. It finds the socket to us as descriptor 3. */
struct child {
	pid_t pid;
	int socket;
};

struct child child_start(const char *argument);
void child_send(int socket, const void *data, size_t bytes);
void child_receive(int socket, void *data, size_t bytes);
void child_finish(struct child *c); /* expects exit status 0 */
void child_kill(struct child *c);
/* Stop it (SIGSTOP) while `in_it(of)` is true. */
void child_stop_inside(const struct child *c, bool (*in_it)(const void *of), const void *of);

/* The resources that a process may leak. */
struct footprint {
	int fds, maps, threads;
};
struct footprint footprint_now(void);
/* Once there are no more threads than before: one that was joined is listed for a moment more. */
struct footprint footprint_after(const struct footprint *before);

/*
 * Connects to the slot of a QP's process, which has no helper yet, until no more connections fit: no process reaches it
 * before it has accepted them. And waits until it has.
 */
void callers_queue(uint32_t qpn);
void callers_taken(uint32_t qpn);
/*
 * Waits until this process's helper, if it has one, has closed the connection of every caller that came before. It
 * accepts them in turn, and until it has closed one, that caller costs this process a descriptor.
 */
void callers_dismissed(void);

/* This process's control segment, as the device and its peers see it (../src/object/layout.h). */
struct sv_segment *own_segment(void);
/* The entry of a QP that one of ours is connected to, in its process's segment, which is mapped here. */
struct sv_qp_entry *entry_of_peer(const struct sv_qp_entry *own);
