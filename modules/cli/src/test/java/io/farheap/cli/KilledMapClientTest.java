package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ChildJvm;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.MapAudit;
import io.farheap.kv.MapException;
import io.farheap.kv.Session;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that use a map and are killed or stopped in the midst of it: what they had comes back. */
class KilledMapClientTest {

    private static final long MIB = 1 << 20;
    private static final String NAME = "prices";
    private static final String TOKEN = "not a secret";
    private static final String LEASE = TestDevice.patience(1000) + "ms";
    private static final int KILLS = 3;

    private final List<ServerProcess> servers = new ArrayList<>();

    private FarMap start(int count) {
        for (int i = 0; i < count; i++) {
            servers.add(TestServer.start(2 * MIB, MIB, "--lease", LEASE));
        }
        return builder().memory(count * 2 * MIB).objects(MapLoad.KEYS).create();
    }

    private FarMapBuilder builder() {
        return FarMap.builder()
                .name(NAME)
                .token(TOKEN)
                .device(TestDevice.client())
                .servers(servers.stream().map(ServerProcess::address).toArray(String[]::new));
    }

    private ChildJvm load(int sessions) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(MapLoad.class.getName(), NAME, TOKEN, Integer.toString(sessions)));
        servers.forEach(server -> command.add(server.address()));
        ChildJvm jvm = ChildJvm.start(Devices.library(), Map.of(), List.of("-XX:TieredStopAtLevel=1"), command);
        jvm.awaitAddress("the load");
        return jvm;
    }

    @AfterEach
    void stop() {
        servers.forEach(ServerProcess::close);
    }

    /** Nobody uses the map but sessions that do nothing now. */
    private static MapAudit sound(FarMap map) {
        MapAudit audit = map.audit();
        assertTrue(audit.quiet() && audit.sound(), audit::toString);
        return audit;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatKilledProcessesHadComesBack(int serverCount) throws Exception {
        try (FarMap map = start(serverCount)) {
            AtomicBoolean ends = new AtomicBoolean();
            AtomicLong done = new AtomicLong();
            // It goes on all the time: no request of it is lost or finds no room.
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                SplittableRandom random = new SplittableRandom(1);
                try (Session session = map.openSession()) {
                    while (!ends.get()) {
                        MapLoad.request(session, random);
                        done.incrementAndGet();
                    }
                }
            });
            long collected = 0;
            for (int i = 0; i < KILLS; i++) {
                load(2).kill();
                long before = done.get();
                MapAudit audit = map.audit();
                assertTrue(audit.sound(), audit::toString);
                collected += audit.account().lost();
                assertTrue(done.get() > before, "the other session stands still");
            }
            ends.set(true);
            other.join();
            MapAudit audit = sound(map);
            assertEquals(0, audit.account().held() + audit.account().lost(), audit::toString);
            // All of a map that is full is in use again.
            assertTrue(collected > 0 || audit.account().pooled() > 0, audit::toString);
            try (Session session = map.openSession()) {
                for (int key = 0; key < MapLoad.KEYS; key++) {
                    MapLoad.request(session, new SplittableRandom(key));
                }
            }
        }
    }

    @Test
    void oneThatWasStoppedBeyondItsLeaseHasNothingAnyMore() throws Exception {
        try (FarMap map = start(2);
                Session session = map.openSession();
                ChildJvm stopped = load(2)) {
            stopped.suspend();
            SplittableRandom random = new SplittableRandom(2);
            MapAudit audit = map.audit();
            assertTrue(audit.sound(), audit::toString);
            for (int i = 0; i < 20_000; i++) {
                MapLoad.request(session, random);
            }
            stopped.resume();
            assertTrue(stopped.await(TestDevice.patience(60)), "it goes on without a lease");
            assertEquals(0, stopped.exitValue());
            for (int i = 0; i < 20_000; i++) {
                MapLoad.request(session, random);
            }
            assertEquals(0, sound(map).account().lost());
        }
    }

    @Test
    void aProcessThatClosesTheMapLeavesNothingToCollect() {
        try (FarMap map = start(2)) {
            try (FarMap second = builder().open();
                    Session session = second.openSession()) {
                SplittableRandom random = new SplittableRandom(3);
                for (int i = 0; i < 10_000; i++) {
                    MapLoad.request(session, random);
                }
            }
            MapAudit audit = sound(map);
            assertEquals(0, audit.account().held() + audit.account().lost(), audit::toString);
            assertTrue(audit.account().pooled() > 0, audit::toString);
        }
    }

    @Test
    void withAServerGoneAuditSaysSo() {
        try (FarMap map = start(2)) {
            servers.get(1).kill();
            assertThrows(MapException.class, map::audit);
        }
    }
}
