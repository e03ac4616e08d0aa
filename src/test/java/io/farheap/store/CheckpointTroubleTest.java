package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.SharedMemory;
import io.farheap.store.checkpoint.DirectoryFiles;
import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.checkpoint.StableFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.tier.Fault;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An open fails if the newest checkpoint cannot be used for a reason that is no damage. Only if it is damaged does an
 * older checkpoint replace it.
 */
class CheckpointTroubleTest {

    private static final int PAGE = 4096;
    private static final int KEYS = 1_000;

    private final MemoryFiles files = new MemoryFiles();
    private final MemoryDevice device = new MemoryDevice(1 << 16, 512);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(8, 8);

    private FarStoreBuilder how(StableFiles where) {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(64)
                .checkpoints(CheckpointKind.SNAPSHOT)
                .checkpointOnClose(false)
                .files(where);
    }

    /** Makes two checkpoints, in each of which every key has the checkpoint's number as its value. */
    @BeforeEach
    void make() {
        try (FarStore store = how(files).open();
                StoreSession session = store.openSession()) {
            for (int checkpoint = 1; checkpoint <= 2; checkpoint++) {
                for (int key = 0; key < KEYS; key++) {
                    memory.set(JAVA_LONG_UNALIGNED, 0, checkpoint);
                    new BlockingStoreSession(session).upsert(key, memory, 0, 8);
                }
                store.checkpoint();
            }
        }
    }

    @AfterEach
    void close() {
        arena.close();
        device.close();
    }

