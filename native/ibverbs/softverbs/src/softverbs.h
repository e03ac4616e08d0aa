/* What the files of softverbs share. Locks are taken in this order: process, qp.send, qp.recv, cq, peers, peer. */
#pragma once
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/barrier.h"
#include "base/copy.h"
#include "object/layout.h"
#include "base/lock.h"

#define SV_API __attribute__((visibility("default")))
#define SV_INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define SV_MAX_SGE 32
#define SV_MAX_INLINE 1024
#define SV_MAX_QP_WR 32768
#define SV_MAX_SRQ_WR 32768
#define SV_MAX_CQE (1 << 22)
#define SV_MAX_RD_ATOMIC 128
#define SV_MAX_MESSAGE 0x80000000u
#define SV_LID 1
#define SV_GIDS 2
#define SV_UD_MTU 4096
#define SV_GRH_BYTES 40

/* --- process.c, segment.c: one per process that has the device open --- */

struct sv_qp;
struct sv_cq;
struct sv_srq;
struct sv_mr;

struct sv_process {
	pthread_mutex_t lock;
	pthread_mutex_t keys_lock; /* mrs; a leaf */
	unsigned opens;
	uint32_t slot;
	int life_write;
	uint64_t life_ino;
	int listener;
	int segment_fd;
	int wake_read, wake_write;
	struct sv_segment *segment;
	struct sv_qp *qps[SV_QPS];
	struct sv_cq *cqs[SV_CQS];
	struct sv_srq *srqs[SV_SRQS];
	struct sv_mr *mrs[SV_MRS];
	uint32_t next_qp, next_cq, next_srq, next_mr;
	uint32_t next_pd;
	uint8_t mr_generation, cq_generation;
	_Atomic bool overrun; /* a CQ was, and its QPs may not know */
	_Atomic unsigned stalled; /* QPs that wait for something: the helper looks again after a while */
	_Atomic bool spinning; /* the helper is awake and looks by itself */
	_Atomic uint64_t polled_ns; /* when a program last polled for something that waits */
	pthread_mutex_t waiting_lock;
	struct sv_qp *waiting, **end_waiting;
	struct sv_context *contexts;
	struct sv_extent *free_extents;
};

extern struct sv_process sv_process;

int sv_process_open(void); /* 0 or errno */
void sv_process_close(void);
/* Ring memory in the segment; offset 0 means none left. Under the process lock. */
uint64_t sv_segment_alloc(size_t bytes);
void sv_segment_free(uint64_t offset, size_t bytes);
void sv_segment_init(void);
void sv_segment_destroy(void);
void sv_socket_name(uint32_t slot, struct sockaddr_un *name, unsigned *length);
/* A place in a segment whose offset a peer gave us, or NULL if it is outside. */
static inline void *sv_at(struct sv_segment *segment, uint64_t offset, uint64_t bytes)
{
	if (unlikely(offset > SV_SEGMENT_SIZE || bytes > SV_SEGMENT_SIZE - offset))
		return NULL;
	return (uint8_t *)segment + offset;
}

static inline uint32_t sv_qpn_slot(uint32_t qpn)
{
	return qpn >> 12;
}

static inline uint32_t sv_qpn_index(uint32_t qpn)
{
	return qpn & (SV_QPS - 1);
}

/* --- peer.c: other processes --- */

struct sv_map {
	struct sv_map *next;
	uint32_t key;
	uint32_t users;
	uint8_t *base; /* of the region */
	uint64_t bytes; /* of it that are mapped */
	void *mapping;
	size_t length;
};

struct sv_doorbell {
	uint64_t ino;
	int fd;
};

#define SV_DOORBELLS 8

struct sv_peer {
	struct sv_peer *next;
	uint32_t slot;
	unsigned users; /* QPs, under the peers lock */
	bool self;
	_Atomic bool dead;
	pid_t pid;
	uint64_t nonce;
	int life;    /* the reading end of its pipe: hangs up when the process dies, execs or closes the device */
	bool watched; /* by the helper */
	int fd_dir;  /* its /proc/<pid>/fd: bound to that process, not to the number */
	struct sv_segment *segment;
	pthread_mutex_t lock;
	struct sv_map *maps;
	struct sv_doorbell doorbells[SV_DOORBELLS];
	unsigned next_doorbell;
};

