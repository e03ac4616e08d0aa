/* The devices, soft0 and as many more as the settings ask for, and their attributes. */
#include "base/calls.h"
#include "base/clock.h"
#include "base/macros.h"
#include "device/device.h"
#include "device/open.h"
#include "model/config.h"
#include "object/context.h"
#include "object/gid.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port

static struct ibv_device devices[SV_DEVICES];

static void name_devices(void)
{
	for (uint32_t i = 0; i < SV_DEVICES; i++) {
		devices[i].node_type = IBV_NODE_CA;
		devices[i].transport_type = IBV_TRANSPORT_IB;
		snprintf(devices[i].name, sizeof(devices[i].name), "soft%u", i);
		snprintf(devices[i].dev_name, sizeof(devices[i].dev_name), "softverbs%u", i);
	}
}

uint32_t sv_device_index(const struct ibv_device *device)
{
	return (uint32_t)(device - devices);
}

SV_API struct ibv_device **ibv_get_device_list(int *count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int n = (int)sv_process_devices();
	struct ibv_device **list = n ? sv_calloc((size_t)n + 1, sizeof(*list)) : NULL;

	pthread_once(&once, name_devices);
	if (count)
		*count = list ? n : 0;
	for (int i = 0; list && i < n; i++)
		list[i] = &devices[i];
	return list;
}

SV_API void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

SV_API const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

SV_API int ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return -1; /* the kernel does not know this device */
}

/* The first device has the GUID that is in the GID, which all devices share. */
static __be64 guid_of(uint32_t device)
{
	return htobe64(be64toh(sv_guid()) + device);
}

SV_API __be64 ibv_get_device_guid(struct ibv_device *dev)
{
	return guid_of(sv_device_index(dev));
}

static void fill_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "softverbs-1%s%s", sv_config.model ? "-model-" : "",
	    sv_config.model ? sv_config.model_name : "");
	attr->node_guid = attr->sys_image_guid = guid_of(sv_context(context)->device);
	attr->max_mr_size = UINT64_MAX;
	attr->page_size_cap = 0xfffffffffffff000ull;
	attr->vendor_id = 0x02736f; /* as in the GUID: locally administered, so no vendor has it */
	attr->vendor_part_id = 1;
	attr->hw_ver = 1;
	attr->max_qp = SV_QPS - 1;
	attr->max_qp_wr = sv_config.max_depth ? (int)sv_config.max_depth : SV_MAX_QP_WR;
	attr->device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT |
	                         IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	attr->max_sge = attr->max_sge_rd = SV_MAX_SGE;
	attr->max_cq = SV_CQS;
	attr->max_cqe = SV_MAX_CQE;
	attr->max_mr = SV_MRS;
	attr->max_mw = SV_MRS;
	attr->max_pd = INT32_MAX;
	attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = SV_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SV_MAX_RD_ATOMIC * (SV_QPS - 1);
	/* atomic among all initiators on this device; with the CPU only if the memory is shared, which is not claimed */
	attr->atomic_cap = IBV_ATOMIC_HCA;
	attr->max_ah = INT32_MAX;
	attr->max_srq = SV_SRQS;
	attr->max_srq_wr = SV_MAX_SRQ_WR;
	attr->max_srq_sge = SV_MAX_SGE;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = 1;
	attr->phys_port_cnt = 1;
}

SV_API int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	fill_device(context, attr);
	return 0;
}

int sv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex all = {.phys_port_cnt_ex = 1};

	if (input && input->comp_mask)
		return EINVAL;
	if (size < sizeof(struct ibv_device_attr))
		return EINVAL;
	fill_device(context, &all.orig_attr);
	all.completion_timestamp_mask = UINT64_MAX;
	all.hca_core_clock = 1000000; /* kHz: timestamps are nanoseconds */
	all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
	memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

/* The raw clock of completion timestamps. */
int sv_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	(void)context;
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	uint64_t now = sv_now_ns();

	values->raw_clock.tv_sec = (time_t)(now / 1000000000);
	values->raw_clock.tv_nsec = (long)(now % 1000000000);
	return 0;
}

