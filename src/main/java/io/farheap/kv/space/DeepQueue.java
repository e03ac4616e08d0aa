package io.farheap.kv.space;

import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.VerbCounts;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A {@link RemoteQueue} that accepts more postings than the device's queue pairs are deep. A posting that finds no room
 * waits, and so do all later ones, in order, until a {@link #poll} has made room. If its connection has failed in the
 * meantime, a posting that waited ends as {@link Outcome#NOT_POSTED}; {@link Reconnects} makes the connection again. On
 * a device with deep queue pairs no posting ever waits. One thread.
 */
public final class DeepQueue implements AutoCloseable {

    private static final byte READ = 0;
    private static final byte WRITE = 1;
    private static final byte SWAP = 2;
    private static final byte ADD = 3;

    private final RemoteQueue queue;
    private final Reconnects reconnects;

    // The ring of waiting postings, from head to tail.
    private final int mask;
    private final byte[] kinds;
    private final @Nullable RemoteRegion[] regions;
    private final @Nullable RegisteredBuffer[] buffers;
    private final long[] offsets;
    private final long[] ats;
    private final int[] lengths;
    private final long[] comparesOrAdds;
    private final long[] values;
    private final long[] tags;
    private long head;
    private long tail;

    /**
     * @param depth the most postings under way
     * @param space says which servers there are
     */
    public DeepQueue(RemoteMemory remote, int depth, SpaceMemory space) {
        int deviceDepth = Math.min(depth, remote.maxQueueDepth());
        queue = remote.openQueue(QueueOptions.DEFAULT.withDepth(deviceDepth));
        reconnects = new Reconnects(queue, space);
        int room = deviceDepth == depth ? 1 : Integer.highestOneBit(depth) << 1;
        mask = room - 1;
        kinds = new byte[room];
        regions = new RemoteRegion[room];
        buffers = new RegisteredBuffer[room];
        offsets = new long[room];
        ats = new long[room];
        lengths = new int[room];
        comparesOrAdds = new long[room];
        values = new long[room];
        tags = new long[room];
    }

    /** As {@link RemoteQueue#read}, but never {@link PostResult#FULL} within the depth. */
    int read(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        int posting = waiting() ? PostResult.FULL : queue.read(region, offset, buffer, at, bytes, tag);
        return posting != PostResult.FULL
                ? told(posting, region, tag)
                : later(READ, region, offset, buffer, at, bytes, 0, 0, tag);
    }

    /** As {@link RemoteQueue#write}, but never {@link PostResult#FULL} within the depth. */
    int write(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        int posting = waiting() ? PostResult.FULL : queue.write(region, offset, buffer, at, bytes, tag);
        return posting != PostResult.FULL
                ? told(posting, region, tag)
                : later(WRITE, region, offset, buffer, at, bytes, 0, 0, tag);
    }

    /** As {@link RemoteQueue#execute} of a READ, but never {@link PostResult#FULL} within the depth. */
    int executeRead(RemoteRegion region, long offset, RegisteredBuffer buffer, long at, int bytes, long tag) {
        int posting = waiting() ? PostResult.FULL : queue.execute(false, region, offset, buffer, at, bytes, tag);
        return posting != PostResult.FULL
                ? told(posting, region, tag)
                : later(READ, region, offset, buffer, at, bytes, 0, 0, tag);
    }

    /** As {@link RemoteQueue#compareAndSwap}, but never {@link PostResult#FULL} within the depth. */
    int compareAndSwap(
            RemoteRegion region, long offset, long expected, long value, RegisteredBuffer old, long at, long tag) {
        int posting = waiting() ? PostResult.FULL : queue.compareAndSwap(region, offset, expected, value, old, at, tag);
        return posting != PostResult.FULL
                ? told(posting, region, tag)
                : later(SWAP, region, offset, old, at, Long.BYTES, expected, value, tag);
    }

    /** As {@link RemoteQueue#compareAndSwap}: {@link PostResult#FULL} if it would have to wait. */
    int compareAndSwapNow(
            RemoteRegion region, long offset, long expected, long value, RegisteredBuffer old, long at, long tag) {
        int posting = waiting() ? PostResult.FULL : queue.compareAndSwap(region, offset, expected, value, old, at, tag);
        return posting == PostResult.FULL ? posting : told(posting, region, tag);
    }

    /** As {@link RemoteQueue#fetchAndAdd}, but never {@link PostResult#FULL} within the depth. */
    int fetchAndAdd(RemoteRegion region, long offset, long delta, RegisteredBuffer old, long at, long tag) {
        int posting = waiting() ? PostResult.FULL : queue.fetchAndAdd(region, offset, delta, old, at, tag);
        return posting != PostResult.FULL
                ? told(posting, region, tag)
                : later(ADD, region, offset, old, at, Long.BYTES, delta, 0, tag);
    }

    private int told(int posting, RemoteRegion region, long tag) {
        if (posting == PostResult.LOST) {
            reconnects.refused(region.server());
        } else if (reconnects.unproven()) {
            reconnects.posted(region.server(), tag);
        }
        return posting;
    }

    private int later(
            byte kind,
            RemoteRegion region,
            long offset,
            RegisteredBuffer buffer,
            long at,
            int bytes,
            long compareOrAdd,
            long value,
            long tag) {
        if (tail - head > mask) {
            return PostResult.FULL;
        }
        if (reconnects.unproven()) {
            reconnects.posted(region.server(), tag);
        }
        int i = (int) tail++ & mask;
        kinds[i] = kind;
        regions[i] = region;
        buffers[i] = buffer;
        offsets[i] = offset;
        ats[i] = at;
        lengths[i] = bytes;
        comparesOrAdds[i] = compareOrAdd;
        values[i] = value;
        tags[i] = tag;
        return PostResult.OK;
    }

    /** As {@link RemoteQueue#enter}. */
    public void enter() {
        queue.enter();
    }

    /** As {@link RemoteQueue#exit}. */
    public void exit() {
        queue.exit();
    }

    /** As {@link RemoteQueue#beginList}. */
    void beginList() {
        queue.beginList();
    }

    /** As {@link RemoteQueue#postList}. */
    void postList() {
        queue.postList();
    }

    /** As {@link RemoteQueue#poll}; then posts waiting postings for which there is room now. */
    public int poll(CompletionHandler handler) {
        int handed = queue.poll(handler);
        return waiting() ? handed + resume(handler) : handed;
    }

    /** Whether postings wait, and so will later ones. */
    boolean waiting() {
        return tail != head;
    }

    private int resume(CompletionHandler handler) {
        int handed = 0;
        while (waiting()) {
            int i = (int) head & mask;
            int posting = post(i);
            if (posting == PostResult.FULL) {
                break;
            }
            regions[i] = null;
            buffers[i] = null;
            head++;
            if (posting != PostResult.OK) {
                handed++;
                handler.completed(tags[i], Outcome.NOT_POSTED);
            }
        }
        return handed;
    }

    // A posting that waits has a region and a buffer.
    @SuppressWarnings("NullAway")
    private int post(int i) {
        RemoteRegion region = regions[i];
        RegisteredBuffer buffer = buffers[i];
        return switch (kinds[i]) {
            case READ -> queue.read(region, offsets[i], buffer, ats[i], lengths[i], tags[i]);
            case WRITE -> queue.write(region, offsets[i], buffer, ats[i], lengths[i], tags[i]);
            case SWAP ->
                queue.compareAndSwap(region, offsets[i], comparesOrAdds[i], values[i], buffer, ats[i], tags[i]);
            default -> queue.fetchAndAdd(region, offsets[i], comparesOrAdds[i], buffer, ats[i], tags[i]);
        };
    }

    /** As {@link RemoteQueue#await}. */
    public void await(long nanos) {
        queue.await(nanos);
    }

    /** The connections that have failed, which it makes again. */
    public Reconnects reconnects() {
        return reconnects;
    }

    /**
     * Ends all connections for good, on behalf of the owner, which is not polling, on a thread of its own. Any thread.
     *
     * @return completes when nothing that was posted can take effect any more, and nothing more will be posted;
     *     exceptionally if a server does not answer
     */
    public CompletableFuture<Void> cut() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofVirtual().name("farheap-map-cut").start(() -> {
            try {
                reconnects.cut();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
            queue.wake();
        });
        return done;
    }

    /** The number of postings that were made or wait, and have not ended. */
    public int inFlight() {
        return queue.inFlight() + (int) (tail - head);
    }

    /** As {@link RemoteQueue#posted}. */
    public VerbCounts posted() {
        return queue.posted();
    }

    /** Closes the queue. Postings that wait are dropped. */
    @Override
    public void close() {
        queue.close();
    }
}
