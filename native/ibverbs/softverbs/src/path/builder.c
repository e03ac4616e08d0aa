/*
 * The ibv_wr_* functions: work requests built by calls. They are gathered as a list of plain WRs, with their elements
 * and inline bytes in pools, and posted by ibv_wr_complete, all or none. The send lock is held from ibv_wr_start to
 * ibv_wr_complete or ibv_wr_abort.
 */
#include "base/calls.h"
#include "base/lock.h"
#include "base/macros.h"
#include "object/qp.h"
#include "path/builder.h"
#include "path/pending.h"
#include "path/send.h"

#include <errno.h>
#include <stdlib.h>

struct built {
	struct ibv_send_wr wr;
	uint32_t sge, sges; /* in the pool of elements */
	size_t data;        /* in the pool of bytes, if inline */
};

struct sv_builder {
	struct built *wrs;
	struct ibv_sge *sges;
	uint8_t *data;
	uint32_t count, room;
	uint32_t sge_count, sge_room;
	size_t data_count, data_room;
	struct built nowhere; /* after an error, later calls write here */
	int error;
	bool biased;
};

static struct sv_builder *of(struct ibv_qp_ex *ex)
{
	return container_of(ex, struct sv_qp, ex)->builder;
}

static bool grow(struct sv_builder *b, void **pool, size_t *room, size_t need, size_t size)
{
	if (need <= *room)
		return true;
	size_t more = *room ? *room * 2 : 64;

	while (more < need)
		more *= 2;
	void *larger = sv_realloc(*pool, more * size);

	if (!larger) {
		b->error = ENOMEM;
		return false;
	}
	*pool = larger;
	*room = more;
	return true;
}

static struct built *add(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	struct sv_builder *b = of(ex);
	size_t room = b->room;

	if (b->error || !grow(b, (void **)&b->wrs, &room, b->count + 1, sizeof(*b->wrs)))
		return &b->nowhere;
	b->room = (uint32_t)room;
	struct built *w = &b->wrs[b->count++];

	memset(w, 0, sizeof(*w));
	w->wr.wr_id = ex->wr_id;
	w->wr.opcode = opcode;
	/* the program does not choose this flag: a request is inline if its data was set inline */
	w->wr.send_flags = ex->wr_flags & ~(unsigned)IBV_SEND_INLINE;
	return w;
}

static struct built *last(struct sv_builder *b)
{
	if (!b->error && b->count == 0)
		b->error = EINVAL;
	return b->error ? NULL : &b->wrs[b->count - 1];
}

static void start(struct ibv_qp_ex *ex)
{
	struct sv_qp *qp = container_of(ex, struct sv_qp, ex);
	bool biased = sv_lock(&qp->lock);
	struct sv_builder *b = qp->builder;

	b->biased = biased;
	b->count = b->sge_count = 0;
	b->data_count = 0;
	b->error = 0;
}

static int complete(struct ibv_qp_ex *ex)
{
	struct sv_qp *qp = container_of(ex, struct sv_qp, ex);
	struct sv_builder *b = qp->builder;
	struct ibv_send_wr *bad;
	uint32_t most = 0; /* the inline bytes of the request that has most */
	int error = b->error;

	for (uint32_t i = 0; i < b->count && !error; i++) {
		struct built *w = &b->wrs[i];

		w->wr.next = i + 1 < b->count ? &b->wrs[i + 1].wr : NULL;
		w->wr.sg_list = b->sges + w->sge;
		w->wr.num_sge = (int)w->sges;
		if (w->wr.send_flags & IBV_SEND_INLINE) {
			w->wr.sg_list->addr = (uintptr_t)(b->data + w->data);
			if (w->wr.sg_list->length > most)
				most = w->wr.sg_list->length;
		}
		error = sv_send_check(qp, &w->wr);
	}
	uint32_t used = qp->sequence - atomic_load_explicit(&qp->freed, memory_order_acquire);

	if (!error && b->count > qp->max_send_wr - used)
		error = ENOMEM;
	if (!error)
		error = sv_pending_reserve(qp, b->count, most);
	if (!error && b->count)
		error = sv_post_send_locked(qp, &b->wrs[0].wr, &bad);
	sv_unlock(&qp->lock, b->biased);
	return error;
}

static void abort_list(struct ibv_qp_ex *ex)
{
	struct sv_qp *qp = container_of(ex, struct sv_qp, ex);

	sv_unlock(&qp->lock, qp->builder->biased);
}

static void atomic_op(
    struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	struct ibv_send_wr *wr = &add(ex, opcode)->wr;

	wr->wr.atomic.remote_addr = addr;
	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.compare_add = compare;
	wr->wr.atomic.swap = swap;
}

static void cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	atomic_op(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr, compare, swap);
}

