/*
 * Datagrams. A UD QP may send to any QP of any process: it keeps links to the few QPs to which it sent last. A datagram
 * that cannot be delivered (no such QP, another Q_Key, no receive) is lost without an error, as on a wire.
 */
#include "execute/access.h"
#include "execute/deliver.h"
#include "execute/execute.h"
#include "execute/ud.h"
#include "object/ah.h"
#include "object/gid.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/link.h"
#include "object/qp.h"
#include "peer/link.h"

#include <arpa/inet.h>

/* A datagram as it arrives: 40 bytes that hold the global route header if there is one, then the payload. */
struct datagram {
	struct ibv_grh grh;
	uint8_t payload[SV_UD_MTU];
};
_Static_assert(sizeof(struct ibv_grh) == SV_GRH_BYTES, "as on the wire");

static void fill(struct datagram *d, const struct ibv_send_wr *wr, uint32_t bytes)
{
	const struct ibv_ah_attr *attr = &((struct sv_ah *)wr->wr.ud.ah)->attr;
	uint8_t *to = d->payload;

	memset(&d->grh, 0, sizeof(d->grh));
	if (attr->is_global) {
		d->grh.version_tclass_flow =
		    htonl(6u << 28 | (uint32_t)attr->grh.traffic_class << 20 | (attr->grh.flow_label & 0xfffff));
		d->grh.paylen = htons((uint16_t)(bytes + 24));
		d->grh.next_hdr = 0x1b;
		d->grh.hop_limit = attr->grh.hop_limit;
		d->grh.dgid = attr->grh.dgid;
		sv_gid(attr->grh.sgid_index, &d->grh.sgid); /* ibv_create_ah checked it */
	}
	for (int i = 0; i < wr->num_sge; i++) {
		const void *from = wr->send_flags & IBV_SEND_INLINE ? (const void *)(uintptr_t)wr->sg_list[i].addr
		                                                    : sv_local_address(&wr->sg_list[i]);

		if (wr->sg_list[i].length)
			memcpy(to, from, wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
}

static bool wanted(struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	struct sv_qp_entry *entry = qp->remote_entry;
	uint32_t qkey = wr->wr.ud.remote_qkey;

	/* a Q_Key with the high bit set stands for the QP's own */
	if (qkey & 0x80000000u)
		qkey = qp->attr.qkey;
	return sv_accepts(atomic_load_explicit(&entry->state, memory_order_acquire)) && entry->type == IBV_QPT_UD &&
	       entry->qkey == qkey;
}

int sv_execute_ud(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes)
{
	struct datagram datagram;
	uint64_t total;
	int status = sv_check_local(qp, wr, 0, &total);

	*bytes = (uint32_t)total;
	if (status)
		return status;
	if (total > SV_UD_MTU)
		return IBV_WC_LOC_LEN_ERR;
	struct sv_link *link = sv_ud_link(qp, wr->wr.ud.remote_qpn);

	if (!link)
		return IBV_WC_SUCCESS;
	qp->link = *link;
	if (wanted(qp, wr)) {
		struct ibv_sge sge = {(uintptr_t)&datagram, SV_GRH_BYTES + (uint32_t)total, 0};
		struct ibv_send_wr whole = *wr;

		fill(&datagram, wr, (uint32_t)total);
		whole.sg_list = &sge;
		whole.num_sge = 1;
		whole.send_flags |= IBV_SEND_INLINE;
		sv_deliver_datagram(qp, &whole, sge.length);
		link->remotes = qp->remotes; /* the table may have grown */
	}
	memset(&qp->link, 0, sizeof(qp->link));
	return IBV_WC_SUCCESS;
}
