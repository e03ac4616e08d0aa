package io.farheap.manager.service.journal;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
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
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a manager changes, many changes at once: those that are made while one group is being written are the
 * next group. A change takes effect in memory first, and whoever made it, or has seen it, waits until it is on disk
 * before anybody else hears of it: takes {@link #latest} with the lock, and waits for it ({@link #await}) without.
 *
 * <p>A thread writes one group after another while there are any. It ends by itself when there was nothing for a while.
 * None of those who wait does it, and none of them takes the lock again: with thousands of others who ask for it, each
 * would stand in line once more, and the disk would stand still meanwhile.
 *
 * <p>Where a group cannot be written, it and all that was changed after it fail, since that was built on it: then the
 * manager's memory is ahead of the disk, and {@link #recover} brings it back.
 *
 * <p>Every method but {@link #await} is called with the lock.
 */
public final class Journal {

    /** Of one write to a store that takes a million bytes. */
    private static final int GROUP_BYTES = 400_000;
    /** Of a life that was seen. */
    private static final int SEEN_BYTES = 40;
    /** For so long a thread waits for more to write. */
    private static final long IDLE_SECONDS = 10;

    /** What is written at once. */
    static final class Group {
        private final List<StateChange> changes = new ArrayList<>();
        private int bytes;
        /** Completed without the lock; with a {@link ControlException} where it is not on disk. */
        private final CompletableFuture<@Nullable Void> outcome = new CompletableFuture<>();
    }

    private final StateStore store;
    private final ReentrantLock lock;
    private final Consumer<StateChange> written;
    private final Runnable lost;
    private final ThreadPoolExecutor writer;
    /** In the order in which they are to be written; the last one takes changes. */
    private final List<Group> groups = new ArrayList<>();

    /** The writer has the first group, or is about to take it. */
    private boolean writing;
    /** The memory is ahead of the disk. */
    private boolean ahead;

    /**
     * @param written called with the lock for each change that is on disk
     * @param lost called with the lock: the memory is to be as the store is
     */
    public Journal(StateStore store, ReentrantLock lock, Consumer<StateChange> written, Runnable lost) {
        this(
                store,
                lock,
                written,
                lost,
                Thread.ofPlatform().name("farheap-manager-journal").daemon().factory());
    }

    /** @param threads makes those that write */
    Journal(StateStore store, ReentrantLock lock, Consumer<StateChange> written, Runnable lost, ThreadFactory threads) {
        this.store = store;
        this.lock = lock;
        this.written = written;
        this.lost = lost;
        this.writer =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        this.writer.allowCoreThreadTimeOut(true);
    }

    public void add(StateChange change) {
        int bytes = size(change);
        Group last = groups.isEmpty() ? null : groups.getLast();
        // The first is being written, or may be.
        if (last == null || groups.size() == 1 && writing || last.bytes + bytes > GROUP_BYTES) {
            last = new Group();
            groups.add(last);
        }
        last.changes.add(change);
        last.bytes += bytes;
    }

    private static int size(StateChange change) {
        int overhead = 400;
        int share = 30;
        return switch (change) {
            case StateChange.PutServer put ->
                overhead
                        + escaped(put.server().address())
                        + escaped(put.server().type());
            case StateChange.PutCache put ->
                overhead
                        + escaped(put.cache().name())
                        + share
                                * (put.cache().regions().size()
                                        + put.cache().reserved().size());
            // Nothing of it is escaped.
            case StateChange.PutModel put -> overhead + 3 * put.model().text().length();
            case StateChange.PutMenu put -> overhead + escaped(put.text());
            case StateChange.PutLife put ->
                overhead
                        + escaped(put.life().type())
                        + SEEN_BYTES * put.life().seen().size();
            case StateChange.RemoveModel _,
                    StateChange.PutTenant _,
                    StateChange.RemoveTenant _,
                    StateChange.RemoveServer _,
                    StateChange.RemoveCache _ -> overhead;
        };
    }

    private static int escaped(String text) {
        return 6 * text.length();
    }

    /** What has all that has been changed until now; null where that is on disk. It is written from now on. */
    @Nullable
    Group latest() {
        if (groups.isEmpty()) {
            return null;
        }
        if (!writing) {
            // Where no thread can be started, the next caller tries again. The writer waits for the lock.
            writer.execute(this::writeAll);
            writing = true;
        }
        return groups.getLast();
    }

    /**
     * Returns when a group is on disk, and so all before it. Without the lock.
     *
     * @throws ControlException it is not, and has not happened: UNAVAILABLE where another manager leads, else INTERNAL
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

    /** On the writer. */
    private void writeAll() {
        for (Group group = first(); group != null; group = next(group)) {
            ControlException failure = write(group);
            if (failure != null) {
                fail(failure);
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

    /** @return the group after one that is on disk, or null: the writer ends */
    private @Nullable Group next(Group done) {
        Group next;
        lock.lock();
        try {
            groups.remove(done);
            done.changes.forEach(written);
            writing = !groups.isEmpty();
            next = writing ? groups.getFirst() : null;
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
            ahead = true;
        } finally {
            lock.unlock();
        }
        failed.forEach(group -> group.outcome.completeExceptionally(failure));
    }

    /** Before anything is done on what the memory has: it is as the disk is, but for what is on its way there. */
    void recover() {
        if (ahead) {
            try {
                lost.run();
            } catch (StateException e) {
                throw new ControlException(Code.UNAVAILABLE, "the manager cannot read its state: " + e.getMessage(), e);
            }
            ahead = false;
        }
    }
}
