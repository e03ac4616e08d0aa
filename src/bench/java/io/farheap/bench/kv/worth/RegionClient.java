package io.farheap.bench.kv.worth;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.MemorySegment;

/**
 * A client's operations on one region, with a page of its own memory for their data. Operations for which the client
 * waits are counted until they are done; hints are small, and the client does not wait for them. One thread.
 */
final class RegionClient implements AutoCloseable {

    /** Bytes of the client's own memory. */
    static final int PAGE_BYTES = 4096;

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final int HINTS = 64;
    private static final int HINT_BYTES = 32;
    private static final int MOST_AT_ONCE = 16;
    private static final long HINT_TAG = 1L << 32;
    private static final int PIECE_BYTES = 64 << 10;

    private final RemoteRegion region;
    private final RemoteQueue queue;
    private final RegisteredBuffer buffer;
    private final long page;
    private final int[] freeHints = new int[HINTS];
    private int freeHintCount = HINTS;
    private int pending;
    private final CompletionHandler handler = this::completed;

    RegionClient(RemoteMemory memory, RemoteRegion region) {
        this.region = region;
        try (CloseStack stack = new CloseStack()) {
            queue = stack.add(memory.openQueue(QueueOptions.DEFAULT.withDepth(HINTS + MOST_AT_ONCE)));
            buffer = stack.add(memory.register(PAGE_BYTES + HINTS * HINT_BYTES));
            stack.keep();
        }
        page = buffer.segment().address();
        for (int hint = 0; hint < HINTS; hint++) {
            freeHints[hint] = hint;
        }
    }

    /** Reads a part of a region, and waits. */
    static void readAll(RemoteMemory memory, RemoteRegion region, long from, RegisteredBuffer copy, int bytes) {
        try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT)) {
            for (int at = 0; at < bytes; at += PIECE_BYTES) {
                int posting = queue.read(region, from + at, copy, at, Math.min(PIECE_BYTES, bytes - at), 0);
                check(posting);
                while (queue.inFlight() > 0) {
                    queue.poll((tag, outcome) -> checkEnd(outcome));
                }
            }
        }
    }

    /** Returns 8 bytes of the client's memory. */
    long get(int at) {
        return ALL.get(JAVA_LONG, page + at);
    }

    void set(int at, long value) {
        ALL.set(JAVA_LONG, page + at, value);
    }

    /** Returns how many operations the client waits for. */
    int pending() {
        return pending;
    }

    /** Takes completions. */
    void poll() {
        queue.poll(handler);
    }

    VerbCounts posted() {
        return queue.posted();
    }

    void beginList() {
        queue.beginList();
    }

    void postList() {
        queue.postList();
    }

    void read(long offset, int at, int bytes) {
        note(queue.execute(false, region, offset, buffer, at, bytes, 0));
    }

    void write(long offset, int at, int bytes) {
        note(queue.write(region, offset, buffer, at, bytes, 0));
    }

    /** Posts a compare-and-swap; the old value arrives in the client's memory. */
    void swap(long offset, long expected, long value, int at) {
        note(queue.compareAndSwap(region, offset, expected, value, buffer, at, 0));
    }

    /** Posts a fetch-and-add; the old value arrives in the client's memory. */
    void add(long offset, long delta, int at) {
        note(queue.fetchAndAdd(region, offset, delta, buffer, at, 0));
    }

    /** Writes 8 bytes as a hint, which is left out if too many hints are under way. */
    void hintWrite(long offset, long value) {
        if (freeHintCount > 0) {
            int hint = freeHints[--freeHintCount];
            ALL.set(JAVA_LONG, page + PAGE_BYTES + (long) hint * HINT_BYTES, value);
            writeHint(hint, offset, Long.BYTES);
        }
    }

    /** Writes up to 32 bytes of the client's memory as a hint, as they are now. */
    void hintWrite(long offset, int at, int bytes) {
        if (freeHintCount > 0) {
            int hint = freeHints[--freeHintCount];
            MemorySegment.copy(ALL, page + at, ALL, page + PAGE_BYTES + (long) hint * HINT_BYTES, bytes);
            writeHint(hint, offset, bytes);
        }
    }

    private void writeHint(int hint, long offset, int bytes) {
        check(queue.write(region, offset, buffer, PAGE_BYTES + (long) hint * HINT_BYTES, bytes, HINT_TAG | hint));
    }

    void hintAdd(long offset, long delta) {
        if (freeHintCount > 0) {
            int hint = freeHints[--freeHintCount];
            check(queue.fetchAndAdd(
                    region, offset, delta, buffer, PAGE_BYTES + (long) hint * HINT_BYTES, HINT_TAG | hint));
        }
    }

    private void note(int posting) {
        if (posting != PostResult.DONE) {
            check(posting);
            pending++;
        }
    }

    private static void check(int posting) {
        if (posting != PostResult.OK) {
            throw new IllegalStateException("an operation was refused: " + PostResult.describe(posting));
        }
    }

    private static void checkEnd(int outcome) {
        if (outcome != Outcome.DONE) {
            throw new IllegalStateException("an operation failed: " + Outcome.describe(outcome));
        }
    }

    private void completed(long tag, int outcome) {
        checkEnd(outcome);
        if ((tag & HINT_TAG) != 0) {
            freeHints[freeHintCount++] = (int) tag;
        } else {
            pending--;
        }
    }

    /** Waits for all operations, hints included. */
    @Override
    public void close() {
        while (queue.inFlight() > 0) {
            poll();
        }
        Closeables.all(queue, buffer);
    }
}
