package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.TableReader;
import io.farheap.testing.Effort;
import io.farheap.testing.RegisterHistory;
import io.farheap.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One thread makes the steps of several sessions in an order that a seed determines, so any order of their operations
 * is possible, and can be repeated. Some sessions stop for good during a request. Objects expire.
 */
class InterleavingTest {

    private static final int SESSIONS = 4;
    /** How many requests are begun and ended in total; between these, sessions may wait for the services. */
    private static final int EVENTS = Math.max(20_000, Effort.count(60_000));
    /** The least number of events for each key, because requests for one of many keys are rare. */
    private static final int EVENTS_OF_KEY = 100;

    private static final long MOST_NANOS = TestDevice.patience(120_000_000_000L);
    private static final int WORDS = 3;
    /** Each session has pointers of its own, as those of other processes have. */
    private static final int POINTERS = 1024;

    private static final int GET = 0;
    private static final int SET = 1;
    private static final int DELETE = 2;
    private static final int ADD = 3;
    private static final int REPLACE = 4;
    private static final int COMPARE_AND_SET = 5;
    private static final int TOUCH = 6;
    /** The kinds to choose from, each as often as its share of the requests. */
    private static final int[] MIX = {
        GET, GET, GET, GET, SET, SET, DELETE, DELETE, ADD, ADD, ADD, REPLACE, COMPARE_AND_SET, COMPARE_AND_SET, TOUCH
    };

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment key = arena.allocate(8, 8);
    private final MemorySegment value = arena.allocate(8 * WORDS, 8);
    private long[] numbers = {};
    private RemovalHistory[] removals = {};
    private long now;
    private long nextValue;
    private int hits;
    private final int[] done = new int[TOUCH + 1];
    /** The value of each version. */
    private final Map<Long, Long> versions = new HashMap<>();

    private final Set<Long> replaced = new HashSet<>();

    static Stream<Arguments> maps() {
        return Effort.variants(
                4,
                arguments(3, 1, 1000000, false, 254, 0),
                arguments(30, 1, 400, true, 254, 3),
                arguments(40, 8, 400, false, 1, 3),
                arguments(300, 20, 1000, false, 254, 0),
                arguments(30, 1, 400, true, 254, 0),
                arguments(30, 1, 1000000, true, 1, 0),
                arguments(40, 8, 400, false, 1, 0),
                arguments(3, 1, 1000000, true, 254, 0),
                arguments(6, 1, 400, false, 254, 0),
                arguments(30, 1, 1000000, true, 254, 0),
                arguments(40, 8, 400, false, 254, 0),
                arguments(3, 1, 1000000, false, 1, 0),
                arguments(3, 1, 1000000, false, 254, 3));
    }

