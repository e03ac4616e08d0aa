/* Contexts and protection domains, which own the other objects. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/macros.h"

struct sv_context {
	struct verbs_context verbs;
	int async_write;
	uint32_t device; /* its number: below SV_DEVICES */
	struct sv_context *next;
	_Atomic unsigned users; /* its objects, and the program until it closes it */
};

struct sv_pd {
	struct ibv_pd pd;
	_Atomic unsigned users;
};

static inline struct sv_context *sv_context(struct ibv_context *context)
{
	return container_of(context, struct sv_context, verbs.context);
}

static inline struct sv_pd *sv_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct sv_pd, pd);
}
