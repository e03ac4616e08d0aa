package io.farheap.bench.peers;

import io.farheap.bench.machine.ClockCost;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Times a peer's operations, and checks that gets return what was put.
 *
 * <p>The median is that of blocks: a block is as many operations as take a few microseconds, under one pair of clock
 * reads, so that the clock, the cost of which is subtracted, matters little; it is one operation if that takes as long.
 * The 99th percentile is that of operations that are timed one by one, one after every block: it includes the clock's
 * cost, since the part that overlaps with the operation is unknown.
 */
@SuppressWarnings("try")
final class TimedPeer implements PeerRunner {

    private static final int BLOCK_NANOS = 4_000;
    private static final int MAX_BLOCK = 4_096;
    private static final int MAX_SAMPLES = 1 << 16;
    private static final int FIRST_TRY = 8;
    private static final long WARM_UP_NANOS = 400_000_000L;

    private final Peer peer;
    private final String name;
    private final long turnNanos;
    private final long clockNanos = ClockCost.nanos();
    private final SplittableRandom random = new SplittableRandom();
    /** By operation and size: the last median, from which the length of a block follows. */
    private final Map<PeerOperation, Map<Integer, Double>> medians = new EnumMap<>(PeerOperation.class);

    private final double[] blocks = new double[MAX_SAMPLES];
    private final double[] singles = new double[MAX_SAMPLES];

    TimedPeer(String name, Peer peer, long turnNanos) {
        this.name = name;
        this.peer = peer;
        this.turnNanos = turnNanos;
    }

    @Override
    public void warmUp(int bytes) throws Exception {
        peer.use(new byte[bytes]);
        peer.begin();
        try {
            for (PeerOperation operation : List.of(PeerOperation.PUT, PeerOperation.GET)) {
                for (long end = System.nanoTime() + WARM_UP_NANOS; System.nanoTime() - end < 0; ) {
                    nanos(operation, FIRST_TRY);
                }
            }
        } finally {
            peer.end();
        }
    }

    @Override
    public PeerTurn turn(PeerOperation operation, int bytes) throws Exception {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        peer.use(value);
        peer.begin();
        try {
            peer.put(1);
            PeerTurn turn = time(operation, bytes);
            peer.get(1);
            if (!Arrays.equals(value, peer.got())) {
                throw new IOException(name + " does not return the value that was put: its figures mean nothing");
            }
            return turn;
        } finally {
            peer.end();
        }
    }

    private PeerTurn time(PeerOperation operation, int bytes) throws Exception {
        Map<Integer, Double> known = medians.computeIfAbsent(operation, ignored -> new HashMap<>());
        double expected = known.containsKey(bytes) ? known.get(bytes) : nanos(operation, FIRST_TRY) / FIRST_TRY;
        int block = (int) Math.clamp(BLOCK_NANOS / Math.max(expected, 1), 1, MAX_BLOCK);
        int count = 0;
        // At least one block: on a busy machine the turn may end before its first block, and would then return the last
        // turn's figures.
        for (long end = System.nanoTime() + turnNanos;
                count == 0 || count < MAX_SAMPLES && System.nanoTime() - end < 0;
                count++) {
            double nanos = nanos(operation, block);
            blocks[count] = Math.max(0, nanos - clockNanos) / block;
            singles[count] = block == 1 ? nanos : nanos(operation, 1);
            if (nanos < BLOCK_NANOS / 2 && block < MAX_BLOCK) {
                // The operation was expected to take longer, before it was compiled.
                block = Math.min(2 * block, MAX_BLOCK);
            }
        }
        Arrays.sort(blocks, 0, count);
        Arrays.sort(singles, 0, count);
        known.put(bytes, blocks[count / 2]);
        return new PeerTurn(blocks[count / 2], singles[(int) (count * 0.99)]);
    }

    private double nanos(PeerOperation operation, int times) throws Exception {
        long start = System.nanoTime();
        if (operation == PeerOperation.GET) {
            peer.get(times);
        } else {
            peer.put(times);
        }
        return System.nanoTime() - start;
    }

    @Override
    public PeerMeans means() {
        return PeerMeans.single(peer.local(), peer.cores());
    }

    @Override
    public boolean onDevice() {
        return peer.onDevice();
    }

    @Override
    public boolean readsAlone() {
        return peer.readsAlone();
    }

    @Override
    public void close() throws Exception {
        peer.close();
    }
}
