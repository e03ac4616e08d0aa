package io.farheap.kv.blocks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * A session's free blocks on servers that are about to leave the map. They must not be used: they end with the server's
 * space, or go back to the server if it stays after all. One thread, except {@link #held}.
 */
final class QuarantinedBlocks {

    private static final int FIRST_CAPACITY = 64;
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle BLOCKS;

    static {
        try {
            BLOCKS = MethodHandles.lookup().findVarHandle(QuarantinedBlocks.class, "blocks", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Other threads read the whole array; {@link BlockAllocator#NONE} marks a free entry. */
    private long[] blocks = new long[FIRST_CAPACITY];

    private int count;

    void add(long block) {
        if (count == blocks.length) {
            BLOCKS.setRelease(this, Arrays.copyOf(blocks, 2 * count));
        }
        WORDS.setRelease(blocks, count++, block);
    }

    boolean isEmpty() {
        return count == 0;
    }

    long last() {
        return blocks[count - 1];
    }

    /** The last block is held elsewhere now, or has ended with its server. */
    void removeLast() {
        WORDS.setRelease(blocks, --count, BlockAllocator.NONE);
    }

    /** @param but blocks that it accepts are left out */
    void forEachBut(LongPredicate but, LongConsumer consumer) {
        for (int i = 0; i < count; i++) {
            if (!but.test(blocks[i])) {
                consumer.accept(blocks[i]);
            }
        }
    }

    /** Adds the blocks that are here. Any thread. */
    void held(HeldBlocks into) {
        long[] present = (long[]) BLOCKS.getAcquire(this);
        for (int i = 0; i < present.length; i++) {
            into.add((long) WORDS.getAcquire(present, i));
        }
    }
}
