/*
 * The process as its peers see it: a slot on the host (the upper 12 bits of its QP numbers), claimed by binding an
 * abstract socket, and a control segment. Both vanish with the process, however it ends: nothing is ever left in a file
 * system. A connection to the socket shows which process owns the slot (SO_PEERCRED), and is for nothing else: the
 * helper accepts it and closes it. The process has the only writing end of a pipe to which it never writes: the pipe is
 * hung up when the process dies, execs or closes the device, and peers that watch it cost the process nothing.
 */
#include "base/barrier.h"
#include "base/calls.h"
#include "base/lock.h"
#include "base/pipe.h"
#include "object/layout.h"
#include "object/listener.h"
#include "object/process.h"
#include "object/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Since Linux 6.3. */
#define SV_MFD_NOEXEC_SEAL 0x0008U

struct sv_process sv_process = {.lock = PTHREAD_MUTEX_INITIALIZER, .keys_lock = PTHREAD_MUTEX_INITIALIZER};

static void socket_name(uint32_t slot, struct sockaddr_un *name, unsigned *length)
{
	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	int n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "softverbs/%u/%u", (unsigned)geteuid(), slot);

	*length = (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* 0 or an errno; if it is ESRCH because another user has the slot, owner->uid is that user. */
static int look_at_owner(uint32_t slot, struct ucred *owner)
{
	struct sockaddr_un name;
	unsigned length;
	socklen_t size = sizeof(*owner);
	int error = 0, fd = sv_socket();

	if (fd < 0)
		return errno;
	socket_name(slot, &name, &length);

	if (connect(fd, (struct sockaddr *)&name, length) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, owner, &size))
		error = errno == EPERM ? EACCES : errno; /* a security module's EPERM says nothing of the user */
	else if (owner->uid != geteuid())
		error = ESRCH;
	else if (owner->pid <= 0)
		error = EACCES; /* in a pid namespace that we do not see, and that may see ours */
	close(fd);
	/* A process that has not accepted its connections yet, or one of another user, which need never accept them. */
	if (error == EAGAIN &&
	    sv_listener_user(name.sun_path + 1, length - offsetof(struct sockaddr_un, sun_path) - 1, &owner->uid) == 0 &&
	    owner->uid != geteuid())
		error = ESRCH;
	return error;
}

int sv_slot_owner(uint32_t slot, pid_t *pid)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct ucred owner = {.uid = geteuid()};
	int error = look_at_owner(slot, &owner);

	if (error == ESRCH && !atomic_flag_test_and_set(&said))
		fprintf(stderr,
		    "softverbs: the name of a socket softverbs/%u/%u is taken by user %u: the process of this user that had it "
		    "is "
		    "gone, and what it had is not there (ss -xap lists who has it)\n",
		    (unsigned)geteuid(), slot, (unsigned)owner.uid);
	errno = error;
	*pid = owner.pid;
	return error ? -1 : 0;
}

/* Report that all names are taken, which any process of any user may do. */
static void say_taken(void)
{
	unsigned others = 0;

	for (uint32_t slot = 1; slot < SV_SLOTS; slot++) {
		struct ucred owner = {0};
		int error = look_at_owner(slot, &owner);

		others += error == ESRCH || error == ECONNREFUSED || error == EAGAIN;
	}
	fprintf(stderr,
	    "softverbs: all %u names of sockets, softverbs/%u/1 and so on, are taken, %u of them not by this user's "
	    "devices: "
	    "end the processes that have them (ss -xap lists them), or use a network namespace of your own\n",
	    SV_SLOTS - 1, (unsigned)geteuid(), others);
}

/* Bind the first free slot after a random one. Slot 0 is skipped: QP numbers 0 and 1 are special. */
static int claim_slot(void)
{
	uint32_t start = 0;

	if (getrandom(&start, sizeof(start), 0) != sizeof(start))
		return errno;
	int fd = sv_socket();
	if (fd < 0)
		return errno;
	for (uint32_t i = 0; i < SV_SLOTS; i++) {
		uint32_t slot = (start + i) % SV_SLOTS;
		struct sockaddr_un name;
		unsigned length;

		if (slot == 0)
			continue;
		socket_name(slot, &name, &length);
		if (bind(fd, (struct sockaddr *)&name, length) == 0) {
			sv_process.slot = slot;
			sv_process.listener = fd;
			return 0;
		}
		if (errno != EADDRINUSE)
			break;
	}
	int error = errno;

	close(fd);
	if (error == EADDRINUSE)
		say_taken();
	return error;
}

