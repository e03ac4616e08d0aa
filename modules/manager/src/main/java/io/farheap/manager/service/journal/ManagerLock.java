package io.farheap.manager.service.journal;

import io.farheap.manager.ServerReport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The lock under which everything is that a manager knows. Whoever takes it reads first what servers have said
 * meanwhile ({@link Inbox}), and nobody hears of what was done with it before all that it has changed or seen is on
 * disk ({@link Journal}). Nobody holds it while something is written.
 */
public final class ManagerLock {

    private final ReentrantLock lock;
    private final Journal journal;
    private final Inbox inbox;
    private final ObjLongConsumer<ServerReport> reader;

    /**
     * @param journal with {@code lock}
     * @param reader of what servers have said and when, called with the lock
     */
    public ManagerLock(ReentrantLock lock, Journal journal, Inbox inbox, ObjLongConsumer<ServerReport> reader) {
        this.lock = lock;
        this.journal = journal;
        this.inbox = inbox;
        this.reader = reader;
    }

    /** Does something with the lock, and returns when all that it has changed or seen is on disk. */
    public <T> T settled(Supplier<T> action) {
        return settled(action, _ -> true);
    }

    /**
     * As {@link #settled(Supplier)}, but that it waits for the disk only where what has come of it matters.
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

    /** Does something of which nobody hears, on what servers have said until now. */
    public void locked(Runnable action) {
        held(() -> {
            inbox.read(reader);
            action.run();
        });
    }

    /** Does something of which nobody hears, or that is on disk already. */
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

    /** Reads what servers have said, unless somebody has the lock: who has it next reads it. */
    public void tryRead() {
        if (lock.tryLock()) {
            try {
                inbox.read(reader);
            } finally {
                lock.unlock();
            }
        }
    }
}
