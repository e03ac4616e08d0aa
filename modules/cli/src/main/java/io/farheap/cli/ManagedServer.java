package io.farheap.cli;

import io.farheap.control.ManagerKey;
import io.farheap.manager.ServerReport;
import io.farheap.manager.client.ServerRegistration;
import io.farheap.server.MemoryServer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A memory server of which cache managers know. One thread. */
final class ManagedServer implements AutoCloseable {

    private static final long LOOK_MILLIS = 20;

    private final MemoryServer server;
    private final String address;
    private final String type;
    private final boolean spot;
    private final String place;
    private final Duration notice;
    private final ServerRegistration registration;
    /** When it ends, where it leaves, as {@code nanoTime}. Written before {@code leaving}. */
    private volatile long leavesAt;

    private volatile boolean leaving;

    /** @param drained told where a manager wishes that the server leaves; perhaps more than once */
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
        // Here, and not when the first report is due: what makes no sense is said at once.
        report();
        this.registration = new ServerRegistration(managers, this::report, keys, server::endCaches, drained);
    }

    private ServerReport report() {
        // Before the free regions are counted: what has ended is among them.
        Set<Long> ended = server.endedCaches();
        var described = server.description();
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
                server.regionsByCache(),
                ended);
    }

    /**
     * Tells the managers, and returns when the last of their caches has left, or the notice is over.
     *
     * @param atOnce whether nobody is left to wait for
     */
    void leave(BooleanSupplier atOnce) throws InterruptedException {
        leavesAt = System.nanoTime() + notice.toNanos();
        leaving = true;
        server.leave();
        registration.reportSoon();
        while (!atOnce.getAsBoolean() && !server.regionsByCache().isEmpty() && System.nanoTime() - leavesAt < 0) {
            Thread.sleep(LOOK_MILLIS);
        }
    }

    @Override
    public void close() {
        registration.close();
    }
}
