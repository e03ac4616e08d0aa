package io.farheap.bench.manager;

import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Says to a manager, in its own process, what servers say every second and client processes every ten: by calls, since
 * as many gRPC lines would take the cores from the manager. A thread of its own, until closed.
 */
final class Attendants implements AutoCloseable {

    private static final long STEP_NANOS = 10_000_000;
    private static final int STEPS = 100;
    /** Steps of a client's period. */
    private static final int CLIENT_STEPS = 10 * STEPS;

    private static final CacheManager.Listener DEAF = new CacheManager.Listener() {
        @Override
        public void reclaim(Reclaim alert) {}

        @Override
        public void ended(ControlException why) {}
    };

    private final List<ServerReport> reports;
    private final List<Set<Long>> clients;
    private final Thread thread;
    private volatile boolean closed;
    private volatile @Nullable CacheManager manager;
    private volatile long rounds;

    Attendants(PretendedCluster cluster, int processes) {
        reports = cluster.reports();
        clients = cluster.clients(processes);
        thread = new Thread(this::run, "farheap-bench-attendants");
        thread.setDaemon(true);
        thread.start();
    }

    /** Whom they talk to from now on; null for nobody. */
    void attend(@Nullable CacheManager leader) {
        manager = leader;
    }

    /** Returns when everybody has spoken to the manager that there is now. */
    void awaitAll() {
        long until = rounds + 2;
        while (rounds < until && thread.isAlive()) {
            LockSupport.parkNanos(STEP_NANOS);
        }
        if (!thread.isAlive()) {
            throw new IllegalStateException("the pretended servers have ended; the reason is above");
        }
    }

    private void run() {
        CacheManager known = null;
        List<CacheManager.Attendance> lines = List.of();
        long next = System.nanoTime();
        for (int step = 0; !closed; step++) {
            CacheManager leader = manager;
            if (leader != null) {
                if (leader != known) {
                    lines = lines(leader);
                    known = leader;
                }
                speak(leader, lines, step);
            }
            if (step % STEPS == STEPS - 1) {
                rounds++;
            }
            next += STEP_NANOS;
            long wait = next - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(wait);
            } else {
                // Late: what a busy machine has missed is not made up for.
                next = System.nanoTime();
            }
        }
    }

    private List<CacheManager.Attendance> lines(CacheManager leader) {
        List<CacheManager.Attendance> lines = new ArrayList<>();
        for (int client = 0; client < clients.size(); client++) {
            lines.add(leader.attend(client + 1, DEAF));
        }
        return lines;
    }

    private void speak(CacheManager leader, List<CacheManager.Attendance> lines, int step) {
        int turn = step % STEPS;
        try {
            for (int i = turn; i < reports.size(); i += STEPS) {
                leader.report(reports.get(i));
            }
            for (int i = step % CLIENT_STEPS; i < lines.size(); i += CLIENT_STEPS) {
                lines.get(i).renew(clients.get(i));
            }
        } catch (ControlException e) {
            // The manager has ended meanwhile, or the state is another's.
            if (leader == manager) {
                System.err.println("farheap: the manager does not hear its servers: " + e.getMessage());
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
