package io.farheap.store.operation;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.StoreRecord;

/**
 * A session's version: which checkpoint its operations belong to (concurrent prefix recovery, SIGMOD 2019, section 5).
 * All operations before the session passes to the next version belong to the checkpoint, and none after it. A session
 * passes at the beginning of an operation, if the store has a later version. No update of any session is pending at
 * that time: it would belong to the old version, and might meet a record of the new one.
 *
 * <p>While a checkpoint is made, a record of an earlier version is not changed in place. It is copied, once no session
 * can still be changing it, which is when all have passed ({@link StoreVersion#allPassed}); until then, some
 * microseconds, an update that meets such a record waits. A session that meets a record of a later version waits until
 * it has passed itself. At the end of the checkpoint no session changes anything until the copies are published
 * ({@link StoreVersion#hold}); from then on records of earlier versions are changed in place again.
 */
public final class SessionVersion {

    private final StoreVersion store;
    private long state;
    private long own;

    public SessionVersion(StoreVersion store) {
        this.store = store;
        this.state = store.state();
        this.own = StoreVersion.version(state);
    }

    /**
     * Reads the store's version, inside an epoch and before anything is changed.
     *
     * @return whether the store is ahead of the session
     */
    public boolean look() {
        long now = store.state();
        state = now;
        return StoreVersion.version(now) != own;
    }

    /** Passes to the store's version, as {@link #look} read it. */
    public void pass() {
        own = StoreVersion.version(state);
    }

    /** Whether an update that would be pending is refused for a moment. */
    public boolean draining() {
        return StoreVersion.draining(state);
    }

    /** Whether records that are changed in place otherwise are copied, or not changed, until a checkpoint ends. */
    public boolean changing() {
        return !StoreVersion.resting(state);
    }

    /** The version of the records that the session makes. */
    public long own() {
        return own;
    }

    /**
     * Whether the session must not change anything yet. It has passed to the new version, but another session may still
     * be inside an operation of the old one, and that operation must not meet a record of the new version.
     */
    boolean holds() {
        return !StoreVersion.resting(state) && !StoreVersion.allPassed(state) && StoreVersion.version(state) == own;
    }

    /** Whether an update that meets the record has to wait. */
    boolean waits(long header) {
        if (StoreVersion.resting(state)) {
            return false;
        }
        long version = StoreRecord.version(header);
        if (version == (own & StoreRecord.VERSION)) {
            return false;
        }
        // A later version is one ahead; every other number is an earlier one.
        boolean later = version == (own + 1 & StoreRecord.VERSION);
        return later || !StoreVersion.allPassed(state);
    }

    /** Whether the session may change a record in place, if the log's marks allow it. */
    boolean changesInPlace(long header) {
        return StoreVersion.resting(state) || StoreRecord.version(header) == (own & StoreRecord.VERSION);
    }

    /** Gives a record the session's version, before the session changes it in place. */
    void claim(long record, long header) {
        if (StoreRecord.version(header) != (own & StoreRecord.VERSION)) {
            long there = header;
            while (!NativeWords.compareAndSet(record, there, StoreRecord.ofVersion(there, own))) {
                there = NativeWords.getAcquire(record);
            }
        }
    }
}
