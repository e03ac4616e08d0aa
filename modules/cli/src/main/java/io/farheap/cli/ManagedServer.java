package io.farheap.cli;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.farheap.control.ManagerKey;
import io.farheap.manager.ServerReport;
import io.farheap.manager.client.ServerRegistration;
import io.farheap.memory.Plurals;
import io.farheap.server.MemoryServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A memory server that reports to cache managers. One thread. */
final class ManagedServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ManagedServer.class.getName());
    private static final long LOOK_MILLIS = 20;
    /** The least time between two lines of the log about the progress of a drain. */
    private static final long PROGRESS_NANOS = 5_000_000_000L;

    private final MemoryServer server;
    private final String address;
    private final String type;
    private final boolean spot;
    private final String place;
    private final Duration notice;
    private final ServerRegistration registration;
    /** When a leaving server ends, as {@code nanoTime}. Written before {@code leaving}. */
    private volatile long leavesAt;

    private volatile boolean leaving;

    /** @param drained called if a manager asks the server to leave; perhaps more than once */
    ManagedServer(
            MemoryServer server,
            List<String> managers,
            String address,
            String type,
            boolean spot,
            String place,
            Duration notice,
            Consumer<ManagerKey> keys,
            Runnable drained) {
        this.server = server;
        this.address = address;
        this.type = type;
        this.spot = spot;
        this.place = place;
        this.notice = notice;
        // Built here once, and not only when the first report is due, so that invalid values are refused at once.
        report();
        this.registration =
                new ServerRegistration(managers, this::report, keys, server::endCaches, server::promised, drained);
    }

    private ServerReport report() {
        // Read before the free regions are counted, which include those of ended caches.
        Set<Long> ended = server.endedCaches();
        // A region that moves while this is made counts as held and not as wanted: the next report wants it.
        Map<Long, Integer> held = server.regionsByCache();
        var described = server.description();
        int withdrawn = server.withdrawnRegions();
        int wanted = server.reportWanted();
        boolean leaves = leaving;
        return new ServerReport(
                described.serverId(),
                address,
                type,
                spot,
                place,
                described.domain().isEmpty() ? address : described.domain(),
                described.regionBytes(),
                described.totalRegions(),
                described.freeRegions(),
                notice.toMillis(),
                leaves,
                leaves ? Math.max(0, (leavesAt - System.nanoTime()) / 1_000_000) : 0,
                held,
                ended,
                wanted,
                withdrawn,
                0);
    }

    /**
     * Reports that the server leaves, and returns when the last cache has left, or at the end of the notice.
     *
     * @param atOnce whether to stop waiting
     */
    void leave(BooleanSupplier atOnce) throws InterruptedException {
        long began = System.nanoTime();
        leavesAt = began + notice.toNanos();
        leaving = true;
        server.leave();
        registration.reportSoon();
        Map<Long, Integer> held = server.regionsByCache();
        if (!held.isEmpty()) {
            LOG.log(
                    INFO,
                    "memory server " + address + " leaves within " + notice.toMillis()
                            + " ms and waits until other servers have " + regions(held));
        }
        long said = began;
        while (!atOnce.getAsBoolean() && !held.isEmpty() && System.nanoTime() - leavesAt < 0) {
            Thread.sleep(LOOK_MILLIS);
            held = server.regionsByCache();
            if (System.nanoTime() - said > PROGRESS_NANOS && !held.isEmpty()) {
                said = System.nanoTime();
                LOG.log(INFO, "memory server " + address + " leaves and still has " + regions(held));
            }
        }
        sayEnd(held, atOnce.getAsBoolean(), System.nanoTime() - began);
    }

    private void sayEnd(Map<Long, Integer> held, boolean parentGone, long nanos) {
        String ends = "memory server " + address + " ends";
        if (held.isEmpty()) {
            LOG.log(INFO, ends + ": no cache has a region here, after " + nanos / 1_000_000 + " ms");
        } else if (parentGone) {
            LOG.log(INFO, ends + " with " + regions(held) + ", since its parent process has ended");
        } else {
            LOG.log(WARNING, ends + " since its notice has passed, and the content of " + regions(held) + " is lost");
        }
    }

    private static String regions(Map<Long, Integer> held) {
        int regions = held.values().stream().mapToInt(Integer::intValue).sum();
        return Plurals.of(regions, "region") + " of " + Plurals.of(held.size(), "cache");
    }

    @Override
    public void close() {
        registration.close();
    }
}
