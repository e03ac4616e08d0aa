package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.lifetime.Closeables;
import io.farheap.manager.election.Election;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three members in this JVM. */
@Execution(ExecutionMode.CONCURRENT)
class EnsembleTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final AtomicInteger ADDRESSES = new AtomicInteger();

    @TempDir
    private Path directory;

    private Ensemble ensemble;
    private final Map<Integer, EnsembleMember> members = new HashMap<>();

    @BeforeEach
    void make() throws IOException {
        List<String> addresses = new ArrayList<>();
        for (int id = 1; id <= 3; id++) {
            addresses.add(address(id));
        }
        ensemble = Ensemble.parse(String.join(",", addresses));
    }

    private void startAll() {
        for (int id = 1; id <= 3; id++) {
            start(id);
        }
    }

    /** An address of the loopback device that no other process uses: its ports stay free while a member is stopped. */
    static String address(int id) throws IOException {
        int next = ADDRESSES.getAndIncrement();
        String host = "127." + (1 + ProcessHandle.current().pid() % 250) + "." + next / 250 + "." + (1 + next % 250);
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getByName(host));
                ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName(host))) {
            return id + "@" + host + ":" + one.getLocalPort() + ":" + other.getLocalPort();
        }
    }

    @AfterEach
    void close() {
        Closeables.all(new ArrayList<>(members.values()));
    }

    private void start(int id) {
        members.put(id, EnsembleMember.start(directory.resolve("m" + id), id, ensemble));
    }

    private void stop(int id) {
        members.remove(id).close();
    }

    private ZooKeeperStore open(int id) {
        return new ZooKeeperStore(members.get(id).connection(), PATIENCE);
    }

    @Test
    @Tag("full")
    void whatOneWritesTheOthersHaveWithoutIt() {
        startAll();
        Set<CacheRecord> caches = new HashSet<>();
        for (int last = 1; last <= 3; last++) {
            int next = last % 3 + 1;
            long epoch;
            try (ZooKeeperStore store = open(last)) {
                epoch = store.epoch();
                CacheRecord cache = Samples.cache(last, 1);
                caches.add(cache);
                store.write(List.of(new StateChange.PutCache(cache)));
            }
            stop(last);
            try (ZooKeeperStore store = open(next)) {
                assertTrue(store.epoch() > epoch);
                assertEquals(caches, new HashSet<>(store.load().caches()));
            }
            start(last);
        }
    }

    @Test
    @Tag("full")
    void itSurvivesTheEndOfAll() {
        startAll();
        try (ZooKeeperStore store = open(2)) {
            store.write(List.of(new StateChange.PutServer(Samples.server(1))));
        }
        for (int id = 1; id <= 3; id++) {
            stop(id);
        }
        start(3);
        start(1);
        try (ZooKeeperStore store = open(1)) {
            assertEquals(List.of(Samples.server(1)), store.load().servers());
        }
    }

    @Test
    @Tag("full")
    void oneOfThreeWritesNothing() {
        startAll();
        stop(1);
        stop(2);
        assertTrue(members.get(3).running());
        assertThrows(
                StateException.class,
                () -> new ZooKeeperStore(members.get(3).connection(), Duration.ofSeconds(2)).close());
    }

    @Test
    @Tag("full")
    void ofTwoWhoBelieveThatTheyLeadTheOlderOneCannotWrite() {
        startAll();
        try (ZooKeeperStore old = open(1);
                ZooKeeperStore young = open(2)) {
            assertTrue(young.epoch() > old.epoch());
            assertThrows(
                    StaleEpochException.class, () -> old.write(List.of(new StateChange.PutServer(Samples.server(1)))));
            young.write(List.of(new StateChange.PutServer(Samples.server(2))));
            assertEquals(List.of(Samples.server(2)), young.load().servers());
        }
    }

    @Test
    void anotherIsElectedWhereTheFirstIsGone() throws Exception {
        startAll();
        Map<Integer, Election> elections = new HashMap<>();
        Map<Integer, CuttingProxy> proxies = new HashMap<>();
        try {
            for (int id = 1; id <= 3; id++) {
                proxies.put(id, new CuttingProxy(members.get(id).connection()));
                elections.put(id, new Election(proxies.get(id).connection(), "manager" + id));
            }
            int first = awaitElected(elections);
            for (Election election : elections.values()) {
                awaitLeader(election, "manager" + first);
            }
            // The member's server ends, too, and its session is not closed, as if the process were killed. The member
            // tries to connect again, and must not reach another server that gets the port.
            proxies.get(first).refuse();
            stop(first);
            Map<Integer, Election> left = new HashMap<>(elections);
            left.remove(first);
            int second = awaitElected(left);
            for (Election election : left.values()) {
                awaitLeader(election, "manager" + second);
            }
        } finally {
            Closeables.all(new ArrayList<>(elections.values()));
            Closeables.all(new ArrayList<>(proxies.values()));
        }
    }

    /** @return the number of the elected member */
    private static int awaitElected(Map<Integer, Election> elections) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0) {
            for (Map.Entry<Integer, Election> election : elections.entrySet()) {
                if (election.getValue().elected()) {
                    return election.getKey();
                }
            }
            Thread.sleep(20);
        }
        throw new AssertionError("nobody is elected");
    }

    private static void awaitLeader(Election election, String name) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!election.leader().equals(name) && System.nanoTime() - end < 0) {
            Thread.sleep(20);
        }
        assertEquals(name, election.leader());
    }

    @Test
    @Tag("full")
    void aDirectoryIsOneMembersOnly() {
        startAll();
        Path first = directory.resolve("m1");
        refused("another manager's", () -> EnsembleMember.start(first, 1, ensemble));
        stop(1);
        refused("member 1", () -> EnsembleMember.start(first, 2, ensemble));
        refused("--ensemble", () -> EmbeddedZooKeeper.start(first));
        refused("cannot listen", () -> EnsembleMember.start(directory.resolve("another"), 2, ensemble));
        assertThrows(IllegalArgumentException.class, () -> EnsembleMember.start(first, 4, ensemble));
        start(1);
        assertTrue(members.get(1).running());
        stop(1);
        Path alone = directory.resolve("alone");
        EmbeddedZooKeeper.start(alone).close();
        refused("--data alone", () -> EnsembleMember.start(alone, 1, ensemble));
    }

    private static void refused(String why, Runnable start) {
        StateException refused = assertThrows(StateException.class, start::run);
        assertTrue(refused.getMessage().contains(why), refused::getMessage);
    }

    @Test
    void whatIsNoEnsembleIsRefused() {
        for (String text : List.of(
                "",
                "1@a:1,2@b:2",
                "1@a:1,1@b:2,2@c:3",
                "0@a:1,1@b:1,2@c:1",
                "1@a,2@b:1,3@c:1",
                "1@a:65535,2@b:1,3@c:1")) {
            assertThrows(IllegalArgumentException.class, () -> Ensemble.parse(text), text);
        }
        assertEquals(
                new Ensemble.EnsemblePeer("[::1]", 7, 8),
                Ensemble.parse("1@a:1:9, 2@[::1]:7,3@c:1").peer(2));
        assertFalse(Ensemble.parse("1@a:1,2@b:1,3@c:1").peers().isEmpty());
    }
}
