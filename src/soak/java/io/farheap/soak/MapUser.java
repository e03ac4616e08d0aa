package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.control.ControlException;
import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/**
 * Sets and deletes keys of its own in a map, and gets those of all users, by one session after another: some are closed
 * with requests in flight. A value names its key and its set, so what is found tells whether it may be there: of its
 * own keys the latest set that took effect, of others' any that was begun. A miss is always right, as objects are
 * evicted; what was missed once stays away until it is set again.
 */
final class MapUser implements Runnable {

    private static final int KEY_BYTES = 8;
    private static final int HEADER_BYTES = 2 * Long.BYTES;
    private static final int MOST_VALUE_BYTES = 12_000;
    private static final int SHORT_VALUE_BYTES = 500;
    private static final int SESSION_REQUESTS = 20_000;
    private static final long LOOK_NANOS = 1_000_000;
    private static final long ABSENT = 0;

    private enum Kind {
        GET,
        SET,
        DELETE
    }

    /** @param write what a set writes: the number of the set among those of its key */
    private record Request(Kind kind, int key, long write, long startNanos) {}

    private final String name;
    private final FarMap map;
    private final int number;
    private final int users;
    private final int keys;
    /** By key, how many sets of it have begun. */
    private final AtomicLongArray begun;

    private final SplittableRandom random;
    private final BooleanSupplier mayBeLost;
    private final BooleanSupplier gone;
    private final WaitTimes waits;
    private final Problems problems;

    /** By key of its own: the set that is there unless it was evicted, and those of which that is not known. */
    private final long[] latest;

    private final BitSet[] unsettled;

    private final ArrayDeque<Request> inFlight = new ArrayDeque<>();
    private final MemorySegment keyBytes = MemorySegment.ofArray(new byte[KEY_BYTES]);
    private final MemorySegment value = MemorySegment.ofArray(new byte[MOST_VALUE_BYTES]);
    private boolean lost;
    private volatile boolean stop;
    private volatile long operations;

    /**
     * Makes a user, which begins to make requests when it is run.
     *
     * @param engine of the map
     * @param number of this user, 0 to users - 1, whose keys are those that have it as remainder
     * @param mayBeLost whether a fault excuses a request that is lost
     * @param gone whether a server of the map is, so that nothing works any more
     */
    MapUser(
            FarMap map,
            String engine,
            int number,
            int users,
            AtomicLongArray begun,
            SplittableRandom random,
            BooleanSupplier mayBeLost,
            BooleanSupplier gone,
            WaitTimes waits,
            Problems problems) {
        this.name = "user " + number + " of the " + engine + " map";
        this.map = map;
        this.number = number;
        this.users = users;
        this.keys = begun.length();
        this.begun = begun;
        this.random = random;
        this.mayBeLost = mayBeLost;
        this.gone = gone;
        this.waits = waits;
        this.problems = problems;
        latest = new long[keys];
        unsettled = new BitSet[keys];
    }

    String name() {
        return name;
    }

    long operations() {
        return operations;
    }

    void stop() {
        stop = true;
    }

    @Override
    public void run() {
        try {
            while (!stop && !problems.any()) {
                session(1 + random.nextInt(SESSION_REQUESTS), random.nextBoolean());
            }
        } catch (Throwable e) {
            problems.add(name, e);
        }
    }

    /** Gets all of its keys, when no other user makes requests any more. */
    void checkAll() {
        int key = number;
        while (key < keys && !gone.getAsBoolean() && !problems.any()) {
            try (MapSession session = map.openSession()) {
                for (; key < keys && !lost; key += users) {
                    Request request = new Request(Kind.GET, key, ABSENT, System.nanoTime());
                    while (!issue(session, request)) {
                        poll(session);
                    }
                }
                drain(session);
            } catch (MapException | ControlException e) {
                excuse(e);
            }
            lost = false;
        }
    }

    private void session(int requests, boolean drained) {
        try (MapSession session = map.openSession()) {
            for (int i = 0; i < requests && !stop && !lost; i++) {
                Request request = next();
                while (!issue(session, request)) {
                    poll(session);
                }
            }
            if (drained || lost) {
                drain(session);
            }
        } catch (MapException | ControlException e) {
            excuse(e);
        }
        // What was in flight has taken effect by now, or never will.
        inFlight.forEach(request -> unsettle(request));
        inFlight.clear();
        lost = false;
        if (gone.getAsBoolean()) {
            stop = true;
        }
    }

