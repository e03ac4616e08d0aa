#include "base/calls.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[SV_CALLS] = {"open", "openat", "mmap", "dup", "pipe", "socket", "accept", "memfd",
    "epoll", "membarrier", "pread", "pwrite", "write", "malloc", "thread"};

_Atomic uint64_t sv_calls_left[SV_CALLS];

bool sv_call_counts(enum sv_call call)
{
	uint64_t left = atomic_load(&sv_calls_left[call]);

	while (left && !atomic_compare_exchange_weak(&sv_calls_left[call], &left, left - 1))
		;
	return left == 1;
}

bool sv_is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS || error == ENOSPC;
}

int sv_calls_fault_at(const char *setting)
{
	const char *colon = strchr(setting, ':');
	char *end;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return EINVAL;
	uint64_t n = strtoull(colon + 1, &end, 10);

	for (int call = 0; !*end && call < SV_CALLS; call++)
		if (strlen(names[call]) == (size_t)(colon - setting) &&
		    strncmp(names[call], setting, strlen(names[call])) == 0) {
			atomic_store(&sv_calls_left[call], n);
			return 0;
		}
	return EINVAL;
}

void sv_calls_describe(char *text, size_t room)
{
	size_t at = 0;

	text[0] = 0;
	for (int call = 0; call < SV_CALLS && at < room; call++) {
		uint64_t left = atomic_load(&sv_calls_left[call]);

		if (left)
			at += (size_t)snprintf(text + at, room - at, ", fault_at=%s:%lu", names[call], left);
	}
}
