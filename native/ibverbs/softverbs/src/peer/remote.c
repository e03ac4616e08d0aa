/*
 * A peer's memory regions as one QP sees them: a small direct-mapped cache, private to the QP (so it needs no lock of
 * its own), of what an rkey means. An entry is valid while the peer's table has the same key, given the same time: a
 * window's may be bound anew. That load is all an operation shares with the owner. The file mappings behind it are
 * shared by all QPs to the peer.
 */
#include "base/calls.h"
#include "object/layout.h"
#include "object/link.h"
#include "object/qp.h"
#include "peer/peer.h"
#include "peer/remote.h"
#include "peer/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What a mapping of this file begins and ends at: of huge pages only whole ones are mapped, or unmapped. */
static uint64_t page_of(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC ? (uint64_t)fs.f_bsize : 4096;
}

/* -1 with errno: ESTALE if the owner has something else there, or nothing that can be mapped. */
static int open_backing(struct sv_peer *peer, const struct sv_mr_entry *entry, uint64_t need)
{
	char name[16];
	struct stat st;

	snprintf(name, sizeof(name), "%d", entry->fd);
	int fd = sv_openat(peer->fd_dir, name, O_RDWR);

	if (fd < 0)
		return -1;
	int seals = fcntl(fd, F_GET_SEALS);

	/* without the seal the peer could truncate the file under us, and our next access would be a SIGBUS */
	if (seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && st.st_ino == entry->ino &&
	    (uint64_t)st.st_size >= need)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* NULL with errno. */
static struct sv_map *map_anew(struct sv_peer *peer, uint32_t key, const struct sv_mr_entry *entry)
{
	if (entry->length > UINT64_MAX / 4 || entry->offset > UINT64_MAX / 4) {
		errno = ESTALE;
		return NULL;
	}
	int fd = open_backing(peer, entry, entry->offset + entry->length);

	if (fd < 0)
		return NULL;
	uint64_t page = page_of(fd), start = entry->offset & ~(page - 1), skip = entry->offset - start;
	uint64_t bytes = (skip + entry->length + page - 1) & ~(page - 1);

	struct sv_map *map = sv_calloc(1, sizeof(*map));
	/* populate: a first touch through a second mapping costs more than the copy */
	void *at = map ? sv_mmap(bytes, MAP_POPULATE, fd, start) : MAP_FAILED;

	int error = errno;

	close(fd);
	if (at == MAP_FAILED) {
		free(map);
		errno = error;
		return NULL;
	}
	madvise(at, bytes, MADV_DONTFORK);
	*map = (struct sv_map){.next = peer->maps,
	    .key = key,
	    .users = 1,
	    .ino = entry->ino,
	    .offset = entry->offset,
	    .base = (uint8_t *)at + skip,
	    .bytes = entry->length,
	    .mapping = at,
	    .length = bytes};
	peer->maps = map;
	return map;
}

static void unmap(struct sv_peer *peer, struct sv_map *map)
{
	struct sv_map **at = &peer->maps;

	while (*at != map)
		at = &(*at)->next;
	*at = map->next;
	munmap(map->mapping, map->length);
	free(map);
}

static void retire(struct sv_peer *peer, struct sv_map *map)
{
	map->stale = true;
	if (!map->users)
		unmap(peer, map);
}

/* Map the region, if we may, or find it mapped; NULL with errno. EINPROGRESS: a thread that may map is to do so. */
static struct sv_map *map_region(struct sv_peer *peer, uint32_t key, const struct sv_mr_entry *entry, bool may_map)
{
	struct sv_map *old = peer->maps;

	while (old && (old->key != key || old->stale))
		old = old->next;
	bool same = old && old->ino == entry->ino && old->offset == entry->offset;
	bool anew = !same || entry->length > old->bytes;

	if (anew && !may_map) {
		errno = EINPROGRESS;
		return NULL;
	}
	struct sv_map *map = anew ? map_anew(peer, key, entry) : NULL;
	int error = errno;

	/* of a region that is said to be longer than it can be, what it had is still there */
	if (!map && same) {
		old->users++;
		return old;
	}
	if (old)
		retire(peer, old);
	errno = error;
	return map;
}

/* Of no region. */
#define NO_KEY 0xffffffffu

/* What an empty entry points at: no meaning is like it. */
static const _Atomic uint64_t no_meaning = UINT64_MAX;

static void drop(struct sv_peer *peer, struct sv_remote *remote)
{
	if (remote->map) {
		pthread_mutex_lock(&peer->lock);
		if (--remote->map->users == 0 && remote->map->stale)
			unmap(peer, remote->map);
		pthread_mutex_unlock(&peer->lock);
	}
	memset(remote, 0, sizeof(*remote));
	remote->live = &no_meaning;
}

struct sv_remote *sv_remotes_create(void)
{
	struct sv_remote *remotes = sv_calloc(SV_REMOTES, sizeof(*remotes));

	for (int i = 0; remotes && i < SV_REMOTES; i++)
		remotes[i].live = &no_meaning;
	return remotes;
}

struct sv_remote *sv_remote_load(struct sv_qp *qp, uint32_t key)
{
	struct sv_peer *peer = qp->peer;
	struct sv_remote *remote = &qp->remotes[SV_KEY_INDEX(key) % SV_REMOTES];
	struct sv_mr_entry *shared = &peer->segment->mrs[SV_KEY_INDEX(key)];
	struct sv_mr_entry entry;

	drop(peer, remote);
	entry.meaning = atomic_load_explicit(&shared->meaning, memory_order_acquire);
	if (key == 0 || key == NO_KEY || entry.key != key)
		return NULL;
	/* stable while the key is there and we say that we are busy */
	entry.access = SV_ONCE(shared->access);
	entry.pd = SV_ONCE(shared->pd);
	entry.iova = SV_ONCE(shared->iova);
	entry.length = SV_ONCE(shared->length);
	entry.addr = SV_ONCE(shared->addr);
	entry.fd = SV_ONCE(shared->fd);
	entry.qpn = SV_ONCE(shared->qpn);
	entry.ino = SV_ONCE(shared->ino);
	entry.offset = SV_ONCE(shared->offset);
	/* granted to this connection: of the same domain, and not another QP's window; and that we may ask for at all */
	bool granted = entry.pd == qp->remote_entry->pd && (!entry.qpn || entry.qpn == qp->target.qpn);
	uint32_t asked = qp->attr.max_rd_atomic ? UINT32_MAX : ~(uint32_t)SV_ANSWERED_ACCESS;

	*remote = (struct sv_remote){.access = granted ? entry.access & asked : 0,
	    .iova = entry.iova,
	    .length = entry.length,
	    .live = &shared->meaning,
	    .addr = entry.addr};
	if (peer->self) {
		remote->base = (uint8_t *)entry.addr;
	} else if (entry.kind == SV_MR_SHARED) {
		pthread_mutex_lock(&peer->lock);
		remote->map = map_region(peer, key, &entry, !qp->bounded);
		remote->unmapped = remote->map ? 0 : errno;
		pthread_mutex_unlock(&peer->lock);
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

	/* never by its address instead: its atomics would not be atomic with those of a process that has it mapped */
	drop(qp->peer, remote);
	if (error == EINPROGRESS)
		return SV_STALL_HELPER;
	return sv_is_shortage(error) ? SV_STALL_SHORTAGE : sv_remote_out_of_reach(qp);
}

void sv_remote_forget(struct sv_link *link)
{
	for (int i = 0; link->remotes && i < SV_REMOTES; i++)
		drop(link->peer, &link->remotes[i]);
}

void sv_remote_drop_all(struct sv_link *link)
{
	sv_remote_forget(link);
	free(link->remotes);
	link->remotes = NULL;
}

static void sweep(struct sv_link *link)
{
	for (int i = 0; link->remotes && i < SV_REMOTES; i++) {
		struct sv_remote *remote = &link->remotes[i];

		if (remote->key && atomic_load_explicit(remote->live, memory_order_acquire) != remote->meaning)
			drop(link->peer, remote);
	}
}

void sv_remote_sweep(struct sv_qp *qp)
{
	if (!qp->ud_links) {
		sweep(&qp->link);
		return;
	}
	for (int i = 0; i < SV_UD_LINKS; i++)
		sweep(&qp->ud_links[i]);
}
