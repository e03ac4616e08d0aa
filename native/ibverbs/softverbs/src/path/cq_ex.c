/* Extended completion queues: one completion at a time, its fields read on demand. */
#include "base/clock.h"
#include "base/lock.h"
#include "base/macros.h"
#include "object/cq.h"
#include "path/poll.h"

#include <errno.h>
#include <time.h>

static struct sv_cq *of(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct sv_cq, ex);
}

static int next(struct ibv_cq_ex *ex)
{
	struct sv_cq *cq = of(ex);
	bool biased = sv_lock(&cq->lock);
	int got = sv_poll_locked(cq, 1, &cq->current);

	sv_unlock(&cq->lock, biased);
	if (got != 1)
		return ENOENT;
	ex->wr_id = cq->current.wr_id;
	ex->status = cq->current.status;
	return 0;
}

/*
 * From a start that found a completion until the end, this thread alone reads the CQ. That is not under the lock of the
 * ring, since the program may post in between, and the helper may complete.
 */
static int start(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct sv_cq *cq = of(ex);

	if (attr && attr->comp_mask)
		return EINVAL;
	if (atomic_load_explicit(&cq->stalled, memory_order_relaxed))
		sv_cq_retry_stalled(cq);
	bool biased = sv_lock(&cq->reading);
	int error = next(ex);

	if (error)
		sv_unlock(&cq->reading, biased);
	else
		cq->reading_biased = biased;
	return error;
}

static void end(struct ibv_cq_ex *ex)
{
	sv_unlock(&of(ex)->reading, of(ex)->reading_biased);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return of(ex)->current.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return of(ex)->current.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return of(ex)->current.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return of(ex)->current.imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return of(ex)->current.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return of(ex)->current.src_qp;
}

static unsigned read_wc_flags(struct ibv_cq_ex *ex)
{
	return of(ex)->current.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	return of(ex)->current.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return of(ex)->current.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return of(ex)->current.dlid_path_bits;
}

/* Completions carry no timestamp: this is when it was polled. */
static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	(void)ex;
	return sv_now_ns();
}

static uint64_t read_wallclock(struct ibv_cq_ex *ex)
{
	struct timespec now;

	(void)ex;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void sv_cq_ex_init(struct ibv_cq_ex *ex)
{
	ex->start_poll = start;
	ex->next_poll = next;
	ex->end_poll = end;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
	ex->read_completion_ts = read_completion_ts;
	ex->read_completion_wallclock_ns = read_wallclock;
}
