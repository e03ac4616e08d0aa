package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.CutFile;
import io.farheap.tier.MemoryDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Keys and values in a mapped file that becomes shorter. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CutFileTest {

    private static final int BYTES = 512;

    @Test
    void itChangesNothing(@TempDir Path directory) throws IOException {
        try (Arena arena = Arena.ofConfined();
                CutFile file = new CutFile(directory, BYTES);
                MemoryDevice device = new MemoryDevice(1 << 16, 8);
                FarStore store = FarStore.builder()
                        .device(device)
                        .pageBytes(4096)
                        .memory(8 * 4096)
                        .records(64, BYTES)
                        .open();
                StoreSession session = store.openSession()) {
            MemorySegment mapped = file.segment();
            mapped.fill((byte) 1);
            MemorySegment memory = arena.allocate(BYTES);
            StoreCompletion none = (token, ended, bytes) -> {};
            assertEquals(StoreStatus.DONE, session.upsert(1, mapped, 0, BYTES));
            assertEquals(StoreStatus.DONE, session.upsert(2, mapped, 0, Long.BYTES));
            file.cut();
            assertThrows(InternalError.class, () -> session.upsert(1, mapped, 0, BYTES));
            assertThrows(InternalError.class, () -> session.upsert(2, mapped, 0, Long.BYTES));
            assertThrows(InternalError.class, () -> session.upsert(3, mapped, 0, BYTES));
            assertThrows(InternalError.class, () -> session.upsert(mapped, 0, 32, memory, 0, BYTES));
            assertThrows(InternalError.class, () -> session.read(1, mapped, 0, BYTES, none, 0));
            // The failed operations have no effect on later ones.
            for (int bytes : new int[] {BYTES, Long.BYTES}) {
                memory.fill((byte) 0);
                assertEquals(StoreStatus.DONE, session.read(bytes == BYTES ? 1 : 2, memory, 0, BYTES, none, 0));
                assertEquals(bytes, session.valueBytes());
                for (int at = 0; at < bytes; at++) {
                    assertEquals(1, memory.get(ValueLayout.JAVA_BYTE, at));
                }
            }
            assertEquals(StoreStatus.NOT_FOUND, session.read(3, memory, 0, BYTES, none, 0));
            assertEquals(StoreStatus.DONE, session.upsert(1, memory, 0, BYTES));
        }
    }
}
