package io.farheap.rpc;

import java.util.concurrent.atomic.AtomicReferenceArray;

/** A server's operations by number. Thread-safe. */
public final class RpcHandlers {

    /** Operations have numbers from 0 to one less. */
    public static final int MOST = 4096;

    private final AtomicReferenceArray<RpcHandler> handlers = new AtomicReferenceArray<>(MOST);

    /**
     * From now on calls of an operation go to a handler.
     *
     * @throws IllegalArgumentException where the number is out of bounds or taken
     */
    public void register(int operation, RpcHandler handler) {
        if (operation < 0 || operation >= MOST) {
            throw new IllegalArgumentException("operation " + operation + "; operations have numbers from 0 to " + (MOST - 1));
        }
        if (!handlers.compareAndSet(operation, null, handler)) {
            throw new IllegalArgumentException("operation " + operation + " has a handler already; take another number");
        }
    }

    /**
     * From now on calls of an operation are refused. One that is being executed goes on; the server that this belongs to says when it has
     * ended.
     */
    public void unregister(int operation) {
        handlers.set(operation, null);
    }

    /** @param operation any number. @return null where there is none */
    RpcHandler find(int operation) {
        return Integer.compareUnsigned(operation, MOST) < 0 ? handlers.getAcquire(operation) : null;
    }
}
