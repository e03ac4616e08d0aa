/*
 * A peer's memory regions as one QP sees them: a table of what each rkey means, private to the QP, so that it needs no
 * lock of its own. An entry is valid while the peer's table still has the same key, filled the same time: a window's
 * key may be bound again. The load that checks this is all that an operation shares with the owner. The file mappings
 * behind the entries are shared by all QPs to the peer (map.c).
 *
 * The place of a region is its index in the peer's table, modulo the length of ours. If two regions that are in use
 * fall into one place, the table grows until each has its own; with a place for every region, 4 MiB, it is always long
 * enough.
 */
#include "base/calls.h"
#include "object/layout.h"
#include "object/link.h"
#include "object/qp.h"
#include "peer/map.h"
#include "peer/peer.h"
#include "peer/remote.h"
#include "peer/vm.h"
#include "peer/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The key of no region. */
#define NO_KEY 0xffffffffu

/* The first size of the table: most peers have fewer regions. */
#define FEWEST_PLACES 256u

static void drop(struct sv_peer *peer, struct sv_remote *remote)
{
	if (remote->map) {
		pthread_mutex_lock(&peer->lock);
		bool unused = sv_map_put(remote->map);

		pthread_mutex_unlock(&peer->lock);
		if (unused)
			sv_watch_wake();
	}
	memset(remote, 0, sizeof(*remote));
}

/* Pages of a large table that are never written take no memory. */
static bool create(struct sv_remotes *remotes, uint32_t places, const struct sv_mr_entry *regions)
{
	void *memory = sv_calloc(places + 1, sizeof(struct sv_remote));
	uintptr_t first = ((uintptr_t)memory + SV_LINE - 1) & ~(uintptr_t)(SV_LINE - 1);

	if (!memory)
		return false;
	*remotes = (struct sv_remotes){(struct sv_remote *)first, regions, places - 1, memory};
	return true;
}

bool sv_remotes_create(struct sv_remotes *remotes)
{
	return create(remotes, FEWEST_PLACES, NULL);
}

/* Grow the table so that these two regions have a place each, as all others still do. False: there is no memory. */
static bool grow(struct sv_remotes *remotes, uint32_t key, uint32_t other)
{
	uint32_t differ = SV_KEY_INDEX(key) ^ SV_KEY_INDEX(other);
	struct sv_remotes grown;

	if (!create(&grown, 2 * (differ & -differ), remotes->regions))
		return false;
	for (uint32_t i = 0; i <= remotes->mask; i++)
		if (remotes->places[i].key)
			*sv_remote_place(&grown, remotes->places[i].key) = remotes->places[i];
	free(remotes->memory);
	*remotes = grown;
	return true;
}

/* Make an empty place for a region that has none. */
static struct sv_remote *make_place(struct sv_qp *qp, uint32_t key)
{
	struct sv_remotes *remotes = &qp->remotes;
	struct sv_remote *taken = sv_remote_place(remotes, key);

	/* if there is no memory, or no time, to grow the table, the two take turns in one place */
	if (taken->key && SV_KEY_INDEX(taken->key) != SV_KEY_INDEX(key) && sv_remote_is_live(remotes, taken, taken->key) &&
	    !qp->bounded && grow(remotes, key, taken->key))
		return sv_remote_place(remotes, key);
	if (taken->key)
		drop(qp->peer, taken);
	return taken;
}

struct sv_remote *sv_remote_load(struct sv_qp *qp, uint32_t key)
{
	struct sv_peer *peer = qp->peer;
	struct sv_mr_entry *shared = &peer->segment->mrs[SV_KEY_INDEX(key)];
	struct sv_remote *remote = sv_remote_place(&qp->remotes, key);
	struct sv_mr_entry entry;