static int create_segment(void)
{
	char name[32];

	/* the name lets a peer find the descriptor among ours */
	snprintf(name, sizeof(name), "softverbs-%u", sv_process.slot);
	int fd = sv_memfd_create(name, MFD_ALLOW_SEALING);
	if (fd < 0 && errno == EACCES) /* vm.memfd_noexec is 2 */
		fd = sv_memfd_create(name, MFD_ALLOW_SEALING | SV_MFD_NOEXEC_SEAL);
	if (fd < 0)
		return errno;
	void *at = MAP_FAILED;

	if (ftruncate(fd, SV_SEGMENT_SIZE) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		at = sv_mmap(SV_SEGMENT_SIZE, MAP_NORESERVE, fd, 0);
	if (at == MAP_FAILED) {
		int error = errno;

		close(fd);
		return error;
	}
	madvise(at, SV_SEGMENT_SIZE, MADV_DONTFORK);
	madvise(at, SV_SEGMENT_SIZE, MADV_DONTDUMP);
	sv_process.segment_fd = fd;
	sv_process.segment = at;
	return 0;
}

static int publish(void)
{
	struct sv_header *header = &sv_process.segment->header;
	struct stat st;

	if (getrandom(&header->nonce, sizeof(header->nonce), 0) != sizeof(header->nonce))
		return errno;
	if (fstat(sv_process.wake_read, &st))
		return errno;
	header->abi = SV_ABI;
	header->slot = sv_process.slot;
	header->self = (uint64_t)(uintptr_t)sv_process.segment;
	header->wake_fd = (uint32_t)sv_process.wake_read;
	header->wake_ino = st.st_ino;
	header->life_fd = (uint32_t)sv_process.life_write;
	header->life_ino = sv_process.life_ino;
	atomic_store_explicit(&header->magic, SV_MAGIC, memory_order_release);
	/* only from here on can peers find us, and all is complete */
	return listen(sv_process.listener, SOMAXCONN) ? errno : 0;
}

static void no_descriptors(void)
{
	sv_process.life_write = sv_process.listener = sv_process.segment_fd = -1;
	sv_process.wake_read = sv_process.wake_write = -1;
}

/* In this order: when another process gets our slot, no peer may still take us for alive. */
static void close_descriptors(void)
{
	const int fds[] = {
	    sv_process.life_write, sv_process.listener, sv_process.segment_fd, sv_process.wake_read, sv_process.wake_write};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	no_descriptors();
}

void sv_process_release(void)
{
	sv_segment_destroy();
	close_descriptors();
	if (sv_process.segment)
		munmap(sv_process.segment, SV_SEGMENT_SIZE);
	sv_process.segment = NULL;
}

/* We keep only the writing end: peers open the reading end for themselves. */
static int create_life(void)
{
	int life[2];
	int error = sv_pipe(life, false, &sv_process.life_ino);

	if (error)
		return error;
	close(life[0]);
	sv_process.life_write = life[1];
	return 0;
}

int sv_process_create(void)
{
	uint64_t ino;
	int wake[2] = {-1, -1};
	int error;

	no_descriptors();
	sv_process.segment = NULL;
	sv_process.port_changes = sv_process.ports_down = 0;
	if ((error = sv_barrier_init()))
		return error;
	/* the pipe comes before the socket, since a process that ends closes its descriptors from the lowest on */
	if ((error = create_life()) || (error = claim_slot())) {
		close_descriptors();
		return error;
	}
	/*
	 * The next process that gets this slot should not repeat our numbers. And two processes that both start at 0 would
	 * use the same lines of their segments, which collide in caches that are indexed by a hash of the address.
	 */
	uint32_t start[4] = {0};

	if (getrandom(start, sizeof(start), 0) == sizeof(start)) {
		sv_process.next_qp = start[0];
		sv_process.mr_generation = (uint8_t)start[1];
		sv_process.next_pd = start[1] >> 8;
		sv_process.next_mr = start[2];
		sv_process.next_cq = start[3];
		sv_process.next_srq = start[3] >> 16;
	}
	if ((error = sv_pipe(wake, true, &ino)) == 0) {
		sv_process.wake_read = wake[0];
		sv_process.wake_write = wake[1];
		if ((error = create_segment()) == 0 && (error = sv_segment_init(sv_process.segment_fd)) == 0)
			error = publish();
	}
	if (error)
		sv_process_release();
	return error;
}

void sv_process_forget(void)
{
	close_descriptors();
	memset(&sv_process, 0, sizeof(sv_process));
	pthread_mutex_init(&sv_process.lock, NULL);
	pthread_mutex_init(&sv_process.keys_lock, NULL);
}
