package io.farheap.bench.cache;

import io.farheap.bench.machine.ClockCost;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Measures one session of a cache: how long one record takes at half of the load that the session can carry, and how
 * many records a second it moves with many in flight. Records lie at random addresses, aligned to their size, in the
 * first {@code span} bytes of the cache.
 */
final class CacheBench implements AutoCloseable {

    /**
     * ns for each operation, less the cost of reading the clock; {@code idle} is the same loop without an operation:
     * the machine's own noise.
     */
    record Latency(Histogram operation, Histogram idle) {}

    private static final int LINE_BYTES = 64;
    private static final int MIN_ADDRESSES = 1 << 12;
    /**
     * 16 million, so that the addresses that are used in turn span a GiB, and not a part of it that fits into a
     * processor's cache.
     */
    private static final int MAX_ADDRESSES = 1 << 24;

    private static final long WARM_UP_NANOS = 300_000_000L;
    /** In each turn: the sides before it have used the processor's caches, and the server may sleep. */
    private static final long TURN_WARM_UP_NANOS = 100_000_000L;

    private static final long HIGHEST_NANOS = 1_000_000_000L;
    private static final int SLICE = 2_000;
    private static final int POLLS = 64;
    private static final int MIN_REQUESTS = 512;

    private final Cache cache;
    private final CacheSession session;
    private final Buffer buffer;
    private final int inFlight;
    /** The number in flight, rounded up to a power of two: a division would cost as much as a request in a batch. */
    private final int slots;

    private long[] addresses = {};
    /** Addresses of one request for many records. */
    private final long[] some;

    private int mask;
    private int next;
    private long done;
    private final Completion onDone = (token, status) -> {
        if (status != Status.OK) {
            throw new IllegalStateException("an operation ended with " + Status.describe(status));
        }
        done += token;
    };

    /**
     * @param configuration of the cache
     * @param inFlight records in flight when throughput is measured
     * @param doorbellBatch how many one-sided operations are posted by one list
     * @param together records that the application asks for with one request when throughput is measured; 1 for single
     *     ones
     */
    CacheBench(
            String server,
            long span,
            int maxRecord,
            CacheConfiguration configuration,
            int inFlight,
            int doorbellBatch,
            int together) {
        this.inFlight = inFlight;
        this.some = new long[together];
        this.slots = powerOfTwo(inFlight);
        cache = Cache.builder()
                .capacity(span)
                .servers(server)
                .name("bench-cache")
                .configuration(configuration)
                .requests(Math.max(MIN_REQUESTS, slots))
                .doorbellBatch(doorbellBatch)
                .create();
        try {
            session = cache.openSession();
            buffer = cache.allocate((long) maxRecord * slots);
        } catch (Throwable e) {
            cache.close();
            throw e;
        }
    }

    /**
     * Chooses the records.
     *
     * @param seed of their order
     */
    void scatter(long span, int record, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long records = span / record;
        addresses = new long[Math.clamp(Long.highestOneBit(span / LINE_BYTES), MIN_ADDRESSES, MAX_ADDRESSES)];
        mask = addresses.length - 1;
        Arrays.setAll(addresses, i -> random.nextLong(records) * record);
    }

    /** Chooses the same records as another one has chosen, in its order. */
    void scatterAs(CacheBench other) {
        addresses = other.addresses;
        mask = other.mask;
    }

    /**
     * Times blocking operations. Each begins when it is due, or late if the one before has ended late, and is timed
     * from when it was due (no coordinated omission).
     */
    Latency latency(boolean write, int record, double seconds) {
        long clock = ClockCost.nanos();
        long each = closedLoop(write, record, warmUp(WARM_UP_NANOS, seconds));
        long interval = 2 * each + clock;
        Histogram operation = new Histogram(HIGHEST_NANOS, 3);
        Histogram idle = new Histogram(HIGHEST_NANOS, 3);
        // The warm-up runs this same loop; its times are dropped.
        paced(write, record, interval, warmUp(WARM_UP_NANOS, seconds), clock, operation, idle);
        operation.reset();
        idle.reset();
        paced(write, record, interval, (long) (seconds * 1e9), clock, operation, idle);
        return new Latency(operation, idle);
    }

