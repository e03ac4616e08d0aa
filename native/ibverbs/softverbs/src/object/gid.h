/* The addresses of the device: its GUID and GIDs. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

__be64 sv_guid(void);
/* Write the GID with this index, below SV_GIDS. */
void sv_gid(uint32_t index, union ibv_gid *gid);
