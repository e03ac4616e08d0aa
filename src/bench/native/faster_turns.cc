// Takes turns for ./farheap bench ycsb --faster: reads of FASTER's FasterKv (SIGMOD 2018) with all records in memory.
// Compiled by the benchmark, against the sources that the user has.
//
//   faster_turns RECORDS    stores the keys 0 to RECORDS - 1, then takes lines from its standard input:
//     THREADS NANOS         reads for so long; answers OPERATIONS NANOS WRONG, of all threads, the longest time, then
//                           of the reads that were timed TOOK:COUNT for each time that there was, in ns, rounded down

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "core/faster.h"
#include "device/null_disk.h"

namespace
{

using FASTER::core::AsyncCallback;
using FASTER::core::FasterHashHelper;
using FASTER::core::FasterKv;
using FASTER::core::IAsyncContext;
using FASTER::core::KeyHash;
using FASTER::core::Status;

// As often as FASTER's own benchmark does.
constexpr uint64_t REFRESHED_EVERY = 64;
constexpr uint64_t COMPLETED_EVERY = 1600;
// Reading the clock takes a tenth of a read.
constexpr uint64_t TIMED_EVERY = 160;
// As the JVM's contestants: drawn before anything is measured, a power of two.
constexpr uint64_t DRAWN = uint64_t{1} << 22;

uint64_t word(uint64_t key)
{
	return key * 0x9E3779B97F4A7C15U + 1;
}

class Key
{
  public:
	explicit Key(uint64_t key) : key_{key}
	{
	}
	static constexpr uint32_t size()
	{
		return sizeof(Key);
	}
	KeyHash GetHash() const
	{
		return KeyHash{FasterHashHelper<uint64_t>::compute(key_)};
	}
	bool operator==(const Key &other) const
	{
		return key_ == other.key_;
	}
	bool operator!=(const Key &other) const
	{
		return key_ != other.key_;
	}

  private:
	uint64_t key_;
};

class Value
{
  public:
	static constexpr uint32_t size()
	{
		return sizeof(Value);
	}
	std::atomic<uint64_t> word_{0};
};

class Reading : public IAsyncContext
{
  public:
	using key_t = Key;
	using value_t = Value;
	explicit Reading(uint64_t key) : key_{key}
	{
	}
	Reading(const Reading &other) : IAsyncContext(other), key_{other.key_}, found{other.found}
	{
	}
	const Key &key() const
	{
		return key_;
	}
	void Get(const Value &value)
	{
		found = value.word_.load(std::memory_order_relaxed);
	}
	void GetAtomic(const Value &value)
	{
		found = value.word_.load(std::memory_order_relaxed);
	}

  protected:
	Status DeepCopy_Internal(IAsyncContext *&copy) override
	{
		return IAsyncContext::DeepCopy_Internal(*this, copy);
	}

  private:
	Key key_;

  public:
	uint64_t found{0};
};

class Storing : public IAsyncContext
{
  public:
	using key_t = Key;
	using value_t = Value;
	explicit Storing(uint64_t key) : key_{key}, value_{word(key)}
	{
	}
	Storing(const Storing &other) : IAsyncContext(other), key_{other.key_}, value_{other.value_}
	{
	}
	const Key &key() const
	{
		return key_;
	}
	static constexpr uint32_t value_size()
	{
		return sizeof(Value);
	}
	void Put(Value &value)
	{
		value.word_.store(value_, std::memory_order_relaxed);
	}
	bool PutAtomic(Value &value)
	{
		value.word_.store(value_);
		return true;
	}

  protected:
	Status DeepCopy_Internal(IAsyncContext *&copy) override
	{
		return IAsyncContext::DeepCopy_Internal(*this, copy);
	}

