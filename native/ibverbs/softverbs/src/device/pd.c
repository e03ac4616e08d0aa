#include "base/calls.h"
#include "base/macros.h"
#include "device/open.h"
#include "object/context.h"
#include "object/process.h"

#include <errno.h>
#include <stdlib.h>

SV_API struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct sv_pd *pd = sv_calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pthread_mutex_lock(&sv_process.lock);
	pd->pd = (struct ibv_pd){.context = context, .handle = ++sv_process.next_pd};
	pthread_mutex_unlock(&sv_process.lock);
	sv_context_get(context);
	return &pd->pd;
}

SV_API int ibv_dealloc_pd(struct ibv_pd *ibpd)
{
	struct sv_pd *pd = sv_pd(ibpd);

	if (atomic_load(&pd->users))
		return EBUSY;
	sv_context_put(ibpd->context);
	free(pd);
	return 0;
}
