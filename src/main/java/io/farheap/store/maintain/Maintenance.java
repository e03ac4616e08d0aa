package io.farheap.store.maintain;

import io.farheap.store.contract.StoreException;
import io.farheap.store.log.HybridLog;
import io.farheap.thread.ThreadJoiner;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a store's log within its bound ({@link io.farheap.store.log.LogBound}) and takes checkpoints periodically, on a
 * thread of its own.
 *
 * <p>If the log takes more than a share of the room that operations have, the thread compacts the oldest part until a
 * smaller share is taken, and takes checkpoints until no kept checkpoint needs the part that was given back. These are
 * three quarters and a half of a limit that was asked for, and fifteen and fourteen sixteenths of what a device can
 * hold, which may well be chosen for the records alone. If that gains little, since records are live, it tries again
 * when the log has grown by an eighth of the room.
 *
 * <p>If operations have no room at all, it makes a round over the log: it compacts part by part, also what is in
 * memory, until there is room again, at most once up to the tail of the round's beginning. Operations wait meanwhile.
 * What a round gains is how much less of the log the device keeps, without what the copies take: operations take room
 * as soon as a part gives it, and records have many lengths. If a whole round has gained no page, operations need not
 * wait any more, and the next round begins after a delete, but not before eight times the time that the last one took,
 * unless deletes wait, too. If something has kept a round from its end, operations do not wait either, but the next one
 * begins soon, as that may pass.
 */
public final class Maintenance implements AutoCloseable {

    private static final long LOOK_NANOS = 20_000_000;
    /**
     * A compaction has to free at least one part in so many of the log that it reads, or it is not worth its writes.
     */
    private static final double LEAST_GAIN = 16;
    /**
     * The pause after a round that gained nothing, as a multiple of the round's time. For a round that did not reach
     * its end, that is a look's time at most: it has waited longer than it has worked.
     */
    private static final int RESTS = 8;
    /** A compaction is done in so many calls; closing waits for one of them at most. */
    private static final int STEPS = 16;

    /** The store, as this thread sees it. */
    public interface MaintenanceTarget {

        /** Bytes from the device's first byte of the log to the tail. */
        long spaceBytes();

        /** Bytes of the log. */
        long logBytes();

        /** The log's first address. */
        long begin();

        /** Where the first unit begins of which the device keeps something; what is below is gained. */
        long kept();

        /** Where a compaction of all of the log ends, of the part that comes back as a whole: not before the tail. */
        long roundEnd();

        /** Where that part begins that has an address. */
        long unitStart(long address);

        /** Bytes of the pages that operations can still take. */
        long roomBytes();

        /** Whether the tail is in the last page for a kind of work, of {@link HybridLog}, or behind it. */
        boolean atCapacity(int kind);

        /** Whether work of a kind has no room, and does not wait for any. */
        boolean isFull(int kind);

        /** Says that a round over the log begins, and operations wait for it. */
        void seekRoom();

        /** As {@link HybridLog#soughtRoom}. */
        void soughtRoom(boolean gained, long kept);

        /** Bytes of a page. */
        long pageBytes();

        /** Says that operations need not wait although there was a delete. */
        void stayFull();

        /**
         * Compacts, until there is no room for copies.
         *
         * @param evicts whether pages that are in memory are compacted, too
         * @param copies where in a page the first copy is stored, or {@link Compactor#copies} of the call before
         * @return {@link Compactor#copies}
         */
        long compact(long bytes, boolean evicts, long copies);

        /** Whether a compaction can open one more page for its copies. */
        boolean hasSpare();

        /** Whether the device could use a part of the log again if checkpoints did not need it. */
        boolean isHeld();

        boolean makesCheckpoints();

        void checkpoint();
    }

    private final MaintenanceTarget work;
    /** Bytes of the log that operations have room for; {@link Long#MAX_VALUE} if there is no bound. */
    private final long limit;
    /** A compaction begins when more bytes are taken, and ends when no more than these are. */
    private final long most;

    private final long least;
    private final @Nullable Duration every;
    private final Consumer<Throwable> listener;
    private final LongSupplier clock;
    private final Thread thread;

    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    private long lastCheckpoint;
    /** Compaction is tried again when the tail has reached this address. */
    private long notBefore;
    /** When a round last gained nothing, and how long the pause after it is. */
    private long triedAt;

