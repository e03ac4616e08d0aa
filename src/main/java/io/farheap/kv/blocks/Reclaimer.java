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
 * Frees the blocks of objects that the session's compare-and-swaps have removed from the table. A block is free at
 * once; if the object has {@linkplain ValuePieces pieces}, the index is read first, one index after another. One
 * thread, except {@link #held}.
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
    /** A ring of words of indexes, which other threads read. */
    private long[] queue = new long[16];

    private int first;
    private int count;
    /** Whether the first index cannot be read before its connection has been made again. */
    private boolean stalled;

    /** @param memory room for one index */
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

    /** Whether all removed blocks are free, or the rest waits for a connection. */
    public boolean isIdle() {
        return count == 0 || stalled;
    }

    /** Whether all removed blocks are free. */
    public boolean isEmpty() {
        return count == 0;
    }

    /** Connections have been made again. */
    public void goOn() {
        if (stalled) {
            stalled = false;
            next();
        }
    }

    /** Frees the block of a slot, or all blocks of its object. @param word of the slot, as it was */
    public void reclaim(long word) {
        if (!space.holdsBlock(word)) {
            // A block of a server that has left, or a place outside the map.
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

    /** The READ of the first index has ended. */
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

    /** Frees the pieces first: a thread that collects held blocks finds them in the index or among the free ones. */
    private void free() {
        long word = queue[first];
        long index = memory.segment().address();
        if (BlockFormat.isWhole(NativeMemory.ALL, index, word, space.checksum())) {
            int pieces = ValuePieces.countOf(index);
            for (int i = 0; i < pieces; i++) {
                long piece = ValuePieces.piece(index, i);
                if (space.holdsBlock(piece)) {
                    allocator.reclaim(piece);
                }
            }
        } else {
            // The pieces are not known. No slot names them, so the services will collect them.
            counts.add(MapSessionCounts.UNLINKED);
        }
        allocator.reclaim(word);
        remove();
    }

    /** The index's server is lost or has left. The pieces are not known, and no slot names them. */
    private void lose() {
        counts.add(MapSessionCounts.UNLINKED);
        remove();
        allocator.losesSight();
    }

    private void remove() {
        WORDS.setRelease(queue, first, SlotWord.EMPTY);
        first = first + 1 & queue.length - 1;
        count--;
    }

    /** Adds the indexes whose pieces are not free yet. Any thread. */
    public void held(HeldBlocks into) {
        long[] present = (long[]) QUEUE.getAcquire(this);
        for (int i = 0; i < present.length; i++) {
            into.add((long) WORDS.getAcquire(present, i));
        }
    }
}
