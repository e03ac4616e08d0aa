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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A memory server's line to its managers: it reports every {@value #PERIOD_MILLIS} ms what the server has, and connects
 * anew where that fails. Thread-safe.
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
    private final Thread thread;
    /** Guarded by this. */
    private boolean soon = true;

    private boolean closed;

    /**
     * Starts reporting.
     *
     * @param managers HOST:PORT; the first that answers hears
     * @param reports what the server has now
     * @param keys told whose grants count, on a thread that it must not hold
     * @param ended told which caches to end, on a thread that it must not hold; more than once
     * @param leave told that the server is to leave, on a thread that it must not hold; perhaps more than once
     */
    public ServerRegistration(
            List<String> managers,
            Supplier<ServerReport> reports,
            Consumer<ManagerKey> keys,
            Consumer<Set<Long>> ended,
            Runnable leave) {
        this.keys = keys;
        this.ended = ended;
        this.leave = leave;
        this.managers = List.copyOf(managers);
        this.reports = reports;
        thread = new Thread(this::run, "farheap-registration");
        thread.setDaemon(true);
        thread.start();
    }

    /** Something has changed that the manager is to know soon, such as that the server leaves. */
    public synchronized void reportSoon() {
        soon = true;
        notifyAll();
    }

    private void run() {
        @Nullable ManagerClient manager = null;
        boolean told = false;
        while (await()) {
            try {
                if (manager == null) {
                    manager = ManagerClient.connectFirst(managers);
                    manager.onKey(keys);
                }
                ReportReply orders = manager.report(reports.get());
                told = false;
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
                            "no cache manager hears of this server, which goes on: " + e.getMessage());
                    told = true;
                }
                if (manager != null) {
                    manager.close();
                    manager = null;
                }
            }
        }
        if (manager != null) {
            sayLast(manager);
            manager.close();
        }
    }

    /** That it leaves, as a rule: nobody is to be sent here meanwhile. */
    private void sayLast(ManagerClient manager) {
        try {
            manager.report(reports.get());
            // What was sent before it has arrived when it is answered, as good as always.
            manager.hello(CacheManager.PROTOCOL_VERSION);
        } catch (RuntimeException e) {
            // It hears no more, and so it knows.
        }
    }

    /** @return false where this is closed */
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

    /** Reports no more; the manager gives the server up when it has been silent for a while. */
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
