package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.Hashes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A load in which each operation is a function of its session and its serial number. So a test can check that a store,
 * which reports how many of a session's operations it has, has these operations and no others. An even operation stores
 * its number under a key of its session; an odd one adds it to a counter of all sessions.
 */
final class PrefixLoad {

    private static final int OWN = 300;
    private static final int SHARED = 60;
    private static final int MOST_WORDS = 7;

    private final boolean general;
    private final int sessions;

    /** @param general whether the store's values have any length */
    PrefixLoad(boolean general, int sessions) {
        this.general = general;
        this.sessions = sessions;
    }

    static String name(int session) {
        return "s" + session;
    }

    private static long ownKey(int session, long operation) {
        return 1_000_000L * (session + 1) + operation * 7 % OWN;
    }

    private static long sharedKey(int session, long operation) {
        return Math.floorMod(Hashes.of(session * 31L + operation), (long) SHARED);
    }

    private int bytes(long operation) {
        return general ? (int) (operation / 2 % MOST_WORDS + 1) * Long.BYTES : Long.BYTES;
    }

    /**
     * Does the session's next operation.
     *
     * @param memory of {@link #room} bytes
     */
    void next(StoreSession session, int number, MemorySegment memory) {
        long operation = session.serial() + 1;
        if (operation % 2 == 0) {
            int bytes = bytes(operation);
            Values.fill(memory, 0, bytes, operation);
            while (session.upsert(ownKey(number, operation), memory, 0, bytes) == StoreStatus.FULL) {
                session.poll();
            }
        } else {
            while (session.update(sharedKey(number, operation), Values.ADD, operation, (token, status, length) -> {}, 0)
                    == StoreStatus.FULL) {
                session.poll();
            }
        }
    }

    static int room() {
        return MOST_WORDS * Long.BYTES;
    }

    /**
     * Asserts that the store has exactly the operations of each session that it reports.
     *
     * @return the serial number of each session's last operation in the store
     */
    long[] verify(FarStore store) {
        long[] serials = new long[sessions];
        long[] counters = new long[SHARED];
        try (Arena arena = Arena.ofConfined();
                StoreSession reader = store.openSession()) {
            MemorySegment memory = arena.allocate(room());
            for (int number = 0; number < sessions; number++) {
                try (StoreSession session = store.openSession(name(number))) {
                    serials[number] = session.serial();
                }
                long[] own = new long[OWN];
                for (long operation = 1; operation <= serials[number]; operation++) {
                    if (operation % 2 == 0) {
                        own[(int) (operation * 7 % OWN)] = operation;
                    } else {
                        counters[(int) sharedKey(number, operation)] += operation;
                    }
                }
                for (int key = 0; key < OWN; key++) {
                    String what = "session " + number + ", key " + key + ", serial " + serials[number];
                    int bytes =
                            new BlockingStoreSession(reader).read(1_000_000L * (number + 1) + key, memory, 0, room());
                    assertEquals(own[key] == 0 ? -1 : bytes(own[key]), bytes, what);
                    for (int at = 0; at < bytes; at += Long.BYTES) {
                        assertEquals(own[key], memory.get(JAVA_LONG_UNALIGNED, at), what);
                    }
                }
            }
            for (int key = 0; key < SHARED; key++) {
                int bytes = new BlockingStoreSession(reader).read(key, memory, 0, room());
                assertEquals(counters[key], bytes < 0 ? 0 : memory.get(JAVA_LONG_UNALIGNED, 0), "counter " + key);
            }
        }
        return serials;
    }
}
