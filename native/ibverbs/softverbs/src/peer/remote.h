/* A peer's memory regions, as one queue pair sees them. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

struct sv_link;
struct sv_map;
struct sv_qp;

struct sv_remote {
	union {
		struct {
			uint32_t key; /* 0: empty */
			uint16_t kind;
			uint16_t filled;
		};
		uint64_t meaning; /* the entry's, when it was looked up */
	};
	uint32_t access;
	int unmapped; /* of a shared region without a base: the errno with which mapping it failed */
	uint64_t iova;
	uint64_t length;
	uint8_t *base;                /* where we reach iova, or NULL: through system calls */
	const _Atomic uint64_t *live; /* the entry's meaning, in the peer's segment */
	uint64_t addr;
	struct sv_map *map;
};
_Static_assert(sizeof(struct sv_remote) == 64, "one line per region");

#define SV_REMOTES 256

/* What is answered with data, and so needs resources of both sides that the QPs' attributes count. */
#define SV_ANSWERED_ACCESS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct sv_remote *sv_remotes_create(void);
struct sv_remote *sv_remote_load(struct sv_qp *qp, uint32_t key);
/*
 * What becomes of an operation on a shared region that could not be mapped: a status, or a reason to wait. It is mapped
 * anew when the operation is tried again.
 */
int sv_remote_unmapped(struct sv_qp *qp, struct sv_remote *remote);
void sv_remote_drop_all(struct sv_link *link);
/* Drop what names regions that are gone, so that their memory is freed. Under the QP's send lock. */
void sv_remote_sweep(struct sv_qp *qp);
/* Look everything up again: what is granted to this QP has changed. */
void sv_remote_forget(struct sv_link *link);
