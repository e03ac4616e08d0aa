package io.farheap.bench.ycsb;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A {@link ConcurrentHashMap} of {@code Long} keys, to {@code Long} values or to arrays. */
final class HeapMap implements Contestant {

    /** Of a node of the map, and of its place in the table. */
    private static final long ENTRY_BYTES = 32 + 8;

    private static final long LONG_BYTES = 16;
    private static final long ARRAY_HEADER_BYTES = 16;

    private final DataSet data;
    private final ConcurrentHashMap<Long, Object> map;

    HeapMap(DataSet data) {
        this.data = data;
        map = new ConcurrentHashMap<>((int) Math.min(1 << 30, data.records()));
    }

    @Override
    public void load() {
        for (long key = 0; key < data.records(); key++) {
            map.put(key, value(key));
        }
    }

    private Object value(long key) {
        if (data.valueBytes() == Long.BYTES) {
            return DataSet.word(key);
        }
        byte[] bytes = new byte[data.valueBytes()];
        data.fill(MemorySegment.ofArray(bytes), 0, key);
        return bytes;
    }

    @Override
    public ContestantClient open(ClientCounts tally) {
        return new MapClient(tally);
    }

    @Override
    public Facts facts() {
        return Facts.inMemory(0);
    }

    /** Its bytes are computed, of objects with compressed references. */
    @Override
    public Means means() {
        long value = data.valueBytes() == Long.BYTES ? LONG_BYTES : ARRAY_HEADER_BYTES + data.valueBytes();
        return Means.single(data.records() * (ENTRY_BYTES + LONG_BYTES + value));
    }

    @Override
    public void close() {
        map.clear();
    }

    private final class MapClient implements ContestantClient {

        private final ClientCounts tally;
        private final byte[] copy = new byte[data.valueBytes()];
        private final MemorySegment copied = MemorySegment.ofArray(copy);

        MapClient(ClientCounts tally) {
            this.tally = tally;
        }

        @Override
        public void run(OperationGroup group) {
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
            return switch (kind) {
                case OperationGroup.READ -> matches(map.get(key), key);
                case OperationGroup.MODIFY -> matches(map.compute(key, (ignored, old) -> old), key);
                default -> {
                    map.put(key, value(key));
                    yield true;
                }
            };
        }

        private boolean matches(@Nullable Object value, long key) {
            if (value instanceof Long word) {
                return word == DataSet.word(key);
            }
            if (!(value instanceof byte[] bytes)) {
                return false;
            }
            MemorySegment.copy(bytes, 0, copied, ValueLayout.JAVA_BYTE, 0, bytes.length);
            return data.matches(copied, 0, key);
        }

        @Override
        public void close() {}
    }
}
