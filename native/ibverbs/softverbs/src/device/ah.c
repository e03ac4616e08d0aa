/* Address handles. There is one port to send to, so they only say whether datagrams carry a global route header. */
#include "base/calls.h"
#include "base/macros.h"
#include "device/device.h"
#include "device/open.h"
#include "object/ah.h"
#include "object/context.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

SV_API struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	int error = attr->port_num != 1 ? EINVAL : sv_check_address(attr);

	if (error) {
		errno = error;
		return NULL;
	}
	struct sv_ah *ah = sv_calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	ah->ah = (struct ibv_ah){.context = pd->context, .pd = pd};
	ah->attr = *attr;
	atomic_fetch_add(&sv_pd(pd)->users, 1);
	sv_context_get(pd->context);
	return &ah->ah;
}

SV_API int ibv_destroy_ah(struct ibv_ah *ibah)
{
	atomic_fetch_sub(&sv_pd(ibah->pd)->users, 1);
	sv_context_put(ibah->context);
	free(container_of(ibah, struct sv_ah, ah));
	return 0;
}

SV_API int ibv_init_ah_from_wc(
    struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port;
	if (wc->wc_flags & IBV_WC_GRH) {
		attr->is_global = 1;
		attr->grh.dgid = grh->sgid;
		attr->grh.hop_limit = 0xff;
	}
	return 0;
}

SV_API struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr);
	return ibv_create_ah(pd, &attr);
}
