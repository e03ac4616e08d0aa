/* The helper thread. */
#pragma once

struct sv_peer;

int sv_watch_start(void); /* 0 or errno; idempotent */
void sv_watch_add(struct sv_peer *peer);
void sv_watch_remove(struct sv_peer *peer);
void sv_watch_stop(void);
void sv_watch_wake(void);
void sv_watch_after_fork(void);
