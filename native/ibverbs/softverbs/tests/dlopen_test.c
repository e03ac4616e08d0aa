/* Loaded as the JVM's shim loads it: no libibverbs, nothing in the global scope, and gone after the last use. */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, dlerror()); \
			exit(1); \
		} \
	} while (0)

static int mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, name) != NULL;
	if (maps)
		fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	for (int round = 0; round < 3; round++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

		CHECK(library);
		struct ibv_device **(*list)(int *) = (struct ibv_device * *(*)(int *)) dlsym(library, "ibv_get_device_list");
		void (*free_list)(struct ibv_device **) =
		    (void (*)(struct ibv_device **))dlsym(library, "ibv_free_device_list");
		struct ibv_context *(*open)(struct ibv_device *) =
		    (struct ibv_context * (*)(struct ibv_device *)) dlsym(library, "ibv_open_device");
		int (*close)(struct ibv_context *) = (int (*)(struct ibv_context *))dlsym(library, "ibv_close_device");
		int (*query)(struct ibv_context *, uint8_t, void *) =
		    (int (*)(struct ibv_context *, uint8_t, void *))dlsym(library, "ibv_query_port");

		CHECK(list && free_list && open && close && query);
		CHECK(!dlsym(RTLD_DEFAULT, "ibv_open_device"));
		struct ibv_device **devices = list(NULL);
		struct ibv_context *context = open(devices[0]);
		struct ibv_port_attr attr;

		memset(&attr, 0x77, sizeof(attr));
		CHECK(context);
		CHECK(query(context, 1, &attr) == 0);
		CHECK(attr.state == IBV_PORT_ACTIVE);
		/* the plain symbol fills the old, shorter structure */
		CHECK(attr.port_cap_flags2 == 0x7777);
		CHECK(context->ops.post_send && context->ops.poll_cq);
		CHECK(close(context) == 0);
		free_list(devices);
		CHECK(!mapped("libibverbs"));
		CHECK(dlclose(library) == 0);
		CHECK(!mapped("libsoftverbs"));
		CHECK(!mapped("memfd:softverbs"));
	}
	printf("  opened, used and unloaded three times, without libibverbs\n");
	return 0;
}
