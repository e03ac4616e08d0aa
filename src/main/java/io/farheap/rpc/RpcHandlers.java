package io.farheap.rpc;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** A server's operations, by number. Thread-safe. */
public final class RpcHandlers {

    /** How many operations a server may have: their numbers are 0 to {@code MOST} - 1. */
    public static final int MOST = 4096;

    private static final System.Logger LOG = System.getLogger(RpcHandlers.class.getName());

    private final AtomicReferenceArray<RpcHandler> handlers = new AtomicReferenceArray<>(MOST);
    private final AtomicLong failures = new AtomicLong();

    public RpcHandlers() {}

    /**
     * Registers a handler: later calls of the operation go to it.
     *
     * @throws IllegalArgumentException if the number is out of bounds or taken
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
     * Removes a handler: later calls of the operation are refused. A call that is being executed continues; the server
     * that owns this object reports when it has ended.
     */
    public void unregister(int operation) {
        handlers.set(operation, null);
    }

    /**
     * Counts and logs a failed call. Clients provoke these, so the 1st, 2nd, 4th, 8th and so on are logged; a failure
     * to log is ignored.
     */
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
            // There may be no memory left to log it; the call has failed all the same, and no other call may fail for
            // that.
        }
    }

    /**
     * @param operation any number
     * @return null if the operation has no handler
     */
    @Nullable
    RpcHandler find(int operation) {
        return Integer.compareUnsigned(operation, MOST) < 0 ? handlers.getAcquire(operation) : null;
    }
}
