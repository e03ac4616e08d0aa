package io.farheap.manager.service.journal;

import io.farheap.control.ControlException;
import io.farheap.manager.ServerReport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The lock that guards everything that a manager knows. A thread that takes it first reads the reports that servers
 * have sent meanwhile ({@link Inbox}). Results are returned to a caller only after all that the action has changed or
 * seen is on disk ({@link Journal}). No thread holds the lock while the state is written or read. After a write has
 * failed, callers are refused until the state was read again.
 */
public final class ManagerLock {

    private final ReentrantLock lock;
    private final Journal journal;
    private final Inbox inbox;
    private final ObjLongConsumer<ServerReport> reader;

    /**
     * @param journal uses {@code lock}
     * @param reader receives a report and when it came, called with the lock
     */
    public ManagerLock(ReentrantLock lock, Journal journal, Inbox inbox, ObjLongConsumer<ServerReport> reader) {
        this.lock = lock;
        this.journal = journal;
        this.inbox = inbox;
        this.reader = reader;
    }

    /**
     * Runs an action with the lock, and returns when all that it has changed or seen is on disk.
     *
     * @throws ControlException as the action does; INTERNAL if that cannot be written; UNAVAILABLE if the state is
     *     being read again, or another manager leads
     */
    public <T> T settled(Supplier<T> action) {
        return settled(action, _ -> true);
    }

    /**
     * As {@link #settled(Supplier)}, but waits for the disk only if the result matters to others.
     *
     * @param matters called with the lock
     */
    public <T> T settled(Supplier<T> action, Predicate<T> matters) {
        T result;
        Journal.Group changes;
        lock.lock();
        try {
            journal.recover();
            inbox.read(reader);
            result = action.get();
            if (!matters.test(result)) {
                return result;
            }
            changes = journal.latest();
        } finally {
            lock.unlock();
        }
        Journal.await(changes);
        return result;
    }

    public void settled(Runnable action) {
        settled(() -> {
            action.run();
            return this;
        });
    }

    /**
     * Reads the waiting reports and runs an action whose result no caller receives, so that it need not wait for the
     * disk.
     *
     * @throws ControlException UNAVAILABLE if a write has failed and the state was not read again yet
     */
    public void locked(Runnable action) {
        held(() -> {
            journal.recover();
            inbox.read(reader);
            action.run();
        });
    }

    /**
     * Whether the memory is not ahead of the disk, so that others may be notified of what it says. Called with the
     * lock.
     */
    public boolean isCurrent() {
        return !journal.isAhead();
    }

    /**
     * Whether the state is being read again, or has to be, since a write has failed, or a write is late: until that is
     * over nothing is changed. Not if another manager leads. Called without the lock.
     */
    public boolean isReading() {
        return journal.isReading();
    }

    /**
     * Runs an action with the lock whose result no caller receives, or is on disk already. The action changes nothing
     * that is written to disk, since it may run on memory that is ahead of the disk. Reads no reports, and waits for no
     * write.
     */
    public <T> T held(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    public void held(Runnable action) {
        held(() -> {
            action.run();
            return this;
        });
    }

    /**
     * Reads the waiting reports, unless another thread has the lock or a write has failed: then the next thread that
     * takes the lock reads them. A report may change what is written to disk, so it is not read on memory that is ahead
     * of the disk.
     */
    public void tryRead() {
        if (lock.tryLock()) {
            try {
                if (!journal.isAhead()) {
                    inbox.read(reader);
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
