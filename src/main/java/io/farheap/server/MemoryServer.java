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
     * Counters of softverbs where it has a model: operations that it timed in this process, and those that were late.
     */
    public static final String MODEL_OPERATIONS = ServerPlane.MODEL_OPERATIONS;

    public static final String MODEL_LATE = ServerPlane.MODEL_LATE;

    private final ServerPlane plane;
    private @Nullable ControlServer control;
    private boolean closed;

    private MemoryServer(ServerPlane plane) {
        this.plane = plane;
    }

    /**
     * Opens the device and takes the memory. Clients cannot reach it yet.
     *
     * @throws IllegalArgumentException where the machine has not that much memory available
     * @throws VerbsException where there is no such device, it has no active port, or it cannot register that much
     */
    public static MemoryServer open(ServerOptions options) {
        return new MemoryServer(ServerPlane.open(options));
    }

    /**
     * {@linkplain #open Opens} a server and {@linkplain #serve serves} it.
     *
     * @param listen HOST:PORT; port 0 takes a free one
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
     * Lets clients reach it. Once.
     *
     * @param listen HOST:PORT; port 0 takes a free one
     * @return HOST:PORT, with the port that was bound
     * @throws ControlException INVALID_ARGUMENT where that is no address, UNAVAILABLE where it cannot be bound
     */
    public synchronized String serve(String listen) {
        if (closed || control != null) {
            throw new IllegalStateException("the server is " + (closed ? "closed" : "served already"));
        }
        control = ControlServer.start(listen, plane);
        return control.address();
    }

    /**
     * Where clients reach it: HOST:PORT.
     *
     * @throws IllegalStateException where it is not served
     */
    public synchronized String address() {
        if (control == null) {
            throw new IllegalStateException("the server is not served yet");
        }
        return control.address();
    }

    /**
     * Lets clients call an operation, from now on. Its handler runs on the threads that serve message rings, of which
     * there are {@link ServerOptions#threads} at most.
     *
     * @param operation 0 to {@link RpcHandlers#MOST} - 1
     * @throws IllegalArgumentException where the number is out of bounds or taken
     */
    public void register(int operation, RpcHandler handler) {
        plane.register(operation, handler);
    }

    /**
     * Calls of an operation are refused from now on; when this returns, none is being executed. Not from a handler: it
     * would wait for itself.
     */
    public void unregister(int operation) {
        plane.unregister(operation);
    }

    /**
     * From now on leases are opened with the grant of a cache manager alone. Before clients are served.
     *
     * @return told of each manager that introduces itself
     */
    public Consumer<ManagerKey> requireGrants() {
        return plane.requireGrants();
    }

    /** The memory that leases share, for services in this process, such as the handlers of calls. */
    public ServedSpaces servedSpaces() {
        return plane.servedSpaces();
    }

    /**
     * What the server's services have counted since it began, by name, such as {@code procedures.calls.done}, and what
     * softverbs' model has timed in this process. Any thread; the numbers are of about one moment.
     */
    public Map<String, Long> counters() {
        return plane.counters();
    }

    /** Of the device in use, such as {@code mlx5_0} or {@code soft0}. */
    public String deviceName() {
        return plane.deviceName();
    }

    /** What it has. */
    public ServerDescription description() {
        return plane.hello(ControlPlane.PROTOCOL_VERSION);
    }

    /** What it has, and who has it. */
    public ServerStatus describe() {
        return plane.describe();
    }

    /**
     * The server is about to end: clients that give regions back do not wait until these are zero, which they are
     * before anybody gets them all the same.
     */
    public void leave() {
        plane.leave();
    }

    /** How many regions the caches of managers hold, each by its id; 0 for one that has a lease alone. */
    public Map<Long, Integer> regionsByCache() {
        return plane.regionsByCache();
    }

    /**
     * Ends caches of managers: their leases are fenced, what they had is zeroed and free, and no grant opens another.
     * Returns before all that is done; idempotent.
     */
    public void endCaches(Set<Long> caches) {
        plane.endCaches(caches);
    }

    /**
     * Of the caches that were ended a while ago at most, those that have nothing here any more, if no region is still
     * to be zeroed.
     */
    public Set<Long> endedCaches() {
        return plane.endedCaches();
    }

    /** For tests that put something before it. */
    ControlPlane plane() {
        return plane;
    }

    /**
     * Takes no calls any more, ends all leases and gives the memory back to the machine. Bounded: where a client is
     * stopped in the middle of an operation, the memory stays as long as this process. Idempotent.
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
