/* WRITEs, with all their checks: also the first part of a WRITE with immediate, before its message. */
#include "base/macros.h"
#include "execute/access.h"
#include "execute/write.h"
#include "object/layout.h"
#include "object/qp.h"
#include "peer/link.h"
#include "peer/remote.h"

int sv_write(struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	uint64_t total = 0, at;
	struct sv_remote *remote;

	for (int i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	if (total == 0)
		return IBV_WC_SUCCESS; /* a WRITE of 0 bytes checks no key */
	remote = sv_remote_check(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, total, IBV_ACCESS_REMOTE_WRITE);
	if (unlikely(!remote)) {
		sv_peer_fault(qp, SV_FAULT_ACCESS);
		return IBV_WC_REM_ACCESS_ERR;
	}
	at = wr->wr.rdma.remote_addr - remote->iova;
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];
		const void *from =
		    wr->send_flags & IBV_SEND_INLINE ? (const void *)(uintptr_t)sge->addr : sv_local_address(sge);
		int status = sv_remote_write(qp, remote, at, from, sge->length);

		if (unlikely(status))
			return status;
		at += sge->length;
	}
	return IBV_WC_SUCCESS;
}
