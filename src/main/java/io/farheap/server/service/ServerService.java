package io.farheap.server.service;

import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A service that each memory server offers in addition to memory. Found by {@link java.util.ServiceLoader}; each server
 * of the process has an instance of its own.
 */
public interface ServerService {

    /**
     * A server begins; no client calls it yet.
     *
     * @param options the server's options
     * @param handlers where the service registers operations, with numbers that no other service uses
     * @param spaces the server's shared spaces
     */
    void install(ServerOptions options, RpcHandlers handlers, ServedSpaces spaces);

    /**
     * Gives the service a way to start all threads of the server, including those that have no rings yet: they sleep
     * until they are woken, and do the service's {@linkplain #work work}. It must not be run on a server thread; it may
     * be run repeatedly, and does nothing on a closed server.
     */
    default void threads(Runnable startAll) {}

    /**
     * One of the server's threads begins; called on that thread.
     *
     * @param wake makes that thread look for work if it sleeps; any thread may call it
     * @return the service's work on this thread besides its message rings, or null
     */
    default @Nullable ServerWork work(Runnable wake) {
        return null;
    }

    /** The server is closed, and its threads have ended or will end. */
    default void closed() {}

    /** The service's counts since the server began, by name; any thread, also while calls are executed. */
    default Map<String, Long> counters() {
        return Map.of();
    }

    /** How long the server's threads have worked for calls of a lease that this service executes, in ns; any thread. */
    default long callNanos(long leaseId) {
        return 0;
    }

    /**
     * A lease has ended: none of its calls is executed now or later. Called on threads that end leases: it must be
     * short.
     */
    default void leaseEnded(long leaseId) {}
}
