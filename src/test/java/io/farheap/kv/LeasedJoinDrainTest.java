package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.CallingProcess;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.client.ShardLines;
import io.farheap.kv.leased.client.ShardReplacer;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Servers join leased maps and leave them, while processes use them. */
class LeasedJoinDrainTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int OBJECTS = 200;
    private static final int CLIENT_KEYS = 50;
    private static final Duration SOON = Duration.ofSeconds(10);

    private static FarMapBuilder map(TestServers servers, String... addresses) {
        return servers.named(addresses)
                .engine(FarMapBuilder.LEASED)
                .memory(addresses.length * REGION_BYTES)
                .objects(2000)
                .replaceAfter(Duration.ofMillis(100));
    }

    private static void await(BooleanSupplier condition) {
        Wait.until(condition, 60_000_000_000L, "it has not come to that");
    }

    private static long objects(TestServers servers, int server) {
        return servers.counter(server, "maps.leased.objects");
    }

    /** Keys that go to the new server are misses, and all others stay; a process that has not heard of it asks. */
    @Test
    void aServerThatJoinsTakesKeysOverAndGivesThemUpAgain() {
        try (TestServers servers = new TestServers("join")) {
            String[] addresses = servers.startAll(3, 2, REGION_BYTES);
            String[] made = {addresses[0], addresses[1]};
            try (FarMap map = map(servers, made).create();
                    FarMap other = servers.named(made).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                TestServers.fill(session, 0, OBJECTS);
                // Pointers with leases to all objects.
                assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                map.addServer(addresses[2], REGION_BYTES);
                int left = TestServers.found(second, 0, OBJECTS);
                assertTrue(left > OBJECTS / 2 && left < OBJECTS * 5 / 6, left + " are left");
                assertEquals(left, TestServers.found(session, 0, OBJECTS));
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                assertTrue(objects(servers, 2) > OBJECTS / 6, objects(servers, 2) + " objects");
                assertEquals(3, other.servers().size());
                assertThrows(IllegalArgumentException.class, () -> map.addServer(addresses[2], REGION_BYTES));
                try (FarMap third = servers.named(made).open();
                        MapSession later = third.openSession()) {
                    assertEquals(OBJECTS, TestServers.found(later, 0, OBJECTS));
                    assertEquals(3, third.servers().size());
                }
                long there = objects(servers, 2);
                assertEquals(new MapDrain(there, 0, there, 0), other.drain(addresses[2], SOON));
                assertEquals(OBJECTS - there, TestServers.found(session, 0, OBJECTS));
                assertEquals(OBJECTS - there, TestServers.found(second, 0, OBJECTS));
                TestServers.fill(second, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                servers.awaitFree(2, 2);
                MapAudit audit = map.audit();
                assertTrue(audit.sound() && audit.quiet(), audit::toString);
                assertEquals(OBJECTS, audit.named());
                // Its keys come back there as misses.
                map.addServer(addresses[2], REGION_BYTES);
                assertTrue(TestServers.found(session, 0, OBJECTS) < OBJECTS);
                assertEquals(0, objects(servers, 2));
            }
        }
    }

    /** Each seals all servers; one waits for the other, and continues from what that one has changed. */
    @Test
    void twoProcessesChangeTheServersAtATime() {
        try (TestServers servers = new TestServers("both")) {
            String[] addresses = servers.startAll(4, 2, REGION_BYTES);
            String[] made = {addresses[0], addresses[1]};
            try (FarMap map = map(servers, made).create();
                    FarMap other = servers.named(made).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                TestServers.fill(session, 0, OBJECTS);
                CompletableFuture.allOf(
                                CompletableFuture.runAsync(() -> map.addServer(addresses[2], REGION_BYTES)),
                                CompletableFuture.runAsync(() -> other.addServer(addresses[3], REGION_BYTES)))
                        .join();
                TestServers.fill(second, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                await(() -> map.servers().size() == 4 && other.servers().size() == 4);
                long all = 0;
                for (int server = 0; server < 4; server++) {
                    assertTrue(objects(servers, server) > 0, "server " + server);
                    all += objects(servers, server);
                }
                assertEquals(OBJECTS, all, "no key is at two servers");
            }
        }
    }

    /** One of those that the map was made on leaves too; the last one does not. */
    @Test
    void aServerThatTheMapWasMadeOnLeaves() {
        try (TestServers servers = new TestServers("made")) {
            String[] addresses = servers.startAll(2, 2, REGION_BYTES);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                TestServers.fill(session, 0, OBJECTS);
                map.drain(addresses[0], SOON);
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                assertEquals(List.of(addresses[1]), map.servers());
                servers.awaitFree(0, 2);
                assertThrows(IllegalArgumentException.class, () -> map.drain(addresses[1], SOON));
                assertThrows(IllegalArgumentException.class, () -> map.drain(addresses[0], SOON));
                try (FarMap other = servers.named(addresses[1]).open();
                        MapSession second = other.openSession()) {
                    assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                }
            }
        }
    }

    /** One of them has left when the other one is about to, though both were there when each drain began. */
    @Test
    void theLastTwoServersThatTheMapWasMadeOnDoNotBothLeave() {
        try (TestServers servers = new TestServers("two")) {
            String[] addresses = servers.startAll(3, 2, REGION_BYTES);
            String[] made = {addresses[0], addresses[1]};
            try (FarMap map = map(servers, made).create();
                    FarMap other = servers.named(made).open();
                    MapSession session = map.openSession()) {
                map.addServer(addresses[2], REGION_BYTES);
                await(() -> other.servers().size() == 3);
                List<CompletableFuture<MapDrain>> drains = List.of(
                        CompletableFuture.supplyAsync(() -> map.drain(addresses[0], SOON)),
                        CompletableFuture.supplyAsync(() -> other.drain(addresses[1], SOON)));
                long refused = drains.stream()
                        .filter(each ->
                                each.handle((_, thrown) -> thrown != null).join())
                        .count();
                assertEquals(1, refused);
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                await(() -> map.servers().size() == 2 && other.servers().size() == 2);
                String left = map.servers().contains(addresses[0]) ? addresses[0] : addresses[1];
                try (FarMap later = servers.named(left).open();
                        MapSession third = later.openSession()) {
                    assertEquals(OBJECTS, TestServers.found(third, 0, OBJECTS));
                }
            }
        }
    }

    /**
     * A process that sets and counts its own keys, of rising numbers, and reads another's: no older number comes back,
     * nothing is made twice, and nothing is lost.
     */
    private static final class Client implements Runnable {

        private final FarMap map;
        private final int own;
        private final BooleanSupplier ends;
        private final int[] last = new int[CLIENT_KEYS];
        private final int[] seen = new int[2 * CLIENT_KEYS];
        private volatile int done;

        Client(FarMap map, int own, BooleanSupplier ends) {
            this.map = map;
            this.own = own;
            this.ends = ends;
        }

        @Override
        public void run() {
            SplittableRandom random = new SplittableRandom(own);
            try (MapSession session = map.openSession()) {
                for (int number = 1; !ends.getAsBoolean(); number++) {
                    int key = number % CLIENT_KEYS;
                    if (number / CLIENT_KEYS % 2 == 0) {
                        session.set(TestServers.key(own + key), number(number));
                        last[key] = number;
                    } else {
                        // It is absent if the key has gone elsewhere meanwhile.
                        session.increment(TestServers.key(own + key), CLIENT_KEYS)
                                .ifPresent(sum -> assertEquals(last[key] + CLIENT_KEYS, sum, "it is made once"));
                        session.set(TestServers.key(own + key), number(number));
                        last[key] = number;
                    }
                    int read = random.nextInt(2 * CLIENT_KEYS);
                    look(session, read);
                    look(session, read);
                    done = number;
                }
            }
        }

        private static byte[] number(int number) {
            return ByteBuffer.allocate(8).putInt(Integer.reverseBytes(number)).array();
        }

        private void look(MapSession session, int key) {
            byte[] found = session.get(TestServers.key(key));
            if (found != null) {
                int number = Integer.reverseBytes(ByteBuffer.wrap(found).getInt());
                assertTrue(number >= seen[key], "an older value is back");
                seen[key] = number;
            }
        }
    }

    @Test
    void requestsContinueWhileServersJoinAndLeave() throws Exception {
        try (TestServers servers = new TestServers("clients")) {
            String[] addresses = servers.startAll(3, 2, REGION_BYTES);
            String[] made = {addresses[0], addresses[1]};
            AtomicBoolean ends = new AtomicBoolean();
            try (FarMap map = map(servers, made).create();
                    FarMap other = servers.named(made).open()) {
                List<Client> clients =
                        List.of(new Client(map, 0, ends::get), new Client(other, CLIENT_KEYS, ends::get));
                List<CompletableFuture<Void>> running = clients.stream()
                        .map(client -> CompletableFuture.runAsync(
                                client, task -> Thread.ofPlatform().start(task)))
                        .toList();
                try {
                    awaitMore(clients, running);
                    map.addServer(addresses[2], REGION_BYTES);
                    awaitMore(clients, running);
                    other.drain(addresses[0], SOON);
                    awaitMore(clients, running);
                    map.addServer(addresses[0], REGION_BYTES);
                    awaitMore(clients, running);
                } finally {
                    ends.set(true);
                    for (CompletableFuture<Void> each : running) {
                        each.get();
                    }
                }
                assertEquals(3, map.servers().size());
            }
        }
    }

    private static void awaitMore(List<Client> clients, List<CompletableFuture<Void>> running) {
        List<Integer> before = clients.stream().map(client -> client.done).toList();
        await(() -> running.stream().anyMatch(CompletableFuture::isDone)
                || clients.stream()
                        .allMatch(client -> client.done > before.get(clients.indexOf(client)) + 2 * CLIENT_KEYS));
    }

    /** They are written into the process's memory at the server that has the key now. */
    @Test
    void valuesInPiecesGoWhereTheirKeysAre() {
        try (TestServers servers = new TestServers("pieces")) {
            String[] addresses = servers.startAll(2, 3, REGION_BYTES);
            try (FarMap map = map(servers, addresses[0]).create();
                    FarMap other = servers.named(addresses[0]).open();
                    MapSession session = map.openSession()) {
                setLong(session, 0);
                other.addServer(addresses[1], REGION_BYTES);
                setLong(session, 1);
                assertTrue(objects(servers, 1) > 0, "some are there");
                assertThrows(IllegalArgumentException.class, () -> other.drain(addresses[0], SOON), "it finds the map");
                other.drain(addresses[1], SOON);
                setLong(session, 2);
                MapAudit audit = map.audit();
                assertTrue(audit.sound() && audit.quiet(), audit::toString);
            }
        }
    }

    /** READs of the old value's pieces have ended when the get is made again at the server that has the key now. */
    @Test
    void aGetThatReadsPiecesWhenItsServerLeavesFindsTheNewValue() {
        try (TestServers servers = new TestServers("reads")) {
            String[] addresses = servers.startAll(2, 3, REGION_BYTES);
            try (FarMap map = map(servers, addresses[0]).create();
                    FarMap other = servers.named(addresses[0]).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                other.addServer(addresses[1], REGION_BYTES);
                await(() -> map.servers().size() == 2);
                int number = 0;
                session.set(TestServers.key(number), TestServers.value(number, 20_000));
                while (objects(servers, 1) == 0) {
                    number++;
                    session.set(TestServers.key(number), TestServers.value(number, 20_000));
                }
                byte[] bytes = TestServers.key(number);
                assertArrayEquals(TestServers.value(number, 20_000), session.get(bytes));
                long reads = session.posted().reads();
                List<Integer> statuses = new ArrayList<>();
                List<byte[]> found = new ArrayList<>();
                KvHandler keep = (tag, status, memory, at, length) -> {
                    statuses.add(status);
                    found.add(memory.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE));
                };
                assertTrue(session.get(MemorySegment.ofArray(bytes), 1));
                await(() -> {
                    if (session.posted().reads() < reads + 2) {
                        session.poll(keep);
                    }
                    return session.posted().reads() >= reads + 2;
                });
                assertTrue(found.isEmpty(), "its pieces are being read");
                other.drain(addresses[1], SOON);
                await(() -> map.servers().size() == 1);
                byte[] next = TestServers.value(4711, 40);
                second.set(bytes, next);
                await(() -> session.poll(keep) > 0);
                assertEquals(List.of(KvStatus.DONE), statuses);
                assertArrayEquals(next, found.getFirst());
            }
        }
    }

    private static void setLong(MapSession session, int number) {
        for (int key = 0; key < 12; key++) {
            byte[] value = TestServers.value(key + number, 20_000);
            session.set(TestServers.key(key), value);
            assertArrayEquals(value, session.get(TestServers.key(key)));
            assertArrayEquals(value, session.get(TestServers.key(key)));
        }
    }

    /** The shards have lost the keys of a server that was to join. */
    @Test
    void aChangeWhoseProcessDiesIsCompletedByAnother() {
        try (TestServers servers = new TestServers("dies")) {
            String[] addresses = servers.startAll(2, 2, REGION_BYTES);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                TestServers.fill(session, 0, OBJECTS);
                try (CallingProcess dies = new CallingProcess("dies")) {
                    beginJoin(dies, addresses);
                }
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                try (FarMap other = servers.named(addresses).open();
                        MapSession second = other.openSession()) {
                    assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                }
            }
        }
    }

    private static void beginJoin(CallingProcess process, String... addresses) {
        long[] next = {1, 4711, 1, 0, new ShardDirectory.Change(2, 4).word()};
        for (String address : addresses) {
            assertEquals(MapCalls.OK, process.call(address, ShardCalls.SEAL, 0, 1, 0, 0)[0]);
            await(() -> process.call(address, ShardCalls.RELEASE, next)[0] == MapCalls.OK);
        }
    }

    /** It has the map open as long as it lives, and has had no answer to a call. */
    @Test
    void aChangeWhoseProcessLivesOnWithoutAStepIsCompletedByAnother() {
        try (TestServers servers = new TestServers("lives")) {
            String[] addresses = servers.startAll(2, 2, REGION_BYTES);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession();
                    CallingProcess lives = new CallingProcess("lives")) {
                beginJoin(lives, addresses);
                // Requests for keys that are nowhere wait until this process has the servers agree.
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                try (FarMap other = servers.named(addresses).open();
                        MapSession second = other.openSession()) {
                    assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                }
            }
        }
    }

    /** It was stopped for so long that the space of the server was dropped. */
    @Test
    void aProcessLearnsOfADrainWhenTheServerHasDroppedTheMap() {
        try (TestServers servers = new TestServers("late")) {
            String[] addresses = servers.startAll(3, 2, REGION_BYTES);
            try (FarMap map = map(servers, addresses).create();
                    RemoteMemory late = RemoteMemory.open(TestDevice.client(), "late");
                    ShardLines lines = new ShardLines(late)) {
                TreeMap<Integer, RemoteSpace> made = new TreeMap<>();
                for (String address : addresses) {
                    RemoteSpace part = late.openSpace(late.attach(address), SpaceKey.of("late", TestServers.TOKEN));
                    made.put(LeasedDescriptor.decode(part.descriptor(), address).server(), part);
                }
                RemoteSpace first = made.values().iterator().next();
                LeasedDescriptor descriptor =
                        LeasedDescriptor.decode(first.descriptor(), "the map").of(0);
                ShardReplacer replacer =
                        new ShardReplacer(lines, descriptor, (number, address) -> null, made, 0, false, "");
                assertEquals(3, replacer.agree().spaces().size());
                map.drain(first.server().address(), SOON);
                ShardReplacer.UsedEdition edition = replacer.agree();
                assertEquals(Set.of(1, 2), edition.spaces().keySet());
                assertEquals(1, edition.directory().drained());
            }
        }
    }

    /** A process made the space and died, and another server got the number for which it was made. */
    @Test
    void aServerJoinsOnWhichAnAttemptToJoinHasLeftASpace() {
        try (TestServers servers = new TestServers("left")) {
            String[] addresses = servers.startAll(3, 2, REGION_BYTES);
            try (FarMap map = map(servers, addresses[0]).create();
                    MapSession session = map.openSession()) {
                try (RemoteMemory dies = RemoteMemory.open(TestDevice.client(), "dies");
                        CallingProcess asks = new CallingProcess("left")) {
                    LeasedDescriptor made = LeasedDescriptor.decode(
                                    asks.space(addresses[0]).descriptor(), "the map")
                            .of(0);
                    int shards = ShardDirectory.of(made).shards();
                    SpaceKey key = SpaceKey.of("left", TestServers.TOKEN);
                    dies.createSpace(
                            dies.attach(addresses[2]),
                            key,
                            1,
                            SpacePlane.FOR_EVER,
                            made.of(1, shards).encode(),
                            true);
                }
                map.addServer(addresses[1], REGION_BYTES);
                map.addServer(addresses[2], REGION_BYTES);
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS));
                assertTrue(objects(servers, 2) > 0, "it has a share");
            }
        }
    }

    /** One finds the space of the other one there, which is in use by then, or is about to be. */
    @Test
    void twoProcessesHaveOneServerJoin() {
        try (TestServers servers = new TestServers("same")) {
            String[] addresses = servers.startAll(2, 2, REGION_BYTES);
            try (FarMap map = map(servers, addresses[0]).create();
                    FarMap other = servers.named(addresses[0]).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                List<CompletableFuture<Void>> joins = List.of(
                        CompletableFuture.runAsync(() -> map.addServer(addresses[1], REGION_BYTES)),
                        CompletableFuture.runAsync(() -> other.addServer(addresses[1], REGION_BYTES)));
                long refused = joins.stream()
                        .filter(each ->
                                each.handle((_, thrown) -> thrown != null).join())
                        .count();
                assertEquals(1, refused);
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                assertTrue(objects(servers, 1) > 0, "it has a share");
            }
        }
    }

    @Test
    void aServerThatHasJoinedIsLost() {
        long lease = TestDevice.patience(1_500_000_000L);
        try (TestServers servers = new TestServers("lost")) {
            String[] addresses = servers.startAll(3, 2, REGION_BYTES, lease);
            String[] made = {addresses[0], addresses[1]};
            try (FarMap map = map(servers, made).create();
                    FarMap other = servers.named(made).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                map.addServer(addresses[2], REGION_BYTES);
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
                servers.stop(2);
                await(() -> map.servers().size() == 2 && other.servers().size() == 2);
                await(() -> works(session) && works(second));
                TestServers.fill(session, 0, OBJECTS);
                assertEquals(OBJECTS, TestServers.found(second, 0, OBJECTS));
            }
        }
    }

    private static boolean works(MapSession session) {
        try {
            return TestServers.found(session, 0, OBJECTS) > 0;
        } catch (MapException e) {
            return false;
        }
    }
}
