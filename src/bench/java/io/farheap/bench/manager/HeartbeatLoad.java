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
 * Says to a manager, in its own process, what servers say every second and client processes every ten: by calls, since
 * as many gRPC lines would take the cores from the manager. Each has a virtual thread, as each call of the manager has,
 * until closed: one that waits for the manager's disk holds up no other.
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

    /** A manager, and the lines of the client processes to it. */
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

    /** Each speaks once in every period; spread over it evenly. */
    private void start(int count, long periodNanos, IntConsumer speak) {
        long started = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int who = i;
            long first = started + periodNanos / count * i;
            threads.add(Thread.ofVirtual().start(() -> repeat(who, first, periodNanos, speak)));
        }
    }

    /** Whom they talk to from now on; null for nobody. */
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

    /** A further client process has these caches from now on, and says so at once. */
    void attendAlso(Set<Long> cacheIds) {
        int last = clients.size() - 1;
        clients.set(last, cacheIds);
        renew(last);
    }

    /** Reports that a manager has heard so far. */
    long reported() {
        return reported.get();
    }

    /** Returns when as many reports were heard as there are servers, twice: each spoke at least once. */
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
            // What is late is not made up for.
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
            // One that ends meanwhile hears nothing.
            if (to == leader) {
                System.err.println("farheap: the manager does not hear who is there: " + e.getMessage());
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
