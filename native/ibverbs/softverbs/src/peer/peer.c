/*
 * Other processes that have the device open: how they are found, mapped and woken, and how their death is noticed.
 * Everything of a peer is opened through one directory descriptor of its /proc/<pid>/fd. That stays bound to the
 * process when the pid is reused. To find in there the segment of that slot, and the pipe that the segment names, shows
 * that the pid was the right one. The kernel lets only processes of the same user through (ptrace access), and we check
 * the user as well.
 */
#include "base/calls.h"
#include "base/clock.h"
#include "object/layout.h"
#include "object/process.h"
#include "peer/peer.h"
#include "peer/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sv_peer *peers;

static bool hung_up(int life)
{
	struct pollfd p = {.fd = life};

	return poll(&p, 1, 0) > 0;
}

bool sv_peer_check_dead(struct sv_peer *peer)
{
	if (!peer->self && !atomic_load(&peer->dead) && hung_up(peer->life))
		atomic_store(&peer->dead, true);
	return atomic_load(&peer->dead);
}

bool sv_peer_is_stopped(struct sv_peer *peer)
{
	char text[256];
	/* through the directory that is bound to this process */
	int fd = sv_openat(peer->fd_dir, "../stat", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	/* "pid (name) state": the name may hold anything */
	const char *state = strrchr(text, ')');

	return state && state[1] == ' ' && (state[2] == 'T' || state[2] == 't');
}

bool sv_peer_is_nobody(int error)
{
	return error == ECONNREFUSED || error == ESRCH || error == ENOENT || error == EINVAL || error == EPROTO;
}

/*
 * Open the peer's control segment, found by the name of its memfd; if slot is 0, of whatever slot the peer has. -1 with
 * errno; ESRCH only if it has none: a segment that is there and cannot be opened belongs to a living process, which
 * must not be taken for dead.
 */
static int open_segment(int fd_dir, uint32_t slot)
{
	char want[48], link[64];
	int copy = sv_dup(fd_dir);
	int found = -1, error = ESRCH;

	if (copy < 0)
		return -1;
	DIR *dir = sv_fdopendir(copy);

	if (!dir) {
		error = errno;
		close(copy);
		errno = error;
		return -1;
	}
	int length = slot ? snprintf(want, sizeof(want), "/memfd:softverbs-%u ", slot)
	                  : snprintf(want, sizeof(want), "/memfd:softverbs-");
	struct dirent *entry;

	while ((errno = 0, entry = readdir(dir))) {
		ssize_t n = readlinkat(fd_dir, entry->d_name, link, sizeof(link));

		if (n > length && memcmp(link, want, (size_t)length) == 0) {
			found = sv_openat(fd_dir, entry->d_name, O_RDWR);
			error = errno;
			break;
		}
		if (n < 0 && errno != ENOENT && errno != EINVAL)
			error = errno; /* this may have been the segment: neither closed meanwhile, nor "." */
	}
	if (!entry && errno)
		error = errno;
	closedir(dir);
	errno = error;
	return found;
}

static struct sv_segment *map_segment(int fd_dir, uint32_t slot)
{
	struct stat st;
	int fd = open_segment(fd_dir, slot);

	if (fd < 0)
		return NULL;
	int seals = fcntl(fd, F_GET_SEALS);
	void *at = MAP_FAILED;

	errno = EPROTO;
	if (seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && (uint64_t)st.st_size == SV_SEGMENT_SIZE)
		at = sv_mmap(SV_SEGMENT_SIZE, MAP_NORESERVE, fd, 0);
	int error = errno;

	close(fd);
	if (at == MAP_FAILED) {
		errno = error;
		return NULL;
	}
	madvise(at, SV_SEGMENT_SIZE, MADV_DONTFORK);
	madvise(at, SV_SEGMENT_SIZE, MADV_DONTDUMP);
	struct sv_segment *segment = at;

	if (atomic_load_explicit(&segment->header.magic, memory_order_acquire) != SV_MAGIC ||
	    segment->header.abi != SV_ABI || (slot && segment->header.slot != slot)) {
		munmap(at, SV_SEGMENT_SIZE);
		errno = EPROTO;
		return NULL;
	}
	return segment;
}

static void release(struct sv_peer *peer)
{
	int error = errno;

	sv_maps_release(&peer->maps);
	for (int i = 0; i < SV_DOORBELLS; i++)
		if (peer->doorbells[i].ino)
			close(peer->doorbells[i].fd);
	if (peer->segment && !peer->self)
		munmap(peer->segment, SV_SEGMENT_SIZE);
	if (peer->life >= 0)
		close(peer->life);
	if (peer->wake >= 0)
		close(peer->wake);
	if (peer->fd_dir >= 0)
		close(peer->fd_dir);
	if (atomic_load(&peer->memory) >= 0)
		close(atomic_load(&peer->memory));
	pthread_mutex_destroy(&peer->lock);
	free(peer);
	errno = error;
}

/* Is this descriptor of the peer the pipe with this inode? False with errno. */
static bool is_pipe(int dir, const char *name, uint64_t ino)
{
	struct stat st;
	if (name ? fstatat(dir, name, &st, 0) : fstat(dir, &st))
		return false;
	errno = ESRCH;
	return S_ISFIFO(st.st_mode) && st.st_ino == ino;
}

/* Open the pipe with this inode that is descriptor `fd` of the peer; -1 with errno if it is not that pipe. */
static int open_pipe(struct sv_peer *peer, uint32_t fd, uint64_t ino, int flags)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", fd);
	if (is_pipe(peer->fd_dir, name, ino)) {
		int opened = sv_openat(peer->fd_dir, name, flags | O_NONBLOCK);

		if (opened < 0 || is_pipe(opened, NULL, ino))
			return opened;
		close(opened);
		errno = ESRCH;
	}
	if (errno == ENOENT)
		errno = ESRCH;
	return -1;
}

