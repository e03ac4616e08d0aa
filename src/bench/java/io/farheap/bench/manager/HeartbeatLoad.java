package io.farheap.bench.manager;

import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends to a manager, in its own process, the reports of servers every second and those of client processes every ten:
 * by method calls, since so many gRPC connections would take the cores from the manager. Each sender has a virtual
 * thread, as each call of the manager has, until this is closed: one that waits for the manager's disk delays no other.
 */
final class HeartbeatLoad implements AutoCloseable {

    private static final long SERVER_PERIOD_NANOS = 1_000_000_000;
    private static final long CLIENT_PERIOD_NANOS = 10 * SERVER_PERIOD_NANOS;
    private static final long LOOK_NANOS = 10_000_000;

    private static final CacheManager.Listener DEAF = new CacheManager.Listener() {
        @Override
        public void reclaim(Reclaim alert) {}

        @Override
        public void expiring(long cacheId, long leftMillis) {}

        @Override
        public void lost(long cacheId, String server) {}

        @Override
        public void ended(long cacheId, String why) {}

        @Override
        public void ended(ControlException why) {}
    };

    /** A manager, and the client processes' lines to it. */
    private record Leader(CacheManager manager, List<CacheManager.Attendance> lines) {}

    private final List<ServerReport> reports;
    private final List<Set<Long>> clients;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong reported = new AtomicLong();
    private volatile boolean closed;
    private volatile @Nullable Leader leader;

    HeartbeatLoad(SyntheticCluster cluster, int processes) {
        reports = cluster.reports();
        clients = new CopyOnWriteArrayList<>(cluster.clients(processes));
        clients.add(Set.of());
        start(reports.size(), SERVER_PERIOD_NANOS, this::report);
        start(clients.size(), CLIENT_PERIOD_NANOS, this::renew);
    }

    /** Each sends once in every period; their times are spread evenly over it. */
    private void start(int count, long periodNanos, IntConsumer speak) {
        long started = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int who = i;
            long first = started + periodNanos / count * i;
            threads.add(Thread.ofVirtual().start(() -> repeat(who, first, periodNanos, speak)));
        }
    }

    /** Sets the manager to which they report; null for none. */
    void attend(@Nullable CacheManager manager) {
        if (manager == null) {
            leader = null;
            return;
        }
        List<CacheManager.Attendance> lines = new ArrayList<>();
        for (int client = 0; client < clients.size(); client++) {
            lines.add(manager.attend(client + 1, DEAF));
        }
        leader = new Leader(manager, lines);
    }

    /** Adds a client process that has these caches, and reports that at once. */
    void attendAlso(Set<Long> cacheIds) {
        int last = clients.size() - 1;
        clients.set(last, cacheIds);
        renew(last);
    }

    /** Returns how many reports managers have received so far. */
    long reported() {
        return reported.get();
    }

    /**
     * Returns when twice as many reports as there are servers were received: each server has reported at least once.
     */
    void awaitAll() {
        long until = reported() + 2L * reports.size();
        while (reported() < until && threads.stream().allMatch(Thread::isAlive)) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        if (!threads.stream().allMatch(Thread::isAlive)) {
            throw new IllegalStateException("pretended servers have ended; the reason is above");
        }
    }

    private void repeat(int who, long first, long periodNanos, IntConsumer speak) {
        long next = first;
        while (true) {
            for (long left = next - System.nanoTime(); left > 0 && !closed; left = next - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            if (closed) {
                return;
            }
            speak.accept(who);
            // A late report is not made up for.
            next = Math.max(next + periodNanos, System.nanoTime());
        }
    }

    private void report(int server) {
        say(server, (to, i) -> {
            to.manager().report(reports.get(i));
            reported.incrementAndGet();
        });
    }

    private void renew(int client) {
        say(client, (to, i) -> to.lines().get(i).renew(clients.get(i)));
    }

    private interface Word {
        void say(Leader to, int who);
    }

    @SuppressWarnings("ReferenceEquality")
    private void say(int who, Word word) {
        Leader to = leader;
        if (to == null) {
            return;
        }
        try {
            word.say(to, who);
        } catch (ControlException e) {
            // A manager that ends meanwhile gets no reports.
            if (to == leader) {
                System.err.println("farheap: a report or a renewal does not reach the manager: " + e.getMessage());
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(LockSupport::unpark);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
