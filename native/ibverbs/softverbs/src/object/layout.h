/*
 * The control segment: what one process shows to its peers.
 *
 * Each process that opens the device owns one segment, a sealed memfd (it can neither shrink nor grow, so a process
 * that maps it never gets a SIGBUS). A peer maps all of it. The owner writes the tables; a peer writes only the words
 * that are marked "by the peer". A reader checks every index, offset and length that it reads here against constants of
 * its own: a buggy peer may corrupt its own operations, never the reader's memory. A reader uses the value that it
 * checked: it reads each word once (SV_ONCE), since the word may change a moment later.
 *
 * There are no locks between processes on the data path. Two things are shared with care:
 *  - `busy`, in the initiator's own QP entry, written by the initiator: odd while that QP executes an operation. When
 *    the peer deregisters a region, destroys a QP or moves it into error, it invalidates the object, runs membarrier,
 *    and waits until each `busy` that was odd has changed (quiesce.c). The asymmetric barrier is why an operation needs
 *    two plain stores and no fence. The word is in the initiator's entry and not in the target's: an initiator that is
 *    suspended between its load of the target's gate and its first store may resume when the target's QP has another
 *    peer already, and must then not change the word in which that peer says whether it is busy.
 *  - the receive queue: the owner produces WQEs at `rq.tail`; the peer consumes them at `rq.head` and publishes a
 *    record for each. An RC QP has one peer, so both rings have one producer and one consumer. SRQs and UD QPs have
 *    many senders, which take `lock` (robust.c: it survives the death of its holder).
 */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SV_MAGIC 0x73627265767466bULL
#define SV_ABI 11u
#define SV_SLOTS 4096u
#define SV_QPS 4096u
#define SV_CQS 4096u
#define SV_SRQS 1024u
#define SV_MRS 65536u
#define SV_GONE 4096u /* a power of two */
#define SV_SEGMENT_SIZE (1ull << 30)
#define SV_LINE 64
#define SV_DEVICES 16u /* a power of two */

/* Read a word that another process may change at any time, exactly once. */
#define SV_ONCE(word) (*(const volatile __typeof__(word) *)&(word))

/* How a peer reaches the bytes of a memory region. */
enum sv_mr_kind {
	SV_MR_PRIVATE, /* /proc/<pid>/mem; atomics are a read and a write, under header.atomic_lock */
	SV_MR_SHARED,  /* a sealed file that the peer maps; atomics are the processor's: see device/files.c */
};

/* Keys are gen(8) | index(16) | tag(8). The tag is the part that ibv_inc_rkey changes. */
#define SV_KEY_INDEX(key) (((key) >> 8) & 0xffffu)

struct sv_mr_entry {
	union {
		struct {
			_Atomic uint32_t key; /* 0: no region here; written last at registration, first at dereg */
			uint16_t kind;
			uint16_t filled; /* counts the regions that were here: a later one may have the same key */
		};
		_Atomic uint64_t meaning; /* the three fields above, which a peer compares with one load */
	};
	uint32_t access;
	uint32_t pd;
	uint64_t iova; /* the address by which peers name its first byte */
	uint64_t length;
	uint64_t addr;   /* address in the owner */
	int32_t fd;      /* the owner's dup of the backing file's descriptor, one for all its regions */
	uint32_t qpn;    /* for a memory window that is bound to one QP, that QP; else 0 */
	uint64_t ino;    /* the backing file's inode: the fd number alone may have been reused */
	uint64_t offset; /* where addr is in the file */
};
_Static_assert(sizeof(struct sv_mr_entry) == 64, "one line per region");

/*
 * The regions that were deregistered last, among those that peers may map. A peer that is woken looks at these, and not
 * at all that it has mapped. `count` counts them, and the index of the n-th (from 0) is at n % SV_GONE in `indices`,
 * until SV_GONE more are gone.
 */
struct sv_gone {
	_Alignas(SV_LINE) _Atomic uint32_t count; /* stored after the index */
	_Alignas(SV_LINE) _Atomic uint16_t indices[SV_GONE];
};
_Static_assert(SV_MRS == 1 << 16, "an index has 16 bits");

struct sv_cq_entry {
	_Alignas(SV_LINE) _Atomic uint32_t arrivals; /* by peers: incremented after each receive record */
	_Atomic uint32_t armed; /* by the owner and by peers: SV_ARMED_*, and above it the count of armings; see below */
	uint32_t channel_fd;
	uint32_t event;       /* what to write into the channel: index and generation of this CQ */
	uint64_t channel_ino; /* 0: no channel */
};

/*
 * What a CQ is armed for, in the low bits of `armed`. A sender writes the event first and disarms the CQ after it. So a
 * sender that is killed or stopped before it disarms leaves the CQ armed for the next sender, and a sender that lacks a
 * descriptor to write the event has the owner's helper thread write it (`events_owed`). There may be an event too many,
 * never one too few. Each arming increments the count above the low bits, so that a sender that disarms late does not
 * undo the next arming.
 */
enum { SV_ARMED_NOT, SV_ARMED_ANY, SV_ARMED_SOLICITED, SV_ARMED_FOR };
#define SV_ARMINGS 4u

