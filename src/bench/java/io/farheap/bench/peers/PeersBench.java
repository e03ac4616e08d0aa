package io.farheap.bench.peers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Lets all peers take turns: for each operation and size one after the other, and another one first in each round. */
public final class PeersBench {

    /**
     * Medians over the turns, in ns per operation, and the 25th and 75th percentile of the turns' medians.
     *
     * @param p99 NaN if the peer measures none
     */
    public record Row(
            PeerOperation operation,
            int bytes,
            String peer,
            double p50,
            double p25,
            double p75,
            double p99,
            int turns,
            PeerMeans means) {}

    private record Key(PeerOperation operation, int bytes, String peer) {}

    private static final int WARM_UP_ROUNDS = 1;

    private final List<PeerOperation> operations;
    private final List<Integer> sizes;
    private final Map<Key, List<PeerTurn>> turns = new HashMap<>();
    private final Map<String, String> absent = new LinkedHashMap<>();
    private List<String> names = List.of();
    private final Map<String, PeerMeans> means = new HashMap<>();

    public PeersBench(List<PeerOperation> operations, List<Integer> sizes) {
        this.operations = operations;
        this.sizes = sizes;
    }

    /**
     * @param parent of the directory that peers use for files, sockets and logs; on a local disk
     * @param server a memory server for Farheap, with a region of at least the largest size
     * @param turnNanos how long a turn is
     * @param progress receives the number of rounds that are done, warm-ups included
     */
    public void run(Path parent, String server, int rounds, long turnNanos, IntConsumer progress) throws Exception {
        try (Peers peers = Peers.all(parent, server, maxBytes(), turnNanos)) {
            run(peers, rounds, progress);
        }
    }

    /** The same for only those peers that keep objects by key. */
    public void runCaches(Path parent, int rounds, long turnNanos) throws Exception {
        try (Peers peers = Peers.caches(parent, turnNanos)) {
            run(peers, rounds, done -> {});
        }
    }

    private int maxBytes() {
        return sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    private void run(Peers peers, int rounds, IntConsumer progress) throws Exception {
        names = List.copyOf(peers.open().keySet());
        absent.putAll(peers.absent());
        peers.open().forEach((name, peer) -> means.put(name, peer.means()));
        for (PeerRunner contestant : peers.open().values()) {
            warmUp(contestant, maxBytes());
        }
        List<String> order = new ArrayList<>(names);
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
            for (PeerOperation operation : operations) {
                for (int bytes : sizes) {
                    for (String name : order) {
                        PeerRunner peer = Objects.requireNonNull(peers.open().get(name));
                        turn(new Key(operation, bytes, name), peer, round >= 0);
                    }
                }
            }
            Collections.rotate(order, -1);
            progress.accept(round + 1 + WARM_UP_ROUNDS);
        }
    }

    /** Returns the rounds that {@link #run} makes, warm-ups included, for so many that count. */
    public static int rounds(int counting) {
        return counting + WARM_UP_ROUNDS;
    }

    /** @param bytes the largest size: a peer that moves whole blocks accepts this size, if it accepts any */
    private static void warmUp(PeerRunner contestant, int bytes) throws Exception {
        try {
            contestant.warmUp(bytes);
        } catch (PeerAbsentException e) {
            // Its turns will report that.
        }
    }

    private void turn(Key key, PeerRunner contestant, boolean counts) throws Exception {
        try {
            PeerTurn turn = contestant.turn(key.operation(), key.bytes());
            if (counts) {
                turns.computeIfAbsent(key, ignored -> new ArrayList<>()).add(turn);
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
                    List<PeerTurn> taken = turns.get(key);
                    if (taken != null) {
                        rows.add(row(key, taken));
                    }
                }
            }
        }
        return rows;
    }

    private Row row(Key key, List<PeerTurn> taken) {
        return new Row(
                key.operation(),
                key.bytes(),
                key.peer(),
                percentile(taken, PeerTurn::median, 0.5),
                percentile(taken, PeerTurn::median, 0.25),
                percentile(taken, PeerTurn::median, 0.75),
                percentile(taken, PeerTurn::p99, 0.5),
                taken.size(),
                means.getOrDefault(key.peer(), PeerMeans.REMOTE));
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

    private static double percentile(List<PeerTurn> taken, ToDoubleFunction<PeerTurn> figure, double share) {
        double[] sorted = taken.stream().mapToDouble(figure).toArray();
        Arrays.sort(sorted);
        return sorted[(int) Math.round(share * (sorted.length - 1))];
    }
}
