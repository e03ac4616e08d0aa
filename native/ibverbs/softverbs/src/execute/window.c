/*
 * Memory windows. A window has an entry of its own in the region table, which is filled from its region's entry when it
 * is bound and emptied when it is invalidated: for a peer a window is a region. A type 2 window can be used only
 * through the QP that bound it (2B). Invalidation waits for copiers: after its completion nothing is read or written
 * through the window. A bind may execute long after its post, so it names its region and its window by their keys, as
 * the WQE of a device does.
 */
#include "execute/window.h"
#include "object/layout.h"
#include "object/mr.h"
#include "object/process.h"
#include "object/qp.h"
#include "peer/peer.h"
#include "peer/quiesce.h"

/* Binds and invalidations of one window may come through several QPs at once. None of them is on a data path. */
static pthread_mutex_t binding = PTHREAD_MUTEX_INITIALIZER;

/*
 * Release the region of a window whose entry is empty and which no copier uses. Peers are made to forget its key before
 * that key is used again.
 */
static void release(struct sv_mw *mw)
{
	if (!mw->region)
		return;
	if (mw->region->entry->kind == SV_MR_SHARED)
		sv_peers_unmap(mw->slot.index);
	atomic_fetch_sub(&mw->region->windows, 1);
	mw->region = NULL;
}

static bool may_bind(const struct sv_mw *mw, const struct sv_mr_entry *entry, const struct ibv_mw_bind_info *info)
{
	uint64_t offset = info->addr - entry->iova;

	if (entry->pd != mw->mw.pd->handle || !(entry->access & IBV_ACCESS_MW_BIND))
		return false;
	if ((info->mw_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(entry->access & IBV_ACCESS_LOCAL_WRITE))
		return false;
	return offset <= entry->length && info->length <= entry->length - offset;
}

/* The region with this lkey, if the window may be bound to it as asked, held against deregistration; or NULL. */
static struct sv_mr *hold_region(const struct sv_mw *mw, uint32_t lkey, const struct ibv_mw_bind_info *info)
{
	pthread_mutex_lock(&sv_process.keys_lock);
	struct sv_mr *region = sv_process.mrs[SV_KEY_INDEX(lkey)];

	if (region && (region->window || atomic_load(&region->entry->key) != lkey || !may_bind(mw, region->entry, info)))
		region = NULL;
	if (region)
		atomic_fetch_add(&region->windows, 1);
	pthread_mutex_unlock(&sv_process.keys_lock);
	return region;
}

static struct sv_mw *window_of(uint32_t key)
{
	pthread_mutex_lock(&sv_process.keys_lock);
	struct sv_mr *slot = sv_process.mrs[SV_KEY_INDEX(key)];
	struct sv_mw *mw = slot ? slot->window : NULL;

	pthread_mutex_unlock(&sv_process.keys_lock);
	return mw;
}

static int bind_window(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t lkey)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	uint32_t key = wr->bind_mw.rkey;
	struct sv_mw *mw = window_of(key);
	struct sv_mr *region = NULL;

	if (key == 0 || !mw || &mw->mw != wr->bind_mw.mw || mw->mw.pd != qp->qp.pd)
		return IBV_WC_MW_BIND_ERR;
	struct sv_mr_entry *entry = mw->slot.entry;

	/* a bound window must be invalidated first; for type 1, ibv_bind_mw has done so */
	if (atomic_load(&entry->key) != 0 || (info->length && !(region = hold_region(mw, lkey, info))))
		return IBV_WC_MW_BIND_ERR;
	release(mw);
	if (region) {
		const struct sv_mr_entry *from = region->entry;
		bool zero_based = info->mw_access_flags & IBV_ACCESS_ZERO_BASED;
		uint64_t skip = info->addr - from->iova;

		entry->access = info->mw_access_flags;
		entry->pd = from->pd;
		entry->iova = zero_based ? 0 : info->addr;
		entry->length = info->length;
		entry->addr = from->addr + skip;
		entry->fd = from->fd;
		entry->ino = from->ino;
		entry->offset = from->offset + skip;
		entry->qpn = mw->mw.type == IBV_MW_TYPE_2 ? qp->qp.qp_num : 0;
		mw->region = region;
		mw->leaving = 0;
		sv_mr_show(entry, key, from->kind);
	}
	return IBV_WC_SUCCESS;
}

int sv_mw_bind(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t lkey)
{
	pthread_mutex_lock(&binding);
	int status = bind_window(qp, wr, lkey);

	pthread_mutex_unlock(&binding);
	return status;
}

/* This is tried again until the copier is out: only the QP's own sends wait for it. */
int sv_mw_invalidate(struct sv_qp *qp, uint32_t rkey)
{
	int status = IBV_WC_LOC_QP_OP_ERR;

	pthread_mutex_lock(&binding);
	struct sv_mw *mw = window_of(rkey);

	if (mw && rkey && mw->slot.entry->qpn == qp->qp.qp_num) {
		if (atomic_load(&mw->slot.entry->key) == rkey) {
			atomic_store(&mw->slot.entry->key, 0);
			mw->leaving = rkey;
			mw->copier = sv_copier_now(qp); /* only the peer of this QP can have used it */
		}
		if (mw->leaving == rkey)
			status = sv_copier_out(qp, mw->copier) ? IBV_WC_SUCCESS : SV_STALL_COPIER;
		if (status == IBV_WC_SUCCESS) {
			mw->leaving = 0;
			release(mw);
		}
	}
	pthread_mutex_unlock(&binding);
	return status;
}

/*
 * For SEND_WITH_INV: the sender invalidates the receiver's window, and the owner finds it empty at its next bind. It
 * may only be a window of the QP to which it sends: the peer of another QP may be copying through its window just now.
 */
bool sv_mw_invalidate_remote(struct sv_qp *qp, uint32_t rkey)
{
	struct sv_mr_entry *entry = &qp->peer->segment->mrs[SV_KEY_INDEX(rkey)];
	uint32_t expected = rkey;

	if (rkey == 0 || entry->pd != qp->remote_entry->pd || SV_ONCE(entry->qpn) != qp->target.qpn)
		return false;
	return atomic_compare_exchange_strong(&entry->key, &expected, 0);
}

void sv_mw_shut(struct sv_mw *mw)
{
	pthread_mutex_lock(&binding);
	mw->slot.window = NULL;
	atomic_store(&mw->slot.entry->key, 0);
	pthread_mutex_unlock(&binding);
}

void sv_mw_release(struct sv_mw *mw)
{
	pthread_mutex_lock(&binding);
	release(mw);
	pthread_mutex_unlock(&binding);
}
