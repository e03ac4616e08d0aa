package io.farheap.tier.file;

import io.farheap.tier.device.StoredFile;
import io.farheap.tier.handle.HighWaterMark;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A segment's file, closed when the device has let go of it and the last request that uses it has ended: a descriptor
 * that is closed may be another file's the next moment. Any thread.
 */
final class FileSegment {

    final long number;
    final StoredFile file;
    /** Its requests, and one for the device; 0 once it is closed. */
    private final AtomicInteger users = new AtomicInteger(1);
    /** Appends that ended, and how many of them are durable. */
    private final AtomicLong written;

    private final HighWaterMark synced = new HighWaterMark(0);
    private volatile boolean failed;

    /** @param found and not made: a process before may have written what it did not sync */
    FileSegment(long number, StoredFile file, boolean found) {
        this.number = number;
        this.file = file;
        this.written = new AtomicLong(found ? 1 : 0);
    }

    /** @return false where it is closed */
    boolean acquire() {
        for (int now = users.get(); now > 0; now = users.get()) {
            if (users.compareAndSet(now, now + 1)) {
                return true;
            }
        }
        return false;
    }

    void release() {
        if (users.decrementAndGet() == 0) {
            file.close();
        }
    }

    void wrote() {
        written.incrementAndGet();
    }

    /** How much was written; to be handed to {@link #synced}. */
    long written() {
        return written.get();
    }

    boolean dirty() {
        return failed || synced.get() < written.get();
    }

    /**
     * A sync has ended.
     *
     * @param upTo {@link #written}, before it
     * @return whether it is durable: where a sync failed once, the kernel may have dropped what it could not write, so
     *     no later one counts
     */
    boolean synced(long upTo, boolean ok) {
        if (!ok) {
            failed = true;
        }
        if (failed) {
            return false;
        }
        synced.raise(upTo);
        return true;
    }
}
