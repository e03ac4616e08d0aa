package io.farheap.server.service;

import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import java.util.Map;
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
     * How a service has the server start all of its threads, also those that have no rings yet: they sleep until they
     * are woken, and do its {@linkplain #work work}. Not on a server's thread; it may be called again, and does nothing
     * on a server that is closed.
     */
    default void threads(Runnable startAll) {}

    /**
     * One of the server's threads begins; called on that thread.
     *
     * @param wake makes that thread look for work, if it sleeps; any thread may call it
     * @return what it is to do beside its message rings, or null
     */
    default @Nullable ServerWork work(Runnable wake) {
        return null;
    }

    /** The server is closed, and its threads have ended or will. */
    default void closed() {}

    /** What it has counted since the server began, by name; any thread, also while calls are executed. */
    default Map<String, Long> counters() {
        return Map.of();
    }

    /** How long the server's threads have worked for calls of a lease that this service executes, in ns; any thread. */
    default long callNanos(long leaseId) {
        return 0;
    }

    /**
     * A lease has ended: none of its calls is executed any more, nor will be. Told on threads that end leases: it must
     * be short.
     */
    default void leaseEnded(long leaseId) {}
}
