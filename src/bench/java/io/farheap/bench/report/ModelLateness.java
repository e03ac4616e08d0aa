package io.farheap.bench.report;

import io.farheap.control.grpc.ControlClient;
import io.farheap.server.MemoryServer;
import io.farheap.verbs.Devices;
import io.farheap.verbs.soft.SoftverbsCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Counts which part of the operations that softverbs' model times is late, in this process and in servers. Each process
 * counts for itself, so that many operations of one do not hide the late ones of another. READs are not counted, since
 * softverbs cannot judge them. One thread at a time.
 */
public final class ModelLateness implements AutoCloseable {

    /**
     * Operations of one process, other than READs, that the model has timed, and the late ones among them.
     *
     * @param modelled whether the process has a model
     * @param operations those that were late included
     */
    public record Counts(boolean modelled, long operations, long late) {

        Counts since(Counts before) {
            return new Counts(modelled, operations - before.operations, late - before.late);
        }

        Counts plus(Counts other) {
            return new Counts(modelled || other.modelled, operations + other.operations, late + other.late);
        }
    }

    /** What was counted in several spans of time, such as the turns of a side, as if it were one. */
    public static final class Total {

        /** In the order of {@link ModelLateness#now}; empty before the first span. */
        private List<Counts> processes = List.of();

        /**
         * Adds a span.
         *
         * @param span the operations of each process, in the order of the spans before
         */
        public void add(List<Counts> span) {
            List<Counts> sums = new ArrayList<>();
            for (int process = 0; process < span.size(); process++) {
                Counts one = span.get(process);
                sums.add(processes.isEmpty() ? one : one.plus(processes.get(process)));
            }
            processes = sums;
        }

        /** Whether any process has a model. */
        public boolean modelled() {
            return processes.stream().anyMatch(Counts::modelled);
        }

        public Validity validity() {
            return ModelLateness.validity(processes);
        }
    }

    private static final double ALL_PERCENT = 100;
    /** A process with fewer operations counts as if it had this many: a single late one does not make a row invalid. */
    private static final long LEAST_OPERATIONS = 100;

    private final List<ControlClient> servers = new ArrayList<>();
    /** At the last call: of this process, then of the servers. */
    private List<Counts> before = List.of();

    /**
     * Counts from now on.
     *
     * @param addresses of servers that take part in the measurement
     */
    public ModelLateness(String... addresses) {
        try {
            for (String address : addresses) {
                servers.add(ControlClient.connect(address));
            }
            restart();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Counts from now on. */
    public void restart() {
        before = now();
    }

    /** Returns the validity of what was measured since the last call of this method or of {@link #restart}. */
    public Validity validity() {
        return validity(since());
    }

    /** Adds what was counted since the last call of this method, of {@link #validity} or of {@link #restart}. */
    public void addTo(Total total) {
        total.add(since());
    }

    /**
     * Returns the operations of each process, this one first, since the last call of this method, of {@link #addTo}, of
     * {@link #validity} or of {@link #restart}.
     */
    public List<Counts> since() {
        List<Counts> now = now();
        List<Counts> since = new ArrayList<>();
        for (int process = 0; process < now.size(); process++) {
            since.add(now.get(process).since(before.get(process)));
        }
        before = now;
        return since;
    }

    /** @param processes the operations of each of them */
    static Validity validity(List<Counts> processes) {
        double most = 0;
        boolean modelled = false;
        boolean judged = false;
        for (Counts process : processes) {
            modelled |= process.modelled();
            judged |= process.operations() > 0;
            most = Math.max(most, ALL_PERCENT * process.late() / Math.max(process.operations(), LEAST_OPERATIONS));
        }
        return modelled && !judged ? Validity.NOT_JUDGED : new Validity(most);
    }

    private List<Counts> now() {
        List<Counts> now = new ArrayList<>();
        SoftverbsCounters own = SoftverbsCounters.now(Devices.library());
        now.add(new Counts(own.modelled(), own.operations(), own.late()));
        for (ControlClient server : servers) {
            Map<String, Long> counters = server.describe().counters();
            now.add(new Counts(
                    counters.containsKey(MemoryServer.MODEL_OPERATIONS),
                    counters.getOrDefault(MemoryServer.MODEL_OPERATIONS, 0L),
                    counters.getOrDefault(MemoryServer.MODEL_LATE, 0L)));
        }
        return now;
    }

    @Override
    public void close() {
        servers.forEach(ControlClient::close);
    }
}
