package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.StoreException;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.Device;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads recover a log of many pages, also if its device takes few requests at a time. */
class RecoveryTest {

    private static final int KEYS = 20_000;
    private static final int PAGE = 4096;

    private final MemoryFiles files = new MemoryFiles();

    private FarStoreBuilder how(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(KEYS)
                .files(files);
    }

    /** Stores each key twice, and deletes a third of the keys at the end. */
    private void fill(MemoryDevice device) {
        try (FarStore store = how(device).open();
                StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            BlockingStoreSession blocking = new BlockingStoreSession(session);
            MemorySegment value = arena.allocate(8, 8);
            for (int i = 0; i < 2 * KEYS; i++) {
                value.set(JAVA_LONG_UNALIGNED, 0, i);
                blocking.upsert(i % KEYS, value, 0, 8);
            }
            for (int key = 0; key < KEYS; key += 3) {
                blocking.delete(key);
            }
            store.checkpoint();
        }
    }

    @ParameterizedTest(name = "{0} requests at a time")
    @ValueSource(ints = {1, 2, 7, 128})
    void eachKeyHasItsLastValue(int requests) {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512, requests, Device.MAX_ADDRESS)) {
            device.faults().shuffle(7);
            fill(device);
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession();
                    Arena arena = Arena.ofConfined()) {
                BlockingStoreSession blocking = new BlockingStoreSession(session);
                MemorySegment value = arena.allocate(8, 8);
                for (int key = 0; key < KEYS; key++) {
                    int bytes = blocking.read(key, value, 0, 8);
                    assertEquals(key % 3 == 0 ? -1 : 8, bytes, "key " + key);
                    if (bytes == 8) {
                        assertEquals(KEYS + key, value.get(JAVA_LONG_UNALIGNED, 0), "key " + key);
                    }
                }
            }
        }
    }

    /** The failed recovery leaves nothing behind, so a store can be opened on the same device again. */
    @Test
    void aLogThatCannotBeReadIsTold() {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512)) {
            fill(device);
            device.faults()
                    .inject((kind, address, length) ->
                            kind == Fault.Kind.READ && address > 100 * PAGE ? Fault.FAILED : Fault.NONE);
            String told = "";
            try (FarStore store = how(device).open()) {
                told = store.recovery();
            } catch (StoreException e) {
                told = e.getMessage();
            }
            assertTrue(told.contains("could not be read"), told);
            device.faults().inject(null);
            how(device).open().close();
        }
    }
}
