package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.PointerCache;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.RegisterHistory;
import io.farheap.testing.Softverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Several sessions use few keys, and each key's history is linearizable. A miss counts as a deletion of its own at some
 * moment of the get: a miss is right at any time, but a value that was missed must not come back.
 */
class MapHistoryTest {

    private static final int KEY_BYTES = 8;
    /** The most words of a value, each of which is the number of the request that stored the value. */
    private static final int MOST_WORDS = 40;

    private static final int REQUESTS = Math.max(4_000, Effort.count(20_000));
    /** The requests of a session if objects move meanwhile, which takes longer. */
    private static final int MOVING_REQUESTS = Math.max(2_000, Effort.count(20_000));

    private static final int LEAST_EMPTIED = Effort.count(4);

    private static final int GET = 0;

    private static final int SET = 1;
    private static final int ADD = 2;
    private static final int REPLACE = 3;
    private static final int COMPARE_AND_SET = 4;
    private static final int TOUCH = 5;

    private static final int DELETE = 6;
    /** A delete that says that it has removed an object. */
    private static final int REMOVED = 7;
    /** A request that did not find the key, which counts as a removal without an answer. */
    private static final int ABSENT = 8;

    /** @param kind of the request that has stored, or one of {@code GET}, {@code REMOVED} and {@code ABSENT} */
    record Event(int key, long value, int kind, long invoked, long responded) {}

    static Stream<Arguments> maps() {
        return Effort.variants(
                3,
                arguments(8, 3, 1000, 512, false, 254),
                arguments(64, 3, 10, 256, true, 2),
                arguments(4, 2, 1, 256, false, 254),
                arguments(64, 3, 10, 256, true, 254),
                arguments(400, 3, 100, 256, false, 254),
                arguments(64, 3, 10, 256, false, 254),
                arguments(8, 3, 1000, 512, false, 2),
                arguments(400, 3, 100, 256, false, 2));
    }

    static Stream<Arguments> movingMaps() {
        return Effort.variants(
                1,
                arguments(64, 2, 100, 256, true, 2),
                arguments(400, 2, 100, 256, false, 254),
                arguments(8, 2, 1000, 512, false, 254));
    }

    /**
     * @param room the size of each of the two regions in KiB, including its part of the table
     * @param alike whether all keys have one fingerprint
     * @param mostUnits the largest block, in units; with 2, most values are in pieces
     */
    @ParameterizedTest
    @MethodSource("maps")
    void eachKeyIsLinearizable(int keys, int threads, long objects, int room, boolean alike, int mostUnits)
            throws Exception {
        run(keys, threads, objects, room, alike, mostUnits, Beside.NOTHING);
    }

    @ParameterizedTest
    @MethodSource("movingMaps")
    void eachKeyIsLinearizableWhileAServerComesAndGoes(
            int keys, int threads, long objects, int room, boolean alike, int mostUnits) throws Exception {
        run(keys, threads, objects, room, alike, mostUnits, Beside.SERVERS);
    }

    /** The queue pairs of the services' rings fail, too. */
    @Tag("full")
    @Needs(Need.SOFTVERBS)
    @ParameterizedTest
    @MethodSource("failingMaps")
    void eachKeyIsLinearizableWhileQueuePairsFail(int keys, boolean alike, int mostUnits) throws Exception {
        try {
            run(keys, 3, 1000, 2048, alike, mostUnits, Beside.FAILURES);
        } finally {
            Softverbs.set("qp_error_after=0");
        }
    }

    static Stream<Arguments> failingMaps() {
        return Effort.variants(1, arguments(8, true, 254), arguments(64, false, 254), arguments(64, false, 2));
    }

