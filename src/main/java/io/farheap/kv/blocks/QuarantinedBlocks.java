package io.farheap.kv.blocks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * A session's free blocks on servers that are to leave the map. Nobody needs them there: they end with the server's
 * space, or go back to it where it stays after all. One thread, but for {@link #held}.
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

    /** Other threads look at all of it; {@link BlockAllocator#NONE} is none. */
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

    /** It is somewhere else now, or nobody's. */
    void removeLast() {
        WORDS.setRelease(blocks, --count, BlockAllocator.NONE);
    }

    /** @param but not those that it accepts */
    void forEachBut(LongPredicate but, LongConsumer consumer) {
        for (int i = 0; i < count; i++) {
            if (!but.test(blocks[i])) {
                consumer.accept(blocks[i]);
            }
        }
    }

    /** Any thread: adds what there is. */
    void held(HeldBlocks into) {
        long[] present = (long[]) BLOCKS.getAcquire(this);
        for (int i = 0; i < present.length; i++) {
            into.add((long) WORDS.getAcquire(present, i));
        }
    }
}