    private long pauseNanos;
    /** Whether a round is to be made once the pause is over, although operations do not wait for it. */
    private boolean due;
    /** Whether the last round did not reach its end, and operations have no room. */
    private boolean cutShort;
    /** {@link MaintenanceTarget#kept} when the last pass over the log had ended, and whether it ended with room. */
    private long kept;

    private boolean roomy;
    /** Whether checkpoints did not let the device use a part of the log again that none of them needs. */
    private boolean useless;

    /**
     * @param limit bytes of the log that operations have room for; {@link Long#MAX_VALUE} if there is no bound
     * @param chosen whether the bound was asked for, and is not only what the device can hold
     * @param every how often a checkpoint is taken; null for never
     */
    public Maintenance(
            String name,
            MaintenanceTarget work,
            long limit,
            boolean chosen,
            @Nullable Duration every,
            Consumer<Throwable> listener) {
        this(name, work, limit, chosen, every, listener, System::nanoTime);
    }

    /** @param clock nanoseconds */
    Maintenance(
            String name,
            MaintenanceTarget work,
            long limit,
            boolean chosen,
            @Nullable Duration every,
            Consumer<Throwable> listener,
            LongSupplier clock) {
        this.work = work;
        this.clock = clock;
        this.lastCheckpoint = clock.getAsLong();
        this.triedAt = lastCheckpoint;
        this.limit = limit;
        this.most = limit / 16 * (chosen ? 12 : 15);
        this.least = limit / 16 * (chosen ? 8 : 14);
        this.every = every;
        this.listener = listener;
        this.thread = Thread.ofPlatform().daemon().name(name + "-maintenance").unstarted(this::run);
    }

    public void start() {
        thread.start();
    }

    /** The reason why the last attempt failed; null if a later one succeeded, or none was made. */
    public @Nullable Throwable failure() {
        return failure;
    }

    private void run() {
        while (!stopped) {
            look();
            sleep();
        }
    }

    /** Does what is to be done at this moment. A log that has no room does not keep checkpoints from their time. */
    void look() {
        boolean done = false;
        boolean failed = false;
        try {
            done = keepWithin();
        } catch (Throwable e) {
            failed = true;
            setAside();
            failed(e);
        }
        try {
            done |= keepTime();
        } catch (Throwable e) {
            failed = true;
            failed(e);
        }
        if (done && !failed && !isFull()) {
            failure = null;
        }
    }

    private boolean isFull() {
        return limit != Long.MAX_VALUE && work.isFull(HybridLog.OPERATION);
    }

    private void failed(Throwable cause) {
        Throwable before = failure;
        if (stopped) {
            return;
        }
        failure = cause;
        if (before != null
                && before.getClass() == cause.getClass()
                && Objects.equals(before.getMessage(), cause.getMessage())) {
            // The listener has heard of it, and attempts may follow each other fast.
            return;
        }
        try {
            listener.accept(cause);
        } catch (Throwable e) {
            // An exception cannot be suppressed in itself.
            if (e != cause) {
                cause.addSuppressed(e);
            }
        }
    }

