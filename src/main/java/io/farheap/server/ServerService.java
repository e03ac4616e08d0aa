package io.farheap.server;

import io.farheap.rpc.RpcHandlers;
import org.jspecify.annotations.Nullable;

/**
 * What each memory server offers beside memory. Found by {@link java.util.ServiceLoader}; one instance for each server
 * of the process.
 */
public interface ServerService {

    /**
     * A server begins; nobody calls it yet.
     *
     * @param options the server's
     * @param handlers where it registers operations, with numbers that no other service has
     * @param spaces the server's
     */
    void install(ServerOptions options, RpcHandlers handlers, ServedSpaces spaces);

    /**
     * One of the server's threads begins; called on that thread.
     *
     * @param wake makes that thread look for work, if it sleeps; any thread may call it
     * @return what it is to do beside its message rings, or null
     */
    default @Nullable ServerWork work(Runnable wake) {
        return null;
    }

    /**
     * A lease has ended: none of its calls is executed any more, nor will be. Told on threads that end leases: it must
     * be short.
     */
    default void leaseEnded(long leaseId) {}
}
