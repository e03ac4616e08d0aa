package io.farheap.tier;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where a handle's appends are that have not ended. Its thread adds and removes; any thread looks.
 *
 * <p>Who appends adds first and then looks at the device's beginning; who writes a part over raises the beginning first
 * and then looks here. Both are sequentially consistent, so one of the two sees the other.
 */
final class PendingAppends {

    private static final VarHandle ADDRESS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] addresses;

    PendingAppends(int slots) {
        addresses = new long[slots];
        java.util.Arrays.fill(addresses, Long.MAX_VALUE);
    }

    void add(int slot, long address) {
        ADDRESS.setVolatile(addresses, slot, address);
    }

    void remove(int slot) {
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
}
