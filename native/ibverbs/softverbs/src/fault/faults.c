/* Faults of more than one operation: the link, the NIC. */
#include "base/lock.h"
#include "fault/faults.h"
#include "model/config.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/port.h"
#include "path/qp_state.h"

void sv_link_change(bool down)
{
	if (atomic_exchange(&sv_config.link_down, down) != down)
		sv_port_tell(down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE);
}

/* Our NIC falls off the bus: every QP fails, and no operation gets out or in any more. */
void sv_nic_gone(void)
{
	atomic_store(&sv_config.link_down, true);
	sv_port_tell(IBV_EVENT_DEVICE_FATAL);
	pthread_mutex_lock(&sv_process.lock);
	for (uint32_t i = 0; i < SV_QPS; i++) {
		struct sv_qp *qp = sv_process.qps[i];

		if (!qp)
			continue;
		sv_lock_control(&qp->lock);
		sv_qp_fail(qp);
		sv_unlock(&qp->lock, false);
	}
	pthread_mutex_unlock(&sv_process.lock);
}
