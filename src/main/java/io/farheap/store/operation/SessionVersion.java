package io.farheap.store.operation;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.StoreRecord;

/**
 * A session's place in the checkpoints (concurrent prefix recovery, SIGMOD 2019, section 5): what it does belongs to
 * the checkpoint of its version, all before it passes to the next and nothing after. It passes, at the beginning of an
 * operation, when the store has. No update is pending then, in any session: what it does would belong to the old
 * version, and might meet a record of the new one.
 *
 * <p>A record of an earlier version is not changed in place while a checkpoint is made: it is copied, once no session
 * can still be changing it, which is when all have passed ({@link StoreVersion#allPassed}). Until then, some
 * microseconds, an update that meets one waits. A session that meets a record of a later version waits until it has
 * passed itself. In the end nobody changes anything until those copies are published ({@link StoreVersion#hold}): from
 * then on records of earlier versions are changed in place again.
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

    /** Inside an epoch, before anything is changed. @return whether the store is ahead of the session */
    public boolean look() {
        long now = store.state();
        state = now;
        return StoreVersion.version(now) != own;
    }

    /** Passes to the store's version. */
    public void pass() {
        own = StoreVersion.version(state);
    }

    /** Whether an update that is not done at once is refused for a moment. */
    public boolean draining() {
        return StoreVersion.draining(state);
    }

    /** Of the records that it makes. */
    public long own() {
        return own;
    }

    /**
     * Whether the session changes nothing yet: it has passed, and others may not have, whose operation at this moment
     * is to meet no record of the later version, since what it does belongs to the earlier.
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
        // Later ones are one ahead; all others are earlier.
        boolean later = version == (own + 1 & StoreRecord.VERSION);
        return later || !StoreVersion.allPassed(state);
    }

    boolean changesInPlace(long header) {
        return StoreVersion.resting(state) || StoreRecord.version(header) == (own & StoreRecord.VERSION);
    }

    /** A record that is changed in place is of the session's version from then on: before the change. */
    void claim(long record, long header) {
        if (StoreRecord.version(header) != (own & StoreRecord.VERSION)) {
            long there = header;
            while (!NativeWords.compareAndSet(record, there, StoreRecord.ofVersion(there, own))) {
                there = NativeWords.getAcquire(record);
            }
        }
    }
}
