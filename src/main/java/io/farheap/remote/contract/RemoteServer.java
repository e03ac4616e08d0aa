package io.farheap.remote.contract;

import io.farheap.control.ControlException;
import io.farheap.control.ServerDescription;
import io.farheap.control.SignedGrant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One memory server as its client sees it: a lease that is kept alive, and the regions granted under it. Any thread may
 * call. Its owner closes it after its connections, which gives everything back. All leases of a process on one server
 * share one control channel and the thread that renews them, and nothing else: if one lease is lost, only its own calls
 * end.
 *
 * <p>A lost lease is lost for good, even if the server continues: the server has given its memory to other clients by
 * then, or will. No call is made under it any more, and calls under way end. The listener fails the sessions'
 * connections to the server, and nothing is copied from it. So operations that were posted and not completed need no
 * fence: whether they take effect or not, this client does not read that memory any more. A fence that fails because
 * the lease is lost still throws, so that no caller takes it for a fence that succeeded.
 */
public interface RemoteServer extends AutoCloseable {

    /** HOST:PORT of its control plane. */
    String address();

    /** Its index among its client's servers. */
    int index();

    /** Its description, as received before the lease was opened. */
    ServerDescription description();

    /** Whether both are leases on the same server process, even if it was reached by different addresses. */
    default boolean isSameProcess(RemoteServer other) {
        return description().serverId() == other.description().serverId();
    }

    /**
     * The failure domain: servers of one domain may be lost at the same time. It is the value given to {@code farheap
     * server --domain}, or without one the server's address, which no other server shares.
     */
    default String domain() {
        return description().domain().isEmpty() ? address() : description().domain();
    }

    /** Why the lease was lost, or null while it holds. */
    @Nullable
    ControlException lost();

    /**
     * Whether the lease is lost, all connections to the server have been failed since, so that no operation is posted
     * to it any more, and the listener for lost servers has returned. That takes as long as a queue's owner is in a
     * handler.
     */
    boolean isAbandoned();

    /**
     * Until when the server keeps the lease for certain if no further renewal succeeds, in {@link System#nanoTime}. A
     * process that was stopped past that moment does not know at once whether the lease is {@link #lost}.
     */
    long heldUntil();

    /** Renews the lease now, since the server may be gone: if it is, the lease is lost. Does not wait. */
    void doubt();

    /** @throws ControlException UNAVAILABLE, with the cause, if the lease is lost */
    void requireHeld();

    /**
     * Presents a newer grant of the cache's manager to the server.
     *
     * @throws ControlException if the server refuses it or does not answer, or the lease is lost
     */
    void showGrant(SignedGrant grant);

    /**
     * Takes regions, all or none, and maps them, so that a first operation costs no more than a later one.
     *
     * @throws ControlException OUT_OF_MEMORY if the server has too few; also if it does not answer, or the lease is
     *     lost
     */
    List<RemoteRegion> allocate(int regions);

    /** Gives a region back: now, or as soon as the server answers again. If the lease is lost, it is gone already. */
    void releaseQuietly(RemoteRegion region);

    /** Fences the connections that were closed while the server did not answer. */
    void fenceForgotten();

    /** Gives everything back. */
    @Override
    void close();
}