/* A receive queue: of a QP, or an SRQ's. Offsets are into the segment. */
struct sv_rq_entry {
	uint64_t wqes;    /* ring of sv_recv_wqe, each `stride` bytes */
	uint32_t entries; /* a power of two; 0: none */
	uint32_t stride;
	uint32_t max_sge;
	uint32_t reserved;
	_Alignas(SV_LINE) _Atomic uint32_t tail; /* produced by the owner */
	_Atomic uint32_t limit; /* SRQ: raise an event if fewer receives than this are left; 0: not armed */
	_Alignas(SV_LINE) _Atomic uint32_t head; /* consumed by the peer */
	_Atomic uint64_t lock;                   /* SRQ, UD: taken by senders */
	/* SRQ: what the holder of the lock is about to do, for the sender that takes the lock after its holder died */
	_Atomic uint32_t intent_qp;          /* index + 1, or 0 */
	uint32_t intent_record, intent_head; /* where the record goes, and which receive it consumes */
	_Atomic uint32_t limit_hit;
};

struct sv_qp_entry {
	/* by the owner, seldom; read by the peer at every operation */
	_Alignas(SV_LINE) _Atomic uint32_t state; /* SV_QP_LIVE | enum ibv_qp_state; 0: no such QP */
	_Atomic uint32_t dest_qpn;
	uint32_t pd;
	_Atomic uint32_t access;
	uint32_t type;
	uint32_t recv_cq;
	uint32_t srq; /* index + 1, or 0 */
	_Atomic uint32_t qkey;
	uint64_t records; /* ring of sv_recv_record */
	uint32_t record_entries;
	_Atomic uint32_t min_rnr_timer;
	/*
	 * what a post needs of the above in one word. Low half: the number of the QP whose requests this QP takes now, or
	 * 0; high half: its access flags
	 */
	_Atomic uint64_t gate;
	_Atomic uint32_t max_dest_rd_atomic;
	uint32_t device; /* the owner's device: below SV_DEVICES */
	/* by the peer */
	_Alignas(SV_LINE) _Atomic uint32_t record_head; /* next record to publish */
	_Atomic uint32_t fault;                         /* enum sv_fault: the peer's request put this QP into error */
	/* by the owner's own posts: covers its use of its local keys, and of the peer's memory and queues */
	_Alignas(SV_LINE) _Atomic uint32_t busy;
	_Atomic uint32_t sender_waits; /* by the peer: wake the peer when the next receive is posted */
	struct sv_rq_entry rq;
};

#define SV_QP_LIVE 0x100u
#define SV_QP_UNREACHABLE 0x200u /* the link is down: a fault on request */

/* Why a peer put our QP into error. */
enum sv_fault {
	SV_FAULT_NONE,
	SV_FAULT_ACCESS,
	SV_FAULT_REQUEST,
	SV_FAULT_SILENT, /* no event, since a receive's completion reports it */
	SV_FAULT_LOST,   /* set by ourselves: a CQ of ours was overrun */
};

struct sv_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct sv_recv_wqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t reserved;
	struct sv_sge sge[];
};

/* A finished receive, written by the sender. `sequence` is stored last: position + 1. */
struct sv_recv_record {
	uint64_t wr_id;
	uint32_t status;
	uint32_t opcode;
	uint32_t byte_len;
	uint32_t imm; /* or the invalidated rkey */
	uint32_t src_qp;
	uint32_t flags; /* ibv_wc_flags */
	uint32_t pkey_index;
	uint32_t sl;
	uint32_t reserved[5];
	_Atomic uint32_t sequence;
};
_Static_assert(sizeof(struct sv_recv_record) == 64, "one line per record");

/*
 * One of the process's devices as its peers see it: the faults that were requested for it (fault/), and, if a model is
 * on, until when its receiver is busy. Written by the process that sets the faults, which may be another one; the owner
 * follows.
 */
struct sv_port {
	_Alignas(SV_LINE) _Atomic uint32_t faulty; /* any of the faults below is set */
	_Atomic uint32_t down;                     /* no operation leaves it or reaches it */
	_Atomic uint32_t straggler_ppm;            /* of operations on it */
	_Atomic uint32_t lose_ppm;                 /* of tries of operations on it */
	_Atomic uint32_t corrupt_ppm;              /* of WRITEs to it */
	_Atomic uint32_t corrupt_read_ppm;         /* of READs from it */
	_Atomic uint64_t straggler_ns;
	_Alignas(SV_LINE) _Atomic uint64_t receive_free_ns; /* by peers: the modelled receiver is taken until then */
};

struct sv_header {
	_Atomic uint64_t magic; /* stored last */
	uint32_t abi;
	uint32_t slot;
	uint64_t nonce; /* tells this process from all others that had this slot, before or after */
	uint64_t self;  /* the address of this segment in the owner: reading its memory there shows whose memory it is */
	uint32_t wake_fd;
	uint32_t reserved;
	uint64_t wake_ino;
	uint64_t life_ino; /* of the pipe that is hung up when the process has ended */
	uint32_t life_fd;
	_Alignas(SV_LINE) _Atomic uint64_t atomic_lock; /* by peers: remote atomics on private memory */
	_Atomic uint32_t port_changes;   /* incremented by each change of `ports`, so that the owner follows */
	_Atomic uint32_t ports_followed; /* by the owner: the changes that it has followed */
	_Atomic uint32_t events_owed;    /* by peers: how many events they could not write */
	struct sv_port ports[SV_DEVICES];
};

struct sv_segment {
	_Alignas(4096) struct sv_header header;
	_Alignas(4096) struct sv_qp_entry qps[SV_QPS];
	_Alignas(4096) struct sv_cq_entry cqs[SV_CQS];
	_Alignas(4096) struct sv_rq_entry srqs[SV_SRQS];
	_Alignas(4096) struct sv_mr_entry mrs[SV_MRS];
	_Alignas(4096) struct sv_gone gone;
	_Alignas(4096) uint8_t rings[]; /* up to SV_SEGMENT_SIZE */
};
