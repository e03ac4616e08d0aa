package io.farheap.tier.handle;

import java.util.concurrent.atomic.AtomicLong;

/** An address that many threads raise and none lowers, such as a device's beginning and its end. */
public final class HighWaterMark {

    private final AtomicLong value;

    public HighWaterMark(long value) {
        this.value = new AtomicLong(value);
    }

    public long get() {
        return value.get();
    }

    /** @return whether this call raised it; when it returns, all threads see the new value */
    public boolean raise(long to) {
        for (long now = value.get(); now < to; now = value.get()) {
            if (value.compareAndSet(now, to)) {
                return true;
            }
        }
        return false;
    }
}