/* The process that has this slot now, or NULL with errno. */
struct sv_peer *sv_peer_get(uint32_t slot);
void sv_peer_put(struct sv_peer *peer);
/* Whether it died, looked up now (a system call). */
bool sv_peer_check_dead(struct sv_peer *peer);
/* Whether it is stopped (SIGSTOP, a debugger), looked up now. */
bool sv_peer_is_stopped(struct sv_peer *peer);
/* Did sv_peer_get fail so because no process has that slot? */
bool sv_peer_is_nobody(int error);
/* Look for peers that died since; whether there are new ones. */
bool sv_peers_find_dead(void);
/* Free mappings of regions that are gone; whether QPs still hold some and must be swept. */
bool sv_peers_sweep(void);
/* Write one message into a pipe of the peer; a lost one is not an error. */
void sv_peer_ring(struct sv_peer *peer, uint32_t fd, uint64_t ino, const void *message, size_t bytes);
void sv_peer_wake(struct sv_peer *peer);
void sv_peers_after_fork(void);

/* --- remote.c: a peer's memory --- */

struct sv_remote {
	uint32_t key; /* 0: empty */
	uint32_t access;
	uint64_t iova;
	uint64_t length;
	uint8_t *base; /* where we reach iova, or NULL: through system calls */
	const _Atomic uint32_t *live; /* the entry's key, in the peer's segment */
	uint64_t addr;
	struct sv_map *map;
	uint32_t kind;
};

#define SV_REMOTES 256

/* What is answered with data, and so needs resources of both sides that the QPs' attributes count. */
#define SV_ANSWERED_ACCESS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct sv_link;

struct sv_remote *sv_remotes_create(void);
struct sv_remote *sv_remote_load(struct sv_qp *qp, uint32_t key);
void sv_remote_drop_all(struct sv_link *link);
/* Drop what names regions that are gone, so that their memory is freed. Under the QP's send lock. */
void sv_remote_sweep(struct sv_qp *qp);
/* Look everything up again: what is granted to this QP has changed. */
void sv_remote_forget(struct sv_link *link);

/* --- objects --- */

struct sv_context {
	struct verbs_context verbs;
	int async_write;
	struct sv_context *next;
	_Atomic unsigned users; /* its objects, and the program until it closes it */
};

static inline struct sv_context *sv_context(struct ibv_context *context)
{
	return container_of(context, struct sv_context, verbs.context);
}

void sv_context_get(struct ibv_context *context);
void sv_context_put(struct ibv_context *context);

struct sv_pd {
	struct ibv_pd pd;
	_Atomic unsigned users;
};

struct sv_mr {
	struct ibv_mr mr;
	struct sv_mr_entry *entry;
	uint32_t index;
	_Atomic unsigned windows;
	struct sv_mw *window; /* this slot is a window's */
};

struct sv_channel {
	struct ibv_comp_channel channel;
	int write_fd;
	uint64_t ino;
};

/*
 * A finished send. Written and read in words of 8 bytes: reading it in wider ones just after it was written would
 * miss store forwarding, which costs more than all the rest of a poll.
 */
struct sv_cqe {
	uint64_t wr_id;
	uint64_t status_opcode; /* as they lie in struct ibv_wc */
	uint64_t bytes_sequence; /* low: byte_len; high: the send queue is free up to here once this is polled */
	struct sv_qp *qp;
};

struct sv_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex;
	};
	struct sv_lock lock;
	struct sv_cq_entry *entry;
	struct sv_cqe *ring;
	uint32_t mask;
	uint32_t head, tail; /* head: next to poll */
	uint32_t arrivals;   /* seen */
	bool receives_waiting, receives_first;
	_Atomic bool overrun;
	_Atomic uint32_t stalled; /* QPs that send to this CQ and wait */
	_Atomic uint64_t polled_ns; /* when a program last polled for one of them */
	struct sv_qp *receivers;  /* QPs that receive into it */
	struct sv_qp *next_receiver;
	uint32_t index;
	_Atomic unsigned users;
	uint32_t events_reported, async_reported;
	/* of the lazy polling functions */
	struct ibv_wc current;
	struct sv_lock reading;
	bool reading_biased;
};

