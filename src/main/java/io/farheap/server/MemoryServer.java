package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.ManagerKey;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.lifetime.Closeables;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.verbs.VerbsException;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Donates memory as regions of one size. Its memory is populated and registered when it is opened, and granted to
 * clients once it is {@linkplain #serve served}.
 *
 * <p>Thread-safe.
 */
public final class MemoryServer implements AutoCloseable {

    /**
     * Counters of softverbs if it simulates a device model: operations other than READs that it timed in this process,
     * and those that were late.
     */
    public static final String MODEL_OPERATIONS = ServerPlane.MODEL_OPERATIONS;

    /** Name of the counter of operations that were late; see {@link #MODEL_OPERATIONS}. */
    public static final String MODEL_LATE = ServerPlane.MODEL_LATE;

    private final ServerPlane plane;
    private @Nullable ControlServer control;
    private boolean closed;

    private MemoryServer(ServerPlane plane) {
        this.plane = plane;
    }

    /**
     * Opens the device, allocates the memory and registers it. Clients cannot reach the server yet.
     *
     * @throws IllegalArgumentException if the machine has less memory available
     * @throws VerbsException if there is no such device, it has no active port, or it cannot register that much
     */
    public static MemoryServer open(ServerOptions options) {
        return new MemoryServer(ServerPlane.open(options));
    }

    /**
     * {@linkplain #open Opens} a server and {@linkplain #serve serves} it.
     *
     * @param listen HOST:PORT; port 0 takes a free one
     * @throws ControlException as {@link #serve}; other errors are those of {@link #open}. The server is closed then
     */
    public static MemoryServer start(ServerOptions options, String listen) {
        MemoryServer server = open(options);
        try {
            server.serve(listen);
            return server;
        } catch (Throwable e) {
            Closeables.after(e, server);
            throw e;
        }
    }

    /**
     * Lets clients reach the server. May be called once.
     *
     * @param listen HOST:PORT; port 0 takes a free one
     * @return HOST:PORT, with the port that was bound
     * @throws ControlException INVALID_ARGUMENT if that is not an address, UNAVAILABLE if it cannot be bound
     * @throws IllegalStateException if the server is served already, or closed
     */
    public synchronized String serve(String listen) {
        if (closed || control != null) {
            throw new IllegalStateException("the server is " + (closed ? "closed" : "served already"));
        }
        control = ControlServer.start(listen, plane);
        return control.address();
    }

    /**
     * The address at which clients reach the server: HOST:PORT.
     *
     * @throws IllegalStateException if it is not served
     */
    public synchronized String address() {
        if (control == null) {
            throw new IllegalStateException("the server is not served yet");
        }
        return control.address();
    }

    /**
     * Lets clients call an operation from now on. Its handler runs on the threads that serve message rings, at most
     * {@link ServerOptions#threads} at a time.
     *
     * @param operation 0 to {@link RpcHandlers#MOST} - 1
     * @throws IllegalArgumentException if the number is out of bounds or taken
     */
    public void register(int operation, RpcHandler handler) {
        plane.register(operation, handler);
    }

    /**
     * Refuses calls of an operation from now on; when this returns, none is being executed. A handler must not call it,
     * since it would wait for itself.
     */
    public void unregister(int operation) {
        plane.unregister(operation);
    }

    /**
     * From now on a lease needs the grant of a cache manager. To be called before clients are served.
     *
     * @return receives each manager that introduces itself
     */
    public Consumer<ManagerKey> requireGrants() {
        return plane.requireGrants();
    }

    /** The memory that leases share, for services in this process, such as the handlers of calls. */
    public ServedSpaces servedSpaces() {
        return plane.servedSpaces();
    }

    /**
     * The counts of the server's services since it began, by name, such as {@code procedures.calls.done}, and those of
     * softverbs' model in this process. Any thread; the numbers are of about one moment.
     */
    public Map<String, Long> counters() {
        return plane.counters();
    }

    /**
     * The device in use, such as {@code soft0}, for people; on Ethernet with the port and the address that it prefers
     * now.
     */
    public String device() {
        return plane.device();
    }

    /** The server's identity and memory. */
    public ServerDescription description() {
        return plane.hello(ControlPlane.PROTOCOL_VERSION);
    }

    /** The server's identity and memory, and the leases that hold it. */
    public ServerStatus describe() {
        return plane.describe();
    }

    /**
     * To be called when the server is about to end. Clients that give regions back then do not wait until these are
     * zeroed; regions are still zeroed before another client gets them.
     */
    public void leave() {
        plane.leave();
    }

    /** How many regions the caches of managers hold, by the cache's id; 0 for a cache that has only a lease. */
    public Map<Long, Integer> regionsByCache() {
        return plane.regionsByCache();
    }

    /**
     * Ends caches of managers: their leases are fenced, their regions are zeroed and become free, and no grant opens
     * another lease. Returns before all that is done; idempotent. Does nothing unless the server
     * {@linkplain #requireGrants requires grants}.
     *
     * @param caches their ids
     */
    public void endCaches(Set<Long> caches) {
        plane.endCaches(caches);
    }

    /**
     * Of the caches that were ended recently: those that hold nothing on this server any more, if no region still has
     * to be zeroed.
     */
    public Set<Long> endedCaches() {
        return plane.endedCaches();
    }

    /**
     * Returns for a report to a manager how many regions the machine wants back beside those that it has
     * ({@link #withdrawnRegions}), since less than the headroom is free or its tasks wait for memory; free regions
     * count. 0 without headroom. To be called once for each report and by nothing else: once it has returned 0, the
     * manager may promise caches regions here, so what it has said before does not count any more.
     */
    public int reportWanted() {
        return plane.reportWanted();
    }

    /** How many regions the machine has for now: they are neither held nor free. */
    public int withdrawnRegions() {
        return plane.withdrawnRegions();
    }

    /**
     * A manager has answered a report that wants regions back. What it has promised is not given to the machine, and
     * until it has answered, nothing is, for ten seconds. Does not wait.
     *
     * @param regions how many of this server's regions caches were promised and have not taken; less than 0 if the
     *     manager has not said so
     */
    public void promised(int regions) {
        plane.promised(regions);
    }

    /** For tests that wrap it. */
    ControlPlane plane() {
        return plane;
    }

    /**
     * Stops serving, ends all leases and gives the memory back to the machine. Takes bounded time: if a client is
     * stopped in the middle of an operation, the memory stays until this process ends. Idempotent.
     */
    @Override
    public void close() {
        ControlServer served;
        synchronized (this) {
            closed = true;
            served = control;
        }
        if (served == null) {
            plane.close();
        } else {
            Closeables.all(served, plane);
        }
    }
}
