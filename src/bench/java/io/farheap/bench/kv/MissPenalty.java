package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Plays a trace for a time by clients that fetch missing objects from a slow place: after a miss a client waits for 500
 * us and then sets the object (Ditto, figure 16). Requests are distributed from one cursor, and one thread serves all
 * clients, so the rate depends on how often they wait.
 */
final class MissPenalty implements AutoCloseable {

    static final long MISS_NANOS = 500_000;
    private static final int LOOK_EVERY = 64;

    /** The result of playing for a time. */
    record PlayResult(long requests, long hits, long nanos) {

        double perSecond() {
            return requests * 1e9 / nanos;
        }

        double hitPercent() {
            return 100.0 * hits / Math.max(1, requests);
        }
    }

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment value = arena.allocate(0);
    private final List<Client> clients = new ArrayList<>();
    private final int[] keys;
    private int cursor;
    private long requests;
    private long hits;

    /** Plays a trace from its beginning, and again when it has ended. */
    MissPenalty(FarMap map, int clients, int[] keys) {
        this.keys = keys;
        try {
            for (int i = 0; i < clients; i++) {
                this.clients.add(new Client(map.openSession()));
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** A session, with its request or its wait. */
    private final class Client {
        final MapSession session;
        final MemorySegment key = arena.allocate(Long.BYTES, Long.BYTES);
        final KvHandler handler = (tag, status, memory, at, bytes) -> ended(status);
        boolean setting;
        boolean waiting;
        long until;

        Client(MapSession session) {
            this.session = session;
        }

        void next() {
            key.set(JAVA_LONG, 0, keys[cursor]);
            cursor = cursor + 1 == keys.length ? 0 : cursor + 1;
            setting = false;
            session.get(key, 0);
        }

        private void ended(int status) {
            if (setting && status == KvStatus.NO_ROOM) {
                // The answer of the map's services came too late, which may happen at the beginning.
                session.set(key, value, 0);
                return;
            }
            if (status != KvStatus.DONE && status != KvStatus.ABSENT) {
                throw new IllegalStateException(KvStatus.describe(status));
            }
            requests += setting ? 0 : 1;
            if (setting || status == KvStatus.DONE) {
                hits += setting ? 0 : 1;
                next();
            } else {
                waiting = true;
                until = System.nanoTime() + MISS_NANOS;
            }
        }

        void run() {
            if (!waiting) {
                session.poll(handler);
            } else if (System.nanoTime() - until >= 0) {
                waiting = false;
                setting = true;
                session.set(key, value, 0);
            }
        }
    }

    /** Plays for a time. */
    PlayResult play(long nanos) {
        long requestsBefore = requests;
        long hitsBefore = hits;
        long started = System.nanoTime();
        long now = started;
        if (cursor == 0 && requests == 0) {
            clients.forEach(Client::next);
        }
        while (now - started < nanos) {
            for (int i = 0; i < LOOK_EVERY; i++) {
                clients.get(i % clients.size()).run();
            }
            now = System.nanoTime();
        }
        return new PlayResult(requests - requestsBefore, hits - hitsBefore, now - started);
    }

    @Override
    public void close() {
        clients.forEach(client -> client.session.close());
        arena.close();
    }
}
