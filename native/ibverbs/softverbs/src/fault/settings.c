/* The settings of the device: SOFTVERBS in the environment, softverbs_control(), softverbs_describe(). */
#include "base/calls.h"
#include "base/macros.h"
#include "fault/faults.h"
#include "fault/ports.h"
#include "fault/settings.h"
#include "model/config.h"
#include "object/layout.h"
#include "path/port.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_model_number(uint64_t *field, double value)
{
	*field = (uint64_t)value;
	if (!sv_config.model_name[0])
		strcpy(sv_config.model_name, "custom");
	if (sv_config.bytes_per_ns == 0)
		sv_config.bytes_per_ns = 100.0 / 8;
	atomic_store(&sv_config.model, true);
	return 0;
}

static int set(const char *key, const char *value)
{
	double number = strtod(value, NULL);

	if (strcmp(key, "at") == 0)
		return sv_port_select(value);
	if (sv_port_is_selected())
		return sv_port_set(key, value);
#define IS(name) (strcmp(key, name) == 0)
	if (IS("order")) {
		if (strcmp(value, "weak") != 0 && strcmp(value, "strict") != 0)
			return EINVAL;
		atomic_store(&sv_config.weak, value[0] == 'w');
	} else if (IS("seed")) {
		sv_config.seed = strtoull(value, NULL, 0);
		sv_random_seed(sv_config.seed);
	} else if (IS("devices")) {
		if (!(number >= 1 && number <= SV_DEVICES))
			return EINVAL;
		sv_config.devices = (uint32_t)number;
	} else if (IS("fabric")) {
		if (strcmp(value, "roce") != 0 && strcmp(value, "infiniband") != 0)
			return EINVAL;
		atomic_store(&sv_config.roce, value[0] == 'r');
	} else if (IS("model")) {
		return sv_model_preset(value);
	} else if (IS("latency")) {
		return set_model_number(&sv_config.latency, number);
	} else if (IS("message")) {
		return set_model_number(&sv_config.message, number);
	} else if (IS("fetch")) {
		return set_model_number(&sv_config.fetch, number);
	} else if (IS("jitter")) {
		return set_model_number(&sv_config.jitter, number);
	} else if (IS("gbps")) {
		if (number <= 0)
			return EINVAL;
		sv_config.bytes_per_ns = number / 8;
		atomic_store(&sv_config.model, true);
	} else if (IS("inline")) {
		sv_config.max_inline = (uint32_t)number;
	} else if (IS("depth")) {
		sv_config.max_depth = (uint32_t)number;
	} else if (IS("misses")) {
		sv_config.allow_misses = strcmp(value, "allow") == 0;
	} else if (IS("link")) {
		if (strcmp(value, "down") != 0 && strcmp(value, "up") != 0)
			return EINVAL;
		sv_link_change(value[0] == 'd');
	} else if (IS("nic")) {
		if (strcmp(value, "gone") != 0)
			return EINVAL;
		sv_nic_gone();
	} else if (IS("straggler")) { /* FRACTION:NANOSECONDS */
		atomic_store(&sv_config.straggler_ppm, sv_ppm(value));
		atomic_store(&sv_config.straggler_ns, sv_late_ns(value));
	} else if (IS("corrupt")) {
		atomic_store(&sv_config.corrupt_ppm, sv_ppm(value));
	} else if (IS("corrupt_read")) {
		atomic_store(&sv_config.corrupt_read_ppm, sv_ppm(value));
	} else if (IS("qp_error_after")) {
		atomic_store(&sv_config.qp_error_after, (uint64_t)number);
	} else if (IS("memlock")) {
		atomic_store(&sv_config.memlock, (uint64_t)number);
	} else if (IS("fault_at")) { /* CALL:N */
		return sv_calls_fault_at(value);
	} else {
		return EINVAL;
	}
#undef IS
	return 0;
}

