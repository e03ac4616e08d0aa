package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An update of a value of 8 bytes has the same outcome wherever the record is: in the mutable part of the log, in its
 * read-only part in memory, on the device, or in the read cache.
 */
class UpdateLengthTest {

    private static final int PAGE = 4096;
    private static final long KEY = 7;

    private final MemoryDevice device = new MemoryDevice(1 << 20, 512);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(8, 8);

    @AfterEach
    void close() {
        arena.close();
        device.close();
    }

    private FarStoreBuilder how() {
        return FarStore.builder().device(device).pageBytes(PAGE).memory(16 * PAGE);
    }

    private void put(StoreSession session, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        new BlockingStoreSession(session).upsert(key, memory, 0, 8);
    }

    private long get(StoreSession session, long key) {
        assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8));
        return memory.get(JAVA_LONG_UNALIGNED, 0);
    }

    /** Stores other keys until the log is this much longer. */
    private void fill(FarStore store, StoreSession session, long bytes) {
        long to = store.logBytes() + bytes;
        for (long other = 1000; store.logBytes() < to; other++) {
            put(session, other, other);
        }
    }

    private static void update(StoreSession session, Update update) {
        int status = session.update(KEY, update, 1, (token, outcome, bytes) -> {}, 0);
        assertTrue(status == StoreStatus.DONE || status == StoreStatus.PENDING, StoreStatus.describe(status));
        session.drain();
    }

    /** What is done with the record in each place. */
    private interface Check {
        void run(StoreSession session);
    }

    private void wherever(Check check) {
        try (FarStore store = how().open();
                StoreSession session = store.openSession()) {
            put(session, KEY, 70);
            check.run(session);
        }
        try (FarStore store = how().mutableShare(0).open();
                StoreSession session = store.openSession()) {
            put(session, KEY, 70);
            fill(store, session, 4 * PAGE);
            assertTrue(store.bytes().readOnly() > 0);
            assertEquals(store.logBytes(), store.logBytesInMemory());
            check.run(session);
        }
        try (FarStore store = how().open();
                StoreSession session = store.openSession()) {
            put(session, KEY, 70);
            fill(store, session, 20 * PAGE);
            check.run(session);
        }
        try (FarStore store = how().readCache(8 * PAGE).open();
                StoreSession session = store.openSession()) {
            put(session, KEY, 70);
            fill(store, session, 20 * PAGE);
            assertEquals(70, get(session, KEY));
            check.run(session);
        }
    }

    @Test
    void anUpdateThatDeletesIsRefusedWhereverTheRecordIs() {
        wherever(session -> {
            String told = assertThrows(IllegalArgumentException.class, () -> update(session, new Copied(-1)))
                    .getMessage();
            assertTrue(told.contains("no update that deletes"), told);
            assertEquals(70, get(session, KEY));
        });
    }

    /** An update that writes the new value before it reads the old one finds the old one unchanged. */
    @Test
    void theOldValueIsNotWhereTheNewOneIsMade() {
        wherever(session -> {
            update(session, new Copied(Long.BYTES));
            assertEquals(71, get(session, KEY));
        });
    }

    /** Never changes a value in place: adds the argument to a copy, which it clears first. */
    private record Copied(int bytes) implements Update {

        @Override
        public int initialBytes(long argument) {
            return -1;
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {
            throw new AssertionError("the key is there");
        }

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            return false;
        }

        @Override
        public int copyBytes(MemorySegment old, long oldOffset, int oldBytes, long argument) {
            return bytes;
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
            value.set(JAVA_LONG_UNALIGNED, offset, 0);
            value.set(JAVA_LONG_UNALIGNED, offset, old.get(JAVA_LONG_UNALIGNED, oldOffset) + argument);
        }
    }
}
