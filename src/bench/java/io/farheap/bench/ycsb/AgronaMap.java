package io.farheap.bench.ycsb;

import io.farheap.bench.peers.PeerAbsentException;
import org.agrona.collections.Long2LongHashMap;

/**
 * Agrona's map of longs to longs, on the heap. Several threads may read it as long as no thread writes, so it takes
 * part in loads of reads alone. A second variant gets each group's values twice: the cache misses of the first pass
 * overlap, because no branch depends on its values.
 */
final class AgronaMap implements Contestant {

    /** Agrona's default, above which it doubles its array. */
    private static final float LOAD_FACTOR = 0.65f;

    private static final long MOST_RECORDS = 1 << 28;
    /** No key has this value. */
    private static final long MISSING = 0;

    private static final int SLOT_BYTES = 2 * Long.BYTES;

    private final DataSet data;
    private final boolean touching;
    private final Long2LongHashMap map;

    /**
     * @param touching whether a group's values are got before they are used
     * @throws PeerAbsentException if values are no longs, or there are more keys than it has room for
     */
    AgronaMap(DataSet data, boolean touching) throws PeerAbsentException {
        if (data.valueBytes() != Long.BYTES) {
            throw new PeerAbsentException("it is a map of longs, and values have " + data.valueBytes() + " bytes");
        }
        if (data.records() > MOST_RECORDS) {
            throw new PeerAbsentException("its array has room for " + MOST_RECORDS + " keys");
        }
        this.data = data;
        this.touching = touching;
        map = new Long2LongHashMap((int) Math.ceil(data.records() / (double) LOAD_FACTOR), LOAD_FACTOR, MISSING);
    }

    @Override
    public void load() {
        for (long key = 0; key < data.records(); key++) {
            map.put(key, DataSet.word(key));
        }
    }

    @Override
    public ContestantClient open(ClientCounts tally) {
        return new MapClient(tally);
    }

    @Override
    public boolean changes() {
        return false;
    }

    private long bytes() {
        return (long) map.capacity() * SLOT_BYTES;
    }

    @Override
    public Facts facts() {
        return Facts.inMemory(bytes() - data.bytes());
    }

    @Override
    public Means means() {
        return touching ? Means.grouped(bytes()) : Means.single(bytes());
    }

    @Override
    public void close() {
        map.clear();
    }

    private final class MapClient implements ContestantClient {

        private final ClientCounts tally;

        MapClient(ClientCounts tally) {
            this.tally = tally;
        }

        @Override
        public void run(OperationGroup group) {
            if (touching) {
                long sum = 0;
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    sum += map.get(group.keys[i]);
                }
                tally.touched += sum;
            }
            for (int i = 0; i < OperationGroup.SIZE; i++) {
                long from = group.timed(i) ? System.nanoTime() : 0;
                tally.end(map.get(group.keys[i]) == DataSet.word(group.keys[i]));
                if (from != 0) {
                    tally.took(System.nanoTime() - from);
                }
            }
        }

        @Override
        public void close() {}
    }
}
