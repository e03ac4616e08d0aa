package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it counts the threads and the files of this process")
class EmbeddedZooKeeperTest {

    private static final long PATIENCE_NANOS = 60_000_000_000L;

    @TempDir
    private Path directory;

    private static ZooKeeperStore open(EmbeddedZooKeeper zookeeper) {
        return new ZooKeeperStore(zookeeper.connection());
    }

    /** Waits until the list is empty, or fails with its elements. */
    private static void awaitNone(Supplier<List<String>> left) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!left.get().isEmpty() && System.nanoTime() - end < 0) {
            Thread.sleep(20);
        }
        assertEquals(List.of(), left.get());
    }

    private static Set<Thread> threads() {
        return new HashSet<>(Thread.getAllStackTraces().keySet());
    }

    private static List<String> threadsBeside(Set<Thread> before) {
        return threads().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                // These are threads of the JVM and of JUnit.
                .filter(name ->
                        !name.startsWith("Cleaner-") && !name.equals("process reaper") && !name.startsWith("junit-"))
                .toList();
    }

    /** The files, sockets and selectors of this process's open descriptors. */
    private static List<String> descriptors() {
        List<String> open = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                try {
                    open.add(Files.readSymbolicLink(descriptor).toString());
                } catch (IOException e) {
                    // It is closed by now.
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return open;
    }

    /** Open files of this process below the directory. */
    private List<String> openFiles() {
        return descriptors().stream()
                .filter(file -> file.startsWith(directory.toString()))
                .toList();
    }

    /** Sockets and selectors that were not open before. */
    private static List<String> socketsBeside(List<String> before) {
        List<String> open = new ArrayList<>(descriptors());
        // Removes one element for each, because all selectors have the same name.
        before.forEach(open::remove);
        open.removeIf(name -> !name.startsWith("socket:") && !name.startsWith("anon_inode:[eventpoll]"));
        return open;
    }

    @Test
    void theStateSurvivesIt() {
        Set<CacheRecord> caches = Set.of(Samples.cache(1, 5), Samples.cache(2, 0));
        long epoch;
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory);
                ZooKeeperStore store = open(zookeeper)) {
            caches.forEach(cache -> store.write(List.of(new StateChange.PutCache(cache))));
            store.write(List.of(new StateChange.PutServer(Samples.server(1))));
            epoch = store.epoch();
        }
        for (int i = 0; i < 2; i++) {
            try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory);
                    ZooKeeperStore store = open(zookeeper)) {
                assertTrue(store.epoch() > epoch);
                epoch = store.epoch();
                ManagerState state = store.load();
                assertEquals(List.of(Samples.server(1)), state.servers());
                assertEquals(caches, new HashSet<>(state.caches()));
            }
        }
    }

    @Test
    void aSecondOneOnADirectoryIsRefused() {
        try (EmbeddedZooKeeper first = EmbeddedZooKeeper.start(directory)) {
            for (int i = 0; i < 2; i++) {
                StateException refused = assertThrows(StateException.class, () -> EmbeddedZooKeeper.start(directory));
                assertTrue(refused.getMessage().contains(directory.toString()), refused::getMessage);
                assertTrue(refused.getMessage().contains("another manager's"), refused::getMessage);
            }
            assertTrue(first.running());
        }
        EmbeddedZooKeeper.start(directory).close();
    }

    @Test
    void twoOnTwoDirectoriesAreApart() {
        try (EmbeddedZooKeeper one = EmbeddedZooKeeper.start(directory.resolve("one"));
                EmbeddedZooKeeper other = EmbeddedZooKeeper.start(directory.resolve("other"));
                ZooKeeperStore ofOne = open(one);
                ZooKeeperStore ofOther = open(other)) {
            ofOne.write(List.of(new StateChange.PutServer(Samples.server(1))));
            assertEquals(List.of(), ofOther.load().servers());
        }
    }

    @Test
    void nothingIsLeftBehind() throws Exception {
        Set<Thread> before = threads();
        List<String> descriptorsBefore = descriptors();
        EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory);
        assertTrue(zookeeper.running());
        try (ZooKeeperStore store = open(zookeeper)) {
            store.write(List.of(new StateChange.PutServer(Samples.server(1))));
        }
        assertFalse(openFiles().isEmpty());
        assertFalse(socketsBeside(descriptorsBefore).isEmpty());
        zookeeper.close();
        zookeeper.close();
        assertFalse(zookeeper.running());
        awaitNone(() -> threadsBeside(before));
        awaitNone(this::openFiles);
        awaitNone(() -> socketsBeside(descriptorsBefore));
        DirectoryLock.take(directory).close();
    }

    /** The store is closed last, when its server has ended. */
    @Test
    void nothingIsLeftBehindInTheOtherOrder() throws Exception {
        Set<Thread> before = threads();
        try (ZooKeeperStore store = openAndLeave()) {
            assertTrue(store.epoch() > 0);
        }
        awaitNone(() -> threadsBeside(before));
    }

    private ZooKeeperStore openAndLeave() {
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory)) {
            return open(zookeeper);
        }
    }

    @Test
    void anInterruptedThreadClosesItAllTheSame() throws Exception {
        Set<Thread> before = threads();
        EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory);
        Thread.currentThread().interrupt();
        zookeeper.close();
        assertTrue(Thread.interrupted());
        DirectoryLock.take(directory).close();
        awaitNone(() -> threadsBeside(before));
    }

    /** A file is in the place of the directory, because permissions would not stop root. */
    @Test
    void aDirectoryThatCannotBeWrittenIsRefused() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "in the way");
        StateException refused =
                assertThrows(StateException.class, () -> EmbeddedZooKeeper.start(file.resolve("state")));
        assertTrue(refused.getMessage().contains("cannot write to the directory"), refused::getMessage);
    }

    /** The start fails after it has started threads. */
    @Test
    void damagedFilesAreRefusedAndNothingIsLeft() throws Exception {
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory);
                ZooKeeperStore store = open(zookeeper)) {
            store.write(List.of(new StateChange.PutServer(Samples.server(1))));
        }
        Path files = directory.resolve("zookeeper/version-2");
        try (Stream<Path> list = Files.list(files)) {
            for (Path file : list.toList()) {
                if (file.getFileName().toString().startsWith("snapshot")) {
                    Files.write(file, new byte[] {'j', 'u', 'n', 'k'});
                }
            }
        }
        Set<Thread> before = threads();
        List<String> descriptorsBefore = descriptors();
        StateException refused = assertThrows(StateException.class, () -> EmbeddedZooKeeper.start(directory));
        assertTrue(refused.getMessage().contains("does not start"), refused::getMessage);
        awaitNone(() -> threadsBeside(before));
        awaitNone(this::openFiles);
        awaitNone(() -> socketsBeside(descriptorsBefore));
        DirectoryLock.take(directory).close();
    }

    @Test
    void whereSomethingIsInTheWayNothingIsLeft() throws Exception {
        Set<Thread> before = threads();
        Files.writeString(directory.resolve("zookeeper"), "in the way");
        assertThrows(StateException.class, () -> EmbeddedZooKeeper.start(directory));
        awaitNone(() -> threadsBeside(before));
        awaitNone(this::openFiles);
        Files.delete(directory.resolve("zookeeper"));
        EmbeddedZooKeeper.start(directory).close();
    }
}
