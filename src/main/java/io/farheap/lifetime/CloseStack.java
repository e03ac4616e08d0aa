package io.farheap.lifetime;

import java.util.ArrayDeque;
import java.util.Deque;

/** Closes what was opened, latest first and each whatever the others throw, unless it is told to keep everything. */
public final class CloseStack implements AutoCloseable {

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** @return the resource, which is closed with this */
    public <T extends AutoCloseable> T add(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Everything stays open: it has an owner now. */
    public void keep() {
        opened.clear();
    }

    /** Throws as {@link Closeables#all(AutoCloseable...)} does; what ends a try statement stays the one to tell. */
    @Override
    public void close() {
        try {
            Closeables.all(opened);
        } finally {
            opened.clear();
        }
    }
}
