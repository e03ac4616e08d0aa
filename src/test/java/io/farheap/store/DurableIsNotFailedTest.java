package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.checkpoint.StableFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.tier.MemoryDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What fails after a checkpoint has become durable, such as the deletion of an older one, is no failure of it. A
 * checkpoint that failed takes no space, and no older one is deleted in favour of it.
 */
class DurableIsNotFailedTest {

    private static final int PAGE = 4096;
    private static final int KEYS = 100;

    private final MemoryFiles files = new MemoryFiles();
    private final FailingFiles failing = new FailingFiles();
    private final MemoryDevice device = new MemoryDevice(1 << 16, 512);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(8, 8);

    @AfterEach
    void close() {
        arena.close();
        device.close();
    }

    private FarStore open() {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .checkpoints(CheckpointKind.SNAPSHOT)
                .checkpointOnClose(false)
                .files(failing)
                .open();
    }

    private void putAll(StoreSession session, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        for (long key = 0; key < KEYS; key++) {
            new BlockingStoreSession(session).upsert(key, memory, 0, 8);
        }
    }

    private void assertAll(long value) {
        try (FarStore store = open();
                StoreSession session = store.openSession()) {
            for (long key = 0; key < KEYS; key++) {
                assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8));
                assertEquals(value, memory.get(JAVA_LONG_UNALIGNED, 0), "key " + key);
            }
        }
    }

    @Test
    void aFileThatCannotBeDeletedIsDeletedLater() {
        try (FarStore store = open();
                StoreSession session = store.openSession()) {
            for (long number = 1; number <= 3; number++) {
                putAll(session, number);
                failing.deletes = number < 3;
                assertEquals(number, store.checkpoint());
            }
            assertTrue(files.files.containsKey("checkpoint-1"));
            failing.deletes = true;
            assertEquals(4, store.checkpoint());
            List<String> left = files.names().stream()
                    .filter(name -> name.startsWith("checkpoint"))
                    .sorted()
                    .toList();
            assertEquals(List.of("checkpoint-3", "checkpoint-4"), left);
        }
        assertAll(3);
    }

    /**
     * The rename of a checkpoint's file has taken effect, and the sync of the directory behind it fails: whether the
     * checkpoint is there after a power cut is not known, so the next one must not take its snapshot's name. The
     * process ends after the next one has written its own snapshot.
     */
    @Test
    void aNumberIsUsedOnce() {
        try (FarStore store = open();
                StoreSession session = store.openSession()) {
            putAll(session, 1);
            assertEquals(1, store.checkpoint());
            putAll(session, 2);
            failing.afterCommitOf = "checkpoint-2";
            assertThrows(StoreException.class, store::checkpoint);
            putAll(session, 3);
            failing.beforeCommitOf = "checkpoint-";
            assertThrows(StoreException.class, store::checkpoint);
        }
        assertTrue(files.files.containsKey("checkpoint-2"));
        assertAll(2);
    }

    @Test
    void oneThatIsNotThereLeavesNoFile() {
        try (FarStore store = open();
                StoreSession session = store.openSession()) {
            putAll(session, 1);
            assertEquals(1, store.checkpoint());
            Set<String> before = Set.copyOf(files.names());
            failing.beforeCommitOf = "checkpoint-";
            for (int value = 2; value < 5; value++) {
                putAll(session, value);
                assertThrows(StoreException.class, store::checkpoint);
                assertEquals(before, Set.copyOf(files.names()));
            }
        }
        assertAll(1);
    }

    /** The directory cannot be synced, twice: after a power cut neither of the two is there. */
    @Test
    void oneThatMayNotBeDurableReplacesNoOther() {
        try (FarStore store = open();
                StoreSession session = store.openSession()) {
            putAll(session, 1);
            assertEquals(1, store.checkpoint());
            for (long number = 2; number <= 3; number++) {
                putAll(session, number);
                failing.afterCommitOf = "checkpoint-" + number;
                assertThrows(StoreException.class, store::checkpoint);
            }
        }
        files.delete("checkpoint-2");
        files.delete("checkpoint-3");
        assertAll(1);
    }

    /** Files of which some steps fail. */
    private final class FailingFiles implements StableFiles {

        private boolean deletes = true;
        private String afterCommitOf = "none";
        private String beforeCommitOf = "none";

        @Override
        public Output create(String name) {
            Output output = files.create(name);
            return new Output() {
                @Override
                public void write(ByteBuffer bytes) throws IOException {
                    output.write(bytes);
                }

                @Override
                public void commit() throws IOException {
                    if (name.startsWith(beforeCommitOf)) {
                        throw new IOException("not committed");
                    }
                    output.commit();
                    if (name.equals(afterCommitOf)) {
                        throw new IOException("the directory cannot be synced");
                    }
                }

                @Override
                public void close() throws IOException {
                    output.close();
                }
            };
        }

        @Override
        public Input open(String name) throws IOException {
            return files.open(name);
        }

        @Override
        public List<String> names() {
            return files.names();
        }

        @Override
        public void rename(String from, String to) {
            files.rename(from, to);
        }

        @Override
        public void delete(String name) throws IOException {
            if (!deletes) {
                throw new IOException(name + " cannot be deleted");
            }
            files.delete(name);
        }
    }
}