static bool open_life(struct sv_peer *peer)
{
	const struct sv_header *header = &peer->segment->header;

	peer->life = open_pipe(peer, header->life_fd, header->life_ino, O_RDONLY);
	if (peer->life < 0 || !hung_up(peer->life))
		return peer->life >= 0;
	errno = ESRCH;
	return false;
}

/*
 * Open its /proc/<pid>/fd; -1 with errno. If /proc is mounted with hidepid, the kernel returns EPERM or ENOENT for a
 * process that we may not look at; that becomes EACCES, as without hidepid, if there is such a process.
 */
static int open_descriptors(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	int fd = sv_open(path, O_RDONLY | O_DIRECTORY);

	if (fd < 0 && (errno == EPERM || (errno == ENOENT && (kill(pid, 0) == 0 || errno == EPERM))))
		errno = EACCES;
	return fd;
}

/*
 * Open the pipe that wakes its helper, at once and not when it is first needed: a peer has to be notified of a change
 * that we made (a fault, a region that is gone, an event), and then it is too late to lack a descriptor. It is opened
 * for reading, too: a pipe that has a reader raises no SIGPIPE after its owner has died.
 */
static bool open_wake(struct sv_peer *peer)
{
	peer->wake = open_pipe(peer, peer->segment->header.wake_fd, peer->segment->header.wake_ino, O_RDWR);
	return peer->wake >= 0;
}

static struct sv_peer *create(void)
{
	struct sv_peer *peer = sv_calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	pthread_mutex_init(&peer->lock, NULL);
	peer->life = peer->wake = peer->fd_dir = -1;
	atomic_init(&peer->memory, -1);
	return peer;
}

static struct sv_peer *attach(uint32_t slot)
{
	struct sv_peer *peer = create();

