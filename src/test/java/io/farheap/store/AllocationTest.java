package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.sun.management.ThreadMXBean;
import io.farheap.posix.AsymmetricFence;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.FileOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Operations allocate nothing, in memory or on the device, as the JVM counts for the session's thread. */
@Tag("optimised")
@Needs(Need.HOST)
class AllocationTest {

    private static final int KEYS = 4_000;
    /** The operations of a round: few, because a file is slow on a busy machine. */
    private static final int OPERATIONS = 2_000;
    /** The number of successive rounds in which nothing may be allocated. */
    private static final int SILENT_ROUNDS = 10;
    /** The most rounds until then: at first code is not compiled yet, and compiled code may be deoptimised. */
    private static final int MOST_ROUNDS = 400;

    private static final int FENCES = 20_000;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long[] many = new long[100];
    private final int[] ends = new int[100];
    private final MemorySegment keyMemory = Arena.ofAuto().allocate(ends.length * 11L, 8);
    private final MemorySegment values = Arena.ofAuto().allocate(many.length * 8L, 8);
    private final StoreCompletion atOnceOrLater = (token, status, bytes) -> {};
    private long called;
    private final StoreCompletion completion = (token, status, bytes) -> called++;

    @TempDir
    private Path directory;

    static Stream<Arguments> layouts() {
        return Effort.variants(
                3,
                arguments(false, false, true),
                arguments(true, false, false),
                arguments(true, true, true),
                arguments(false, false, false),
                arguments(true, false, true),
                arguments(true, true, false));
    }

    @ParameterizedTest(name = "on a device: {0}, in a file: {1}, longer: {2}")
    @MethodSource("layouts")
    void anOperationAllocatesNothing(boolean onDevice, boolean file, boolean longer) {
        FarStoreBuilder how = FarStore.builder()
                .pageBytes(4096)
                .memory(onDevice ? 8 * 4096 : 1 << 22)
                .expectedKeys(KEYS)
                .growingIndex(false)
                .pending(16);
        if (longer) {
            how.records(16, 8);
        }
        try (Device device = file
                        ? FileDevice.open(directory, 1 << 20, FileOptions.DEFAULT.with(FileOptions.Engine.POLLER))
                        : new MemoryDevice(1 << 20, 512);
                FarStore store = how.device(device).open();
                StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64, 8);
            for (int key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 8);
            }
            for (int i = 0; i < FENCES; i++) {
                AsymmetricFence.heavy();
            }
            long last = 0;
            int silent = 0;
            for (int round = 0; round < MOST_ROUNDS && silent < SILENT_ROUNDS; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                run(session, memory, longer);
                long bytes = threads.getCurrentThreadAllocatedBytes() - before;
                silent = bytes == 0 ? silent + 1 : 0;
                last = bytes == 0 ? last : bytes;
            }
            assertEquals(SILENT_ROUNDS, silent, "rounds that allocated nothing; one before allocated " + last);
            assertEquals(onDevice, session.deviceReads() > 0);
            assertEquals(onDevice, called > 0);
            assertTrue(store.failure().isEmpty());
        }
    }

    private void readAll(StoreSession session, int first) {
        for (int i = 0; i < many.length; i++) {
            many[i] = (first + i * 101) % KEYS;
        }
        for (int taken = 0; taken < many.length; ) {
            taken += session.readAll(many, taken, many.length - taken, values, 0, 8, atOnceOrLater, 0);
            session.poll();
        }
    }

    /** Reads keys of 8 bytes, and keys of 11 bytes, of which the store has none. */
    private void readAllOfMemory(StoreSession session, int first) {
        int end = 0;
        for (int i = 0; i < ends.length; i++) {
            keyMemory.set(JAVA_LONG_UNALIGNED, end, (first + i * 101) % KEYS);
            end += (i & 1) == 0 ? 8 : 11;
            ends[i] = end;
        }
        for (int taken = 0; taken < ends.length; ) {
            taken += session.readAll(keyMemory, ends, taken, ends.length - taken, values, 0, 8, atOnceOrLater, 0);
            session.poll();
        }
    }

    private void run(StoreSession session, MemorySegment memory, boolean longer) {
        for (int i = 0; i < OPERATIONS; i++) {
            int key = (i * 4_099) % KEYS;
            while (session.read(key, memory, 0, 8, completion, i) == StoreStatus.FULL) {
                session.poll();
            }
            if ((i & 15) == 0) {
                while (session.upsert(key, memory, 8, 8) == StoreStatus.FULL) {
                    session.poll();
                }
                while (session.update(key + 1, Values.ADD, i, completion, i) == StoreStatus.FULL) {
                    session.poll();
                }
                while (session.delete(KEYS + key) == StoreStatus.FULL) {
                    session.poll();
                }
            }
            if (longer) {
                while (session.read(memory, 16, 11, memory, 32, 8, completion, i) == StoreStatus.FULL) {
                    session.poll();
                }
            }
            if ((i & 63) == 0) {
                readAll(session, i);
                if (longer) {
                    readAllOfMemory(session, i);
                }
            }
            if ((i & 7) == 0) {
                session.poll();
            }
        }
        session.drain();
    }
}
