/* What the device is called on its network. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

__be64 sv_guid(void);
/* Of an index below SV_GIDS. */
void sv_gid(uint32_t index, union ibv_gid *gid);
