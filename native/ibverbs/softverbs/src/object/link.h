/* What one end of a connection knows about the other. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_peer;
struct sv_remote;

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

/*
 * What the keys of the peer's regions mean to one connection: a table of places, found by the key's index, which grows
 * until all regions in use have places of their own.
 */
struct sv_remotes {
	struct sv_remote *places;          /* mask + 1 of them, a power of two */
	const struct sv_mr_entry *regions; /* the peer's */
	uint32_t mask;
	void *memory; /* of the places */
};

/* One end of a connection: what we know about the other end. A UD QP has several. */
struct sv_link {
	struct sv_peer *peer;
	struct sv_qp_entry *remote_entry;
	struct sv_remotes remotes;
	struct sv_target target;
	bool seen_ready; /* the peer was ready before: if it is not ready now, it left */
	uint32_t qpn;
};

#define SV_UD_LINKS 16
