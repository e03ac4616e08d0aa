package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The operations of one session on a store whose space is bounded, and what the store must have after them. Each
 * operation is tried again while it is FULL, so it ends as DONE, NOT_FOUND or NO_SPACE.
 */
final class BoundedHistory implements AutoCloseable {

    static final String NAME = "a";
    private static final int LONGEST = 200;

    /** A value: its length in bytes, and the word that it repeats. */
    private record Value(int bytes, long word) {}

    /** The operation with a serial number, and the value that its key had before. */
    private record Change(long serial, long key, @Nullable Value before) {}

    private final boolean general;
    private final Map<Long, Value> now = new HashMap<>();
    private final Deque<Change> changes = new ArrayDeque<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(LONGEST + Long.BYTES, Long.BYTES);
    private long words;
    private int ended;

    /** @param general whether values have other lengths than 8 bytes, too */
    BoundedHistory(boolean general) {
        this.general = general;
    }

    boolean has(long key) {
        return now.containsKey(key);
    }

    List<Long> keys() {
        return new ArrayList<>(now.keySet());
    }

    /** Undoes what a recovered store has not. */
    void recovered(StoreSession session) {
        while (!changes.isEmpty() && changes.getLast().serial > session.serial()) {
            Change change = changes.removeLast();
            if (change.before == null) {
                now.remove(change.key);
            } else {
                now.put(change.key, change.before);
            }
        }
        changes.clear();
    }

    private void changed(StoreSession session, long key, @Nullable Value next) {
        changes.add(new Change(session.serial(), key, next == null ? now.remove(key) : now.put(key, next)));
    }

    private Value next(long key) {
        long word = key << 20 | ++words & (1 << 20) - 1;
        return new Value(general ? (int) (8 * (1 + (word * 0x9E3779B97F4A7C15L >>> 40) % (LONGEST / 8))) : 8, word);
    }

    int put(StoreSession session, long key) {
        Value value = next(key);
        Values.fill(memory, 0, value.bytes, value.word);
        int outcome;
        while ((outcome = session.upsert(key, memory, 0, value.bytes)) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        if (outcome == StoreStatus.DONE) {
            changed(session, key, value);
        }
        return outcome;
    }

    /** Adds to the first word of a value that is there, which keeps its length. */
    int replace(StoreSession session, long key) {
        Value value = new Value(now.get(key).bytes, ++words);
        int outcome;
        do {
            ended = StoreStatus.PENDING;
            outcome = session.update(
                    key, new Replacement(value.bytes), value.word, (token, status, bytes) -> ended = status, 0);
            if (outcome == StoreStatus.PENDING) {
                session.drain();
                outcome = ended;
            }
            if (outcome == StoreStatus.FULL) {
                Calls.goOn(session);
            }
        } while (outcome == StoreStatus.FULL);
        if (outcome == StoreStatus.DONE) {
            changed(session, key, value);
        }
        return outcome;
    }

    int delete(StoreSession session, long key) {
        int outcome;
        while ((outcome = session.delete(key)) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        if (outcome == StoreStatus.DONE) {
            changed(session, key, null);
        }
        return outcome;
    }

    void check(StoreSession session, long key) {
        Value value = now.get(key);
        int bytes = new BlockingStoreSession(session).read(key, memory, 0, LONGEST);
        assertEquals(value == null ? -1 : value.bytes, bytes, "key " + key);
        for (int at = 0; value != null && at < bytes; at += Long.BYTES) {
            assertEquals(value.word, memory.get(ValueLayout.JAVA_LONG, at), "key " + key);
        }
    }

    /** Checks all keys from 0 on. */
    void checkBelow(StoreSession session, long end) {
        for (long key = 0; key < end; key++) {
            check(session, key);
        }
    }

    @Override
    public void close() {
        arena.close();
    }

    /** Writes the argument into all words of a value. */
    private record Replacement(int length) implements Update {

        @Override
        public int initialBytes(long argument) {
            return length;
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {
            Values.fill(value, offset, bytes, argument);
        }

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            Values.fill(value, offset, bytes, argument);
            return true;
        }

        @Override
        public void copy(
                MemorySegment old,
                long oldOffset,
                int oldBytes,
                MemorySegment value,
                long offset,
                int bytes,
                long argument) {
            Values.fill(value, offset, bytes, argument);
        }
    }
}
