package io.farheap.manager.service.journal;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.RecordSizes;
import io.farheap.manager.state.StaleEpochException;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a manager changes, many changes at once: changes that are made while one group is being written form the
 * next group. A change takes effect in memory first. A call that made it, or has seen it, answers no client before it
 * is on disk: it takes {@link #latest} with the lock, and waits for that group ({@link #await}) without the lock.
 *
 * <p>One writer thread writes one group after another. It ends by itself when there was nothing to write for a while.
 * The waiting threads neither write nor take the lock again: with thousands of threads that ask for the lock, each of
 * them would queue once more, and the disk would be idle meanwhile.
 *
 * <p>If a group cannot be written, it fails, and with it all later changes, since they were built on it. The manager's
 * memory is then ahead of the disk. The writer thread reads the state again, without the lock, and makes the memory
 * equal to it; meanwhile {@link #recover} refuses all work on the memory. If the state cannot be read, the next caller
 * has it tried again.
 *
 * <p>Every method but {@link #await} is called with the lock.
 */
public final class Journal {

    private static final System.Logger LOG = System.getLogger(Journal.class.getName());

    /** The most bytes of a group; the store takes a million bytes in one write. */
    private static final int GROUP_BYTES = 400_000;
    /** How long an idle writer waits for more to write. */
    private static final long IDLE_SECONDS = 10;
    /** How long a caller waits for the state to be read again before it is refused: as a rule it takes less. */
    private static final long WAIT_NANOS = 500_000_000L;
    /** A write that takes so many times as long is late: callers that have changed nothing yet are refused. */
    private static final int LATE = 2;

    /** Changes that are written at once. */
    static final class Group {
        private final List<StateChange> changes = new ArrayList<>();
        private int bytes;
        /** Completed without the lock; with a {@link ControlException} if the group's write has failed. */
        private final CompletableFuture<@Nullable Void> outcome = new CompletableFuture<>();
    }

    private final StateStore store;
    private final ReentrantLock lock;
    private final Consumer<StateChange> written;
    private final Consumer<ManagerState> lost;
    private final ThreadPoolExecutor writer;
    /** In the order in which they are written; the last one accepts changes. */
    private final List<Group> groups = new ArrayList<>();

    /** Whether a writer has the first group, or is about to take it. */
    private volatile boolean writing;
    /** Since when it has it. */
    private volatile long begunNanos;
    /** Whether the memory is ahead of the disk. */
    private volatile boolean ahead;
    /** Whether another manager leads. */
    private volatile boolean followed;
    /** Whether the writer thread reads the state again, or is about to. */
    private boolean reading;
    /** Why the state could not be read when that was last tried; empty if it could. */
    private String unreadable = "";
    /** Signalled when {@link #reading} becomes false, and when a group is on disk. */
    private final Condition read;

    private final long waitNanos;
    private final LongSupplier nanos;

    /**
     * @param written called with the lock for each change that is on disk
     * @param lost called with the lock after writes have failed: it makes the memory equal to the state on disk
     * @param nanos a clock for how long a write takes
     */
    public Journal(
            StateStore store,
            ReentrantLock lock,
            Consumer<StateChange> written,
            Consumer<ManagerState> lost,
            LongSupplier nanos) {
        this(
                store,
                lock,
                written,
                lost,
                Thread.ofPlatform().name("farheap-manager-journal").daemon().factory(),
                WAIT_NANOS,
                nanos);
    }

    /**
     * @param threads makes the writer threads
     * @param waitNanos for how long a caller waits for the state to be read again
     * @param nanos a clock for how long a write takes
     */
    Journal(
            StateStore store,
            ReentrantLock lock,
            Consumer<StateChange> written,
            Consumer<ManagerState> lost,
            ThreadFactory threads,
            long waitNanos,
            LongSupplier nanos) {
        this.waitNanos = waitNanos;
        this.nanos = nanos;
        this.store = store;
        this.lock = lock;
        this.read = lock.newCondition();
        this.written = written;
        this.lost = lost;
        this.writer =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        this.writer.allowCoreThreadTimeOut(true);
    }

    /** Adds a change to the group that is written next. */
    public void add(StateChange change) {
        int bytes = RecordSizes.most(change);
        Group last = open(bytes);
        last.changes.add(change);
        last.bytes += bytes;
    }

    /**
     * Has the next group written even if it has no change, so that it is refused if another manager leads: for what
     * only the leader may do, and writes nothing.
     */
    public void confirm() {
        open(0);
    }

    /** Returns the group that is written next. */
    private Group open(int bytes) {
        Group last = groups.isEmpty() ? null : groups.getLast();
        // The first group is being written, or may be.
        if (last == null || groups.size() == 1 && writing || last.bytes + bytes > GROUP_BYTES) {
            last = new Group();
            groups.add(last);
        }
        return last;
    }

    /**
     * Returns the group that contains the latest change, and has it written from now on; null if every change is on
     * disk.
     */
    @Nullable
    Group latest() {
        if (groups.isEmpty()) {
            return null;
        }
        if (!writing) {
            // If no thread can be started, the next caller tries again. The writer waits for the lock.
            writer.execute(this::writeAll);
            begunNanos = nanos.getAsLong();
            writing = true;
        }
        return groups.getLast();
    }

    /**
     * Returns when a group, and so every group before it, is on disk. Called without the lock.
     *
     * @throws ControlException if its write has failed: UNAVAILABLE if another manager leads, else INTERNAL. If the
     *     outcome of the write is unknown, as the message then says, it may have taken effect nevertheless
     */
    static void await(@Nullable Group group) {
        if (group == null) {
            return;
        }
        try {
            group.outcome.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ControlException failure) {
                throw new ControlException(failure.code(), String.valueOf(failure.getMessage()), failure);
            }
            throw e;
        }
    }

    /** Runs on the writer thread. */
    private void writeAll() {
        for (Group group = first(); group != null; group = next(group)) {
            ControlException failure = write(group);
            if (failure != null) {
                fail(failure);
                readAgain();
                return;
            }
        }
    }

    private @Nullable Group first() {
        lock.lock();
        try {
            return groups.getFirst();
        } finally {
            lock.unlock();
        }
    }

    private @Nullable ControlException write(Group group) {
        try {
            store.write(group.changes);
            return null;
        } catch (StaleEpochException e) {
            return new ControlException(Code.UNAVAILABLE, "this manager leads no more: " + e.getMessage(), e);
        } catch (StateException e) {
            return new ControlException(Code.INTERNAL, "the manager cannot write its state: " + e.getMessage(), e);
        } catch (Throwable e) {
            return new ControlException(Code.INTERNAL, "the manager failed: " + e, e);
        }
    }

    /** @return the group after one that is on disk, or null if the writer ends */
    private @Nullable Group next(Group done) {
        Group next;
        lock.lock();
        try {
            groups.remove(done);
            done.changes.forEach(written);
            begunNanos = nanos.getAsLong();
            writing = !groups.isEmpty();
            next = writing ? groups.getFirst() : null;
            read.signalAll();
        } finally {
            lock.unlock();
        }
        done.outcome.complete(null);
        return next;
    }

    private void fail(ControlException failure) {
        List<Group> failed;
        lock.lock();
        try {
            failed = List.copyOf(groups);
            groups.clear();
            writing = false;
            followed = failure.code() == Code.UNAVAILABLE;
            ahead = true;
            reading = true;
        } finally {
            lock.unlock();
        }
        failed.forEach(group -> group.outcome.completeExceptionally(failure));
    }

    /** Whether the memory has changes that could not be written: nothing may be built on it before {@link #recover}. */
    boolean isAhead() {
        return ahead;
    }

    /** Whether {@link #recover} may refuse callers, but will not for ever. Called with or without the lock. */
    boolean isReading() {
        return (ahead || isLate()) && !followed;
    }

    private boolean isLate() {
        return writing && nanos.getAsLong() - begunNanos > LATE * waitNanos;
    }

    /** Runs on the writer thread, without the lock while it reads: a store that cannot be reached takes its time. */
    private void readAgain() {
        ManagerState state = null;
        String why = "";
        boolean stale = false;
        try {
            state = store.load();
        } catch (StaleEpochException e) {
            stale = true;
            why = String.valueOf(e.getMessage());
        } catch (StateException e) {
            why = String.valueOf(e.getMessage());
        } catch (Throwable e) {
            why = e.toString();
            LOG.log(System.Logger.Level.ERROR, "the manager cannot read its state again; the next call tries it", e);
        }
        lock.lock();
        try {
            if (state != null) {
                // What was added since then was built on what was not written.
                groups.clear();
                lost.accept(state);
                ahead = false;
            }
        } catch (Throwable e) {
            why = e.toString();
            LOG.log(System.Logger.Level.ERROR, "the manager cannot use its state; the next call tries it again", e);
        } finally {
            unreadable = why;
            if (stale) {
                followed = true;
            }
            reading = false;
            read.signalAll();
            lock.unlock();
        }
    }

    /**
     * Called before any work on the memory: returns when the memory is equal to the disk, but for changes that are
     * being written. If a write has failed and the state is still being read, or a write is late, it waits a moment,
     * without the lock.
     *
     * @throws ControlException UNAVAILABLE if the memory is ahead of the disk, so that nothing may be built on it, or a
     *     write is late, so that the caller would wait for long
     */
    void recover() {
        if (!ahead && !isLate()) {
            return;
        }
        if (ahead && !reading) {
            writer.execute(this::readAgain);
            reading = true;
        }
        try {
            for (long left = waitNanos; (reading || isLate()) && left > 0; ) {
                left = read.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "interrupted while the manager reads its state again", e);
        }
        if (ahead && followed && !reading) {
            throw new ControlException(Code.UNAVAILABLE, "this manager leads no more: " + unreadable);
        }
        if (ahead) {
            throw refusal(
                    reading || unreadable.isEmpty()
                            ? "it could not write its state, and reads it again; ask again in a moment"
                            : "it cannot read its state: " + unreadable);
        }
        if (isLate()) {
            throw refusal("a write of its state is late; ask again in a moment");
        }
    }

    private static ControlException refusal(String why) {
        return new ControlException(Code.UNAVAILABLE, ControlPlane.CANNOT_NOW + ": " + why);
    }
}
