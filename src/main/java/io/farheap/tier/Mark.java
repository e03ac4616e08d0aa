package io.farheap.tier;

import java.util.concurrent.atomic.AtomicLong;

/** An address that many threads raise, such as a device's beginning and its end. */
final class Mark {

    private final AtomicLong value;

    Mark(long value) {
        this.value = new AtomicLong(value);
    }

    long get() {
        return value.get();
    }

    /** @return whether it was lower; when it returns, everybody sees it */
    boolean raise(long to) {
        for (long now = value.get(); now < to; now = value.get()) {
            if (value.compareAndSet(now, to)) {
                return true;
            }
        }
        return false;
    }
}
