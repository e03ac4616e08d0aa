package io.farheap.manager.client;

import io.farheap.control.ManagerKey;
import io.farheap.manager.CacheManager;
import io.farheap.manager.ReportReply;
import io.farheap.manager.ServerReport;
import io.farheap.manager.grpc.ManagerClient;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A memory server's connection to its managers: every {@value #PERIOD_MILLIS} ms it reports the server's state, and
 * connects again, to the first manager that answers, if that fails or reports have no answer for 3 s. Thread-safe.
 */
public final class ServerRegistration implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ServerRegistration.class.getName());
    private static final long PERIOD_MILLIS = 1_000;
    private static final long STOP_MILLIS = 2_000;

    private final List<String> managers;
    private final Supplier<ServerReport> reports;
    private final Consumer<ManagerKey> keys;
    private final Runnable leave;
    private final Consumer<Set<Long>> ended;
    private final IntConsumer promised;
    private final Thread thread;
    /** Guarded by this. */
    private boolean soon = true;

    /** The highest epoch of a manager that has answered. Guarded by this. */
    private long epoch;
    /** Whether the last answer was of that epoch. Guarded by this. */
    private boolean current;

    private boolean closed;

    /**
     * Starts reporting.
     *
     * @param managers HOST:PORT; the first that answers receives the reports
     * @param reports returns the server's current state
     * @param keys receives the key of the manager whose grants count, on a thread that it must not block
     * @param ended receives the caches to end, on a thread that it must not block; possibly more than once
     * @param leave called if the server is to leave, on a thread that it must not block; possibly more than once
     */
    public ServerRegistration(
            List<String> managers,
            Supplier<ServerReport> reports,
            Consumer<ManagerKey> keys,
            Consumer<Set<Long>> ended,
            Runnable leave) {
        this(managers, reports, keys, ended, _ -> {}, leave);
    }

    /**
     * Starts reporting for a server that may want regions back.
     *
     * @param promised receives how many regions caches were promised and have not taken, as
     *     {@link ReportReply#promised} has it, on a thread that it must not block
     */
    public ServerRegistration(
            List<String> managers,
            Supplier<ServerReport> reports,
            Consumer<ManagerKey> keys,
            Consumer<Set<Long>> ended,
            IntConsumer promised,
            Runnable leave) {
        this.keys = keys;
        this.ended = ended;
        this.promised = promised;
        this.leave = leave;
        this.managers = List.copyOf(managers);
        this.reports = reports;
        thread = new Thread(this::run, "farheap-registration");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Sends a report soon, because something has changed that the manager should know, such as that the server leaves.
     */
    public synchronized void reportSoon() {
        soon = true;
        notifyAll();
    }

    private void learn(ManagerKey key) {
        synchronized (this) {
            current = key.epoch() >= epoch;
            epoch = Math.max(epoch, key.epoch());
        }
        keys.accept(key);
    }

    /** A manager that was followed does not know what the one that leads has promised since. */
    private void answered(ReportReply reply) {
        boolean counts;
        synchronized (this) {
            counts = current;
        }
        promised.accept(counts ? reply.promised() : ReportReply.UNKNOWN);
    }

    private void run() {
        @Nullable ManagerClient manager = null;
        boolean told = false;
        // Whether the last report was sent, so that a manager that fails at each is asked once a period.
        boolean sent = false;
        while (await()) {
            try {
                if (manager == null) {
                    manager = ManagerClient.connectFirst(managers);
                    manager.onKey(this::learn);
                    manager.onReply(this::answered);
                }
                ReportReply orders = manager.report(reports.get());
                told = false;
                sent = true;
                if (!orders.ended().isEmpty()) {
                    ended.accept(orders.ended());
                }
                if (orders.leave()) {
                    leave.run();
                }
            } catch (Throwable e) {
                if (!told) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "cannot report to any cache manager; the server keeps serving and tries again each second: "
                                    + e.getMessage());
                    told = true;
                }
                if (manager != null) {
                    manager.close();
                    manager = null;
                    if (sent) {
                        // The next manager is asked at once, since silence is as long as it takes to find it.
                        reportSoon();
                    }
                }
                sent = false;
            }
        }
        if (manager != null) {
            sayLast(manager);
            manager.close();
        }
    }

    /** Usually reports that the server leaves, so that no cache is placed here meanwhile. */
    private void sayLast(ManagerClient manager) {
        try {
            manager.report(reports.get());
            // When this call is answered, the report that was sent before it has almost always arrived.
            manager.hello(CacheManager.PROTOCOL_VERSION);
        } catch (RuntimeException e) {
            // The manager receives no more reports, and so it notices.
        }
    }

    /**
     * Waits until the next report is due.
     *
     * @return false if this is closed
     */
    private synchronized boolean await() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);
        try {
            while (!closed && !soon) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    break;
                }
                wait(left);
            }
        } catch (InterruptedException e) {
            return false;
        }
        soon = false;
        return !closed;
    }

    /**
     * Sends a last report, if a manager is connected, and stops reporting; the manager drops the server when it has
     * been silent for a while. Waits for the last report for 2 s at most.
     */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        try {
            thread.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