    /**
     * At most a hundred times as long as the measurement: a run of a millisecond only shows that the benchmark works.
     */
    private static long warmUp(long most, double seconds) {
        return Math.min(most, (long) (100 * seconds * 1e9));
    }

    /** Runs slices of operations and slices of the idle loop in turns. */
    private void paced(
            boolean write, int record, long interval, long nanos, long clock, Histogram operation, Histogram idle) {
        long end = System.nanoTime() + 2 * nanos;
        while (System.nanoTime() - end < 0) {
            pacedSlice(write, record, interval, clock, operation);
            idleSlice(interval, clock, idle);
        }
    }

    private void pacedSlice(boolean write, int record, long interval, long clock, Histogram histogram) {
        long due = System.nanoTime() + interval;
        for (int i = 0; i < SLICE; i++, due += interval) {
            long start = awaitDue(due);
            one(write, record);
            // A late start is the lateness of earlier operations, and counts; without lateness the clock's granularity
            // must not count.
            histogram.recordValue(clamp(System.nanoTime() - Math.min(start, due + clock) - clock));
        }
    }

    private static void idleSlice(long interval, long clock, Histogram histogram) {
        long due = System.nanoTime() + interval;
        for (int i = 0; i < SLICE; i++, due += interval) {
            long start = awaitDue(due);
            histogram.recordValue(clamp(System.nanoTime() - Math.min(start, due + clock) - clock));
        }
    }

    private static long awaitDue(long due) {
        long now = System.nanoTime();
        while (now - due < 0) {
            now = System.nanoTime();
        }
        return now;
    }

    private static long clamp(long nanos) {
        return Math.clamp(nanos, 0, HIGHEST_NANOS);
    }

    /** @return ns for each operation, one after the other */
    private long closedLoop(boolean write, int record, long nanos) {
        long start = System.nanoTime();
        long now = start;
        long operations = 0;
        while (now - start < nanos) {
            for (int i = 0; i < SLICE; i++) {
                one(write, record);
            }
            operations += SLICE;
            now = System.nanoTime();
        }
        return (now - start) / operations;
    }

    private void one(boolean write, int record) {
        long address = addresses[next++ & mask];
        if (write) {
            session.writeBlocking(address, buffer, 0, record);
        } else {
            session.readBlocking(address, buffer, 0, record);
        }
    }

    /**
     * Measures one turn.
     *
     * @return operations a second with {@code inFlight} records in flight
     */
    double throughput(boolean write, int record, double seconds) {
        pipelined(write, record, warmUp(TURN_WARM_UP_NANOS, seconds));
        return pipelined(write, record, (long) (seconds * 1e9));
    }

    private double pipelined(boolean write, int record, long nanos) {
        done = 0;
        long issued = 0;
        long start = System.nanoTime();
        long now = start;
        while (now - start < nanos) {
            for (int i = 0; i < POLLS; i++) {
                while (issued - done <= inFlight - some.length && issue(write, record, issued)) {
                    issued += some.length;
                }
                session.poll();
            }
            now = System.nanoTime();
        }
        while (done == 0) {
            session.awaitProgress();
        }
        long counted = done;
        double rate = counted * 1e9 / (System.nanoTime() - start);
        session.drain();
        return rate;
    }

    private boolean issue(boolean write, int record, long number) {
        if (some.length > 1) {
            return issueSome(write, record, number);
        }
        long address = addresses[(int) number & mask];
        long offset = (number & slots - 1) * record;
        return write
                ? session.write(address, buffer, offset, record, onDone, 1)
                : session.read(address, buffer, offset, record, onDone, 1);
    }

    /** Issues one request for several records: the numbers of slots and of addresses are multiples of that number. */
    private boolean issueSome(boolean write, int record, long number) {
        System.arraycopy(addresses, (int) number & mask, some, 0, some.length);
        long offset = (number & slots - 1) * record;
        return write
                ? session.writeAll(some, some.length, buffer, offset, record, onDone, some.length)
                : session.readAll(some, some.length, buffer, offset, record, onDone, some.length);
    }

    /** Returns how many bytes of local memory are used by so many records in flight. */
    static long localBytes(int inFlight, int record) {
        return (long) powerOfTwo(inFlight) * record;
    }

    private static int powerOfTwo(int least) {
        return least == 1 ? 1 : 2 * Integer.highestOneBit(least - 1);
    }

    @Override
    public void close() {
        cache.close();
    }
}