	if (remote->key == key)
		drop(peer, remote); /* the key means something else by now */
	entry.meaning = atomic_load_explicit(&shared->meaning, memory_order_acquire);
	if (key == 0 || key == NO_KEY || entry.key != key)
		return NULL;
	remote = make_place(qp, key);
	/* these fields do not change while the key is there and our `busy` is odd */
	entry.access = SV_ONCE(shared->access);
	entry.pd = SV_ONCE(shared->pd);
	entry.iova = SV_ONCE(shared->iova);
	entry.length = SV_ONCE(shared->length);
	entry.addr = SV_ONCE(shared->addr);
	entry.fd = SV_ONCE(shared->fd);
	entry.qpn = SV_ONCE(shared->qpn);
	entry.ino = SV_ONCE(shared->ino);
	entry.offset = SV_ONCE(shared->offset);
	/*
	 * what is granted to this connection: a region of the same domain, no window of another QP, and only operations
	 * that our attributes allow
	 */
	bool granted = entry.pd == qp->remote_entry->pd && (!entry.qpn || entry.qpn == qp->target.qpn);
	uint32_t asked = qp->attr.max_rd_atomic ? UINT32_MAX : ~(uint32_t)SV_ANSWERED_ACCESS;

	*remote = (struct sv_remote){
	    .access = granted ? entry.access & asked : 0, .iova = entry.iova, .length = entry.length, .addr = entry.addr};
	if (peer->self) {
		remote->base = (uint8_t *)entry.addr;
	} else if (entry.kind == SV_MR_SHARED) {
		bool at_once = !qp->bounded && !qp->helped;

		pthread_mutex_lock(&peer->lock);
		remote->map = sv_map_get(&peer->maps, peer->fd_dir, key, &entry, !qp->bounded, qp->index);
		remote->unmapped = remote->map ? 0 : errno;
		bool populate = remote->map && at_once && sv_map_claim(&peer->maps, remote->map);
		bool sweep = peer->maps.leaving != NULL; /* perhaps the mapping that this one replaces */

		pthread_mutex_unlock(&peer->lock);
		if (sweep)
			sv_watch_wake();
		if (populate)
			sv_map_populate(remote->map);
		qp->mapped = qp->helped;
		if (remote->map) {
			remote->base = remote->map->base;
			if (remote->length > remote->map->bytes)
				remote->length = remote->map->bytes;
		}
	}
	remote->meaning = entry.meaning;
	return remote;
}

int sv_remote_unmapped(struct sv_qp *qp, struct sv_remote *remote)
{
	int error = remote->unmapped;

	/*
	 * never reach it by system calls instead: such atomics would not be atomic with those of a process that has mapped
	 * it
	 */
	drop(qp->peer, remote);
	if (error == EINPROGRESS)
		return SV_STALL_HELPER;
	return sv_is_shortage(error) ? SV_STALL_SHORTAGE : sv_remote_out_of_reach(qp);
}

void sv_remote_forget(struct sv_link *link)
{
	for (uint32_t i = 0; link->remotes.places && i <= link->remotes.mask; i++)
		if (link->remotes.places[i].key)
			drop(link->peer, &link->remotes.places[i]);
}

void sv_remote_drop_all(struct sv_link *link)
{
	sv_remote_forget(link);
	free(link->remotes.memory);
	link->remotes = (struct sv_remotes){0};
}

/* Only mapped regions are looked at, since the others hold nothing. No link of a UD QP has any. */
void sv_remote_sweep(struct sv_qp *qp)
{
	if (qp->qp.qp_type == IBV_QPT_UD || !qp->peer || !qp->remotes.places)
		return;
	pthread_mutex_lock(&qp->peer->lock);
	for (struct sv_map *map = qp->peer->maps.leaving; map; map = map->next) {
		struct sv_remote *remote = sv_remote_place(&qp->remotes, map->key);

		if (remote->map != map)
			continue;
		sv_map_put(map);
		memset(remote, 0, sizeof(*remote));
	}
	pthread_mutex_unlock(&qp->peer->lock);
}
