package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.RegisterHistory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Several sessions on one thread, a step of one and a step of another, as a seed says: each order of their operations
 * may come, and comes again. Some sessions stop in the midst of a request for good, others for long.
 */
class InterleavingTest {

    private static final int SESSIONS = 4;
    private static final int STEPS = 150_000;
    private static final int WORDS = 3;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment key = arena.allocate(8, 8);
    private final MemorySegment value = arena.allocate(8 * WORDS, 8);
    private long[] numbers = {};
    private long now;
    private long nextValue;
    private int hits;

    /**
     * @param abandon of so many steps one stops a session for good
     * @param alike whether all keys have one fingerprint
     */
    @ParameterizedTest
    @CsvSource({
        "3, 1, 1000000, false",
        "6, 1, 400, false",
        "30, 1, 1000000, true",
        "30, 1, 400, true",
        "40, 8, 400, false",
        "300, 20, 1000, false"
    })
    void eachKeyIsLinearizable(int keys, long objects, int abandon, boolean alike) {
        numbers = TestKeys.of(keys, alike);
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        RegisterHistory[] histories = new RegisterHistory[keys];
        for (int i = 0; i < keys; i++) {
            histories[i] = new RegisterHistory();
        }
        try (TestSpace space = new TestSpace(1, 1, 4 << 20, objects)) {
            List<Client> clients = new ArrayList<>();
            List<Session> sessions = new ArrayList<>();
            int abandoned = 0;
            for (int step = 0; step < STEPS; step++) {
                while (clients.size() < SESSIONS) {
                    clients.add(new Client(space.map.openSession(), histories, random));
                    sessions.add(clients.getLast().session);
                }
                // The first is a slow one.
                Client client = clients.get(random.nextInt(20) == 0 ? 0 : random.nextInt(SESSIONS));
                if (client.session.inFlight() > 0 && abandoned < 20 && random.nextInt(abandon) == 0) {
                    client.abandon();
                    clients.remove(client);
                    abandoned++;
                } else {
                    client.step();
                }
            }
            clients.forEach(Client::finish);
            for (int i = 0; i < keys; i++) {
                assertNull(histories[i].violation(), "key " + i + ", seed " + seed);
            }
            assertTrue(hits > 1000, hits + " hits, seed " + seed);
            if (abandoned == 0) {
                Audit.of(space, sessions);
            }
            sessions.forEach(Session::close);
            // Those that were abandoned have given back what they had, too.
            MapAudit audit = space.map.audit();
            assertTrue(audit.quiet() && audit.sound(), () -> audit + ", seed " + seed);
            assertEquals(0, audit.account().held() + audit.account().lost(), () -> audit + ", seed " + seed);
        } finally {
            arena.close();
        }
    }

    private record Request(int key, int kind, long value, long invoked) {}

    private final class Client {

        final Session session;
        private final RegisterHistory[] histories;
        private final SplittableRandom random;
        private final Map<Long, Request> requests = new HashMap<>();
        private long nextTag;

        Client(Session session, RegisterHistory[] histories, SplittableRandom random) {
            this.session = session;
            this.histories = histories;
            this.random = random;
        }

        void step() {
            if (session.inFlight() < 1 + random.nextInt(3)) {
                begin();
            } else {
                session.poll(this::completed);
            }
        }

        private void begin() {
            int number = random.nextInt(histories.length);
            int kind = random.nextInt(4);
            key.set(JAVA_LONG, 0, numbers[number]);
            long tag = nextTag++;
            requests.put(tag, new Request(number, kind, ++nextValue, ++now));
            switch (kind) {
                case 0, 1 -> session.get(key, tag);
                case 2 -> {
                    for (int word = 0; word < WORDS; word++) {
                        value.setAtIndex(JAVA_LONG, word, nextValue);
                    }
                    session.set(key, value, tag);
                }
                default -> session.delete(key, tag);
            }
        }

        private void completed(long tag, int status, MemorySegment memory, long at, int bytes) {
            Request request = requests.remove(tag);
            long responded = ++now;
            RegisterHistory history = histories[request.key];
            if (request.kind < 2 && status == KvStatus.DONE) {
                hits++;
                assertEquals(8 * WORDS, bytes);
                long found = memory.get(JAVA_LONG, at);
                for (int word = 1; word < WORDS; word++) {
                    assertEquals(found, memory.getAtIndex(JAVA_LONG, at / 8 + word));
                }
                history.read(found, request.invoked, responded);
            } else if (request.kind != 2 || status == KvStatus.DONE) {
                history.write(request.value, request.invoked, responded);
            }
        }

        /** Its requests may take effect, or not; it never polls again. */
        void abandon() {
            for (Request request : requests.values()) {
                if (request.kind >= 2) {
                    histories[request.key].write(request.value, request.invoked, Long.MAX_VALUE);
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
