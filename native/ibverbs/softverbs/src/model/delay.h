/* When an operation that does not execute in its post is due. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/macros.h"
#include "model/config.h"
#include "object/process.h"
#include "object/qp.h"
#include "peer/peer.h"

struct sv_pending;

/* Decide when this operation, which is about to be queued, takes effect and completes. */
void sv_delay_start(struct sv_qp *qp, struct sv_pending *p);

/*
 * The device number in an entry, ours or its peer's. Another process may have written anything there, so it is bounded.
 */
static inline uint32_t sv_device_of(const struct sv_qp_entry *entry)
{
	return SV_ONCE(entry->device) % SV_DEVICES;
}

/* The port of our own end of a queue pair. */
static inline struct sv_port *sv_own_port(const struct sv_qp *qp)
{
	return &sv_process.segment->header.ports[sv_device_of(qp->entry)];
}

/* The port of the far end of a connected RC queue pair, if a fault is set there; else NULL. */
static inline struct sv_port *sv_faulty_port(const struct sv_qp *qp)
{
	if (!qp->remote_entry || qp->qp.qp_type != IBV_QPT_RC)
		return NULL;
	struct sv_port *port = &qp->peer->segment->header.ports[sv_device_of(qp->remote_entry)];

	return unlikely(atomic_load_explicit(&port->faulty, memory_order_relaxed)) ? port : NULL;
}

/*
 * Do its operations execute later than in their post? Not for use in posts, which see it in `direct` and in the gate.
 */
static inline bool sv_is_delayed(const struct sv_qp *qp)
{
	return atomic_load_explicit(&sv_config.delayed, memory_order_relaxed) ||
	       atomic_load_explicit(&sv_own_port(qp)->down, memory_order_relaxed) || sv_faulty_port(qp);
}
