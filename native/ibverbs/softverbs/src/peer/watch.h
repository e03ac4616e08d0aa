/* Starting, stopping and waking the helper thread. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

/* `body` is what the thread runs: until sv_watch_stopping, it calls sv_watch_wait and does what is due. */
void sv_watch_init(void *(*body)(void *));
extern _Atomic bool sv_watch_stopping;
/*
 * Wait until the helper is woken, or for timeout_ms; -1: without limit. Returns whether it was woken. For the helper
 * alone.
 */
bool sv_watch_wait(int timeout_ms);

int sv_watch_start(void); /* 0 or errno; idempotent */
void sv_watch_stop(void);
/* Wake the helper. */
void sv_watch_wake(void);
/* Wake the helper also when the other end of this pipe is closed. Returns 0 or errno. fd -1: no pipe. */
int sv_watch_add(int fd);
void sv_watch_remove(int fd);
void sv_watch_after_fork(void);