static int apply(char *text)
{
	char *rest = NULL;

	for (char *item = strtok_r(text, ", \t\n", &rest); item; item = strtok_r(NULL, ", \t\n", &rest)) {
		char *equals = strchr(item, '=');
		int error = EINVAL;

		if (item[0] == '#')
			continue;
		if (equals) {
			*equals = 0;
			error = set(item, equals + 1);
			*equals = '=';
		}
		if (error) {
			if (error == EINVAL)
				fprintf(stderr, "softverbs: cannot make sense of the setting \"%s\"\n", item);
			else
				fprintf(stderr, "softverbs: the setting \"%s\" fails: %s\n", item, strerror(error));
			sv_port_apply();
			return error;
		}
	}
	sv_port_apply();
	atomic_store(&sv_config.delayed, sv_config.weak || sv_config.model || sv_config.link_down ||
	                                     sv_config.straggler_ppm || sv_config.corrupt_ppm ||
	                                     sv_config.corrupt_read_ppm || sv_config.qp_error_after);
	return 0;
}

/* At run time: "straggler=0.01:200000", "link=down", "order=strict", ...; 0 or errno. */
SV_API int softverbs_control(const char *settings)
{
	static pthread_mutex_t controlling = PTHREAD_MUTEX_INITIALIZER;
	char *copy = sv_strdup(settings);

	if (!copy)
		return ENOMEM;
	pthread_mutex_lock(&controlling);
	int error = apply(copy);

	sv_qps_update();
	pthread_mutex_unlock(&controlling);
	free(copy);
	return error;
}

/* For reports: which settings of this device are on. */
SV_API const char *softverbs_describe(void)
{
	static char text[600];
	char faults[320];

	sv_calls_describe(faults, sizeof(faults));
	if (sv_config.model)
		snprintf(text, sizeof(text), "softverbs, NIC model %s (%lu ns one way, %lu ns per message, %.0f Gbit/s)%s%s",
		    sv_config.model_name, sv_config.latency, sv_config.message, sv_config.bytes_per_ns * 8,
		    sv_config.weak ? ", order=weak" : "", faults);
	else
		snprintf(text, sizeof(text), "softverbs%s%s", sv_config.weak ? ", order=weak" : "", faults);
	return text;
}

/*
 * For benchmarks: how many operations of this process that can be late (all but READs) the model has timed so far, and
 * how many of those were late; then the constants of the model: nanoseconds one way, per message and to fetch a
 * payload, and picoseconds per byte. Zeros if there is no model.
 */
SV_API void softverbs_model(uint64_t numbers[6])
{
	memset(numbers, 0, 6 * sizeof(*numbers));
	if (!sv_config.model)
		return;
	sv_model_counted(&numbers[0], &numbers[1]);
	numbers[2] = sv_config.latency;
	numbers[3] = sv_config.message;
	numbers[4] = sv_config.fetch;
	numbers[5] = (uint64_t)(1000 / sv_config.bytes_per_ns);
}

static int load_file(const char *path)
{
	char text[4096];
	FILE *file = sv_fopen(path);

	if (!file) {
		int error = errno;

		fprintf(stderr, "softverbs: cannot read %s: %s\n", path, strerror(error));
		return error;
	}
	size_t n = fread(text, 1, sizeof(text) - 1, file);

	fclose(file);
	text[n] = 0;
	return apply(text);
}

int sv_config_load(void)
{
	static bool loaded;
	static int error;
	const char *text = getenv("SOFTVERBS");

	if (loaded || !text || !*text)
		return error;
	sv_config.seed = (uint64_t)getpid();
	sv_random_seed(sv_config.seed);
	if (text[0] == '@') {
		error = load_file(text + 1);
	} else {
		char *copy = sv_strdup(text);

		error = copy ? apply(copy) : ENOMEM;
		free(copy);
	}
	/* a shortage passes, so the settings are read again at the next attempt */
	loaded = !sv_is_shortage(error);
	if (!loaded)
		return error;
	if (!error && sv_config.model)
		fprintf(stderr,
		    "softverbs: NIC model %s is on: latency %lu ns one way, %lu ns per message, %.0f Gbit/s, fetch %lu ns, "
		    "jitter %lu ns\n",
		    sv_config.model_name, sv_config.latency, sv_config.message, sv_config.bytes_per_ns * 8, sv_config.fetch,
		    sv_config.jitter);
	if (!error && sv_config.weak)
		fprintf(stderr, "softverbs: order=weak is on, seed=%lu\n", sv_config.seed);
	return error;
}