static void fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t value)
{
	atomic_op(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr, value, 0);
}

static void bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *wr = &add(ex, IBV_WR_BIND_MW)->wr;

	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *info;
}

static void local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	add(ex, IBV_WR_LOCAL_INV)->wr.invalidate_rkey = rkey;
}

static struct ibv_send_wr *rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t addr)
{
	struct ibv_send_wr *wr = &add(ex, opcode)->wr;

	wr->wr.rdma.remote_addr = addr;
	wr->wr.rdma.rkey = rkey;
	return wr;
}

static void rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	rdma(ex, IBV_WR_RDMA_READ, rkey, addr);
}

static void rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	rdma(ex, IBV_WR_RDMA_WRITE, rkey, addr);
}

static void rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
	rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr)->imm_data = imm;
}

static void send_plain(struct ibv_qp_ex *ex)
{
	add(ex, IBV_WR_SEND);
}

static void send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	add(ex, IBV_WR_SEND_WITH_IMM)->wr.imm_data = imm;
}

static void send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	add(ex, IBV_WR_SEND_WITH_INV)->wr.invalidate_rkey = rkey;
}

static void set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct built *w = last(of(ex));

	if (!w)
		return;
	w->wr.wr.ud.ah = ah;
	w->wr.wr.ud.remote_qpn = qpn;
	w->wr.wr.ud.remote_qkey = qkey;
}

static void set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *list)
{
	struct sv_builder *b = of(ex);
	struct built *w = last(b);
	size_t room = b->sge_room;

	if (!w || !grow(b, (void **)&b->sges, &room, b->sge_count + count, sizeof(*b->sges)))
		return;
	b->sge_room = (uint32_t)room;
	w->wr.send_flags &= ~(unsigned)IBV_SEND_INLINE; /* if data is set more than once, the last setting counts */
	w->sge = b->sge_count;
	w->sges = (uint32_t)count;
	if (count)
		memcpy(b->sges + b->sge_count, list, count * sizeof(*list));
	b->sge_count += (uint32_t)count;
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {addr, length, lkey};

	set_sge_list(ex, 1, &sge);
}

static void set_inline_data_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_data_buf *list)
{
	struct sv_builder *b = of(ex);
	struct built *w = last(b);
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += list[i].length;
	if (!w)
		return;
	if (total > container_of(ex, struct sv_qp, ex)->max_inline) {
		b->error = EINVAL;
		return;
	}
	set_sge(ex, 0, 0, (uint32_t)total);
	if (b->error || !grow(b, (void **)&b->data, &b->data_room, b->data_count + total, 1))
		return;
	w->wr.send_flags |= IBV_SEND_INLINE;
	w->data = b->data_count;
	for (size_t i = 0; i < count; i++) {
		memcpy(b->data + b->data_count, list[i].addr, list[i].length);
		b->data_count += list[i].length;
	}
}

static void set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buffer = {addr, length};

	set_inline_data_list(ex, 1, &buffer);
}

uint64_t sv_builder_ops(enum ibv_qp_type type)
{
	uint64_t ud = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	uint64_t uc = ud | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	uint64_t rc = uc | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	              IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
	              IBV_QP_EX_WITH_SEND_WITH_INV;

	return type == IBV_QPT_RC ? rc : type == IBV_QPT_UC ? uc : type == IBV_QPT_UD ? ud : 0;
}

struct sv_builder *sv_builder_create(void)
{
	return sv_calloc(1, sizeof(struct sv_builder));
}

/* All functions are set: a program calls only those that it asked for. */
void sv_builder_attach(struct sv_builder *builder, struct sv_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->ex;

	qp->builder = builder;
	ex->wr_atomic_cmp_swp = cmp_swp;
	ex->wr_atomic_fetch_add = fetch_add;
	ex->wr_bind_mw = bind_mw;
	ex->wr_local_inv = local_inv;
	ex->wr_rdma_read = rdma_read;
	ex->wr_rdma_write = rdma_write;
	ex->wr_rdma_write_imm = rdma_write_imm;
	ex->wr_send = send_plain;
	ex->wr_send_imm = send_imm;
	ex->wr_send_inv = send_inv;
	ex->wr_set_ud_addr = set_ud_addr;
	ex->wr_set_inline_data = set_inline_data;
	ex->wr_set_inline_data_list = set_inline_data_list;
	ex->wr_set_sge = set_sge;
	ex->wr_set_sge_list = set_sge_list;
	ex->wr_start = start;
	ex->wr_complete = complete;
	ex->wr_abort = abort_list;
}

void sv_builder_destroy(struct sv_builder *builder)
{
	if (!builder)
		return;
	free(builder->wrs);
	free(builder->sges);
	free(builder->data);
	free(builder);
}