    static void run(int keys, int threads, long objects, int room, boolean alike, int mostUnits, Beside beside)
            throws Exception {
        boolean moving = beside == Beside.SERVERS || beside == Beside.EMPTYING;
        ValuePieces.mostUnits = mostUnits;
        long seed = System.nanoTime();
        try (TestSpace space = new TestSpace(2, 1, (long) room << 10, objects);
                ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<MapSession> sessions = new ArrayList<>();
            List<Future<List<Event>>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                // With pointers of its own, as a session of another process has.
                MapSession session = space.map.openSession(new PointerCache(1024));
                sessions.add(session);
                Callable<List<Event>> client = () -> new Client(
                                session, TestKeys.of(keys, alike), number, new SplittableRandom(seed + number), beside)
                        .run(moving ? MOVING_REQUESTS : REQUESTS);
                running.add(executor.submit(client));
            }
            if (beside == Beside.FAILURES) {
                Softverbs.set("qp_error_after=60");
            }
            if (beside == Beside.SERVERS) {
                comeAndGo(space, (long) room << 10, running, new SplittableRandom(seed));
            } else if (moving) {
                changeSizes(space, running, sessions, new SplittableRandom(seed), mostUnits == 2 ? 100 : 5000);
            }
            List<Event> events = new ArrayList<>();
            for (Future<List<Event>> future : running) {
                events.addAll(future.get());
            }
            check(keys, events, seed);
            MapCounts counts = space.map.counts();
            assertTrue(mostUnits < SlotWord.MOST_UNITS || counts.pointerHits() > 0, counts + ", seed " + seed);
            if (beside == Beside.FAILURES) {
                sessions.forEach(MapSession::close);
                return;
            }
            EmptyingTest.awaitRest(space, sessions);
            Audit audit = Audit.of(space, sessions);
            assertTrue(beside == Beside.EMPTYING || audit.live <= keys, audit.live + " objects, seed " + seed);
            sessions.forEach(MapSession::close);
        } finally {
            ValuePieces.mostUnits = SlotWord.MOST_UNITS;
        }
    }

    /** The changes of the map or its connections during the requests. */
    enum Beside {
        NOTHING,
        SERVERS,
        EMPTYING,
        /** Queue pairs fail, so the outcome of a compare-and-swap may be unknown. */
        FAILURES
    }

    /** Fills the map with objects of other keys, which have two sizes in turn, until all requests have ended. */
    private static void changeSizes(
            TestSpace space,
            List<Future<List<Event>>> running,
            List<MapSession> clients,
            SplittableRandom random,
            int large) {
        long emptied = 0;
        try (MapSession session = space.map.openSession()) {
            for (int round = 0; emptied < LEAST_EMPTIED || running.stream().anyMatch(each -> !each.isDone()); round++) {
                int bytes = round % 2 == 0 ? 10 : large;
                for (int i = 0; i < 300; i++) {
                    try {
                        session.set(new byte[] {1, (byte) random.nextInt(), (byte) random.nextInt()}, new byte[bytes]);
                    } catch (MapException e) {
                        assertTrue(String.valueOf(e.getMessage()).startsWith("there is no room"), e::toString);
                    }
                }
                emptied = space.map.stats().segmentsEmptied();
                for (int client = 0; client < clients.size(); client++) {
                    if (running.get(client).isDone()) {
                        // The session gives its free blocks back if their segment is being emptied.
                        EmptyingTest.poll(clients.get(client));
                    }
                }
            }
        }
    }

    /** Lets a server join and leave the map until all requests have ended. */
    private static void comeAndGo(
            TestSpace space, long regionBytes, List<Future<List<Event>>> running, SplittableRandom random) {
        String third = space.startServer(2, regionBytes);
        int rounds = 0;
        do {
            space.map.addServer(third, (1 + random.nextInt(2)) * regionBytes);
            space.map.drain(third, Duration.ofMillis(random.nextInt(100)));
            rounds++;
        } while (rounds < 2 || running.stream().anyMatch(each -> !each.isDone()));
    }

    static void check(int keys, List<Event> events, long seed) {
        RegisterHistory[] histories = new RegisterHistory[keys];
        RemovalHistory[] removals = new RemovalHistory[keys];
        int hits = 0;
        for (int key = 0; key < keys; key++) {
            histories[key] = new RegisterHistory();
            removals[key] = new RemovalHistory();
        }
        for (Event event : events) {
            if (event.kind == REMOVED) {
                removals[event.key].removed(event.invoked, event.responded);
            } else if (event.kind == SET || event.kind == ADD) {
                removals[event.key].inserted(event.invoked, event.responded);
            }
            if (event.kind != GET) {
                histories[event.key].write(event.value, event.invoked, event.responded);
            } else {
                hits++;
                histories[event.key].read(event.value, event.invoked, event.responded);
            }
        }
        for (int key = 0; key < keys; key++) {
            assertNull(histories[key].violation(), "key " + key + ", seed " + seed);
            assertNull(removals[key].violation(), "key " + key + ", seed " + seed);
        }
        // A short history has fewer.
        assertTrue(hits > Math.min(100, events.size() / 10), hits + " hits, seed " + seed);
    }

    /** One session with several requests in flight. */
    static final class Client {

        private final MapSession session;
        private final long[] keys;
        private final SplittableRandom random;
        private final List<Event> events = new ArrayList<>();
        private final int[] key = new int[16];
        private final int[] kind = new int[16];
        private final long[] value = new long[16];
        private final long[] invoked = new long[16];
        private final long[] version = new long[16];
        private final long[] expected = new long[16];
        /** The version of each key that was seen last; {@code seenValue} has its value. */
        private final long[] seen;

        private final long[] seenValue;
        private final Beside beside;
        private int mostWords = MOST_WORDS;
        private long nextValue;
        private int ended;
        private boolean patient;
        /** The longest life of an object, in ms; 0: all live for ever. */
        private int mostLife;

        private long life;

        Client(MapSession session, long[] keys, int number, SplittableRandom random, Beside beside) {
            this.beside = beside;
            this.session = session;
            this.keys = keys;
            this.seen = new long[keys.length];
            this.seenValue = new long[keys.length];
            this.random = random;
            this.nextValue = (number + 1L) << 32;
        }

        /** The session's requests need threads of servers, so the client sleeps while it has nothing to do. */
        Client patient() {
            patient = true;
            return this;
        }

        /** A third of the objects live for a short time. A miss of one that has ended is a miss as any other. */
        Client mortal(int mostMillis) {
            mostLife = mostMillis;
            return this;
        }

        /** The longest values have so many words. */
        Client words(int most) {
            mostWords = most;
            return this;
        }

        private void poll() {
            if (session.poll(this::completed) == 0 && patient) {
                session.await(100_000);
            }
        }

        List<Event> run(int requests) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment keyMemory = arena.allocate(KEY_BYTES, 8);
                MemorySegment valueMemory = arena.allocate((long) mostWords * Long.BYTES, 8);
                for (int made = 0; made < requests; made++) {
                    int depth = 1 + random.nextInt(8);
                    while (session.inFlight() >= depth) {
                        poll();
                    }
                    choose(made & 15, keyMemory, valueMemory);
                }
                while (ended < requests) {
                    poll();
                }
            } finally {
                session.release();
            }
            return events;
        }

        private void choose(int place, MemorySegment keyMemory, MemorySegment valueMemory) {
            key[place] = random.nextInt(keys.length);
            keyMemory.set(JAVA_LONG, 0, keys[key[place]]);
            kind[place] = random.nextInt(10) < 5 ? GET : SET + random.nextInt(6);
            value[place] = ++nextValue;
            version[place] = seen[key[place]];
            expected[place] = seenValue[key[place]];
            int words = 1 + random.nextInt(random.nextInt(4) == 0 ? mostWords : 4);
            for (int word = 0; word < words; word++) {
                valueMemory.setAtIndex(JAVA_LONG, word, value[place]);
            }
            MemorySegment object = valueMemory.asSlice(0, words * Long.BYTES);
            life = mostLife > 0 && random.nextInt(3) == 0 ? 1 + random.nextInt(mostLife) : 0;
            do {
                poll();
                invoked[place] = System.nanoTime();
            } while (!make(place, keyMemory, object));
        }

        /** @return false if the session is still storing another value in pieces */
        private boolean make(int place, MemorySegment keyMemory, MemorySegment object) {
            return switch (kind[place]) {
                case GET -> session.get(keyMemory, place);
                case SET -> session.set(keyMemory, object, life, place);
                case ADD -> session.add(keyMemory, object, life, place);
                case REPLACE -> session.replace(keyMemory, object, life, place);
                case COMPARE_AND_SET -> session.compareAndSet(keyMemory, object, version[place], life, place);
                case TOUCH -> session.touch(keyMemory, life, place);
                default -> session.delete(keyMemory, place);
            };
        }

        private void completed(long tag, int status, MemorySegment memory, long at, int bytes) {
            ended++;
            int place = (int) tag;
            long now = System.nanoTime();
            if (kind[place] == GET && status == KvStatus.DONE) {
                long found = memory.get(JAVA_LONG, at);
                for (int word = 1; word < bytes / Long.BYTES; word++) {
                    assertEquals(found, memory.get(JAVA_LONG, at + word * Long.BYTES), "a torn value");
                }
                events.add(new Event(key[place], found, GET, invoked[place], now));
                seen[key[place]] = session.version();
                seenValue[key[place]] = found;
            } else if (status == KvStatus.ABSENT || status == KvStatus.DONE && kind[place] != TOUCH) {
                int effect = status == KvStatus.ABSENT ? ABSENT : kind[place] == DELETE ? REMOVED : kind[place];
                events.add(new Event(key[place], value[place], effect, invoked[place], now));
                if (kind[place] == COMPARE_AND_SET && status == KvStatus.DONE) {
                    events.add(new Event(key[place], expected[place], GET, invoked[place], now));
                }
            } else if (status == KvStatus.LOST && beside == Beside.FAILURES) {
                if (kind[place] != GET && kind[place] != TOUCH) {
                    // The request may take effect at any later time.
                    events.add(new Event(key[place], value[place], kind[place], invoked[place], Long.MAX_VALUE));
                }
            } else {
                assertTrue(
                        status == KvStatus.NO_ROOM
                                || kind[place] == TOUCH
                                || kind[place] == ADD && status == KvStatus.EXISTS
                                || kind[place] == COMPARE_AND_SET && status == KvStatus.CHANGED,
                        KvStatus.describe(status));
            }
        }
    }
}
