/*
 * Faults of a whole device of ours, as peers meet them. They are in our control segment, where the process that tests
 * us puts them. While a device has a fault, the gates of its queue pairs are closed, so that peers do not execute in
 * their posts: they take the long way, which looks at the faults. So a port without faults costs a post nothing.
 */
#include "base/lock.h"
#include "model/config.h"
#include "object/async.h"
#include "object/context.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/port.h"
#include "path/qp_state.h"

void sv_qps_update(void)
{
	pthread_mutex_lock(&sv_process.lock);
	for (uint32_t i = 0; i < SV_QPS; i++) {
		struct sv_qp *qp = sv_process.qps[i];

		if (!qp)
			continue;
		sv_lock_control(&qp->lock);
		sv_qp_publish_state(qp);
		sv_qp_update_direct(qp);
		sv_unlock(&qp->lock, false);
	}
	pthread_mutex_unlock(&sv_process.lock);
}

static void tell(enum ibv_event_type type, uint32_t devices)
{
	pthread_mutex_lock(&sv_process.lock);
	for (struct sv_context *c = sv_process.contexts; c; c = c->next)
		if (devices >> c->device & 1)
			sv_async_raise(&c->verbs.context, type, 1, 0);
	pthread_mutex_unlock(&sv_process.lock);
}

void sv_port_tell(enum ibv_event_type type)
{
	tell(type, UINT32_MAX);
}

void sv_ports_follow(void)
{
	static pthread_mutex_t following = PTHREAD_MUTEX_INITIALIZER;
	struct sv_header *header = &sv_process.segment->header;

	pthread_mutex_lock(&following);
	uint32_t changes = atomic_load(&header->port_changes), went_down = 0, came_up = 0;

	if (changes != sv_process.port_changes) {
		sv_process.port_changes = changes;
		for (uint32_t i = 0; i < SV_DEVICES; i++) {
			uint32_t bit = 1u << i, was_down = sv_process.ports_down & bit;
			bool down = atomic_load(&header->ports[i].down);

			went_down |= down && !was_down ? bit : 0;
			came_up |= !down && was_down ? bit : 0;
		}
		sv_process.ports_down = (sv_process.ports_down | went_down) & ~came_up;
		sv_qps_update();
		atomic_store(&header->ports_followed, changes);
	}
	pthread_mutex_unlock(&following);
	if (went_down)
		tell(IBV_EVENT_PORT_ERR, went_down);
	if (came_up)
		tell(IBV_EVENT_PORT_ACTIVE, came_up);
}
