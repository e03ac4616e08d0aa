/*
 * What ISA-L costs a program in C: the figures beside those of src/jmh's CoderBenchmark. It finds the library as the
 * JVM does, needs none of its headers, and prints one median over rounds for each operation, in ns.
 *
 *   coding_loop [BYTES of a split, 512] [K, 8] [R, 2]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_K = 16, MOST_R = 4, ROUNDS = 101, REPEATS = 20000, TABLE = 32 };

static void (*init_tables)(int k, int rows, unsigned char *factors, unsigned char *tables);
static void (*encode)(int bytes, int k, int rows, unsigned char *tables, unsigned char **from, unsigned char **to);
static int (*sum)(int vectors, int bytes, void **array);
static int (*invert)(unsigned char *in, unsigned char *out, const int n);
static void (*cauchy)(unsigned char *matrix, int rows, int k);

static int bytes = 512, k = 8, r = 2;
static unsigned char *splits[MOST_K + MOST_R];
static unsigned char matrix[(MOST_K + MOST_R) * MOST_K];
static unsigned char tables[TABLE * MOST_K * MOST_R];

static void encode_all(void)
{
	encode(bytes, k, r, tables, splits, splits + k);
}

/* Of k splits, by tables that are there: what a decode of one is, or of two. */
static void decode_one(void)
{
	encode(bytes, k, 1, tables + TABLE * k, splits, splits + k);
}

static void decode_two(void)
{
	encode(bytes, k, 2, tables, splits, splits + k);
}

static void sum_of_all(void)
{
	sum(k + 1, bytes, (void **)splits);
}

/* The first two lost, and nothing kept. */
static void invert_and_decode_two(void)
{
	unsigned char rows[MOST_K * MOST_K], inverse[MOST_K * MOST_K], made[TABLE * MOST_K * 2];

	memcpy(rows, matrix + 2 * k, (size_t)k * (size_t)k);
	invert(rows, inverse, k);
	init_tables(k, 2, inverse, made);
	encode(bytes, k, 2, made, splits, splits + k);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double nanos[5][ROUNDS];

static void measure(double *into, void (*operation)(void))
{
	double start = now();

	for (int i = 0; i < REPEATS; i++)
		operation();
	*into = (now() - start) / REPEATS;
}

static void *find(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol) {
		fprintf(stderr, "coding_loop: libisal has no %s\n", name);
		exit(1);
	}
	return symbol;
}

static void load(void)
{
	void *library = dlopen("libisal.so.2", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "coding_loop: %s; on Debian: sudo apt-get install libisal2\n", dlerror());
		exit(1);
	}
	*(void **)&init_tables = find(library, "ec_init_tables");
	*(void **)&encode = find(library, "ec_encode_data");
	*(void **)&sum = find(library, "xor_gen");
	*(void **)&invert = find(library, "gf_invert_matrix");
	*(void **)&cauchy = find(library, "gf_gen_cauchy1_matrix");
}

int main(int argc, char **argv)
{
	static void (*const operations[])(void) = {encode_all, decode_one, decode_two, sum_of_all, invert_and_decode_two};
	static const char *const names[] = {"encode", "decode of one lost", "decode of two lost",
	    "exclusive-or of k splits", "decode of two lost, inverting each time"};

	if (argc > 1)
		bytes = atoi(argv[1]);
	if (argc > 2)
		k = atoi(argv[2]);
	if (argc > 3)
		r = atoi(argv[3]);
	if (bytes < 64 || bytes % 64 || bytes > 1 << 20 || k < 2 || k > MOST_K || r < 2 || r > MOST_R) {
		fprintf(stderr, "coding_loop: splits have a multiple of 64 bytes, 64 to 1 MiB; k is 2 to %d, r 2 to %d\n",
		    MOST_K, MOST_R);
		return 1;
	}
	load();
	for (int i = 0; i < k + r; i++) {
		splits[i] = aligned_alloc(64, (size_t)bytes);
		if (!splits[i])
			return 1;
		memset(splits[i], i + 7, (size_t)bytes);
	}
	cauchy(matrix, k + r, k);
	init_tables(k, r, matrix + k * k, tables);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 5; i++)
			measure(&nanos[i][round], operations[i]);
	printf("%d+%d, splits of %d bytes, ns: median, and the middle half of %d rounds\n", k, r, bytes, ROUNDS);
	for (int i = 0; i < 5; i++) {
		qsort(nanos[i], ROUNDS, sizeof(double), ascending);
		printf("%-42s %7.0f  %7.0f to %.0f\n", names[i], nanos[i][ROUNDS / 2], nanos[i][ROUNDS / 4],
		    nanos[i][3 * ROUNDS / 4]);
	}
	return 0;
}
