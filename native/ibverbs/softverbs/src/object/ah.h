/* Address handles. */
#pragma once
#include <infiniband/verbs.h>

struct sv_ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};
