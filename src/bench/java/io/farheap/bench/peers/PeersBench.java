package io.farheap.bench.peers;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets all peers take turns: for each operation and size one after the other, in an order that rotates from round to
 * round. Rounds do not count until the last three turns of each peer agree within 5%, or until there have been
 * {@value #MOST_WARM_UPS}: a row says whether its own had settled.
 */
public final class PeersBench {

    /**
     * What one peer's turns came to.
     *
     * @param nanos of the turns' medians, per operation
     * @param p99 the median of the turns' 99th percentiles in ns; NaN if the peer measures none
     * @param settled whether the peer had warmed up
     */
    public record Row(
            PeerOperation operation,
            int bytes,
            String peer,
            Quartiles nanos,
            double p99,
            int turns,
            PeerMeans means,
            boolean settled,
            Validity validity) {

        /**
         * Returns the time over that of a session.
         *
         * @return NaN if either row is invalid, or if this one has more operations under way: the ratio would compare
         *     depths and not peers
         */
        public double ratio(@Nullable Row farheap) {
            if (farheap == null || !means.single()) {
                return Double.NaN;
            }
            Validity both = validity.worse(farheap.validity);
            return MedianRatio.ofTimes(both, nanos.median(), farheap.nanos.median());
        }

        void put(BenchReport.Row json, @Nullable Row farheap) {
            json.put("op", operation.toString())
                    .put("size", bytes)
                    .put("peer", peer)
                    .put("p50_ns", nanos.median())
                    .put("p25_ns", nanos.low())
                    .put("p75_ns", nanos.high())
                    .put("p99_ns", p99)
                    .put("ratio_to_farheap", ratio(farheap))
                    .put("turns", turns)
                    .put("threads", means.threads());
            validity.put(means.put(json, bytes), settled);
        }
    }

    private record Key(PeerOperation operation, int bytes, String peer) {}

    /** The turns of one peer with one operation and size. */
    private static final class Taken {

        final TurnWarmUp warmUp = TurnWarmUp.untimed(1);
        final Samples medians = new Samples();
        final Samples p99s = new Samples();
        final ModelLateness.Total late = new ModelLateness.Total();
        int turns;
    }

    /** Rounds that do not count, at most: a program in C, which is started for each turn, may never settle. */
    static final int MOST_WARM_UPS = 5;

    private final List<PeerOperation> operations;
    private final List<Integer> sizes;
    private final Map<Key, Taken> turns = new HashMap<>();
    private final Map<String, String> absent = new LinkedHashMap<>();
    private List<String> names = List.of();
    private final Map<String, PeerRunner> runners = new HashMap<>();

    public PeersBench(List<PeerOperation> operations, List<Integer> sizes) {
        this.operations = operations;
        this.sizes = sizes;
    }

    /**
     * @param parent of the directory that peers use for files, sockets and logs; on a local disk
     * @param server a memory server for Farheap, with a region of at least the largest size
     * @param rounds that count, at least: as many more as it takes until each peer has had each place equally often
     * @param turnNanos how long a turn is
     * @param progress receives the rounds that are done, as text
     */
    public void run(Path parent, String server, int rounds, long turnNanos, Consumer<String> progress)
            throws Exception {
        try (Peers peers = Peers.all(parent, server, maxBytes(), turnNanos);
                ModelLateness lateness = new ModelLateness(server)) {
            absent.putAll(peers.absent());
            run(peers.open(), lateness, rounds, progress);
        }
    }

    /**
     * The same for only those peers that keep objects by key, and one that the caller has.
     *
     * @param name of the caller's peer, which takes turns with the others and is closed with them
     * @param lateness in this process and in the servers of the caller's peer
     */
    public void runCaches(Path parent, int rounds, long turnNanos, String name, Peer beside, ModelLateness lateness)
            throws Exception {
        try (Peers peers = Peers.caches(parent, turnNanos, name, beside)) {
            absent.putAll(peers.absent());
            run(peers.open(), lateness, rounds, done -> {});
        }
    }

    private int maxBytes() {
        return sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /** @param peers by name, in the order of the table */
    void run(Map<String, ? extends PeerRunner> peers, ModelLateness lateness, int rounds, Consumer<String> progress)
            throws Exception {
        names = List.copyOf(peers.keySet());
        runners.putAll(peers);
        if (names.isEmpty()) {
            return;
        }
        for (PeerRunner contestant : peers.values()) {
            warmUp(contestant, maxBytes());
        }
        int counted = Rotation.whole(names.size(), rounds);
        Rotation rotation = new Rotation(names.size(), counted);
        for (int warmUp = 1; warmUp <= MOST_WARM_UPS && !settled(); warmUp++) {
            round(rotation.order(-warmUp), lateness, false);
            progress.accept("warm-up " + warmUp + " of at most " + MOST_WARM_UPS);
        }
        for (int round = 0; round < counted; round++) {
            round(rotation.order(round), lateness, true);
            progress.accept("round " + (round + 1) + " of " + counted);
        }
    }

    private boolean settled() {
        return !turns.isEmpty() && turns.values().stream().allMatch(taken -> taken.warmUp.settled());
    }

    private void round(int[] order, ModelLateness lateness, boolean counts) throws Exception {
        for (PeerOperation operation : operations) {
            for (int bytes : sizes) {
                for (int place : order) {
                    turn(new Key(operation, bytes, names.get(place)), lateness, counts);
                }
            }
        }
    }

    /** @param bytes the largest size: a peer that moves whole blocks accepts this size, if it accepts any */
    private static void warmUp(PeerRunner contestant, int bytes) throws Exception {
        try {
            contestant.warmUp(bytes);
        } catch (PeerAbsentException e) {
            // Its turns will report that.
        }
    }

    private void turn(Key key, ModelLateness lateness, boolean counts) throws Exception {
        PeerRunner peer = Objects.requireNonNull(runners.get(key.peer()));
        try {
            lateness.restart();
            PeerTurn turn = peer.turn(key.operation(), key.bytes());
            Taken taken = turns.computeIfAbsent(key, ignored -> new Taken());
            if (counts) {
                lateness.addTo(taken.late);
                taken.medians.add(turn.median());
                taken.p99s.add(turn.p99());
                taken.turns++;
            } else {
                taken.warmUp.add(0, turn.median());
            }
        } catch (PeerAbsentException e) {
            absent.put(key.peer() + ", " + key.bytes() + " bytes", e.getMessage());
        } catch (IOException e) {
            throw new IOException(
                    key.peer() + ", " + key.operation() + " of " + key.bytes() + " bytes: " + e.getMessage(), e);
        }
    }

    /** Returns the results, by operation, then size, then peer. */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (PeerOperation operation : operations) {
            for (int bytes : sizes) {
                for (String name : names) {
                    Key key = new Key(operation, bytes, name);
                    Taken taken = turns.get(key);
                    if (taken != null && taken.turns > 0) {
                        rows.add(row(key, taken));
                    }
                }
            }
        }
        return rows;
    }

    private Row row(Key key, Taken taken) {
        PeerRunner runner = Objects.requireNonNull(runners.get(key.peer()));
        return new Row(
                key.operation(),
                key.bytes(),
                key.peer(),
                taken.medians.quartiles(),
                taken.p99s.median(),
                taken.turns,
                runner.means(),
                taken.warmUp.settled(),
                validity(runner, key.operation(), taken.late));
    }

    /** A turn of gets puts a value before, which is a WRITE, but is not measured. */
    static Validity validity(PeerRunner runner, PeerOperation operation, ModelLateness.Total late) {
        if (!runner.onDevice() || !late.modelled()) {
            return Validity.NO_MODEL;
        }
        boolean readsAlone = operation == PeerOperation.GET && runner.readsAlone();
        return readsAlone ? Validity.NOT_JUDGED : late.validity();
    }

    /** Returns the names of the peers that took part, in the order of the table. */
    public List<String> names() {
        return names;
    }

    /** Returns the peers that were not measured, and why. */
    public Map<String, String> absent() {
        return absent;
    }

    /** Returns the row with which others are compared; null if it was not measured. */
    public static @Nullable Row farheap(List<Row> rows, PeerOperation operation, int bytes) {
        return rows.stream()
                .filter(row -> row.peer().equals(Peers.FARHEAP) && row.operation() == operation && row.bytes() == bytes)
                .findFirst()
                .orElse(null);
    }
}
