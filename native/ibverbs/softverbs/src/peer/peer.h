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
	int life;           /* the reading end of its pipe: hangs up when the process dies, execs or closes the device */
	bool watched;       /* by the helper */
	int wake;           /* the pipe that wakes its helper */
	int fd_dir;         /* its /proc/<pid>/fd: bound to that process, not to the number */
	_Atomic int memory; /* its /proc/<pid>/mem, or -1 until it is needed; see vm.c */
	struct sv_segment *segment;
	pthread_mutex_t lock;
	struct sv_maps maps;
	struct sv_doorbell doorbells[SV_DOORBELLS];
	unsigned next_doorbell;
};

/*
 * The process that has this slot now, or NULL with errno. ESRCH: none of this user. EACCES: it lives, and we may not
 * look at it (it is not dumpable, has capabilities that we lack, is in a pid namespace around ours); it may look at us.
 */
struct sv_peer *sv_peer_get(uint32_t slot);
void sv_peer_put(struct sv_peer *peer);
/* A process that has the device open, to whom nobody is connected here: to set its faults. NULL with errno. */
struct sv_peer *sv_peer_visit(pid_t pid);
void sv_peer_leave(struct sv_peer *peer);
/* Whether it died, looked up now (a system call). */
bool sv_peer_check_dead(struct sv_peer *peer);
/* Whether it is stopped (SIGSTOP, a debugger), looked up now. */
bool sv_peer_is_stopped(struct sv_peer *peer);
/* Did sv_peer_get fail so because no process has that slot? */
bool sv_peer_is_nobody(int error);
/* Look for peers that died since; whether there are new ones. */
bool sv_peers_find_dead(void);
/* Unmap what no QP uses any more of regions that are gone; the holders of the rest, which are to let go of it. */
uint64_t sv_peers_sweep(void);
/* Populate what was mapped and not populated. Holding no lock. */
void sv_peers_populate(void);
/*
 * Write one event into a pipe of the peer. If we lack what it takes to open that, the peer's helper is asked to see to
 * the peer's events. False: there is no such pipe, or it was the helper that was told.
 */
bool sv_peer_ring(struct sv_peer *peer, uint32_t fd, uint64_t ino, const void *message, size_t bytes);
/* Have its helper look around; that takes nothing that we may lack. */
void sv_peer_wake(struct sv_peer *peer);
/* All of them: the region of ours with this index is gone, and they are to unmap it. */
void sv_peers_unmap(uint32_t index);
void sv_peers_after_fork(void);

/* Is it too early to give up on somebody, waited for since then, who is stopped or only slow? */
bool sv_patience(uint64_t since_ns, bool stopped);