    private void sleep() {
        // An interrupt would make parking return at once.
        Thread.interrupted();
        if (!stopped && !(work.atCapacity(HybridLog.OPERATION) && isRoundDue())) {
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
    }

    private long tail() {
        return work.begin() + work.logBytes();
    }

    /** Remembers a compaction that gained little, so that it is not repeated at once. */
    private void setAside() {
        notBefore = tail() + limit / 8;
    }

    /** @return whether there was work to do */
    private boolean keepWithin() {
        if (limit == Long.MAX_VALUE) {
            return false;
        }
        if (work.atCapacity(HybridLog.OPERATION)) {
            boolean isDue = isRoundDue();
            if (isDue) {
                round();
            }
            return isDue;
        }
        if (work.spaceBytes() <= most || tail() < notBefore) {
            return false;
        }
        long first = work.begin();
        long copies = pass(work.unitStart(first + Math.max(0, work.logBytes() - least)), false, 0);
        long passed = work.begin() - first;
        if (passed - copies <= passed / LEAST_GAIN) {
            setAside();
        }
        return true;
    }

    /** Whether a round over the log may gain something; operations need not wait for one that is not due yet. */
    private boolean isRoundDue() {
        boolean full = work.isFull(HybridLog.OPERATION);
        boolean deletesWait = work.atCapacity(HybridLog.DELETE) && !work.isFull(HybridLog.DELETE);
        if (full && !due && !deletesWait) {
            return false;
        }
        if (deletesWait || clock.getAsLong() - triedAt >= pauseNanos) {
            return true;
        }
        due = true;
        if (!full) {
            work.stayFull();
        }
        return false;
    }

    private void round() {
        long began = clock.getAsLong();
        long goal = work.roundEnd();
        long begin = work.begin();
        long offset = tail() % work.pageBytes();
        kept = work.kept();
        long before = kept;
        boolean toldBefore = cutShort && failure != null;
        work.seekRoom();
        due = true;
        boolean gained = false;
        boolean whole = false;
        try {
            long copies = pass(goal, true, offset) - offset;
            gained = roomy || kept - before - copies >= work.pageBytes();
            whole = work.begin() >= goal;
            // Otherwise something has kept it from its end, or the device from freeing a part, and may pass.
            due = !whole || work.isHeld();
        } finally {
            work.soughtRoom(gained, kept);
            boolean full = work.isFull(HybridLog.OPERATION);
            triedAt = clock.getAsLong();
            long took = triedAt - began;
            pauseNanos = full ? RESTS * (whole ? took : Math.clamp(took, LOOK_NANOS / RESTS, LOOK_NANOS)) : 0;
            cutShort = full && due;
        }
        if (work.isFull(HybridLog.OPERATION) && !stopped) {
            boolean usedUp = work.begin() == begin && kept == before && !work.isHeld() && !work.hasSpare();
            StoreException full = new StoreException("the store's log has " + work.spaceBytes()
                    + " bytes after compaction, and there is room for " + limit + ": "
                    + (usedUp
                            ? "the reserve for compactions is used up, by restarts of a full store, so no delete makes"
                                    + " room: open it with a larger space limit, or on a larger device"
                            : "delete keys, or give it more space"));
            if (!cutShort || !toldBefore) {
                throw full;
            }
            // Such rounds follow each other fast: the listener has heard of the first.
            failure = full;
        }
    }

    /**
     * Compacts up to an address, part by part.
     *
     * @param round whether it also compacts what is in memory, gives back each part, and ends once there is room
     * @param offset where in a page the first copy is stored
     * @return where the last copy ends ({@link Compactor#copies})
     */
    private long pass(long goal, boolean round, long offset) {
        long copies = offset;
        long room = 0;
        long enough = limit / STEPS;
        useless = false;
        while (work.begin() < goal && !stopped && room <= enough) {
            long before = work.begin();
            // A compaction ends at a page's start, so less than a page would be none.
            long part = Math.min(goal - before, Math.max(work.pageBytes(), Math.max(1 << 20, enough)));
            copies = work.compact(part, round, copies);
            boolean ended = work.begin() == before;
            if (round || ended) {
                boolean held = work.isHeld();
                giveBack();
                ended &= !held || work.isHeld();
            }
            room = round ? work.roomBytes() : 0;
            if (ended) {
                break;
            }
        }
        giveBack();
        roomy = room > enough;
        kept = work.kept();
        return copies;
    }

    /** Takes checkpoints until none needs a part of the log that the device could use again. */
    private void giveBack() {
        // Two checkpoints are kept, and each needs the log from the address at which it began then.
        for (int i = 0; i < 2 && work.makesCheckpoints() && work.isHeld() && !stopped && !useless; i++) {
            checkpoint();
        }
        // Then the device could not free it, and is asked again by the next pass.
        useless |= work.makesCheckpoints() && work.isHeld();
    }

    private boolean keepTime() {
        Duration time = every;
        if (time == null || Duration.ofNanos(clock.getAsLong() - lastCheckpoint).compareTo(time) < 0 || stopped) {
            return false;
        }
        checkpoint();
        return true;
    }

    private void checkpoint() {
        try {
            work.checkpoint();
        } finally {
            lastCheckpoint = clock.getAsLong();
        }
    }

    /** Whether the calling thread is its own, which runs the listener. */
    public boolean runsHere() {
        return Thread.currentThread() == thread;
    }

    /** Waits for the work that is under way, and ends the thread. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        ThreadJoiner.join(thread);
    }
}