    /**
     * @param abandon one step in this number stops a session for good
     * @param alike whether all keys have one fingerprint
     * @param mostUnits the largest block, in units; with 1, values are in pieces
     * @param move one step in this number moves or evicts an object, as a drain does; 0 for none
     */
    @ParameterizedTest
    @MethodSource("maps")
    void eachKeyIsLinearizable(int keys, long objects, int abandon, boolean alike, int mostUnits, int move) {
        ValuePieces.mostUnits = mostUnits;
        numbers = TestKeys.of(keys, alike);
        long seed = Long.getLong("farheap.seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        RegisterHistory[] histories = new RegisterHistory[keys];
        removals = new RemovalHistory[keys];
        for (int i = 0; i < keys; i++) {
            histories[i] = new RegisterHistory();
            removals[i] = new RemovalHistory();
        }
        try (TestSpace space = new TestSpace(1, 1, 4 << 20, objects)) {
            List<Client> clients = new ArrayList<>();
            List<MapSession> sessions = new ArrayList<>();
            int abandoned = 0;
            Mover mover = new Mover(space, random);
            sessions.add(mover.session);
            long deadline = System.nanoTime() + MOST_NANOS;
            int most = Math.max(EVENTS, EVENTS_OF_KEY * keys);
            for (int events = 0; events < most; ) {
                if (System.nanoTime() - deadline > 0) {
                    fail(events + " events, seed " + seed);
                }
                while (clients.size() < SESSIONS) {
                    clients.add(new Client(space.map.openSession(new PointerCache(POINTERS)), histories, random));
                    sessions.add(clients.getLast().session);
                }
                if (move > 0 && random.nextInt(move) == 0) {
                    mover.step();
                }
                space.clock.millis += random.nextInt(10) == 0 ? 1 : 0;
                // The first session is slow: only one step in 20 is its own.
                Client client = clients.get(random.nextInt(20) == 0 ? 0 : 1 + random.nextInt(SESSIONS - 1));
                if (client.session.inFlight() > 0 && abandoned < 20 && random.nextInt(abandon) == 0) {
                    client.abandon();
                    clients.remove(client);
                    abandoned++;
                } else {
                    events += client.step();
                }
            }
            clients.forEach(Client::finish);
            mover.finish();
            assertTrue(move == 0 || mover.moved > 100 || mostUnits == 1, mover + ", seed " + seed);
            assertTrue(move == 0 || mover.evicted > 20, mover + ", seed " + seed);
            for (int i = 0; i < keys; i++) {
                assertNull(histories[i].violation(), "key " + i + ", seed " + seed);
                assertNull(removals[i].violation(), "key " + i + ", seed " + seed);
            }
            assertTrue(hits > 200, hits + " hits, seed " + seed);
            MapCounts counts = space.map.counts();
            assertTrue(mostUnits == 1 || counts.pointerHits() > 5, counts + ", seed " + seed);
            assertTrue(mostUnits == 1 || counts.stalePointers() > 5, counts + ", seed " + seed);
            assertTrue(Arrays.stream(done).min().orElse(0) > 20, Arrays.toString(done) + " done, seed " + seed);
            if (abandoned == 0) {
                Audit.of(space, sessions);
            }
            sessions.forEach(MapSession::close);
            // The abandoned sessions have given their blocks back, too.
            MapAudit audit = audited(space);
            assertTrue(audit.quiet() && audit.sound(), () -> audit + ", seed " + seed);
            assertEquals(0, audit.held() + audit.lost(), () -> audit + ", seed " + seed);
        } finally {
            ValuePieces.mostUnits = SlotWord.MOST_UNITS;
            arena.close();
        }
    }

    /** Waits for blocks that sessions give back, which are on their way for a while if a server answers late. */
    private static MapAudit audited(TestSpace space) {
        long deadline = System.nanoTime() + TestDevice.patience(10_000_000_000L);
        MapAudit audit = space.map.audit();
        while (audit.held() > 0 && System.nanoTime() - deadline < 0) {
            audit = space.map.audit();
        }
        return audit;
    }

    /** Moves objects to other blocks, and evicts some, slot by slot. */
    private static final class Mover {

        final MapSession session;
        private final TableReader table;
        private final SplittableRandom random;
        int moved;
        int evicted;

        Mover(TestSpace space, SplittableRandom random) {
            session = space.map.openSession();
            table = new TableReader(space.memory, space.space);
            this.random = random;
        }

        void step() {
            if (session.inFlight() > random.nextInt(4)) {
                session.poll(this::completed);
                return;
            }
            int slots = table.readSlots(0, 0);
            int slot = random.nextInt(slots);
            for (int looked = 0; !SlotWord.isLive(table.word(slot)); looked++) {
                if (looked == slots) {
                    return;
                }
                slot = (slot + 1) % slots;
            }
            int kind = random.nextInt(8) == 0 ? RequestColumns.EVICT : RequestColumns.MOVE;
            long place = MoveSteps.slot(0, slot / SpaceShape.BUCKET_SLOTS, slot % SpaceShape.BUCKET_SLOTS);
            session.requests().move(kind, place, table.word(slot), kind);
        }

        private void completed(long kind, int status, MemorySegment memory, long at, int bytes) {
            moved += status == KvStatus.DONE && kind == RequestColumns.MOVE ? 1 : 0;
            evicted += status == KvStatus.DONE && kind == RequestColumns.EVICT ? 1 : 0;
        }

        void finish() {
            while (session.inFlight() > 0) {
                session.poll(this::completed);
            }
            table.close();
        }

        @Override
        public String toString() {
            return moved + " moved, " + evicted + " evicted";
        }
    }

    private record Request(int key, int kind, long value, long version, long invoked) {

        /** Whether it may make the key present. */
        boolean inserts() {
            return kind == SET || kind == ADD;
        }
    }

    private final class Client {

        final MapSession session;
        private final RegisterHistory[] histories;
        private final SplittableRandom random;
        private final Map<Long, Request> requests = new HashMap<>();
        private long nextTag;
        /** The version of each key that this client saw last. */
        private final long[] seen;

        Client(MapSession session, RegisterHistory[] histories, SplittableRandom random) {
            this.session = session;
            this.histories = histories;
            this.random = random;
            this.seen = new long[histories.length];
        }

        /** @return how many requests were begun or ended */
        int step() {
            return session.inFlight() < 1 + random.nextInt(3) ? begin() : session.poll(this::completed);
        }

        private int begin() {
            int number = random.nextInt(histories.length);
            int kind = MIX[random.nextInt(MIX.length)];
            long life = random.nextInt(3) == 0 ? 1 + random.nextInt(100) : 0;
            key.set(JAVA_LONG, 0, numbers[number]);
            long tag = nextTag++;
            requests.put(tag, new Request(number, kind, ++nextValue, seen[number], ++now));
            for (int word = 0; word < WORDS; word++) {
                value.setAtIndex(JAVA_LONG, word, nextValue);
            }
            boolean made =
                    switch (kind) {
                        case GET -> session.get(key, tag);
                        case SET -> session.set(key, value, life, tag);
                        case ADD -> session.add(key, value, life, tag);
                        case REPLACE -> session.replace(key, value, life, tag);
                        case COMPARE_AND_SET -> session.compareAndSet(key, value, seen[number], life, tag);
                        case TOUCH -> session.touch(key, life, tag);
                        default -> session.delete(key, tag);
                    };
            if (!made) {
                // The session is still storing another value in pieces.
                requests.remove(tag);
                return session.poll(this::completed);
            }
            return 1;
        }

        private void completed(long tag, int status, MemorySegment memory, long at, int bytes) {
            Request request = requests.remove(tag);
            long responded = ++now;
            RegisterHistory history = histories[request.key];
            if (status == KvStatus.DONE) {
                done[request.kind]++;
                if (request.kind == DELETE) {
                    removals[request.key].removed(request.invoked, responded);
                } else if (request.inserts()) {
                    removals[request.key].inserted(request.invoked, responded);
                }
            }
            if (session.version() != 0) {
                seen[request.key] = session.version();
            }
            if (request.kind == GET && status == KvStatus.DONE) {
                hits++;
                assertEquals(8 * WORDS, bytes);
                long found = memory.get(JAVA_LONG, at);
                for (int word = 1; word < WORDS; word++) {
                    assertEquals(found, memory.getAtIndex(JAVA_LONG, at / 8 + word));
                }
                history.read(found, request.invoked, responded);
                assertEquals(found, versions.getOrDefault(session.version(), found));
                versions.put(session.version(), found);
            } else if (status == KvStatus.ABSENT) {
                // The object was removed by then, so this counts as a deletion, a write of a value of its own.
                history.write(request.value, request.invoked, responded);
            } else if (status == KvStatus.DONE && request.kind != TOUCH) {
                history.write(request.value, request.invoked, responded);
                if (session.version() != 0) {
                    versions.put(session.version(), request.value);
                }
                if (request.kind == COMPARE_AND_SET) {
                    assertTrue(replaced.add(request.version), "one version was replaced twice");
                    history.read(versions.get(request.version), request.invoked, responded);
                }
            } else {
                assertTrue(status == KvStatus.DONE
                        || request.kind == ADD && status == KvStatus.EXISTS
                        || request.kind == COMPARE_AND_SET && status == KvStatus.CHANGED);
            }
        }

        /** The client never polls again; its requests may take effect or not. */
        void abandon() {
            for (Request request : requests.values()) {
                if (request.kind != GET && request.kind != TOUCH) {
                    histories[request.key].write(request.value, request.invoked, Long.MAX_VALUE);
                }
                if (request.inserts()) {
                    removals[request.key].inserted(request.invoked, Long.MAX_VALUE);
                }
            }
        }

        void finish() {
            while (session.inFlight() > 0) {
                session.poll(this::completed);
            }
        }
    }
}
