/*
 * Faults of one device. They are written into the control segment of its process, where that process and its peers read
 * them; see path/port.c. So a device is slow, loses, corrupts or is cut off for every process that reaches it,
 * whichever process asked for the fault.
 */
#include "base/clock.h"
#include "fault/ports.h"
#include "object/layout.h"
#include "object/process.h"
#include "path/port.h"
#include "peer/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long we wait for another process to follow: it may be stopped, or have no peer connected. */
#define FOLLOW_NS 200000000ull
#define LOOK_NS 100000

static struct {
	struct sv_segment *segment; /* of the process that has the devices; NULL: none are selected */
	struct sv_peer *peer;       /* the process; NULL: this one */
	uint32_t devices;           /* the selected ones, a bit each */
} selected;

uint32_t sv_ppm(const char *fraction)
{
	double value = strtod(fraction, NULL);

	return !(value > 0) ? 0 : value >= 1 ? 1000000 : (uint32_t)(value * 1e6 + 0.5);
}

uint64_t sv_late_ns(const char *straggler)
{
	const char *colon = strchr(straggler, ':');

	return colon ? strtoull(colon + 1, NULL, 0) : 100000;
}

/* The bit of softN, or 0. */
static uint32_t device_bit(const char *name)
{
	char *end;

	if (strncmp(name, "soft", 4) != 0 || name[4] < '0' || name[4] > '9')
		return 0;
	unsigned long index = strtoul(name + 4, &end, 10);

	return *end || index >= SV_DEVICES ? 0 : 1u << index;
}

static int select_process(long pid)
{
	if (pid == getpid()) {
		selected.segment = sv_process.segment;
		return selected.segment ? 0 : ENODEV;
	}
	selected.peer = sv_peer_visit((pid_t)pid);
	if (!selected.peer)
		return errno == ENOENT ? ESRCH : errno;
	selected.segment = selected.peer->segment;
	return 0;
}

int sv_port_select(const char *which)
{
	const char *name = which;
	char *end;
	long pid = strtol(which, &end, 10);

	sv_port_apply();
	selected.devices = UINT32_MAX;
	if (end == which)
		pid = getpid();
	else
		name = *end == '/' ? end + 1 : end;
	if (pid <= 0 || pid > INT32_MAX || (*name && !(selected.devices = device_bit(name))))
		return EINVAL;
	return select_process(pid);
}

bool sv_port_is_selected(void)
{
	return selected.segment;
}

static int set(struct sv_port *port, const char *key, const char *value)
{
	if (strcmp(key, "link") == 0) {
		if (strcmp(value, "down") != 0 && strcmp(value, "up") != 0)
			return EINVAL;
		atomic_store(&port->down, value[0] == 'd');
	} else if (strcmp(key, "straggler") == 0) {
		atomic_store(&port->straggler_ppm, sv_ppm(value));
		atomic_store(&port->straggler_ns, sv_late_ns(value));
	} else if (strcmp(key, "lose") == 0) {
		atomic_store(&port->lose_ppm, sv_ppm(value));
	} else if (strcmp(key, "corrupt") == 0) {
		atomic_store(&port->corrupt_ppm, sv_ppm(value));
	} else if (strcmp(key, "corrupt_read") == 0) {
		atomic_store(&port->corrupt_read_ppm, sv_ppm(value));
	} else {
		return EINVAL;
	}
	atomic_store(&port->faulty,
	    port->down || port->straggler_ppm || port->lose_ppm || port->corrupt_ppm || port->corrupt_read_ppm);
	return 0;
}

int sv_port_set(const char *key, const char *value)
{
	for (uint32_t i = 0; i < SV_DEVICES; i++) {
		int error = selected.devices >> i & 1 ? set(&selected.segment->header.ports[i], key, value) : 0;

		if (error)
			return error;
	}
	return 0;
}

static void await_peer(uint32_t change)
{
	const struct timespec look = {0, LOOK_NS};
	struct sv_header *header = &selected.segment->header;
	uint64_t until = sv_now_ns() + FOLLOW_NS;

	sv_peer_wake(selected.peer);
	while ((int32_t)(atomic_load(&header->ports_followed) - change) < 0 && sv_now_ns() < until)
		nanosleep(&look, NULL);
}

void sv_port_apply(void)
{
	if (!selected.segment)
		return;
	uint32_t change = atomic_fetch_add(&selected.segment->header.port_changes, 1) + 1;

	if (selected.peer) {
		await_peer(change);
		sv_peer_leave(selected.peer);
	} else {
		sv_ports_follow();
	}
	selected.segment = NULL;
	selected.peer = NULL;
}
