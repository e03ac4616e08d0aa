/* A peer's private memory, through system calls: a completion status, or a reason to wait. */
#pragma once
#include <stdint.h>

struct sv_qp;

int sv_remote_vm_write(struct sv_qp *qp, uint64_t addr, const void *from, uint64_t bytes);
int sv_remote_vm_read(struct sv_qp *qp, uint64_t addr, void *to, uint64_t bytes);
/*
 * An operation found that the peer's memory is not where it was registered. Returns a status if the peer is gone or has
 * unmapped it, or a reason to wait if it may be ending.
 */
int sv_remote_out_of_reach(struct sv_qp *qp);
