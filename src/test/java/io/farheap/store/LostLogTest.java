package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.log.LogThread;
import io.farheap.store.operation.StoreContext;
import io.farheap.store.operation.StoreVersion;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** If the log cannot be written any more, there will never be room again, and no operation waits for it. */
class LostLogTest {

    private static final int PAGE = 4096;

    @Test
    void anUpdateThatReadsTheDeviceEndsToo() {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = FarStore.builder()
                        .device(device)
                        .pageBytes(PAGE)
                        .memory(8 * PAGE)
                        .pending(16)
                        .writePatience(Duration.ofMillis(1))
                        .open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8);
            memory.set(JAVA_LONG_UNALIGNED, 0, 1);
            long keys = 0;
            // Afterwards the first keys are on the device only.
            while (store.logBytes() < 20 * PAGE) {
                new BlockingStoreSession(session).upsert(keys++, memory, 0, 8);
            }
            device.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? Fault.FAILED : Fault.NONE);
            // Upserts use up the room in memory.
            long next = keys;
            int outcome = StoreStatus.DONE;
            while (outcome != StoreStatus.FAILED) {
                outcome = session.upsert(next++, memory, 0, 8);
            }
            List<Integer> ends = new ArrayList<>();
            for (long key = 0; key < 8; key++) {
                assertEquals(
                        StoreStatus.PENDING,
                        session.update(key, Values.ADD, 1, (token, status, bytes) -> ends.add(status), 0));
            }
            session.drain();
            assertEquals(8, ends.size());
            assertTrue(ends.stream().allMatch(end -> end == StoreStatus.FAILED), ends::toString);
        }
    }

    /** A checkpoint that waits for the log's thread, which has died, never ends; nothing waits for it. */
    @Test
    void whatWaitsForACheckpointEndsToo() throws ReflectiveOperationException {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = FarStore.builder()
                        .device(device)
                        .pageBytes(PAGE)
                        .memory(8 * PAGE)
                        .open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8);
            long keys = 0;
            while (store.logBytes() < 20 * PAGE) {
                new BlockingStoreSession(session).upsert(keys++, memory, 0, 8);
            }
            LogThread logThread = (LogThread) IndexGrowthTest.field(store, "logThread");
            logThread.died(new IllegalStateException("of the test"));
            List<Integer> ends = new ArrayList<>();
            StoreCompletion completion = (token, status, bytes) -> ends.add(status);
            assertEquals(StoreStatus.PENDING, session.update(0, Values.ADD, 1, completion, 0));
            StoreVersion version = ((StoreContext) IndexGrowthTest.field(store, "parts")).version();
            version.hold();
            try {
                session.drain();
                assertEquals(List.of(StoreStatus.FAILED), ends);
                assertEquals(StoreStatus.FAILED, session.update(1, Values.ADD, 1, completion, 0));
                assertThrows(StoreException.class, () -> store.compact(PAGE));
            } finally {
                version.rest();
            }
        }
    }
}
