/* Running sends that wait. */
#pragma once
#include <stdint.h>

struct sv_qp;

/* Under the send lock. What is due at a time is looked at as of `now`, in ns. */
void sv_send_progress(struct sv_qp *qp, uint64_t now);
