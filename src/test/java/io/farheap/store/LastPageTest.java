package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.memory.SharedMemory;
import io.farheap.store.checkpoint.Checkpoint;
import io.farheap.store.checkpoint.CheckpointFiles;
import io.farheap.store.checkpoint.IndexFiles;
import io.farheap.store.checkpoint.StorageFiles;
import io.farheap.store.checkpoint.TailPagePadding;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogGaps;
import io.farheap.tier.FileDevice;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A log whose last page is short when it is recovered: the file ends before the page would. */
class LastPageTest {

    private static final int BLOCK = 4096;
    private static final int PAGE = 2 * BLOCK;
    private static final int SEGMENT = 1 << 14;
    private static final int EXPECTED = 600;

    /** @return numbers of records in the last page: few; about as many as fill one block; about as many as fill both */
    static IntStream records() {
        int block = BLOCK / 32;
        return IntStream.concat(
                IntStream.range(0, 4),
                IntStream.concat(
                        IntStream.rangeClosed(block - 3, block + 1),
                        IntStream.rangeClosed(2 * block - 3, 2 * block + 1)));
    }

    @ParameterizedTest
    @MethodSource("records")
    void itIsReadScannedAndCompacted(int records) {
        itIsReadScannedAndCompacted(records, false);
    }

    /** A power cut can leave the file of a later segment, so that the device's end is beyond the short page. */
    @ParameterizedTest
    @MethodSource("records")
    void soItIsWithALaterSegmentThere(int records) {
        itIsReadScannedAndCompacted(records, true);
    }

    @ParameterizedTest
    @EnumSource(CheckpointKind.class)
    void aLogThatWasEmptyIsCompactedOnceItIsNot(CheckpointKind kind) {
        RecordingStorage before = new RecordingStorage();
        try (FileDevice device = device(before);
                FarStore store =
                        how(before, device).pageBytes(BLOCK).checkpoints(kind).open()) {
            store.checkpoint();
            before.stopAfter(0);
        } catch (StoreException e) {
            // The close cannot make its checkpoint, because the power is cut.
        }
        RecordingStorage storage = before.cut(new Random(1));
        try (Arena arena = Arena.ofConfined();
                FileDevice device = device(storage)) {
            MemorySegment memory = arena.allocate(EXPECTED);
            FarStoreBuilder how = how(storage, device).pageBytes(BLOCK).checkpoints(kind);
            try (FarStore store = how.open();
                    StoreSession session = store.openSession("a")) {
                store.compact(store.logBytes());
                int keys = 0;
                while (store.logBytes() < 2 * PAGE) {
                    put(session, memory, keys++);
                }
                store.checkpoint();
                store.compact(store.logBytes());
                assertAll(session, memory, keys);
            }
        }
    }

    /** A page that was written during a load has records after the checkpoint's end, and its checksum covers them. */
    @Test
    void whatACheckpointHasBehindItsEndStays() {
        RecordingStorage storage = new RecordingStorage();
        try (FileDevice device = device(storage);
                SharedMemory memory = SharedMemory.allocate("last-page-test", PAGE);
                DeviceMemory registered = device.register(memory.segment());
                DeviceHandle handle = device.open()) {
            BlockingDeviceHandle call = new BlockingDeviceHandle(handle);
            int written = BLOCK + 48;
            memory.segment().fill((byte) 7);
            assertEquals(IoStatus.OK, call.append(0, registered, 0, PAGE));
            List<Checkpoint.Extent> extents = List.of(new Checkpoint.Extent(HybridLog.FIRST, written, 0));
            TailPagePadding.complete(checkpoint(112, extents), device);
            memory.segment().fill((byte) 1);
            assertEquals(IoStatus.OK, call.read(0, registered, 0, PAGE));
            byte[] page = memory.segment().toArray(JAVA_BYTE);
            byte[] expected = new byte[PAGE];
            Arrays.fill(expected, 0, PAGE, (byte) 7);
            assertArrayEquals(expected, page, "the page has a block more, in which the extent ends");
            TailPagePadding.complete(checkpoint(112, List.of(new Checkpoint.Extent(HybridLog.FIRST, 112, 0))), device);
            assertEquals(IoStatus.OK, call.read(0, registered, 0, PAGE));
            Arrays.fill(expected, BLOCK, PAGE, (byte) 0);
            assertArrayEquals(expected, memory.segment().toArray(JAVA_BYTE));
        }
    }

    private static Checkpoint checkpoint(long end, List<Checkpoint.Extent> extents) {
        return new Checkpoint(
                1,
                1,
                RecordLayout.COMPACT,
                Integer.numberOfTrailingZeros(PAGE),
                HybridLog.FIRST,
                end,
                PAGE,
                HybridLog.FIRST,
                Map.of(),
                List.of(),
                IndexFiles.none(64),
                extents,
                end,
                List.of());
    }