    private void assertHas(int checkpoint) {
        try (FarStore store = how(files).open();
                StoreSession session = store.openSession()) {
            for (int key = 0; key < KEYS; key++) {
                assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8));
                assertEquals(checkpoint, memory.get(JAVA_LONG_UNALIGNED, 0), "key " + key);
            }
        }
    }

    /** Asserts that an open is refused with a message of these parts, and changes no file. */
    private void assertRefuses(StableFiles where, String... parts) {
        Map<String, byte[]> before = new TreeMap<>(files.files);
        String told =
                assertThrows(StoreException.class, () -> how(where).open()).getMessage();
        for (String part : parts) {
            assertTrue(told.contains(part), told);
        }
        assertEquals(before.keySet(), new TreeMap<>(files.files).keySet());
        before.forEach((name, bytes) -> assertArrayEquals(bytes, files.files.get(name), name));
    }

    /** The file may belong to another user, for example, or the process may have no descriptor left. */
    @ParameterizedTest
    @ValueSource(strings = {"checkpoint-2", "snapshot-2"})
    void aFileThatCannotBeOpened(String which) {
        assertRefuses(
                new Unreadable(files, which, new FileSystemException(which, null, "Too many open files")),
                "checkpoint 2",
                which + " cannot be read",
                "Too many open files");
        assertHas(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"checkpoint-2", "snapshot-2"})
    void aFileThatIsNotThereIsDamage(String which) {
        if (which.startsWith("snapshot")) {
            files.files.remove(which);
        } else {
            files.files.computeIfPresent(which, (name, bytes) -> new byte[7]);
        }
        assertHas(1);
        assertTrue(files.files.containsKey("checkpoint-2.damaged"));
    }

    /** A later release may have records of other layouts in a format that is the same otherwise. */
    @Test
    void aLayoutThatIsNotKnownIsNoDamage() {
        byte[] whole = files.files.get("checkpoint-2").clone();
        byte[] later = whole.clone();
        later[12] = 9;
        CRC32C sum = new CRC32C();
        sum.update(later, 0, later.length - Integer.BYTES);
        ByteBuffer.wrap(later).order(ByteOrder.LITTLE_ENDIAN).putInt(later.length - Integer.BYTES, (int)
                sum.getValue());
        files.files.put("checkpoint-2", later);
        assertRefuses(files, "checkpoint 2", "layout 9", "take the release that made it");
        files.files.put("checkpoint-2", whole);
        assertHas(2);
    }

    @Test
    void aLogThatTheDeviceDoesNotReadOnce() {
        boolean[] failed = {false};
        device.faults().inject((kind, address, length) -> {
            boolean now = kind == Fault.Kind.READ && !failed[0];
            failed[0] |= now;
            return now ? Fault.FAILED : Fault.NONE;
        });
        assertRefuses(files, "checkpoint 2", "could not be read", "the storage refused");
        device.faults().inject(null);
        assertHas(2);
    }

    @Test
    void aLogThatTheDeviceDoesNotTake() {
        device.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? Fault.FAILED : Fault.NONE);
        assertRefuses(files, "checkpoint 2", "could not be written");
        device.faults().inject(null);
        assertHas(2);
    }

    @Test
    void aLogThatTheDeviceHasLostIsDamage() {
        device.faults()
                .inject((kind, address, length) ->
                        kind == Fault.Kind.READ && address > 4 * PAGE ? Fault.LOST : Fault.NONE);
        String told =
                assertThrows(StoreException.class, () -> how(files).open()).getMessage();
        assertTrue(told.contains("no checkpoint that is whole"), told);
        device.faults().inject(null);
        assertHas(2);
    }

    @Test
    void aFormatOfAnotherRelease() {
        byte[] newest = files.files.get("checkpoint-2");
        newest[8] = 3;
        assertRefuses(files, "checkpoint 2", "its format is of version 3, and this release knows 2");
        newest[8] = 2;
        assertHas(2);
    }

    @Test
    void whatIsDamagedAndCannotBeSetAside() {
        byte[] newest = files.files.get("checkpoint-2");
        newest[newest.length / 2] ^= 1;
        StableFiles stuck = new Unreadable(files, "", new IOException()) {
            @Override
            public void rename(String from, String to) throws IOException {
                throw new IOException("read-only file system");
            }
        };
        assertRefuses(stuck, "cannot be set aside", "read-only file system");
        assertHas(1);
    }

    /** The device lacks a part of the log that the checkpoint needs, and reads the rest without an error. */
    @Test
    void aLogThatIsShorterIsDamage() {
        RecordingStorage storage = new RecordingStorage();
        MemoryFiles own = new MemoryFiles();
        FileOptions options = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);
        try (FileDevice file = FileDevice.open(storage, PAGE, options);
                FarStore store = how(own).device(file)
                        .checkpoints(CheckpointKind.FOLD_OVER)
                        .open();
                StoreSession session = store.openSession()) {
            for (int key = 0; key < KEYS; key++) {
                new BlockingStoreSession(session).upsert(key, memory, 0, 8);
            }
            store.checkpoint();
        }
        List<String> segments = storage.list().stream()
                .filter(name -> name.startsWith("segment"))
                .sorted()
                .toList();
        storage.delete(segments.getLast());
        try (FileDevice file = FileDevice.open(storage, PAGE, options)) {
            String told = assertThrows(
                            StoreException.class, () -> how(own).device(file).open())
                    .getMessage();
            assertTrue(told.contains("no checkpoint that is whole"), told);
            assertTrue(told.contains("the device has it up to"), told);
        }
        // All segments are there now, but one in the middle is empty.
        storage.create(segments.getLast()).close();
        storage.delete(segments.get(1));
        storage.create(segments.get(1)).close();
        try (FileDevice file = FileDevice.open(storage, PAGE, options)) {
            append(file, Long.parseLong(segments.getLast().substring("segment-".length()), 16) * PAGE);
            String told = assertThrows(
                            StoreException.class, () -> how(own).device(file).open())
                    .getMessage();
            assertTrue(told.contains("cannot read segment 1 in "), told);
            assertTrue(told.contains("its file ends before that"), told);
        }
    }

    private static void append(FileDevice file, long address) {
        try (SharedMemory page = SharedMemory.allocate("page", PAGE);
                DeviceMemory registered = file.register(page.segment());
                DeviceHandle handle = file.open()) {
            assertEquals(IoStatus.OK, new BlockingDeviceHandle(handle).append(address, registered, 0, PAGE));
        }
    }

    @Test
    void realFilesSayWhatIsTheMatter(@TempDir Path directory) throws IOException {
        DirectoryFiles real = new DirectoryFiles(directory);
        assertThrows(NoSuchFileException.class, () -> real.open("a"));
        Files.createDirectory(directory.resolve("b"));
        IOException refused = assertThrows(IOException.class, () -> real.open("b"));
        assertTrue(!StableFiles.isDamage(refused), refused::toString);
        real.write("a", ByteBuffer.wrap(new byte[] {1, 2, 3}));
        try (StableFiles.Input input = real.open("a")) {
            IOException shorter = assertThrows(IOException.class, () -> input.read(1, ByteBuffer.allocate(3)));
            assertTrue(StableFiles.isDamage(shorter), shorter::toString);
        }
        real.rename("a", "c");
        assertEquals(ByteBuffer.wrap(new byte[] {1, 2, 3}), real.read("c"));
        assertEquals(List.of("b", "c"), real.names().stream().sorted().toList());
    }

    /** Files of which one cannot be opened. */
    private static class Unreadable implements StableFiles {

        private final StableFiles files;
        private final String which;
        private final IOException why;

        Unreadable(StableFiles files, String which, IOException why) {
            this.files = files;
            this.which = which;
            this.why = why;
        }

        @Override
        public Output create(String name) throws IOException {
            return files.create(name);
        }

        @Override
        public Input open(String name) throws IOException {
            if (name.equals(which)) {
                throw why;
            }
            return files.open(name);
        }

        @Override
        public List<String> names() throws IOException {
            return files.names();
        }

        @Override
        public void rename(String from, String to) throws IOException {
            files.rename(from, to);
        }

        @Override
        public void delete(String name) throws IOException {
            files.delete(name);
        }
    }
}
