/* What wakes the helper thread, and starts and stops it. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

/* What the thread is to do: until it is stopping, wait and see to what woke it. */
void sv_watch_init(void *(*body)(void *));
extern _Atomic bool sv_watch_stopping;
/* Until something happens, or so long; -1: for ever. Whether something did. For the helper alone. */
bool sv_watch_wait(int timeout_ms);

int sv_watch_start(void); /* 0 or errno; idempotent */
void sv_watch_stop(void);
/* Wake it. */
void sv_watch_wake(void);
/* Be woken, too, when the other end of this pipe is closed; 0 or errno. -1: no pipe. */
int sv_watch_add(int fd);
void sv_watch_remove(int fd);
void sv_watch_after_fork(void);
