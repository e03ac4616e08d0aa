package io.farheap.cache.session;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A session's path while the session waits for its requests to end: it takes no new ones, as if its queue were full.
 *
 * @param quiet set by a poll after which no request is pending
 */
public record QuiescingPath(RequestPath path, AtomicBoolean quiet) implements RequestPath {

    @Override
    public boolean issue(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        return false;
    }

    @Override
    public boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            int length,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        return false;
    }

    @Override
    public boolean issueAtomic(
            boolean swap,
            long address,
            long compareOrAdd,
            long value,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        return false;
    }

    @Override
    public int tryExecute(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        return DECLINED;
    }

    @Override
    public int poll() {
        try {
            int called = path.poll();
            // No further request will fill an open batch or list.
            path.send();
            return called;
        } finally {
            // Also if a callback throws: it may have been the last, and then the owner may not poll again.
            if (path.pending() == 0) {
                quiet.set(true);
            }
        }
    }

    @Override
    public int maxRecords() {
        return path.maxRecords();
    }

    @Override
    public void send() {
        path.send();
    }

    @Override
    public long listen() {
        return path.listen();
    }

    @Override
    public long longestSleep() {
        return path.longestSleep();
    }

    @Override
    public void resumeHeld() {
        path.resumeHeld();
    }

    @Override
    public void abandonUnposted() {
        path.abandonUnposted();
    }

    @Override
    public void abandon(Completion whose, long since) {
        path.abandon(whose, since);
    }

    @Override
    public int pending() {
        return path.pending();
    }

    @Override
    public String describe() {
        return path.describe();
    }

    @Override
    public boolean conflicts(boolean write, long address, long length) {
        return path.conflicts(write, address, length);
    }

    @Override
    public int heldCount() {
        return path.heldCount();
    }

    @Override
    public boolean waits(boolean write, long address, long length) {
        return path.waits(write, address, length);
    }

    @Override
    public boolean mayHold() {
        return path.mayHold();
    }

    @Override
    public boolean uses(RequestBuffer buffer) {
        return path.uses(buffer);
    }

    @Override
    public boolean reaches(long end) {
        return path.reaches(end);
    }

    @Override
    public void sample(RegionHeat heat) {
        path.sample(heat);
    }
}
