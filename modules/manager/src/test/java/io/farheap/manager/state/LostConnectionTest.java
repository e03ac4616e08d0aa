package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.state.CuttingProxy.Cut;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes whose connection is lost take effect once, or the store finds out later that they did not. */
@Execution(ExecutionMode.CONCURRENT)
class LostConnectionTest {

    private static final Duration LONG = Duration.ofSeconds(60);
    /** The time that a call waits if it fails in the end. */
    private static final Duration SHORT = Duration.ofSeconds(2);

    @TempDir
    private Path directory;

    private EmbeddedZooKeeper zookeeper;
    private CuttingProxy proxy;

    @BeforeEach
    void start() throws IOException {
        zookeeper = EmbeddedZooKeeper.start(directory);
        proxy = new CuttingProxy(zookeeper.connection());
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        zookeeper.close();
    }

    /** A store whose calls give up soon. A busy machine may take longer than that to connect, so this tries again. */
    private ZooKeeperStore openImpatient() throws InterruptedException {
        AtomicReference<ZooKeeperStore> store = new AtomicReference<>();
        eventually(() -> store.set(new ZooKeeperStore(proxy.connection(), SHORT)));
        return store.get();
    }

    private static List<StateChange> put(long id, long generation) {
        return List.of(new StateChange.PutCache(Samples.cache(id, generation)));
    }

    private static void unknown(StateStore store, List<StateChange> changes) {
        StateException failed = assertThrows(StateException.class, () -> store.write(changes));
        assertTrue(failed.getMessage().contains("unknown"), failed::getMessage);
    }

    /** Repeats the call until it succeeds, because the connection takes some time to come back. */
    private static void eventually(Runnable call) throws InterruptedException {
        long end = System.nanoTime() + LONG.toNanos();
        while (true) {
            try {
                call.run();
                return;
            } catch (StateException e) {
                if (e instanceof StaleEpochException || System.nanoTime() - end > 0) {
                    throw e;
                }
                Thread.sleep(20);
            }
        }
    }

    /** How often a cache's node was replaced. */
    private int replaced(long id) throws Exception {
        try (CuratorFramework operator =
                CuratorFrameworkFactory.newClient(zookeeper.connection(), new RetryOneTime(100))) {
            operator.start();
            return operator.checkExists().forPath(NodePaths.cache(id)).getVersion();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Cut.class,
            names = {"REQUEST", "ANSWER"})
    void aWriteHappensOnce(Cut where) throws Exception {
        try (ZooKeeperStore store = new ZooKeeperStore(proxy.connection(), LONG)) {
            store.write(put(1, 0));
            for (int generation = 1; generation <= 3; generation++) {
                proxy.cut(where, false);
                store.write(put(1, generation));
                assertTrue(proxy.wasCut());
                assertEquals(generation, replaced(1));
                assertEquals(List.of(Samples.cache(1, generation)), store.load().caches());
            }
        }
    }

    @Test
    void aWriteThatHasHappenedIsFoundLater() throws Exception {
        try (ZooKeeperStore store = openImpatient()) {
            proxy.cut(Cut.ANSWER, true);
            unknown(store, put(1, 0));
            proxy.mend();
            eventually(store::load);
            assertEquals(List.of(Samples.cache(1, 0)), store.load().caches());
            store.write(put(1, 1));
            assertEquals(List.of(Samples.cache(1, 1)), store.load().caches());
        }
    }

    @Test
    void aWriteThatHasNotHappenedNeverDoes() throws Exception {
        try (ZooKeeperStore store = openImpatient()) {
            proxy.cut(Cut.REQUEST, true);
            unknown(store, put(1, 0));
            proxy.mend();
            eventually(store::load);
            assertEquals(List.of(), store.load().caches());
            store.write(put(2, 0));
            assertEquals(List.of(Samples.cache(2, 0)), store.load().caches());
        }
    }

    /** The store's knowledge of nodes is out of date, because a write that seemed to have failed has made a node. */
    @Test
    void afterAnUnknownOutcomeItLooksAgainWhatIsThere() throws Exception {
        try (ZooKeeperStore store = openImpatient()) {
            assertEquals(List.of(), store.load().caches());
            proxy.cut(Cut.ANSWER, true);
            unknown(store, put(1, 0));
            proxy.mend();
            eventually(() -> store.write(put(1, 1)));
            store.write(List.of(new StateChange.RemoveCache(1)));
            assertEquals(List.of(), store.load().caches());
        }
    }

    @Test
    void theNextWriteSettlesItToo() throws Exception {
        try (ZooKeeperStore store = openImpatient()) {
            proxy.cut(Cut.ANSWER, true);
            unknown(store, put(1, 0));
            proxy.mend();
            eventually(() -> store.write(put(1, 1)));
            assertTrue(replaced(1) >= 1);
            assertEquals(List.of(Samples.cache(1, 1)), store.load().caches());
        }
    }

    @Test
    void anotherStoreSeesWhatHappenedAndShutsThisOut() throws Exception {
        try (ZooKeeperStore store = openImpatient()) {
            proxy.cut(Cut.ANSWER, true);
            unknown(store, put(1, 0));
            try (ZooKeeperStore next = new ZooKeeperStore(zookeeper.connection(), LONG)) {
                proxy.mend();
                assertEquals(List.of(Samples.cache(1, 0)), next.load().caches());
                assertThrows(StaleEpochException.class, () -> eventually(() -> store.write(put(1, 1))));
                assertThrows(StaleEpochException.class, store::load);
                assertEquals(List.of(Samples.cache(1, 0)), next.load().caches());
            }
        }
    }
}
