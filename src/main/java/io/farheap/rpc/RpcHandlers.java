package io.farheap.rpc;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** A server's operations by number. Thread-safe. */
public final class RpcHandlers {

    /** Operations have numbers from 0 to one less. */
    public static final int MOST = 4096;

    private static final System.Logger LOG = System.getLogger(RpcHandlers.class.getName());

    private final AtomicReferenceArray<RpcHandler> handlers = new AtomicReferenceArray<>(MOST);
    private final AtomicLong failures = new AtomicLong();

    public RpcHandlers() {}

    /**
     * From now on calls of an operation go to a handler.
     *
     * @throws IllegalArgumentException where the number is out of bounds or taken
     */
    public void register(int operation, RpcHandler handler) {
        if (operation < 0 || operation >= MOST) {
            throw new IllegalArgumentException(
                    "operation " + operation + "; operations have numbers from 0 to " + (MOST - 1));
        }
        if (!handlers.compareAndSet(operation, null, handler)) {
            throw new IllegalArgumentException(
                    "operation " + operation + " has a handler already; take another number");
        }
    }

    /**
     * From now on calls of an operation are refused. One that is being executed goes on; the server that this belongs
     * to says when it has ended.
     */
    public void unregister(int operation) {
        handlers.set(operation, null);
    }

    /** Clients provoke these, so not all of many are logged; nor may logging one fail. */
    void failed(int operation, String client, Throwable cause) {
        long count = failures.incrementAndGet();
        if (Long.bitCount(count) != 1) {
            return;
        }
        try {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "operation " + operation + " failed for client " + client + " (calls that failed so far: " + count
                            + ")",
                    cause);
        } catch (Throwable e) {
            // There may be no memory left; the call has failed all the same, and no other.
        }
    }

    /**
     * @param operation any number.
     * @return null where there is none
     */
    @Nullable
    RpcHandler find(int operation) {
        return Integer.compareUnsigned(operation, MOST) < 0 ? handlers.getAcquire(operation) : null;
    }
}
