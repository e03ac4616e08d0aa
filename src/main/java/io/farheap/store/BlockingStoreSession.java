package io.farheap.store;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/**
 * Operations of a {@link StoreSession} that return when they have ended. The session's thread calls them; it may be a
 * virtual thread, and parks while it waits. Completions of the session's other operations run meanwhile. If one of them
 * throws, the call throws its exception while the operation continues: memory that it reads into belongs to it until
 * {@link StoreSession#drain} has returned. An interrupt does not end a call, and is kept for the caller.
 *
 * <p>An operation that fails throws {@link StoreException}, whose {@link StoreException#status} says why.
 */
public final class BlockingStoreSession {

    private static final long NAP_NANOS = 50_000;
    private static final int NONE = -1;

    private final StoreSession session;
    private final StoreCompletion completion = this::completed;
    private long ticket;
    private int status;
    private int bytes;
    private boolean interrupted;

    /** @param session the caller closes it */
    public BlockingStoreSession(StoreSession session) {
        this.session = session;
    }

    private void completed(long token, int ended, int length) {
        // Ignore an earlier operation, which an exception has left pending.
        if (token == ticket) {
            status = ended;
            bytes = length;
        }
    }

    /** As {@link #read(MemorySegment, long, int, MemorySegment, long, int)}, by a key of 8 bytes. */
    public int read(long key, MemorySegment into, long offset, int room) {
        begin();
        try {
            int outcome;
            while ((outcome = session.read(key, into, offset, room, completion, ticket)) == StoreStatus.FULL) {
                nap();
            }
            return valueBytes(found(outcome), room);
        } finally {
            end();
        }
    }

    /**
     * Reads a value.
     *
     * @param room the longest value that fits, in bytes
     * @return the value's length, or -1 if there is no such key
     */
    public int read(MemorySegment key, long keyOffset, int keyBytes, MemorySegment into, long offset, int room) {
        return valueBytes(tryRead(key, keyOffset, keyBytes, into, offset, room), room);
    }

    /** @return a {@link StoreStatus}; {@link #bytes} returns the length of the value that was found */
    int tryRead(MemorySegment key, long keyOffset, int keyBytes, MemorySegment into, long offset, int room) {
        begin();
        try {
            int outcome;
            while ((outcome = session.read(key, keyOffset, keyBytes, into, offset, room, completion, ticket))
                    == StoreStatus.FULL) {
                nap();
            }
            return found(outcome);
        } finally {
            end();
        }
    }

    int bytes() {
        return bytes;
    }

    private int found(int outcome) {
        if (outcome == StoreStatus.PENDING) {
            return await();
        }
        bytes = session.valueBytes();
        return outcome;
    }

    private int valueBytes(int outcome, int room) {
        return switch (outcome) {
            case StoreStatus.DONE -> bytes;
            case StoreStatus.NOT_FOUND -> -1;
            case StoreStatus.TOO_LONG ->
                throw new StoreException(
                        "a value is longer than the " + room + " bytes that it may have here", outcome);
            default -> throw failed("read", outcome);
        };
    }

    /** As {@link #upsert(MemorySegment, long, int, MemorySegment, long, int)}, by a key of 8 bytes. */
    public void upsert(long key, MemorySegment from, long offset, int length) {
        begin();
        try {
            int outcome;
            while ((outcome = session.upsert(key, from, offset, length)) == StoreStatus.FULL) {
                nap();
            }
            check("stored", outcome);
        } finally {
            end();
        }
    }

    /** Stores a value, whether the key is there or not. */
    public void upsert(MemorySegment key, long keyOffset, int keyBytes, MemorySegment from, long offset, int length) {
        begin();
        try {
            int outcome;
            while ((outcome = session.upsert(key, keyOffset, keyBytes, from, offset, length)) == StoreStatus.FULL) {
                nap();
            }
            check("stored", outcome);
        } finally {
            end();
        }
    }

    /** As {@link #update(MemorySegment, long, int, Update, long)}, by a key of 8 bytes. */
    public boolean update(long key, Update update, long argument) {
        begin();
        try {
            int outcome;
            while ((outcome = ended(session.update(key, update, argument, completion, ticket))) == StoreStatus.FULL) {
                nap();
            }
            return check("updated", outcome);
        } finally {
            end();
        }
    }

    /**
     * Reads, changes and writes a value, atomically.
     *
     * @return false if the key is absent and the update makes no value
     */
    public boolean update(MemorySegment key, long keyOffset, int keyBytes, Update update, long argument) {
        begin();
        try {
            int outcome;
            while ((outcome = ended(session.update(key, keyOffset, keyBytes, update, argument, completion, ticket)))
                    == StoreStatus.FULL) {
                nap();
            }
            return check("updated", outcome);
        } finally {
            end();
        }
    }

    /** As {@link #delete(MemorySegment, long, int)}, by a key of 8 bytes. */
    public void delete(long key) {
        begin();
        try {
            int outcome;
            while ((outcome = session.delete(key)) == StoreStatus.FULL) {
                nap();
            }
            check("deleted", outcome);
        } finally {
            end();
        }
    }

    /** Deletes a key, if it is there. */
    public void delete(MemorySegment key, long keyOffset, int keyBytes) {
        begin();
        try {
            int outcome;
            while ((outcome = session.delete(key, keyOffset, keyBytes)) == StoreStatus.FULL) {
                nap();
            }
            check("deleted", outcome);
        } finally {
            end();
        }
    }

    private void begin() {
        ticket++;
        status = NONE;
        interrupted = false;
    }

    /** The status with which an operation ended. A pending update may have found no room, as FULL. */
    private int ended(int outcome) {
        return outcome == StoreStatus.PENDING ? await() : outcome;
    }

    private int await() {
        status = NONE;
        while (status == NONE) {
            nap();
        }
        return status;
    }

    /** Lets the session make progress, or waits. */
    private void nap() {
        // An interrupt would make parking return at once: it is kept for the caller.
        interrupted |= Thread.interrupted();
        if (session.poll()) {
            return;
        }
        if (session.pending() > 0) {
            session.awaitProgress();
        } else {
            LockSupport.parkNanos(this, NAP_NANOS);
        }
    }

    private void end() {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean check(String what, int outcome) {
        if (outcome != StoreStatus.DONE && outcome != StoreStatus.NOT_FOUND) {
            throw failed(what, outcome);
        }
        return outcome == StoreStatus.DONE;
    }

    private static StoreException failed(String what, int outcome) {
        return new StoreException("a value could not be " + what + ": " + StoreStatus.describe(outcome), outcome);
    }
}
