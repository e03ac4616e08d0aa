/* Functions that this device does not support: each returns the proper errno, and none crashes. */
#include "base/macros.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>

#define NO_POINTER \
	errno = EOPNOTSUPP; \
	return NULL

SV_API struct ibv_context *ibv_import_device(int fd)
{
	(void)fd;
	NO_POINTER;
}

SV_API struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	(void)context, (void)handle;
	NO_POINTER;
}

SV_API void ibv_unimport_pd(struct ibv_pd *pd)
{
	(void)pd;
}

SV_API struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	(void)pd, (void)handle;
	NO_POINTER;
}

SV_API void ibv_unimport_mr(struct ibv_mr *mr)
{
	(void)mr;
}

SV_API struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	(void)context, (void)handle;
	NO_POINTER;
}

SV_API void ibv_unimport_dm(struct ibv_dm *dm)
{
	(void)dm;
}

SV_API struct ibv_mr *ibv_reg_dmabuf_mr(
    struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	(void)pd, (void)offset, (void)length, (void)iova, (void)fd, (void)access;
	NO_POINTER;
}

SV_API int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp, (void)ece;
	return EOPNOTSUPP;
}

SV_API int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp, (void)ece;
	return EOPNOTSUPP;
}

SV_API int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	return EOPNOTSUPP;
}

SV_API int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	return EOPNOTSUPP;
}

SV_API int ibv_resolve_eth_l2_from_gid(
    struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	(void)context, (void)attr, (void)mac, (void)vid;
	errno = EOPNOTSUPP;
	return -1;
}

/* Words do not tear and the last bytes are stored last, but the order of the bytes before them is not promised. */
SV_API int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp, (void)op, (void)flags;
	return 0;
}

/* Nothing is pinned, so a fork breaks nothing in the parent. */
SV_API int ibv_fork_init(void)
{
	return 0;
}

SV_API enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

SV_API int ibv_dontfork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

SV_API int ibv_dofork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}
