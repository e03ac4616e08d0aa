package io.farheap.kv;

import java.util.concurrent.TimeUnit;

/**
 * The time since a map was created, by this machine's clock when the map was opened, and going on evenly. Objects live
 * as long as the clocks of machines agree.
 */
final class WallClock implements MapClock {

    private final long zeroNanos;

    /** @param createdMillis when the map was created, in ms since 1970 */
    WallClock(long createdMillis) {
        long since = Math.max(0, System.currentTimeMillis() - createdMillis);
        zeroNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(since);
    }

    /** In nanoseconds. */
    @Override
    public long ticks() {
        return System.nanoTime() - zeroNanos;
    }

    @Override
    public long millis() {
        return TimeUnit.NANOSECONDS.toMillis(ticks());
    }
}
