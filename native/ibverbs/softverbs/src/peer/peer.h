/* Other processes that have the device open. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "object/layout.h"
#include "peer/map.h"

struct sv_doorbell {
	uint64_t ino;
	int fd;
};

#define SV_DOORBELLS 8

struct sv_peer {
	struct sv_peer *next;
	uint32_t slot;
	unsigned users; /* QPs, under the peers lock */
	bool self;
	_Atomic bool dead;
	pid_t pid;
	uint64_t nonce;
	int life;           /* the reading end of its pipe: hung up when the process dies, execs or closes the device */
	bool watched;       /* by the helper */
	int wake;           /* the pipe that wakes its helper */
	int fd_dir;         /* its /proc/<pid>/fd: stays bound to that process, not to the number */
	_Atomic int memory; /* its /proc/<pid>/mem, or -1 until it is needed; see vm.c */
	struct sv_segment *segment;
	pthread_mutex_t lock;
	struct sv_maps maps;
	struct sv_doorbell doorbells[SV_DOORBELLS];
	unsigned next_doorbell;
};

/*
 * Get the process that has this slot now, and hold it; NULL with errno. ESRCH: no process of this user has it. EACCES:
 * it lives, and we may not look at it (it is not dumpable, has capabilities that we lack, or is in a pid namespace
 * around ours); it may be able to look at us.
 */
struct sv_peer *sv_peer_get(uint32_t slot);
void sv_peer_put(struct sv_peer *peer);
/* Attach to a process that has the device open, without a connection to it, to set its faults. NULL with errno. */
struct sv_peer *sv_peer_visit(pid_t pid);
void sv_peer_leave(struct sv_peer *peer);
/* Has it died? Looked up now (a system call). */
bool sv_peer_check_dead(struct sv_peer *peer);
/* Is it stopped (SIGSTOP, a debugger)? Looked up now. */
bool sv_peer_is_stopped(struct sv_peer *peer);
/* Given the errno of sv_peer_get: did it fail because no process has that slot? */
bool sv_peer_is_nobody(int error);
/* Look for peers that have died since the last call; returns whether there are any. */
bool sv_peers_find_dead(void);
/*
 * Unmap the regions that are gone and that no QP uses any more. Returns the holders of the other ones that are gone,
 * which have to release them.
 */
uint64_t sv_peers_sweep(void);
/* Populate all mappings that are not populated yet. The caller holds no lock. */
void sv_peers_populate(void);
/*
 * Write one event into a pipe of the peer. If we lack the descriptor or memory to do so, the helper thread of the peer
 * is asked to look at the peer's events instead. Returns false if there is no such pipe, or if the helper was asked.
 */
bool sv_peer_ring(struct sv_peer *peer, uint32_t fd, uint64_t ino, const void *message, size_t bytes);
/* Wake its helper thread; that needs no descriptor and no memory that we may lack. */
void sv_peer_wake(struct sv_peer *peer);
/* Make all peers unmap our region with this index, which is gone. */
void sv_peers_unmap(uint32_t index);
void sv_peers_after_fork(void);

/* Is it too early to give up waiting, since `since_ns`, for a process that is stopped, or is only slow? */
bool sv_patience(uint64_t since_ns, bool stopped);
