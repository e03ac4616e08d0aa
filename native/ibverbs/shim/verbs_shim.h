/*
 * The functions that the JavaCPP binding calls: the verbs that <infiniband/verbs.h> hides behind macros, static inline
 * functions or a link to libibverbs, each with a symbol of its own. All of them go through a table that
 * farheap_verbs_load() fills.
 */
#ifndef FARHEAP_VERBS_SHIM_H
#define FARHEAP_VERBS_SHIM_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens the libibverbs at `path` (a soname or a file) and fills the table from it. RTLD_LOCAL: no symbol enters the
 * global scope. Returns NULL, or a message that stays valid for the life of the process. A process uses one library: a
 * second call with the same path does nothing, one with another path is refused.
 */
const char *farheap_verbs_load(const char *path);
/* Lets farheap_verbs_load() load another library. Nothing of the last one may be in use; its code stays mapped. */
void farheap_verbs_forget(void);

/* The errno of the last call of this thread that returned NULL: the return through JNI may change errno itself. */
int farheap_errno(void);

/* The provider's functions behind the inlines ibv_post_send, ibv_post_recv, ibv_poll_cq and ibv_req_notify_cq. */
unsigned long long farheap_post_send_address(struct ibv_context *context);
unsigned long long farheap_post_recv_address(struct ibv_context *context);
unsigned long long farheap_poll_cq_address(struct ibv_context *context);
unsigned long long farheap_req_notify_cq_address(struct ibv_context *context);

/*
 * One READ or WRITE at a time, from its post to its completion in one call. The object keeps a prepared work request of
 * each kind, with the given wr_id; NULL if there is no memory. farheap_one_operation_address() is the address of
 *
 *    int run(void *one, uint64_t local, uint64_t remote, uint64_t length | lkey << 32, uint64_t rkey | is_write << 32)
 *
 * which returns 0 if the operation has completed; 1 if it has not completed within `polls` polls; 2 if it completed
 * with another status, which is in *wc; 3 if *wc has the completion of another operation, and its own has yet to be
 * polled; and -errno if the post was refused or the queue is broken. No other operation should be in flight on the
 * completion queue.
 */
void *farheap_one_operation_create(struct ibv_qp *qp, struct ibv_cq *cq, unsigned long long wc_address,
    unsigned long long wr_id, unsigned max_inline, int polls);
void farheap_one_operation_free(void *one);
unsigned long long farheap_one_operation_address(void);

/* A list of devices. It is opaque: JavaCPP reads a pointer to a pointer as one level less. */
void *farheap_get_device_list(int *num_devices);
void farheap_free_device_list(void *list);
struct ibv_device *farheap_device_at(void *list, int index);
const char *farheap_get_device_name(struct ibv_device *device);
unsigned long long farheap_get_device_guid(struct ibv_device *device);

struct ibv_context *farheap_open_device(struct ibv_device *device);
int farheap_close_device(struct ibv_context *context);
int farheap_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
int farheap_query_port(struct ibv_context *context, int port, struct ibv_port_attr *attr);
/* Writes the 16 bytes of a GID. */
int farheap_query_gid(struct ibv_context *context, int port, int index, void *gid);
/* The type of a GID (enum ibv_gid_type), or -1 if the entry is empty or the library cannot return the type. */
int farheap_query_gid_type(struct ibv_context *context, int port, int index);

struct ibv_pd *farheap_alloc_pd(struct ibv_context *context);
int farheap_dealloc_pd(struct ibv_pd *pd);
/* Addresses are numbers: the segment that owns the memory lives in Java. */
struct ibv_mr *farheap_reg_mr(struct ibv_pd *pd, unsigned long long address, unsigned long long length, int access);
int farheap_dereg_mr(struct ibv_mr *mr);

struct ibv_comp_channel *farheap_create_comp_channel(struct ibv_context *context);
int farheap_destroy_comp_channel(struct ibv_comp_channel *channel);
/*
 * Takes one event of the channel, without blocking. Returns 1 if an event was taken and acknowledged, 0 if there was
 * none, otherwise a negative errno.
 */
int farheap_take_cq_event(struct ibv_comp_channel *channel);

struct ibv_cq *farheap_create_cq(struct ibv_context *context, int entries, struct ibv_comp_channel *channel);
int farheap_destroy_cq(struct ibv_cq *cq);

struct ibv_qp *farheap_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int farheap_destroy_qp(struct ibv_qp *qp);
int farheap_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int farheap_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init);
/* Posts a receive without memory, for an immediate. Returns 0 or errno. */
int farheap_post_empty_recv(struct ibv_qp *qp, unsigned long long wr_id);

const char *farheap_wc_status_str(int status);

#ifdef __cplusplus
}
#endif
#endif
