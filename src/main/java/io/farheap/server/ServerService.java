package io.farheap.server;

import io.farheap.rpc.RpcHandlers;

/**
 * What each memory server offers beside memory. Found by {@link java.util.ServiceLoader}; one instance for each server
 * of the process.
 */
public interface ServerService {

    /**
     * A server begins; nobody calls it yet.
     *
     * @param handlers where it registers operations, with numbers that no other service has
     * @param spaces the server's
     */
    void install(RpcHandlers handlers, ServedSpaces spaces);
}