	if (!peer)
		return NULL;
	peer->slot = slot;
	peer->self = slot == sv_process.slot;
	if (peer->self) {
		peer->pid = getpid();
		peer->segment = sv_process.segment;
		peer->fd_dir = sv_open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
		if (peer->fd_dir >= 0) {
			peer->nonce = peer->segment->header.nonce;
			return peer;
		}
	} else if (sv_slot_owner(slot, &peer->pid) == 0) {
		peer->fd_dir = open_descriptors(peer->pid);
		if (peer->fd_dir >= 0 && (peer->segment = map_segment(peer->fd_dir, slot)) != NULL && open_life(peer) &&
		    open_wake(peer)) {
			peer->nonce = peer->segment->header.nonce;
			/* regions that are gone by now were never mapped here */
			peer->maps.gone = atomic_load_explicit(&peer->segment->gone.count, memory_order_acquire);
			return peer;
		}
	}
	release(peer);
	return NULL;
}

struct sv_peer *sv_peer_visit(pid_t pid)
{
	struct sv_peer *peer = create();

	if (!peer)
		return NULL;
	peer->pid = pid;
	peer->fd_dir = open_descriptors(pid);
	if (peer->fd_dir >= 0 && (peer->segment = map_segment(peer->fd_dir, 0)) != NULL && open_wake(peer))
		return peer;
	release(peer);
	return NULL;
}

void sv_peer_leave(struct sv_peer *peer)
{
	release(peer);
}

static void unwatch(struct sv_peer *peer)
{
	if (peer->watched)
		sv_watch_remove(peer->life);
	peer->watched = false;
}

struct sv_peer *sv_peer_get(uint32_t slot)
{
	struct sv_peer *peer;

	if (slot == 0 || slot >= SV_SLOTS) {
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&peers_lock);
	for (peer = peers; peer; peer = peer->next)
		if (peer->slot == slot && !sv_peer_check_dead(peer))
			break;
	if (!peer && (peer = attach(slot)) != NULL) {
		int error = sv_watch_add(peer->life);

		/* without a watch, a thread that sleeps would never notice its death; without a helper no thread sleeps */
		if (sv_is_shortage(error)) {
			release(peer);
			peer = NULL;
			errno = error;
		} else {
			peer->watched = error == 0;
			peer->next = peers;
			peers = peer;
		}
	}
	if (peer)
		peer->users++;
	pthread_mutex_unlock(&peers_lock);
	return peer;
}

void sv_peer_put(struct sv_peer *peer)
{
	pthread_mutex_lock(&peers_lock);
	bool last = --peer->users == 0;

	if (last) {
		struct sv_peer **at = &peers;

		while (*at != peer)
			at = &(*at)->next;
		*at = peer->next;
		unwatch(peer);
	}
	pthread_mutex_unlock(&peers_lock);
	/* unmapping gigabytes takes long, so no lock is held */
	if (last)
		release(peer);
}

bool sv_peers_find_dead(void)
{
	bool found = false;

	pthread_mutex_lock(&peers_lock);
	for (struct sv_peer *peer = peers; peer; peer = peer->next) {
		/* also a peer whose death another thread noticed: its pipe would wake the helper again and again */
		if ((peer->watched || !atomic_load(&peer->dead)) && sv_peer_check_dead(peer)) {
			unwatch(peer);
			found = true;
		}
	}
	pthread_mutex_unlock(&peers_lock);
	return found;
}

uint64_t sv_peers_sweep(void)
{
	struct sv_map *unused = NULL;
	uint64_t holders = 0;

	pthread_mutex_lock(&peers_lock);
	for (struct sv_peer *peer = peers; peer; peer = peer->next) {
		pthread_mutex_lock(&peer->lock);
		holders |= sv_maps_sweep(&peer->maps, peer->segment, &unused);
		pthread_mutex_unlock(&peer->lock);
	}
	pthread_mutex_unlock(&peers_lock);
	sv_maps_unmap(unused);
	return holders;
}

/* A peer that has a mapping to populate, held; NULL: none has. */
static struct sv_peer *hold_fresh(struct sv_map **map)
{
	*map = NULL;
	pthread_mutex_lock(&peers_lock);
	struct sv_peer *peer = peers;

	for (; peer; peer = peer->next) {
		pthread_mutex_lock(&peer->lock);
		*map = sv_maps_claim(&peer->maps);
		pthread_mutex_unlock(&peer->lock);
		if (*map)
			break;
	}
	if (peer)
		peer->users++;
	pthread_mutex_unlock(&peers_lock);
	return peer;
}