  private:
	Key key_;
	uint64_t value_;
};

using Store = FasterKv<Key, Value, FASTER::device::NullDisk>;

void ended(IAsyncContext *, Status)
{
}

uint64_t power_of_two(uint64_t least)
{
	uint64_t power = 1;
	while (power < least) {
		power *= 2;
	}
	return power;
}

void load(Store &store, uint64_t records)
{
	store.StartSession();
	for (uint64_t key = 0; key < records; key++) {
		if (key % REFRESHED_EVERY == 0) {
			store.Refresh();
		}
		Storing storing{key};
		if (store.Upsert(storing, ended, 1) != Status::Ok) {
			fprintf(stderr, "key %" PRIu64 " was not stored\n", key);
			exit(1);
		}
	}
	store.CompletePending(true);
	store.StopSession();
}

struct Turn {
	uint64_t operations{0};
	uint64_t nanos{0};
	uint64_t wrong{0};
	std::map<uint64_t, uint64_t> took;
};

uint64_t rounded(uint64_t nanos)
{
	return nanos < 1000 ? nanos / 10 * 10 : nanos / 100 * 100;
}

void run(Store &store, const std::vector<uint64_t> &keys, uint64_t first, uint64_t nanos, Turn &turn)
{
	using clock = std::chrono::steady_clock;
	const auto since = [](clock::time_point then) {
		return (uint64_t)std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - then).count();
	};
	store.StartSession();
	const auto begun = clock::now();
	const auto end = begun + std::chrono::nanoseconds(nanos);
	uint64_t done = 0;
	uint64_t wrong = 0;
	do {
		for (uint64_t i = 0; i < COMPLETED_EVERY; i++, done++) {
			if (done % REFRESHED_EVERY == 0) {
				store.Refresh();
			}
			const uint64_t key = keys[(first + done) & (DRAWN - 1)];
			const bool timed = done % TIMED_EVERY == 0;
			const auto then = timed ? clock::now() : begun;
			Reading reading{key};
			const Status status = store.Read(reading, ended, 1);
			wrong += status != Status::Ok || reading.found != word(key);
			if (timed) {
				turn.took[rounded(since(then))]++;
			}
		}
		store.CompletePending(false);
	} while (clock::now() < end);
	turn.nanos = since(begun);
	turn.operations = done;
	turn.wrong = wrong;
	store.StopSession();
}

} // namespace

int main(int argc, char **argv)
{
	const uint64_t records = argc == 2 ? strtoull(argv[1], nullptr, 10) : 0;
	if (records == 0) {
		fprintf(stderr, "usage: faster_turns RECORDS\n");
		return 2;
	}
	// The log is in pages of 32 MiB, and all of it stays in memory: room for twice the records.
	constexpr uint64_t PAGE = uint64_t{32} << 20;
	const uint64_t pages = 8 + records * 48 / PAGE;
	Store store{power_of_two(records / 2), pages * PAGE, ""};
	load(store, records);
	std::mt19937_64 random{records};
	std::vector<uint64_t> keys(DRAWN);
	for (uint64_t &key : keys) {
		key = std::uniform_int_distribution<uint64_t>(0, records - 1)(random);
	}
	puts("ready");
	fflush(stdout);
	unsigned count;
	uint64_t nanos;
	while (scanf("%u %" SCNu64, &count, &nanos) == 2 && count > 0) {
		std::vector<Turn> turns(count);
		std::vector<std::thread> threads;
		for (unsigned i = 0; i < count; i++) {
			threads.emplace_back(run, std::ref(store), std::cref(keys), random(), nanos, std::ref(turns[i]));
		}
		Turn all;
		for (unsigned i = 0; i < count; i++) {
			threads[i].join();
			all.operations += turns[i].operations;
			all.wrong += turns[i].wrong;
			all.nanos = std::max(all.nanos, turns[i].nanos);
			for (const auto &one : turns[i].took) {
				all.took[one.first] += one.second;
			}
		}
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64, all.operations, all.nanos, all.wrong);
		for (const auto &one : all.took) {
			printf(" %" PRIu64 ":%" PRIu64, one.first, one.second);
		}
		puts("");
		fflush(stdout);
	}
	return 0;
}
