package io.farheap.bench.kv.leases;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/** Makes the requests of some processes in turn. One thread at a time. */
final class LeaseWorker {

    /** A get that was one READ. */
    static final String READ = "READ";
    /** A get that found its object by one message each way: it had no pointer, or the lease had expired. */
    static final String FAST_MESSAGE = "fast message";
    /** A get whose READ found no current object, so that a message followed. */
    static final String SLOW_MESSAGE = "slow message";
    /** A get that did not find its key. */
    static final String MISS = "miss";
    /** A set that replaces an object. */
    static final String FAST_WRITE = "fast write";
    /** A set of a key that was not there, which evicts if the map is full. */
    static final String SLOW_WRITE = "slow write";

    static final List<String> KINDS = List.of(READ, FAST_MESSAGE, SLOW_MESSAGE, MISS, FAST_WRITE, SLOW_WRITE);

    private static final int LOOK_EVERY = 16;

    private final List<KeyedClient> clients;
    private final LeaseWorkload workload;
    private final LeaseRequests drawn;
    private final LongSupplier clock;
    private int turn;
    private long requests;
    private long sets;
    private long refills;
    private long begun;
    private long nanos;
    private long cpuNanos;

    /** @param clock in ns */
    LeaseWorker(List<? extends KeyedClient> clients, LeaseWorkload workload, long seed, LongSupplier clock) {
        this.clients = List.copyOf(clients);
        this.workload = workload;
        this.clock = clock;
        drawn = new LeaseRequests(workload, seed);
    }

    /**
     * Sets a part of the keys.
     *
     * @param from the first of them
     * @param step from one to the next
     */
    void fill(long from, int step) {
        for (long key = from; key < workload.keys(); key += step) {
            next().set(key);
        }
        release();
    }

    /** Makes a number of requests, however long they take. What was counted before is forgotten. */
    void make(long count) {
        begin();
        for (long i = 0; i < count; i++) {
            one();
        }
        end();
    }

    /** Makes requests for some time. What was counted before is forgotten. */
    void run(long forNanos) {
        begin();
        do {
            for (int i = 0; i < LOOK_EVERY; i++) {
                one();
            }
        } while (clock.getAsLong() - begun < forNanos);
        end();
    }

    /** Plays the keys of a trace: each is a get, and a set if it is missed. */
    void play(int[] keys) {
        begin();
        for (int key : keys) {
            get(key);
        }
        end();
    }

    private void begin() {
        requests = 0;
        sets = 0;
        refills = 0;
        cpuNanos = -ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        begun = clock.getAsLong();
    }

    private void end() {
        nanos = clock.getAsLong() - begun;
        cpuNanos += ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        release();
    }

    private void one() {
        long key = drawn.next();
        if (drawn.isSet()) {
            next().set(key);
            sets++;
            requests++;
        } else {
            get(key);
        }
    }

    private void get(long key) {
        KeyedClient client = next();
        requests++;
        if (!client.get(key)) {
            client.set(key);
            refills++;
        }
    }

    /**
     * Makes requests for some time, and records their latencies by kind. Before a set a get, whose time does not count,
     * tells whether the key is there.
     */
    void time(long forNanos, Map<String, Histogram> latency) {
        long end = clock.getAsLong() + forNanos;
        while (clock.getAsLong() - end < 0) {
            long key = drawn.next();
            boolean set = drawn.isSet();
            KeyedClient client = next();
            if (set) {
                timeSet(client, key, client.get(key) ? FAST_WRITE : SLOW_WRITE, latency);
                continue;
            }
            long hits = client.pointerHits();
            long reads = client.reads();
            long before = clock.getAsLong();
            boolean found = client.get(key);
            long took = clock.getAsLong() - before;
            of(latency, kind(found, client.pointerHits() > hits, client.reads() > reads))
                    .recordValue(took);
            if (!found) {
                timeSet(client, key, SLOW_WRITE, latency);
            }
        }
        release();
    }

    private void timeSet(KeyedClient client, long key, String kind, Map<String, Histogram> latency) {
        long before = clock.getAsLong();
        client.set(key);
        of(latency, kind).recordValue(clock.getAsLong() - before);
    }

    private static Histogram of(Map<String, Histogram> latency, String kind) {
        return latency.computeIfAbsent(kind, added -> new Histogram(3));
    }

    private static String kind(boolean found, boolean byPointer, boolean read) {
        if (!found) {
            return MISS;
        }
        if (byPointer) {
            return READ;
        }
        return read ? SLOW_MESSAGE : FAST_MESSAGE;
    }

    private KeyedClient next() {
        KeyedClient client = clients.get(turn);
        turn = turn + 1 == clients.size() ? 0 : turn + 1;
        return client;
    }

    private void release() {
        clients.forEach(KeyedClient::release);
    }

    /** Returns the requests since the last run began; a get and the set after its miss are one. */
    long requests() {
        return requests;
    }

    /** Returns the sets among the requests. */
    long sets() {
        return sets;
    }

    /** Returns the sets that followed misses. */
    long refills() {
        return refills;
    }

    /** Returns the requests a second. */
    double rate() {
        return requests * 1e9 / Math.max(1, nanos);
    }

    /** Returns the processor time of the last run. */
    long cpuNanos() {
        return cpuNanos;
    }
}
