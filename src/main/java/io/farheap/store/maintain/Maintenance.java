package io.farheap.store.maintain;

import io.farheap.store.contract.StoreException;
import io.farheap.store.log.HybridLog;
import io.farheap.thread.ThreadJoiner;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
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
 * If the round has gained no page, they need not wait any more, and the next round begins after a delete, but not
 * before eight times the time that the last one took, unless deletes wait, too.
 */
public final class Maintenance implements AutoCloseable {

    private static final long LOOK_NANOS = 20_000_000;
    /**
     * A compaction has to free at least one part in so many of the log that it reads, or it is not worth its writes.
     */
    private static final double LEAST_GAIN = 16;
    /** The pause after a round that gained nothing, as a multiple of the round's time. */
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

        /** Says that the round has ended, and whether it has found a page of records that are not live. */
        void soughtRoom(boolean gained);

        /** Bytes of a page. */
        long pageBytes();

        /** Says that operations need not wait although there was a delete. */
        void stayFull();

        /**
         * Compacts, until there is no room for copies.
         *
         * @param evicts whether pages that are in memory are compacted, too
         * @return about how many of the bytes held no live records
         */
        double compact(long bytes, boolean evicts);

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
    private final Thread thread;

    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    private long lastCheckpoint = System.nanoTime();
    /** Compaction is tried again when the tail has reached this address. */
    private long notBefore;
    /** When a round last gained nothing, and how long it took. */
    private long triedAt = System.nanoTime();

    private long triedNanos;
    /** Whether a round is to be made once the pause is over, although operations do not wait for it. */
    private boolean due;

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
        this.work = work;
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
            try {
                boolean done = keepWithin();
                done |= keepTime();
                if (done) {
                    failure = null;
                }
            } catch (Throwable e) {
                failed(e);
            }
            sleep();
        }
    }

    private void failed(Throwable cause) {
        if (stopped) {
            return;
        }
        failure = cause;
        lastCheckpoint = System.nanoTime();
        setAside();
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
        double gained = pass(work.unitStart(first + Math.max(0, work.logBytes() - least)), false);
        if (gained <= (work.begin() - first) / LEAST_GAIN) {
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
        if (deletesWait || System.nanoTime() - triedAt >= RESTS * triedNanos) {
            return true;
        }
        due = true;
        if (!full) {
            work.stayFull();
        }
        return false;
    }

    private void round() {
        long began = System.nanoTime();
        long goal = work.roundEnd();
        work.seekRoom();
        due = true;
        boolean gained = false;
        try {
            gained = pass(goal, true) >= work.pageBytes();
            // Otherwise something has kept it from its end, and may pass.
            due = work.begin() < goal && work.roomBytes() == 0;
        } finally {
            work.soughtRoom(gained);
            triedAt = System.nanoTime();
            triedNanos = work.isFull(HybridLog.OPERATION) ? triedAt - began : 0;
        }
        if (work.isFull(HybridLog.OPERATION) && !stopped) {
            throw new StoreException(
                    "the store's log has " + work.spaceBytes() + " bytes after compaction, and there is room for "
                            + limit + ": delete keys, or give it more space");
        }
    }

    /**
     * Compacts up to an address, part by part.
     *
     * @param round whether it also compacts what is in memory, gives back each part, and ends once there is room
     * @return about how many bytes held no live records; also the room with which a round has ended, which an earlier
     *     compaction may have made, and operations may have taken since
     */
    private double pass(long goal, boolean round) {
        double gained = 0;
        long room = 0;
        long enough = limit / STEPS;
        while (work.begin() < goal && !stopped && room <= enough) {
            long before = work.begin();
            long part = Math.min(goal - before, Math.max(1 << 20, enough));
            gained += work.compact(part, round);
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
        return room > enough ? gained + room : gained;
    }

    /** Takes checkpoints until none needs a part of the log that the device could use again. */
    private void giveBack() {
        // Two checkpoints are kept, and each needs the log from the address at which it began then.
        for (int i = 0; i < 2 && work.makesCheckpoints() && work.isHeld() && !stopped; i++) {
            checkpoint();
        }
    }

    private boolean keepTime() {
        Duration time = every;
        if (time == null || Duration.ofNanos(System.nanoTime() - lastCheckpoint).compareTo(time) < 0 || stopped) {
            return false;
        }
        checkpoint();
        return true;
    }

    private void checkpoint() {
        work.checkpoint();
        lastCheckpoint = System.nanoTime();
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
