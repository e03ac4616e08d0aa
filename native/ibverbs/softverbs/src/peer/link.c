/* The links of a queue pair: to its one peer, or for a UD QP to the few to which it sent last. */
#include "base/calls.h"
#include "object/layout.h"
#include "object/link.h"
#include "object/process.h"
#include "object/qp.h"
#include "peer/link.h"
#include "peer/peer.h"
#include "peer/remote.h"

#include <stdlib.h>

/* Find the peer's QP. It need not be ready yet: only its process and its number count here. */
bool sv_qp_connect(struct sv_qp *qp)
{
	uint32_t qpn = qp->attr.dest_qp_num;

	if (!qp->remotes.places && !sv_remotes_create(&qp->remotes))
		return false;
	if (!qp->peer)
		qp->peer = sv_peer_get(sv_qpn_slot(qpn));
	if (!qp->peer)
		return false;
	qp->remotes.regions = qp->peer->segment->mrs;
	/* quiesce.c loads it without the send lock, and then reads the peer's `busy` */
	__atomic_store_n(&qp->remote_entry, &qp->peer->segment->qps[sv_qpn_index(qpn)], __ATOMIC_RELEASE);
	return true;
}

static void drop_link(struct sv_link *link)
{
	sv_remote_drop_all(link);
	if (link->peer)
		sv_peer_put(link->peer);
	memset(link, 0, sizeof(*link));
}

static void disconnect_ud(struct sv_qp *qp)
{
	for (int i = 0; qp->ud_links && i < SV_UD_LINKS; i++)
		drop_link(&qp->ud_links[i]);
	free(qp->ud_links);
	qp->ud_links = NULL;
	memset(&qp->link, 0, sizeof(qp->link));
}

struct sv_link *sv_ud_link(struct sv_qp *qp, uint32_t qpn)
{
	if (!qp->ud_links && !(qp->ud_links = sv_calloc(SV_UD_LINKS, sizeof(*qp->ud_links))))
		return NULL;
	struct sv_link *link = &qp->ud_links[(qpn ^ qpn >> 12) % SV_UD_LINKS];

	if (link->qpn == qpn && link->peer && !atomic_load_explicit(&link->peer->dead, memory_order_relaxed))
		return link;
	drop_link(link);
	link->peer = sv_peer_get(sv_qpn_slot(qpn));
	if (!link->peer || !sv_remotes_create(&link->remotes)) {
		drop_link(link);
		return NULL;
	}
	link->qpn = qpn;
	link->remotes.regions = link->peer->segment->mrs;
	link->remote_entry = &link->peer->segment->qps[sv_qpn_index(qpn)];
	return link;
}

void sv_qp_disconnect(struct sv_qp *qp)
{
	if (qp->qp.qp_type == IBV_QPT_UD) {
		disconnect_ud(qp);
		return;
	}
	sv_remote_drop_all(&qp->link);
	if (qp->peer)
		sv_peer_put(qp->peer);
	memset(&qp->link, 0, sizeof(qp->link));
}

void sv_peer_fault(struct sv_qp *qp, enum sv_fault fault)
{
	uint32_t none = SV_FAULT_NONE;

	atomic_compare_exchange_strong(&qp->remote_entry->fault, &none, fault);
	sv_peer_wake(qp->peer);
}
