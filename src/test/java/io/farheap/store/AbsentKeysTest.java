package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.kv.Codec;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An operation that finds no key, and makes none, takes no room in the index. */
class AbsentKeysTest {

    private static final int PAGE = 4096;
    private static final int KEYS = 5_000;

    private final MemoryDevice device = new MemoryDevice(1 << 20, 512);

    @AfterEach
    void close() {
        device.close();
    }

    /** The smallest index, so that entries for all keys would need many overflow buckets. */
    private FarStoreBuilder how() {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(1);
    }

    @Test
    void updatesThatMakeNoValueLeaveNoEntry() {
        try (FarStore store = how().growingIndex(false).open();
                StoreSession session = store.openSession()) {
            long before = store.indexBytes();
            for (long key = 0; key < KEYS; key++) {
                assertEquals(StoreStatus.NOT_FOUND, session.update(key, new Making(-1), 0, (t, s, b) -> {}, 0));
                assertEquals(StoreStatus.NOT_FOUND, session.delete(key));
            }
            assertEquals(before, store.indexBytes());
        }
    }

    @Test
    void anUpdateWhoseValueIsRefusedLeavesNoEntry() {
        try (FarStore store = how().growingIndex(false).open();
                StoreSession session = store.openSession()) {
            long before = store.indexBytes();
            for (long each = 0; each < KEYS; each++) {
                long key = each;
                assertThrows(
                        IllegalArgumentException.class,
                        () -> session.update(key, new Making(9), 0, (t, s, b) -> {}, 0));
            }
            assertEquals(before, store.indexBytes());
        }
    }

    @Test
    void removalsFromAMapLeaveNoEntry() {
        try (FarStore store = how().records(16, 16).growingIndex(false).open()) {
            ConcurrentMap<Long, Long> map = store.asMap(Codec.LONG, Codec.LONG);
            long before = store.indexBytes();
            for (long key = 0; key < KEYS; key++) {
                assertNull(map.remove(key));
            }
            assertEquals(before, store.indexBytes());
        }
    }

    /** Makes a value of some length for an absent key, or none if the length is negative. */
    private record Making(int length) implements Update {

        @Override
        public int initialBytes(long argument) {
            return length;
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {
            throw new AssertionError("no value is made");
        }

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            throw new AssertionError("the key is absent");
        }

        @Override
        public void copy(
                MemorySegment old,
                long oldOffset,
                int oldBytes,
                MemorySegment value,
                long offset,
                int bytes,
                long argument) {
            throw new AssertionError("the key is absent");
        }
    }
}
