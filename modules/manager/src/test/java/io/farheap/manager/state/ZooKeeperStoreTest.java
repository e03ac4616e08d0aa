package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.CacheManager;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ZooKeeperStoreTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private EmbeddedZooKeeper zookeeper;

    @BeforeEach
    void start() {
        zookeeper = EmbeddedZooKeeper.start(directory);
    }

    @AfterEach
    void stop() {
        zookeeper.close();
    }

    private ZooKeeperStore open() {
        return new ZooKeeperStore(zookeeper.connection(), PATIENCE);
    }

    private static StateChange put(ServerRecord server) {
        return new StateChange.PutServer(server);
    }

    private static StateChange put(CacheRecord cache) {
        return new StateChange.PutCache(cache);
    }

    private static void assertState(StateStore store, Set<ServerRecord> servers, Set<CacheRecord> caches) {
        ManagerState state = store.load();
        assertEquals(servers, new HashSet<>(state.servers()));
        assertEquals(caches, new HashSet<>(state.caches()));
        assertEquals(servers.size(), state.servers().size());
        assertEquals(caches.size(), state.caches().size());
    }

    private CuratorFramework operator() {
        CuratorFramework client = CuratorFrameworkFactory.newClient(zookeeper.connection(), new RetryOneTime(100));
        client.start();
        return client;
    }

    @Test
    void aNewStateIsEmpty() {
        try (ZooKeeperStore store = open()) {
            assertState(store, Set.of(), Set.of());
        }
    }

    @Test
    void putsCreateAndReplaceAndRemovesRemove() {
        try (ZooKeeperStore store = open()) {
            ServerRecord server = Samples.server(1);
            CacheRecord cache = Samples.cache(-2, 0);
            store.write(List.of(put(server), put(Samples.server(2)), put(cache)));
            assertState(store, Set.of(server, Samples.server(2)), Set.of(cache));
            CacheRecord changed = Samples.cache(-2, 1);
            store.write(List.of(new StateChange.RemoveServer(2), put(changed), put(Samples.cache(3, 0))));
            assertState(store, Set.of(server), Set.of(changed, Samples.cache(3, 0)));
            store.write(List.of(
                    new StateChange.RemoveCache(3), new StateChange.RemoveCache(4), new StateChange.RemoveServer(4)));
            assertState(store, Set.of(server), Set.of(changed));
        }
    }

    @Test
    void aModelOfTheLargestSizeIsKeptAsItIs() {
        ModelRecord large = new ModelRecord("00ff", "Ü=\\\n\0" + "x".repeat(CacheManager.MAX_MODEL_BYTES - 6));
        ModelRecord other = new ModelRecord("00fe", "");
        assertEquals(CacheManager.MAX_MODEL_BYTES, large.text().getBytes(StandardCharsets.UTF_8).length);
        try (ZooKeeperStore store = open()) {
            assertEquals(List.of(), store.load().models());
            store.write(List.of(
                    new StateChange.PutModel(new ModelRecord("00ff", "earlier")), new StateChange.PutModel(other)));
            store.write(List.of(new StateChange.PutModel(large)));
        }
        try (ZooKeeperStore store = open()) {
            assertEquals(Set.of(large, other), Set.copyOf(store.load().models()));
            store.write(List.of(new StateChange.RemoveModel("00ff"), new StateChange.RemoveModel("01")));
            assertEquals(List.of(other), store.load().models());
        }
    }

    @Test
    void quotasComeBackUntilTheyAreRemoved() {
        TenantRecord acme = new TenantRecord("acme", 5, 7);
        TenantRecord other = new TenantRecord("o.t-h_er", 0, Long.MAX_VALUE);
        try (ZooKeeperStore store = open()) {
            assertEquals(List.of(), store.load().tenants());
            store.write(List.of(
                    new StateChange.PutTenant(new TenantRecord("acme", 1, 1)), new StateChange.PutTenant(other)));
            store.write(List.of(new StateChange.PutTenant(acme), new StateChange.RemoveTenant("nobody")));
        }
        try (ZooKeeperStore store = open()) {
            assertEquals(Set.of(acme, other), Set.copyOf(store.load().tenants()));
            store.write(List.of(new StateChange.RemoveTenant("acme")));
            assertEquals(List.of(other), store.load().tenants());
        }
    }

    @Test
    void aRepeatedWriteSucceeds() {
        try (ZooKeeperStore store = open()) {
            List<StateChange> changes =
                    List.of(put(Samples.server(1)), put(Samples.cache(1, 0)), new StateChange.RemoveCache(9));
            store.write(changes);
            store.write(changes);
            assertState(store, Set.of(Samples.server(1)), Set.of(Samples.cache(1, 0)));
        }
    }

    @Test
    void ofOneRecordsChangesTheLastCounts() {
        try (ZooKeeperStore store = open()) {
            store.write(List.of(
                    put(Samples.cache(1, 0)),
                    put(Samples.cache(1, 1)),
                    put(Samples.cache(2, 0)),
                    new StateChange.RemoveCache(2)));
            assertState(store, Set.of(), Set.of(Samples.cache(1, 1)));
        }
    }

    @Test
    void anOlderStoreIsShutOut() {
        try (ZooKeeperStore older = open()) {
            older.write(List.of(put(Samples.server(1)), put(Samples.cache(1, 0))));
            try (ZooKeeperStore newer = open()) {
                assertTrue(newer.epoch() > older.epoch());
                StaleEpochException refused =
                        assertThrows(StaleEpochException.class, () -> older.write(List.of(put(Samples.cache(1, 1)))));
                assertTrue(refused.getMessage().contains("epoch " + older.epoch()), refused::getMessage);
                assertThrows(StaleEpochException.class, () -> older.write(List.of(new StateChange.RemoveServer(1))));
                assertThrows(StaleEpochException.class, () -> older.write(List.of()));
                assertThrows(StaleEpochException.class, older::load);
                assertState(newer, Set.of(Samples.server(1)), Set.of(Samples.cache(1, 0)));
                newer.write(List.of(put(Samples.cache(1, 2))));
                assertThrows(StaleEpochException.class, () -> older.write(List.of(put(Samples.cache(2, 0)))));
                assertState(newer, Set.of(Samples.server(1)), Set.of(Samples.cache(1, 2)));
            }
        }
    }

    @Test
    void whoIsFollowedLearnsItWithoutAWrite() {
        try (ZooKeeperStore older = open()) {
            older.write(List.of(put(Samples.server(1))));
            for (int i = 0; i < 20; i++) {
                assertFalse(older.followed());
                older.load();
            }
            try (ZooKeeperStore newer = open()) {
                Samples.awaitFollowed(older);
                newer.load();
                assertFalse(newer.followed());
            }
        }
    }

    /** Stores that open at the same time all succeed, each with its own epoch, and only the last one can write. */
    @Test
    void ofStoresOpenedAtOnceOneIsLeft() throws Exception {
        List<ZooKeeperStore> stores = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<ZooKeeperStore>> opening = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                opening.add(threads.submit(this::open));
            }
            for (Future<ZooKeeperStore> store : opening) {
                stores.add(store.get());
            }
            long last = stores.stream().mapToLong(StateStore::epoch).max().orElseThrow();
            assertEquals(4, stores.stream().map(StateStore::epoch).distinct().count());
            for (ZooKeeperStore store : stores) {
                if (store.epoch() == last) {
                    store.write(List.of(put(Samples.server(1))));
                } else {
                    assertThrows(StaleEpochException.class, () -> store.write(List.of(put(Samples.server(2)))));
                }
            }
        } finally {
            stores.forEach(ZooKeeperStore::close);
        }
    }

    /** A cache's node with a node below it cannot be deleted; only an operator can make such a node. */
    @Test
    void oneBadPartAndNothingIsChanged() throws Exception {
        try (ZooKeeperStore store = open();
                CuratorFramework operator = operator()) {
            store.write(List.of(put(Samples.cache(1, 0)), put(Samples.cache(2, 0))));
            operator.create().forPath(NodePaths.cache(2) + "/below");
            assertThrows(
                    StateException.class,
                    () -> store.write(
                            List.of(put(Samples.server(1)), put(Samples.cache(1, 1)), new StateChange.RemoveCache(2))));
            assertState(store, Set.of(), Set.of(Samples.cache(1, 0), Samples.cache(2, 0)));
        }
    }

    /** A store that has read everything reads nodes again only if its knowledge turned out to be wrong. */
    @Test
    void whatAnOperatorHasChangedIsWrittenAllTheSame() throws Exception {
        try (ZooKeeperStore store = open();
                CuratorFramework operator = operator()) {
            store.write(List.of(put(Samples.cache(1, 0)), put(Samples.cache(2, 0)), put(Samples.server(1))));
            assertState(store, Set.of(Samples.server(1)), Set.of(Samples.cache(1, 0), Samples.cache(2, 0)));
            operator.delete().forPath(NodePaths.cache(1));
            operator.delete().forPath(NodePaths.cache(2));
            operator.create().forPath(NodePaths.cache(3), new byte[0]);
            store.write(List.of(put(Samples.cache(1, 1)), new StateChange.RemoveCache(2), put(Samples.cache(3, 1))));
            store.write(List.of(put(Samples.cache(1, 2)), put(Samples.cache(2, 2)), new StateChange.RemoveServer(1)));
            Set<CacheRecord> left = Set.of(Samples.cache(1, 2), Samples.cache(2, 2), Samples.cache(3, 1));
            assertState(store, Set.of(), left);
            store.write(List.of(
                    new StateChange.RemoveCache(1), new StateChange.RemoveCache(1), new StateChange.RemoveServer(1)));
            store.write(List.of(new StateChange.RemoveCache(3), put(Samples.server(1))));
            assertState(store, Set.of(Samples.server(1)), Set.of(Samples.cache(2, 2)));
        }
    }

    @Test
    void tooMuchForOneWriteIsRefused() {
        try (ZooKeeperStore store = open()) {
            store.write(List.of(put(Samples.cache(1, 0))));
            List<StateChange> changes = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                changes.add(put(Samples.cache(i, 1)));
            }
            StateException refused = assertThrows(StateException.class, () -> store.write(changes));
            assertTrue(refused.getMessage().contains("split them"), refused::getMessage);
            assertState(store, Set.of(), Set.of(Samples.cache(1, 0)));
        }
    }

    /** A write that is just small enough succeeds. */
    @Test
    void asMuchAsOneWriteHasIsWritten() {
        try (ZooKeeperStore store = open()) {
            CacheRecord large = new CacheRecord(
                    1, "x".repeat(999_000), 1, 0, 1, Samples.TERMS, 0, new TreeMap<>(), new TreeMap<>());
            store.write(List.of(put(large)));
            assertState(store, Set.of(), Set.of(large));
            List<StateChange> many = new ArrayList<>();
            Set<ServerRecord> servers = new HashSet<>();
            for (int i = 0; i < 3_300; i++) {
                servers.add(Samples.server(i));
            }
            servers.forEach(server -> many.add(put(server)));
            many.add(new StateChange.RemoveCache(1));
            store.write(many);
            assertState(store, servers, Set.of());
        }
    }

    @Test
    void cachesOfAllBucketsAreLoaded() {
        Set<CacheRecord> caches = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            caches.add(Samples.cache(i * 0x9E3779B97F4A7C15L, i));
        }
        assertEquals(
                256,
                caches.stream()
                        .map(cache -> NodePaths.cache(cache.id()).substring(0, 18))
                        .distinct()
                        .count());
        try (ZooKeeperStore store = open()) {
            List<StateChange> changes = new ArrayList<>();
            for (CacheRecord cache : caches) {
                changes.add(put(cache));
                if (changes.size() == 1_000) {
                    store.write(changes);
                    changes.clear();
                }
            }
            assertState(store, Set.of(), caches);
        }
        try (ZooKeeperStore next = open()) {
            assertState(next, Set.of(), caches);
        }
    }

    @Test
    void whatOthersWroteThereIsRefusedByItsPath() throws Exception {
        try (ZooKeeperStore store = open();
                CuratorFramework operator = operator()) {
            operator.create().forPath("/farheap/servers/stray", new byte[] {1, 2, 3});
            MalformedRecordException refused = assertThrows(MalformedRecordException.class, store::load);
            assertTrue(refused.getMessage().contains("/farheap/servers/stray"), refused::getMessage);
        }
    }

    @Test
    void threadsTakeTurns() throws Exception {
        try (ZooKeeperStore store = open();
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> writing = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int id = i;
                writing.add(threads.submit(() -> {
                    for (int generation = 0; generation < 20; generation++) {
                        store.write(
                                List.of(put(Samples.cache(id, generation)), put(Samples.cache(100 + id, generation))));
                        // Both caches of each pair were written, or neither.
                        for (CacheRecord cache : store.load().caches()) {
                            if (cache.id() == id || cache.id() == 100 + id) {
                                assertEquals(generation, cache.generation());
                            }
                        }
                    }
                }));
            }
            for (Future<?> done : writing) {
                done.get();
            }
        }
    }

    @Test
    void aClosedStoreSaysSo() {
        ZooKeeperStore store = open();
        store.close();
        store.close();
        StateException refused = assertThrows(StateException.class, () -> store.write(List.of(put(Samples.server(1)))));
        assertTrue(refused.getMessage().contains("closed"), refused::getMessage);
    }

    @Test
    void whereNobodyListensNothingOpens() throws IOException {
        // Bound, so that no other server gets the port.
        try (Socket nobody = new Socket()) {
            nobody.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            String connection = "127.0.0.1:" + nobody.getLocalPort();
            StateException refused =
                    assertThrows(StateException.class, () -> new ZooKeeperStore(connection, Duration.ofMillis(500)));
            assertTrue(refused.getMessage().contains(connection), refused::getMessage);
        }
    }
}
