package io.farheap.bench.kv.leases;

import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.kv.contract.MapCounts;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/** Makes the requests of some processes in turn. One thread at a time. */
final class LeaseWorker {

    /** A get that was one READ. */
    static final String READ = "READ";
    /** A get that was one message each way. */
    static final String FAST_MESSAGE = "fast message";
    /** A get whose READ found that the object had been replaced, or whose lease was over. */
    static final String SLOW_MESSAGE = "slow message";
    /** A set among the requests; most of them replace an object. */
    static final String FAST_WRITE = "fast write";
    /** A set of a key that was missed, which evicts if the map is full. */
    static final String SLOW_WRITE = "slow write";

    static final List<String> KINDS = List.of(READ, FAST_MESSAGE, SLOW_MESSAGE, FAST_WRITE, SLOW_WRITE);

    private static final int ALL_PERCENT = 100;
    private static final int LOOK_EVERY = 16;
    private static final int LEAST_REQUESTS = 300;

    private final List<LeaseClient> clients;
    private final LeaseWorkload workload;
    private final YcsbKeys drawn;
    private final SplittableRandom random;
    private int turn;
    private long requests;
    private long sets;
    private long nanos;
    private long cpuNanos;

    LeaseWorker(List<LeaseClient> clients, LeaseWorkload workload, long seed) {
        this.clients = clients;
        this.workload = workload;
        drawn = new YcsbKeys(workload.keys(), seed);
        random = new SplittableRandom(seed);
    }

    /** Sets a part of the keys. @param step each so many, from {@code from} on */
    void fill(long from, int step) {
        for (long key = from; key < workload.keys(); key += step) {
            next().set(key);
        }
        release();
    }

    /**
     * Makes requests for some time, and some hundred at least, however slow the machine is. What was counted before is
     * forgotten.
     */
    void run(long forNanos) {
        requests = 0;
        sets = 0;
        long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        long begun = System.nanoTime();
        do {
            for (int i = 0; i < LOOK_EVERY; i++) {
                one();
            }
            nanos = System.nanoTime() - begun;
        } while (nanos < forNanos || requests < LEAST_REQUESTS);
        cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
        release();
    }

    /** Plays the keys of a trace: each is a get, and a set if it is missed. */
    void play(int[] keys) {
        requests = 0;
        sets = 0;
        long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        long begun = System.nanoTime();
        for (int key : keys) {
            get(key);
        }
        nanos = System.nanoTime() - begun;
        cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
        release();
    }

    private void one() {
        long key = key();
        if (isSet()) {
            next().set(key);
            sets++;
            requests++;
        } else {
            get(key);
        }
    }

    private void get(long key) {
        LeaseClient client = next();
        requests++;
        if (!client.get(key)) {
            client.set(key);
            sets++;
            requests++;
        }
    }

    /** Makes requests for some time, and records their latencies by kind. */
    void time(long forNanos, Map<String, Histogram> latency) {
        long end = System.nanoTime() + forNanos;
        while (System.nanoTime() - end < 0) {
            long key = key();
            boolean set = isSet();
            LeaseClient client = next();
            if (set) {
                timeSet(client, key, FAST_WRITE, latency);
                continue;
            }
            MapCounts before = client.counts();
            long begun = System.nanoTime();
            boolean found = client.get(key);
            long took = System.nanoTime() - begun;
            of(latency, kind(before, client.counts())).recordValue(took);
            if (!found) {
                timeSet(client, key, SLOW_WRITE, latency);
            }
        }
        release();
    }

    private static void timeSet(LeaseClient client, long key, String kind, Map<String, Histogram> latency) {
        long begun = System.nanoTime();
        client.set(key);
        of(latency, kind).recordValue(System.nanoTime() - begun);
    }

    private static Histogram of(Map<String, Histogram> latency, String kind) {
        return latency.computeIfAbsent(kind, added -> new Histogram(3));
    }

    /** Returns the kind of the get between two counts. */
    private static String kind(MapCounts before, MapCounts after) {
        if (after.pointerHits() > before.pointerHits()) {
            return READ;
        }
        return after.posted().reads() > before.posted().reads() ? SLOW_MESSAGE : FAST_MESSAGE;
    }

    private long key() {
        return workload.zipfian() ? drawn.zipfian() : random.nextLong(workload.keys());
    }

    private boolean isSet() {
        return random.nextInt(ALL_PERCENT) >= workload.getPercent();
    }

    private LeaseClient next() {
        LeaseClient client = clients.get(turn);
        turn = turn + 1 == clients.size() ? 0 : turn + 1;
        return client;
    }

    private void release() {
        clients.forEach(LeaseClient::release);
    }

    /** Returns the requests since the last run began, with the sets after misses. */
    long requests() {
        return requests;
    }

    /** Returns the sets among the requests. */
    long sets() {
        return sets;
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
