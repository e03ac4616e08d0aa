package io.farheap.cache;

import java.util.ArrayDeque;
import java.util.Deque;

/** Closes what was opened, latest first, whatever goes wrong on the way, unless it is told to keep everything. */
final class Undo implements AutoCloseable {

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Everything stays open: it has an owner now. */
    void keep() {
        opened.clear();
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                // What is left is closed all the same; the failure that brought us here, if any, is the one to tell.
            }
        }
    }
}
