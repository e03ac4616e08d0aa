/* The attributes of the device. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

/* The number of this device: below SV_DEVICES. */
uint32_t sv_device_index(const struct ibv_device *device);
/* How many GIDs a port has. */
uint32_t sv_gids(void);
/* Whether an address of this port can be used. Returns 0 or errno. */
int sv_check_address(const struct ibv_ah_attr *attr);
int sv_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);
int sv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *attr, size_t size);
int sv_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