void sv_peers_populate(void)
{
	struct sv_peer *peer;
	struct sv_map *map;

	while ((peer = hold_fresh(&map))) {
		sv_map_populate(map);
		pthread_mutex_lock(&peer->lock);
		bool unused = sv_map_put(map);

		pthread_mutex_unlock(&peer->lock);
		sv_peer_put(peer);
		if (unused)
			sv_watch_wake();
	}
}

void sv_peers_after_fork(void)
{
	pthread_mutex_init(&peers_lock, NULL);
	for (struct sv_peer *peer = peers; peer; peer = peer->next) {
		if (peer->life >= 0)
			close(peer->life);
		if (peer->wake >= 0)
			close(peer->wake);
		close(peer->fd_dir);
		if (atomic_load(&peer->memory) >= 0)
			close(atomic_load(&peer->memory));
		for (int i = 0; i < SV_DOORBELLS; i++)
			if (peer->doorbells[i].ino)
				close(peer->doorbells[i].fd);
	}
	peers = NULL;
}

static int open_doorbell(struct sv_peer *peer, uint32_t fd, uint64_t ino)
{
	for (int i = 0; i < SV_DOORBELLS; i++)
		if (peer->doorbells[i].ino == ino)
			return peer->doorbells[i].fd;
	int opened = open_pipe(peer, fd, ino, O_RDWR);

	if (opened < 0)
		return -1;
	struct sv_doorbell *slot = &peer->doorbells[peer->next_doorbell++ % SV_DOORBELLS];

	if (slot->ino)
		close(slot->fd);
	*slot = (struct sv_doorbell){ino, opened};
	return opened;
}

bool sv_peer_ring(struct sv_peer *peer, uint32_t fd, uint64_t ino, const void *message, size_t bytes)
{
	pthread_mutex_lock(&peer->lock);
	int pipe = ino ? open_doorbell(peer, fd, ino) : -1;
	/* a full pipe wakes its reader anyway; if memory is short the event is owed: we do not try again under our locks */
	bool rang = pipe >= 0 && (sv_write_once(pipe, message, bytes) >= 0 || errno == EAGAIN);
	bool owed = ino && !rang && sv_is_shortage(errno);

	pthread_mutex_unlock(&peer->lock);
	if (owed) {
		atomic_store(&peer->segment->header.events_owed, 1);
		sv_peer_wake(peer);
	}
	return rang;
}

void sv_peer_wake(struct sv_peer *peer)
{
	if (peer->self) {
		sv_watch_wake();
	} else if (sv_write(peer->wake, "w", 1) < 0) {
		/* the pipe is full: its reader is awake */
	}
}

/*
 * The list of peers is walked, and not that of QPs: a UD QP changes its peers whenever it sends, under a lock of its
 * own.
 */
void sv_peers_unmap(uint32_t index)
{
	struct sv_gone *gone = &sv_process.segment->gone;

	pthread_mutex_lock(&peers_lock);
	uint32_t count = atomic_load_explicit(&gone->count, memory_order_relaxed);

	/* with release: a peer that reads this index also sees the count that includes the one before */
	atomic_store_explicit(&gone->indices[count % SV_GONE], (uint16_t)index, memory_order_release);
	atomic_store_explicit(&gone->count, count + 1, memory_order_release);
	for (struct sv_peer *peer = peers; peer; peer = peer->next)
		if (!peer->self && !atomic_load(&peer->dead))
			sv_peer_wake(peer);
	pthread_mutex_unlock(&peers_lock);
}

/* How long we wait for a peer that is stopped... */
#define STOPPED_NS 100000000ull
/* ...and for any other, which gets no core, or copies gigabytes. */
#define SLOW_NS 2000000000ull

bool sv_patience(uint64_t since_ns, bool stopped)
{
	return sv_now_ns() - since_ns < (stopped ? STOPPED_NS : SLOW_NS);
}
