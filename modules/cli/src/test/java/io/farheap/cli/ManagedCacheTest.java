package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.control.ControlException;
import io.farheap.control.SignedGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.memory.ByteSize;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A manager, memory servers and a cache, each in a process of its own. */
class ManagedCacheTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int REGIONS = 6;
    private static final long CAPACITY = REGIONS * REGION_BYTES;
    private static final int WORDS = 512;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    @TempDir
    private Path data;

    private Path state;
    private String address;
    private ManagerProcess manager;
    private final List<ServerProcess> servers = new ArrayList<>();
    private final BlockingQueue<String> left = new LinkedBlockingQueue<>();
    private Cache cache;

    @BeforeEach
    void start() throws Exception {
        state = data.resolve("state");
        address = "127.0.0.1:" + freePort();
        startManager();
        for (int i = 0; i < 3; i++) {
            servers.add(TestServer.start(
                    4 * REGION_BYTES,
                    REGION_BYTES,
                    "--manager",
                    address,
                    "--notice",
                    PATIENCE_SECONDS + "s",
                    "--domain",
                    "rack " + i));
        }
        awaitServers();
        cache = create(CAPACITY);
    }

    @AfterEach
    void close() {
        if (cache != null) {
            cache.close();
        }
        servers.forEach(ServerProcess::close);
        manager.close();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void startManager() {
        manager = ManagerProcess.start(Devices.library(), address, "--data", state.toString());
    }

    private Cache create(long capacity) {
        return Cache.builder()
                .capacity(capacity)
                .manager(address)
                .device(TestDevice.client())
                .onReclaimed((server, moved, regions) ->
                        left.add(regions == 0 ? server : server + " keeps " + regions + " regions"))
                .create();
    }

    private void awaitServers() throws InterruptedException {
        try (ManagerClient client = ManagerClient.connect(address)) {
            await(() -> client.servers().size() == servers.size());
            assertEquals(
                    Set.of("rack 0", "rack 1", "rack 2"),
                    client.servers().stream().map(ServerReport::domain).collect(Collectors.toSet()));
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come about");
            Thread.sleep(20);
        }
    }

    private ServerProcess serverOf(int region) {
        return servers.stream()
                .filter(server -> server.address().equals(cache.serverOf(region)))
                .findFirst()
                .orElseThrow();
    }

    /** Writes words at equal distances over all regions. */
    private void write(CacheSession session, Buffer buffer, long value) {
        for (int word = 0; word < WORDS; word++) {
            buffer.segment().set(JAVA_LONG, 0, value + word);
            session.writeBlocking(word * (CAPACITY / WORDS), buffer, 0, 8);
        }
    }

    private void check(CacheSession session, Buffer buffer, long value) {
        for (int word = 0; word < WORDS; word++) {
            session.readBlocking(word * (CAPACITY / WORDS), buffer, 0, 8);
            assertEquals(value + word, buffer.segment().get(JAVA_LONG, 0), "word " + word);
        }
    }

    private long regionsOf(String server) {
        return IntStream.range(0, cache.regions())
                .filter(region -> cache.serverOf(region).equals(server))
                .count();
    }

    /** The manager knows the servers on which the cache's regions are. */
    private void checkPlaces() throws InterruptedException {
        Map<String, Integer> places = new HashMap<>();
        for (int region = 0; region < cache.regions(); region++) {
            places.merge(cache.serverOf(region), 1, Integer::sum);
        }
        try (ManagerClient client = ManagerClient.connect(address)) {
            await(() -> {
                Map<String, Integer> told = new HashMap<>();
                for (RegionShare share :
                        client.describe(cache.id()).allocation().shares()) {
                    told.put(share.address(), share.regions());
                }
                return told.equals(places);
            });
        }
    }

    private void reclaim(ServerProcess server, CacheSession session, Buffer buffer) throws InterruptedException {
        server.leave();
        long value = 0;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (left.isEmpty() && System.nanoTime() - deadline < 0) {
            write(session, buffer, ++value);
            check(session, buffer, value);
        }
        assertEquals(server.address(), left.poll());
        assertTrue(server.await(PATIENCE_SECONDS), "it has ended, since nothing is on it");
        check(session, buffer, value);
        assertFalse(cache.servers().contains(server.address()));
        checkPlaces();
    }

    @Test
    @Tag("full")
    void aServerThatLeavesIsLeftUnderLoad() throws Exception {
        assertEquals(2, cache.servers().size());
        checkPlaces();
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            reclaim(serverOf(0), session, buffer);
        }
    }

    @Test
    void aCacheNeedsNoManagerAndOneThatStartsAnewKnowsIt() throws Exception {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            manager.kill();
            write(session, buffer, 7);
            check(session, buffer, 7);
            startManager();
            awaitServers();
            checkPlaces();
            reclaim(serverOf(0), session, buffer);
        }
    }

    /** Its client names it every 10 s, learns that it is not known, and claims it. */
    @Test
    @Tag("full")
    void aCacheThatTheManagerHasForgottenIsTakenUpAgain() throws Exception {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(session, buffer, 3);
            try (ManagerClient client = ManagerClient.connect(address)) {
                client.deallocate(cache.id());
                await(() -> client.list(0, 10).size() == 1);
            }
            check(session, buffer, 3);
            reclaim(serverOf(0), session, buffer);
        }
    }

    /** New caches and moves use grants of the new manager, which has another key and another epoch. */
    @Test
    @Tag("full")
    void aCacheGoesOnWhenTheManagersStateIsElsewhere() throws Exception {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(session, buffer, 5);
            manager.close();
            Path old = state;
            state = data.resolve("elsewhere");
            StringWriter text = new StringWriter();
            assertEquals(
                    0,
                    Main.commandLine()
                            .setOut(new PrintWriter(text))
                            .setErr(new PrintWriter(text))
                            .execute("manager", "copy", "--from-data", old.toString(), "--to-data", state.toString()),
                    text::toString);
            assertTrue(text.toString().contains("copied 3 servers, 1 cache,"), text::toString);
            assertThrows(UncheckedIOException.class, () -> ManagerProcess.start(
                            Devices.library(), address, "--data", old.toString())
                    .close());
            startManager();
            awaitServers();
            checkPlaces();
            check(session, buffer, 5);
            cache.reshape(CAPACITY + REGION_BYTES);
            checkPlaces();
            cache.reshape(CAPACITY);
            reclaim(serverOf(0), session, buffer);
            create(REGION_BYTES).close();
        }
    }

    @Test
    @Tag("full")
    void aCacheGrowsShrinksAndMovesAsTheApplicationLikes() throws Exception {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8);
                ManagerClient client = ManagerClient.connect(address)) {
            write(session, buffer, 3);
            cache.reshape(10 * REGION_BYTES - 8);
            assertEquals(3, cache.servers().size(), "its servers had room for 8");
            checkPlaces();
            assertEquals(
                    10 * REGION_BYTES - 8,
                    client.describe(cache.id()).allocation().capacity());
            session.readBlocking(10 * REGION_BYTES - 16, buffer, 0, 8);
            assertEquals(0, buffer.segment().get(JAVA_LONG, 0));
            String refused = assertThrows(CacheException.class, () -> cache.reshape(13 * REGION_BYTES))
                    .getMessage();
            assertTrue(
                    refused.contains("cannot have " + ByteSize.text(13 * REGION_BYTES) + ", but "
                            + ByteSize.text(12 * REGION_BYTES)),
                    refused);
            check(session, buffer, 3);
            cache.reshape(CAPACITY);
            await(() -> client.describe(cache.id()).allocation().capacity() == CAPACITY);
            checkPlaces();
            check(session, buffer, 3);
            String other = servers.stream()
                    .map(ServerProcess::address)
                    .filter(server -> !server.equals(cache.serverOf(0)))
                    .min(Comparator.comparing(this::regionsOf))
                    .orElseThrow();
            cache.migrate(0, other);
            assertEquals(other, cache.serverOf(0));
            checkPlaces();
            assertThrows(CacheException.class, () -> cache.migrate(0, "127.0.0.1:1"));
            check(session, buffer, 3);
            // The manager can move regions that have moved before.
            reclaim(serverOf(0), session, buffer);
        }
    }

    @Test
    @Tag("full")
    void aCacheHearsThatItsTimeIsNearlyOver() throws Exception {
        BlockingQueue<Duration> expiring = new LinkedBlockingQueue<>();
        try (Cache brief = Cache.builder()
                .capacity(REGION_BYTES)
                .manager(address)
                .device(TestDevice.client())
                .duration(Duration.ofSeconds(20))
                .onExpiring(expiring::add)
                .create()) {
            Duration left = expiring.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertTrue(left != null && left.compareTo(Duration.ofSeconds(20)) <= 0, "left: " + left);
            brief.extend(Duration.ofHours(2));
            try (ManagerClient client = ManagerClient.connect(address)) {
                assertTrue(client.describe(brief.id()).leftMillis() > 3_600_000);
            }
        }
    }

    @Test
    @Tag("full")
    void whatIsRefusedOrClosedLeavesNothing() throws Exception {
        CacheException refused = assertThrows(CacheException.class, () -> create(7 * REGION_BYTES));
        assertTrue(
                refused.getMessage()
                        .contains(
                                "there is no room for " + ByteSize.text(7 * REGION_BYTES) + ", but for one cache of "),
                refused.getMessage());
        try (ManagerClient client = ManagerClient.connect(address)) {
            assertEquals(1, client.list(0, 10).size());
            cache.close();
            assertEquals(List.of(), client.list(0, 10));
            cache = null;
            await(() -> client.servers().stream().allMatch(server -> server.freeRegions() == 4));
        }
        cache = create(12 * REGION_BYTES);
    }

    @Test
    void aDrainedServerIsLeftAndEnds() throws Exception {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(session, buffer, 1);
            ServerProcess drained = serverOf(0);
            String output = CommandProcess.start(
                            Map.of(), "manager", "drain", drained.address(), "--manager", "127.0.0.1:1," + address)
                    .awaitEnd(0);
            assertTrue(output.contains("asked to leave"), output);
            assertTrue(drained.await(PATIENCE_SECONDS), "it does not end");
            assertEquals(drained.address(), left.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
            servers.remove(drained);
            check(session, buffer, 1);
            checkPlaces();
        }
        assertTrue(CommandProcess.start(Map.of(), "manager", "drain", "127.0.0.1:1", "--manager", address)
                .awaitEnd(1)
                .contains("no memory server 127.0.0.1:1 reports"));
    }

    @Test
    @Tag("full")
    void aSecondManagerOnADirectoryIsOneSentence() throws Exception {
        String output = CommandProcess.start(Map.of(), "manager", "--listen", "127.0.0.1:0", "--data", state.toString())
                .awaitEnd(1);
        assertEquals(
                "farheap: the directory " + state
                        + " is another manager's, which runs: stop it, or give this one a directory of its own",
                output.strip());
    }

    @Test
    @Tag("full")
    void aServerRefusesWhoeverHasNoGrant() {
        String server = cache.serverOf(0);
        CacheException refused = assertThrows(CacheException.class, () -> Cache.builder()
                .capacity(REGION_BYTES)
                .servers(server)
                .device(TestDevice.client())
                .create());
        assertTrue(refused.getMessage().contains("serves that manager's caches alone"), refused.getMessage());
        try (ControlClient client = ControlClient.connect(server)) {
            ControlException id =
                    assertThrows(ControlException.class, () -> client.openLease("thief", cache.id(), SignedGrant.NONE));
            assertEquals(ControlException.Code.GRANT_REFUSED, id.code());
        }
    }
}
