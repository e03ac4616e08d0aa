package io.farheap.kv.blocks;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestPoster;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Takes over what the session's compare-and-swaps have taken out of the table. A block is free at once; of an object
 * with {@linkplain ValuePieces pieces} the index is read first, one after the other. One thread, but for {@link #held}.
 */
public final class Reclaimer {

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle QUEUE;

    static {
        try {
            QUEUE = MethodHandles.lookup().findVarHandle(Reclaimer.class, "queue", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RequestPoster posts;
    private final SpaceMemory space;
    private final BlockAllocator allocator;
    private final MapSessionCounts counts;
    private final RegisteredBuffer memory;
    /** A ring of words of indexes, which other threads look at. */
    private long[] queue = new long[16];

    private int first;
    private int count;
    /** The first cannot be read before a connection is made again. */
    private boolean stalled;

    /** @param memory for an index */
    public Reclaimer(
            RequestPoster posts,
            SpaceMemory space,
            BlockAllocator allocator,
            MapSessionCounts counts,
            RegisteredBuffer memory) {
        this.posts = posts;
        this.space = space;
        this.allocator = allocator;
        this.counts = counts;
        this.memory = memory;
    }

    /** Whether all that was taken over is free, or waits for a connection. */
    public boolean isIdle() {
        return count == 0 || stalled;
    }

    /** Whether all that was taken over is free. */
    public boolean isEmpty() {
        return count == 0;
    }

    /** Connections were made again. */
    public void goOn() {
        if (stalled) {
            stalled = false;
            next();
        }
    }

    /** @param word as it was in its slot */
    public void reclaim(long word) {
        if (!space.holdsBlock(word)) {
            // Of a server that has left, or of nothing that there is.
            counts.add(MapSessionCounts.UNLINKED);
            return;
        }
        if (!SlotWord.isIndex(word)) {
            allocator.reclaim(word);
            return;
        }
        if (count == queue.length) {
            long[] larger = Arrays.copyOfRange(queue, first, first + 2 * count);
            System.arraycopy(queue, 0, larger, count - first, first);
            Arrays.fill(larger, count, larger.length, SlotWord.EMPTY);
            first = 0;
            QUEUE.setRelease(this, larger);
        }
        WORDS.setRelease(queue, first + count & queue.length - 1, word);
        if (count++ == 0) {
            next();
        }
    }

    private void next() {
        while (count > 0 && !stalled) {
            switch (posts.readIndex(queue[first], memory)) {
                case PostResult.OK -> {
                    return;
                }
                case PostResult.DONE -> free();
                default -> failed();
            }
        }
    }

    /** The READ has ended. */
    public void completed(int outcome) {
        if (outcome == Outcome.DONE) {
            free();
        } else {
            failed();
        }
        next();
    }

    private void failed() {
        stalled = posts.reach().blockLater(queue[first]);
        if (!stalled) {
            lose();
        }
    }

    /** First the pieces: who looks at what is held finds them in the index or free. */
    private void free() {
        long word = queue[first];
        long index = memory.segment().address();
        if (BlockFormat.isWhole(NativeMemory.ALL, index, word)) {
            int pieces = ValuePieces.countOf(index);
            for (int i = 0; i < pieces; i++) {
                long piece = ValuePieces.piece(index, i);
                if (space.holdsBlock(piece)) {
                    allocator.reclaim(piece);
                }
            }
        } else {
            // The services find its pieces, which nothing names.
            counts.add(MapSessionCounts.UNLINKED);
        }
        allocator.reclaim(word);
        remove();
    }

    private void lose() {
        if (space.hasLeft(queue[first])) {
            // The services find its pieces, which nothing names.
            counts.add(MapSessionCounts.UNLINKED);
        } else {
            allocator.keepUnknown(queue[first]);
        }
        remove();
    }

    private void remove() {
        WORDS.setRelease(queue, first, SlotWord.EMPTY);
        first = first + 1 & queue.length - 1;
        count--;
    }

    /** Any thread: adds the indexes whose pieces are not free yet. */
    public void held(HeldBlocks into) {
        long[] present = (long[]) QUEUE.getAcquire(this);
        for (int i = 0; i < present.length; i++) {
            into.add((long) WORDS.getAcquire(present, i));
        }
    }
}
