/* Running sends that wait. */
#pragma once

struct sv_qp;

/* Under the send lock. */
void sv_send_progress(struct sv_qp *qp);