static void fill_port(struct ibv_context *context, struct ibv_port_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = attr->active_mtu = IBV_MTU_4096;
	attr->gid_tbl_len = (int)sv_gids();
	attr->max_msg_sz = SV_MAX_MESSAGE;
	attr->pkey_tbl_len = 1;
	/* InfiniBand with a LID, unless the settings ask for Ethernet, so that programs need no GID index */
	attr->lid = sv_config.roce ? 0 : SV_LID;
	attr->sm_lid = attr->lid;
	attr->max_vl_num = 1;
	attr->subnet_timeout = 18;
	attr->active_width = 2;  /* 4X */
	attr->active_speed = 32; /* EDR: 100 Gbit/s */
	attr->phys_state = 5;    /* LinkUp */
	if (sv_config.link_down || sv_process.segment->header.ports[sv_context(context)->device].down) {
		attr->state = IBV_PORT_DOWN;
		attr->phys_state = 2; /* Polling */
	}
	attr->link_layer = sv_config.roce ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
}

uint32_t sv_gids(void)
{
	return sv_config.roce ? SV_ROCE_GIDS : SV_GIDS;
}

int sv_check_address(const struct ibv_ah_attr *attr)
{
	if (attr->is_global && attr->grh.sgid_index >= sv_gids())
		return EINVAL;
	if (!sv_config.roce)
		return 0;
	/* Ethernet has no LIDs. */
	return attr->is_global ? sv_roce_reaches(attr->grh.sgid_index, &attr->grh.dgid) : EINVAL;
}

int sv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr all;

	if (port != 1)
		return EINVAL;
	fill_port(context, &all);
	memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

/* The plain symbol is for programs that were built before the structure grew: theirs has no port_cap_flags2. */
SV_API int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return sv_query_port(context, port, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

SV_API int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context;
	if (port != 1 || index < 0 || (uint32_t)index >= sv_gids()) {
		errno = EINVAL;
		return -1;
	}
	sv_gid((uint32_t)index, gid);
	return 0;
}

SV_API int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned index, int *type)
{
	(void)context;
	if (port != 1 || index >= sv_gids()) {
		errno = EINVAL;
		return -1;
	}
	/* This old call has one number for InfiniBand and RoCEv1. */
	*type = sv_config.roce && sv_roce_type(index) == IBV_GID_TYPE_ROCE_V2;
	return 0;
}

SV_API int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
    uint32_t flags, size_t size)
{
	struct ibv_gid_entry full = {.gid_index = index, .port_num = port, .gid_type = IBV_GID_TYPE_IB};
	uint32_t gids = sv_gids();

	(void)context;
	if (flags)
		return EOPNOTSUPP;
	if (port != 1 || index >= gids)
		return EINVAL;
	sv_gid(index, &full.gid);
	if (gids == SV_ROCE_GIDS)
		full.gid_type = sv_roce_type(index);
	memcpy(entry, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

SV_API ssize_t _ibv_query_gid_table(
    struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags, size_t size)
{
	size_t n = 0, gids = sv_gids();

	if (flags)
		return -EOPNOTSUPP;
	if (max < gids)
		return -EINVAL; /* as the kernel does: all of it or nothing */
	for (; n < gids; n++)
		_ibv_query_gid_ex(context, 1, (uint32_t)n, (struct ibv_gid_entry *)((char *)entries + n * size), 0, size);
	return (ssize_t)n;
}

SV_API int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (port != 1 || index != 0) {
		errno = EINVAL;
		return -1;
	}
	*pkey = 0xffff;
	return 0;
}

SV_API int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	(void)context;
	if (port == 1 && pkey == 0xffff)
		return 0;
	errno = EINVAL;
	return -1;
}

/* There is no sysfs directory behind this device. */
SV_API int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	(void)dir, (void)file, (void)buf, (void)size;
	errno = ENOENT;
	return -1;
}

SV_API const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}
