/*
 * The control segment: what one process shows to its peers.
 *
 * Each process that opens the device owns one segment, a sealed memfd (it can neither shrink nor grow, so a mapper
 * never takes a SIGBUS). A peer maps it whole. The owner writes the tables; a peer writes only the words that are
 * marked "by the peer". A reader checks every index, offset and length that it takes from here against constants of
 * its own: a buggy peer may corrupt its own operations, never the reader's memory. What it checks is what it uses: it
 * reads each word once (SV_ONCE), since it may be another a moment later.
 *
 * There are no locks between processes on the data path. Two things are shared with care:
 *  - `busy` (in the initiator's own QP entry, by its owner): odd while that QP executes. Its peer's dereg, destroy and
 *    error transitions make something dead, run membarrier, and wait until what was odd there has moved on (quiesce.c).
 *    The asymmetric barrier is why an operation needs two plain stores and no fence. The word is the initiator's own
 *    and not the target's: an initiator that is stopped between its look at the target's gate and its first store goes
 *    on when the target's QP has another peer, and must then not write what that one says of itself.
 *  - the receive queue: the owner produces WQEs at rq_tail, the peer consumes at rq_head and publishes a record.
 *    An RC QP has one peer, so both rings have one producer and one consumer. SRQs and UD QPs have many senders,
 *    which take `lock` (see robust.c: it survives a holder's death).
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

/* A word that another process may change at any time: this is the one time that it is read. */
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
			_Atomic uint32_t key; /* 0 while there is no region here; written last at registration, first at dereg */
			uint16_t kind;
			uint16_t filled; /* counts what has been here: a key may come again, and be of something else */
		};
		_Atomic uint64_t meaning; /* all of these, which a peer compares in one load */
	};
	uint32_t access;
	uint32_t pd;
	uint64_t iova; /* address as peers name it */
	uint64_t length;
	uint64_t addr;   /* address in the owner */
	int32_t fd;      /* the owner's dup of the backing file: one for all its regions */
	uint32_t qpn;    /* a memory window bound to one QP, or 0 */
	uint64_t ino;    /* the backing file's inode: the fd number alone may have been reused */
	uint64_t offset; /* of addr in the file */
};
_Static_assert(sizeof(struct sv_mr_entry) == 64, "one line per region");

/*
 * The last of the regions that are gone, of those that peers may map: so a peer that is woken looks at these, and not
 * at all that it has mapped. They are counted, and the index of each is at its number, until SV_GONE more are gone.
 */
struct sv_gone {
	_Alignas(SV_LINE) _Atomic uint32_t count; /* stored after the index */
	_Alignas(SV_LINE) _Atomic uint16_t indices[SV_GONE];
};
_Static_assert(SV_MRS == 1 << 16, "an index has 16 bits");

struct sv_cq_entry {
	_Alignas(SV_LINE) _Atomic uint32_t arrivals; /* by peers: bumped after each receive record */
	_Atomic uint32_t armed;                      /* SV_ARMED_*, and above it how often; by peers too, see below */
	uint32_t channel_fd;
	uint32_t event;       /* what to write into the channel: index and generation of this CQ */
	uint64_t channel_ino; /* 0: no channel */
};

/*
 * What a CQ is armed for, in the low bits of `armed`. A sender first writes the event and then disarms: one that is
 * killed or stopped before leaves the CQ armed for the next, and one that cannot write it for lack of a descriptor also
 * has the owner's helper write it (`events_owed`). So there may be an event too many, never one too few. Each arming
 * counts the bits above up, so that a sender that disarms late does not undo the next arming.
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
	_Atomic uint32_t limit;                  /* SRQ: raise an event when fewer are left; 0: not armed */
	_Alignas(SV_LINE) _Atomic uint32_t head; /* consumed by the peer */
	_Atomic uint64_t lock;                   /* SRQ, UD: taken by senders */
	/* SRQ: what the holder of the lock is about to do, for whoever takes the lock from it when it is dead */
	_Atomic uint32_t intent_qp;          /* index + 1, or 0 */
	uint32_t intent_record, intent_head; /* where the record goes, and which receive it is of */
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
	/* the gist of it in one word. Low: the number of the QP whose requests it takes now, or 0; high: its access flags
	 */
	_Atomic uint64_t gate;
	_Atomic uint32_t max_dest_rd_atomic;
	uint32_t device; /* of ours: below SV_DEVICES */
	/* by the peer */
	_Alignas(SV_LINE) _Atomic uint32_t record_head; /* next record to publish */
	_Atomic uint32_t fault;                         /* enum sv_fault: the peer's request put this QP into error */
	/* by the owner's own posts: covers its local keys, and the peer's memory and queues */
	_Alignas(SV_LINE) _Atomic uint32_t busy;
	_Atomic uint32_t sender_waits; /* by the peer: wake it at the next receive */
	struct sv_rq_entry rq;
};

#define SV_QP_LIVE 0x100u
#define SV_QP_UNREACHABLE 0x200u /* the link is down: a fault on request */

/* Why a peer put our QP into error. */
enum sv_fault {
	SV_FAULT_NONE,
	SV_FAULT_ACCESS,
	SV_FAULT_REQUEST,
	SV_FAULT_SILENT, /* a receive's completion tells of it: no event */
	SV_FAULT_LOST,   /* not a peer: a CQ of ours was overrun */
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
 * One of the process's devices, as its peers meet it: what is the matter with it, on request (fault/), and with a model
 * what its receiver is busy with. By whoever sets the faults, perhaps another process; the owner follows.
 */
struct sv_port {
	_Alignas(SV_LINE) _Atomic uint32_t faulty; /* any of it */
	_Atomic uint32_t down;                     /* nothing comes from it or reaches it */
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
	uint64_t nonce; /* names this process among all that ever had the slot */
	uint64_t self;  /* where the owner has this segment: what is read there shows whose memory it is */
	uint32_t wake_fd;
	uint32_t reserved;
	uint64_t wake_ino;
	uint64_t life_ino; /* of the pipe that hangs up when the process is gone */
	uint32_t life_fd;
	_Alignas(SV_LINE) _Atomic uint64_t atomic_lock; /* by peers: remote atomics on private memory */
	_Atomic uint32_t port_changes;                  /* counts them, so that the owner follows */
	_Atomic uint32_t ports_followed;                /* by the owner: so far it has */
	_Atomic uint32_t events_owed;                   /* by peers: events that they could not write */
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
