package io.farheap.verbs;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts what was made from an object, so that closing it too early is refused instead of reaching the device. */
final class ChildCount {

    private static final int CLOSED = Integer.MIN_VALUE;

    private final String parent;
    private final AtomicInteger open = new AtomicInteger();

    ChildCount(String parent) {
        this.parent = parent;
    }

    void add() {
        if (open.getAndUpdate(n -> n < 0 ? n : n + 1) < 0) {
            throw new IllegalStateException(parent + " is closed");
        }
    }

    void remove() {
        open.decrementAndGet();
    }

    /** @return false if it was closed before */
    boolean close() {
        int before = open.getAndUpdate(n -> n == 0 ? CLOSED : n);
        if (before > 0) {
            throw new IllegalStateException(
                    parent + " is still used by " + before + " object(s) made from it; close them first");
        }
        return before == 0;
    }

    void checkOpen() {
        if (open.get() < 0) {
            throw new IllegalStateException(parent + " is closed");
        }
    }
}
