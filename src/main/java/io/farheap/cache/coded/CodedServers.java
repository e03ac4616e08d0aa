package io.farheap.cache.coded;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.move.CacheServers;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.session.DataPath;
import io.farheap.control.ControlException;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.CodedSession;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory servers of a coded cache, the space that is coded over them, and the sessions' paths to it. Any thread.
 */
public final class CodedServers implements AutoCloseable {

    private final RemoteMemory memory;
    private final CodedSpace space;

    /**
     * Attaches to the servers, and allocates the space on them.
     *
     * @param memory of the cache, which closes it after this
     * @param addresses HOST:PORT of each
     * @param capacity bytes
     * @param listener of the space's health, or null
     * @throws CacheException if a server cannot be used, or refuses
     */
    public CodedServers(
            RemoteMemory memory,
            List<String> addresses,
            Resilience resilience,
            long capacity,
            @Nullable Consumer<Health> listener) {
        this.memory = memory;
        addresses.forEach(address -> attach(memory, address));
        space = calling(() -> CodedSpace.create(memory, resilience, capacity, RemoteServer::domain, listener));
    }

    private static RemoteServer attach(RemoteMemory memory, String address) {
        RemoteServer server;
        try {
            server = memory.attach(address);
        } catch (ControlException e) {
            throw new CacheException("cannot use memory server " + address + ": " + e.getMessage(), e);
        }
        try {
            CacheServers.refuseTwice(memory.servers(), server);
            return server;
        } catch (CacheException e) {
            memory.detach(server);
            throw e;
        }
    }

    private static <T> T calling(Supplier<T> servers) {
        try {
            return servers.get();
        } catch (ControlException e) {
            throw new CacheException("a memory server refuses: " + e.getMessage(), e);
        }
    }

    public CodedSpace space() {
        return space;
    }

    public List<String> addresses() {
        return memory.servers().stream().map(RemoteServer::address).toList();
    }

    /**
     * Uses another server, to which all sessions are connected.
     *
     * @throws ControlException if not all of these are yet; they will try again
     * @throws CacheException if it cannot be used; all stays as it is
     */
    public void add(String address) {
        RemoteServer server = attach(memory, address);
        if (server.description().regionBytes() < space.slabBytes()) {
            // No slab has been placed there: it is too small.
            memory.detach(server);
            throw new CacheException("memory server " + address + " has regions of "
                    + ByteSize.text(server.description().regionBytes())
                    + ", smaller than the cache's slabs of " + ByteSize.text(space.slabBytes()));
        }
        // A session that cannot be connected now connects later, if it needs a slab there.
        memory.connectQueues(server);
    }

    /** Detaches from lost servers at an address, where another server has been added. */
    public void forgetLost(String address) {
        memory.servers().stream()
                .filter(server ->
                        server.address().equals(address) && server.lost() != null && space.slabsAt(server) == 0)
                .forEach(memory::detach);
    }

    /**
     * Moves all slabs off a server, and detaches from it.
     *
     * @param moved called after each slab
     * @throws IllegalStateException if a slab has no other place
     */
    public void retire(String address, Runnable moved) {
        RemoteServer server = CacheServers.get(memory.servers(), address);
        space.retire(server, moved);
        memory.detach(server);
    }

    /** Makes a session's connections to all servers; takes as long as these take to answer. */
    public RemoteQueue connect() {
        return calling(space::connect);
    }

    /**
     * Makes a session's path.
     *
     * @param connected the session's connections, which the path owns from now on
     * @param requests how many requests of the session may be between issue and callback
     */
    public DataPath path(RemoteQueue connected, @Nullable OperationLatency recorder, int requests) {
        try (CloseStack stack = new CloseStack()) {
            CodedSession coded = stack.add(space.openSession(requests, connected));
            CodedPath path = new CodedPath(coded, recorder, requests);
            DataPath made = new DataPath(path, MigrationLinks.NONE, null, path::close, ignored -> {});
            stack.keep();
            return made;
        }
    }

    /** Ends the space. The sessions have ended, and the memory is still open. */
    @Override
    public void close() {
        space.close();
    }
}