    private void excuse(RuntimeException e) {
        if (!mayBeLost.getAsBoolean()) {
            problems.add(name + ": no fault excuses this", e);
        }
        pause();
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK_NANOS / 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Request next() {
        int what = random.nextInt(10);
        // Few keys are used much, so that they meet in flight.
        int key = Math.min(random.nextInt(keys), random.nextInt(keys));
        if (what < 6) {
            return new Request(Kind.GET, key, ABSENT, System.nanoTime());
        }
        int own = key - key % users + number;
        own = own < keys ? own : number;
        return what < 9
                ? new Request(Kind.SET, own, begun.get(own) + 1, System.nanoTime())
                : new Request(Kind.DELETE, own, ABSENT, System.nanoTime());
    }

    private boolean issue(MapSession session, Request request) {
        keyBytes.set(JAVA_LONG_UNALIGNED, 0, key(request.key()));
        boolean taken =
                switch (request.kind()) {
                    case GET -> session.get(keyBytes, 0);
                    case DELETE -> session.delete(keyBytes, 0);
                    case SET -> {
                        int bytes = valueBytes(request.key(), request.write());
                        fill(request.key(), request.write(), bytes);
                        // Before anybody can find it.
                        begun.setRelease(request.key(), request.write());
                        yield session.set(keyBytes, value.asSlice(0, bytes), 0);
                    }
                };
        if (taken) {
            inFlight.add(request);
        }
        return taken;
    }

    /** Spread over all buckets by the map itself; never the same as a set's number. */
    private static long key(int key) {
        return ~(long) key;
    }

    private static int valueBytes(int key, long write) {
        long mixed = (key * 0x9E3779B97F4A7C15L ^ write) * 0xC2B2AE3D27D4EB4FL >>> 33;
        int most = mixed % 16 == 0 ? MOST_VALUE_BYTES : SHORT_VALUE_BYTES;
        return HEADER_BYTES + (int) (mixed / 16 % (most - HEADER_BYTES + 1));
    }

    private static byte content(int key, long write) {
        return (byte) (31L * key + write);
    }

    private void fill(int key, long write, int bytes) {
        value.asSlice(0, bytes).fill(content(key, write));
        value.set(JAVA_LONG_UNALIGNED, 0, key(key));
        value.set(JAVA_LONG_UNALIGNED, Long.BYTES, write);
    }

    private void drain(MapSession session) {
        while (!inFlight.isEmpty() && !problems.any()) {
            poll(session);
        }
    }

    private void poll(MapSession session) {
        if (session.poll((tag, status, memory, at, bytes) -> ended(status, memory, at, bytes)) == 0) {
            session.await(LOOK_NANOS);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes it.
    private void ended(int status, MemorySegment memory, long at, int bytes) {
        Request request = inFlight.remove();
        operations++;
        waits.request(name, System.nanoTime() - request.startNanos());
        if (status == KvStatus.LOST) {
            if (!mayBeLost.getAsBoolean()) {
                problems.add(name + ": a request is lost, and no fault excuses it");
            }
            lost = true;
            unsettle(request);
            return;
        }
        switch (request.kind()) {
            case GET -> got(request, status, memory, at, bytes);
            case SET -> {
                if (status == KvStatus.DONE) {
                    settle(request.key(), request.write());
                }
            }
            case DELETE -> settle(request.key(), ABSENT);
        }
    }

    private boolean isOwn(int key) {
        return key % users == number;
    }

    private void settle(int key, long write) {
        latest[key] = write;
        unsettled[key] = null;
    }

    private void unsettle(Request request) {
        if (request.kind() == Kind.SET) {
            if (unsettled[request.key()] == null) {
                unsettled[request.key()] = new BitSet();
            }
            unsettled[request.key()].set((int) request.write());
        }
    }

    private void got(Request request, int status, MemorySegment memory, long at, int bytes) {
        int key = request.key();
        if (status == KvStatus.ABSENT) {
            if (isOwn(key)) {
                settle(key, ABSENT);
            }
            return;
        }
        if (bytes < HEADER_BYTES || memory.get(JAVA_LONG_UNALIGNED, at) != key(key)) {
            problems.add(name + ": key " + key + " has a value of " + bytes + " bytes that is not its own");
            return;
        }
        long write = memory.get(JAVA_LONG_UNALIGNED, at + Long.BYTES);
        if (write < 1 || write > begun.getAcquire(key) || bytes != valueBytes(key, write)) {
            problems.add(
                    name + ": key " + key + " has " + bytes + " bytes of set " + write + ", which nobody has written");
            return;
        }
        for (int i = HEADER_BYTES; i < bytes; i++) {
            if (memory.get(JAVA_BYTE, at + i) != content(key, write)) {
                problems.add("%s: byte %d of key %d's set %d is 0x%02x and must be 0x%02x"
                        .formatted(name, i, key, write, memory.get(JAVA_BYTE, at + i), content(key, write)));
                return;
            }
        }
        if (isOwn(key)) {
            if (write != latest[key] && (unsettled[key] == null || !unsettled[key].get((int) write))) {
                problems.add(name + ": key " + key + " has the value of set " + write + ", and the latest is "
                        + (latest[key] == ABSENT ? "none" : "set " + latest[key]));
            }
            settle(key, write);
        }
    }
}
