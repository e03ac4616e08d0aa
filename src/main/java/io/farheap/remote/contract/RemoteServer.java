package io.farheap.remote.contract;

import io.farheap.control.ControlException;
import io.farheap.control.ServerDescription;
import io.farheap.control.SignedGrant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One memory server as its client sees it: a lease that is kept alive, and the regions granted under it. Any thread may
 * call; its owner closes it after its connections, which gives everything back. All that a process has to one server
 * share one control channel and one thread that renews their leases, and nothing else: where one loses its lease, its
 * own calls end.
 *
 * <p>A lease that is lost is lost for good, also where the server goes on: it has given its memory to others by then,
 * or will. No call is made any more, and calls under way end. The listener fails what sessions have of the server, and
 * nothing is copied from it, so what was posted to it and not completed needs no fence: whatever becomes of it, nobody
 * looks. A fence that fails for that reason still says so, for nothing may take it for one that succeeded.
 */
public interface RemoteServer extends AutoCloseable {

    /** HOST:PORT of its control plane. */
    String address();

    /** Its place among its client's servers. */
    int index();

    /** As it introduced itself, before the lease was opened. */
    ServerDescription description();

    /** Whether both are leases on one server process, by whatever addresses that was reached. */
    default boolean isSameProcess(RemoteServer other) {
        return description().serverId() == other.description().serverId();
    }

    /**
     * What fails with it: servers of one failure domain may be lost at the same time. What the server was told
     * ({@code farheap server --domain}), or where it was told nothing, its address: nothing but itself.
     */
    default String domain() {
        return description().domain().isEmpty() ? address() : description().domain();
    }

    /** Why the lease was lost, or null while it holds. */
    @Nullable
    ControlException lost();

    /** Renews the lease now, as the server may be gone: if it is, the lease is lost. Does not wait. */
    void doubt();

    /** Throws if the lease is lost. */
    void requireHeld();

    /** Shows what its manager has granted the lease's cache since. */
    void showGrant(SignedGrant grant);

    /** Grants regions, all or nothing, and maps them so that a first operation costs what any other does. */
    List<RemoteRegion> allocate(int regions);

    /** Gives a region back: now, or as soon as its server answers again. With a lost lease it is gone already. */
    void releaseQuietly(RemoteRegion region);

    /** Fences the connections that ended without it. */
    void fenceForgotten();

    /** Gives everything back. */
    @Override
    void close();
}
