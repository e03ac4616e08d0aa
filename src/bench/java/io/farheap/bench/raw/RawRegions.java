package io.farheap.bench.raw;

import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.bench.report.Validity;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Measures the cost of an access by the number of regions on one server: sessions, with a thread each, access the same
 * addresses at random in caches of one size, the servers of which divide them into few regions or many. The caches take
 * turns, in an order that rotates. So the processor's caches hold the same data in each case, and the difference is the
 * cost of the regions themselves.
 */
final class RawRegions implements AutoCloseable {

    /**
     * A number of regions, in ns per operation.
     *
     * @param ratio of the medians, to the one with the fewest regions; NaN if the row is invalid
     */
    record Row(
            RawOperation operation,
            int size,
            int regions,
            int sessions,
            Quartiles nanos,
            double ratio,
            boolean settled,
            Validity validity) {

        /** Each session has a thread, and one operation under way. */
        SideSetup setup() {
            int cores = Math.min(sessions, Runtime.getRuntime().availableProcessors());
            return new SideSetup((long) size * sessions, cores, sessions, 1);
        }
    }

    /** Of one session's turn, by {@link System#nanoTime()}. */
    private record Span(long start, long end) {}

    static final int MAX_BYTES = 4096;
    static final int MAX_REGIONS = 1 << 14;
    static final int MAX_SESSIONS = 64;

    /** The least size of a region; each has one address that is accessed. */
    private static final int CELL_BYTES = 64 << 10;

    private static final int LINE_BYTES = 64;
    private static final int MIN_OPERATIONS = 4_096;
    private static final long WARM_UP_NANOS = 200_000_000L;
    private static final int WARM_UP_PATIENCE = 5;
    private static final long SEED = 1;

    private final List<Side> sides = new ArrayList<>();
    private final CloseStack opened = new CloseStack();
    private final SessionThreads threads;
    private final long[] addresses;

    /** @param regions powers of two, in ascending order */
    RawRegions(List<Integer> regions, int sessions) {
        int cells = regions.getLast();
        addresses = new long[cells];
        // Scattered, since lines of one set of a processor's cache would evict each other.
        Arrays.setAll(
                addresses,
                i -> (long) i * CELL_BYTES
                        + (long) (i * (LINE_BYTES + 1) % ((CELL_BYTES - MAX_BYTES) / LINE_BYTES)) * LINE_BYTES);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = cells - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            long address = addresses[i];
            addresses[i] = addresses[other];
            addresses[other] = address;
        }
        try {
            for (int count : regions) {
                Side side = opened.add(new Side(count, (long) cells * CELL_BYTES));
                sides.add(side);
                side.open(sessions);
            }
            threads = opened.add(new SessionThreads(sessions));
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    /** Returns the HOST:PORT of each server. */
    String[] addresses() {
        return sides.stream().map(side -> side.server.address()).toArray(String[]::new);
    }

    /**
     * Measures all numbers of regions.
     *
     * @param lateness in this process and in all {@linkplain #addresses() servers}
     * @return a row for each number of regions; they have one validity, since the sides took turns
     */
    List<Row> measure(RawOperation operation, int bytes, int sessions, int turns, ModelLateness lateness)
            throws InterruptedException {
        List<Turns.Side<InterruptedException>> taking = new ArrayList<>();
        for (Side side : sides) {
            taking.add(turn -> turn(side, operation == RawOperation.WRITE, bytes, sessions));
        }
        TurnWarmUp warmUp =
                new TurnWarmUp(sides.size(), WARM_UP_NANOS, WARM_UP_PATIENCE * WARM_UP_NANOS, System::nanoTime);
        Turns taken = Turns.take(taking, warmUp, turns, lateness::restart);
        Validity validity = lateness.validity();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < sides.size(); i++) {
            Quartiles nanos = taken.of(i).quartiles();
            rows.add(new Row(
                    operation,
                    bytes,
                    sides.get(i).regions,
                    sessions,
                    nanos,
                    MedianRatio.ofTimes(validity, nanos.median(), taken.of(0).median()),
                    taken.settled(),
                    validity));
        }
        return rows;
    }

    /** @return ns per operation of all sessions together */
    private double turn(Side side, boolean write, int bytes, int sessions) throws InterruptedException {
        int operations = Math.max(MIN_OPERATIONS / addresses.length, 1) * addresses.length;
        CyclicBarrier together = new CyclicBarrier(sessions);
        List<Future<Span>> runs = new ArrayList<>();
        for (int i = 0; i < sessions; i++) {
            int session = i;
            runs.add(threads.submit(i, () -> {
                together.await();
                // Brings back the data that the other caches have evicted from the processor's caches.
                side.run(session, write, bytes, operations);
                long start = System.nanoTime();
                side.run(session, write, bytes, operations);
                return new Span(start, System.nanoTime());
            }));
        }
        List<Span> spans = new ArrayList<>();
        for (Future<Span> run : runs) {
            try {
                spans.add(run.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("a session failed", e.getCause());
            }
        }
        long start = spans.stream().mapToLong(Span::start).min().orElseThrow();
        long end = spans.stream().mapToLong(Span::end).max().orElseThrow();
        return (double) (end - start) / ((long) sessions * operations);
    }

    /** Waits for the sessions' threads, which may access the caches until then, and closes these. */
    @Override
    public void close() {
        opened.close();
    }

    /** A server, and a cache on all of its regions. */
    private final class Side implements AutoCloseable {

        private final int regions;
        private final ServerProcess server;
        private final Cache cache;
        private final List<CacheSession> sessions = new ArrayList<>();
        private final List<Buffer> buffers = new ArrayList<>();

        private Side(int regions, long bytes) {
            this.regions = regions;
            server = ServerProcess.start(Devices.library(), bytes, bytes / regions);
            try {
                cache = Cache.builder()
                        .capacity(bytes)
                        .servers(server.address())
                        .name("bench-raw-regions")
                        .create();
            } catch (Throwable e) {
                server.close();
                throw e;
            }
        }

        private void open(int count) {
            for (int i = 0; i < count; i++) {
                sessions.add(cache.openSession());
                buffers.add(cache.allocate(MAX_BYTES));
            }
        }

        private void run(int index, boolean write, int bytes, int operations) {
            CacheSession session = sessions.get(index);
            Buffer buffer = buffers.get(index);
            // Sessions begin at different addresses.
            int next = index * (addresses.length / sessions.size());
            for (int i = 0; i < operations; i++) {
                long address = addresses[next];
                next = next + 1 == addresses.length ? 0 : next + 1;
                if (write) {
                    session.writeBlocking(address, buffer, 0, bytes);
                } else {
                    session.readBlocking(address, buffer, 0, bytes);
                }
            }
        }

        @Override
        public void close() {
            cache.close();
            server.close();
        }
    }
}