struct sv_rq {
	struct sv_rq_entry *entry;
	uint8_t *wqes;
	size_t bytes;
	uint32_t max_wr, max_sge, stride, mask;
	_Atomic uint32_t polled; /* receives whose completion was polled */
};

struct sv_srq {
	struct ibv_srq srq;
	struct sv_lock lock;
	struct sv_rq rq;
	uint32_t index;
	_Atomic unsigned users;
	uint32_t async_reported;
};

struct sv_ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

/* A send that could not run at once. The copies of its elements or of its inline data follow. */
struct sv_pending {
	struct ibv_send_wr wr;
	uint32_t sequence;
	bool done; /* executed, not completed */
	uint8_t status;
	uint32_t bytes;
	uint64_t due, due_complete;
	struct sv_ah ah; /* of a datagram */
	uint32_t region; /* the lkey that a window is bound to */
	struct ibv_sge sge[SV_MAX_SGE];
	uint8_t data[];
};

/* A READ or an atomic: it is answered with data. */
/* Can anybody but the program that polls for it tell when it is executed? */
static inline bool sv_is_seen(const struct ibv_send_wr *wr)
{
	return wr->opcode != IBV_WR_RDMA_READ;
}

static inline bool sv_is_answered(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* The receive side of the peer's QP, checked when the connection was made. */
struct sv_target {
	struct sv_segment *segment;
	struct sv_qp_entry *entry;
	struct sv_rq_entry *rq;
	struct sv_cq_entry *cq;
	uint8_t *wqes;
	struct sv_recv_record *records;
	uint32_t mask, record_mask, stride, max_sge, qpn;
	bool shared; /* an SRQ */
};

/* One end of a connection: what we know of the other. A UD QP has several. */
struct sv_link {
	struct sv_peer *peer;
	struct sv_qp_entry *remote_entry;
	struct sv_remote *remotes; /* SV_REMOTES of them */
	struct sv_target target;
	bool seen_ready; /* the peer was ready before: if it is no more, it left */
	uint32_t qpn;
};

#define SV_UD_LINKS 16

struct sv_builder;

struct sv_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex ex;
	};
	/* what a post needs */
	struct sv_lock lock;
	struct sv_qp_entry *entry;
	uint32_t turn; /* what we stored last into the shared words `busy` and `hazard` */
	union {
		struct sv_link link;
		struct { /* the same, by shorter names */
			struct sv_peer *peer;
			struct sv_qp_entry *remote_entry;
			struct sv_remote *remotes;
			struct sv_target target;
			bool seen_ready;
		};
	};
	struct sv_heat heat;
	struct sv_link *ud_links; /* SV_UD_LINKS, by QP number; the one in use is copied into `link` */
	uint32_t max_send_wr, max_send_sge, max_inline;
	uint32_t sequence;	/* sends posted */
	_Atomic uint32_t freed; /* sends whose slot is free again */
	bool sq_sig_all;
	uint32_t opcodes;	/* allowed: a bit each */
	bool direct; /* RTS, connected, nothing waits: a post executes at once */
	uint32_t pd_handle;

	/* sends that wait */
	struct sv_pending **pending; /* ring of max_send_wr */
	uint32_t pending_head, pending_tail, pending_mask;
	uint64_t stall_since_ns; /* 0: not stalled */
	int stall_reason;
	uint64_t last_start, last_due, last_due_complete;
	uint32_t undelivered; /* of those, what the peer will see: not READs, and what is done */
	/* read without the lock, to leave a QP alone that has nothing due; 0: it waits for something else than time, and nothing to be seen */
	_Atomic uint64_t next_due, next_delivery;
	uint64_t operations; /* executed, while they are counted */
	/* in the list of QPs that wait (waiting.c) */
	bool waiting;
	struct sv_qp *next_waiting, **at_waiting;

	/* receive side */
	struct sv_lock recv_lock;
	struct sv_rq rq;
	struct sv_recv_record *records;
	uint32_t record_mask, record_tail; /* under the recv CQ's lock */
	bool flush_receives;
	struct sv_qp *next_receiver;
	size_t record_bytes;

	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	uint32_t index;
	bool dying; /* ibv_destroy_qp was called, and waits for a copier; under the send lock */
	uint32_t changes; /* calls of ibv_modify_qp; under the send lock */
	bool failing; /* quiescing the peer before the receives are flushed; under the send lock */
	uint32_t failing_hazard;
	uint32_t async_reported;
	struct sv_builder *builder;
};

