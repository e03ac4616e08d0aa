package io.farheap.remote;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Memory of one server that many processes use at once, as this process has it open. {@linkplain RemoteQueue Queues}
 * use its regions like any other, and each process reads what the others write; processes that need order among them
 * use the atomics. Processes come and go, also by SIGKILL; the space and its content stay until it is dropped, its time
 * has passed, or its server ends.
 *
 * <p>When a space ends, operations in flight on it end as {@link Outcome#UNKNOWN} or with an error, and so do the
 * queue's other operations in flight to that server, since the device fails the connection: {@link PostResult#LOST}
 * until {@link RemoteQueue#reconnect}. Other servers, and other regions of that one, are unharmed. The regions go to
 * other clients, zeroed, once no operation that had begun can reach them. The same happens to a process that loses its
 * lease, but then the space stays.
 *
 * <p>Any thread may call. Calls that the server does not answer are repeated, which never makes a change twice.
 */
public final class RemoteSpace implements AutoCloseable {

    private static final int TRIES = 3;

    private final LeasedServer server;
    private final SpaceKey key;
    private final Consumer<List<RemoteRegion>> withdraw;
    private final long id;
    private final long openingId;
    private final byte[] descriptor;
    private volatile List<RemoteRegion> regions = List.of();
    private boolean closed;

    /** @param withdraw makes regions unusable, or throws if an operation uses one */
    private RemoteSpace(LeasedServer server, SpaceKey key, SpaceGrant grant, Consumer<List<RemoteRegion>> withdraw) {
        this.server = server;
        this.key = key;
        this.withdraw = withdraw;
        this.id = grant.spaceId();
        this.openingId = grant.openingId();
        this.descriptor = grant.descriptor().clone();
        try {
            add(grant.regions());
        } catch (Throwable e) {
            closeQuietly();
            throw e;
        }
    }

    static RemoteSpace create(
            LeasedServer server,
            SpaceKey key,
            int regions,
            long millis,
            byte[] descriptor,
            boolean readOnly,
            Consumer<List<RemoteRegion>> withdraw) {
        long creation = ThreadLocalRandom.current().nextLong();
        SpaceGrant grant = call(
                server, lease -> server.spaces().create(lease, key, regions, millis, descriptor, creation, readOnly));
        return new RemoteSpace(server, key, grant, withdraw);
    }

    static RemoteSpace open(LeasedServer server, SpaceKey key, Consumer<List<RemoteRegion>> withdraw) {
        SpaceGrant grant = call(server, lease -> server.spaces().open(lease, key));
        return new RemoteSpace(server, key, grant, withdraw);
    }

    /** @param id of the space, or {@link SpacePlane#ANY_SPACE} */
    static void drop(LeasedServer server, SpaceKey key, long id) {
        int[] tries = {0};
        call(server, lease -> {
            try {
                tries[0]++;
                server.spaces().drop(lease, key, id);
            } catch (ControlException e) {
                // An earlier try, whose answer was lost, has dropped it.
                if (e.code() != Code.NOT_FOUND || tries[0] == 1) {
                    throw e;
                }
            }
            return true;
        });
    }

    /** Makes a call that may be repeated, and repeats it if it is not answered. */
    private static <T> T call(LeasedServer server, LongFunction<T> call) {
        for (int tried = 1; ; tried++) {
            try {
                return server.callWithLease(call);
            } catch (ControlException e) {
                boolean unheard = e.code() == Code.UNAVAILABLE || e.code() == Code.DEADLINE_EXCEEDED;
                if (!unheard || tried == TRIES || server.lost() != null) {
                    throw e;
                }
            }
        }
    }

    /** The server that has the space. */
    public RemoteServer server() {
        return server;
    }

    public String name() {
        return key.name();
    }

    /** A number that differs among all spaces that this server has had; another server may use the same number. */
    public long id() {
        return id;
    }

    /** A copy of the bytes that its creator attached. */
    public byte[] descriptor() {
        return descriptor.clone();
    }

    /**
     * Its regions, in the order that all processes see: those that it had when it was opened, has grown by here, or had
     * at the last {@linkplain #refresh refresh}. Empty once it is closed.
     */
    public List<RemoteRegion> regions() {
        return regions;
    }

    /**
     * Adds regions, zeroed, at the end. Other processes see them after a {@link #refresh}.
     *
     * @return the new ones: the last of {@link #regions}, unless other processes have grown the space meanwhile
     * @throws ControlException OUT_OF_MEMORY; NOT_FOUND if the space has ended
     * @throws IllegalStateException if it is closed here
     */
    public synchronized List<RemoteRegion> grow(int more) {
        requireOpen();
        long growth = ThreadLocalRandom.current().nextLong();
        SpaceGrowth grown = call(server, lease -> server.spaces().grow(lease, key, more, growth));
        if (grown.first() == regions.size()) {
            add(grown.regions());
        } else {
            refresh();
        }
        int end = grown.first() + more;
        if (regions.size() < end) {
            throw new ControlException(Code.BAD_REPLY, server + " reports added regions, but does not return them");
        }
        return regions.subList(grown.first(), end);
    }

    /**
     * Adds the regions by which other processes have grown the space.
     *
     * @return {@link #regions}
     * @throws ControlException NOT_FOUND if the space has ended
     * @throws IllegalStateException if it is closed here
     */
    public synchronized List<RemoteRegion> refresh() {
        requireOpen();
        SpaceGrant grant = call(server, lease -> server.spaces().open(lease, key));
        if (grant.spaceId() != id
                || grant.openingId() != openingId
                || grant.regions().size() < regions.size()) {
            throw new ControlException(
                    Code.NOT_FOUND, "space " + key + " has ended, and another has its name; close this and open it");
        }
        add(grant.regions().subList(regions.size(), grant.regions().size()));
        return regions;
    }

    /**
     * Extends the space's life to at least so long from now; it never becomes shorter.
     *
     * @param millis 1 to {@link SpacePlane#MAX_MILLIS}; or {@link SpacePlane#FOR_EVER}
     * @return how long it lives now, in ms, or {@link SpacePlane#FOR_EVER}
     * @throws ControlException NOT_FOUND if the space has ended; INVALID_ARGUMENT
     */
    public long extend(long millis) {
        return call(server, lease -> server.spaces().extend(lease, key, millis));
    }

    /** Ends the space for all processes, and closes it. Succeeds also if the space has ended already. */
    public synchronized void drop() {
        try {
            drop(server, key, id);
        } catch (ControlException e) {
            if (e.code() != Code.NOT_FOUND) {
                throw e;
            }
        }
        forget();
    }

    /** Adds regions, and reads each once, so that a first operation on it costs no more than a later one. */
    private void add(List<RegionGrant> grants) {
        List<RemoteRegion> all = new ArrayList<>(regions);
        for (RegionGrant grant : grants) {
            RemoteRegion region = RemoteRegion.ofSpace(server, server.index(), grant);
            server.warm(region);
            all.add(region);
        }
        regions = List.copyOf(all);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("space " + key + " is closed here; open it again");
        }
    }

    private void forget() {
        closed = true;
        regions.forEach(region -> region.usable(false));
        regions = List.of();
    }

    /**
     * Ends this process's use of the space, which stays. If the server does not answer, the use ends with the lease.
     * Idempotent.
     *
     * @throws IllegalStateException if an operation that uses it has not ended; the space then stays open
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        withdraw.accept(regions);
        forget();
        closeQuietly();
    }

    private void closeQuietly() {
        try {
            call(server, lease -> {
                server.spaces().close(lease, openingId);
                return true;
            });
        } catch (ControlException e) {
            // The server's record of this opening ends with the lease.
        }
    }

    @Override
    public String toString() {
        return "space " + key + " of " + server;
    }
}
