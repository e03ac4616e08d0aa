package io.farheap.bench.ycsb;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * A minimal map in off-heap memory: open addressing, slots of an 8-byte key and its value, at least half of them free.
 * Keys are inserted by compare-and-set, and never deleted; a longer value may tear. It is the limit for the others. A
 * second variant touches each group's slots first.
 */
final class OffHeapMap implements Contestant {

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final DataSet data;
    private final boolean touching;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment places;
    private final long placeBytes;
    private final long mask;
    private final int shift;

    /** @param touching whether a group's slots are touched before its operations */
    OffHeapMap(DataSet data, boolean touching) {
        this.data = data;
        this.touching = touching;
        placeBytes = (long) Long.BYTES + data.valueBytes();
        long count = Math.max(64, Long.highestOneBit(2 * data.records() - 1) * 2);
        mask = count - 1;
        shift = Long.numberOfLeadingZeros(mask);
        try {
            places = arena.allocate(count * placeBytes, 64);
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public void load() {
        for (long key = 0; key < data.records(); key++) {
            store(key);
        }
    }

    private long first(long key) {
        return (key * 0x9E3779B97F4A7C15L >>> shift) * placeBytes;
    }

    private long next(long place) {
        long following = place + placeBytes;
        return following > mask * placeBytes ? 0 : following;
    }

    /** @return the offset of its value, or -1 */
    private long find(long key) {
        // A free slot has 0.
        long sought = key + 1;
        for (long place = first(key); ; place = next(place)) {
            long there = places.get(JAVA_LONG, place);
            if (there == sought) {
                return place + Long.BYTES;
            }
            if (there == 0) {
                return -1;
            }
        }
    }

    private void store(long key) {
        long sought = key + 1;
        for (long place = first(key); ; place = next(place)) {
            long there = (long) WORD.getVolatile(places, place);
            if (there == sought || there == 0 && WORD.compareAndSet(places, place, 0L, sought)) {
                data.fill(places, place + Long.BYTES, key);
                return;
            }
            if (there == 0) {
                store(key);
                return;
            }
        }
    }

    @Override
    public ContestantClient open(ClientCounts tally) {
        return new MapClient(tally);
    }

    @Override
    public Facts facts() {
        return Facts.inMemory(places.byteSize() - data.bytes());
    }

    @Override
    public Means means() {
        return touching ? Means.grouped(places.byteSize()) : Means.single(places.byteSize());
    }

    @Override
    public void close() {
        arena.close();
    }

    private final class MapClient implements ContestantClient {

        private final ClientCounts tally;
        private final Arena own = Arena.ofShared();
        private final MemorySegment value = own.allocate(data.valueBytes(), Long.BYTES);

        MapClient(ClientCounts tally) {
            this.tally = tally;
        }

        @Override
        public void run(OperationGroup group) {
            if (touching) {
                long sum = 0;
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    sum += places.get(JAVA_LONG, first(group.keys[i]));
                }
                tally.touched += sum;
            }
            for (int i = 0; i < OperationGroup.SIZE; i++) {
                long from = group.timed(i) ? System.nanoTime() : 0;
                boolean right = operate(group.kinds[i], group.keys[i]);
                tally.end(right);
                if (from != 0) {
                    tally.took(System.nanoTime() - from);
                }
            }
        }

        private boolean operate(byte kind, long key) {
            if (kind == OperationGroup.UPDATE || kind == OperationGroup.INSERT) {
                store(key);
                return true;
            }
            long at = find(key);
            if (at < 0) {
                return false;
            }
            MemorySegment.copy(places, at, value, 0, data.valueBytes());
            if (kind == OperationGroup.MODIFY) {
                places.set(JAVA_LONG, at, value.get(JAVA_LONG, 0));
            }
            return data.matches(value, 0, key);
        }

        @Override
        public void close() {
            own.close();
        }
    }
}
