package io.farheap.tier.handle;

import java.util.concurrent.atomic.AtomicLong;

/** An address that many threads raise, such as a device's beginning and its end. */
public final class HighWaterMark {

    private final AtomicLong value;

    public HighWaterMark(long value) {
        this.value = new AtomicLong(value);
    }

    public long get() {
        return value.get();
    }

    /** @return whether it was lower; when it returns, everybody sees it */
    public boolean raise(long to) {
        for (long now = value.get(); now < to; now = value.get()) {
            if (value.compareAndSet(now, to)) {
                return true;
            }
        }
        return false;
    }
}
