package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.manager.ServerReport;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.testing.TestDevice;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A manager, as a user runs it, that starts servers by itself. */
class LocalProviderTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final long CAPACITY = 6 * REGION_BYTES;
    private static final int WORDS = 512;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    private static final String MENU = """
            {"types": [{"name": "small", "cores": 2, "memory": "4m", "price": 1, "spot_price": 0.25, "life": "60m"},
                       {"name": "large", "cores": 2, "memory": "8m", "price": 3}]}""";

    @TempDir
    private Path directory;

    private String address;
    private CommandProcess manager;
    private final BlockingQueue<String> left = new LinkedBlockingQueue<>();

    private void start(String... options) throws Exception {
        Path menu = Files.writeString(directory.resolve("menu"), MENU);
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = "127.0.0.1:" + socket.getLocalPort();
        }
        List<String> all = new ArrayList<>(List.of(
                "manager",
                "--data",
                directory.resolve("data").toString(),
                "--listen",
                address,
                "--menu",
                menu.toString(),
                "--provider",
                "local",
                "--provider-set",
                "region=1m",
                "--provider-set",
                "device=" + TestDevice.server(),
                "--start-wait",
                PATIENCE_SECONDS + "s"));
        all.addAll(List.of(options));
        manager = CommandProcess.start(Map.of(), all.toArray(String[]::new));
        manager.awaitLine("listening on");
    }

    /** A killed manager cannot end its servers: they notice its end and end themselves. */
    @AfterEach
    void aManagerThatIsKilledLeavesNoServer() throws InterruptedException {
        if (manager != null) {
            manager.kill();
            manager.assertNothingIsLeft();
        }
    }

    private Cache create(long capacity, Duration duration) {
        return Cache.builder()
                .capacity(capacity)
                .manager(address)
                .duration(duration)
                .device(TestDevice.client())
                .onReclaimed((server, moved, regions) -> left.add(server + " keeps " + regions))
                .create();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come about");
            Thread.sleep(20);
        }
    }

    private static void write(CacheSession session, Buffer buffer, long value) {
        for (int word = 0; word < WORDS; word++) {
            buffer.segment().set(JAVA_LONG, 0, value + word);
            session.writeBlocking(word * (CAPACITY / WORDS), buffer, 0, 8);
        }
    }

    private static void check(CacheSession session, Buffer buffer, long value) {
        for (int word = 0; word < WORDS; word++) {
            session.readBlocking(word * (CAPACITY / WORDS), buffer, 0, 8);
            assertEquals(value + word, buffer.segment().get(JAVA_LONG, 0), "word " + word);
        }
    }

    @Test
    @Tag("full")
    void aCacheLivesOnSpotServersThatComeAndGo() throws Exception {
        start(
                "--no-early-moves",
                "--provider-set",
                "life=20s",
                "--provider-set",
                "seed=8",
                "--provider-set",
                "notice=" + PATIENCE_SECONDS + "s",
                "--provider-set",
                "servers=12");
        try (Cache cache = create(CAPACITY, Duration.ofHours(1));
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            assertEquals(2, cache.servers().size(), "two small ones on the spot market are cheaper");
            Predicate<String> whole = one -> one.endsWith(" keeps 0");
            long value = 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            // A move whose target leaves, too, is made to another server instead.
            while (left.stream().filter(whole).count() < 2 && System.nanoTime() - deadline < 0) {
                write(session, buffer, ++value);
                check(session, buffer, value);
            }
            assertTrue(left.stream().filter(whole).count() >= 2, left::toString);
            check(session, buffer, value);
        }
    }

    @Test
    @Tag("full")
    void aSpareIsNobodysAndAnIdleServerIsStopped() throws Exception {
        start("--spares", "1", "--provider-set", "servers=3", "--stop-idle", "1s");
        try (ManagerClient client = ManagerClient.connect(address)) {
            await(() -> client.servers().size() == 1);
            assertEquals("small", client.servers().getFirst().type());
            Predicate<ServerReport> spot = ServerReport::spot;
            try (Cache cache = create(4 * REGION_BYTES, Duration.ofHours(1))) {
                assertEquals(1, cache.servers().size());
                assertEquals(2, client.servers().size(), "the spare is not the cache's");
                assertTrue(client.servers().stream().anyMatch(spot), "what ends takes a spot server");
            }
            // The cache's server is stopped, the spare stays.
            await(() ->
                    client.servers().size() == 1 && !client.servers().getFirst().spot());
        }
        CacheException refused = assertThrows(CacheException.class, () -> create(100 * REGION_BYTES, null));
        assertTrue(refused.getMessage().contains("the provider has no servers that would do"), refused.getMessage());
        assertTrue(refused.getMessage().contains("are held back for servers that leave"), refused.getMessage());
    }

    @Test
    void aCacheThatGrowsHasServersStarted() throws Exception {
        start("--provider-set", "servers=3");
        try (Cache cache = create(3 * REGION_BYTES, null);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            buffer.segment().set(JAVA_LONG, 0, 77);
            session.writeBlocking(0, buffer, 0, 8);
            assertEquals(1, cache.servers().size());
            cache.reshape(11 * REGION_BYTES);
            assertEquals(11 * REGION_BYTES, cache.capacity());
            assertEquals(3, cache.servers().size());
            session.readBlocking(0, buffer, 0, 8);
            assertEquals(77, buffer.segment().get(JAVA_LONG, 0));
            CacheException refused = assertThrows(CacheException.class, () -> cache.reshape(100 * REGION_BYTES));
            assertTrue(
                    refused.getMessage().contains("the provider has no servers that would do"), refused.getMessage());
            assertEquals(11 * REGION_BYTES, cache.capacity());
        }
    }

    @Test
    @Tag("full")
    void whatMakesNoSenseIsOneSentence() throws Exception {
        String provider = CommandProcess.start(
                        Map.of(), "manager", "--temporary", "--listen", "127.0.0.1:0", "--provider", "cloud")
                .awaitEnd(1);
        assertEquals("farheap: --provider cloud: there are local, registered", provider.strip());
        String menu = CommandProcess.start(
                        Map.of(), "manager", "--temporary", "--listen", "127.0.0.1:0", "--provider", "local")
                .awaitEnd(1);
        assertTrue(menu.contains("farheap: provider local starts servers of the types on the menu"), menu);
    }
}
