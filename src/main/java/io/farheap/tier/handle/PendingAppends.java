package io.farheap.tier.handle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The addresses of a handle's appends that have not ended. The handle's thread adds and removes; any thread reads.
 *
 * <p>A thread that appends first adds its address here and then loads the device's beginning. A thread that overwrites
 * a part of the log first raises the beginning and then reads the addresses here. Both are sequentially consistent, so
 * at least one of the two sees the other.
 */
public final class PendingAppends {

    private static final VarHandle ADDRESS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] addresses;
    /** The ends and numbers of appends; 0 for a device that does not need them. */
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

    /** The lowest address of an append; {@link Long#MAX_VALUE} if there is none. */
    long lowest() {
        long lowest = Long.MAX_VALUE;
        for (int slot = 0; slot < addresses.length; slot++) {
            lowest = Math.min(lowest, (long) ADDRESS.getVolatile(addresses, slot));
        }
        return lowest;
    }

    /** The lowest address of an append whose number is at least {@code from}; as {@link #lowest()} otherwise. */
    long lowest(long from) {
        long lowest = Long.MAX_VALUE;
        for (int slot = 0; slot < addresses.length; slot++) {
            long address = (long) ADDRESS.getVolatile(addresses, slot);
            if (address < lowest && (long) ADDRESS.getOpaque(numbers, slot) >= from) {
                lowest = address;
            }
        }
        return lowest;
    }

    /**
     * Whether an append with a number below {@code below} overlaps a range. It may count some that have ended
     * meanwhile.
     */
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
