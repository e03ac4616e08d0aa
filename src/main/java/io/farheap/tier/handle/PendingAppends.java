package io.farheap.tier.handle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Where a handle's appends are that have not ended. Its thread adds and removes; any thread looks.
 *
 * <p>Who appends adds first and then looks at the device's beginning; who writes a part over raises the beginning first
 * and then looks here. Both are sequentially consistent, so one of the two sees the other.
 */
public final class PendingAppends {

    private static final VarHandle ADDRESS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] addresses;
    /** Where they end, and which number they have; of whom that is of no interest, 0. */
    private final long[] ends;

    private final long[] numbers;

    public PendingAppends(int slots) {
        addresses = new long[slots];
        ends = new long[slots];
        numbers = new long[slots];
        Arrays.fill(addresses, Long.MAX_VALUE);
    }

    public void add(int slot, long address) {
        ADDRESS.setVolatile(addresses, slot, address);
    }

    public void add(int slot, long address, long end, long number) {
        ADDRESS.setOpaque(ends, slot, end);
        ADDRESS.setOpaque(numbers, slot, number);
        ADDRESS.setVolatile(addresses, slot, address);
    }

    public void remove(int slot) {
        ADDRESS.setRelease(addresses, slot, Long.MAX_VALUE);
    }

    /** The lowest address of one; {@link Long#MAX_VALUE} where there is none. */
    long lowest() {
        long lowest = Long.MAX_VALUE;
        for (int slot = 0; slot < addresses.length; slot++) {
            lowest = Math.min(lowest, (long) ADDRESS.getVolatile(addresses, slot));
        }
        return lowest;
    }

    /** Whether one with a number below a given one is in a range; some that have ended meanwhile may count. */
    boolean overlaps(long from, long to, long below) {
        for (int slot = 0; slot < addresses.length; slot++) {
            long address = (long) ADDRESS.getVolatile(addresses, slot);
            if (address < to
                    && (long) ADDRESS.getOpaque(ends, slot) > from
                    && (long) ADDRESS.getOpaque(numbers, slot) < below) {
                return true;
            }
        }
        return false;
    }
}