/* Does a QP in this published state take requests? */
static inline bool sv_accepts(uint32_t state)
{
	return state >= (SV_QP_LIVE | IBV_QPS_RTR) && state <= (SV_QP_LIVE | IBV_QPS_SQE);
}

static inline struct sv_qp *sv_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct sv_qp, qp);
}

static inline struct sv_cq *sv_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct sv_cq, cq);
}

static inline struct sv_srq *sv_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct sv_srq, srq);
}

static inline struct sv_pd *sv_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct sv_pd, pd);
}

/* --- mr.c, backing.c --- */

struct sv_backing {
	enum sv_mr_kind kind;
	int fd; /* a dup, or -1 */
	uint64_t ino;
	uint64_t offset;
};

/* 0 or errno: EFAULT if part of the range is not mapped, or not writable where that is needed. */
int sv_backing_find(const void *addr, size_t length, bool write, struct sv_backing *backing);
/* Our own region behind an lkey, checked; NULL if it does not cover the range or forbids the access. */
static inline struct sv_mr_entry *sv_mr_local(uint32_t lkey, uint32_t pd, uint64_t addr, uint64_t length, unsigned access)
{
	struct sv_mr_entry *entry = &sv_process.segment->mrs[SV_KEY_INDEX(lkey)];

	if (unlikely(lkey == 0 || atomic_load_explicit(&entry->key, memory_order_acquire) != lkey))
		return NULL;
	uint64_t offset = addr - entry->iova;

	if (unlikely(entry->pd != pd || (entry->access & access) != access || offset > entry->length ||
		     length > entry->length - offset))
		return NULL;
	return entry;
}

/* --- quiesce.c --- */

/*
 * Wait until no peer and no thread of ours still uses what was just made dead: a key of this domain, this QP. False: one
 * of them did not get out in time, and what is dead must stay where it is. Holding no lock.
 */
bool sv_quiesce_domain(uint32_t pd);
bool sv_quiesce_qp(struct sv_qp *qp);
/* The same for those who may not wait: who may be in the middle of using this QP; later, whether it is out. */
uint32_t sv_copier_now(struct sv_qp *qp);
bool sv_copier_out(const struct sv_qp *qp, uint32_t copier);
/* Is it too early to give up on somebody, waited for since then, who is stopped or only slow? */
bool sv_patience(uint64_t since_ns, bool stopped);
/* Have peers look for regions of ours that are gone. */
void sv_wake_peers(void);

/* --- cq.c, channel.c, async.c --- */

/* It is of no use any more; the helper fails its QPs. Outside its lock. */
void sv_cq_overrun(struct sv_cq *cq);
/* The QPs of CQs that were overrun are at fault. Under the process lock. */
void sv_cq_fail_users(void);
void sv_cq_attach(struct sv_cq *cq, struct sv_qp *qp);
void sv_cq_detach(struct sv_cq *cq, struct sv_qp *qp);
/* Drop this QP's completions. */
void sv_cq_forget(struct sv_cq *cq, struct sv_qp *qp);
void sv_cq_notify(struct sv_cq *cq, bool solicited);
/* Receives were flushed without a sender: make the next poll look, and notify. */
void sv_cq_flush_arrived(struct sv_cq *cq);
int sv_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int sv_poll_locked(struct sv_cq *cq, int entries, struct ibv_wc *wc);
void sv_cq_retry_stalled(struct sv_cq *cq);
int sv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *sv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int sv_pipe(int fds[2], bool nonblocking_read, uint64_t *ino);
void sv_async_raise(struct ibv_context *context, enum ibv_event_type type, uint32_t index, uint32_t check);

/* --- qp.c, qp_state.c --- */

struct ibv_qp *sv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* To the error state: under the send lock. */
void sv_qp_fail(struct sv_qp *qp);
/* The send queue alone, of an unreliable QP: it goes on receiving. */
void sv_qp_fail_sends(struct sv_qp *qp);
/* Finish what sv_qp_fail began, if the peer is out; false: not yet. */
bool sv_qp_fail_finish(struct sv_qp *qp);
void sv_qp_update_direct(struct sv_qp *qp);
void sv_qp_publish_state(struct sv_qp *qp);
/* Nobody's requests are taken from here on, whatever the published state says for a moment more. */
void sv_qp_shut(struct sv_qp *qp);
bool sv_qp_connect(struct sv_qp *qp);
void sv_qp_disconnect(struct sv_qp *qp);

