/* The addresses of the device: its GUID and GIDs. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

__be64 sv_guid(void);
/* Write the GID with this index, below SV_ROCE_GIDS; InfiniBand has the first SV_GIDS. */
void sv_gid(uint32_t index, union ibv_gid *gid);
/* The type that the GID with this index has on Ethernet: RoCEv1 or RoCEv2. */
enum ibv_gid_type sv_roce_type(uint32_t index);
/*
 * Whether packets from the GID with this index, below SV_ROCE_GIDS, reach a GID on Ethernet: an entry of the table,
 * which all processes share, of the same type and address family. Returns 0, or errno as if no neighbour had answered.
 */
int sv_roce_reaches(uint32_t index, const union ibv_gid *to);
