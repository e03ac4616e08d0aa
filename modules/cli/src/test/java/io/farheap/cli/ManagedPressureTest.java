package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.command.ManagerProcess;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.RegionShare;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.FakeMachine;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A manager in a process of its own, and servers here, each on a machine with as much memory as the test says. */
class ManagedPressureTest {

    private static final long MIB = 1 << 20;
    private static final int REGIONS = 8;
    private static final int WORDS = 512;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    @TempDir
    private Path data;

    private ManagerProcess manager;
    private final List<AutoCloseable> servers = new ArrayList<>();

    @BeforeEach
    void start() {
        manager = ManagerProcess.start(Devices.library(), "127.0.0.1:0", "--data", data.toString());
    }

    @AfterEach
    void close() {
        servers.reversed().forEach(server -> Closeables.all(server));
        manager.close();
    }

    private MemoryServer serve(FakeMachine machine, int regions) {
        ServerOptions options = new ServerOptions(
                        regions * MIB, MIB, TestDevice.patience(3_000_000_000L), TestDevice.server(), "pressed")
                .headroom(machine.headroom());
        MemoryServer server = MemoryServer.open(options);
        servers.add(server);
        machine.runs(Planes.of(server));
        var keys = server.requireGrants();
        String address = server.serve("127.0.0.1:0");
        servers.add(new ManagedServer(
                server,
                List.of(manager.address()),
                address,
                "default",
                false,
                "local/local/local",
                Duration.ofSeconds(30),
                keys,
                () -> {}));
        return server;
    }

    private static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "waited too long for: " + what);
            Thread.sleep(5);
        }
    }

    private static long regionsOn(Cache cache, MemoryServer server) {
        return IntStream.range(0, cache.regions())
                .filter(region -> cache.serverOf(region).equals(server.address()))
                .count();
    }

    /**
     * Writes a word again and again, and reads it back, until it is to end.
     *
     * @return how often
     */
    private static long load(Cache cache, AtomicLong done, AtomicBoolean ends) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(16)) {
            for (long value = 1; !ends.get(); value++) {
                long address = value % 2 * MIB + 8;
                buffer.segment().set(JAVA_LONG, 0, value);
                session.writeBlocking(address, buffer, 0, 8);
                session.readBlocking(address, buffer, 8, 8);
                assertEquals(value, buffer.segment().get(JAVA_LONG, 8));
                done.set(value);
            }
        }
        return done.get();
    }

    private static long at(int word) {
        return word * (REGIONS * MIB / WORDS);
    }

    private static void check(CacheSession session, Buffer buffer) {
        for (int word = 0; word < WORDS; word++) {
            session.readBlocking(at(word), buffer, 0, 8);
            assertEquals(word + 1, buffer.segment().get(JAVA_LONG, 0), "word " + word);
        }
    }

    /** As many regions move as are wanted, no byte is lost, and the server has its memory again later. */
    @Test
    void aQuarterOfAServersMemoryGoesBackToItsMachine() throws Exception {
        FakeMachine machine = new FakeMachine(MIB, 64, REGIONS);
        MemoryServer pressed = serve(machine, REGIONS);
        try (ManagerClient client = ManagerClient.connect(manager.address())) {
            await("the manager knows the server", () -> client.servers().size() == 1);
            try (Cache cache = Cache.builder()
                            .capacity(REGIONS * MIB)
                            .manager(manager.address())
                            .device(TestDevice.client())
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(8)) {
                for (int word = 0; word < WORDS; word++) {
                    buffer.segment().set(JAVA_LONG, 0, word + 1);
                    session.writeBlocking(at(word), buffer, 0, 8);
                }
                MemoryServer other = serve(new FakeMachine(MIB, 64, 4), 4);
                await("the manager knows both", () -> client.servers().size() == 2);
                AtomicLong done = new AtomicLong();
                AtomicBoolean ends = new AtomicBoolean();
                FutureTask<Long> load = new FutureTask<>(() -> load(cache, done, ends));
                Thread.ofPlatform().start(load);
                await("the load runs", () -> done.get() > 10);
                machine.wants(REGIONS / 4);
                await("the machine has its memory", () -> pressed.withdrawnRegions() == REGIONS / 4);
                await("the manager knows", () -> client.describe(cache.id()).allocation().shares().stream()
                        .mapToInt(RegionShare::regions)
                        .boxed()
                        .collect(Collectors.toSet())
                        .equals(Set.of(REGIONS - REGIONS / 4, REGIONS / 4)));
                long before = done.get();
                await("the load still runs", () -> done.get() > before + 10);
                ends.set(true);
                // Fails if the load has read a wrong byte, at whatever time.
                assertTrue(load.get(PATIENCE_SECONDS, TimeUnit.SECONDS) > before + 10);
                assertEquals(REGIONS - REGIONS / 4, regionsOn(cache, pressed));
                assertEquals(REGIONS / 4, regionsOn(cache, other));
                check(session, buffer);
                await("the manager knows that no more are wanted", () -> client.servers().stream()
                        .allMatch(server -> server.wantedRegions() == 0));
                machine.othersHave(0);
                await("they are free again", () -> pressed.description().freeRegions() == REGIONS / 4);
                check(session, buffer);
            }
        }
    }
}
