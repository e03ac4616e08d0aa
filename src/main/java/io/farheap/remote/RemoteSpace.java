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
 * Memory of one server that many processes use at once, as this process has it open. Its regions are used by
 * {@linkplain RemoteQueue queues} like any other, and what one process writes the others read; who needs order among
 * them takes the atomics. Processes come and go, also by SIGKILL, and the space with all that is in it stays, until it
 * is dropped, its time is over, or its server ends.
 *
 * <p>When a space ends, operations on it that are under way end as {@link Outcome#UNKNOWN} or with an error, and so
 * does what else is under way to that server in the same queue, as the device ends the connection:
 * {@link PostResult#LOST} until {@link RemoteQueue#reconnect}. Other servers, and other regions of that one, are
 * unharmed. The regions go to others, zeroed, once no operation that had begun can reach them. The same happens to a
 * process that loses its lease, and the space stays.
 *
 * <p>Any thread. Calls that the server does not answer are repeated, which changes nothing twice.
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

    /** @param withdraw makes regions unusable, or throws where an operation uses one */
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
            Consumer<List<RemoteRegion>> withdraw) {
        long creation = ThreadLocalRandom.current().nextLong();
        SpaceGrant grant =
                call(server, lease -> server.spaces().create(lease, key, regions, millis, descriptor, creation));
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
                // The try of which nothing was heard has dropped it.
                if (e.code() != Code.NOT_FOUND || tries[0] == 1) {
                    throw e;
                }
            }
            return true;
        });
    }

    /** A call that may be repeated, which it is where nothing was heard of it. */
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

    /** Where it is. */
    public RemoteServer server() {
        return server;
    }

    public String name() {
        return key.name();
    }

    /** Tells it from all spaces that its server has had; another server may have the same. */
    public long id() {
        return id;
    }

    /** What its creator said of it; a copy. */
    public byte[] descriptor() {
        return descriptor.clone();
    }

    /**
     * Its regions, in the order that all processes see: as many as there were when it was opened, has grown here, or
     * was {@linkplain #refresh refreshed} last. None once it is closed.
     */
    public List<RemoteRegion> regions() {
        return regions;
    }

    /**
     * Adds regions, zeroed, at the end. Other processes have them after a {@link #refresh}.
     *
     * @return the new ones: the last of {@link #regions}, unless others have grown it meanwhile
     * @throws ControlException OUT_OF_MEMORY; NOT_FOUND where the space has ended
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
            throw new ControlException(Code.BAD_REPLY, server + " says that it has added regions, and has them not");
        }
        return regions.subList(grown.first(), end);
    }

    /**
     * Finds out what others have grown it by.
     *
     * @return {@link #regions}
     * @throws ControlException NOT_FOUND where the space has ended
     */
    public synchronized List<RemoteRegion> refresh() {
        requireOpen();
        SpaceGrant grant = call(server, lease -> server.spaces().open(lease, key));
        if (grant.spaceId() != id
                || grant.openingId() != openingId
                || grant.regions().size() < regions.size()) {
            throw new ControlException(
                    Code.NOT_FOUND, "space " + key + " has ended, and another has its name; close this and open that");
        }
        add(grant.regions().subList(regions.size(), grant.regions().size()));
        return regions;
    }

    /**
     * Lets it live at least so much longer from now on; never shorter than before.
     *
     * @param millis 1 to {@link SpacePlane#MAX_MILLIS}; or {@link SpacePlane#FOR_EVER}
     * @return how long it lives now, in ms, or {@link SpacePlane#FOR_EVER}
     */
    public long extend(long millis) {
        return call(server, lease -> server.spaces().extend(lease, key, millis));
    }

    /** Ends it for everybody, and closes it. Done also where it has ended already. */
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

    /** Mapped and reached once, so that a first operation costs what any other does. */
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
     * Ends this process's use of it; the space stays. Where the server does not answer, that ends with the lease.
     * Idempotent.
     *
     * @throws IllegalStateException where an operation that uses it has not ended; it stays open
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
            // It goes with the lease.
        }
    }

    @Override
    public String toString() {
        return "space " + key + " of " + server;
    }
}
