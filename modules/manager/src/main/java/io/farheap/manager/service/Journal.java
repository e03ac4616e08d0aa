package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.state.Change;
import io.farheap.manager.state.StaleEpochException;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a manager changes, many changes at once: those that are made while one group is being written are the
 * next group. A change takes effect in memory first, and whoever made it, or has seen it, waits until it is on disk
 * before anybody else hears of it. One of those who wait writes, so this has no thread of its own.
 *
 * <p>Where a group cannot be written, it and all that was changed after it fail, since that was built on it: then the
 * manager's memory is ahead of the disk, and {@link #recover} brings it back.
 *
 * <p>Every method is called with the lock, which {@link #settle} gives up while it waits.
 */
final class Journal {

    /** Of one write to a store that takes a million bytes. */
    private static final int GROUP_BYTES = 400_000;
    /** Of a life that was seen. */
    private static final int SEEN_BYTES = 40;

    /** What is written at once. */
    private static final class Group {
        final List<Change> changes = new ArrayList<>();
        int bytes;
        boolean done;

        @Nullable
        ControlException failure;
    }

    private final StateStore store;
    private final ReentrantLock lock;
    private final Consumer<Change> written;
    private final Runnable lost;
    private final Condition changed;
    /** In the order in which they are to be written; the last one takes changes. */
    private final List<Group> groups = new ArrayList<>();

    private boolean writing;
    /** The memory is ahead of the disk. */
    private boolean ahead;

    private int waiting;

    /**
     * @param written called with the lock for each change that is on disk
     * @param lost called with the lock: the memory is to be as the store is
     */
    Journal(StateStore store, ReentrantLock lock, Consumer<Change> written, Runnable lost) {
        this.store = store;
        this.lock = lock;
        this.written = written;
        this.lost = lost;
        this.changed = lock.newCondition();
    }

    void add(Change change) {
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

    private static int size(Change change) {
        int overhead = 400;
        int share = 30;
        return switch (change) {
            case Change.PutServer put ->
                overhead
                        + escaped(put.server().address())
                        + escaped(put.server().type());
            case Change.PutCache put ->
                overhead
                        + escaped(put.cache().name())
                        + share
                                * (put.cache().regions().size()
                                        + put.cache().reserved().size());
            // Nothing of it is escaped.
            case Change.PutModel put -> overhead + 3 * put.model().text().length();
            case Change.PutMenu put -> overhead + escaped(put.text());
            case Change.PutLife put ->
                overhead
                        + escaped(put.life().type())
                        + SEEN_BYTES * put.life().seen().size();
            case Change.RemoveModel _,
                    Change.PutTenant _,
                    Change.RemoveTenant _,
                    Change.RemoveServer _,
                    Change.RemoveCache _ -> overhead;
        };
    }

    private static int escaped(String text) {
        return 6 * text.length();
    }

    /**
     * Returns when all that has been changed until now is on disk.
     *
     * @throws ControlException it is not, and has not happened: UNAVAILABLE where another manager leads, else INTERNAL
     */
    void settle() {
        if (groups.isEmpty()) {
            return;
        }
        Group last = groups.getLast();
        while (!last.done) {
            if (writing) {
                waiting++;
                changed.awaitUninterruptibly();
                waiting--;
            } else {
                write(groups.getFirst());
            }
        }
        if (last.failure != null) {
            throw new ControlException(last.failure.code(), String.valueOf(last.failure.getMessage()), last.failure);
        }
    }

    private void write(Group group) {
        writing = true;
        ControlException failure = null;
        lock.unlock();
        try {
            store.write(group.changes);
        } catch (StaleEpochException e) {
            failure = new ControlException(Code.UNAVAILABLE, "this manager leads no more: " + e.getMessage(), e);
        } catch (StateException e) {
            failure = new ControlException(Code.INTERNAL, "the manager cannot write its state: " + e.getMessage(), e);
        } catch (Throwable e) {
            failure = new ControlException(Code.INTERNAL, "the manager failed: " + e, e);
        } finally {
            lock.lock();
            writing = false;
        }
        if (failure == null) {
            groups.remove(group);
            group.done = true;
            group.changes.forEach(written);
        } else {
            for (Group failed : groups) {
                failed.done = true;
                failed.failure = failure;
            }
            groups.clear();
            ahead = true;
        }
        changed.signalAll();
    }

    /** How many wait while another one writes. */
    int waiting() {
        return waiting;
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
