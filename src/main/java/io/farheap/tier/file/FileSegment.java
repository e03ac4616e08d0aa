package io.farheap.tier.file;

import io.farheap.tier.device.StoredFile;
import io.farheap.tier.handle.HighWaterMark;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A segment's file. It is closed when the device has released it and the last request that uses it has ended, since a
 * closed file descriptor may be another file's the next moment. Any thread.
 */
final class FileSegment {

    final long number;
    final StoredFile file;
    /** How many requests use it, plus one for the device; 0 once it is closed. */
    private final AtomicInteger users = new AtomicInteger(1);
    /** How many appends have ended, and how many of them are durable. */
    private final AtomicLong written;

    private final HighWaterMark synced = new HighWaterMark(0);
    private volatile boolean failed;

    /** @param found whether the file existed: an earlier process may have written bytes that it did not sync */
    FileSegment(long number, StoredFile file, boolean found) {
        this.number = number;
        this.file = file;
        this.written = new AtomicLong(found ? 1 : 0);
    }

    /** @return false if it is closed */
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

    /** How many appends have ended; to be read before a sync and passed to {@link #synced}. */
    long written() {
        return written.get();
    }

    boolean dirty() {
        return failed || synced.get() < written.get();
    }

    /**
     * Called when a sync has ended.
     *
     * @param upTo {@link #written}, before it
     * @return whether the appends are durable. After a sync has failed, the kernel may have dropped bytes that it could
     *     not write, so no later sync counts
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
