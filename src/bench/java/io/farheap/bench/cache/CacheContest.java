package io.farheap.bench.cache;

import io.farheap.bench.machine.FirstCore;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.bench.report.Validity;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.rpc.RingShape;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the rows of one span. The rates of a row take turns, in an order that rotates: one-sided operations, posted
 * one by one, by lists, and by lists for which the application asks by groups; and batches, for which it asks record by
 * record or by groups. The sessions of a row are open during all of its turns, so that what they learn about paths
 * outlives a turn. The server's thread, which executes batches, sleeps while there are none, and takes no core from the
 * others.
 */
final class CacheContest implements AutoCloseable {

    /**
     * The shape of all rows.
     *
     * @param depth one-sided records in flight
     * @param largestBatch requests in a batch, if that many have room in it
     * @param batches in flight
     * @param seconds for each rate, which its turns share, and for the latency
     * @param turns of each rate, at least
     * @param seed of the records' order
     */
    record Shape(int depth, int largestBatch, int batches, double seconds, int turns, long seed) {

        CacheConfiguration oneSided() {
            return CacheConfiguration.DIRECT.withQueueDepth(depth);
        }

        CacheConfiguration batched(int batch) {
            return CacheConfiguration.DIRECT.with(0, 1, batch, batches);
        }

        /** Redy's b. */
        int batch(long size) {
            return Math.clamp(RingShape.PAYLOAD_BYTES / size, 1, largestBatch);
        }

        double turnSeconds() {
            return seconds / turns;
        }

        /** Records that the application asks for with one request, one-sided: a list's. */
        int listGroup() {
            return Integer.highestOneBit(depth);
        }

        /** Returns the turns of a row of so many rates: as many as wanted, and more until all orders were taken. */
        int turnsOf(int sides) {
            int round = new Rotation(sides).round();
            return Math.ceilDiv(turns, round) * round;
        }

        /** One batch is filled while the others are on their way. */
        int inFlight(int batch) {
            return batch * (batches + 1);
        }
    }

    static final int MAX_RECORD = 1 << 20;

    private static final long REGION_BYTES = 64 << 20;
    /** Those without batches, and two with batches. */
    private static final int CACHES = 5;

    private static final double WARM_UP_SECONDS = 1;
    /** A run of a millisecond only shows that the benchmark works. */
    private static final double WARM_UP_OF_SECONDS = 100;

    private static final int WARM_UP_PATIENCE = 10;
    /** With batches the server's thread is busy, too. */
    private static final int BATCHED_CORES = 2;

    // The sides of a row, by their places in its turns.
    private static final int SINGLE = 0;
    private static final int LIST = 1;
    private static final int LIST_ALL = 2;
    private static final int ASKED = 3;
    private static final int TOGETHER = 4;

    private final CloseStack opened = new CloseStack();
    private final FirstCore thread;
    private final long span;
    private final Shape shape;
    private final ServerProcess server;
    private final CacheBench separate;
    private final CacheBench lists;
    private final CacheBench groups;
    private final ModelLateness lateness;

    /** Starts a server, and opens the caches without batches. */
    CacheContest(FirstCore thread, long span, Shape shape) {
        this.thread = thread;
        this.span = span;
        this.shape = shape;
        long memory = CACHES * Math.ceilDiv(span, REGION_BYTES) * REGION_BYTES;
        try {
            server = opened.add(ServerProcess.start(Devices.library(), memory, REGION_BYTES));
            separate = opened.add(oneSided(1, 1));
            lists = opened.add(oneSided(shape.depth(), 1));
            groups = opened.add(oneSided(shape.depth(), shape.listGroup()));
            lateness = opened.add(new ModelLateness(server.address()));
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    /**
     * @param list operations that are posted together
     * @param together records that the application asks for with one request
     */
    private CacheBench oneSided(int list, int together) {
        return new CacheBench(server.address(), span, MAX_RECORD, shape.oneSided(), shape.depth(), list, together);
    }

    /** @param operation read or write */
    CacheRow measure(String operation, int size) {
        boolean write = operation.equals("write");
        lateness.restart();
        CacheBench.Latency latency = thread.run(() -> {
            separate.scatter(span, size, shape.seed());
            lists.scatterAs(separate);
            groups.scatterAs(separate);
            return separate.latency(write, size, shape.seconds());
        });
        Validity validity = lateness.validity();
        int batch = shape.batch(size);
        int group = Integer.highestOneBit(batch);
        try (CloseStack ofRow = new CloseStack()) {
            List<CacheBench> benches = new ArrayList<>(List.of(separate, lists, groups));
            if (batch > 1) {
                benches.add(ofRow.add(batched(size, batch, 1)));
                benches.add(ofRow.add(batched(size, batch, group)));
            }
            List<Turns.Side<RuntimeException>> sides = new ArrayList<>();
            benches.forEach(
                    bench -> sides.add(turn -> thread.run(() -> bench.throughput(write, size, shape.turnSeconds()))));
            int turns = shape.turnsOf(sides.size());
            Turns taken = Turns.take(sides, warmUp(sides.size()), turns, lateness::restart);
            return new CacheRow(
                    operation,
                    size,
                    span,
                    latency,
                    taken.of(SINGLE).quartiles(),
                    taken.of(LIST).quartiles(),
                    taken.of(LIST_ALL).quartiles(),
                    new SideSetup(CacheBench.localBytes(shape.depth(), size), 1, shape.depth(), 1),
                    shape.listGroup(),
                    batch == 1 ? null : batches(taken, size, batch, group),
                    turns,
                    taken.settled(),
                    validity.worse(lateness.validity()));
        }
    }

    private CacheRow.Batches batches(Turns taken, int size, int batch, int group) {
        int inFlight = shape.inFlight(batch);
        return new CacheRow.Batches(
                batch,
                shape.batches(),
                taken.of(ASKED).quartiles(),
                taken.of(TOGETHER).quartiles(),
                new SideSetup(CacheBench.localBytes(inFlight, size), BATCHED_CORES, inFlight, 1),
                group);
    }

    /** At most a hundred times as long as a rate is measured. */
    private TurnWarmUp warmUp(int sides) {
        long least = (long) (Math.min(WARM_UP_SECONDS, WARM_UP_OF_SECONDS * shape.seconds()) * 1e9);
        return new TurnWarmUp(sides, least, WARM_UP_PATIENCE * least, System::nanoTime);
    }

    /** @param together records that the application asks for with one request */
    private CacheBench batched(int size, int batch, int together) {
        CacheBench bench =
                new CacheBench(server.address(), span, size, shape.batched(batch), shape.inFlight(batch), 1, together);
        bench.scatterAs(separate);
        return bench;
    }

    @Override
    public void close() {
        opened.close();
    }
}
