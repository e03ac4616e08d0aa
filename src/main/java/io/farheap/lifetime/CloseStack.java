package io.farheap.lifetime;

import java.util.ArrayDeque;
import java.util.Deque;

/** Closes what was opened, the latest first, and each even if another close throws, unless {@link #keep} was called. */
public final class CloseStack implements AutoCloseable {

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** @return the resource, which will be closed with this stack */
    public <T extends AutoCloseable> T add(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Keeps all resources open, since they have an owner now. */
    public void keep() {
        opened.clear();
    }

    /**
     * Throws as {@link Closeables#all(AutoCloseable...)} does; an exception that ends the try block stays the primary
     * one.
     */
    @Override
    public void close() {
        try {
            Closeables.all(opened);
        } finally {
            opened.clear();
        }
    }
}