/* --- send.c, waiting.c, builder.c: posting --- */

int sv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* The same under the send lock. */
int sv_post_send_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int sv_send_check(const struct sv_qp *qp, const struct ibv_send_wr *wr);
/* Run waiting sends; under the send lock. */
void sv_send_progress(struct sv_qp *qp);
void sv_send_flush(struct sv_qp *qp);
/* READs and atomics that wait. */
uint32_t sv_send_answers_awaited(const struct sv_qp *qp);
void sv_send_reset(struct sv_qp *qp);
/* Is this QP waiting for something? Under the send lock. */
void sv_waiting_update(struct sv_qp *qp);
/*
 * The QPs that wait, up to `max`, of one send CQ or of all; those that it did not return before come first. Under the process
 * lock, which keeps them alive.
 */
unsigned sv_waiting_list(const struct sv_cq *cq, struct sv_qp **list, unsigned max);
uint64_t sv_builder_ops(enum ibv_qp_type type);
void sv_builder_init(struct sv_qp *qp, uint64_t ops);
void sv_builder_destroy(struct sv_qp *qp);

/* --- execute.c, recv.c, ud.c: carrying it out --- */

/* Results of executing a WR beside enum ibv_wc_status: reasons to wait. */
enum { SV_STALL_RNR = 100, SV_STALL_NOT_READY, SV_STALL_GONE, SV_STALL_COPIER };

int sv_execute(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
/* The same for UD, where what goes wrong at the other end is never heard of. */
int sv_execute_ud(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
void sv_ud_disconnect(struct sv_qp *qp);
int sv_deliver(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes);
int sv_deliver_datagram(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes);
bool sv_target_init(struct sv_target *target, struct sv_segment *segment, uint32_t qpn);
/* Our request put the peer's QP into error. */
void sv_peer_fault(struct sv_qp *qp, enum sv_fault fault);

/* --- rq.c, recv.c, srq.c: receiving --- */

int sv_rq_init(struct sv_rq *rq, struct sv_rq_entry *entry, uint32_t max_wr, uint32_t max_sge);
void sv_rq_destroy(struct sv_rq *rq);
int sv_rq_post(struct sv_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int sv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int sv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
void sv_recv_wake_sender(struct sv_qp *qp);
/* Tell of a limit that a sender found reached. */
void sv_srq_look(struct sv_srq *srq);

/* --- mr.c, mw.c: keys, under the keys lock, and windows --- */

int sv_mr_claim(struct sv_mr *mr);
uint32_t sv_mr_new_key(uint32_t index);
struct ibv_mw *sv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int sv_dealloc_mw(struct ibv_mw *mw);
int sv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int sv_mw_bind(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t lkey);
int sv_mw_invalidate(struct sv_qp *qp, uint32_t rkey);
bool sv_mw_invalidate_remote(struct sv_qp *qp, uint32_t rkey);

/* --- faults.c --- */

void sv_qps_update_direct(void);
void sv_link_change(bool down);
void sv_nic_gone(void);

/* --- robust.c: a lock between processes that survives its holder --- */

/* Taken; taken from a dead holder, whose work may be half done; not taken, its holder is stopped or takes too long. */
enum sv_robust { SV_ROBUST_TAKEN, SV_ROBUST_FROM_DEAD, SV_ROBUST_HELD };
enum sv_robust sv_robust_lock(_Atomic uint64_t *lock);
void sv_robust_unlock(_Atomic uint64_t *lock);
/* Of a holder, by the word that names it. */
bool sv_robust_lives(uint64_t holder);
bool sv_robust_is_stopped(uint64_t holder);
/* Whether nobody who lives holds it at this moment. */
bool sv_robust_pass(_Atomic uint64_t *lock);

/* --- watch.c: the helper thread --- */

int sv_watch_start(void); /* 0 or errno; idempotent */
void sv_watch_add(struct sv_peer *peer);
void sv_watch_remove(struct sv_peer *peer);
void sv_watch_stop(void);
void sv_watch_wake(void);
void sv_watch_after_fork(void);
uint64_t sv_now_ns(void);
