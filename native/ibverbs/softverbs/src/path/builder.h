/* The ibv_wr_* functions: work requests built by calls. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_builder;
struct sv_qp;

uint64_t sv_builder_ops(enum ibv_qp_type type);
struct sv_builder *sv_builder_create(void); /* NULL: no memory */
/* Attach it to a queue pair, which owns it from now on. */
void sv_builder_attach(struct sv_builder *builder, struct sv_qp *qp);
void sv_builder_destroy(struct sv_builder *builder); /* or NULL */