    /** The checkpoint is like one of an earlier release, in which a log that was empty began at its end. */
    @Test
    void aPageThatAGapCoversIsNotRead() throws Exception {
        RecordingStorage storage = new RecordingStorage();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(EXPECTED);
            try (FileDevice device = device(storage, BLOCK)) {
                FarStoreBuilder how = how(storage, device).pageBytes(BLOCK);
                try (FarStore store = how.open()) {
                    store.checkpoint();
                }
                try (FarStore store = how.open();
                        StoreSession session = store.openSession("a")) {
                    for (int key = 0; key < 50; key++) {
                        put(session, memory, key);
                    }
                    store.checkpoint();
                }
            }
            CheckpointFiles files = new CheckpointFiles(new StorageFiles(storage));
            files.write(beginning(files.read(2)));
            try (FileDevice device = device(storage, BLOCK);
                    FarStore store = how(storage, device).pageBytes(BLOCK).open();
                    StoreSession session = store.openSession("a")) {
                assertEquals("checkpoint 2 is recovered", store.recovery());
                assertAll(session, memory, 50);
                int[] visited = {0};
                store.scan((segment, key, keyBytes, value, valueBytes) -> ++visited[0] > 0);
                assertEquals(50, visited[0]);
                store.compact(store.logBytes());
                assertAll(session, memory, 50);
            }
        }
    }

    /** @return the same checkpoint, but with a log from the first address on and a gap before its first page */
    private static Checkpoint beginning(Checkpoint of) {
        assertEquals(BLOCK, of.begin());
        return new Checkpoint(
                of.number(),
                of.version(),
                of.layout(),
                of.pageBits(),
                HybridLog.FIRST,
                of.end(),
                of.next(),
                of.passing(),
                of.sessions(),
                List.of(new LogGaps.Gap(HybridLog.FIRST, BLOCK, -1)),
                of.index(),
                of.extents(),
                of.aside(),
                of.pieces());
    }

    private static FileDevice device(RecordingStorage storage) {
        return device(storage, SEGMENT);
    }

    private static FileDevice device(RecordingStorage storage, int segment) {
        return FileDevice.open(storage, segment, FileOptions.DEFAULT.with(FileOptions.Engine.POLLER));
    }

    private static FarStoreBuilder how(RecordingStorage storage, FileDevice device) {
        return FarStore.builder()
                .device(device)
                .files(new StorageFiles(storage))
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(64)
                // A read takes more bytes than a record has.
                .records(8, EXPECTED);
    }

    private static void itIsReadScannedAndCompacted(int records, boolean later) {
        RecordingStorage storage = new RecordingStorage();
        try (Arena arena = Arena.ofConfined();
                FileDevice device = device(storage)) {
            MemorySegment memory = arena.allocate(EXPECTED);
            FarStoreBuilder how = how(storage, device);
            int keys = 0;
            try (FarStore store = how.open();
                    StoreSession session = store.openSession("a")) {
                // A record has 32 bytes, and the first page has room for fewer records than the others.
                while (store.logBytes() < PAGE || keys < PAGE / 32 + records) {
                    put(session, memory, keys++);
                }
                store.checkpoint();
            }
            if (later) {
                appendOneBlock(device, 3 * SEGMENT);
            }
            for (int life = 0; life < 2; life++) {
                try (FarStore store = how.open();
                        StoreSession session = store.openSession("a")) {
                    int[] seen = {0};
                    store.scan((segment, key, keyBytes, value, valueBytes) -> {
                        seen[0]++;
                        return true;
                    });
                    assertEquals(keys, seen[0]);
                    assertAll(session, memory, keys);
                    store.compact(store.logBytes());
                    assertAll(session, memory, keys);
                    put(session, memory, keys++);
                    store.checkpoint();
                }
            }
        }
    }

    private static void appendOneBlock(FileDevice device, long address) {
        try (SharedMemory memory = SharedMemory.allocate("last-page-test", BLOCK);
                DeviceMemory registered = device.register(memory.segment());
                DeviceHandle handle = device.open()) {
            assertEquals(IoStatus.OK, new BlockingDeviceHandle(handle).append(address, registered, 0, BLOCK));
        }
    }

    private static void put(StoreSession session, MemorySegment memory, long key) {
        memory.set(JAVA_LONG_UNALIGNED, 0, key);
        new BlockingStoreSession(session).upsert(key, memory, 0, 8);
    }

    private static void assertAll(StoreSession session, MemorySegment memory, int keys) {
        for (int key = 0; key < keys; key++) {
            assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, EXPECTED), "key " + key);
            assertEquals(key, memory.get(JAVA_LONG_UNALIGNED, 0));
        }
    }
}
