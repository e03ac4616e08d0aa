/*
 * Takes turns for ./farheap bench peers: UCX's one-sided operations over shared memory, one after another. A put is
 * done if a flush of its endpoint is, so that its value is in the other process's memory, and each operation is timed
 * by itself. ucx_perftest's put is half of a ping-pong, in which each side waits for the other's store. Compiled by the
 * benchmark, against the user's UCX.
 *
 *   ucx_flush                   prints "ready", then takes lines from its standard input:
 *     put|get BYTES NANOS       carries out operations for so long; answers MEDIAN P99 OPERATIONS WRONG, in ns
 *
 * The median is without the cost of reading the clock, and the 99th percentile with it. WRONG is 1 if the last value
 * that was put is not the one that is got. The memory belongs to a child process, which progresses UCX during a turn
 * and sleeps otherwise. It ends with this process, and that with its input.
 */
#include <ucp/api/ucp.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES (1 << 20)
#define MOST_SAMPLES (1 << 18)
#define ADDRESS_ROOM 8192
#define REST_MICROS 1000
#define PROGRESS_BETWEEN_LOOKS 10000
#define CLOCK_SAMPLES 10001
#define PERCENTILE_99 0.99

/* Between the two processes. The child writes all but `spin`, and then `ready`. */
struct shared {
	atomic_int ready;
	atomic_int spin;
	uint64_t memory;
	size_t worker_bytes, key_bytes;
	char worker[ADDRESS_ROOM], key[ADDRESS_ROOM];
};

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h endpoint;
static ucp_rkey_h key;
static uint64_t remote;
static char *value, *fetched;
static uint32_t samples[MOST_SAMPLES];
static const ucp_request_param_t no_options;

static void check(ucs_status_t status, const char *what)
{
	if (status == UCS_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
	exit(1);
}

static void open_worker(void)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
	ucp_worker_params_t worker_params = {
	    .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_config_t *config;
	check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
	check(ucp_init(&params, config, &context), "ucp_init");
	ucp_config_release(config);
	check(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
}

/* Memory that UCX allocates, so that another process can map it. */
static void *allocate(size_t bytes, ucp_mem_h *memory)
{
	ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
	    .length = bytes,
	    .flags = UCP_MEM_MAP_ALLOCATE};
	ucp_mem_attr_t attributes = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	check(ucp_mem_map(context, &params, memory), "ucp_mem_map");
	check(ucp_mem_query(*memory, &attributes), "ucp_mem_query");
	return attributes.address;
}

static void keep(void *to, size_t *kept, const void *from, size_t bytes)
{
	if (bytes > ADDRESS_ROOM) {
		fprintf(stderr, "an address of UCX's has %zu bytes\n", bytes);
		exit(1);
	}
	memcpy(to, from, bytes);
	*kept = bytes;
}

static void serve(struct shared *shared)
{
	ucp_mem_h memory;
	ucp_address_t *address;
	size_t bytes;
	void *packed;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_worker();
	shared->memory = (uintptr_t)allocate(MOST_BYTES, &memory);
	check(ucp_worker_get_address(worker, &address, &bytes), "ucp_worker_get_address");
	keep(shared->worker, &shared->worker_bytes, address, bytes);
	check(ucp_rkey_pack(context, memory, &packed, &bytes), "ucp_rkey_pack");
	keep(shared->key, &shared->key_bytes, packed, bytes);
	atomic_store(&shared->ready, 1);
	for (;;) {
		for (int i = 0; i < PROGRESS_BETWEEN_LOOKS; i++)
			ucp_worker_progress(worker);
		if (!atomic_load(&shared->spin))
			usleep(REST_MICROS);
	}
}

static void connect_to(struct shared *shared)
{
	ucp_ep_params_t params = {
	    .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (const ucp_address_t *)shared->worker};
	ucp_mem_h memory;
	open_worker();
	value = allocate(2 * MOST_BYTES, &memory);
	fetched = value + MOST_BYTES;
	check(ucp_ep_create(worker, &params, &endpoint), "ucp_ep_create");
	check(ucp_ep_rkey_unpack(endpoint, shared->key, &key), "ucp_ep_rkey_unpack");
	remote = shared->memory;
}

static void await(void *request)
{
	if (request == NULL)
		return;
	if (UCS_PTR_IS_ERR(request))
		check(UCS_PTR_STATUS(request), "an operation");
	ucs_status_t status;
	while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
		ucp_worker_progress(worker);
	ucp_request_free(request);
	check(status, "an operation");
}

static void put(size_t bytes)
{
	await(ucp_put_nbx(endpoint, value, bytes, remote, key, &no_options));
	await(ucp_ep_flush_nbx(endpoint, &no_options));
}

static void get(size_t bytes)
{
	await(ucp_get_nbx(endpoint, fetched, bytes, remote, key, &no_options));
}

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	return (one > other) - (one < other);
}

static uint32_t clock_cost(void)
{
	static uint32_t costs[CLOCK_SAMPLES];
	for (int i = 0; i < CLOCK_SAMPLES; i++) {
		int64_t begun = now();
		costs[i] = (uint32_t)(now() - begun);
	}
	qsort(costs, CLOCK_SAMPLES, sizeof(*costs), by_size);
	return costs[CLOCK_SAMPLES / 2];
}

static void turn(int puts, size_t bytes, int64_t nanos, uint32_t clock_nanos)
{
	static uint64_t turns;
	int count = 0;
	uint64_t word = ++turns * UINT64_C(0x9E3779B97F4A7C15);
	for (size_t i = 0; i < bytes; i++)
		value[i] = (char)(word >> (8 * (i % 8)));
	put(bytes);
	int64_t begun = now(), last = begun;
	do {
		if (puts)
			put(bytes);
		else
			get(bytes);
		int64_t ended = now();
		samples[count++] = (uint32_t)(ended - last);
		/* Read again, so that an operation does not pay for the loop. */
		last = now();
	} while (last - begun < nanos && count < MOST_SAMPLES);
	memset(fetched, 0, bytes);
	get(bytes);
	int wrong = memcmp(value, fetched, bytes) != 0;
	qsort(samples, count, sizeof(*samples), by_size);
	uint32_t median = samples[count / 2];
	printf("%u %u %d %d\n", median > clock_nanos ? median - clock_nanos : 0, samples[(int)(count * PERCENTILE_99)],
	    count, wrong);
	fflush(stdout);
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char operation[8];
	size_t bytes;
	long long nanos;
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	/* Before UCX begins, which has threads. */
	pid_t child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0) {
		serve(shared);
		return 0;
	}
	while (!atomic_load(&shared->ready)) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return 1;
		usleep(REST_MICROS);
	}
	connect_to(shared);
	uint32_t clock_nanos = clock_cost();
	printf("ready\n");
	fflush(stdout);
	while (scanf("%7s %zu %lld", operation, &bytes, &nanos) == 3 && bytes >= 1 && bytes <= MOST_BYTES) {
		atomic_store(&shared->spin, 1);
		turn(strcmp(operation, "put") == 0, bytes, nanos, clock_nanos);
		atomic_store(&shared->spin, 0);
	}
	kill(child, SIGKILL);
	return 0;
}
